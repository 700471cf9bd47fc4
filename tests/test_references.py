"""References: where they are looked for, what is refused, and that no text of theirs leaks."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from glge.errors import DataError
from glge.references import CODES, archive_roots, available_tasks, find_data, read_references
from glge.tasks import Benchmark, Task, load_tasks

SECRET = "Zanzibar"
Write = Callable[..., Path]


@pytest.fixture(scope="module")
def benchmark() -> Benchmark:
    """The shipped registry."""
    return load_tasks()


@pytest.fixture(scope="module")
def coqa(benchmark: Benchmark) -> Task:
    """A task that needs no sources."""
    return benchmark.tasks["coqa"]


@pytest.fixture(scope="module")
def msqg(benchmark: Benchmark) -> Task:
    """A task that groups by source."""
    return benchmark.tasks["msqg"]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes one file of the layout below `tmp_path`; the last argument is its text."""

    def put(place: str, task: str, file: str, text: str | bytes = f"one {SECRET}\ntwo\n") -> Path:
        path = tmp_path / place / f"{task}_data" / "org_data" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return put


def error_of(*arguments: object, **options: object) -> str:
    """The one line of the DataError that read_references raises."""
    with pytest.raises(DataError) as caught:
        read_references(*arguments, **options)  # type: ignore[arg-type]
    text = str(caught.value)
    assert "\n" not in text
    assert SECRET not in text
    return text


def test_asked_level_first(tmp_path: Path, write: Write, coqa: Task) -> None:
    """The asked level's own file wins over easy's."""
    write("hard", "coqa", "test.tgt", "from hard\n")
    write("easy", "coqa", "test.tgt", "from easy\n")
    found = read_references(tmp_path, coqa, "hard")
    assert (found.targets, found.level, found.found_level) == (["from hard"], "hard", "hard")
    assert found.record.name == "hard/coqa_data/org_data/test.tgt"
    assert (found.sources, found.source_record, found.problems) == (None, None, ())


@pytest.mark.parametrize("level", ["easy", "medium", "medium+", "hard"])
def test_then_easy(tmp_path: Path, write: Write, coqa: Task, level: str) -> None:
    """Dev and test are the same at every level: easy's file serves all."""
    write("easy", "coqa", "dev.tgt")
    found = read_references(tmp_path, coqa, level, "dev")
    assert (found.level, found.found_level, found.split, len(found)) == (level, "easy", "dev", 2)


def test_train_is_the_level_s_own(tmp_path: Path, write: Write, coqa: Task) -> None:
    """Train differs by level, so easy's train never stands in for hard's."""
    write("easy", "coqa", "train.tgt")
    assert "hard/coqa_data/org_data/train.tgt" in error_of(tmp_path, coqa, "hard", "train")
    assert read_references(tmp_path, coqa, "easy", "train").found_level == "easy"


@pytest.mark.parametrize("root", [".", "glge-released-dataset", "glge-hidden-dataset"])
def test_both_archives(tmp_path: Path, write: Write, msqg: Task, root: str) -> None:
    """Sources may come from the public archive and targets from the second, from inside, above or beside."""
    write("glge-released-dataset/hard", "msqg", "test.src", "a\nb\n")
    write("glge-hidden-dataset/easy", "msqg", "test.tgt")
    found = read_references(tmp_path / root, msqg, "hard")
    assert found.sources == ["a", "b"]
    assert found.found_level == "easy"
    assert found.source_record is not None
    assert found.record.name.endswith("easy/msqg_data/org_data/test.tgt")
    assert found.source_record.name.endswith("hard/msqg_data/org_data/test.src")


