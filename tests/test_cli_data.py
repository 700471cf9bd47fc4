"""`glge data …` and `glge pack` as a user meets them."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest

from tests.test_cli import EXAMPLE, call, leaves, put, run

SQUAD = {
    "version": "1.1",
    "data": [
        {
            "title": "Lamps",
            "paragraphs": [
                {
                    "context": "The lamp was lit at dusk by the keeper.",
                    "qas": [
                        {
                            "id": f"q{number}",
                            "question": question,
                            "answers": [{"text": answer, "answer_start": start}],
                        }
                        for number, (question, answer, start) in enumerate(
                            [("When was the lamp lit?", "at dusk", 17), ("Who lit the lamp?", "the keeper", 28)]
                        )
                    ],
                }
            ],
        }
    ],
}


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """A data root with easy training and test data of coqa."""
    targets = "".join(f"{word}\n" for word in ["white", "the", "a horse", "black", "no", "white horse", "blue", "red"])
    sources = "".join(f"question {number}\n" for number in range(8))
    place = "easy/coqa_data/org_data"
    files = {f"{place}/train.tgt": targets, f"{place}/train.src": sources}
    files |= {f"{place}/test.tgt": "white\nhorse\n", f"{place}/test.src": "a\nb\n"}
    return put(tmp_path / "data", files)


# --- check and stats --------------------------------------------------------------------------------------


def test_check_says_what_is_there_and_what_is_wrong(pairs: Path, tmp_path: Path) -> None:
    """A table, the difference to the published numbers, what can be scored; exit codes; JSON."""
    done = call("data", "check", EXAMPLE / "data")
    assert done.code == 0
    assert re.search(r"^cnndm +easy +test +22 +-11,468 ", done.out, re.MULTILINE)
    assert call("data", "check", EXAMPLE / "data", "--strict").code == 1
    found = call("data", "check", pairs, "-t", "coqa", "--format", "json").json
    assert {fact["split"] for fact in found["splits"]} == {"train", "test"}
    call("data", "check", pairs, "-o", tmp_path / "c.json", "--tasks-folder", Path("tasks").resolve())
    assert json.loads((tmp_path / "c.json").read_text("utf-8")) == call("data", "check", pairs, "-f", "json").json
    (pairs / "easy/coqa_data/org_data/test.src").write_text("a\n", encoding="utf-8")
    assert call("data", "check", pairs).code == 2
    assert call("data", "check", tmp_path / "none").code == 2


def test_stats_stand_beside_table_1(pairs: Path) -> None:
    """What is there above what was published."""
    shown = call("data", "stats", pairs, "--level", "easy", "--task", "coqa").out
    assert re.search(r"^coqa +here +8\*? +– +2\*? ", shown, re.MULTILINE)
    assert re.search(r"^ +Table 1 +108,647 +3,935 +4,048 ", shown, re.MULTILINE)
    assert call("data", "stats", pairs, "-f", "json").json["rows"][0]["task"] == "coqa"


# --- build ------------------------------------------------------------------------------------------------


def test_build_lists_its_options() -> None:
    """Without raw files the command says what it takes."""
    shown = run("data", "build", "squadqg", COLUMNS="60").out
    assert shown.startswith("squadqg is built from:")
    assert "\nsplits=train,dev,test\n" in shown
    assert max(map(len, shown.split("\n"))) <= 60


def test_build_writes_data_that_can_be_scored(tmp_path: Path) -> None:
    """Raw SQuAD in, official layout out; steps are told; a second time only with `--force`."""
    raw = put(tmp_path / "raw", {"dev-v1.1.json": json.dumps(SQUAD), "dev.txt": "q0\nq1\n"})
    words = ["data", "build", "squadqg", "--raw", raw, "--out", tmp_path / "out", "--option", "splits=dev"]
    done = call(*words)
    assert done.code == 0, done.err
    assert "dev.tgt" in done.out
    folder = tmp_path / "out/easy/squadqg_data/org_data"
    assert leaves(folder) == {"dev.src", "dev.tgt", "manifest.json"}
    assert "[SEP]" in (folder / "dev.src").read_text("utf-8")
    assert "give --force to replace" in call(*words).line
    assert call(*words, "--force", "--skip-bad").code == 0


def test_build_what_cannot_be_built(tmp_path: Path) -> None:
    """No builder, no output, a wrong option, truncated JSON: one line each, and nothing is written."""
    assert "own archive only" in call("data", "build", "msnews", "--raw", tmp_path).line
    assert call("data", "build", "coqa", "--raw", tmp_path).line == "the folder to write to is missing; add --out DIR"
    assert "did you mean 'turns'?" in call("data", "build", "coqa", "--option", "turn=1").line
    raw = put(tmp_path / "raw", {"coqa-train-v1.0.json": '{"data": [', "coqa-dev-v1.0.json": '{"data": ['})
    done = call("data", "build", "coqa", "--raw", raw, "--out", tmp_path / "out")
    assert (done.code, done.out) == (2, "")
    assert "coqa-" in done.line
    assert leaves(tmp_path / "out") == set() if (tmp_path / "out").exists() else True


# --- levels -----------------------------------------------------------------------------------------------


def test_levels_are_made_from_easy(pairs: Path, tmp_path: Path) -> None:
    """Half, half, a quarter, with manifests; the same seed gives the same lines."""
    words = ["data", "levels", pairs, "--seed", 3, "--option", "empty=last"]
    assert call(*words, "--out", tmp_path / "one").code == 0
    assert call(*words, "--out", tmp_path / "two").code == 0
    sizes = {}
    for level in ("medium", "medium+", "hard"):
        place = f"{level}/coqa_data/org_data"
        one, two = ((tmp_path / out / place / "train.tgt").read_bytes() for out in ("one", "two"))
        assert one == two
        sizes[level] = one.count(b"\n")
        manifest = json.loads((tmp_path / "one" / place / "manifest.json").read_text("utf-8"))
        assert level == "medium" or manifest["options"]["empty"] == "last"
    assert sizes == {"medium": 4, "medium+": 4, "hard": 2}
    assert "--force" in call(*words, "--out", tmp_path / "one").line
    more = ["--force", "--with-dev-and-test", "--level", "hard", "--task", "coqa"]
    assert call(*words, "--out", tmp_path / "one", *more).code == 0
    assert (tmp_path / "one/hard/coqa_data/org_data/test.src").exists()


def test_levels_explained(pairs: Path) -> None:
    """The distribution, the cut, and targets on either side; nothing is written."""
    before = leaves(pairs)
    shown = call("data", "levels", pairs, "--explain", "coqa", "--near", 2).out
    assert "white" in shown or "black" in shown
    assert leaves(pairs) == before
    assert call("data", "levels", pairs, "--option", "empty").line == "an option is KEY=VALUE (found empty)"
    assert call("data", "levels", pairs, "--option", "emty=last").line.startswith("there is no option 'emty'")
    assert "did you mean 'last'?" in call("data", "levels", pairs, "--option", "empty=lst").line


# --- encode and decode ------------------------------------------------------------------------------------


def test_encode_and_decode(pairs: Path, tmp_path: Path) -> None:
    """Word pieces and back, a whole root and a single file; flags are checked."""
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "white", "horse", "the", "a", "black", "##s", "question"]
    vocab = put(tmp_path, {"vocab.txt": "".join(f"{piece}\n" for piece in pieces)}) / "vocab.txt"
    words = ["data", "encode", pairs, "--vocab", vocab, "--out", tmp_path / "enc", "--task", "coqa", "-l", "easy"]
    done = call(*words, "--cut-source", "none", "--cut-target", 5, "--cut-train-target", 3, "--detokenizer", "2020")
    assert done.code == 0, done.err
    assert re.search(r"^coqa +easy +train\.tgt +8 ", done.out, re.MULTILINE)
    lone = put(tmp_path, {"lone.txt": "White horses\n"}) / "lone.txt"
    single = ["data", "encode", lone, "--vocab", vocab, "--out", tmp_path / "one.txt", "-t", "coqa"]
    assert "a single file needs its task and its side" in call(*single).line
    assert call(*single, "--kind", "tgt", "--split", "test", "--force").code == 0
    assert (tmp_path / "one.txt").read_text("utf-8") == "white horse ##s\n"
    back = call("data", "decode", tmp_path / "one.txt", "--out", tmp_path / "back.txt", "--task", "coqa", "--force")
    assert back.code == 0
    assert (tmp_path / "back.txt").read_text("utf-8") == "white horses\n"
    assert "--cut-source is a number" in call(*words, "--cut-source", "many").line
    assert "no such detokenizer" in call(*words, "--detokenizer", "moses").line


# --- pack -------------------------------------------------------------------------------------------------


def test_pack_makes_a_valid_submission(tmp_path: Path, pairs: Path) -> None:
    """Files under any name and a log of fairseq become what the validator accepts."""
    log = "S-1\tx\nH-1\t-0.2\tthe hor ##se\nH-0\t-0.1\twhite\n"
    put(tmp_path, {"out.txt": log})
    out = tmp_path / "preds.zip"
    words = ["pack", "--map", f"coqa={tmp_path}/out.txt", "--level", "hard", "--out", out, "--data", pairs]
    done = call(*words, "--kind", "fairseq", "--join", "--split", "test", "--size-limit", "1M")
    assert done.code == 0, done.err
    with zipfile.ZipFile(out) as archive:
        assert archive.namelist() == ["coqa.hard.test"]
        assert archive.read("coqa.hard.test") == b"white\nthe horse\n"
    assert call("validate", out, "-l", "hard", "-d", pairs, "-t", "coqa").code == 0
    assert call(*words).code == 2  # it is there
    assert call(*words, "--force", "--no-join").code == 0


def test_pack_what_cannot_be_packed(tmp_path: Path) -> None:
    """No level, no files, a name that says no task: one line each."""
    assert call("pack", "x").line.startswith("pack needs a level and a place to write to")
    assert call("pack", "-l", "hard", "--out", tmp_path / "p").line.startswith("nothing to pack was given")
    assert "says no task" in call("pack", tmp_path / "x.txt", "-l", "hard", "--out", tmp_path / "p").line
    assert leaves(tmp_path) == set()
