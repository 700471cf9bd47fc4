"""Medium, medium+ and hard: against a slow, obvious implementation; the draw; manifests; what is refused."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import Counter
from dataclasses import asdict, fields
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from glge.errors import DataError, GlgeError, NoReferences, RegistryError
from glge.preparation import layout, levels
from glge.preparation.levels import (
    LEVELS,
    SHARES,
    LevelOptions,
    draw_rows,
    explain,
    explanation_text,
    is_punctuation,
    levels_text,
    make_levels,
    option_choices,
    pairs_wanted,
    stop_words,
)
from tests.golden import SAMPLES, lines, needs_samples

DOCS = Path(__file__).resolve().parents[1] / "docs"
WORDS = "the The a no No cat cats CAT sat mat . , `` -LRB- -rrb- # café é <S_SEP> \ue000 \u00a0 don't 7 ß ẞ".split(" ")
targets = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), max_size=14)
options = st.builds(
    LevelOptions,
    **{name: st.sampled_from(choices) for name, choices in option_choices().items() if name != "statistic"},
)


def write_task(
    root: Path,
    train: list[str],
    test: list[str] = ("a cat .",),  # type: ignore[assignment]
    *,
    task: str = "cnndm",
    sources: list[str] | None = None,
) -> Path:
    """Easy data of one task: training pairs, test and dev targets."""
    place = root / "easy" / f"{task}_data" / "org_data"
    place.mkdir(parents=True, exist_ok=True)
    sources = sources if sources is not None else [f"source {number}" for number in range(len(train))]
    for name, texts in {
        "train.tgt": train,
        "train.src": sources,
        "test.tgt": list(test),
        "dev.tgt": ["dev dev dev cats"],
        "dev.src": ["a source"],
        "test.src": ["another source"] * len(test),
    }.items():
        (place / name).write_bytes("".join(f"{text}\n" for text in texts).encode())
    return root


def read(root: Path, level: str, name: str = "train.tgt", task: str = "cnndm") -> list[str]:
    """The lines of a file of a level."""
    return lines(root / level / f"{task}_data" / "org_data" / name)


def slow_rows(train: list[str], test: list[str], share: Fraction, options: LevelOptions) -> list[int]:
    """The paper's rule, one step a line and exact fractions."""

    def fold(text: str) -> str:
        return text.lower() if options.case == "fold" else text

    frequency: Counter[str] = Counter()
    for text in test:
        for word in fold(text).split():
            frequency[word] += 1
    scored = []
    for row, text in enumerate(train):
        y = []
        for word in fold(text).split():
            compared = word.lower() if options.case == "fold-stop-words" else word
            if options.stop_words == "remove" and compared in stop_words():
                continue
            if word == fold("<S_SEP>"):
                if options.separators == "remove":
                    continue
            elif options.punctuation == "remove" and is_punctuation(word):
                continue
            y.append(word)
        total = sum(frequency[word] for word in y)
        if not y:
            if options.empty != "drop":
                scored.append((0 if options.empty == "first" else 2, Fraction(0), row))
        else:
            scored.append((1, Fraction(total, len(y)) if options.score == "mean" else Fraction(total), row))
    exact = len(train) * share
    wanted = {"floor": floor(exact), "ceil": ceil(exact), "round": floor(exact + Fraction(1, 2))}[options.rounding]
    return sorted(row for _, _, row in sorted(scored)[:wanted])


