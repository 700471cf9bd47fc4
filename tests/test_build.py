"""Building from raw files: the door, options, interruption, determinism, and how raw files are read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glge.errors import DataError
from glge.preparation import build as build_module
from glge.preparation import recipe as recipe_module
from glge.preparation.build import BUILDERS, NO_BUILDER, build, find_builder, parse_options
from glge.preparation.manifest import Manifest
from glge.preparation.raw import BadRecord, LinePlace, candidates, find_one, raw_lines, read_json, read_list, walk
from glge.preparation.recipe import Job, Pair, Text
from glge.preparation.tokenisers import TOKENISERS, ptb, punctuation
from glge.tasks import load_tasks
from tests.strategies import odd_line

DOCS = Path(__file__).resolve().parents[1] / "docs"
Files = Mapping[str, str | bytes]


def put(root: Path, files: Files) -> Path:
    """Write files below a folder; the folder."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return root


def lines_of(out: Path, task: str, file: str) -> list[str]:
    """The lines of a built file; its last line is ended."""
    text = (out / "easy" / f"{task}_data" / "org_data" / file).read_bytes().decode("utf-8")
    assert text.endswith("\n")
    return text.split("\n")[:-1]


def everything(root: Path) -> dict[str, bytes]:
    """Every file below a folder with its bytes."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def steps_of(manifest: Manifest) -> dict[str, tuple[int, dict[str, int]]]:
    """Kept and dropped by step; a step stands once."""
    found = {step.name: (step.kept, step.dropped) for step in manifest.steps}
    assert len(found) == len(manifest.steps)
    return found


def error_of(task: str, raw: Path, out: Path, **options: Any) -> str:
    """The one line of the DataError of a build that leaves no file."""
    before = everything(out) if out.exists() else {}
    with pytest.raises(DataError) as caught:
        build(task, raw, out, **options)
    assert "\n" not in str(caught.value)
    assert (everything(out) if out.exists() else {}) == before
    return str(caught.value)


PAIRS: Files = {
    "train.src": "a b c\nd  e\tf\n",
    "train.tgt": "x\r\ny\n",
    "dev.src": "g\n",
    "dev.tgt": "z\n",
    "test.src": "\ufeffh\u2028i\u0085j\n",
    "test.tgt": "UNK ##",
}


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    """The smallest raw data: pairs of lines."""
    return put(tmp_path / "raw", PAIRS)


# --- the door -------------------------------------------------------------------------------------


def test_what_is_written(raw: Path, tmp_path: Path) -> None:
    """The official layout, one line a record whatever ends a line elsewhere, and the manifest that is returned."""
    out = tmp_path / "out"
    manifest = build("gigaword", raw, out)
    assert sorted(everything(out)) == sorted(
        f"easy/gigaword_data/org_data/{name}"
        for name in ("train.src", "train.tgt", "dev.src", "dev.tgt", "test.src", "test.tgt", "manifest.json")
    )
    assert lines_of(out, "gigaword", "train.src") == ["a b c", "d e f"]
    assert lines_of(out, "gigaword", "train.tgt") == ["x", "y"]
    assert lines_of(out, "gigaword", "test.src") == ["\ufeffh i j".removeprefix("\ufeff")]
    assert lines_of(out, "gigaword", "test.tgt") == ["UNK ##"]
    written = json.loads((out / "easy/gigaword_data/org_data/manifest.json").read_bytes())
    assert Manifest.model_validate(written) == manifest
    assert (manifest.command, manifest.task, manifest.level, manifest.seed) == (
        "data build gigaword",
        "gigaword",
        "easy",
        None,
    )
    assert [one.name for one in manifest.inputs] == sorted(PAIRS)
    assert [(one.name, one.lines) for one in manifest.outputs] == [
        ("train.src", 2),
        ("train.tgt", 2),
        ("dev.src", 1),
        ("dev.tgt", 1),
        ("test.src", 1),
        ("test.tgt", 1),
    ]
    assert manifest.options == {
        "splits": "train,dev,test",
        "case": "keep",
        "digits": "keep",
        "unknown": "keep",
        "skip_bad": False,
    }
    assert steps_of(manifest)["train: white space (2 of 4 texts changed)"] == (4, {})
    assert steps_of(manifest)["train: lines written"] == (2, {})
    assert str(tmp_path) not in manifest.text()


def test_same_inputs_same_bytes(raw: Path, tmp_path: Path) -> None:
    """Two builds, from two copies made in another order, give the same bytes, the manifest's too."""
    other = put(tmp_path / "elsewhere" / "deeper", dict(reversed(PAIRS.items())))
    build("gigaword", raw, tmp_path / "one")
    build("gigaword", other, tmp_path / "two")
    assert everything(tmp_path / "one") == everything(tmp_path / "two")


