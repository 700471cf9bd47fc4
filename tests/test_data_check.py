"""Checking a data root: every fault planted is found, nothing is found in sound data, no text is quoted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glge.errors import NoReferences, Problem, RegistryError
from glge.preparation.check import CODES, DataReport, SplitFacts, _words, check_data, check_text, expected_separators
from glge.preparation.levels import make_levels
from glge.references import available_tasks
from glge.tasks import Benchmark, load_tasks
from tests.golden import SAMPLES, lines, needs_samples

DOCS = Path(__file__).resolve().parents[1] / "docs"
SECRET = "Zanzibar"
Write = Callable[..., Path]


@pytest.fixture(scope="module")
def benchmark() -> Benchmark:
    """The shipped registry, with sizes small enough to plant."""
    loaded = load_tasks()
    sizes = {"train": 8, "dev": 3, "test": 2}
    tasks = {name: task.model_copy(update={"sizes": sizes}) for name, task in loaded.tasks.items()}
    return loaded.model_copy(update={"tasks": tasks})


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes one file of the layout below `tmp_path / "data"`."""

    def put(level: str, task: str, file: str, content: list[str] | bytes) -> Path:
        path = tmp_path / "data" / level / f"{task}_data" / "org_data" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else "".join(f"{line}\n" for line in content).encode())
        return path

    return put


def write_sound(write: Write, task: str = "coqa", *, source: str = "{} {}", target: str = "{} {}") -> Path:
    """A sound task of easy with the sizes of the fixture; the root."""
    for split, count in {"train": 8, "dev": 3, "test": 2}.items():
        numbers = range(count)
        write("easy", task, f"{split}.src", [source.format(split, number) for number in numbers])
        path = write("easy", task, f"{split}.tgt", [target.format(f"{SECRET} {split}", number) for number in numbers])
    return path.parents[3]


def codes(report: DataReport) -> list[str]:
    """The codes of all problems, in order."""
    return [problem.code for problem in report.problems]


def the(report: DataReport, code: str) -> Problem:
    """The one problem of a code."""
    found = [problem for problem in report.problems if problem.code == code]
    assert len(found) == 1, codes(report)
    return found[0]


def split_of(report: DataReport, split: str, level: str = "easy", task: str = "coqa") -> SplitFacts:
    """The facts of one split."""
    return next(facts for facts in report.splits if (facts.task, facts.level, facts.split) == (task, level, split))


def test_sound_data(write: Write, benchmark: Benchmark) -> None:
    """Nothing is found; figures are right; what can be scored and trained is said."""
    report = check_data(write_sound(write), benchmark=benchmark)
    assert report.problems == ()
    train = split_of(report, "train")
    assert train.source is not None
    assert train.target is not None
    assert (train.source.lines, train.source.words, train.source.mean_words) == (8, 16, 2.0)
    assert (train.target.mean_words, train.target.longest, train.target.empty) == (3.0, 3, 0)
    assert (train.published, train.difference, train.repeated_pairs, train.one_side_empty) == (8, 0, 0, 0)
    assert split_of(report, "dev").in_train == 0
    levels = ("easy", "medium", "medium+", "hard")
    uses = {(use.task, use.split): (use.levels, use.why) for use in report.scorable}
    assert uses["coqa", "test"] == (levels, None)
    assert uses["coqa", "dev"] == (levels, None)
    assert uses["msqg", "test"] == ((), "nothing of it lies here")
    assert report.trainable["coqa"] == ("easy",)
    text = check_text(report, width=100)
    assert "coqa  easy   train" in text
    assert SECRET not in text
    assert SECRET not in report.text()
    assert json.loads(report.text())["splits"][0]["task"] == "coqa"