# --- the rule -------------------------------------------------------------------------------------


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(train=targets.filter(bool), test=targets.filter(bool), options=options)
@example(train=["", "", "no", "the"], test=["cat"], options=LevelOptions(empty="drop", rounding="ceil"))
@example(train=["cat mat", "cat", "mat", "mat mat", "cat cat"], test=["cat mat"], options=LevelOptions())
@example(train=["a \ue000 b", "x \ue000\ue000 y", "\ue000"], test=["\ue000"], options=LevelOptions(rounding="ceil"))
def test_selection_is_the_papers(
    train: list[str], test: list[str], options: LevelOptions, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Medium+ and hard are exactly the pairs a slow implementation keeps, in their order."""
    root = write_task(tmp_path_factory.mktemp("data"), train, test)
    make_levels(root, root, options=options, levels=["medium+", "hard"], tasks=["cnndm"])
    for level in ("medium+", "hard"):
        rows = slow_rows(train, test, SHARES[level], options)
        assert read(root, level) == [train[row] for row in rows]
        assert read(root, level, "train.src") == [f"source {row}" for row in rows]


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(train=targets.filter(bool), test=targets.filter(bool), options=options)
def test_hard_is_part_of_medium_plus(
    train: list[str], test: list[str], options: LevelOptions, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Under the same options every pair of hard is in medium+, and every pair of both in easy, in easy's order."""
    root = write_task(tmp_path_factory.mktemp("data"), train, test)
    make_levels(root, root, options=options, tasks=["cnndm"])
    rows = {level: read(root, level, "train.src") for level in ("easy", *LEVELS)}
    assert set(rows["hard"]) <= set(rows["medium+"])
    for level in LEVELS:
        chosen = set(rows[level])
        assert rows[level] == [row for row in rows["easy"] if row in chosen]


def test_by_hand(tmp_path: Path) -> None:
    """Four targets: TF(cat) = 3, TF(mat) = 1; "the cat" scores 3, "cat mat" 2, "the mat" 1, "dog" 0."""
    train = ["the cat", "cat mat", "the mat", "dog"]
    make_levels(write_task(tmp_path, train, ["cat cat", "cat on the mat"]), tmp_path, seed=3)
    assert read(tmp_path, "hard") == ["dog"]
    assert read(tmp_path, "medium+") == ["the mat", "dog"]
    assert len(read(tmp_path, "medium")) == 2


def test_ties_are_kept_in_the_order_of_the_file(tmp_path: Path) -> None:
    """Of equal scores the first lines are kept, also where the fractions differ in their numbers."""
    train = ["cat cat mat mat", "cat mat", "mat", "mat cat"]
    make_levels(write_task(tmp_path, train, ["cat cat mat"]), tmp_path, levels=["medium+"])
    assert read(tmp_path, "medium+", "train.src") == ["source 0", "source 2"]


@pytest.mark.parametrize(
    ("empty", "kept"), [("first", ["no", "the ."]), ("last", ["dog", "cat"]), ("drop", ["dog", "cat"])]
)
def test_targets_of_which_nothing_is_left(tmp_path: Path, empty: str, kept: list[str]) -> None:
    """Only stop words: before all others, behind them, or never chosen."""
    train = ["dog", "no", "cat", "the ."]
    chosen = LevelOptions(empty=empty, punctuation="remove")  # type: ignore[arg-type]
    make_levels(write_task(tmp_path, train, ["cat ."]), tmp_path, levels=["medium+"], options=chosen)
    assert read(tmp_path, "medium+") == kept


def test_dropped_targets_make_a_level_smaller(tmp_path: Path) -> None:
    """The share is of all training pairs; when too few have words, fewer are kept, and the manifest says so."""
    root = write_task(tmp_path, ["no", "the", "cat", "not"])
    made = make_levels(root, root, levels=["medium+"], options=LevelOptions(empty="drop"))
    assert read(root, "medium+") == ["cat"]
    assert made["medium+/cnndm"].steps[1].dropped == {"no words left": 3}


def test_statistic_of_dev(tmp_path: Path) -> None:
    """TF is counted in the dev targets when asked, and the manifest names the file."""
    root = write_task(tmp_path, ["dev", "cats", "a mat", "cat"], ["mat mat cat cat"])
    made = make_levels(root, root, levels=["medium+"], options=LevelOptions(statistic="dev"))
    assert read(root, "medium+") == ["a mat", "cat"]
    assert made["medium+/cnndm"].inputs[2].name == "easy/cnndm_data/org_data/dev.tgt"


def test_blocks_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same pairs whatever the size of the blocks a file is read in."""
    rng = np.random.default_rng(5)
    train = [" ".join(rng.choice(WORDS[:-5], int(rng.integers(0, 9)))) for _ in range(300)]
    whole = write_task(tmp_path / "a", train, train[:40])
    make_levels(whole, whole, seed=9)
    monkeypatch.setattr(levels, "read_blocks", lambda file, **known: layout.read_blocks(file, **known, size=7))
    pieces = write_task(tmp_path / "b", train, train[:40])
    make_levels(pieces, pieces, seed=9)
    for level in LEVELS:
        for name in ("train.src", "train.tgt", "manifest.json"):
            assert read(pieces, level, name) == read(whole, level, name)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("pairs", [0, 1, 2, 3, 5, 6, 7, 75_722, 3_803_957])
def test_rounding(pairs: int, level: str) -> None:
    """floor, half up and ceil of the exact share."""
    share = float(SHARES[level])
    assert pairs_wanted(pairs, level, "floor") == floor(pairs * share)
    assert pairs_wanted(pairs, level, "round") == floor(pairs * share + 0.5)
    assert pairs_wanted(pairs, level, "ceil") == ceil(pairs * share)


def test_the_stop_words() -> None:
    """179 words, lower case, among them contractions and the pieces of split ones."""
    words = stop_words()
    assert len(words) == 179
    assert {"i", "no", "not", "don't", "don", "t", "wouldn't"} <= words
    assert all(word == word.lower() for word in words)


def test_the_stop_words_are_the_list_of_that_time() -> None:
    """The digest of the sorted list."""
    digest = hashlib.sha256("\n".join(sorted(stop_words())).encode()).hexdigest()
    assert digest == "63c081f949766b37ecdc95ac5b55639990d34295166996357ff47df805fda211"


# --- medium's draw --------------------------------------------------------------------------------


def test_the_draw_is_pinned() -> None:
    """The draw of a task's published size never changes, on no platform and with no version of NumPy."""
    rows = draw_rows(75_722, 37_861, seed=7, task="squadqg")
    assert rows[:5].tolist() == [1, 2, 4, 6, 7]
    assert (
        hashlib.sha256(rows.astype("<i8").tobytes()).hexdigest()
        == "a43403a4829c9e34a2557d86ff4bb18731122d31bf697fac7cef008d072b76cf"
    )


def test_the_draw_is_pcg64() -> None:
    """The numbers the draw sorts are PCG64's as its authors define them (XSL-RR, 128 bits), from NumPy's seeding."""
    state = np.random.PCG64(np.random.SeedSequence([7, 0xC7D2CE7A])).state["state"]
    inner, step, mask = state["state"], state["inc"], (1 << 128) - 1
    raw = []
    for _ in range(50):
        inner = (inner * 0x2360ED051FC65DA44385DF649FCCF645 + step) & mask
        value, turn = ((inner >> 64) ^ inner) & ((1 << 64) - 1), inner >> 122
        raw.append(((value >> turn) | (value << (64 - turn))) & ((1 << 64) - 1))
    expected = np.random.PCG64(np.random.SeedSequence([7, 0xC7D2CE7A])).random_raw(50).tolist()
    assert raw == expected


@given(pairs=st.integers(0, 300), seed=st.integers(0, 2**40), task=st.sampled_from(["coqa", "msqg"]))
def test_the_draw_has_no_row_twice(pairs: int, seed: int, task: str) -> None:
    """So many different rows, ascending; another seed or task draws others."""
    rows = draw_rows(pairs, pairs // 2, seed=seed, task=task).tolist()
    assert len(rows) == pairs // 2
    assert rows == sorted(set(rows))
    assert all(0 <= row < pairs for row in rows)


def test_the_draw_is_fair() -> None:
    """Over many seeds every row is drawn about half the time."""
    drawn = np.zeros(20)
    for seed in range(2000):
        drawn[draw_rows(20, 10, seed=seed, task="coqa")] += 1
    assert abs(drawn / 2000 - 0.5).max() < 0.06


def test_the_draw_differs_by_task_and_seed() -> None:
    """Tasks of the same size do not share their draw."""
    draws = [tuple(draw_rows(100, 50, seed=seed, task=task)) for seed in (1, 2) for task in ("coqa", "msqg")]
    assert len(set(draws)) == 4


# --- what is written ------------------------------------------------------------------------------


def test_the_manifest(tmp_path: Path) -> None:
    """Inputs, options, steps and outputs; hashes are those of the files; the same call gives the same bytes."""
    root = write_task(tmp_path, ["the cat", "cat mat", "the mat", "dog", "mat"])
    made = make_levels(root, tmp_path / "one", seed=4)
    again = make_levels(root, tmp_path / "two", seed=4)
    assert made == again
    assert list(made) == ["medium/cnndm", "medium+/cnndm", "hard/cnndm"]
    for level in LEVELS:
        place = tmp_path / "one" / level / "cnndm_data" / "org_data"
        assert sorted(path.name for path in place.iterdir()) == ["manifest.json", "train.src", "train.tgt"]
        content = (place / "manifest.json").read_bytes()
        assert content == (tmp_path / "two" / level / "cnndm_data" / "org_data" / "manifest.json").read_bytes()
        manifest = json.loads(content)
        assert manifest == json.loads(made[f"{level}/cnndm"].text())
        assert (manifest["command"], manifest["task"], manifest["level"]) == ("data levels", "cnndm", level)
        for entry in manifest["outputs"]:
            data = (place / entry["name"]).read_bytes()
            assert entry["sha256"] == hashlib.sha256(data).hexdigest()
            assert (entry["bytes"], entry["lines"]) == (len(data), data.count(b"\n"))
        for entry in manifest["inputs"]:
            assert entry["sha256"] == hashlib.sha256((root / entry["name"]).read_bytes()).hexdigest()
    medium, hard = made["medium/cnndm"], made["hard/cnndm"]
    assert (medium.seed, hard.seed) == (4, None)
    assert medium.options == {"share": 0.5, "draw": levels.DRAW, "rounding": "floor"}
    assert hard.options == {"share": 0.25, **asdict(LevelOptions())}
    assert [entry.name.rsplit("/", 1)[-1] for entry in hard.inputs] == ["train.src", "train.tgt", "test.tgt"]
    assert [(step.kept, step.dropped) for step in hard.steps] == [
        (5, {}),
        (1, {"larger score": 2, "same score, but later in the file": 2}),
    ]


def test_the_seed_moves_medium_only(tmp_path: Path) -> None:
    """Another seed gives another medium and the same medium+ and hard, manifests included."""
    train = [f"word{number}" for number in range(40)]
    root = write_task(tmp_path, train)
    make_levels(root, tmp_path / "one", seed=1)
    make_levels(root, tmp_path / "two", seed=2)
    for level in LEVELS:
        for name in ("train.tgt", "manifest.json"):
            same = read(tmp_path / "one", level, name) == read(tmp_path / "two", level, name)
            assert same == (level != "medium")


def test_dev_and_test_on_request(tmp_path: Path) -> None:
    """Easy's dev and test.src are copied when asked; test targets never."""
    root = write_task(tmp_path, ["cat", "dog"])
    make_levels(root, tmp_path / "out", levels=["hard"], with_dev_and_test=True)
    place = tmp_path / "out" / "hard" / "cnndm_data" / "org_data"
    names = sorted(path.name for path in place.iterdir())
    assert names == ["dev.src", "dev.tgt", "manifest.json", "test.src", "train.src", "train.tgt"]
    assert read(tmp_path / "out", "hard", "dev.tgt") == ["dev dev dev cats"]


def test_bytes_are_copied(tmp_path: Path) -> None:
    """Carriage returns, odd blanks and a missing final line feed: lines stay as they are, each ended by a line feed."""
    root = write_task(tmp_path, ["x", "x"])
    place = root / "easy" / "cnndm_data" / "org_data"
    (place / "train.tgt").write_bytes(b"\xef\xbb\xbfzebra\tA\r\ncat \xe2\x80\xa8 .")
    (place / "train.src").write_bytes(b"one\xff\r\ntwo")
    made = make_levels(root, root, levels=["medium+"])
    there = root / "medium+" / "cnndm_data" / "org_data"
    assert (there / "train.tgt").read_bytes() == b"zebra\tA\r\n"
    assert (there / "train.src").read_bytes() == b"one\xff\r\n"
    entry = made["medium+/cnndm"].inputs[1]
    assert entry.sha256 == hashlib.sha256((place / "train.tgt").read_bytes()).hexdigest()


def test_archives_are_found(tmp_path: Path) -> None:
    """Training data from the public archive, the statistic from the hidden one."""
    write_task(tmp_path / "glge-released-dataset", ["cat", "dog"], ["cat"])
    hidden = tmp_path / "glge-hidden-dataset" / "easy" / "cnndm_data" / "org_data"
    hidden.mkdir(parents=True)
    old = tmp_path / "glge-released-dataset" / "easy" / "cnndm_data" / "org_data" / "test.tgt"
    old.rename(hidden / "test.tgt")
    make_levels(tmp_path, tmp_path, levels=["medium+"])
    assert read(tmp_path, "medium+") == ["dog"]


# --- what is refused ------------------------------------------------------------------------------


def error_of(*arguments: Any, **known: Any) -> str:
    """The one line of the error make_levels raises."""
    with pytest.raises(GlgeError) as caught:
        make_levels(*arguments, **known)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_existing_output_is_refused(tmp_path: Path) -> None:
    """Without force nothing changes, not even the levels that are not there yet; with force it is replaced."""
    root = write_task(tmp_path, ["cat", "dog"], ["cat"])
    make_levels(root, root, levels=["hard"], options=LevelOptions(rounding="ceil"))
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    told = error_of(root, root, options=LevelOptions(rounding="ceil", statistic="dev"))
    assert told == (
        f"{root}: already there: hard/cnndm_data/org_data/train.src and 2 more; "
        "give --force to replace what lies there, or another --out"
    )
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    make_levels(root, root, levels=["hard"], options=LevelOptions(rounding="ceil", statistic="dev"), force=True)
    assert read(root, "hard") == ["cat"]


def test_published_levels_are_not_hidden(tmp_path: Path) -> None:
    """A level in an archive inside the output folder would be read no more: refused as well."""
    write_task(tmp_path / "glge-released-dataset", ["cat", "dog"])
    make_levels(tmp_path, tmp_path / "glge-released-dataset", levels=["hard"])
    assert "already there: glge-released-dataset/hard/" in error_of(tmp_path, tmp_path, levels=["hard"])


def test_nothing_is_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault while writing leaves no file of any level and no temporary folder."""
    root = write_task(tmp_path, ["cat", "dog", "mat"])
    calls = itertools.count()

    def fail(*arguments: Any) -> None:
        if next(calls) > 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(levels.Hasher, "add", fail)
    with pytest.raises(KeyboardInterrupt):
        make_levels(root, tmp_path / "out")
    assert [path for path in (tmp_path / "out").rglob("*") if not path.is_dir() or ".tmp" in path.name] == []


def test_the_fault_of_one_level_stops_all(tmp_path: Path) -> None:
    """A file where a folder should be: DataError, and the other levels are not written either."""
    root = write_task(tmp_path, ["cat", "dog"])
    blocked = tmp_path / "out" / "hard" / "cnndm_data" / "org_data"
    blocked.parent.mkdir(parents=True)
    blocked.write_bytes(b"")
    with pytest.raises(DataError, match="this is a file, not a folder"):
        make_levels(root, tmp_path / "out")
    assert not (tmp_path / "out" / "medium" / "cnndm_data" / "org_data").exists()


def test_different_numbers_of_lines(tmp_path: Path) -> None:
    """A source too few: both files and their lines are named, nothing is written."""
    root = write_task(tmp_path, ["cat", "dog", "mat"], sources=["one", "two"])
    told = error_of(root, root)
    assert told == (
        "sources and targets differ in number: easy/cnndm_data/org_data/train.src has 2 lines, "
        "easy/cnndm_data/org_data/train.tgt has 3 lines; both come from the same release: fetch the shorter one again"
    )
    assert not list(root.rglob("manifest.json"))


def test_no_test_targets(tmp_path: Path) -> None:
    """The statistic's file is missing: what to do is said. Medium needs none."""
    root = write_task(tmp_path, ["cat", "dog"])
    (root / "easy" / "cnndm_data" / "org_data" / "test.tgt").unlink()
    with pytest.raises(NoReferences, match=r"no references for cnndm .*--statistic dev counts in the dev targets"):
        make_levels(root, root)
    make_levels(root, root, levels=["medium"])
    assert len(read(root, "medium")) == 1


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "train.tgt: the file is empty (0 bytes); fetch the file again"),
        (b"\x1f\x8b\x08rest", "train.tgt: this is gzip, not UTF-8 text; unpack it and give the UTF-8 text file"),
        (b"cat\nd\xffg\n", "train.tgt:2: not UTF-8 text; save it as UTF-8 text"),
    ],
)
def test_unreadable_targets(tmp_path: Path, content: bytes, told: str) -> None:
    """Empty, packed or not UTF-8: file, line and what to do."""
    root = write_task(tmp_path, ["cat", "dog"])
    (root / "easy" / "cnndm_data" / "org_data" / "train.tgt").write_bytes(content)
    assert error_of(root, root).endswith(told)