def test_existing_output_is_refused(raw: Path, tmp_path: Path) -> None:
    """What is there stays without force, and is replaced with it."""
    out = tmp_path / "out"
    build("gigaword", raw, out)
    told = error_of("gigaword", raw, out, options={"digits": "hash"})
    assert "already there: train.src" in told
    assert "--force" in told
    put(raw, {"dev.src": "new 7\n"})
    build("gigaword", raw, out, options={"digits": "hash"}, force=True)
    assert lines_of(out, "gigaword", "dev.src") == ["new #"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, OSError(28, "full"), MemoryError])
def test_an_interrupted_build_leaves_nothing(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: type[BaseException] | OSError
) -> None:
    """Whatever stops it in the middle: no file in the target, no temporary folder, the old data untouched."""
    out = tmp_path / "out"
    build("gigaword", raw, out, options={"splits": "train"})
    before = everything(out)

    def broken(pairs: Iterator[Pair]) -> Iterator[Pair]:
        yield next(pairs)
        raise stop

    real = find_builder("gigaword")
    cut = type(real)(
        real.task,
        real.expects,
        real.options,
        lambda job: {split: broken(pairs) for split, pairs in real.read(job).items()},
    )
    monkeypatch.setattr(build_module, "BUILDERS", {"gigaword": cut})
    full = isinstance(stop, OSError)
    with pytest.raises(DataError if isinstance(stop, OSError) else stop, match="the disk is full" if full else None):
        build("gigaword", raw, out, force=True)
    assert everything(out) == before


def test_splits_can_be_chosen(raw: Path, tmp_path: Path) -> None:
    """Only the asked splits are looked for and written, in the usual order."""
    (raw / "test.src").unlink()
    manifest = build("gigaword", raw, tmp_path, options={"splits": "dev, train"})
    assert manifest.options["splits"] == "train,dev"
    assert [one.name for one in manifest.outputs] == ["train.src", "train.tgt", "dev.src", "dev.tgt"]
    assert "option splits: not allowed (expected train,dev,test, found 'valid')" in error_of(
        "gigaword", raw, tmp_path / "x", options={"splits": "valid"}
    )


@pytest.mark.parametrize("task", ["msnews", "msqg"])
def test_no_builder_for_what_has_no_raw_form(task: str, tmp_path: Path) -> None:
    """A plain message why, and what to do instead."""
    told = error_of(task, tmp_path, tmp_path / "out")
    assert "released in its own archive only" in told
    assert "glge data check" in told


def test_every_task_has_a_builder_or_a_reason() -> None:
    """The registry and the benchmark name the same tasks."""
    assert {*BUILDERS, *NO_BUILDER} == set(load_tasks().tasks)


def test_unknown_task(tmp_path: Path) -> None:
    """The nearest name is offered."""
    assert "did you mean 'squadqg'?" in error_of("sqaudqg", tmp_path, tmp_path / "out")


def test_missing_raw_folder(tmp_path: Path) -> None:
    """The message says which files are expected."""
    told = error_of("coqa", tmp_path / "none", tmp_path / "out")
    assert "the folder does not exist (expected the raw files of coqa: coqa-train-v1.0.json" in told
    assert "this is no folder" in error_of("coqa", Path(__file__), tmp_path / "out")