def test_every_fault_is_found(write: Write, benchmark: Benchmark, tmp_path: Path) -> None:
    """A root with every fault planted, each told once with file, count and places."""
    root = write_sound(write)
    write(
        "easy",
        "msqg",
        "train.src",
        [f"span {number} [SEP] passage" for number in range(6)] + ["no mark", "b [TURN] [SEP]"],
    )
    write("easy", "msqg", "train.tgt", [f"query {number}" for number in range(5)] + ["", "x\0y", "query <S_SEP> 9"])
    write("easy", "msqg", "dev.src", b"\xef\xbb\xbfa [SEP] b\na [SEP] b\nc [SEP] d")
    write("easy", "msqg", "dev.tgt", b"one\xe2\x80\xa8\r\none\xe2\x80\xa8\r\ntw\xef\xbf\xbdo\r\n")
    write("easy", "msqg", "test.src", ["a [SEP] b"] * 2)
    write("easy", "squadqg", "train.src", ["a [SEP] b"])
    write("easy", "squadqg", "dev.tgt", b"caf\xe9\n\xff\nfine\n")
    write("easy", "squadqg", "dev.src", b"\x1f\x8b\x08")
    write("easy", "squadqg", "test.tgt", b"")
    write("easy", "xsum", "dev.tgt", ["one", "", "three"])
    write("easy", "xsum", "dev.src", ["a", "b"])
    write("easy", "gigaword", "dev.tgt", b"a\r\nb\nc\rd\n")
    write("easy", "gigaword", "dev.src", ["a", "b", "c"])
    write("hard", "coqa", "train.src", ["train 0", "other"])
    write("hard", "coqa", "train.tgt", [f"{SECRET} train 0", f"{SECRET} other"])
    write("hard", "coqa", "dev.tgt", ["different"] * 3)
    write("easy", "coqa", "test.src", ["train 3", "test 1"])
    write("easy", "coqa", "test.tgt", [f"{SECRET} train 3", "z"])
    write("easy", "sqaudqg", "dev.tgt", ["x"])
    write("medium_plus", "coqa", "train.tgt", ["x"])
    write("easy", "coqa", "train.tgt.gz", b"x")
    write("easy", "coqa", "notes.md", b"x")
    hidden = root / "glge-hidden-dataset" / "easy" / "coqa_data" / "org_data"
    hidden.mkdir(parents=True)
    (hidden / "test.tgt").write_bytes(b"z\n")
    report = check_data(root, benchmark=benchmark)
    found = {(problem.code, problem.file, problem.count, problem.places) for problem in report.problems}
    base = "easy/{}_data/org_data/{}"
    planted = {
        ("unknown-folder", "easy/sqaudqg_data", 1, ()),
        ("unknown-folder", "medium_plus", 1, ()),
        ("unknown-file", "easy/coqa_data/org_data", 2, ()),
        ("found-twice", base.format("coqa", "test.tgt"), 2, ()),
        ("no-separator", base.format("msqg", "train.src"), 1, (7,)),
        ("unknown-separator", base.format("msqg", "train.src"), 1, (8,)),
        ("unknown-separator", base.format("msqg", "train.tgt"), 1, (8,)),
        ("empty-line", base.format("msqg", "train.tgt"), 1, (6,)),
        ("one-side-empty", base.format("msqg", "train.tgt"), 1, (6,)),
        ("nul-character", base.format("msqg", "train.tgt"), 1, (7,)),
        ("byte-order-mark", base.format("msqg", "dev.src"), 1, ()),
        ("no-final-line-feed", base.format("msqg", "dev.src"), 1, (3,)),
        ("windows-line-ends", base.format("msqg", "dev.tgt"), 3, ()),
        ("line-boundary-character", base.format("msqg", "dev.tgt"), 2, (1, 2)),
        ("replacement-character", base.format("msqg", "dev.tgt"), 1, (3,)),
        ("repeated-pair", base.format("msqg", "dev.tgt"), 1, ()),
        ("half-missing", base.format("squadqg", "train.src"), 1, ()),
        ("size-differs", base.format("squadqg", "train.src"), 1, ()),
        ("invalid-utf8", base.format("squadqg", "dev.tgt"), 2, (1, 2)),
        ("wrong-format", base.format("squadqg", "dev.src"), 1, ()),
        ("empty-file", base.format("squadqg", "test.tgt"), 1, ()),
        ("empty-line", base.format("xsum", "dev.tgt"), 1, (2,)),
        ("lines-differ", base.format("xsum", "dev.tgt"), 1, ()),
        ("carriage-return", base.format("gigaword", "dev.tgt"), 1, (1,)),
        ("carriage-return", base.format("gigaword", "dev.tgt"), 1, (3,)),
        ("not-from-easy", "hard/coqa_data/org_data/train.tgt", 1, ()),
        ("half-missing", "hard/coqa_data/org_data/dev.tgt", 1, ()),
        ("level-differs", "hard/coqa_data/org_data/dev.tgt", 1, ()),
        ("in-training", base.format("coqa", "test.tgt"), 1, ()),
        ("size-differs", base.format("squadqg", "test.tgt"), 1, ()),
    }
    assert found == planted
    assert all(problem.severity == CODES[problem.code] for problem in report.problems)
    assert all("\n" not in str(problem) and SECRET not in str(problem) for problem in report.problems)
    planted_codes = {code for code, *_ in planted}
    assert set(CODES) - planted_codes == {"shifted", "unrelated", "undocumented-separator"}
    why = {(use.task, use.split): (use.levels, use.why) for use in report.scorable}
    assert why["squadqg", "test"] == ((), "test.tgt cannot be read")
    assert why["squadqg", "dev"] == ((), "dev.tgt cannot be read")
    assert why["msqg", "test"] == ((), "test.tgt is missing (it comes in the second archive, glge-hidden-dataset)")
    assert why["xsum", "dev"] == ((), "1 reference without text, which xsum does not allow")
    assert why["msqg", "dev"][1] is None
    assert report.trainable["coqa"] == ("easy", "hard")
    assert report.trainable["squadqg"] == ()
    for width in (None, 100, 60, 40):
        text = check_text(report, width=width)
        assert SECRET not in text
        assert "What can be done with it" in text
        assert "error: easy/squadqg_data/org_data/dev.tgt: 2 lines not UTF-8 text" in " ".join(text.split())


