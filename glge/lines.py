"""Bytes -> lines, and every fault a line can hide.

A line ends at a line feed and nowhere else, as in the benchmark's scripts under Python 2 and Perl:
never `str.splitlines`, which also cuts at U+2028 and seven other characters, and never universal
newlines, which also cut at a carriage return. The text is UTF-8, strictly, whatever the locale.
The last line needs no line feed; an empty line is a line.

What cannot be read (gzip, UTF-16, a bad byte, an empty or far too large file) gives no texts and one
`Problem` of severity error; what can be read but is odd gives problems with the count of lines and the
first places. No message quotes the text: files of references come through here too.

Searches run over the whole buffer first; single lines are looked at only for what was found.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from glge.errors import GlgeError, Problem, Severity
from glge.results import FileRecord

DEFAULT_SIZE_LIMIT = 1 << 30  # bytes: the largest real file, gigaword's training sources, stays below
PLACES = 5  # line numbers that a problem carries
LONG_LINE = 100_000  # characters

# Every code this module gives, with its one severity. docs/files.md says what to do about each.
CODES: Mapping[str, Severity] = {
    "empty-file": "error",
    "too-large": "error",
    "wrong-format": "error",
    "invalid-utf8": "error",
    "carriage-return": "warning",
    "mixed-line-ends": "warning",
    "nul-character": "warning",
    "windows-line-ends": "note",
    "byte-order-mark": "note",
    "line-boundary-character": "note",
    "control-character": "note",
    "invisible-character": "note",
    "replacement-character": "note",
    "no-break-space": "note",
    "unusual-blank": "note",
    "tab": "note",
    "double-blank": "note",
    "outer-blank": "note",
    "long-line": "note",
}


@dataclass(frozen=True)
class Lines:
    """One text file as read: its lines without their line feeds, its faults, and its record.

    `texts` is empty when a problem of severity error is among `problems`.
    """

    name: str
    texts: list[str]
    problems: tuple[Problem, ...]
    record: FileRecord

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems for which nothing could be read."""
        return tuple(problem for problem in self.problems if problem.severity == "error")


def read_lines(
    path: str | os.PathLike[str], *, name: str | None = None, size_limit: int | None = DEFAULT_SIZE_LIMIT
) -> Lines:
    """The lines of a file. `name` stands for the path in messages; `size_limit` is in bytes, None lifts it.

    The content never raises: whatever is wrong with it is among the problems. GlgeError when the file
    cannot be opened or is no regular file.
    """
    shown = printable(os.fspath(path) if name is None else name)
    try:
        with _open_regular(path, shown) as file:
            size = os.fstat(file.fileno()).st_size
            if size_limit is not None and size > size_limit:
                return unreadable(shown, [too_large(shown, size, size_limit)])
            data = file.read()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise cannot_read(shown, error) from error
    if size_limit is not None and len(data) > size_limit:  # it grew since
        return unreadable(shown, [too_large(shown, len(data), size_limit)])
    return decode_lines(data, shown)


def decode_lines(data: bytes, name: str) -> Lines:
    r"""The lines of a file's bytes. Never raises.

    >>> decode_lines(b"a cat\nsat", "x.test").texts
    ['a cat', 'sat']
    >>> [str(problem) for problem in decode_lines(b"", "x.test").problems]
    ['x.test: the file is empty (0 bytes)']
    >>> lines = decode_lines(b"a\rb\n", "x.test")
    >>> lines.texts, [(problem.code, problem.places) for problem in lines.problems]
    (['a\rb'], [('carriage-return', (1,))])
    """
    name = printable(name)
    form = recognise(data)
    if form is not None:
        return unreadable(name, [_problem("wrong-format", name, f"this is {form.name}, not UTF-8 text", form.hint)])
    mark = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    if len(data) == mark:
        size = "a byte order mark and nothing else" if mark else "0 bytes"
        return unreadable(name, [_problem("empty-file", name, f"the file is empty ({size})")])
    try:
        text = str(memoryview(data)[mark:], "utf-8", "strict")
    except UnicodeDecodeError as error:
        return unreadable(name, [_invalid_utf8(data, mark + error.start, name)])

    problems: list[Problem] = []
    if mark:
        problems.append(_problem("byte-order-mark", name, "a byte order mark (U+FEFF) at the start was dropped"))
    texts = text.split("\n")
    terminated = texts[-1] == ""
    if terminated:
        texts.pop()
    del text
    changed = bool(mark)
    if b"\r" in data:
        stripped = _without_carriage_returns(texts, terminated, name, problems)
        changed = changed or stripped is not texts
        texts = stripped
    _find_odd_characters(data, texts, name, problems)
    _find_blanks(data, texts, name, problems)
    long = [number for number, line in enumerate(texts, 1) if len(line) > LONG_LINE]
    if long:
        longest = max(map(len, texts))
        problems.append(
            _counted("long-line", name, long, f"longer than {LONG_LINE:,} characters (the longest: {longest:,})")
        )
    digest = hashlib.sha256()
    if changed:
        digest.update("\n".join(texts).encode("utf-8"))
        digest.update(b"\n")
    else:
        digest.update(data)
        if not terminated:
            digest.update(b"\n")
    record = FileRecord(name=name, lines=len(texts), sha256=digest.hexdigest())
    return Lines(name, texts, tuple(problems), record)


