"""Building cnndm, gigaword and xsum: small raw files written for this project, and real text and back."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from glge.preparation.build import build
from tests.golden import SAMPLES, lines, needs_samples
from tests.test_build import Files, error_of, everything, lines_of, put, steps_of

URLS = {name: f"http://news.example/{name}?a=1&b=ü" for name in ("one", "two", "three", "bare", "dumb")}
HASH = {name: hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest() for name, url in URLS.items()}
STORY = (
    'A "red" kite (small) fell.\r\n\r\nNobody\u2028was hurt\n\n@highlight\n\nKite falls\n\n@highlight\n\nIt\'s red.\n'
)
STORIES: Files = {
    f"cnn/stories/{HASH['one']}.story": STORY,
    f"cnn/stories/{HASH['two']}.story": "Two.\n\n@highlight\n\nSecond\n",
    f"dailymail/stories/{HASH['three']}.story": "Three!\n\n@highlight\n\nThird\none\n\n@highlight\n",
    f"dailymail/stories/{HASH['bare']}.story": "A body.\n",
    f"dailymail/stories/{HASH['dumb']}.story": "\n\n@highlight\n\nOnly this\n",
}
LISTS: Files = {
    "url_lists/all_train.txt": "".join(f"{URLS[name]}\n" for name in ("two", "bare", "one", "dumb")),
    "url_lists/all_val.txt": f"{HASH['three'].upper()}\r\n",
    "url_lists/all_test.txt": f"{HASH['bare']}9.story\n",
    f"{HASH['bare']}9.story": "Nine\n@highlight\nNine",
}


@pytest.fixture
def stories(tmp_path: Path) -> Path:
    """Stories of two papers and lists of URLs, hashes and names."""
    return put(tmp_path / "raw", {**STORIES, **LISTS})


def test_stories_by_lists(stories: Path, tmp_path: Path) -> None:
    """Order of the list, tokens, joined highlights; a body or highlights missing: dropped and counted."""
    manifest = build("cnndm", stories, tmp_path)
    assert lines_of(tmp_path, "cnndm", "train.src") == [
        "Two .",
        "A `` red '' kite -LRB- small -RRB- fell . Nobody was hurt .",
    ]
    assert lines_of(tmp_path, "cnndm", "train.tgt") == ["Second .", "Kite falls . <S_SEP> It 's red ."]
    assert lines_of(tmp_path, "cnndm", "dev.src") == ["Three !"]
    assert lines_of(tmp_path, "cnndm", "dev.tgt") == ["Third one ."]
    assert lines_of(tmp_path, "cnndm", "test.tgt") == ["Nine ."]
    found = steps_of(manifest)
    assert found["train: stories"] == (4, {})
    assert found["train: article and highlights there"] == (2, {"no article text": 1, "no highlights": 1})
    assert found["train: full stop added (4 of 8 texts changed)"] == (8, {})
    assert [one.name for one in manifest.inputs] == [
        "url_lists/all_test.txt",
        "url_lists/all_train.txt",
        "url_lists/all_val.txt",
        "6 files",
    ]
    assert manifest.versions.keys() == {"unicode"}


def test_story_options(stories: Path, tmp_path: Path) -> None:
    """Words as they are, lower case, no full stop added, by name."""
    options = {"tokens": "as-is", "case": "lower", "full_stop": "keep", "order": "name"}
    build("cnndm", stories, tmp_path, options=options)
    expected = {
        HASH["one"]: ('a "red" kite (small) fell. nobody was hurt', "kite falls <S_SEP> it's red."),
        HASH["two"]: ("two.", "second"),
    }
    assert lines_of(tmp_path, "cnndm", "train.src") == [expected[name][0] for name in sorted(expected)]
    assert lines_of(tmp_path, "cnndm", "train.tgt") == [expected[name][1] for name in sorted(expected)]


def test_stories_in_folders(tmp_path: Path) -> None:
    """Plain split folders, whatever the split is called, by file name."""
    raw = put(
        tmp_path / "raw",
        {
            "train/b.story": STORY,
            "train/a.story": "First.\n@highlight\nF",
            "validation/x.story": STORY,
            "test/deep/y.story": STORY,
        },
    )
    build("cnndm", raw, tmp_path)
    assert lines_of(tmp_path, "cnndm", "train.tgt") == ["F .", "Kite falls . <S_SEP> It 's red ."]
    put(raw, {"train.txt": "a\n"})
    assert "both split lists and split folders; choose one" in error_of("cnndm", raw, tmp_path / "x").replace(
        f"{raw}: ", ""
    )
    build("cnndm", raw, tmp_path / "y", options={"layout": "folders"})


@pytest.mark.parametrize(
    ("files", "message", "reason"),
    [
        (
            {"url_lists/all_val.txt": "zzz\n"},
            "url_lists/all_val.txt:1: no such story (expected a file zzz.story)",
            "no",
        ),
        (
            {"url_lists/all_val.txt": f"\n{URLS['two']}\n"},
            "url_lists/all_val.txt:2: listed twice (found also url_lists/all_train.txt:1)",
            "listed twice",
        ),
        (
            {f"more/{HASH['three']}.story": STORY},
            "url_lists/all_val.txt:1: more than one story of this name (found dailymail/stories/",
            "more",
        ),
        (
            {f"dailymail/stories/{HASH['three']}.story": b"a\nb \xff"},
            f"dailymail/stories/{HASH['three']}.story:2: not UTF-8 (found byte 0xFF at byte 3 of the line)",
            "not UTF-8",
        ),
    ],
)
def test_bad_stories(stories: Path, tmp_path: Path, files: Files, message: str, reason: str) -> None:
    """File and line; with skip_bad the one record is left out and counted."""
    put(stories, files)
    told = error_of("cnndm", stories, tmp_path / "out")
    assert told.startswith(message)
    assert "--skip-bad" in told or "UTF-8" in told
    put(stories, {"url_lists/all_val.txt": (stories / "url_lists/all_val.txt").read_bytes() + b"\n" + b"extra\n"})
    put(stories, {"extra.story": STORY})
    manifest = build("cnndm", stories, tmp_path / "out", skip_bad=True)
    kept, dropped = steps_of(manifest)["dev: stories"]
    assert kept == 1
    assert [(name.startswith(reason), count) for name, count in dropped.items()] == [(True, 1)]


def test_a_separator_in_the_text(tmp_path: Path) -> None:
    """Text that would be misread afterwards is refused."""
    raw = put(
        tmp_path / "raw", {f"{split}/a.story": "A\n@highlight\nB <S_SEP> C" for split in ("train", "dev", "test")}
    )
    told = error_of("cnndm", raw, tmp_path / "out", options={"tokens": "as-is"})
    assert told.startswith("train/a.story: the text holds the separator <S_SEP>")


@needs_samples
def test_real_summaries_to_stories_and_back(tmp_path: Path) -> None:
    """Multi-sentence targets as @highlight blocks give the same lines again."""
    sources, targets = (lines(SAMPLES / "summarization_multi" / f"{side}.txt") for side in ("src", "tgt"))
    raw = tmp_path / "raw"
    named = []
    for source, target in zip(sources, targets, strict=True):
        url = f"http://example.org/{len(named)}"
        blocks = "".join(f"@highlight\n\n{sentence}\n\n" for sentence in target.split(" <S_SEP> "))
        name = hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()
        put(raw, {f"stories/{name}.story": f"{source}\n\n{blocks}"})
        named.append(url)
    put(
        raw,
        {
            f"all_{split}.txt": "\n".join(part)
            for split, part in (("train", named[:100]), ("val", named[100:150]), ("test", named[150:]))
        },
    )
    build("cnndm", raw, tmp_path, options={"tokens": "as-is", "full_stop": "keep"})
    for side, expected in (("src", sources), ("tgt", targets)):
        built = [line for split in ("train", "dev", "test") for line in lines_of(tmp_path, "cnndm", f"{split}.{side}")]
        assert built == expected


# --- gigaword -------------------------------------------------------------------------------------

PAIRS: Files = {
    "train/train.article.txt": "Rain in 1999 .\n\nsnow <unk> fell\nice\n",
    "train/train.title.txt": "rain 19##\nnothing\nsnow\n \n",
    "train/valid.article.filter.txt": "a\n",
    "train/valid.title.filter.txt": "b\n",
    "test.src": "c\n",
    "test.tgt": "UNK d\n",
}


def test_gigaword_pairs(tmp_path: Path) -> None:
    """Pairs with an empty side are dropped; nothing else is touched unless asked."""
    raw = put(tmp_path / "raw", PAIRS)
    manifest = build("gigaword", raw, tmp_path)
    assert lines_of(tmp_path, "gigaword", "train.src") == ["Rain in 1999 .", "snow <unk> fell"]
    assert lines_of(tmp_path, "gigaword", "train.tgt") == ["rain 19##", "snow"]
    assert steps_of(manifest)["train: source and headline there"] == (2, {"empty headline": 1, "empty source": 1})
    build("gigaword", raw, tmp_path, options={"case": "lower", "digits": "hash", "unknown": "UNK"}, force=True)
    assert lines_of(tmp_path, "gigaword", "train.src") == ["rain in #### .", "snow UNK fell"]


@pytest.mark.parametrize(
    ("side", "message"),
    [
        ("article", "train/train.title.txt:4: sources and headlines differ in number (expected 3 lines as in "),
        ("title", "train/train.title.txt:4: sources and headlines differ in number (expected 4 lines as in "),
    ],
)
def test_gigaword_out_of_step(tmp_path: Path, side: str, message: str) -> None:
    """A file that is a line short stops the build, with skip_bad too: all later pairs would be wrong."""
    raw = put(tmp_path / "raw", {**PAIRS, f"train/train.{side}.txt": "a\nb\nc\n"})
    for skip_bad in (False, True):
        assert error_of("gigaword", raw, tmp_path / "out", skip_bad=skip_bad).startswith(message)


@needs_samples
def test_real_headlines_and_back(tmp_path: Path) -> None:
    """Real pairs pass unchanged."""
    sources, targets = (lines(SAMPLES / "headline_scitldr_title" / f"{side}.txt") for side in ("src", "tgt"))
    files: dict[str, str] = {}
    for split in ("train", "val", "test"):
        files |= {f"{split}.src.txt": "\n".join(sources), f"{split}.tgt.txt": "\n".join(targets) + "\n"}
    build("gigaword", put(tmp_path / "raw", files), tmp_path)
    assert lines_of(tmp_path, "gigaword", "dev.src") == sources
    assert lines_of(tmp_path, "gigaword", "dev.tgt") == targets


# --- xsum -----------------------------------------------------------------------------------------


def summary(first: str, body: str) -> str:
    """A file of the released form."""
    return (
        f"[SN]URL[SN]\nhttp://news.example/1\n\n[SN]TITLE[SN]\nA title\n\n"
        f"[SN]FIRST-SENTENCE[SN]\n{first}\n\n[SN]RESTBODY[SN]\n{body}\n"
    )


SPLIT = {"test": ["7"], "train": ["20", "3", "4", "5"], "validation": ["6"]}
SUMMARIES: Files = {
    "split.json": json.dumps(SPLIT),
    "bbc/20.summary": summary("It rained (a lot).", "Much.\r\nRain\u2029fell."),
    "bbc/3.summary": summary("Snow.", "Cold."),
    "bbc/4.summary": summary("No body.", ""),
    "bbc/5.summary": summary("", "No summary."),
    "bbc/6.summary": summary("Dev.", "Dev body."),
    "bbc/7.summary": summary("Test.", "Test body."),
}


def test_summary_files(tmp_path: Path) -> None:
    """FIRST-SENTENCE is the target, RESTBODY the source; empties are dropped; order of the list or of the ids."""
    raw = put(tmp_path / "raw", SUMMARIES)
    manifest = build("xsum", raw, tmp_path)
    assert lines_of(tmp_path, "xsum", "train.src") == ["Much. Rain fell.", "Cold."]
    assert lines_of(tmp_path, "xsum", "train.tgt") == ["It rained (a lot).", "Snow."]
    assert lines_of(tmp_path, "xsum", "dev.src") == ["Dev body."]
    assert steps_of(manifest)["train: article and summary there"] == (2, {"no article text": 1, "no summary": 1})
    assert manifest.versions == {}
    build("xsum", raw, tmp_path, options={"order": "id", "tokens": "ptb", "case": "lower"}, force=True)
    assert lines_of(tmp_path, "xsum", "train.tgt") == ["snow .", "it rained -lrb- a lot -rrb- ."]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"split.json": json.dumps({**SPLIT, "train": ["3", "99"]})},
            "split.json: train[1]: no such summary file (expected a file 99.summary)",
        ),
        (
            {"split.json": json.dumps({**SPLIT, "train": ["3", "3"]})},
            "split.json: train[1]: listed twice (found also train[0])",
        ),
        ({"split.json": json.dumps({**SPLIT, "train": ["3", 4]})}, "split.json: train[1]: wrong type (expected text"),
        ({"bbc/20.summary": "[SN]RESTBODY[SN]\na\n"}, "bbc/20.summary: no section FIRST-SENTENCE"),
        (
            {"bbc/20.summary": summary("a", "b\n[SN]RESTBODY[SN]\n")},
            "bbc/20.summary:12: the section RESTBODY stands twice",
        ),
    ],
)
def test_bad_summaries(tmp_path: Path, files: Files, message: str) -> None:
    """File and JSON path or line; skipped and counted when asked for."""
    raw = put(tmp_path / "raw", {**SUMMARIES, **files})
    assert error_of("xsum", raw, tmp_path / "out").startswith(message)
    manifest = build("xsum", raw, tmp_path / "out", skip_bad=True)
    assert sum(steps_of(manifest)["train: summary files"][1].values()) == 1
    assert lines_of(tmp_path / "out", "xsum", "train.tgt")[-1] == "Snow."


def test_xsum_without_a_list(tmp_path: Path) -> None:
    """A split the file does not have stops the build."""
    raw = put(tmp_path / "raw", {**SUMMARIES, "split.json": json.dumps({"train": ["3"], "test": ["7"]})})
    told = error_of("xsum", raw, tmp_path / "out")
    assert told == "split.json: no list for dev (expected dev or val or valid or validation)"


@needs_samples
def test_real_summaries_to_files_and_back(tmp_path: Path) -> None:
    """XSum's own test summaries, with every tenth line as a body."""
    gold = lines(SAMPLES / "xsum_scored" / "gold-test-sentences.txt")
    targets, bodies = gold[:300], gold[300:600]
    names = [str(10_000 + place) for place in range(300)]
    raw = put(
        tmp_path / "raw",
        {
            f"{name}.summary": summary(target, body.replace(" . ", " .\n"))
            for name, target, body in zip(names, targets, bodies, strict=True)
        },
    )
    put(raw, {"split.json": json.dumps({"train": names[:200], "validation": names[200:250], "test": names[250:]})})
    build("xsum", raw, tmp_path)
    for side, expected in (("src", bodies), ("tgt", targets)):
        built = [line for split in ("train", "dev", "test") for line in lines_of(tmp_path, "xsum", f"{split}.{side}")]
        assert built == expected
    again = tmp_path / "again"
    build("xsum", raw, again)
    assert everything(again / "easy") == everything(tmp_path / "easy")
