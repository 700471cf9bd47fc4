"""`--ci`, `--lines`, HTML pages, `compare` and `diversity` as a user meets them."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from pathlib import Path

import pytest

from tests.test_cli import EXAMPLE, SECRET, call, data, leaves, preds, put, run, score_example

__all__ = ["data", "preds"]  # fixtures

PAIR = ["compare", EXAMPLE / "predictions", EXAMPLE / "predictions", "-l", "hard", "-d", EXAMPLE / "data"]


@pytest.fixture
def spoilt(tmp_path: Path) -> Path:
    """The example's predictions, with half of coqa's answers replaced."""
    folder = tmp_path / "spoilt"
    shutil.copytree(EXAMPLE / "predictions", folder)
    file = folder / "coqa.hard.test"
    lines = file.read_text(encoding="utf-8").split("\n")
    file.write_text("\n".join(["nothing"] * 15 + lines[15:]), encoding="utf-8")
    return folder


def compare(other: object, *more: object) -> list[object]:
    """Arguments that compare the example with another system on two light tasks."""
    words = ["compare", EXAMPLE / "predictions", other, "-l", "hard", "-d", EXAMPLE / "data", "--resamples", 200]
    return [*words, "-t", "coqa", "-t", "xsum", *more]


# --- intervals --------------------------------------------------------------------------------------------


def test_intervals_stand_behind_every_figure() -> None:
    """`--ci` shows and stores both ends; the figures stay; level, resamples and seed can be chosen."""
    plain, sure = call(*score_example()), run(*score_example("--ci", 95), COLUMNS="120")
    assert "95 % intervals: 1,000 resamples, seed 12345" in sure.out
    assert re.search(r"coqa +F1 +66\.55 \[52\.84, 79\.29\] +66\.55 \[52\.84, 79\.29\]", sure.out)
    assert re.findall(r"66\.55", plain.out)
    report = call(*score_example("--ci", 80, "--resamples", 300, "--seed", 7, "-f", "json")).json
    assert report["resampling"] == {"resamples": 300, "seed": 7, "level": 80.0}
    narrow, wide = report["tasks"][0]["ci"], call(*score_example("--ci", 95, "-f", "json")).json["tasks"][0]["ci"]
    assert wide["low"] < narrow["low"] < 66.55 < narrow["high"] < wide["high"]
    assert report["tasks"][0]["scores"][0]["signature"].endswith("|resamples:300|seed:7")


@pytest.mark.parametrize("format", ["csv", "markdown", "latex"])
def test_intervals_are_in_every_format(format: str) -> None:
    """The same ends everywhere."""
    shown = call(*score_example("--ci", 95, "-f", format)).out
    assert "52.84" in shown or "52.837" in shown


def test_intervals_of_a_whole_level() -> None:
    """With all tasks the overall score has an interval and a standard error."""
    pytest.importorskip("pycocoevalcap")
    done = call("score", "-l", "hard", EXAMPLE / "predictions", "-d", EXAMPLE / "data", "--ci", 95)
    assert "GLGE score (hard, test): 54.14 [51.42, 56.79]   8/8 tasks   standard error 1.38" in done.out


@pytest.mark.parametrize(
    ("more", "line"),
    [
        (
            ["--ci", 95, "--resamples", 99],
            r"too few resamples to say anything \(expected 100 to 1,000,000, found 99\); .*",
        ),
        (["--ci", 5], r"this is no confidence level \(expected 50 to 99.9 \(percent\), found 5\)"),
        (["--ci", 95, "--intervals"], "--ci and --intervals are two kinds of intervals; choose one"),
        (["--ci", 95, "--seed", -1], r"Invalid value for '--seed': .*"),
    ],
)
def test_intervals_that_make_no_sense(more: list[object], line: str) -> None:
    """Each is refused in one line."""
    done = call(*score_example(*more))
    assert done.code == 2
    assert re.fullmatch(line, done.line)


def test_a_single_line_is_undefined(tmp_path: Path) -> None:
    """`[undefined]` and the reason."""
    folder = put(tmp_path / "p", {"coqa.hard.test": "white\n"})
    gold = put(tmp_path / "d", {"easy/coqa_data/org_data/test.tgt": "white horse\n"})
    done = call("score", "-l", "hard", folder, "-d", gold, "--ci", 95)
    assert "66.67 [undefined]" in done.out
    assert "the interval is undefined: a single item cannot be resampled (coqa)" in done.out


# --- lines ------------------------------------------------------------------------------------------------


def test_lines_are_written_beside_the_report(tmp_path: Path) -> None:
    """JSON Lines and CSV hold the same values, one row an item; their mean is the score."""
    for suffix in ("jsonl", "csv"):
        done = call(*score_example("--lines", tmp_path / f"lines.{suffix}"))
        assert "F1 " in done.out
        assert f"wrote {tmp_path}/lines.{suffix}" in done.err
    rows = [json.loads(line) for line in (tmp_path / "lines.jsonl").read_text("utf-8").split("\n")[:-1]]
    table = list(csv.DictReader(io.StringIO((tmp_path / "lines.csv").read_text("utf-8"))))
    assert len(rows) == len(table) == 60
    assert [row["task"] for row in rows] == ["coqa"] * 30 + ["personachat"] * 30
    assert [row["line"] for row in rows[:30]] == list(range(1, 31))
    for row, flat in zip(rows, table, strict=True):
        for name, value in row["scores"].items():
            assert float(flat[name]) == value
    assert sum(row["scores"]["f1"] for row in rows[:30]) / 30 == pytest.approx(66.5502645)
    assert {row["notes"] for row in rows} == {"", "one word: BLEU counts 0"}


def test_lines_as_parquet(tmp_path: Path) -> None:
    """With pyarrow a table; without, one line that says what to do, before anything is scored."""
    done = call(*score_example("--lines", tmp_path / "lines.parquet"))
    try:
        import pyarrow.parquet
    except ImportError:
        assert (done.code, done.out) == (2, "")
        assert done.line == "Parquet needs the package pyarrow; pip install pyarrow, or write .jsonl or .csv"
        assert leaves(tmp_path) == set()
    else:
        assert pyarrow.parquet.read_table(tmp_path / "lines.parquet").num_rows == 60


@pytest.mark.parametrize("words", [score_example, lambda *more: [*PAIR, *more]], ids=["score", "compare"])
def test_lines_of_no_known_kind(words: object, tmp_path: Path) -> None:
    """Refused before the work begins, with the nearest kind."""
    done = call(*words("--lines", tmp_path / "lines.json"))  # type: ignore[operator]
    assert (done.code, done.out) == (2, "")
    assert done.line == (
        f"{tmp_path}/lines.json: lines are written as .jsonl, .csv or .parquet (found .json); did you mean '.jsonl'?"
    )


# --- pages ------------------------------------------------------------------------------------------------


def test_a_page_is_whole_and_by_itself(data: Path, preds: Path, tmp_path: Path) -> None:
    """The ending chooses the format; references are in it unless they are to be left out."""
    words = ["score", "-l", "hard", preds, "-d", data, "-t", "coqa", "-t", "xsum"]
    done = call(*words, "-o", tmp_path / "page.html", "--digits", 3)
    assert re.search(r"wrote .*page\.html\n", done.err)
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert SECRET in page.casefold()
    hidden = call(*words, "-f", "html", "--no-references").out  # call() checks that the secret is not in it
    assert "<!DOCTYPE html>" in hidden
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", page)


def test_a_page_of_a_comparison(spoilt: Path, tmp_path: Path) -> None:
    """Differences, marks and the lines that differ most."""
    done = call(*compare(spoilt, "-o", tmp_path / "c.html", "--no-references"))
    assert done.code == 0
    page = (tmp_path / "c.html").read_text("utf-8")
    assert "spoilt" in page
    assert "paired bootstrap" in page


# --- comparing --------------------------------------------------------------------------------------------


def test_compare_shows_differences_and_marks(spoilt: Path) -> None:
    """A row a metric and task, differences to the first, marks by corrected p."""
    shown = call(*compare(spoilt)).out
    assert re.search(
        r"^coqa +mean +66\.55 +\d+\.\d\d +-\d+\.\d\d +\*+ +\[-\d+\.\d\d, -\d+\.\d\d\] +[<0]\S+$", shown, re.MULTILINE
    )
    assert re.search(r"^xsum +mean +46\.07 +46\.07 +\+0\.00 +\[0\.00, 0\.00\] +1\.000$", shown, re.MULTILINE)
    assert re.search(r"^GLGE +score +– +– +–$", shown, re.MULTILINE)
    assert "2 of 8 tasks compared: there is no overall score" in shown
    assert "A  predictions\nB  spoilt\n" in shown


@pytest.mark.parametrize("columns", [30, 60, 200])
def test_compare_keeps_to_the_width(columns: int, spoilt: Path) -> None:
    """No line is wider than asked, down to 30 columns, and every figure is there."""
    shown = run(*compare(spoilt), COLUMNS=str(columns)).out
    assert max(map(len, shown.split("\n"))) <= columns
    for figure in ("66.55", "46.07", "56.98"):
        assert figure in shown


def test_compare_in_every_format(spoilt: Path, tmp_path: Path) -> None:
    """JSON has everything; CSV, Markdown and LaTeX the same figures and marks."""
    found = call(*compare(spoilt, "-f", "json", "--seed", 3, "--ci", 90)).json
    assert found["resampling"] == {"resamples": 200, "seed": 3, "level": 90.0}
    difference = found["tasks"][1]["mean"]["differences"][1]
    assert set(difference) == {"value", "ci", "p", "p_adjusted", "p_sacrebleu"}
    rows = list(csv.DictReader(io.StringIO(call(*compare(spoilt, "-f", "csv", "--seed", 3)).out)))
    mean = next(row for row in rows if (row["task"], row["name"], row["system"]) == ("coqa", "mean", "spoilt"))
    assert float(mean["difference"]) == difference["value"]
    assert float(mean["p_adjusted"]) == difference["p_adjusted"]
    markdown = call(*compare(spoilt, "-f", "markdown")).out
    assert re.search(r"^\| coqa \| mean \| 66\.55 \| \d+\.\d\d \(-\d+\.\d\d(\\\*)+\) \|$", markdown, re.MULTILINE)
    call(*compare(spoilt, "-o", tmp_path / "c.tex"))
    latex = (tmp_path / "c.tex").read_text("utf-8")
    assert re.search(r"^coqa & mean & 66\.55 & \d+\.\d\d\$\^\{\*+\}\$ \\\\$", latex, re.MULTILINE)
    assert r"\bottomrule" in latex


def test_compare_by_randomization_with_names(spoilt: Path) -> None:
    """The other test; systems called as asked."""
    shown = call(*compare(spoilt, "--test", "randomization", "--name", "base", "-n", "new")).out
    assert "approximate randomization   200 resamples" in shown
    assert "A  base\nB  new\n" in shown


def test_compare_ranks_lines(spoilt: Path, tmp_path: Path) -> None:
    """The lines that differ most come first."""
    call(*compare(spoilt, "--lines", tmp_path / "d.jsonl", "--jobs", 1))
    rows = [json.loads(line) for line in (tmp_path / "d.jsonl").read_text("utf-8").split("\n")[:-1]]
    sizes = [abs(row["difference"]) for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    assert rows[0]["task"] == "coqa"
    assert rows[0]["difference"] == rows[0]["scores_other"]["f1"] - rows[0]["scores_first"]["f1"]
    assert {row["other"] for row in rows} == {"spoilt"}


def test_compare_what_cannot_be_compared(tmp_path: Path, spoilt: Path, data: Path, preds: Path) -> None:
    """One system, no common task, a broken file, few resamples: one line each, and no reference text."""
    assert call("compare", preds, "-l", "hard", "-d", data).line.startswith("two systems or more are compared")
    alone = put(tmp_path / "alone", {"coqa.hard.test": "a\nb\nc\n"})
    other = put(tmp_path / "other", {"xsum.hard.test": "a\nb\nc\n"})
    done = call("compare", alone, other, "-l", "hard", "-d", data)
    assert done.line == "the systems have no task in common (found alone has coqa; other has xsum)"
    short = put(tmp_path / "short", {"coqa.hard.test": "a\n"})
    done = call("compare", alone, short, "-l", "hard", "-d", data)
    assert (done.code, done.out) == (2, "")
    assert "short: coqa.hard.test: 1 line, expected 3 by the data" in done.err
    assert done.line.startswith("the systems cannot be compared: 1 error")
    assert call(*compare(spoilt, "--resamples", 10)).line.startswith("too few resamples")
    done = call("compare", alone, tmp_path / "nothing", "-l", "hard", "-d", data)
    assert "there is no such folder, zip or file" in done.line


def test_compare_systems_of_two_levels(tmp_path: Path, data: Path) -> None:
    """A level for each, and the comparison says so."""
    hard = put(tmp_path / "a", {"coqa.hard.test": "a\nb\nc\n"})
    easy = put(tmp_path / "b", {"coqa.easy.test": "a\nb\nd\n"})
    shown = call(
        "compare", hard, easy, "-l", "hard", "-l", "easy", "-d", data, "--size-limit", "1M", "--split", "test"
    ).out
    assert "GLGE hard/easy, test" in shown
    assert "systems of different levels are compared (a: hard, b: easy)" in shown


# --- diversity --------------------------------------------------------------------------------------------


def test_diversity_beside_the_references(data: Path, preds: Path) -> None:
    """A row a task and side, in figures only: no reference text, which call() checks."""
    shown = call("diversity", preds, "-l", "hard", "-d", data, "-t", "coqa", "--digits", 1).out
    assert re.search(r"^coqa +\d\.\d ", shown, re.MULTILINE)
    assert "references" in shown
    assert "D-2 ratio, mean of 1/8 tasks" in shown


def test_diversity_of_several_systems_in_json(data: Path, preds: Path, tmp_path: Path) -> None:
    """Each under its name."""
    words = ["diversity", preds, preds, "-l", "hard", "-d", data, "--name", "one", "--name", "two"]
    call(*words, "-o", tmp_path / "v.json")
    found = json.loads((tmp_path / "v.json").read_text("utf-8"))
    assert [system["name"] for system in found["systems"]] == ["one", "two"]
    assert call(*words[:-2]).line == "give a name to each system (expected 2 names, found 1)"
    assert call(*words, "-o", tmp_path / "v.html").line.startswith("there is no HTML page of the diversity")


def test_diversity_drawn(data: Path, preds: Path, tmp_path: Path) -> None:
    """A picture beside the table, or the line that says what to install."""
    done = call("diversity", preds, "-l", "hard", "-d", data, "--plot", tmp_path / "v.svg")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        assert done.code == 2
        assert "glge[plots]" in done.line
    else:
        assert (tmp_path / "v.svg").read_text("utf-8").startswith("<?xml")
        assert call("diversity", preds, "-l", "hard", "-d", data, "--plot", tmp_path / "v.jpg").code == 2


# --- profiles ---------------------------------------------------------------------------------------------


def test_the_other_profile_is_named_everywhere() -> None:
    """`--profile libraries` scores by the packages, says so, and prints no figure as the script's."""
    pytest.importorskip("rouge_score")
    words = ["score", "-l", "hard", EXAMPLE / "predictions", "-d", EXAMPLE / "data", "-t", "xsum", "-t", "coqa"]
    shown = call(*words, "--profile", "libraries").out
    assert "GLGE hard, test   libraries profile" in shown
    report = call(*words, "--profile", "libraries", "-f", "json").json
    assert {report["profile"], *(task["profile"] for task in report["tasks"])} == {"libraries"}
    xsum = report["tasks"][0]
    assert xsum["scores"][0]["signature"].startswith("xsum:1|library_rouge1|rouge-score-")
    assert {score["printed"] for score in xsum["scores"]} == {None}


