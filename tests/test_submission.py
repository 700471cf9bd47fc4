"""Submissions: every row S1-S10 of the list of cases, the rows about lines that need a task, and hostile zips."""

from __future__ import annotations

import io
import os
import re
import stat
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import glge.comparison
import glge.lines
import glge.references
import glge.scoring
import glge.submission
import glge.submission.archive
from glge.errors import Problem, SubmissionError
from glge.submission import CODES, Submission, check_predictions, read_submission, suggest_name
from glge.submission.archive import MAX_MEMBERS
from glge.tasks import load_tasks

ALL = ["cnndm", "gigaword", "xsum", "msnews", "squadqg", "msqg", "coqa", "personachat"]
THREE = dict.fromkeys(ALL, 3)
GOOD = "the first answer\nthe second\nthe third one\n"
BENCHMARK = load_tasks()
Put = Callable[..., Path]


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Writes files below `tmp_path`/preds and gives that folder."""

    def write_files(files: dict[str, str | bytes]) -> Path:
        root = tmp_path / "preds"
        root.mkdir(exist_ok=True)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return root

    return write_files


def read(path: Path | list[Path], level: str = "hard", **options: object) -> Submission:
    """The submission at `path`, three lines expected of each task unless told otherwise."""
    options.setdefault("expected", THREE)
    return read_submission(path, level, benchmark=BENCHMARK, **options)  # type: ignore[arg-type]


def codes(submission: Submission, *leave_out: str) -> list[str]:
    """The codes of all problems but the note about missing tasks."""
    hidden = leave_out or ("partial-submission",)
    return [problem.code for problem in submission.problems if problem.code not in hidden]


def the(submission: Submission, code: str) -> Problem:
    """The one problem of this code."""
    found = [problem for problem in submission.problems if problem.code == code]
    assert len(found) == 1, [str(problem) for problem in submission.problems]
    return found[0]


def error_of(path: Path | list[Path], level: str = "hard", **options: object) -> str:
    """The one line of the SubmissionError that reading raises."""
    with pytest.raises(SubmissionError) as caught:
        read(path, level, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def make_zip(path: Path, members: dict[str, str | bytes] | list[tuple[str | zipfile.ZipInfo, str | bytes]]) -> Path:
    """A zip with these members."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the same name twice is meant
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members.items() if isinstance(members, dict) else members:
                archive.writestr(name, data)
    return path


# --- what a submission is -------------------------------------------------------------------------


def test_whole_submission(put: Put) -> None:
    """Eight good files: eight predictions in the benchmark's order, no errors or warnings."""
    root = put({f"{task}.hard.test": GOOD for task in reversed(ALL)})
    found = read(root)
    assert list(found.predictions) == ALL
    assert (found.errors, found.warnings) == ((), ())
    coqa = found.predictions["coqa"]
    assert (coqa.task, coqa.level, coqa.split, coqa.lines) == ("coqa", "hard", "test", GOOD.splitlines())
    assert (coqa.record.name, coqa.record.lines) == ("coqa.hard.test", 3)
    assert coqa.path == str(root / "coqa.hard.test")
    found.raise_errors()


@pytest.mark.parametrize("level", ["easy", "medium", "medium+", "hard"])
@pytest.mark.parametrize("split", ["test", "dev"])
def test_levels_and_splits(put: Put, level: str, split: str) -> None:
    """`{task}.{level}.{split}` at every level, for test and dev."""
    root = put({f"coqa.{level}.{split}": GOOD})
    assert list(read(root, level, split=split).predictions) == ["coqa"]


def test_folder_zip_and_files_agree(tmp_path: Path, put: Put) -> None:
    """The same files as folder, zip and list give the same lines and hashes."""
    files: dict[str, str | bytes] = {"coqa.hard.test": GOOD, "xsum.hard.test": GOOD * 2}
    root = put(files)
    from_folder = read(root, expected={"coqa": 3, "xsum": 6})
    from_zip = read(make_zip(tmp_path / "p.zip", files), expected={"coqa": 3, "xsum": 6})
    from_files = read([root / name for name in files], expected={"coqa": 3, "xsum": 6})
    assert list(from_folder.predictions) == ["xsum", "coqa"]
    for other in (from_zip, from_files):
        assert {task: item.record.sha256 for task, item in other.predictions.items()} == {
            task: item.record.sha256 for task, item in from_folder.predictions.items()
        }
    assert from_folder.problems == from_zip.problems


def test_one_file(put: Put) -> None:
    """One file is a submission."""
    root = put({"coqa.hard.test": GOOD})
    assert list(read(root / "coqa.hard.test").predictions) == ["coqa"]
    assert list(
        read_submission(str(root / "coqa.hard.test"), "hard", benchmark=BENCHMARK, expected=THREE).predictions
    ) == ["coqa"]


def test_the_same_file_given_twice(put: Put) -> None:
    """Two patterns of a shell that match the same file are no fault."""
    root = put({"coqa.hard.test": GOOD})
    assert codes(read([root / "coqa.hard.test", root / "." / "coqa.hard.test"])) == []


def test_unknown_level_split_task(put: Put) -> None:
    """What the caller got wrong is answered with the nearest known name."""
    root = put({"coqa.hard.test": GOOD})
    assert error_of(root, "mediumplus") == "there is no level 'mediumplus'; did you mean 'medium+'?"
    assert error_of(root, "hrad") == "there is no level 'hrad'; did you mean 'hard'?"
    assert error_of(root, split="tset") == "there is no split 'tset' to score; did you mean 'test'?"
    assert error_of(root, tasks=["sqaudqg"]) == "there is no task 'sqaudqg'; did you mean 'squadqg'?"


