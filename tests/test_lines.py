"""Reading lines: every row L1-L12 of the list of cases, and bytes nobody meant."""

from __future__ import annotations

import bz2
import codecs
import gzip
import hashlib
import io
import lzma
import os
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glge.errors import GlgeError, Problem
from glge.lines import CODES, PLACES, Lines, decode_lines, printable, read_lines, recognise, shown_size


def read(data: bytes) -> Lines:
    """The lines of these bytes, under the name x.test."""
    return decode_lines(data, "x.test")


def only(lines: Lines) -> Problem:
    """The one problem of a file."""
    assert len(lines.problems) == 1, [str(problem) for problem in lines.problems]
    return lines.problems[0]


def summary(lines: Lines) -> list[tuple[str, int, tuple[int, ...]]]:
    """Code, count and places of each problem."""
    return [(problem.code, problem.count, problem.places) for problem in lines.problems]


def test_plain_text_has_no_problems() -> None:
    """An ordinary file: its lines, no problem, and the hash of its bytes."""
    lines = read("one\n\nthrée\n".encode())
    assert lines.texts == ["one", "", "thrée"]
    assert lines.problems == ()
    assert (lines.record.name, lines.record.lines) == ("x.test", 3)
    assert lines.record.sha256 == hashlib.sha256("one\n\nthrée\n".encode()).hexdigest()


def test_l1_carriage_return_inside_a_line() -> None:
    """L1: a bare carriage return makes no second line; line and column are named."""
    lines = read(b"a b\nthe cat\rsat\nc\n")
    assert lines.texts == ["a b", "the cat\rsat", "c"]
    problem = only(lines)
    assert (problem.code, problem.severity, problem.count, problem.places) == ("carriage-return", "warning", 1, (2,))
    assert "line 2, column 8" in problem.message
    assert "read as a blank" in problem.message


def test_l1_many_carriage_returns() -> None:
    """L1: several lines: the number and the first places."""
    problem = only(read(b"a\rb\n" * 7))
    assert (problem.count, problem.places) == (7, (1, 2, 3, 4, 5))
    assert "line 3, column 2 and 4 more" in problem.message


def test_l1_old_macintosh_file() -> None:
    """L1: a file with carriage returns only is one line, and the message says how to mend it."""
    lines = read(b"a\rb\rc")
    assert lines.texts == ["a\rb\rc"]
    assert only(lines).hint == "old Macintosh line ends? tr '\\r' '\\n' < FILE"