def unreadable(name: str, problems: Iterable[Problem]) -> Lines:
    """Lines of a file of which nothing could be read."""
    return Lines(name, [], tuple(problems), FileRecord(name=name, lines=0, sha256=hashlib.sha256().hexdigest()))


# --- what kind of file this is --------------------------------------------------------------------


@dataclass(frozen=True)
class Format:
    """A kind of file that is not UTF-8 text, and what to do with it."""

    name: str
    hint: str


_UNPACK = "unpack it and give the UTF-8 text file"
_SAVE = "save it as UTF-8 text"
_TEXT = "give the UTF-8 text file"
_MAGIC: tuple[tuple[bytes, Format], ...] = (
    (b"\xff\xfe\x00\x00", Format("UTF-32", _SAVE)),
    (b"\x00\x00\xfe\xff", Format("UTF-32", _SAVE)),
    (b"\xff\xfe", Format("UTF-16", _SAVE)),
    (b"\xfe\xff", Format("UTF-16", _SAVE)),
    (b"\x1f\x8b", Format("gzip", _UNPACK)),
    (b"PK\x03\x04", Format("zip", _UNPACK)),
    (b"PK\x05\x06", Format("zip", _UNPACK)),
    (b"PK\x07\x08", Format("zip", _UNPACK)),
    (b"\xfd7zXZ\x00", Format("xz", _UNPACK)),
    (b"\x28\xb5\x2f\xfd", Format("zstd", _UNPACK)),
    (b"\x04\x22\x4d\x18", Format("lz4", _UNPACK)),
    (b"7z\xbc\xaf\x27\x1c", Format("7z", _UNPACK)),
    (b"Rar!\x1a\x07", Format("rar", _UNPACK)),
    (b"%PDF-", Format("PDF", _SAVE)),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Format("an Office document", _SAVE)),
    (b"{\\rtf", Format("RTF", _SAVE)),
    (b"\x93NUMPY", Format("a NumPy array", _TEXT)),
    (b"SQLite format 3\x00", Format("an SQLite database", _TEXT)),
    (b"PAR1", Format("Parquet", _TEXT)),
    (b"version https://git-lfs.github.com/spec/", Format("a Git LFS pointer", "fetch the file itself: git lfs pull")),
)
_BZIP2 = re.compile(rb"BZh[1-9](?:1AY&SY|\x17\x72\x45\x38\x50\x90)")
_PICKLE = re.compile(rb"\x80[\x02-\x05][}\]\x95cX(]")
_HTML = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html[\s>])", re.IGNORECASE)
_OFFICE = re.compile(rb"\[Content_Types\]\.xml|_rels/|word/|xl/|ppt/|mimetypeapplication/vnd\.oasis")
_SAMPLE = 4096


def recognise(data: bytes) -> Format | None:
    r"""The kind of file these first bytes belong to when it is not UTF-8 text; None when it may be.

    >>> recognise(b"\x1f\x8b\x08rest").name
    'gzip'
    >>> recognise("caf\u00e9\n".encode("utf-16-le")).name
    'UTF-16'
    >>> recognise(b"plain text") is None
    True
    """
    head = bytes(data[:_SAMPLE])
    for magic, form in _MAGIC:
        if head.startswith(magic):
            if form.name == "zip" and _OFFICE.search(head):
                return Format("an Office document", _SAVE)
            return form
    if _BZIP2.match(head):
        return Format("bzip2", _UNPACK)
    if head[257:262] == b"ustar":
        return Format("tar", _UNPACK)
    if _PICKLE.match(head):
        return Format("a Python pickle", _TEXT)
    if _HTML.match(head):
        return Format("an HTML page", "perhaps a download page was saved in place of the file")
    return _zeros(head)