def test_names_are_checked(tmp_path: Path) -> None:
    """Unknown levels, tasks and values are answered with the nearest."""
    root = write_task(tmp_path, ["cat", "dog"])
    assert error_of(root, root, levels=["hrad"]) == "'hrad' is no level that is made from easy; did you mean 'hard'?"
    assert error_of(root, root, seed=-1) == "the seed must not be negative: -1"
    with pytest.raises(RegistryError, match="did you mean 'coqa'"):
        make_levels(root, root, tasks=["coqaa"])
    with pytest.raises(NoReferences, match=r"coqa_data/org_data/train.tgt is missing|train.src is missing"):
        make_levels(root, root, tasks=["coqa"])
    with pytest.raises(NoReferences, match="no training data of level easy"):
        make_levels(tmp_path / "nothing", root)
    for name in option_choices():
        with pytest.raises(GlgeError, match=f"{name.replace('_', ' ')}: there is no 'x'"):
            LevelOptions(**{name: "x"})


def test_progress_is_told(tmp_path: Path) -> None:
    """Task, megabytes done and all; never backwards."""
    root = write_task(tmp_path, ["cat " * 1000] * 800, sources=["dog " * 1000] * 800)
    told: list[tuple[str, int, int]] = []
    make_levels(root, root, levels=["hard"], progress=lambda *told_now: told.append(told_now))
    assert {what for what, _, _ in told} == {"cnndm"}
    assert [done for _, done, _ in told] == sorted({done for _, done, _ in told})
    assert told[-1][1] <= told[-1][2]
    assert len(told) >= 3