@pytest.mark.parametrize("format", ["terminal", "json", "csv", "markdown", "latex"])
def test_profiles_side_by_side(format: str) -> None:
    """Both profiles' figures in one output; the official ones are as alone."""
    pytest.importorskip("rouge_score")
    words = ["score", "-l", "hard", EXAMPLE / "predictions", "-d", EXAMPLE / "data", "-t", "xsum"]
    both = call(*words, "--profile", "official,libraries", "-f", format).out
    assert "libraries" in both
    for profile in ("official", "libraries"):
        alone = call(*words, "--profile", profile, "-f", "json").json
        if format == "json":
            assert json.loads(both)["profiles"][profile] == alone
        else:
            value = alone["tasks"][0]["scores"][0]["value"]
            assert (repr(value) if format == "csv" else f"{value:.2f}") in both
    if format == "terminal":
        assert re.search(r"^ +R-1 +56\.98 +56\.96 +-0\.02$", both, re.MULTILINE)


def test_profiles_that_are_none(tmp_path: Path) -> None:
    """An unknown profile is answered with the nearest; pages and lines are of one."""
    done = call(*score_example("--profile", "library"))
    assert (done.code, done.out) == (2, "")
    assert "did you mean 'libraries'?" in done.line
    done = call(*score_example("--profile", "official,libraries", "--lines", tmp_path / "x.jsonl"))
    assert done.line == "lines and pages are of one profile (found official, libraries); give one --profile"
    shown = call(*compare(EXAMPLE / "predictions", "--profile", "libraries")).out
    assert "libraries profile" in shown