def test_hints_for_names(write: Write, benchmark: Benchmark) -> None:
    """A folder nearly right is told with the name it should have; packed files with what to do."""
    root = write_sound(write)
    write("easy", "sqaudqg", "dev.tgt", ["x"])
    write("easy", "coqa", "train.tgt.gz", b"x")
    report = check_data(root, benchmark=benchmark)
    assert the(report, "unknown-folder").hint == "did you mean squadqg_data?"
    assert the(report, "unknown-file").hint == "unpack them"


def test_the_separator_of_coqa_is_not_documented(write: Write, benchmark: Benchmark) -> None:
    """A separator in coqa's sources is a note, in its targets a warning."""
    root = write_sound(write, source="{} [SEP] {}", target="{} {} [SEP]")
    report = check_data(root, benchmark=benchmark)
    assert codes(report) == ["undocumented-separator", "unknown-separator"] * 3


def test_marks_that_are_text(write: Write, benchmark: Benchmark) -> None:
    """<unk> and a bracketed word now and then are no separators; one on every fifth line is."""
    root = write_sound(write, "gigaword", source="{} <unk> {}")
    texts = [f"headline {number}" for number in range(8)]
    write("easy", "gigaword", "train.tgt", [*texts[:7], "the [BBC] said"])
    assert codes(check_data(root, benchmark=benchmark)) == []
    write("easy", "gigaword", "train.tgt", [f"{text} [BBC]" for text in texts])
    assert the(check_data(root, benchmark=benchmark), "unknown-separator").message == (
        "[BBC] stands 8 times, which this side does not have"
    )


def test_expected_separators(benchmark: Benchmark) -> None:
    """From the task files: [SEP] between the parts of a source, <S_SEP> between the sentences of a target."""
    found = {
        (name, kind): expected_separators(task, kind)
        for name, task in benchmark.tasks.items()
        for kind in ("src", "tgt")
    }
    known = {key: sorted(may) for key, (_, may) in found.items() if may}
    assert known == {
        ("cnndm", "tgt"): ["<S_SEP>"],
        ("squadqg", "src"): ["[SEP]"],
        ("msqg", "src"): ["[SEP]"],
        ("personachat", "src"): ["[SEP]"],
    }
    assert {key for key, (must, _) in found.items() if must} == {key for key in known if key[1] == "src"}


