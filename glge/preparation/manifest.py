"""What made a piece of data: inputs with their hashes, options, what each step kept and dropped, outputs.

A manifest is `manifest.json` in the folder of the data it describes. It holds no time, no path of the machine and no
text of the data, so that the same inputs and options give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from glge import __version__

MANIFEST_VERSION = "1.0"
NAME = "manifest.json"

Option = str | int | float | bool | None


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class FileHash(_Entry):
    """A file that was read or written: its name (relative to the folder that was given), size, lines and SHA-256."""

    name: str
    bytes: int
    sha256: str
    lines: int | None = Field(default=None, description="Null where lines mean nothing (JSON, a story file).")


class Step(_Entry):
    """One named step of a build: how many records came out of it, and how many it dropped, by reason."""

    name: str
    kept: int
    dropped: dict[str, int] = Field(default_factory=dict)


class Manifest(_Entry):
    """How a folder of data was made."""

    manifest_version: str = MANIFEST_VERSION
    glge_version: str = __version__
    command: str = Field(description="What was asked for: 'data build squadqg', 'data levels'.")
    task: str | None = None
    level: str | None = None
    seed: int | None = None
    options: dict[str, Option] = Field(default_factory=dict, description="Every option with its value, defaults too.")
    versions: dict[str, str] = Field(default_factory=dict, description="Packages whose version can change the bytes.")
    inputs: tuple[FileHash, ...] = ()
    steps: tuple[Step, ...] = ()
    outputs: tuple[FileHash, ...] = ()

    def text(self) -> str:
        """The manifest as the text of its file."""
        return json.dumps(self.model_dump(), ensure_ascii=False, indent=2) + "\n"


def hash_file(path: Path, name: str | None = None, *, lines: bool = False) -> FileHash:
    """Size, hash and, if asked, number of lines (every `\\n`, and an unended last line) of a file, in one pass."""
    digest = hashlib.sha256()
    size = ends = 0
    last = b"\n"
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
            size += len(chunk)
            ends += chunk.count(b"\n")
            last = chunk[-1:]
    count = ends + (last != b"\n") if lines else None
    return FileHash(name=name or path.name, bytes=size, sha256=digest.hexdigest(), lines=count)


def hash_files(paths: Iterable[Path], root: Path) -> FileHash:
    """Many small files (stories) as one entry: the hash of their sorted names and hashes."""
    digest = hashlib.sha256()
    size = count = 0
    named = {os.path.relpath(path, root).replace(os.sep, "/"): path for path in paths}
    for name in sorted(named):  # by text: paths are ordered otherwise on other systems
        one = hash_file(named[name], name)
        digest.update(f"{one.sha256}  {one.name}\n".encode("utf-8", "surrogateescape"))
        size += one.bytes
        count += 1
    return FileHash(name=f"{count} files", bytes=size, sha256=digest.hexdigest())
