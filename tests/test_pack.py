"""Packing: plain files and fairseq logs into folders and zips that can be scored, or one clear line."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glge.errors import DataError, GlgeError, SubmissionError
from glge.lines import decode_lines
from glge.preparation.pack import Packed, expected_lines, pack, parse_map, read_log
from glge.submission import read_submission
from glge.tasks import Benchmark, load_tasks
from tests.golden import lines

LOG = (
    "2026-01-01 10:00:00 | INFO | fairseq_cli.generate | loading model(s)\n"
    "S-2\tthe third\nT-2\tx\n"
    "H-2\t-0.31\tthird ##ly an ##swer\nP-2\t-0.1 -0.2\nH-2\t-0.12\tthe best\nP-2\t-0.1\nH-2\t-0.9\tworst\nP-2\t-1\n"
    "S-0\tthe first\nH-0\t-inf\t\nP-0\t-1\nH-0\t-inf\tlater\nP-0\t-1\nH-0\t-inf\tlast\nP-0\t-1\n"
    "S-1\tthe second\nH-1\t-0.5\tyes [UNK]\nP-1\t0\nH-1\t-0.5\tno\nP-1\t0\nH-1\t-0.7\tn\nP-1\t0\n"
    "Translated 3 sentences (12 tokens) in 0.1s\n"
)


@pytest.fixture(scope="module")
def benchmark() -> Benchmark:
    """The tasks that come with the package."""
    return load_tasks()


def write(path: Path, content: str | bytes) -> Path:
    """A file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_folder(tmp_path: Path, benchmark: Benchmark) -> None:
    """Right names, right order, word pieces joined in logs only, and the validator's report."""
    coqa = write(tmp_path / "out.log", LOG)
    xsum = write(tmp_path / "xsum predictions.txt", "a ##b\r\n\r\n")
    packed = pack(
        {"xsum": xsum, "coqa": coqa}, tmp_path / "preds", "hard", benchmark=benchmark, expected={"coqa": 3, "xsum": 2}
    )
    assert lines(tmp_path / "preds" / "coqa.hard.test") == ["", "yes [UNK]", "the best"]
    assert lines(tmp_path / "preds" / "xsum.hard.test") == ["a ##b", ""]
    assert [(one.task, one.kind, one.lines, one.hypotheses, one.joined) for one in packed.files] == [
        ("xsum", "lines", 2, 1, False),
        ("coqa", "fairseq", 3, 3, True),
    ]
    assert {problem.code for problem in packed.submission.problems} == {
        "partial-submission",
        "word-pieces",
        "empty-prediction",
    }
    assert [problem.code for problem in packed.problems] == ["windows-line-ends"]
    assert packed.submission.name == str(tmp_path / "preds")
    assert packed.submission.predictions["coqa"].path == str(tmp_path / "preds" / "coqa.hard.test")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.log", "preds", "xsum predictions.txt"]


def test_a_zip_is_the_same_bytes_every_time(tmp_path: Path, benchmark: Benchmark) -> None:
    """Names, dates and order do not depend on when, where or in which order it was packed."""
    one = write(tmp_path / "a" / "one", "yes\nno\n")
    two = write(tmp_path / "two", "a\nb\n")
    wanted = {"coqa": 2, "msqg": 2}
    first = pack({"coqa": one, "msqg": two}, tmp_path / "x.zip", "medium+", benchmark=benchmark, expected=wanted)
    pack({"msqg": two, "coqa": one}, tmp_path / "deep" / "y.ZIP", "medium+", benchmark=benchmark, expected=wanted)
    assert (tmp_path / "x.zip").read_bytes() == (tmp_path / "deep" / "y.ZIP").read_bytes()
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        assert archive.namelist() == ["msqg.medium+.test", "coqa.medium+.test"]
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    read = read_submission(tmp_path / "x.zip", "medium+", benchmark=benchmark, expected=wanted)
    assert read == first.submission


def test_what_is_there_is_not_overwritten(tmp_path: Path, benchmark: Benchmark) -> None:
    """Refused without force; with it replaced, and other files stay and are in the report."""
    file = write(tmp_path / "out", "yes\n")

    def again(out: str, *, force: bool = False) -> Packed:
        return pack({"coqa": file}, tmp_path / out, "easy", benchmark=benchmark, expected={"coqa": 1}, force=force)

    for out in ("preds", "preds.zip"):
        again(out)
        with pytest.raises(DataError, match="already there"):
            again(out)
        write(tmp_path / "out", "no\n")
        again(out, force=True)
    assert lines(tmp_path / "preds" / "coqa.easy.test") == ["no"]
    more = write(tmp_path / "more", "a b c\n")
    packed = pack({"xsum": more}, tmp_path / "preds", "easy", benchmark=benchmark, expected={"xsum": 1, "coqa": 1})
    assert sorted(packed.submission.predictions) == ["coqa", "xsum"]