@pytest.mark.parametrize("task", BUILDERS)
def test_an_empty_raw_folder_names_what_is_missing(task: str, tmp_path: Path) -> None:
    """Every builder says what it looked for."""
    (tmp_path / "raw").mkdir()
    told = error_of(task, tmp_path / "raw", tmp_path / "out")
    assert "no " in told
    assert "expected" in told


def test_nothing_left_is_an_error(raw: Path, tmp_path: Path) -> None:
    """A split without a line is not written; the message says where its records went."""
    put(raw, {"dev.src": "\n \n", "dev.tgt": "a\nb\n"})
    told = error_of("gigaword", raw, tmp_path / "out")
    assert "nothing is left of dev" in told
    assert "2 empty source" in told


def test_progress_and_skipped_are_told(raw: Path, tmp_path: Path) -> None:
    """The progress call has what, done and total; skipped records come one by one."""
    put(raw, {"dev.src": b"\xff\ng\n", "dev.tgt": "a\nb\n"})
    told: list[tuple[str, int, int]] = []
    bad: list[BadRecord] = []
    manifest = build(
        "gigaword", raw, tmp_path / "out", skip_bad=True, progress=lambda *args: told.append(args), skipped=bad.append
    )
    assert ("train", 2, 2) in told
    assert [str(one) for one in bad] == [
        "dev.src:1: not UTF-8 (found byte 0xFF at byte 1 of the line); save it as UTF-8 text"
    ]
    assert steps_of(manifest)["dev: pairs read"] == (1, {"not UTF-8": 1})
    assert manifest.options["skip_bad"] is True


# --- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", BUILDERS)
def test_options_are_whole(task: str) -> None:
    """Names are unique, defaults allowed, every option says what it means."""
    options = BUILDERS[task].all_options
    assert len({option.name for option in options}) == len(options)
    for option in options:
        assert option.check(option.default) == option.default
        assert option.meaning
        assert option.kind == "choice" or option.kind in ("count", "text")
        assert (option.kind == "choice") <= (len(option.choices) > 1)


@pytest.mark.parametrize("task", BUILDERS)
def test_options_are_documented(task: str) -> None:
    """docs/data-build.md has a row for each option of each dataset, with its default."""
    page = (DOCS / "data-build.md").read_bytes().decode("utf-8")
    part = page.split(f"\n## {task}")[1].split("\n## ")[0]
    for option in BUILDERS[task].options:
        assert f"| `{option.name}` | `{option.default}` |" in part, option.name
        for choice in option.choices:
            assert f"`{choice}`" in part or option.name == "parts", (option.name, choice)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["case=upper"], "option case: not allowed (expected keep, lower, found 'upper')"),
        (["turns=two"], "option turns: not allowed (expected a whole number or all, found 'two')"),
        (["turns=-1"], "option turns: not allowed (expected a whole number or all, found '-1')"),
        (["turns=٣"], "option turns: not allowed (expected a whole number or all, found '٣')"),
        (["seed=all"], "option seed: not allowed (expected a whole number, found 'all')"),
        (["separator=\x1b"], "option separator: not allowed (expected printable text, found '\\x1b')"),
        (["case=keep", "case=lower"], "the option case is given twice"),
        (["colour=red"], "coqa has no option 'colour'; known: case, division, parts, seed, separator, splits, "),
    ],
)
def test_wrong_options(settings: list[str], message: str) -> None:
    """What is allowed, and what was found."""
    with pytest.raises(DataError) as caught:
        parse_options("coqa", settings)
    assert str(caught.value).startswith(message)


def test_options_from_the_command_line_and_from_python() -> None:
    """KEY=VALUE, with a dash or an underscore in the key; values with an equals sign; numbers as numbers."""
    given = parse_options("coqa", ["turn-separator= a=b ", "turns=all", "seed=007"])
    assert (given["turn_separator"], given["turns"], given["seed"], given["case"]) == ("a=b", "all", 7, "lower")
    assert BUILDERS["coqa"].resolve({"turns": 3})["turns"] == 3
    with pytest.raises(DataError):
        BUILDERS["coqa"].resolve({"turns": True})