def _zeros(head: bytes) -> Format | None:
    """UTF-16 and UTF-32 without a mark show as NUL bytes at every second or at three of four positions."""
    zeros = head.count(0)
    if zeros < 2:
        return None
    if zeros == len(head):
        return Format("NUL bytes only", "write the file again: the text was lost")
    quads = len(head) - len(head) % 4
    by_phase = [head[phase:quads:4].count(0) for phase in range(4)]
    quarter = quads // 4
    if quarter > 1 and (by_phase[2:] == [quarter, quarter] or by_phase[:2] == [quarter, quarter]):
        return Format("UTF-32", _SAVE)
    even, odd = head[0::2].count(0), head[1::2].count(0)
    # One position in ten holds a NUL even in Cyrillic or Greek (its blanks and full stops), and the
    # other position never does.
    if max(even, odd) >= max(2, len(head) // 20) and min(even, odd) <= zeros // 50:
        return Format("UTF-16", _SAVE)
    return None


# --- faults ---------------------------------------------------------------------------------------

_CARRIAGE = "carriage return (U+000D)"


def _without_carriage_returns(texts: list[str], terminated: bool, name: str, problems: list[Problem]) -> list[str]:
    """Take one trailing carriage return off each line when all lines have it; report all others."""
    with_end = texts if terminated or len(texts) == 1 else texts[:-1]
    if all(line.endswith("\r") for line in with_end):
        texts = [line.removesuffix("\r") for line in texts]
        problems.append(
            _problem(
                "windows-line-ends",
                name,
                f"every line ends with a {_CARRIAGE} before its line feed; it was dropped",
                count=len(with_end),
            )
        )
    else:
        mixed = [number for number, line in enumerate(texts, 1) if line.endswith("\r")]
        if mixed:
            others = len(texts) - len(mixed)
            problems.append(
                _counted(
                    "mixed-line-ends",
                    name,
                    mixed,
                    f"with a {_CARRIAGE} at the end, {others:,} without; it is kept and read as a blank",
                    "give all lines the same end: sed -i 's/\\r$//' FILE",
                )
            )
        inner = [(number, line.find("\r") + 1) for number, line in enumerate(texts, 1) if "\r" in line[:-1]]
        _report_inner(inner, texts, name, problems)
        return texts
    inner = [(number, line.find("\r") + 1) for number, line in enumerate(texts, 1) if "\r" in line]
    _report_inner(inner, texts, name, problems)
    return texts


def _report_inner(inner: list[tuple[int, int]], texts: list[str], name: str, problems: list[Problem]) -> None:
    if not inner:
        return
    where = "; ".join(f"line {number:,}, column {column:,}" for number, column in inner[:3])
    rest = f" and {len(inner) - 3:,} more" if len(inner) > 3 else ""
    lonely = len(texts) == 1
    problems.append(
        _problem(
            "carriage-return",
            name,
            f"a {_CARRIAGE} inside {_lines(len(inner))}: {where}{rest}; it ends no line and is read as a blank",
            "old Macintosh line ends? tr '\\r' '\\n' < FILE" if lonely else "take it out of the text",
            count=len(inner),
            places=[number for number, _ in inner],
        )
    )


_NAMES = {
    "\x0b": "vertical tab",
    "\x0c": "form feed",
    "\x1c": "file separator",
    "\x1d": "group separator",
    "\x1e": "record separator",
    "\x85": "next line",
}
_CONTROLS = "".join(map(chr, [*range(1, 9), *range(0x0E, 0x1C), 0x1F, *range(0x7F, 0x85), *range(0x86, 0xA0)]))
# Code, characters, words, hint. The first eight are where str.splitlines cuts, beside \n and \r.
_ODD: tuple[tuple[str, str, str, str | None], ...] = (
    *(
        ("line-boundary-character", char, f"with a {_NAMES.get(char) or unicodedata.name(char).lower()} %s", None)
        for char in "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
    ),
    ("nul-character", "\0", "with a NUL character %s", "write the file again: it is probably damaged"),
    ("control-character", _CONTROLS, "with control characters %s", None),
    ("replacement-character", "\ufffd", "with a replacement character %s: text was lost before", None),
    (
        "invisible-character",
        "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff",
        "with invisible characters %s, which count as parts of words",
        None,
    ),
    ("no-break-space", "\u00a0", "with a no-break space %s", None),
    (
        "unusual-blank",
        "\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
        "with unusual blanks %s",
        None,
    ),
    ("tab", "\t", "with a tab %s", None),
)
# UTF-8 needs no neighbours to be read: without these bytes a text still holds each odd character whole.
_ORDINARY = bytes([10, *range(0x20, 0x7F)])


def _find_odd_characters(data: bytes, texts: list[str], name: str, problems: list[Problem]) -> None:
    present = set(data.translate(None, _ORDINARY).decode("utf-8"))
    if not present:
        return
    for code, chars, message, hint in _ODD:
        found = [char for char in chars if char in present]
        if not found:
            continue
        search = re.compile(f"[{re.escape(''.join(found))}]").search
        numbers = [number for number, line in enumerate(texts, 1) if search(line)]
        if numbers:  # the byte order mark is among the bytes and in no line
            shown = ", ".join(f"U+{ord(char):04X}" for char in found[:8]) + (" …" if len(found) > 8 else "")
            ends = "; it ends no line here" if code == "line-boundary-character" else ""
            problems.append(_counted(code, name, numbers, message % f"({shown})" + ends, hint))


def _find_blanks(data: bytes, texts: list[str], name: str, problems: list[Problem]) -> None:
    if b"  " in data:
        numbers = [number for number, line in enumerate(texts, 1) if "  " in line]
        problems.append(_counted("double-blank", name, numbers, "with two or more blanks in a row"))
    numbers = [number for number, line in enumerate(texts, 1) if line[:1] == " " or line[-1:] == " "]
    if numbers:
        problems.append(_counted("outer-blank", name, numbers, "with a blank at the start or the end"))


def _invalid_utf8(data: bytes, offset: int, name: str) -> Problem:
    start = data.rfind(b"\n", 0, offset) + 1
    numbers: list[int] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            numbers.append(number)
    end = data.find(b"\n", offset)
    if end < 0 and _cut_character(data[offset:]):
        hint = "the file ends in the middle of a character: it was cut off"
    else:
        try:
            data[start : end if end >= 0 else None].decode("cp1252")
            hint = "if it is Windows-1252: iconv -f WINDOWS-1252 -t UTF-8 FILE"
        except UnicodeDecodeError:
            hint = _SAVE
    return _problem(
        "invalid-utf8",
        name,
        f"not UTF-8 text: byte 0x{data[offset]:02X} at byte offset {offset:,} (line {numbers[0]:,}, byte "
        f"{offset - start + 1:,} of the line)" + (f"; {_lines(len(numbers))} in all" if len(numbers) > 1 else ""),
        hint,
        count=len(numbers),
        places=numbers,
    )


def _cut_character(rest: bytes) -> bool:
    """The bytes begin a character and end before it does."""
    try:
        rest.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data" and error.start == 0
    return False


# --- words ----------------------------------------------------------------------------------------


def printable(name: str) -> str:
    r"""A file name that can be shown: control characters and undecodable bytes are escaped.

    >>> printable("coqa.hard.test")
    'coqa.hard.test'
    >>> printable("a\x1b[31m\nb")
    'a\\x1b[31m\\nb'
    """
    if name.isascii() and name.isprintable():
        return name
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in name)