# --- names ----------------------------------------------------------------------------------------

SLIPS = {
    "sqaudqg.hard.test": "squadqg.hard.test",  # S1
    "squad-qg.hard.test": "squadqg.hard.test",
    "squad.hard.test": "squadqg.hard.test",
    "coqa.hard (1).test": "coqa.hard.test",  # S2
    "CoQA.hard.test": "coqa.hard.test",  # S2
    "coqa.hard.test.txt": "coqa.hard.test",  # S2
    "coqa_hard.test": "coqa.hard.test",  # S2
    "coqa_hard_test": "coqa.hard.test",
    "coqa-hard-test.txt": "coqa.hard.test",
    "coqa.hard.test (2)": "coqa.hard.test",
    "coqa.hard - Copy.test": "coqa.hard.test",
    "Copy of coqa.hard.test": "coqa.hard.test",
    "coqa.hard.test~": "coqa.hard.test",
    "coqa.hard.tst": "coqa.hard.test",
    "coqa.hard.tests": "coqa.hard.test",
    "coqa.hard": "coqa.hard.test",
    "coqa.test": "coqa.hard.test",
    "coqa.txt": "coqa.hard.test",
    "coqa": "coqa.hard.test",
    "COQA.HARD.TEST": "coqa.hard.test",
    "coqa.hrad.test": "coqa.hard.test",
    "hard.coqa.test": "coqa.hard.test",
    "coqa .hard.test": "coqa.hard.test",
    "coqahard.test": "coqa.hard.test",
    "ｃｏｑａ.hard.test": "coqa.hard.test",
    "cnn_dm.hard.test": "cnndm.hard.test",
    "cnn.hard.test": "cnndm.hard.test",
    "persona_chat.hard.test": "personachat.hard.test",
    "persona.hard.test": "personachat.hard.test",
    "giga.hard.test": "gigaword.hard.test",
    "ms-news.hard.test": "msnews.hard.test",
    "x-sum.hard.test": "xsum.hard.test",
    "coqa.mediumplus.test": "coqa.medium+.test",
    "coqa.medium_plus.test": "coqa.medium+.test",
    "coqa.medium-plus.test": "coqa.medium+.test",
    "coqa_medium+_test": "coqa.medium+.test",
    "coqa.Medium%2B.test": "coqa.medium+.test",
    "coqa.hard.valid": "coqa.hard.dev",
    "coqa_hard.validation": "coqa.hard.dev",
}


@pytest.mark.parametrize(("wrong", "right"), SLIPS.items(), ids=SLIPS)
def test_s1_s2_wrong_names(wrong: str, right: str) -> None:
    """S1, S2: every kind of slip gets the valid name it most likely stands for."""
    assert suggest_name(wrong, "hard", "test", BENCHMARK) == right


@pytest.mark.parametrize(
    "name", ["", "x", "model.bin", "notes.txt", "predictions.txt", "hard.test", "train.py", "1.2.3"]
)
def test_names_that_resemble_nothing(name: str) -> None:
    """A name that says no task gets no suggestion."""
    assert suggest_name(name, "hard", "test", BENCHMARK) is None


@pytest.mark.parametrize("wrong", [name for name, right in SLIPS.items() if right.endswith(".hard.test")])
def test_s1_s2_are_errors(put: Put, wrong: str) -> None:
    """S1, S2: a file that would silently not be scored is an error with the suggestion."""
    right = SLIPS[wrong]
    found = read(put({wrong: GOOD}))
    problem = the(found, "misnamed-file")
    assert (problem.severity, problem.file, problem.task) == ("error", glge.lines.printable(wrong), right.split(".")[0])
    assert problem.hint == f"did you mean {right}?"
    assert found.predictions == {}


def test_s1_wording(put: Put) -> None:
    """S1: the line as it is shown, and as it is raised."""
    found = read(put({"sqaudqg.hard.test": GOOD, "coqa.hard.test": GOOD}))
    assert str(the(found, "misnamed-file")) == (
        "sqaudqg.hard.test: not a prediction file's name, so squadqg would not be scored; "
        "did you mean squadqg.hard.test?"
    )
    with pytest.raises(SubmissionError, match=r"did you mean squadqg\.hard\.test\?") as caught:
        found.raise_errors()
    assert caught.value.problems == found.problems


def test_s2_copy_beside_the_file(put: Put) -> None:
    """S2: a copy beside the right file is only a warning."""
    found = read(put({"coqa.hard.test": GOOD, "coqa.hard (1).test": GOOD, "coqa.hard.test.txt": GOOD}))
    assert list(found.predictions) == ["coqa"]
    problem = the(found, "misnamed-copy")
    assert (problem.severity, problem.count) == ("warning", 2)
    assert "coqa.hard.test.txt" in problem.message


def test_packed_file(put: Put) -> None:
    """A packed prediction file is named with what to do."""
    found = read(put({"coqa.hard.test.gz": b"\x1f\x8b", "xsum.hard.test": GOOD}))
    assert the(found, "misnamed-file").hint == "unpack it to coqa.hard.test"


def test_nested_archive(put: Put) -> None:
    """An archive inside the submission is named."""
    found = read(put({"backup.zip": b"PK", "xsum.hard.test": GOOD}))
    assert "backup.zip" in the(found, "nested-archive").message