# --- tasks and metrics of one's own -----------------------------------------------------------------------


def test_a_task_is_written_and_checked(tmp_path: Path) -> None:
    """`new` writes a file that `check` finds sound; it does not overwrite without `--force`."""
    folder = tmp_path / "mine"
    done = call("tasks", "new", "riddles", "--tasks-folder", folder)
    assert (done.code, done.out) == (0, f"wrote {folder}/riddles.yaml\nwrote {folder}/benchmark.yaml\n")
    checked = call("tasks", "check", folder / "riddles.yaml")
    assert checked.code == 0
    assert "line 1 predicted: " in checked.out
    again = call("tasks", "new", "riddles", "--tasks-folder", folder)
    assert again.line == f"{folder}/riddles.yaml: the file is there already; --force writes it anew"
    assert call("tasks", "new", "riddles", "--tasks-folder", folder, "--force").code == 0
    assert re.search(r"^riddles +", call("tasks", "--tasks-folder", folder).out, re.MULTILINE)


def test_a_faulty_task_file_is_told_whole(tmp_path: Path) -> None:
    """Every fault in one pass, with its line, and exit code 2; as JSON for machines."""
    folder = tmp_path / "mine"
    call("tasks", "new", "riddles", "--tasks-folder", folder)
    file = folder / "riddles.yaml"
    text = file.read_text("utf-8").replace("metric: coco_rougeL", "metric: coco_rogueL").replace("strip", "stripp")
    file.write_text(text, encoding="utf-8")
    done = call("tasks", "check", file)
    told = " ".join(done.out.split())
    assert done.code == 2
    assert "did you mean 'coco_rougeL'?" in told
    assert "there is no rule 'stripp'" in told
    found = call("tasks", "check", file, "-f", "json")
    assert (found.code, found.json["counts"]["error"] > 1) == (2, True)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["new"], "tasks new needs a name; glge tasks new …"),
        (["check"], "tasks check needs a file; glge tasks check …"),
        (["new", "riddles"], "the folder for the task is missing; glge tasks new riddles --tasks-folder FOLDER"),
        (["coqa", "xsum"], "this goes with new or check (found xsum); glge tasks new NAME"),
        (["coqa", "--force"], "this goes with new or check (found --force); glge tasks new NAME"),
    ],
)
def test_tasks_called_wrongly(words: list[str], line: str) -> None:
    """One line that says how."""
    done = call("tasks", *words)
    assert (done.code, done.line) == (2, line)
