"""`--from-table`: overall scores recomputed from published figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from glge.board import PUBLISHED, read_table
from glge.errors import GlgeError
from glge.reports.as_table import render_table
from glge.tasks import Benchmark, load_tasks, tasks_folder
from tests.golden import SHARED, load


@pytest.fixture(scope="module")
def known() -> Benchmark:
    """The registry that ships."""
    return load_tasks()


def test_all_rows_of_the_published_leaderboard(known: Benchmark) -> None:
    """All 23 fully scored rows come out to the printed decimal; the one without all tasks gets no score."""
    rows = read_table(PUBLISHED, known)
    assert len(rows) == 24
    full = [row for row in rows if row.given is not None]
    assert len(full) == 23
    assert [round(row.value or 0, 1) for row in full] == [row.given for row in full]
    assert max(abs((row.value or 0) - (row.given or 0)) for row in full) < 0.05
    (partial,) = (row for row in rows if row.given is None)
    assert (partial.model, partial.value, partial.coverage) == ("ExtBART + DABS", None, "1/8")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared files are not beside this checkout")
def test_the_shipped_table_is_the_published_one() -> None:
    """Every figure of the shipped table equals the collected one."""
    collected = load(SHARED / "published" / "leaderboard.json")["rows"]
    shipped = json.loads((tasks_folder() / "published.json").read_bytes())["rows"]
    assert len(collected) == len(shipped)
    for theirs, ours in zip(collected, shipped, strict=True):
        assert (theirs["level"], theirs["model"]) == (ours["level"], ours["model"])
        figures = {
            task: {metric: float(figure) for metric, figure in metrics.items()}
            for task, metrics in theirs["tasks"].items()
            if metrics
        }
        assert figures == ours["tasks"]


CSV = "level,model,overall,coqa.f1,personachat.bleu1,personachat.bleu2,personachat.distinct1,personachat.distinct2\n"


def test_csv(known: Benchmark, tmp_path: Path) -> None:
    """Columns task.metric; an empty cell is a missing figure."""
    file = tmp_path / "table.csv"
    file.write_text(CSV + "hard,A,,70.5,40,30,1.5,8.5\n,B,–,,40,30,,8.5\n", encoding="utf-8")
    first, second = read_table(file, known)
    assert (first.tasks["coqa"], first.tasks["personachat"], first.value) == (70.5, 20.0, None)
    assert (second.tasks["coqa"], second.tasks["personachat"]) == (None, None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (CSV + "hard,A,,70.5,40\n", r":2: wrong number of cells \(expected 8, found 5\)"),
        (CSV + "hard,A,,much,40,30,1.5,8.5\n", r"row 1 \(A\): coqa.f1 is not a number \(found 'much'\)"),
        (CSV + "hard,A,,nan,40,30,1.5,8.5\n", r"row 1 \(A\): coqa.f1 is outside the 0-100 scale"),
        (CSV + "hrad,A,,1,40,30,1.5,8.5\n", r"row 1 \(A\): there is no level 'hrad'; did you mean 'hard'"),
        ("level,model\nhard,A\n", r":1: no column names a metric"),
        ("model,coqua.f1\nA,1\n", r"row 1 \(A\): there is no task 'coqua'; did you mean 'coqa'"),
        ("model,coqa.f2\nA,1\n", r"row 1 \(A\): coqa has no metric 'f2'; did you mean 'f1'"),
        ('{"rows": 3}', r"expected a list of rows"),
        ('{"rows": [{"model": "A"}]}', r"row 1 \(A\) has no tasks"),
        ('{"rows": [{"model": "A", "tasks": {"coqa": 3}}]}', r"coqa needs its metrics by name"),
        ('{"rows": [', r":1: not readable as JSON"),
        ("model,coqa.f1\n", r"the table has no rows"),
    ],
)
def test_mistakes(known: Benchmark, tmp_path: Path, content: str, message: str) -> None:
    """Each mistake in a table is told with its row."""
    file = tmp_path / "table"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(GlgeError, match=message):
        read_table(file, known)


def test_missing_table(known: Benchmark) -> None:
    """A file that is not there."""
    with pytest.raises(GlgeError, match="cannot read the table: No such file"):
        read_table("/nonexistent/table.csv", known)


@pytest.mark.parametrize("format", ["terminal", "json", "csv", "markdown", "latex"])
def test_every_format_shows_every_row(known: Benchmark, format: str) -> None:
    """All systems and their scores are in the text."""
    rows = read_table(PUBLISHED, known)
    text = render_table(rows, list(known.tasks), format)
    assert text.endswith("\n")
    for row in rows:
        assert row.model in text
    assert "37.55" in text or "37.56" in text
    if format == "json":
        assert json.loads(text)["rows"][0]["value"] == rows[0].value
    if format == "latex":
        body = [line for line in text.split("\n") if line.endswith("\\\\")]
        assert {line.count("&") for line in body} == {12}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "model,coqa.f1,coqa.f1\na,1,99\n", "the column 'coqa.f1' stands twice"),
        ("t.csv", "model,coqa.f1\na,1_0\n", r"coqa.f1 is not a number \(found '1_0'\)"),
        ("t.json", '[{"model": "a", "tasks": {"coqa": {"f1": 10, "f1": 90}}}]', "the key 'f1' stands twice"),
        ("t.json", '[{"model": "a", "tasks": {"coqa": {"f1": true}}}]', r"coqa.f1 is not a number \(found True\)"),
        ("t.json", '[{"model": "a", "tasks": {"coqa": {"f1": ' + "9" * 5000 + "}}}]", "not readable as JSON"),
        ("t.json", "[" * 100_000, "not readable as JSON"),
    ],
    ids=["column", "underscore", "key", "bool", "digits", "deep"],
)
def test_what_is_no_table_of_figures(name: str, text: str, message: str, tmp_path: Path) -> None:
    """Nothing wins silently, and nothing that is no figure counts as one."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(GlgeError, match=message):
        read_table(tmp_path / name, load_tasks())


def test_rows_without_cells_are_no_systems(tmp_path: Path) -> None:
    """A line of separators alone is skipped."""
    (tmp_path / "t.csv").write_text("model,coqa.f1\na,50\n,\n", encoding="utf-8")
    assert [row.model for row in read_table(tmp_path / "t.csv", load_tasks())] == ["a"]