def test_unknown_task(put: Put) -> None:
    """A file of a task that the benchmark does not have."""
    found = read(put({"wmt.hard.test": GOOD, "xsum.hard.test": GOOD}))
    assert str(the(found, "unknown-task")).startswith("wmt.hard.test: there is no task 'wmt'; not read; known: cnndm")


def test_other_files(put: Put) -> None:
    """Other files are named and do no harm, also when a task is in their name."""
    files = {"coqa.hard.test.json": "{}", "coqa.log": "x", "train.py": "x", "xsum.hard.test": GOOD}
    found = read(put(files))
    assert (found.errors, found.warnings) == ((), ())
    assert the(found, "unrecognised-file").message == (
        "3 files not read: coqa.hard.test.json (did you mean coqa.hard.test?), "
        "coqa.log (did you mean coqa.hard.test?), train.py"
    )


def test_s3_zip_with_system_files(tmp_path: Path) -> None:
    """S3: one file accepted, two ignored and named."""
    path = make_zip(
        tmp_path / "p.zip",
        {"sub/": "", "sub/coqa.hard.test": GOOD, "__MACOSX/._coqa.hard.test": "x", ".DS_Store": "x"},
    )
    found = read(path)
    assert list(found.predictions) == ["coqa"]
    assert found.predictions["coqa"].record.name == "sub/coqa.hard.test"
    assert found.predictions["coqa"].path == f"{path}:sub/coqa.hard.test"
    problem = the(found, "ignored-file")
    assert (problem.severity, problem.count) == ("note", 2)
    assert problem.message == "2 files ignored: __MACOSX/._coqa.hard.test, .DS_Store"


def test_s3_folder_with_system_files(put: Put) -> None:
    """S3: the same in a folder, with the data's own files and read-me files."""
    found = read(
        put(
            {
                "sub/coqa.hard.test": GOOD,
                "__MACOSX/._coqa.hard.test": "x",
                ".DS_Store": "x",
                "Thumbs.db": "x",
                "README.md": "x",
                "test.src": "x",
                "coqa.test.tgt": "x",
                ".ipynb_checkpoints/coqa.hard-checkpoint.test": "x",
            }
        )
    )
    assert list(found.predictions) == ["coqa"]
    assert found.errors == ()
    assert the(found, "ignored-file").message == (
        "7 files ignored: .DS_Store, .ipynb_checkpoints/, README.md, Thumbs.db, __MACOSX/, coqa.test.tgt, test.src"
    )


def test_s4_the_same_file_in_two_folders_of_a_zip(tmp_path: Path) -> None:
    """S4: refused, both paths named; other tasks stay."""
    found = read(
        make_zip(tmp_path / "p.zip", {"a/coqa.hard.test": GOOD, "b/coqa.hard.test": GOOD, "xsum.hard.test": GOOD})
    )
    assert list(found.predictions) == ["xsum"]
    problem = the(found, "duplicate-task")
    assert (problem.severity, problem.task) == ("error", "coqa")
    assert problem.message == "coqa.hard.test is there twice: a/coqa.hard.test and b/coqa.hard.test"


def test_s4_in_a_folder_and_among_files(put: Put) -> None:
    """S4: the same in a folder and among files."""
    root = put({"a/coqa.hard.test": GOOD, "coqa.hard.test": GOOD})
    assert the(read(root), "duplicate-task").count == 2
    assert the(read([root / "a/coqa.hard.test", root / "coqa.hard.test"]), "duplicate-task").count == 2


def test_s7_two_levels(put: Put) -> None:
    """S7: only the asked level is read; the others are named."""
    found = read(
        put({"coqa.hard.test": GOOD, "coqa.easy.test": "x\n", "xsum.medium+.test": "x\n", "coqa.hard.dev": "x\n"})
    )
    assert list(found.predictions) == ["coqa"]
    assert the(found, "other-level").message == (
        "2 files of other levels, not scored at hard: coqa.easy.test, xsum.medium+.test"
    )
    assert the(found, "other-split").message == "1 file of other splits, not scored as test: coqa.hard.dev"
    assert (found.errors, found.warnings) == ((), ())


def test_s7_misnamed_at_another_level(put: Put) -> None:
    """S7, S2: a wrong name that says another level is no error at this one."""
    found = read(put({"coqa.hard.test": GOOD, "coqa_easy.test": "x\n", "coqa.hard.train": "x\n"}))
    assert found.errors == ()
    assert "coqa_easy.test (did you mean coqa.easy.test?)" in the(found, "other-level").message
    assert the(found, "other-split").message.endswith(": coqa.hard.train")


def test_s8_partial(put: Put) -> None:
    """S8: one task of eight is read; what is missing is noted."""
    found = read(put({"coqa.hard.test": GOOD}))
    assert list(found.predictions) == ["coqa"]
    assert the(found, "partial-submission").message == (
        "1 of 8 tasks: no file for cnndm, gigaword, xsum, msnews, squadqg, msqg, personachat; "
        "there will be no overall score"
    )
    found.raise_errors()


def test_chosen_tasks(put: Put) -> None:
    """Tasks that were asked for must be there; files of others are left alone."""
    root = put({"coqa.hard.test": GOOD, "xsum.hard.test": "wrong\n"})
    assert codes(read(root, tasks=["coqa"]), "none") == []
    found = read(root, tasks=["coqa", "cnndm"])
    assert list(found.predictions) == ["coqa"]
    assert the(found, "missing-task").message == "no predictions for cnndm: looked for cnndm.hard.test"