@pytest.mark.parametrize("char", list("\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), ids=lambda char: f"U+{ord(char):04X}")
def test_l2_other_line_boundaries(char: str) -> None:
    """L2: what str.splitlines also takes for a line end stays inside the line, with a note."""
    lines = read(f"a{char}b\nc\n".encode())
    assert lines.texts == [f"a{char}b", "c"]
    problem = only(lines)
    assert (problem.code, problem.severity, problem.places) == ("line-boundary-character", "note", (1,))
    assert f"U+{ord(char):04X}" in problem.message


def test_l3_windows_line_ends() -> None:
    """L3: one trailing carriage return a line is dropped when all lines have it; the hash is that of plain lines."""
    lines = read(b"a\r\nb\r\n")
    assert lines.texts == ["a", "b"]
    assert summary(lines) == [("windows-line-ends", 2, ())]
    assert lines.record == read(b"a\nb\n").record


@pytest.mark.parametrize("data", [b"a\r\nb", b"a\r\nb\r", b"a\r\nb\r\n"])
def test_l3_windows_without_the_last_line_end(data: bytes) -> None:
    """L3: the last line of a Windows file need not be ended."""
    lines = read(data)
    assert lines.texts == ["a", "b"]
    assert [problem.code for problem in lines.problems] == ["windows-line-ends"]


def test_l3_mixed_line_ends() -> None:
    """L3: when only some lines have it, it is kept and reported with the count and the first places."""
    lines = read(b"a\r\nb\nc\r\n")
    assert lines.texts == ["a\r", "b", "c\r"]
    assert summary(lines) == [("mixed-line-ends", 2, (1, 3))]
    assert "1 without" in lines.problems[0].message


def test_l3_mixed_and_inner() -> None:
    """L3, L1: both faults in one file are both reported."""
    assert summary(read(b"a\r\nb\rc\r\nd\n")) == [("mixed-line-ends", 2, (1, 2)), ("carriage-return", 1, (2,))]


def test_l3_two_carriage_returns_at_each_end() -> None:
    """L3: only one is dropped; the other is reported."""
    lines = read(b"a\r\r\nb\r\r\n")
    assert lines.texts == ["a\r", "b\r"]
    assert [problem.code for problem in lines.problems] == ["windows-line-ends", "carriage-return"]


def test_l4_byte_order_mark() -> None:
    """L4: a UTF-8 mark is dropped and noted; the hash is that of the text without it."""
    lines = read(codecs.BOM_UTF8 + b"a\nb\n")
    assert lines.texts == ["a", "b"]
    assert summary(lines) == [("byte-order-mark", 1, ())]
    assert lines.record == read(b"a\nb\n").record


def test_l4_mark_in_the_middle() -> None:
    """L4: two files with marks put together: the second mark is part of a word, and is reported."""
    lines = read(codecs.BOM_UTF8 + b"a\n" + codecs.BOM_UTF8 + b"b\n")
    assert lines.texts == ["a", "\ufeffb"]
    assert summary(lines) == [("byte-order-mark", 1, ()), ("invisible-character", 1, (2,))]


def test_l5_trailing_empty_line_is_a_line() -> None:
    """L5: an empty line at the end is a line (the submission reader then says so)."""
    assert read(b"a\nb\n\n").texts == ["a", "b", ""]


def test_l6_no_newline_at_the_end() -> None:
    """L6: the last line counts, without a word, and the hash does not depend on it."""
    assert read(b"a\nb").texts == ["a", "b"]
    assert read(b"a\nb").problems == ()
    assert read(b"a\nb").record == read(b"a\nb\n").record


def test_l7_invalid_utf8() -> None:
    """L7: line and byte offset of the first bad byte; all such lines are counted."""
    lines = read(b"ok\n" * 730 + b"caf\xe9 au lait\n" + b"ok\n" + b"na\xefve\n")
    assert lines.texts == []
    problem = only(lines)
    assert (problem.code, problem.severity, problem.count) == ("invalid-utf8", "error", 2)
    assert problem.places == (731, 733)
    assert "byte 0xE9 at byte offset 2,193 (line 731, byte 4 of the line)" in problem.message
    assert problem.hint == "if it is Windows-1252: iconv -f WINDOWS-1252 -t UTF-8 FILE"


def test_l7_windows_1252() -> None:
    """L7: curly quotes of Windows-1252 are no UTF-8; the message says what to try."""
    problem = only(read("he said “no”\n".encode("cp1252")))
    assert problem.code == "invalid-utf8"
    assert "WINDOWS-1252" in (problem.hint or "")


def test_l7_cut_off_inside_a_character() -> None:
    """L7: a file that ends inside a character was cut off."""
    problem = only(read(b"a\nprice 5 \xe2\x82"))
    assert problem.hint == "the file ends in the middle of a character: it was cut off"


@pytest.mark.parametrize("data", [b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80"])
def test_l7_ill_formed_utf8(data: bytes) -> None:
    """L7: surrogates, overlong forms and code points beyond Unicode are refused."""
    assert only(read(b"a " + data + b" b\n")).code == "invalid-utf8"


def test_l7_offset_counts_the_mark() -> None:
    """L7, L4: the byte offset is that of the file, mark included."""
    assert "byte offset 4 " in only(read(codecs.BOM_UTF8 + b"a\xff\n")).message


@pytest.mark.parametrize("setting", ["C", "POSIX", "de_DE.ISO-8859-1"])
def test_l7_any_locale(tmp_path: Path, setting: str) -> None:
    """L7: the result is the same under LC_ALL=C, without Python's UTF-8 mode."""
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_bytes("naïve “é”\n".encode())
    bad.write_bytes(b"a\nb\xe9\n")
    program = (
        "import sys; from glge.lines import read_lines\n"
        "print(ascii(read_lines(sys.argv[1]).texts))\n"
        "print(ascii(str(read_lines(sys.argv[2], name='bad').problems[0])))"
    )
    environment = {**os.environ, "LC_ALL": setting, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", program, str(good), str(bad)], env=environment, capture_output=True, check=True
    )
    first, second = done.stdout.decode().splitlines()
    assert first == ascii(["naïve “é”"])
    assert "bad:2: not UTF-8 text: byte 0xE9 at byte offset 3" in second


def _tar(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        info = tarfile.TarInfo("coqa.hard.test")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def _zip(name: str, data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, data)
    return buffer.getvalue()


TEXT = "the cat sat on the mat .\nзима и лето\n"

FORMATS = {
    "UTF-16 with mark": (TEXT.encode("utf-16"), "UTF-16"),
    "UTF-16 little end": (TEXT.encode("utf-16-le"), "UTF-16"),
    "UTF-16 big end": (TEXT.encode("utf-16-be"), "UTF-16"),
    "UTF-16 Cyrillic": (("зима и лето, осень и весна\n" * 9).encode("utf-16-le"), "UTF-16"),
    "UTF-16 two letters": ("a\n".encode("utf-16-be"), "UTF-16"),
    "UTF-32 with mark": (TEXT.encode("utf-32"), "UTF-32"),
    "UTF-32 big end": (TEXT.encode("utf-32-be"), "UTF-32"),
    "UTF-32 little end": (TEXT.encode("utf-32-le"), "UTF-32"),
    "gzip": (gzip.compress(TEXT.encode()), "gzip"),
    "bzip2": (bz2.compress(TEXT.encode()), "bzip2"),
    "empty bzip2": (bz2.compress(b""), "bzip2"),
    "xz": (lzma.compress(TEXT.encode()), "xz"),
    "zstd": (b"\x28\xb5\x2f\xfd\x04\x58rest", "zstd"),
    "zip": (_zip("coqa.hard.test", TEXT.encode()), "zip"),
    "empty zip": (b"PK\x05\x06" + bytes(18), "zip"),
    "tar": (_tar(TEXT.encode()), "tar"),
    "Word": (_zip("[Content_Types].xml", b"<Types/>"), "an Office document"),
    "old Word": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "an Office document"),
    "OpenDocument": (_zip("mimetype", b"application/vnd.oasis.opendocument.text"), "an Office document"),
    "PDF": (b"%PDF-1.7\n", "PDF"),
    "pickle": (b"\x80\x04\x95\x0b\x00\x00", "a Python pickle"),
    "HTML": (b"\n<!DOCTYPE html>\n<html>", "an HTML page"),
    "Git LFS": (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n", "a Git LFS pointer"),
    "NUL": (bytes(64), "NUL bytes only"),
}


@pytest.mark.parametrize(("data", "kind"), FORMATS.values(), ids=FORMATS)
def test_l8_other_formats(data: bytes, kind: str) -> None:
    """L8: what is no UTF-8 text is recognised by its first bytes, and the message says what to do."""
    lines = read(data)
    assert lines.texts == []
    problem = only(lines)
    assert (problem.code, problem.severity) == ("wrong-format", "error")
    assert problem.message == f"this is {kind}, not UTF-8 text"
    assert problem.hint


@pytest.mark.parametrize("text", ["BZhello", "PK", "%PDF", "Rar", "\u00ff\u00fe", "<html", "7z", "a", "", "<s> a"])
def test_l8_text_that_only_begins_alike(text: str) -> None:
    """L8: ordinary text is not taken for something else."""
    assert recognise(text.encode()) is None


def test_nul_characters() -> None:
    """A few NULs do not make UTF-16: the text is kept, with a warning."""
    lines = read(b"a cat\nsat\0on the mat\nb\0\0\n")
    assert len(lines) == 3
    assert summary(lines) == [("nul-character", 2, (2, 3))]
    assert lines.problems[0].severity == "warning"


BLANKS = {
    "no-break-space": "a\u00a0b",
    "unusual-blank": "a\u3000b",
    "tab": "a\tb",
    "double-blank": "a  b",
    "outer-blank": " a",
}


@pytest.mark.parametrize(("code", "text"), BLANKS.items(), ids=BLANKS)
def test_l9_blanks(code: str, text: str) -> None:
    """L9: blanks that may make empty or odd tokens stay as they are; a note counts the lines."""
    lines = read(f"ok\n{text}\nok\n{text}\n".encode())
    assert lines.texts == ["ok", text, "ok", text]
    assert summary(lines) == [(code, 2, (2, 4))]
    assert lines.problems[0].severity == "note"


def test_l9_blank_before_a_windows_line_end() -> None:
    """L9: a trailing blank is seen behind a carriage return."""
    assert [problem.code for problem in read(b"a \r\nb\r\n").problems] == ["windows-line-ends", "outer-blank"]


def test_other_odd_characters() -> None:
    """Control, invisible and replacement characters are named by code point, never by the text around them."""
    lines = read("secret\x07\nsecret\u200b\nsecret\ufffd\nsecret\x9d\n".encode())
    assert summary(lines) == [
        ("control-character", 2, (1, 4)),
        ("replacement-character", 1, (3,)),
        ("invisible-character", 1, (2,)),
    ]
    assert "U+0007, U+009D" in lines.problems[0].message
    assert not any("secret" in str(problem) for problem in lines.problems)


@pytest.mark.parametrize("data", [b"", codecs.BOM_UTF8])
def test_l11_empty_file(data: bytes) -> None:
    """L11: an empty file is refused and named."""
    problem = only(read(data))
    assert (problem.code, problem.severity, problem.file) == ("empty-file", "error", "x.test")
    assert problem.message.startswith("the file is empty")


def test_l12_empty_lines_are_kept() -> None:
    """L12: an empty line is a line."""
    assert read(b"\n\na\n\n").texts == ["", "", "a", ""]
    assert read(b"\n").texts == [""]


def test_long_line() -> None:
    """A line of a million characters is read and reported."""
    lines = read(b"ok\n" + b"a" * 1_000_000 + b"\n")
    assert [len(text) for text in lines.texts] == [2, 1_000_000]
    assert summary(lines) == [("long-line", 1, (2,))]
    assert "1,000,000" in lines.problems[0].message


def test_first_places_only() -> None:
    """A problem carries the count of all lines and the numbers of the first."""
    problem = only(read(b"a\tb\n" * 1000))
    assert (problem.count, len(problem.places)) == (1000, PLACES)
    assert problem.message.startswith("1,000 lines with a tab")


def test_size_limit_by_stat(tmp_path: Path) -> None:
    """A 2 GB file is refused before it is read, with its size, the limit and the flag."""
    path = tmp_path / "coqa.hard.test"
    with path.open("wb") as file:
        file.truncate(2_000_000_000)
    began = time.perf_counter()
    lines = read_lines(path, name="coqa.hard.test")
    assert time.perf_counter() - began < 0.5
    assert lines.texts == []
    assert str(only(lines)) == (
        "coqa.hard.test: the file has 1.9 GiB (2,000,000,000 bytes), the limit is 1.0 GiB; it was not read; "
        "if this is meant, raise the limit with --size-limit, or lift it with --size-limit none"
    )


def test_size_limit_is_an_argument(tmp_path: Path) -> None:
    """The limit is inclusive and can be lifted."""
    path = tmp_path / "x"
    path.write_bytes(b"a\nb\n")
    assert read_lines(path, size_limit=4).texts == ["a", "b"]
    assert only(read_lines(path, size_limit=3)).code == "too-large"
    assert read_lines(path, size_limit=None).texts == ["a", "b"]


def test_missing_file(tmp_path: Path) -> None:
    """A file that is not there: one line with its name."""
    with pytest.raises(GlgeError) as caught:
        read_lines(tmp_path / "none", name="none")
    assert str(caught.value) == "none: cannot be read: no such file or directory"


def test_folder_instead_of_file(tmp_path: Path) -> None:
    """A folder is no file."""
    with pytest.raises(GlgeError) as caught:
        read_lines(tmp_path, name="preds")
    assert str(caught.value) == "preds: cannot be read: it is a folder (expected a text file)"


def test_pipe_instead_of_file(tmp_path: Path) -> None:
    """A pipe without a writer does not hang."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(GlgeError, match="no regular file"):
        read_lines(tmp_path / "pipe")


def test_nul_in_a_path() -> None:
    """A path that no system has is an error of one line."""
    with pytest.raises(GlgeError, match="cannot be read"):
        read_lines("a\0b")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_no_permission(tmp_path: Path) -> None:
    """A file without permission: one line."""
    path = tmp_path / "x"
    path.write_bytes(b"a\n")
    path.chmod(0)
    with pytest.raises(GlgeError, match="permission denied"):
        read_lines(path)


def test_printable_names() -> None:
    """No file name moves the cursor, breaks a line or cannot be encoded."""
    assert printable("a\udc80\u202eb\n\x1b[2J") == "a\\udc80\\u202eb\\n\\x1b[2J"
    assert printable("Prüfung 1.test") == "Prüfung 1.test"
    assert decode_lines(b"", "a\nb").name == "a\\nb"


def test_sizes_in_words() -> None:
    """Sizes for people."""
    assert [shown_size(size) for size in (0, 1023, 1024, 5 << 40)] == ["0 bytes", "1023 bytes", "1.0 KiB", "5.0 TiB"]


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    """Random bytes never raise, and a file without errors has as many lines as its line feeds say."""
    lines = read(data)
    assert {problem.code for problem in lines.problems} <= set(CODES)
    assert all(problem.severity == CODES[problem.code] for problem in lines.problems)
    if lines.errors:
        assert lines.texts == []
    else:
        assert len(lines) == data.count(b"\n") + (not data.endswith(b"\n"))
    assert lines.record.lines == len(lines)


@given(st.lists(st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"])), min_size=1))
def test_any_text_comes_back(texts: list[str]) -> None:
    """Any text without line feeds, carriage returns and NUL comes back as it was, and hashes as it should."""
    data = "".join(f"{text}\n" for text in texts).encode()
    if recognise(data) or data.startswith(codecs.BOM_UTF8):
        return
    lines = read(data)
    assert lines.texts == texts
    assert lines.record.sha256 == hashlib.sha256(data).hexdigest()


@given(st.lists(st.text(st.sampled_from("ab \r\t\u2028é")), min_size=1))
def test_hash_is_of_the_lines(texts: list[str]) -> None:
    """The hash is always that of the lines as read, however they were written."""
    lines = read("\n".join(texts).encode())
    expected = hashlib.sha256("".join(f"{text}\n" for text in lines.texts).encode()).hexdigest()
    assert lines.record.sha256 == (hashlib.sha256().hexdigest() if lines.errors else expected)


def test_large_files_are_quick() -> None:
    """Whole-buffer checks first: 20 MB of text take well under a second (the bound is for slow machines)."""
    data = ("the cat sat on the mat with zoë , and “ so on ” .\n" * 400_000).encode()
    began = time.process_time()
    assert len(read(data)) == 400_000
    assert time.process_time() - began < 5