@pytest.mark.parametrize("out", ["preds", "preds.zip"])
def test_nothing_is_left_behind(out: str, tmp_path: Path, benchmark: Benchmark) -> None:
    """A wrong count, an unreadable and a missing file: all problems at once, told of the given files."""
    short = write(tmp_path / "short.txt", "yes\n")
    packed = write(tmp_path / "packed.gz", b"\x1f\x8b\x08")
    with pytest.raises(SubmissionError) as caught:
        pack({"coqa": short}, tmp_path / out, "easy", benchmark=benchmark)
    assert str(caught.value).startswith(f"{short}: 1 line, expected 4,048 by the published size; ")
    assert str(caught.value).endswith("; nothing was written")
    with pytest.raises(SubmissionError) as caught:
        pack(
            {"coqa": short, "xsum": packed, "msqg": tmp_path / "none"},
            tmp_path / out,
            "easy",
            benchmark=benchmark,
            expected={"coqa": 1},
        )
    assert str(caught.value).startswith(f"nothing was written: 2 errors, the first: {packed}: this is gzip")
    assert [problem.task for problem in caught.value.problems] == ["xsum", "msqg"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["packed.gz", "short.txt"]


def test_unknown_names(tmp_path: Path, benchmark: Benchmark) -> None:
    """Task, level, split, kind: one line with the nearest name."""
    file = write(tmp_path / "out", "yes\n")
    with pytest.raises(SubmissionError, match="there is no task 'sqaudqg'; did you mean 'squadqg'"):
        pack({"sqaudqg": file}, tmp_path / "x", "easy", benchmark=benchmark)
    with pytest.raises(SubmissionError, match="there is no level 'eazy'; did you mean 'easy'"):
        pack({"coqa": file}, tmp_path / "x", "eazy", benchmark=benchmark)
    with pytest.raises(SubmissionError, match="there is no split 'train'"):
        pack({"coqa": file}, tmp_path / "x", "easy", benchmark=benchmark, split="train")
    with pytest.raises(SubmissionError, match="there is no kind of file 'fairsec'; did you mean 'fairseq'"):
        pack({"coqa": file}, tmp_path / "x", "easy", benchmark=benchmark, kind="fairsec")  # type: ignore[arg-type]
    with pytest.raises(SubmissionError, match="nothing to pack"):
        pack({}, tmp_path / "x", "easy", benchmark=benchmark)


def test_maps(benchmark: Benchmark) -> None:
    """TASK=FILE, or a name that says its task."""
    assert parse_map(["coqa=a=b.txt", "x/personachat-best.out"], benchmark) == {
        "coqa": Path("a=b.txt"),
        "personachat": Path("x/personachat-best.out"),
    }
    for items, message in (
        (["coqaa=x"], "there is no task 'coqaa'"),
        (["coqa=x", "coqa=y"], "two files for coqa: x and y"),
        (["coqa="], "no file for coqa"),
        (["generate-test.txt"], "the name of this file says no task; write TASK=generate-test.txt"),
    ):
        with pytest.raises(SubmissionError) as caught:
            parse_map(items, benchmark)
        assert message in str(caught.value)


def test_counts_of_data(tmp_path: Path, benchmark: Benchmark) -> None:
    """From sources or targets, of the level or of easy."""
    write(tmp_path / "easy" / "coqa_data" / "org_data" / "test.src", "a\nb")
    write(tmp_path / "easy" / "xsum_data" / "org_data" / "test.tgt", "a\n\n\n")
    assert expected_lines(tmp_path, ["coqa", "xsum"], "hard") == {"coqa": 2, "xsum": 3}
    with pytest.raises(DataError, match=r"no dev\.src or dev\.tgt of coqa"):
        expected_lines(tmp_path, ["coqa"], "hard", "dev")
    with pytest.raises(DataError, match="there is no such folder"):
        expected_lines(tmp_path / "none", ["coqa"], "hard")


# --- logs of fairseq ----------------------------------------------------------------------------------


def log(*texts: str) -> str:
    """A log of these lines."""
    return "".join(f"{text}\n" for text in texts)


@given(st.permutations(range(6)), st.lists(st.integers(-5, 5), min_size=18, max_size=18))
def test_any_order_and_the_best_of_several(order: list[int], scores: list[int]) -> None:
    """Whatever the order, line n is the first of the best hypotheses of id n."""
    rows = {place: [(scores[3 * place + way], f"{place} {way}") for way in range(3)] for place in order}
    content = log(*(f"H-{place}\t{score / 10}\t{text}" for place in order for score, text in rows[place]))
    best = [max(rows[place], key=lambda row: row[0])[1] for place in range(6)]
    found = read_log(decode_lines(content.encode(), "x.log"), 6)
    assert (found.texts, found.most, found.mark) == (best, 3, "H")


def test_detokenised_lines_are_taken_when_all_are_there() -> None:
    """D- lines of fairseq 0.12; with one missing the H- lines stand."""
    content = ["H-1\t-1\tb ##c", "D-1\t-1\tbc", "P-1\t-1", "H-0\t-1\ta", "D-0\t-1\tA"]
    found = read_log(decode_lines(log(*content).encode(), "x.log"), 2)
    assert (found.texts, found.mark) == (["A", "bc"], "D")
    found = read_log(decode_lines(log(*content[:-1]).encode(), "x.log"), 2)
    assert (found.texts, found.mark) == (["a", "b ##c"], "H")


@pytest.mark.parametrize(
    ("content", "expected", "message"),
    [
        (log("H-0\t-1\ta", "H-3\t-1\tb"), 4, "x.log: 2 ids of 4 missing: 1, 2; was the run stopped"),
        (log("H-9\t-1\ta"), None, "x.log: 9 ids of 10 missing: 0, 1, 2, 3, 4 …"),
        (log("H-999999999\t-1\ta"), None, "x.log: 999,999,999 ids of 1,000,000,000 missing: 0, 1"),
        (log("H-0\t-1\ta", "H-1\t-1\tb"), 1, "x.log: 1 id too many: 1; expected 0 to 0"),
        (log("H-0\t-1\ta", "H-1\t-1\tb", "H-0\t-2\ta"), 2, "x.log: the id 0 stands in two places, lines 1 and 3"),
        (log("H-0\ta"), 1, "x.log: line 1: a line H-0 without a score"),
        (log("yes", "no"), 2, "x.log: no line H-<id> in it"),
    ],
)
def test_broken_logs(content: str, expected: int | None, message: str) -> None:
    """Missing, surplus and doubled ids, no scores, no log: one line each."""
    with pytest.raises(SubmissionError) as caught:
        read_log(decode_lines(content.encode(), "x.log"), expected)
    assert str(caught.value).startswith(message)


def test_kinds_can_be_forced(tmp_path: Path, benchmark: Benchmark) -> None:
    """A log taken as lines, lines taken as a log, pieces joined or kept as asked."""
    file = write(tmp_path / "log", log("H-1\t-1\ta ##b", "H-0\t-1\tc"))
    wanted = {"coqa": 2}

    def packed(out: str, **wish: object) -> list[str]:
        pack({"coqa": file}, tmp_path / out, "easy", benchmark=benchmark, expected=wanted, **wish)  # type: ignore[arg-type]
        return lines(tmp_path / out / "coqa.easy.test")

    assert packed("a") == ["c", "ab"]
    assert packed("b", join=False) == ["c", "a ##b"]
    assert packed("c", kind="lines") == ["H-1\t-1\ta ##b", "H-0\t-1\tc"]
    write(tmp_path / "log", "a ##b\nc\n")
    assert packed("d", join=True) == ["ab", "c"]
    with pytest.raises(GlgeError, match="no line H-<id> in it"):
        packed("e", kind="fairseq")


def test_cnndm_keeps_its_separator(tmp_path: Path, benchmark: Benchmark) -> None:
    """[X_SEP] comes through, and what a model with BERT's own vocabulary writes for it."""
    file = write(tmp_path / "log", log("H-0\t-1\tone cat sat ##s . [X_SEP] two .", "H-1\t-1\tone . [unused1] two ."))
    packed = pack({"cnndm": file}, tmp_path / "p.zip", "hard", benchmark=benchmark, expected={"cnndm": 2})
    assert packed.submission.predictions["cnndm"].lines == ["one cat sats . [X_SEP] two .", "one . [X_SEP] two ."]