def long_pairs(count: int, seed: int = 1) -> tuple[list[str], list[str]]:
    """Sources of twenty rare words, targets of five of them."""
    rng = np.random.default_rng(seed)
    sources = [[f"word{number}" for number in rng.integers(0, 3000, 20)] for _ in range(count)]
    return [" ".join(words) for words in sources], [" ".join(words[::4]) for words in sources]


def write_pairs(write: Write, sources: list[str], targets: list[str]) -> Path:
    """Training pairs of coqa."""
    write("easy", "coqa", "train.src", sources)
    return write("easy", "coqa", "train.tgt", targets).parents[3]


@pytest.mark.parametrize("count", [300, 9000])
def test_alignment_of_sound_pairs(write: Write, benchmark: Benchmark, count: int) -> None:
    """Targets made of their sources' words: nothing to tell but the size."""
    report = check_data(write_pairs(write, *long_pairs(count)), benchmark=benchmark)
    assert codes(report) == ["size-differs"]
    assert split_of(report, "train").overlap == 1.0


@pytest.mark.parametrize("count", [600, 9000])
def test_a_line_lost_in_the_middle(write: Write, benchmark: Benchmark, count: int) -> None:
    """A source lost in the middle and one too many at the end: equal numbers, and the second half does not fit."""
    sources, targets = long_pairs(count)
    half = count // 2
    report = check_data(
        write_pairs(write, sources[:half] + sources[half + 1 :] + sources[:1], targets), benchmark=benchmark
    )
    shifted = [problem for problem in report.problems if problem.code == "shifted"]
    assert len(shifted) == 5
    assert shifted[0].message == f"targets of lines {half + 1:,} to {half * 6 // 5:,} fit the sources one line earlier"


def test_shuffled_sources(write: Write, benchmark: Benchmark) -> None:
    """Sources in another order share nothing with their targets."""
    sources, targets = long_pairs(2000)
    report = check_data(write_pairs(write, sorted(sources), targets), benchmark=benchmark)
    assert codes(report) == ["size-differs", "unrelated"]


@needs_samples
@pytest.mark.parametrize(
    "name", ["coqa_abg", "qg_squad_xquad", "summarization_multi", "headline_scitldr_title", "persona_synthetic"]
)
def test_real_pairs_belong_together(name: str, write: Write, benchmark: Benchmark) -> None:
    """On real text no false alarm, and shuffled sources are found."""
    sources, targets = lines(SAMPLES / name / "src.txt"), lines(SAMPLES / name / "tgt.txt")
    report = check_data(write_pairs(write, sources, targets), benchmark=benchmark)
    assert not {"shifted", "unrelated"} & set(codes(report))
    half = len(sources) // 2
    report = check_data(write_pairs(write, sources[half:] + sources[:half], targets), benchmark=benchmark)
    assert "unrelated" in codes(report)


def test_levels_that_were_made_are_sound(write: Write, benchmark: Benchmark) -> None:
    """What make_levels writes passes: sizes, pairs from easy, dev and test as easy's."""
    root = write_sound(write)
    make_levels(root, root, with_dev_and_test=True, benchmark=benchmark)
    report = check_data(root, benchmark=benchmark)
    assert report.problems == ()
    assert split_of(report, "train", "hard").published == 2
    assert split_of(report, "train", "hard").in_easy == 2
    assert report.trainable["coqa"] == ("easy", "medium", "medium+", "hard")


