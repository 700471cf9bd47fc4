"""JSON: the whole report as it is, unrounded, in the order of the model; and back again.

The shape is `glge/report.schema.json`; each key is described in `docs/report.md`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from glge.errors import GlgeError, Problem
from glge.reports.wording import Look, by_severity, counts, unseen, visible
from glge.results import SCHEMA_VERSION, Report


def render(report: Report, look: Look) -> str:
    """The report as JSON. GlgeError when a figure is not finite. `look` changes nothing here."""
    return _dumps(report.model_dump())


def render_problems(problems: Sequence[Problem], look: Look) -> str:
    """The problems as JSON: `schema_version`, `problems` (errors first), `counts`."""
    return _dumps(
        {
            "schema_version": SCHEMA_VERSION,
            "problems": [asdict(problem) for problem in by_severity(problems)],
            "counts": counts(problems),
        }
    )


def read_report(path: str | os.PathLike[str]) -> Report:
    """Read a report back from its JSON file, equal to the one that was written.

    Raises GlgeError, one line, when the file cannot be read, is not a report, or has another schema version.
    """
    name = visible(os.fspath(path))
    try:
        content = json.loads(Path(path).read_bytes().decode("utf-8-sig"), parse_constant=_no_constant)
    except OSError as fault:
        raise GlgeError("the report cannot be read", file=name, found=fault.strerror) from fault
    except json.JSONDecodeError as fault:
        raise GlgeError("this is not JSON", file=name, line=fault.lineno, found=fault.msg, hint=_HOW) from fault
    except (ValueError, RecursionError) as fault:
        raise GlgeError("this is not a JSON text in UTF-8", file=name, hint=_HOW) from fault
    if not isinstance(content, dict) or "schema_version" not in content:
        raise GlgeError("this is JSON, but not a report of glge", file=name, hint=_HOW)
    version = content["schema_version"]
    if version != SCHEMA_VERSION:
        raise GlgeError(
            "the report has another schema version",
            file=name,
            expected=SCHEMA_VERSION,
            found=visible(str(version)),
            hint="score the submission again with this glge",
        )
    try:
        return Report.model_validate(content)
    except ValidationError as fault:
        first = fault.errors(include_url=False, include_input=False)[0]
        where = ".".join(visible(str(part)) for part in first["loc"])
        raise GlgeError(f"not a valid report: {where}: {visible(first['msg'])}", file=name, hint=_HOW) from fault


_HOW = "write one with --format json"


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _dumps(content: dict[str, Any]) -> str:
    try:
        text = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False)
    except ValueError as fault:
        raise GlgeError("a figure of the report is not finite: it cannot be written as JSON") from fault
    return (text if text.isascii() and "\x7f" not in text else "".join(map(_escaped, text))) + "\n"


def _escaped(char: str) -> str:
    # JSON escapes the C0 controls; what else could act on a screen is escaped here and reads back the same.
    if char == "\n" or not unseen(char):
        return char
    # A lone surrogate (half a character: a file name that is not UTF-8) has no UTF-8, and strict readers
    # refuse its escape: it becomes six characters of text.
    return f"\\\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" else json.dumps(char)[1:-1]
