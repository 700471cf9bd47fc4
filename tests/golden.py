"""Where the shared golden files are, and how they are read. Tests that need them skip without them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"
GOLDEN = SHARED / "golden"
SAMPLES = SHARED / "samples"
SHIPPED = Path(__file__).resolve().parent / "goldens"

needs_golden = pytest.mark.skipif(not GOLDEN.is_dir(), reason="the shared goldens are not beside this checkout")
needs_samples = pytest.mark.skipif(not SAMPLES.is_dir(), reason="the shared samples are not beside this checkout")


def lines(path: Path) -> list[str]:
    """The lines of a file, ended by newlines only."""
    return path.read_bytes().decode("utf-8").split("\n")[:-1]


def load(path: Path) -> Any:
    """A JSON file."""
    return json.loads(path.read_bytes())