# --- reading --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "x.json: the file is empty"),
        (b'{"data": [{"id": "a"', "x.json:1: truncated JSON (found the end of the file after column 21); fetch"),
        (b'{"data": ["ab', "x.json:1: truncated JSON"),
        (b'{"data":\n [1,, 2]}', "x.json:2: no JSON: expecting value (found the fault after column 5)"),
        (b'{"a": 1, "b": 2, "a": 3}', "x.json: the key 'a' stands twice in one object"),
        (b'{"a":\n"\xe9"}', "x.json:2: not UTF-8 (found byte 0xE9 at byte 2 of the line); save it as UTF-8 text"),
        (b"\x1f\x8b\x08\x00", "x.json: this is gzip, not UTF-8 text; unpack it"),
        ('{"a": 1}'.encode("utf-16"), "x.json: this is UTF-16, not UTF-8 text"),
        (b"[" * 100_000, "x.json: JSON nested too deeply"),
    ],
)
def test_json_that_cannot_be_read(tmp_path: Path, content: bytes, message: str) -> None:
    """One line with file and position."""
    put(tmp_path, {"x.json": content})
    with pytest.raises(DataError) as caught:
        read_json(tmp_path / "x.json", "x.json")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("value", "read", "message"),
    [
        ([1], lambda node: node["a"], "x.json: wrong type (expected an object, found a list)"),
        ({"a": {}}, lambda node: node["a"].items(), "x.json: a: wrong type (expected a list, found an object)"),
        (
            {"a": [0, None]},
            lambda node: node["a"].items()[1].text(),
            "x.json: a[1]: wrong type (expected text, found null",
        ),
        ({"a": True}, lambda node: node["a"].number(), "x.json: a: wrong type (expected a whole number, found true or"),
        ({"a": "x\ud800"}, lambda node: node["a"].text(), "x.json: a: half of a surrogate pair: no valid text"),
        ({}, lambda node: node["a"], "x.json: the key 'a' is missing"),
    ],
)
def test_json_of_another_shape(tmp_path: Path, value: object, read: Callable[[Any], object], message: str) -> None:
    """File and JSON path; a byte order mark is no fault."""
    put(tmp_path, {"x.json": b"\xef\xbb\xbf" + json.dumps(value).encode()})
    node = read_json(tmp_path / "x.json", "x.json")
    with pytest.raises(BadRecord) as caught:
        read(node)
    assert str(caught.value).startswith(message)
    assert node.get("zzz") is None if isinstance(value, dict) else True


def test_lines_end_at_line_feeds_only(tmp_path: Path) -> None:
    """Also in lists, whose entries lose the white space around them."""
    put(tmp_path, {"a.txt": "\ufeffone\u2028still\r\n\n two \n", "b.txt": "\n \n"})
    assert [line for _, line in raw_lines(tmp_path / "a.txt", "a.txt")] == [
        "one\u2028still\r".encode(),
        b"",
        b" two ",
    ]
    assert read_list(tmp_path / "a.txt", "a.txt") == [
        ("one\u2028still", LinePlace("a.txt", 1)),
        ("two", LinePlace("a.txt", 3)),
    ]
    with pytest.raises(DataError, match=r"b.txt: the list is empty"):
        read_list(tmp_path / "b.txt", "b.txt")
    with pytest.raises(DataError, match=r"c.txt: cannot be read: no such file"):
        list(raw_lines(tmp_path / "c.txt", "c.txt"))


def test_one_file_or_none(tmp_path: Path) -> None:
    """None and several are told apart; a link to the same file is not another one."""
    names = candidates("dev", ["{split}.txt"])
    with pytest.raises(DataError, match=r"no list \(expected dev.txt, val.txt, valid.txt, validation.txt\)"):
        find_one(tmp_path, names, "list")
    put(tmp_path, {"val.txt": "a"})
    (tmp_path / "dev.txt").symlink_to(tmp_path / "val.txt")
    assert find_one(tmp_path, names, "list").name == "dev.txt"
    put(tmp_path, {"valid.txt": "a"})
    with pytest.raises(DataError, match=r"more than one list \(found dev.txt, valid.txt\); leave only one there"):
        find_one(tmp_path, names, "list")