# --- explaining -----------------------------------------------------------------------------------


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    train=targets.filter(bool), test=targets.filter(bool), options=options, level=st.sampled_from(["medium+", "hard"])
)
def test_an_explanation_is_what_is_made(
    train: list[str], test: list[str], options: LevelOptions, level: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Figures add up, the lines inside are in the level, those outside are not, and the text is never too wide."""
    root = write_task(tmp_path_factory.mktemp("data"), train, test)
    make_levels(root, root, options=options, levels=[level])
    found = explain(root, "cnndm", level=level, options=options, near=3)
    kept = read(root, level, "train.src")
    assert found.kept == len(kept)
    assert found.pairs == len(train) == found.scored + found.empty
    assert sum(bin.pairs for bin in found.bins) == found.scored
    assert [f"source {row.line - 1}" in kept for row in (*found.inside, *found.outside)] == (
        [True] * len(found.inside) + [False] * len(found.outside)
    )
    assert [row.rank for row in (*found.inside, *found.outside)] == list(
        range(found.kept - len(found.inside) + 1, found.kept + len(found.outside) + 1)
    )
    assert [row.target for row in found.inside] == [train[row.line - 1] for row in found.inside]
    assert json.loads(found.text())["kept"] == found.kept
    for width in (None, 120, 60, 40):
        text = explanation_text(found, width=width)
        assert text.endswith("\n")
        assert "\ue000" not in text or "\ue000" in "".join(train)


def test_an_explanation_as_text(tmp_path: Path) -> None:
    """The distribution, the cut and the lines on either side."""
    root = write_task(tmp_path, ["the cat", "cat mat", "the mat", "dog", "mat", "no"], ["cat cat", "cat on the mat"])
    found = explain(root, "cnndm", level="medium+")
    assert (found.kept, found.cut, found.ties, found.ties_kept, found.empty, found.zero) == (3, 1.0, 2, 1, 1, 1)
    text = explanation_text(found, width=80)
    assert text.startswith("cnndm, medium+: mean frequency of a target's words in\neasy/cnndm_data/org_data/test.tgt\n")
    assert "cut: largest score kept" in text
    assert "Last inside" in text
    assert "First outside" in text
    assert max(map(len, text.split("\n"))) <= 80


def test_medium_has_nothing_to_explain(tmp_path: Path) -> None:
    """Medium is drawn: no scores, no cut."""
    with pytest.raises(GlgeError, match="medium has no scores to explain; levels made by score: medium\\+, hard"):
        explain(write_task(tmp_path, ["cat"]), "cnndm", level="medium")


def test_levels_as_text(tmp_path: Path) -> None:
    """A row for each level, the seed of medium, nothing wider than asked for."""
    root = write_task(tmp_path, ["cat", "dog", "no", "mat"])
    made = make_levels(root, root, seed=5, options=LevelOptions(empty="drop"))
    text = levels_text(made, "DATA", width=80)
    assert text.split("\n")[:4] == [
        "task   level    easy  kept   share  ties cut  empty dropped",
        "cnndm  medium      4     2  50.0 %         –              –",
        "cnndm  medium+     4     2  50.0 %         0              1",
        "cnndm  hard        4     1  25.0 %         1              1",
    ]
    assert "Medium was drawn with seed 5." in text
    assert max(map(len, levels_text(made, "DATA", width=30).split("\n"))) <= 30


def test_options_are_documented() -> None:
    """docs/data-levels.md has a row for each option with its values, the default first."""
    page = (DOCS / "data-levels.md").read_bytes().decode()
    for field in fields(LevelOptions):
        values = option_choices()[field.name]
        assert values[0] == field.default
        row = next(row for row in page.split("\n") if row.startswith(f"| `{field.name.replace('_', '-')}` |"))
        assert [row.find(f"`{value}`") for value in values] == sorted(row.find(f"`{value}`") for value in values)
        assert all(f"`{value}`" in row for value in values)


@needs_samples
@pytest.mark.parametrize("name", ["coqa_abg", "qg_squad_xquad", "summarization_multi", "persona_synthetic"])
def test_on_real_text(name: str, tmp_path: Path) -> None:
    """The slow implementation keeps the same pairs of real text: the last tenth is the test set."""
    texts = lines(SAMPLES / name / "tgt.txt")
    cut = len(texts) * 9 // 10
    train, test = texts[:cut], texts[cut:]
    root = write_task(tmp_path, train, test)
    for number, chosen in enumerate(
        [LevelOptions(), LevelOptions(punctuation="remove", case="fold", score="sum", empty="drop")]
    ):
        make_levels(root, root / str(number), options=chosen, levels=["hard"])
        rows = slow_rows(train, test, SHARES["hard"], chosen)
        assert read(root / str(number), "hard", "train.src") == [f"source {row}" for row in rows]