def test_s9_no_such_folder(tmp_path: Path) -> None:
    """S9: what was looked for, where, and the expected names, in one line."""
    (tmp_path / "predictions").mkdir()
    text = error_of(tmp_path / "predictons")
    assert text == (
        f"{tmp_path / 'predictons'}: there is no such folder, zip or file; did you mean {tmp_path / 'predictions'}?; "
        "expected a folder, a zip or files named cnndm.hard.test, gigaword.hard.test, xsum.hard.test, "
        "msnews.hard.test, squadqg.hard.test, msqg.hard.test, coqa.hard.test, personachat.hard.test"
    )


def test_s9_empty_folder(tmp_path: Path) -> None:
    """S9: an empty folder."""
    text = error_of(tmp_path)
    assert text.startswith(f"{tmp_path}: the folder is empty; expected a folder, a zip or files named cnndm.hard.test")


def test_s9_a_file_that_is_no_prediction(put: Put) -> None:
    """S9: a file in place of the folder."""
    root = put({"notes.txt": "x\n"})
    assert "this file's name is none of a prediction file at level hard; expected" in error_of(root / "notes.txt")


def test_s9_folder_without_predictions(put: Put) -> None:
    """S9: a folder with other files only: an error with the names, beside what is there."""
    found = read(put({"notes.txt": "x\n", ".DS_Store": "x", "coqa.easy.test": GOOD}))
    problem = the(found, "no-predictions")
    assert problem.message.startswith("no predictions for level hard, split test: looked for cnndm.hard.test, ")
    assert problem.hint == "other levels are there: see --level"
    assert codes(found) == ["other-level", "unrecognised-file", "no-predictions", "ignored-file"]


def test_s9_nothing_given() -> None:
    """S9: no path at all."""
    assert error_of([]).startswith("nothing was given; expected a folder")


def test_s9_pipe(tmp_path: Path) -> None:
    """S9: neither folder nor regular file."""
    os.mkfifo(tmp_path / "coqa.hard.test")
    assert "no folder and no regular file" in error_of(tmp_path / "coqa.hard.test")


def test_s9_folder_among_files(put: Put) -> None:
    """S9: folders, zips and files do not mix."""
    root = put({"coqa.hard.test": GOOD})
    assert "this is a folder among 2 paths: give one folder, one zip, or files" in error_of(
        [root, root / "coqa.hard.test"]
    )


def test_odd_names_do_no_harm(put: Put) -> None:
    """File names with control characters are escaped in every message."""
    found = read(put({"coqa.hard.test": GOOD, "a\x1b[2J\nb": "x"}))
    assert "a\\x1b[2J\\nb" in the(found, "unrecognised-file").message


def test_links_in_a_folder(put: Put, tmp_path: Path) -> None:
    """A link to a file is read, one to a folder is not followed, a broken one is an error."""
    root = put({"coqa.hard.test": GOOD})
    (tmp_path / "elsewhere").write_text(GOOD)
    (root / "xsum.hard.test").symlink_to(tmp_path / "elsewhere")
    (root / "loop").symlink_to(root)
    (root / "msqg.hard.test").symlink_to(tmp_path / "nowhere")
    found = read(root)
    assert list(found.predictions) == ["xsum", "coqa"]
    assert the(found, "folder-not-read").file == "loop"
    assert str(the(found, "unreadable-file")) == "msqg.hard.test: cannot be read: no such file or directory"


def test_deep_folders(put: Put) -> None:
    """Three folders deep is read, more is named."""
    found = read(put({"a/b/c/coqa.hard.test": GOOD, "a/b/c/d/xsum.hard.test": GOOD}))
    assert list(found.predictions) == ["coqa"]
    assert the(found, "folder-not-read").file == "a/b/c/d/"