def test_walking_ends(tmp_path: Path) -> None:
    """Links are followed, also when they lead in a circle; hidden files are none."""
    put(tmp_path, {"a/1.story": "x", "b/1.story": "y", "b/.2.story": "z", "b/3.txt": ""})
    (tmp_path / "a" / "up").symlink_to(tmp_path, target_is_directory=True)
    found = walk(tmp_path, ".story")
    assert list(found) == ["1"]
    assert len(found["1"]) == 2
    with pytest.raises(DataError, match="none: cannot be read: no such file"):
        walk(tmp_path / "none", ".story")


def test_a_file_that_may_not_be_read(raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the operating system says, with the file."""

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(recipe_module, "hash_file", refused)
    assert error_of("gigaword", raw, tmp_path / "out") == "train.src: cannot be read: permission denied"


# --- texts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ('He said: "Don\'t!"', "He said : `` Do n't ! ''"),
        ("(CNN) -- Mr. Low, of the U.S., left.", "-LRB- CNN -RRB- -- Mr. Low , of the U.S. , left ."),
        ("‘Yes’ – “no”…", "` Yes ' -- `` no '' ..."),
        ("The dogs' 'n' cats' food", "The dogs ' 'n ' cats ' food"),
        ("It rose 5.5% to $1,000 at 10:30, No. 1", "It rose 5.5 % to $ 1,000 at 10:30 , No. 1"),
        ("J. Doe saw AT&T and O'Neill's well-known shop.", "J. Doe saw AT&T and O'Neill 's well-known shop ."),
        ("See http://a.b/c?d=1. Mail a.b@c.org!", "See http://a.b/c?d=1 . Mail a.b@c.org !"),
        ("I cannot; we're gonna... stop?!", "I can not ; we 're gon na ... stop ?!"),
        ("He came on Sat. She left in Jan. 2013.", "He came on Sat . She left in Jan. 2013 ."),
        ("cafe\u0301 naïve 東京 £20m", "cafe\u0301 naïve 東京 £ 20m"),
        ("[a] {b}", "-LSB- a -RSB- -LCB- b -RCB-"),
        ("-LRB- a -RRB- `` b '' n't 's", "-LRB- a -RRB- `` b '' n't 's"),
        ("I. He and I. She", "I . He and I . She"),
    ],
)
def test_treebank_tokens(raw: str, expected: str) -> None:
    """By hand; what is in such tokens already stays."""
    assert ptb(raw) == expected
    assert ptb(expected) == expected


@given(odd_line)
def test_tokenisers_lose_nothing(line: str) -> None:
    """Odd text never crashes; tokens joined again are the text without blanks; a second time changes nothing."""
    assert punctuation(punctuation(line)) == punctuation(line)
    assert "".join(punctuation(line).split()) == "".join(line.split())
    once = ptb(line)
    assert " ".join(once.split()) == once
    assert "".join(once.split()).replace("''", '"').replace("``", '"').isascii() or not line.isascii()


@given(
    st.lists(st.sampled_from("The dog said Mr. U.S. left 'no' \"yes\" (but) it's can't 3.5% end. , cannot".split(" ")))
)
def test_treebank_tokens_are_stable(words: list[str]) -> None:
    """Tokenising tokens gives the same tokens."""
    once = ptb(" ".join(words))
    assert ptb(once) == once


@given(odd_line, st.sampled_from(sorted(TOKENISERS)), st.sampled_from(["keep", "lower"]))
def test_texts_are_one_line(line: str, tokens: str, case: str) -> None:
    """No character at which a program ends a line is left, no double blank, no blank outside."""
    job = Job(Path(), {"tokens": tokens, "case": case}, ("train",))
    text = Text(job, "train")(line, LinePlace("a"))
    assert len(text.splitlines()) <= 1
    assert " ".join(text.split()) == text