def test_a_half_may_be_rounded_either_way(write: Write, benchmark: Benchmark) -> None:
    """Nine training pairs: a hard level of two or three is as published, four is one too many."""
    tasks = dict(benchmark.tasks)
    tasks["coqa"] = tasks["coqa"].model_copy(update={"sizes": {"train": 9, "dev": 3, "test": 2}})
    odd = benchmark.model_copy(update={"tasks": tasks})
    for count, difference in {1: -1, 2: 0, 3: 0, 4: 1}.items():
        write("hard", "coqa", "train.src", [f"a {number}" for number in range(count)])
        root = write("hard", "coqa", "train.tgt", [f"b {number}" for number in range(count)]).parents[3]
        assert split_of(check_data(root, benchmark=odd), "train", "hard").difference == difference


def test_both_archives(write: Write, benchmark: Benchmark, tmp_path: Path) -> None:
    """Public and hidden archive, seen from above and from inside the public one."""
    root = write_sound(write, "msqg", source="{} [SEP] {}")
    above = tmp_path / "both"
    public, hidden = above / "glge-released-dataset", above / "glge-hidden-dataset" / "easy" / "msqg_data" / "org_data"
    above.mkdir()
    root.rename(public)
    only = check_data(above, benchmark=benchmark)
    gold = public / "easy" / "msqg_data" / "org_data" / "test.tgt"
    hidden.mkdir(parents=True)
    gold.rename(hidden / "test.tgt")
    for place in (above, public):
        report = check_data(place, benchmark=benchmark)
        assert report.problems == only.problems == ()
        assert [use.why for use in report.scorable if use.task == "msqg"] == [None, None]
    assert report.splits[2].target is not None
    assert report.splits[2].target.name == "../glge-hidden-dataset/easy/msqg_data/org_data/test.tgt"


@pytest.mark.parametrize("missing", ["test.src", "test.tgt", "dev.src", "dev.tgt"])
@pytest.mark.parametrize("task", ["msqg", "coqa"])
def test_what_can_be_scored_is_what_the_scorer_says(
    write: Write, benchmark: Benchmark, missing: str, task: str
) -> None:
    """The same answer as the scorer's own look at the files."""
    root = write_sound(write, task, source="{} [SEP] {}" if task == "msqg" else "{} {}")
    (root / "easy" / f"{task}_data" / "org_data" / missing).unlink()
    report = check_data(root, benchmark=benchmark)
    for split in ("test", "dev"):
        use = next(use for use in report.scorable if (use.task, use.split) == (task, split))
        for level in benchmark.level_names:
            assert (level in use.levels) == available_tasks(root, level, split, benchmark)[task]


def test_nothing_there(tmp_path: Path, benchmark: Benchmark) -> None:
    """An empty folder, one that does not exist, an unknown task."""
    for place in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(NoReferences, match="no file of the official layout lies here"):
            check_data(place, benchmark=benchmark)
    with pytest.raises(RegistryError, match="did you mean 'coqa'"):
        check_data(tmp_path, benchmark=benchmark, tasks=["coq"])


def test_one_task(write: Write, benchmark: Benchmark) -> None:
    """Only the tasks asked for are read."""
    root = write_sound(write)
    write_sound(write, "gigaword")
    report = check_data(root, benchmark=benchmark, tasks=["gigaword"])
    assert {facts.task for facts in report.splits} == {"gigaword"}
    assert set(report.trainable) == {"gigaword"}


def test_progress(write: Write, benchmark: Benchmark) -> None:
    """Task, megabytes done and all of them."""
    told: list[Any] = []
    root = write_pairs(write, ["dog " * 1000] * 600, ["cat " * 1000] * 600)
    check_data(root, benchmark=benchmark, progress=lambda *now: told.append(now))
    assert told[-1][0] == "coqa"
    assert told[-1][1] == told[-1][2]


@given(st.text(alphabet=" ab\t\n\r", min_size=1))
def test_words_are_counted_as_split_does(text: str) -> None:
    """Words of a line: what stands between blanks."""
    wanted = [len(line.split()) for line in text.encode().removesuffix(b"\n").split(b"\n")]
    assert _words(text.encode()).tolist() == wanted


def test_every_code_is_documented() -> None:
    """docs/data-check.md has a row for each code, with its severity."""
    page = (DOCS / "data-check.md").read_bytes().decode()
    for code, severity in CODES.items():
        assert f"| `{code}` | {severity} |" in page