def test_too_many_files(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that is no submission is not searched for ever."""
    monkeypatch.setattr(glge.submission, "MAX_FILES", 5)
    assert "more than 5 files: is this the right folder?" in error_of(put({f"f{number}": "x" for number in range(9)}))


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file_and_folder(put: Put) -> None:
    """A file or folder without permission is an error; the rest is read."""
    root = put({"coqa.hard.test": GOOD, "xsum.hard.test": GOOD, "sub/msqg.hard.test": GOOD})
    (root / "xsum.hard.test").chmod(0)
    (root / "sub").chmod(0)
    try:
        found = read(root)
    finally:
        (root / "sub").chmod(0o700)
    assert [problem.file for problem in found.errors] == ["sub/", "xsum.hard.test"]
    assert list(found.predictions) == ["coqa"]


# --- zip ------------------------------------------------------------------------------------------


def _link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def _device(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFCHR | 0o666) << 16
    return info


def _raw(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("x")
    info.filename = name  # as it is, past the module's own cleaning
    return info


UNSAFE: dict[str, tuple[str | zipfile.ZipInfo, str]] = {
    "up": ("../../x", "a path that leads out of the zip: ../../x"),
    "up inside": ("a/../../x", "a path that leads out of the zip"),
    "absolute": (_raw("/etc/x"), "an absolute path: /etc/x"),
    "drive": (_raw("C:/x"), "an absolute path: C:/x"),
    "backslash": (_raw("a\\coqa.hard.test"), "a backslash in a name"),
    "backslash up": (_raw("..\\x"), "a path that leads out of the zip"),
    "NUL": (_raw("coqa.hard.test\0.exe"), "a NUL in a name: coqa.hard.test\\x00.exe"),
    "link": (_link("coqa.easy.test"), "a symbolic link: coqa.easy.test"),
    "device": (_device("null"), "a device or pipe: null"),
}


@pytest.mark.parametrize(("member", "reason"), UNSAFE.values(), ids=UNSAFE)
def test_s5_unsafe_members(tmp_path: Path, member: str | zipfile.ZipInfo, reason: str) -> None:
    """S5: refused whole, the member named, nothing written."""
    folder = tmp_path / "in"
    folder.mkdir()
    path = make_zip(folder / "p.zip", [("coqa.hard.test", GOOD), (member, "/etc/passwd")])
    before = sorted(tmp_path.rglob("*"))
    found = read(path)
    assert found.predictions == {}
    assert reason in " ".join(problem.message for problem in found.errors if problem.code == "zip-unsafe-member")
    assert all("nothing was read" in problem.message for problem in found.errors)
    assert sorted(tmp_path.rglob("*")) == before


def test_s5_encrypted(tmp_path: Path) -> None:
    """An encrypted member: refused."""
    path = make_zip(tmp_path / "p.zip", {"coqa.hard.test": GOOD})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    data[6] |= 1
    path.write_bytes(data)
    assert codes(read(path)) == ["zip-encrypted"]


def test_s4_one_path_twice_in_a_zip(tmp_path: Path) -> None:
    """S4: the same path twice in one zip: refused whole."""
    path = make_zip(tmp_path / "p.zip", [("coqa.hard.test", GOOD), ("coqa.hard.test", GOOD + GOOD)])
    found = read(path)
    assert codes(found) == ["zip-duplicate-member"]
    assert "the same path twice: coqa.hard.test" in found.problems[0].message


def test_s6_bomb(tmp_path: Path) -> None:
    """S6: a 1,000:1 bomb is refused from its directory, with the limit."""
    path = make_zip(tmp_path / "p.zip", {"coqa.hard.test": bytes(50_000_000)})
    assert path.stat().st_size < 100_000
    found = read(path)
    assert codes(found) == ["zip-ratio"]
    assert re.search(
        r"unpack to 1,0\d\d times its size \(coqa.hard.test\), the limit is 100 times", str(found.problems[0])
    )


def test_s6_small_repetitive_files_are_no_bomb(tmp_path: Path) -> None:
    """One reply repeated 14,056 times packs 300:1 and is read."""
    path = make_zip(tmp_path / "p.zip", {"personachat.hard.test": "i do not know what to say .\n" * 14_056})
    found = read(path, expected=None)
    assert list(found.predictions) == ["personachat"]


def test_s6_many_members(tmp_path: Path) -> None:
    """S6: 10,000 members: refused, the number and the limit named."""
    path = make_zip(tmp_path / "p.zip", [(f"f{number}", "") for number in range(10_000)])
    found = read(path)
    assert codes(found) == ["zip-too-many-members"]
    assert f"10,000 members, the limit is {MAX_MEMBERS:,}" in found.problems[0].message


def test_s6_huge_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S6: a table of contents that is too large is not even read."""
    monkeypatch.setattr(glge.submission.archive, "MAX_DIRECTORY", 70_000)
    path = make_zip(tmp_path / "p.zip", [(f"{number:0200}", "") for number in range(900)])
    found = read(path)
    assert codes(found) == ["zip-too-many-members"]
    assert "table of contents" in found.problems[0].message


def test_s6_size_limit(tmp_path: Path) -> None:
    """S6: what the zip would unpack to counts against the size limit, all members together."""
    rows = {f"{task}.hard.test": os.urandom(20_000).hex() for task in ALL}
    path = make_zip(tmp_path / "p.zip", rows)
    assert path.stat().st_size < 300_000
    found = read(path, size_limit=300_000)
    assert codes(found) == ["zip-too-large"]
    assert "312.5 KiB, the limit is 293.0 KiB" in found.problems[0].message
    assert "--size-limit" in (found.problems[0].hint or "")
    assert "the limit is 48.8 KiB" in error_of(path, size_limit=50_000)


def test_s6_headers_that_lie(tmp_path: Path) -> None:
    """S6: a member that declares 10 bytes and unpacks to 50 MB gives no more than it declares, and an error."""
    path = make_zip(tmp_path / "p.zip", {"coqa.hard.test": bytes(50_000_000), "xsum.hard.test": GOOD})
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        at = data.index(signature) + offset
        data[at : at + 4] = (10).to_bytes(4, "little")
    path.write_bytes(data)
    found = read(path)
    assert list(found.predictions) == ["xsum"]
    problem = the(found, "zip-damaged")
    assert (problem.file, problem.task) == ("coqa.hard.test", "coqa")


def test_s6_overlapping_members(tmp_path: Path) -> None:
    """S6: many directory entries over the same packed bytes are measured against the size of the zip."""
    path = make_zip(tmp_path / "p.zip", {"a": b"ab" * 2_000_000})
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("a")
    with zipfile.ZipFile(path, "a") as archive:
        for number in range(50):
            copy = zipfile.ZipInfo(f"{number:03}")
            for key in ("header_offset", "compress_size", "file_size", "CRC", "compress_type"):
                setattr(copy, key, getattr(info, key))
            archive.filelist.append(copy)
        archive._didModify = True
    assert "zip-ratio" in codes(read(path))


@pytest.mark.parametrize(("method", "name"), [(zipfile.ZIP_BZIP2, "bzip2"), (zipfile.ZIP_LZMA, "lzma")])
def test_other_compression(tmp_path: Path, method: int, name: str) -> None:
    """Methods that the zip module unpacks without a bound are refused by name."""
    with zipfile.ZipFile(tmp_path / "p.zip", "w", method) as archive:
        archive.writestr("coqa.hard.test", GOOD)
    found = read(tmp_path / "p.zip")
    assert codes(found) == ["zip-method"]
    assert f"packed by {name}" in found.problems[0].message


def test_damaged_member(tmp_path: Path) -> None:
    """A member whose bytes changed: an error for its task; the others are read."""
    path = tmp_path / "p.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("coqa.hard.test", GOOD)
        archive.writestr("xsum.hard.test", GOOD)
    path.write_bytes(path.read_bytes().replace(b"first", b"fxrst", 1))
    found = read(path)
    assert list(found.predictions) == ["xsum"]
    assert str(the(found, "zip-damaged")) == (
        "coqa.hard.test: damaged in the zip: its checksum does not fit; pack the files again"
    )


def test_not_a_zip(tmp_path: Path) -> None:
    """What is called zip and is none: one line that says what it is."""
    path = tmp_path / "p.zip"
    for data, reason in (
        (b"", "the file is empty (0 bytes), not a zip"),
        (b"\x1f\x8b\x08abc", "this is gzip, not a zip"),
        (b"just text", "this is not a zip"),
        (b"PK\x03\x04 cut", "the zip is cut off or damaged"),
        (b"PK\x05\x06" + bytes(18), "the zip is empty"),
    ):
        path.write_bytes(data)
        assert f"{path}: {reason}" in error_of(path)


def test_truncated_zip(tmp_path: Path) -> None:
    """A download that stopped: one clear error at every length."""
    whole = make_zip(tmp_path / "p.zip", {"coqa.hard.test": GOOD, "xsum.hard.test": GOOD}).read_bytes()
    for length in range(1, len(whole)):
        (tmp_path / "p.zip").write_bytes(whole[:length])
        assert "zip" in error_of(tmp_path / "p.zip")


def test_other_archives(tmp_path: Path) -> None:
    """An archive of another kind in place of the zip is named."""
    path = tmp_path / "preds.tar.gz"
    path.write_bytes(b"\x1f\x8b\x08abc")
    assert "this is gzip, not a zip; pack the files as a zip, or give the folder" in error_of(path)


def test_zip_under_another_name(tmp_path: Path) -> None:
    """A zip is known by its first bytes, unless its name is a prediction file's (L8)."""
    path = make_zip(tmp_path / "preds", {"coqa.hard.test": GOOD})
    assert list(read(path).predictions) == ["coqa"]
    path = path.rename(tmp_path / "coqa.hard.test")
    assert str(the(read(path), "wrong-format")).endswith(
        "coqa.hard.test: this is zip, not UTF-8 text; unpack it and give the UTF-8 text file"
    )


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_random_zips(data: st.DataObject) -> None:
    """Any bytes where a zip is expected end in a submission or in one SubmissionError, and write nothing."""
    buffer = io.BytesIO()
    names = st.sampled_from(["coqa.hard.test", "a/xsum.hard.test", "../x", "__MACOSX/a", "coqa.hard.txt", "é", ""])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(buffer, "w") as archive:
            for name in data.draw(st.lists(names, max_size=4)):
                archive.writestr(name or "x", data.draw(st.binary(max_size=40)))
    content = bytearray(buffer.getvalue())
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "p.zip"
        path.write_bytes(content)
        try:
            said = [str(problem) for problem in read(path).problems]
        except SubmissionError as error:
            said = [str(error)]
        assert not any("\n" in line for line in said)
        assert list(Path(folder).iterdir()) == [path]


# --- lines of a task ------------------------------------------------------------------------------


def check(text: str, task: str = "coqa", **options: object) -> list[Problem]:
    """The problems of these lines, by default as many as expected."""
    lines = text.split("\n")
    options.setdefault("expected", len(lines))
    return check_predictions(
        lines, BENCHMARK.tasks[task], file=f"{task}.hard.test", split="test", benchmark=BENCHMARK, **options
    )  # type: ignore[arg-type]


def found_codes(text: str, task: str = "coqa") -> list[str]:
    """Their codes."""
    return [problem.code for problem in check(text, task)]


def test_l5_trailing_blank_line(put: Put) -> None:
    """L5: one line too many, and it is empty: says so and what to do."""
    found = read(put({"coqa.hard.test": "a\n" * 4048 + "\n"}), expected={"coqa": 4048})
    assert str(the(found, "line-count")) == (
        "coqa.hard.test:4049: 4,049 lines, expected 4,048 by the data; line 4,049 is empty: "
        "remove the trailing blank line"
    )
    assert found.predictions == {}


def test_l5_several_trailing_blank_lines() -> None:
    """L5: the same for several."""
    problem = check("a\nb\n\n \n", expected=2)[0]
    assert problem.message == (
        "5 lines, expected 2 by the data; lines 3 to 5 are empty: remove the 3 trailing blank lines"
    )
    assert problem.places == (3,)


def test_too_many_lines() -> None:
    """Too many lines for another reason: blank lines between, or line breaks inside texts."""
    assert check("a\n\nb\n\nc", expected=3)[0].hint == "without its 2 empty lines the number would fit"
    assert "does a text contain a line break?" in (check("a\nb\nc", expected=2)[0].hint or "")


def test_l6_l10_too_few_lines(put: Put) -> None:
    """L10, L6: one line (without a line feed) against three references is refused."""
    found = read(put({"personachat.hard.test": "hello there"}))
    problem = the(found, "line-count")
    assert problem.severity == "error"
    assert problem.message == "1 line, expected 3 by the data"
    assert (problem.hint or "").startswith("too few lines")


def test_counts_by_the_published_size(put: Put) -> None:
    """Without data the published size counts, and the message says so; another known size is named."""
    found = read(put({"coqa.hard.test": "a b\n" * 3935}), expected=None)
    assert str(the(found, "line-count")) == (
        "coqa.hard.test: 3,935 lines, expected 4,048 by the published size; too few lines: one for each input, an "
        "empty line where there is no text; 3,935 is the size of coqa dev; for other data than the published give "
        "--data"
    )
    assert found.predictions == {}
    dev = read(put({"coqa.hard.dev": "a b\n" * 3935}), split="dev", expected=None)
    assert list(dev.predictions) == ["coqa"]


def test_expected_of_some_tasks_only(put: Put) -> None:
    """A task that the data do not have falls back on the published size."""
    found = read(put({"coqa.hard.test": GOOD, "xsum.hard.test": GOOD}), expected={"coqa": 3})
    assert "11,333 by the published size" in the(found, "line-count").message


def test_old_macintosh_file() -> None:
    """L1: carriage returns instead of line feeds explain a count that is too small."""
    assert "it has 2 carriage returns: end the lines by line feeds" in (check("a\rb\rc", expected=3)[0].hint or "")


def test_l12_empty_predictions(put: Put) -> None:
    """L12: an empty line is kept and counted in a warning."""
    found = read(put({"coqa.hard.test": "a\n\n \n"}))
    assert found.predictions["coqa"].lines == ["a", "", " "]
    problem = the(found, "empty-prediction")
    assert (problem.severity, problem.count, problem.places, problem.task) == ("warning", 2, (2, 3), "coqa")


def test_l1_to_l9_reach_the_submission(put: Put) -> None:
    """L1-L9: faults of a file's lines carry its name and task; the lines are the right ones."""
    found = read(put({"coqa.hard.test": b"\xef\xbb\xbfa\rb\nc\xe2\x80\xa8d\ne  f"}))
    assert found.predictions["coqa"].lines == ["a\rb", "c\u2028d", "e  f"]
    assert codes(found) == ["byte-order-mark", "carriage-return", "line-boundary-character", "double-blank"]
    assert {problem.task for problem in found.problems if problem.file == "coqa.hard.test"} == {"coqa"}


@pytest.mark.parametrize(
    ("data", "code"), [(b"", "empty-file"), ("a\nb".encode("utf-16"), "wrong-format"), (b"a\n\xff\n", "invalid-utf8")]
)
def test_l7_l8_l11_refused(put: Put, data: bytes, code: str) -> None:
    """L7, L8, L11: one error for the file, no second one about its number of lines; other tasks are read."""
    found = read(put({"coqa.hard.test": data, "xsum.hard.test": GOOD}))
    assert codes(found) == [code]
    assert list(found.predictions) == ["xsum"]


def test_size_limit_of_a_file(put: Put) -> None:
    """A 2 GB prediction file is refused with the flag that lifts the limit."""
    root = put({"xsum.hard.test": GOOD})
    with (root / "coqa.hard.test").open("wb") as file:
        file.truncate(2_000_000_000)
    found = read(root)
    assert "--size-limit" in str(the(found, "too-large"))
    assert list(found.predictions) == ["xsum"]


def test_million_characters_in_a_line(put: Put) -> None:
    """A line of a million characters is kept and reported."""
    found = read(put({"coqa.hard.test": "a\n" + "b" * 1_000_000 + "\nc\n"}))
    assert len(found.predictions["coqa"].lines[1]) == 1_000_000
    assert codes(found) == ["long-line"]


PIECES = {
    "WordPiece": ("play ##ing\nok", "word pieces (##)", "sed 's/ ##//g' coqa.hard.test"),
    "plural": ("play ##s\nok", "word pieces (##)", "sed 's/ ##//g' coqa.hard.test"),
    "byte pairs": ("play@@ ing\nok", "byte-pair pieces (@@)", "sed -E 's/@@( |$)//g' coqa.hard.test"),
    "SentencePiece": ("▁play ing\n▁ok", "SentencePiece marks", "sed 's/ //g; s/▁/ /g; s/^ //' coqa.hard.test"),
    "GPT": ("the Ġcat\na Ġdog", "byte-level marks", "sed 's/ //g; s/Ġ/ /g' coqa.hard.test"),
}


@pytest.mark.parametrize(("text", "what", "command"), PIECES.values(), ids=PIECES)
def test_s10_word_pieces(text: str, what: str, command: str) -> None:
    """S10: pieces that were not joined: a warning with the command that joins them."""
    problem = check(text)[0]
    assert (problem.code, problem.severity) == ("word-pieces", "warning")
    assert what in problem.message
    assert problem.hint == f"join them: {command}"


@pytest.mark.parametrize(
    "text", ["a ## b\nc", "c## and f##\nok", "me@@home\nok", "#play\nok", "\n".join(["Ġorġ Borg"] + ["a"] * 30)]
)
def test_s10_no_word_pieces(text: str) -> None:
    """S10: characters that only look alike."""
    assert "word-pieces" not in found_codes(text)


def test_s10_masked_digits() -> None:
    """S10: gigaword writes digits as #, so ##th and ##-year are numbers there, and ##ing is still a piece."""
    assert found_codes("##th anniversary of ##-year war , ##s\nok", "gigaword") == []
    assert found_codes("play ##ing\nok", "gigaword") == ["word-pieces"]


def test_s10_foreign_separators() -> None:
    """S10: [X_SEP] in a task that has none, and the references' separator in predictions of cnndm."""
    problem = check("a [X_SEP] b\nc", "xsum")[0]
    assert (problem.code, problem.severity, problem.places) == ("foreign-separator", "warning", (1,))
    problem = check("a [X_SEP] b\nc <S_SEP> d", "cnndm")[0]
    assert (problem.code, problem.places) == ("foreign-separator", (2,))
    assert problem.message == (
        "1 line with <S_SEP>, which predictions of cnndm do not use; its sentences are joined by [X_SEP]; "
        "read as ordinary text"
    )
    assert check("a [X_SEP] b\nc", "cnndm") == []


@pytest.mark.parametrize("spelling", ["[x_sep]", "[ x _ sep ]", "[X_ SEP]"])
def test_s10_misspelt_separator(spelling: str) -> None:
    """S10: what a lower-casing tokeniser makes of the separator is not understood, and is reported."""
    assert found_codes(f"a {spelling} b\nc [X_SEP] d", "cnndm") == ["misspelt-separator"]


def test_no_separator_at_all() -> None:
    """A file of cnndm without any separator is noted."""
    assert found_codes("a b .\nc d .", "cnndm") == ["no-separator"]


def test_s10_identical_lines() -> None:
    """S10: all lines the same."""
    problem = check("so\nso\nso")[0]
    assert (problem.code, problem.count) == ("identical-lines", 3)
    assert problem.message == "3 lines and all are the same text"
    assert found_codes("one line only") == []
    assert found_codes("\n\n") == ["empty-prediction"]


def test_model_tokens() -> None:
    """Tokens of the model that were left in."""
    problem = check("<s> a </s>\nb [SEP]\nc [UNK]")[0]
    assert (problem.code, problem.places) == ("model-token", (1, 2))
    assert "(</s>, <s>, [SEP])" in problem.message


def test_m6_no_ascii() -> None:
    """M6: lines that lose all tokens in ROUGE-1.5.5 are counted; empty lines are another matter."""
    problem = check("зима\nthe cat\n猫", "msnews")[0]
    assert (problem.code, problem.severity, problem.places) == ("no-rouge-token", "note", (1, 3))
    assert found_codes("зима\nthe cat", "msqg") == []


@pytest.mark.parametrize("task", ["cnndm", "xsum", "msnews"])
def test_m7_tags(task: str) -> None:
    """M7: text after '<' is lost in ROUGE-1.5.5; lines are counted."""
    problems = [
        problem for problem in check("a <unk> b [X_SEP]\nc < d\ne > f", task) if problem.code == "tag-like-text"
    ]
    assert [(problem.severity, problem.places) for problem in problems] == [("warning", (1, 2))]


def test_m7_escaped_tags() -> None:
    """M7: gigaword's rules escape a lone '<', so only others lose text; tasks without ROUGE-1.5.5 lose none."""
    assert [problem.places for problem in check("a <unk> b\nc < d", "gigaword")] == [(1,)]
    assert found_codes("a <unk> b\nc < d", "msqg") == []


def test_m18_curly_quotes() -> None:
    """M18: curly quotes stay in the word in the official F1: noted."""
    problem = check("“white”\nok")[0]
    assert (problem.code, problem.severity, problem.places) == ("non-ascii-punctuation", "note", (1,))
    assert found_codes("“white”\nok", "msqg") == []


@given(st.lists(st.text(max_size=30), min_size=1, max_size=8), st.sampled_from(ALL))
def test_any_predictions(texts: list[str], task: str) -> None:
    """Odd characters never crash the checks, and every problem is one line of a known code."""
    for problem in check_predictions(
        texts, BENCHMARK.tasks[task], file="x", split="test", benchmark=BENCHMARK, expected=len(texts)
    ):
        assert CODES[problem.code] == problem.severity
        assert "\n" not in str(problem)
        assert all(1 <= place <= len(texts) for place in problem.places)


# --- errors and documentation ---------------------------------------------------------------------


def test_raise_errors_names_all(put: Put) -> None:
    """Several errors: their number and the first, and all problems on the exception."""
    found = read(put({"coqa.hard.test": "", "xsum.hard.test": "a\n", "CNNDM.hard.test": GOOD}))
    with pytest.raises(SubmissionError) as caught:
        found.raise_errors()
    assert ": the submission cannot be scored: 3 errors, the first: CNNDM.hard.test: " in str(caught.value)
    assert caught.value.problems == found.problems
    assert len(found.errors) == 3


def test_every_code_is_documented() -> None:
    """docs/files.md has one row for each code, with its severity, and no row for another."""
    page = (Path(__file__).parents[1] / "docs" / "files.md").read_text("utf-8")
    documented = dict(re.findall(r"^\| `([a-z0-9-]+)` \| (error|warning|note) \|", page, re.MULTILINE))
    known = {
        **glge.lines.CODES,
        **glge.references.CODES,
        **glge.submission.CODES,
        **glge.scoring.CODES,
        **glge.comparison.CODES,
    }
    assert documented == known


def test_every_code_is_used() -> None:
    """Every code of the tables is given somewhere, and no code outside them."""
    for module in (glge.lines, glge.references, glge.submission, glge.scoring, glge.comparison):
        assert module.__file__ is not None
        file = Path(module.__file__)
        files = file.parent.glob("*.py") if file.name == "__init__.py" else [file]
        source = "".join(part.read_text("utf-8") for part in files)
        for code in module.CODES:
            assert source.count(f'"{code}"') >= 2, code