def test_archive_beside_a_relative_root(
    tmp_path: Path, write: Write, coqa: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inside the public archive, `.` still finds the other archive beside it."""
    write("glge-hidden-dataset/easy", "coqa", "test.tgt")
    (tmp_path / "glge-released-dataset").mkdir()
    monkeypatch.chdir(tmp_path / "glge-released-dataset")
    found = read_references(".", coqa, "hard")
    assert found.record.name == "../glge-hidden-dataset/easy/coqa_data/org_data/test.tgt"


def test_no_archive_beside_other_folders(tmp_path: Path) -> None:
    """Only a folder with an archive's name looks beside itself."""
    assert len(archive_roots(tmp_path)) == 3


def test_missing_test_targets(tmp_path: Path, write: Write, coqa: Task) -> None:
    """What was looked for, where, and that test.tgt comes in the second archive."""
    write("glge-released-dataset/hard", "coqa", "test.src")
    assert error_of(tmp_path, coqa, "hard") == (
        "no references for coqa (level hard, split test): looked for hard/coqa_data/org_data/test.tgt and "
        f"easy/coqa_data/org_data/test.tgt in {tmp_path} itself and in glge-released-dataset, glge-hidden-dataset "
        "there; test.src is there, but the test.tgt files come in the second archive (glge-hidden-dataset) and "
        "otherwise only from the organisers; unpack it here or beside the first, or score --split dev"
    )


def test_missing_level(tmp_path: Path, write: Write, coqa: Task) -> None:
    """A data root without the level names the levels that are there."""
    write("medium", "coqa", "dev.tgt")
    write("medium+", "coqa", "dev.tgt")
    assert error_of(tmp_path, coqa, "hard", "dev").endswith("the folder has no level hard, but medium, medium+")


def test_root_is_a_level(tmp_path: Path, write: Write, coqa: Task) -> None:
    """A level folder given as the root: its parent is named."""
    write("easy", "coqa", "test.tgt")
    assert error_of(tmp_path / "easy", coqa, "easy").endswith(
        f"this folder is one level: give the folder that holds the levels, {tmp_path}"
    )


@pytest.mark.parametrize("inside", ["easy/coqa_data", "easy/coqa_data/org_data"])
def test_root_is_a_task(tmp_path: Path, write: Write, coqa: Task, inside: str) -> None:
    """A task folder given as the root: the folder of the levels is named."""
    write("easy", "coqa", "dev.tgt")
    assert error_of(tmp_path / inside, coqa, "easy", "dev").endswith(
        f"this folder is the data of one task: give the folder that holds the levels, {tmp_path}"
    )


def test_root_is_above(tmp_path: Path, write: Write, coqa: Task) -> None:
    """The root lies one folder further down."""
    write("glge/easy", "coqa", "dev.tgt")
    assert error_of(tmp_path, coqa, "easy", "dev").endswith(f"did you mean {tmp_path / 'glge'}?")


def test_empty_root(tmp_path: Path, coqa: Task) -> None:
    """A folder with nothing in it says what a data root looks like."""
    assert "no level lies in this folder" in error_of(tmp_path, coqa, "easy", "dev")


def test_file_one_folder_too_high(tmp_path: Path, write: Write, coqa: Task) -> None:
    """`org_data` was left out: the file is named."""
    write("easy", "coqa", "dev.src")
    (tmp_path / "easy/coqa_data/dev.tgt").write_text("a\n")
    assert "easy/coqa_data/dev.tgt is there: move it" in error_of(tmp_path, coqa, "easy", "dev")


def test_file_still_packed(tmp_path: Path, write: Write, coqa: Task) -> None:
    """A gzip file beside the place is named."""
    write("easy", "coqa", "dev.tgt.gz", gzip.compress(b"a\n"))
    assert "easy/coqa_data/org_data/dev.tgt.gz is there: unpack it" in error_of(tmp_path, coqa, "easy", "dev")


def test_different_numbers(tmp_path: Path, write: Write, msqg: Task) -> None:
    """Sources and targets of different length are refused with both numbers."""
    write("easy", "msqg", "test.tgt", "a\nb\nc\n")
    write("easy", "msqg", "test.src", "a\nb\n")
    text = error_of(tmp_path, msqg, "easy")
    assert "easy/msqg_data/org_data/test.src has 2 lines, easy/msqg_data/org_data/test.tgt has 3 lines" in text


def test_missing_sources(tmp_path: Path, write: Write, msqg: Task) -> None:
    """A task that groups by source needs its sources."""
    write("easy", "msqg", "test.tgt")
    assert error_of(tmp_path, msqg, "easy").startswith("no sources for msqg (level easy, split test): looked for easy/")
    assert read_references(tmp_path, msqg, "easy", with_sources=False).sources is None


def test_sources_on_request(tmp_path: Path, write: Write, coqa: Task) -> None:
    """Other tasks' sources are read when asked for."""
    write("easy", "coqa", "test.tgt")
    write("easy", "coqa", "test.src", "q1\nq2\n")
    assert read_references(tmp_path, coqa, "easy", with_sources=True).sources == ["q1", "q2"]


@pytest.mark.parametrize("task", ["xsum", "msnews"])
def test_empty_reference_is_refused(tmp_path: Path, write: Write, benchmark: Benchmark, task: str) -> None:
    """An empty reference of xsum and msnews is a data error with its line."""
    write("easy", task, "test.tgt", f"{SECRET}\n \n\n")
    assert error_of(tmp_path, benchmark.tasks[task], "easy") == (
        f"easy/{task}_data/org_data/test.tgt:2: 2 lines without text among the references, which {task} does not "
        "allow; fetch the file again"
    )


@pytest.mark.parametrize("task", ["cnndm", "gigaword", "coqa", "personachat"])
def test_empty_reference_is_noted(tmp_path: Path, write: Write, benchmark: Benchmark, task: str) -> None:
    """Elsewhere it is kept and noted."""
    write("easy", task, "test.tgt", "a\n\nb\n")
    found = read_references(tmp_path, benchmark.tasks[task], "easy")
    assert found.targets == ["a", "", "b"]
    assert [(problem.code, problem.severity, problem.task, problem.places) for problem in found.problems] == [
        ("empty-reference", CODES["empty-reference"], task, (2,))
    ]


def test_odd_characters_are_noted_without_text(tmp_path: Path, write: Write, msqg: Task) -> None:
    """Faults of both files become problems with file and task, and quote nothing."""
    write("easy", "msqg", "test.tgt", f"{SECRET}\u2028{SECRET}\r{SECRET}\na\n")
    write("easy", "msqg", "test.src", f"{SECRET}\ta\nb\n")
    found = read_references(tmp_path, msqg, "easy")
    assert [(problem.code, problem.file, problem.task) for problem in found.problems] == [
        ("carriage-return", "easy/msqg_data/org_data/test.tgt", "msqg"),
        ("line-boundary-character", "easy/msqg_data/org_data/test.tgt", "msqg"),
        ("tab", "easy/msqg_data/org_data/test.src", "msqg"),
    ]
    assert not any(SECRET in str(problem) or SECRET in repr(problem) for problem in found.problems)


UNREADABLE = {
    "gzip": (gzip.compress(SECRET.encode()), "this is gzip, not UTF-8 text"),
    "bad byte": (f"{SECRET}\n{SECRET} caf\u00e9".encode("latin-1"), "test.tgt:2: not UTF-8 text: byte 0xE9"),
    "empty": (b"", "the file is empty"),
}


@pytest.mark.parametrize(("data", "expected"), UNREADABLE.values(), ids=UNREADABLE)
def test_unreadable_references(tmp_path: Path, write: Write, coqa: Task, data: bytes, expected: str) -> None:
    """References that cannot be read are a data error in one line, without their text."""
    write("easy", "coqa", "test.tgt", data)
    assert expected in error_of(tmp_path, coqa, "easy")


def test_size_limit(tmp_path: Path, write: Write, coqa: Task) -> None:
    """The size limit holds for references too."""
    write("easy", "coqa", "test.tgt", "abcdef\n")
    assert "--size-limit" in error_of(tmp_path, coqa, "easy", size_limit=3)


def test_folder_in_place_of_a_file(tmp_path: Path, coqa: Task) -> None:
    """A folder named like the file."""
    (tmp_path / "easy/coqa_data/org_data/test.tgt").mkdir(parents=True)
    assert "it is a folder" in error_of(tmp_path, coqa, "easy")


@pytest.mark.parametrize("level", ["", "../easy", "/etc", "easy/..", "a\0b", "Hard"])
def test_a_level_is_no_path(tmp_path: Path, coqa: Task, level: str) -> None:
    """A level is a name and leads nowhere else."""
    assert error_of(tmp_path, coqa, level).startswith("unknown level")


def test_unknown_split(tmp_path: Path, coqa: Task) -> None:
    """A misspelt split is answered with the nearest."""
    assert error_of(tmp_path, coqa, "easy", "tset") == "unknown split 'tset'; did you mean 'test'?"


def test_find_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The argument first, then GLGE_DATA, then an error that names both."""
    monkeypatch.setenv("GLGE_DATA", str(tmp_path))
    assert find_data() == tmp_path
    (tmp_path / "other").mkdir()
    assert find_data(tmp_path / "other") == tmp_path / "other"
    monkeypatch.setenv("GLGE_DATA", "")
    with pytest.raises(DataError, match="neither --data nor the environment variable GLGE_DATA"):
        find_data()


def test_find_data_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A root that does not exist or is a file, and who gave it."""
    with pytest.raises(DataError) as caught:
        find_data(tmp_path / "none")
    assert str(caught.value) == f"{tmp_path / 'none'}: the given data folder does not exist"
    (tmp_path / "data.zip").write_bytes(b"PK")
    monkeypatch.setenv("GLGE_DATA", str(tmp_path / "data.zip"))
    with pytest.raises(DataError) as caught:
        find_data()
    assert str(caught.value).endswith(
        "the data folder of GLGE_DATA is a file (expected a folder); if it is an archive, unpack it"
    )


def test_available_tasks(tmp_path: Path, write: Write, benchmark: Benchmark) -> None:
    """Which tasks can be scored: targets, and sources where the task groups by them."""
    write("easy", "coqa", "test.tgt")
    write("easy", "msqg", "test.tgt")
    write("easy", "squadqg", "test.tgt")
    write("glge-released-dataset/hard", "squadqg", "test.src")
    there = available_tasks(tmp_path, "hard", "test", benchmark)
    assert list(there) == list(benchmark.tasks)
    assert [task for task, found in there.items() if found] == ["squadqg", "coqa"]
