"""Raw files as their authors released them: lines, lists of names, JSON; every fault with its file and position.

The text is UTF-8, strictly, whatever the locale; a line ends at a line feed and nowhere else; a byte order mark at
the start is dropped. What is wrong with a whole file (missing, no UTF-8 at all, truncated JSON) is a `DataError`; what
is wrong with one record of it is a `BadRecord`, which a build may skip and count. No message quotes a text of the data.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from glge.errors import DataError
from glge.lines import cannot_read, printable, recognise

SPLIT_NAMES = {
    "train": ("train", "training"),
    "dev": ("dev", "val", "valid", "validation"),
    "test": ("test",),
}
_MARK = b"\xef\xbb\xbf"
_SURROGATE = re.compile("[\ud800-\udfff]")


class BadRecord(DataError):
    """One record of a raw file cannot be used. `reason` is the same for all faults of its kind."""

    def __init__(
        self,
        reason: str,
        *,
        file: str,
        line: int | None = None,
        place: str | None = None,
        expected: str | None = None,
        found: str | None = None,
        hint: str | None = None,
    ) -> None:
        message = f"{place}: {reason}" if place else reason
        super().__init__(message, file=file, line=line, expected=expected, found=found, hint=hint)
        self.reason = reason


class Place(Protocol):
    """Where a record stands; it can say what is wrong there."""

    def fault(
        self, reason: str, *, expected: str | None = None, found: str | None = None, hint: str | None = None
    ) -> BadRecord:
        """The error to raise."""


@dataclass(frozen=True, slots=True)
class LinePlace:
    """A line of a text file; without a line, the whole of a small file that is one record."""

    file: str
    line: int | None = None

    def fault(
        self, reason: str, *, expected: str | None = None, found: str | None = None, hint: str | None = None
    ) -> BadRecord:
        """The error to raise."""
        return BadRecord(reason, file=self.file, line=self.line, expected=expected, found=found, hint=hint)

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Json:
    """A value inside a JSON file that knows its file and path: `data[3].paragraphs[0].context`.

    >>> story = Json({"turns": [{"id": 7}]}, "x.json")
    >>> story["turns"].items()[0]["id"].text()
    Traceback (most recent call last):
    glge.preparation.raw.BadRecord: x.json: turns[0].id: wrong type (expected text, found a number)
    >>> story["title"]
    Traceback (most recent call last):
    glge.preparation.raw.BadRecord: x.json: the key 'title' is missing
    """

    value: object
    file: str
    path: str = ""

    def fault(
        self, reason: str, *, expected: str | None = None, found: str | None = None, hint: str | None = None
    ) -> BadRecord:
        """The error to raise about this value."""
        return BadRecord(reason, file=self.file, place=self.path or None, expected=expected, found=found, hint=hint)

    def __getitem__(self, key: str) -> Json:
        if not isinstance(self.value, dict):
            raise self._wrong_type("an object")
        if key not in self.value:
            raise self.fault(f"the key {key!r} is missing")
        return self._inner(key)

    def get(self, key: str) -> Json | None:
        """The value of a key that may be missing or null."""
        if not isinstance(self.value, dict):
            raise self._wrong_type("an object")
        return self._inner(key) if self.value.get(key) is not None else None

    def _inner(self, key: str) -> Json:
        assert isinstance(self.value, dict)
        return Json(self.value[key], self.file, f"{self.path}.{key}" if self.path else key)

    def items(self) -> list[Json]:
        """The members of a list."""
        if not isinstance(self.value, list):
            raise self._wrong_type("a list")
        return [Json(item, self.file, f"{self.path}[{number}]") for number, item in enumerate(self.value)]

    def text(self) -> str:
        """A text; one with half of a surrogate pair cannot be written as UTF-8 and is refused."""
        if not isinstance(self.value, str):
            raise self._wrong_type("text")
        if not self.value.isascii() and _SURROGATE.search(self.value):
            raise self.fault("half of a surrogate pair: no valid text")
        return self.value

    def number(self) -> int:
        """A whole number."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self._wrong_type("a whole number")
        return self.value

    def _wrong_type(self, expected: str) -> BadRecord:
        return self.fault("wrong type", expected=expected, found=_kind(self.value))

    def __str__(self) -> str:
        return f"{self.file}: {self.path}" if self.path else self.file


def _kind(value: object) -> str:
    if value is None:
        return "null"
    for kind, name in ((bool, "true or false"), (dict, "an object"), (list, "a list"), (str, "text")):
        if isinstance(value, kind):
            return name
    return "a number"