def shown_size(size: int) -> str:
    """A number of bytes for people, in binary units.

    >>> shown_size(1 << 30), shown_size(1_500_000), shown_size(7)
    ('1.0 GiB', '1.4 MiB', '7 bytes')
    """
    value = float(size)
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if value < 1024 or unit == "TiB":
            break
    return f"{value:.1f} {unit}" if size >= 1024 else f"{size} bytes"


def too_large(name: str, size: int, limit: int) -> Problem:
    """The refusal of a file above the size limit."""
    message = f"the file has {shown_size(size)} ({size:,} bytes), the limit is {shown_size(limit)}; it was not read"
    return _problem(
        "too-large",
        name,
        message,
        "if this is meant, raise the limit with --size-limit, or lift it with --size-limit none",
    )


def cannot_read(name: str, error: OSError | ValueError) -> GlgeError:
    """An error of the operating system in one line."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return GlgeError(f"cannot be read: {reason[:1].lower()}{reason[1:]}", file=printable(name))


def _open_regular(path: str | os.PathLike[str], shown: str) -> BufferedReader:
    # A pipe without a writer would hold an ordinary open for ever.
    mode = Path(path).stat().st_mode
    if stat.S_ISDIR(mode):
        raise GlgeError("cannot be read: it is a folder", file=shown, expected="a text file")
    if not stat.S_ISREG(mode):
        raise GlgeError("cannot be read: it is no regular file", file=shown, expected="a text file")
    return Path(path).open("rb")


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"


def _counted(code: str, name: str, numbers: list[int], message: str, hint: str | None = None) -> Problem:
    """A problem of some lines: '12 lines with …'."""
    return _problem(code, name, f"{_lines(len(numbers))} {message}", hint, count=len(numbers), places=numbers)


def _problem(
    code: str, name: str, message: str, hint: str | None = None, *, count: int = 1, places: Iterable[int] = ()
) -> Problem:
    first = tuple(places)[:PLACES]
    return Problem(code, CODES[code], message, file=name, count=count, places=first, hint=hint)


def split_at_ascii_blanks(text: str) -> list[str]:
    """`text.split()` of Python 2 on UTF-8 bytes: a no-break space or U+2028 is no blank there.

    >>> split_at_ascii_blanks("a\\xa0b  c")
    ['a\\xa0b', 'c']
    """
    return [word.decode("utf-8", "surrogatepass") for word in text.encode("utf-8", "surrogatepass").split()]