def read_bytes(path: Path, name: str) -> bytes:
    """A whole file that is read at once, without its byte order mark; DataError when it is no text."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(name, error) from None
    _check_format(data, name)
    return data.removeprefix(_MARK)


def decode(data: bytes, place: LinePlace) -> str:
    r"""Strict UTF-8; BadRecord with the line of the first bad byte.

    >>> decode(b"caf\xc3\xa9", LinePlace("a.txt", 3))
    'café'
    >>> decode(b"caf\xe9", LinePlace("a.txt", 3))
    Traceback (most recent call last):
    glge.preparation.raw.BadRecord: a.txt:3: not UTF-8 (found byte 0xE9 at byte 4 of the line); save it as UTF-8 text
    """
    try:
        return data.decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = (place.line or 1) + before.count(b"\n")
        column = error.start - (before.rfind(b"\n") + 1) + 1
        raise BadRecord(
            "not UTF-8",
            file=place.file,
            line=line,
            found=f"byte 0x{data[error.start]:02X} at byte {column:,} of the line",
            hint="save it as UTF-8 text",
        ) from None


def read_record(path: Path, place: LinePlace) -> str:
    """The text of a small file that is one record: whatever is wrong with the file is a fault of the record."""
    try:
        return decode(read_bytes(path, place.file), LinePlace(place.file))
    except BadRecord:
        raise
    except DataError as error:
        raise place.fault(error.message, hint=error.hint) from None


def raw_lines(path: Path, name: str) -> Iterator[tuple[int, bytes]]:
    """The lines of a file of any size, undecoded, without their line feeds, counted from 1."""
    try:
        with path.open("rb") as file:
            head = file.read(4096)
            _check_format(head, name)
            file.seek(len(_MARK) if head.startswith(_MARK) else 0)
            for number, line in enumerate(file, 1):
                yield number, line.removesuffix(b"\n")
    except OSError as error:
        raise unreadable(name, error) from None


def read_list(path: Path, name: str) -> list[tuple[str, LinePlace]]:
    """The entries of a list file (one a line, white space around them and empty lines left out), with their places."""
    found = []
    for number, line in raw_lines(path, name):
        place = LinePlace(name, number)
        entry = decode(line, place).strip()
        if entry:
            found.append((entry, place))
    if not found:
        raise DataError("the list is empty", file=name)
    return found


def read_json(path: Path, name: str) -> Json:
    """A JSON file; DataError with line and column when it is truncated or no JSON, or a key stands twice."""

    def object_of(pairs: list[tuple[str, object]]) -> dict[str, object]:
        result = dict(pairs)
        if len(result) != len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise DataError(f"the key {printable(twice)[:60]!r} stands twice in one object", file=name)
        return result

    text = decode(read_bytes(path, name), LinePlace(name))
    if not text.strip():
        raise DataError("the file is empty", file=name)
    try:
        return Json(json.loads(text, object_pairs_hook=object_of), name)
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip()) or "Unterminated string" in error.msg
        reason = "truncated JSON" if cut else f"no JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise DataError(
            reason,
            file=name,
            line=error.lineno,
            found=f"{'the end of the file' if cut else 'the fault'} after column {error.colno:,}",
            hint="fetch the file again" if cut else None,
        ) from None
    except RecursionError:
        raise DataError("JSON nested too deeply", file=name) from None


def _check_format(head: bytes, name: str) -> None:
    form = recognise(head)
    if form is not None:
        raise DataError(f"this is {form.name}, not UTF-8 text", file=name, hint=form.hint)


def unreadable(name: str, error: OSError) -> DataError:
    """What the operating system says about a file, in one line."""
    told = cannot_read(name, error)
    return DataError(told.message, file=told.file)


# --- finding files --------------------------------------------------------------------------------


def candidates(split: str, patterns: Sequence[str]) -> list[str]:
    """The names a file of a split may have: `{split}` in each pattern stands for all of the split's names.

    >>> candidates("dev", ["all_{split}.txt"])
    ['all_dev.txt', 'all_val.txt', 'all_valid.txt', 'all_validation.txt']
    """
    return [pattern.replace("{split}", alias) for pattern in patterns for alias in SPLIT_NAMES[split]]


def find_one(root: Path, names: Iterable[str], what: str, folders: Sequence[str] = (".",)) -> Path:
    """The one file of these names in `root` or its named folders; DataError when there is none or more than one."""
    wanted = list(names)
    found = find_all(root, wanted, folders)
    if not found:
        shown = ", ".join(wanted[:6]) + (", …" if len(wanted) > 6 else "")
        raise DataError(f"no {what}", file=printable(str(root)), expected=shown)
    if len(found) > 1:
        shown = ", ".join(printable(os.path.relpath(path, root).replace(os.sep, "/")) for path in found)
        raise DataError(f"more than one {what}", file=printable(str(root)), found=shown, hint="leave only one there")
    return found[0]


def find_all(root: Path, names: Iterable[str], folders: Sequence[str] = (".",)) -> list[Path]:
    """All files of these names in `root` or its named folders, each file once."""
    found: dict[str, Path] = {}
    for folder in folders:
        for name in names:
            path = root / folder / name
            if path.is_file():
                found.setdefault(str(path.resolve()), path)
    return list(found.values())


def walk(root: Path, suffix: str) -> dict[str, list[Path]]:
    """Every file below `root` with this suffix, by its name without it; links are followed, each folder once."""

    def stop(error: OSError) -> None:
        raise unreadable(str(error.filename or root), error)

    found: dict[str, list[Path]] = {}
    seen: set[str] = set()
    for folder, inner, files in os.walk(root, onerror=stop, followlinks=True):
        real = os.path.realpath(folder)
        if real in seen:
            inner.clear()
            continue
        seen.add(real)
        for file in files:
            if file.endswith(suffix) and not file.startswith("."):
                found.setdefault(file.removesuffix(suffix), []).append(Path(folder, file))
    return {name: sorted(paths, key=str) for name, paths in found.items()}
