"""Output diversity: figures by hand, by a slow obvious program, and in every format; no reference text anywhere."""

from __future__ import annotations

import builtins
import csv
import io
import json
import shutil
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import glge.diversity
from glge.diversity import measure_task
from glge.diversity_analysis import measure_submission
from glge.errors import DataError, GlgeError, MetricError, MissingResource, RegistryError, SubmissionError
from glge.metrics import METRICS, Pairs
from glge.reports.as_diversity import FORMATS, render_diversity
from glge.reports.as_plot import draw_diversity, plot_diversity
from glge.results import DiversityReport, TaskDiversity, Variety
from glge.rules import apply_rules
from glge.tasks import load_tasks
from tests.strategies import odd_line, text

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "submissions" / "example"
BENCHMARK = load_tasks()
PLAIN = BENCHMARK.task("coqa")  # no rules on either side
SENTINEL = "sentinelword"


# --- figures by hand ------------------------------------------------------------------------------


def test_distinct_by_hand() -> None:
    """Distinct-1, Distinct-2 and their ratios of a tiny corpus."""
    found = measure_task(PLAIN, ["a b a b", "a c"], ["a b c", "d e f"])
    # Predictions: tokens a b a b a c, bigrams ab ba ab ac; references: 6 different of 6, 4 of 4.
    assert found.of_predictions.distinct1 == 100 * 3 / 6
    assert found.of_predictions.distinct2 == 100 * 3 / 4
    assert (found.of_references.distinct1, found.of_references.distinct2) == (100.0, 100.0)
    assert (found.distinct1_ratio, found.distinct2_ratio) == (0.5, 0.75)


def test_lengths_by_hand() -> None:
    """The ratio of all tokens, not the mean of the lines' ratios."""
    found = measure_task(PLAIN, ["a b c", "a"], ["a", "a b c d e f g"])
    assert found.length_ratio == 4 / 8


def test_novelty_by_hand() -> None:
    """Each n-gram is looked for in the source of its own line, in any case."""
    found = measure_task(PLAIN, ["The cat sat down", "the cat"], ["cat", "dog"], ["the CAT sat . down", "a dog ran"])
    # Line 1: the cat sat down, bigrams the-cat cat-sat sat-down; line 2: neither word is in its source.
    assert found.of_predictions.novel == (100 * 2 / 6, 100 * 2 / 4, 100 * 1 / 2, 100.0)
    assert found.of_references.novel == (0.0, None, None, None)


def test_repetition_by_hand() -> None:
    """A trigram is repeated when it stood before in its line; other lines do not matter."""
    found = measure_task(PLAIN, ["a b c a b c", "a b c", "x x x x x"], ["a b c"] * 3)
    # abc bca cab abc | abc | xxx xxx xxx: 1 and 2 repeated of 8.
    assert found.of_predictions.repeated_trigrams == 100 * 3 / 8
    assert found.of_references.repeated_trigrams == 0.0


def test_identical_lines_by_hand() -> None:
    """Every line of a text that stands twice counts; blanks and case do not tell texts apart."""
    found = measure_task(PLAIN, ["I see .", "i  see .", "yes", "no", "no"], ["a", "b", "b", "b", "c"])
    assert found.of_predictions.identical_lines == 100 * 4 / 5
    assert found.of_predictions.most_frequent == 2
    assert found.most_frequent_text == "i see ."  # of two, the one that comes first
    assert (found.of_references.identical_lines, found.of_references.most_frequent) == (100 * 3 / 5, 3)


def test_both_sides_go_through_their_rules() -> None:
    """cnndm: separators are no tokens, brackets have one name; sources go as the references do."""
    found = measure_task(
        BENCHMARK.task("cnndm"),
        ["the ( old ) cat sat . [X_SEP] it was a good mat ."],
        ["The -LRB- old -RRB- cat sat . <S_SEP> It was a good mat ."],
        ["The -LRB- old -RRB- cat sat . It was a good mat ."],
    )
    assert found.of_predictions.novel == found.of_references.novel == (0.0, 0.0, 0.0, 0.0)
    assert found.of_predictions == found.of_references
    assert found.distinct2_ratio == 1.0


def test_references_against_themselves() -> None:
    """All ratios are 1 and both sides are the same."""
    lines = ["a cat sat", "a dog ran off", "yes"]
    found = measure_task(PLAIN, lines, lines, ["a cat", "ran off", ""])
    assert (found.distinct1_ratio, found.distinct2_ratio, found.length_ratio) == (1.0, 1.0, 1.0)
    assert found.of_predictions == found.of_references


# --- nothing to divide by -------------------------------------------------------------------------


def test_no_bigram() -> None:
    """One-word answers have no Distinct-2 and no ratio; the rest is measured."""
    found = measure_task(PLAIN, ["yes", "yes"], ["a b", "c d"], ["yes", "no"])
    assert (found.distinct2_ratio, found.of_predictions.distinct2) == (None, None)
    assert (found.distinct1_ratio, found.length_ratio) == (0.5, 0.5)
    assert found.of_predictions.novel == (50.0, None, None, None)
    assert found.of_predictions.repeated_trigrams is None
    assert measure_task(PLAIN, ["a b"], ["c"]).distinct2_ratio is None


def test_empty_predictions() -> None:
    """Empty lines are counted, are alike, and bring no n-gram."""
    found = measure_task(PLAIN, ["", "  ", "a b"], ["a b", "c", "d"], ["a", "b", "c"])
    ours = found.of_predictions
    assert (ours.empty, ours.tokens, ours.most_frequent, found.most_frequent_text) == (2, 2, 2, "")
    assert ours.identical_lines == 100 * 2 / 3
    assert ours.novel == (100.0, 100.0, None, None)


def test_nothing_but_empty_lines() -> None:
    """No token on either side: no share, no ratio, no failure."""
    found = measure_task(PLAIN, [""], [""], [""])
    assert (found.distinct1_ratio, found.distinct2_ratio, found.length_ratio) == (None, None, None)
    assert found.of_predictions == Variety(
        lines=1, empty=1, tokens=0, novel=(None,) * 4, identical_lines=0.0, most_frequent=1
    )
    assert measure_task(PLAIN, ["a"], [""]).length_ratio is None
    assert measure_task(PLAIN, [""], ["a"]).length_ratio == 0.0


def test_no_lines_and_one_line() -> None:
    """No line has no shares; one line is identical to no other."""
    nothing = measure_task(PLAIN, [], [], [])
    assert nothing.of_predictions == Variety(lines=0, empty=0, tokens=0, novel=(None,) * 4)
    assert nothing.most_frequent_text is None
    one = measure_task(PLAIN, ["a b c"], ["a b d"], ["a b"])
    assert (one.of_predictions.identical_lines, one.most_frequent_text) == (0.0, None)
    assert (one.distinct2_ratio, one.of_predictions.novel) == (1.0, (100 / 3, 50.0, 100.0, None))


def test_lengths_are_checked() -> None:
    """Lists of different length are refused, with both numbers."""
    with pytest.raises(MetricError) as error:
        measure_task(PLAIN, ["a"], ["a", "b"])
    assert str(error.value) == "coqa: predictions and references differ in number (expected 2 predictions, found 1)"
    with pytest.raises(MetricError, match="predictions and sources differ in number"):
        measure_task(PLAIN, ["a"], ["a"], [])


# --- a slow obvious program -----------------------------------------------------------------------


def grams(line: str, order: int) -> list[tuple[str, ...]]:
    """The n-grams of a line, one after the other."""
    tokens = line.lower().split()
    return [tuple(tokens[place : place + order]) for place in range(len(tokens) - order + 1)]


def share(part: int, whole: int) -> float | None:
    """Percent, or None of nothing."""
    return 100 * part / whole if whole else None


def slow_variety(lines: Sequence[str], sources: Sequence[str] | None) -> Variety:
    """What `measure_task` finds, line by line and n-gram by n-gram."""
    distinct: dict[int, float | None] = {}
    for order in (1, 2):
        every = [gram for line in lines for gram in grams(line, order)]
        distinct[order] = share(len(set(every)), len(every))
    novel: list[float | None] = []
    for order in range(1, 5):
        new = total = 0
        for line, source in zip(lines, sources or [""] * len(lines), strict=True):
            for gram in grams(line, order):
                total += 1
                new += gram not in grams(source, order)
        novel.append(share(new, total))
    repeated = total = 0
    for line in lines:
        own = grams(line, 3)
        total += len(own)
        repeated += sum(gram in own[:place] for place, gram in enumerate(own))
    texts = [line.lower().split() for line in lines]
    return Variety(
        lines=len(lines),
        empty=texts.count([]),
        tokens=sum(map(len, texts)),
        distinct1=distinct[1],
        distinct2=distinct[2],
        novel=None if sources is None else tuple(novel),
        repeated_trigrams=share(repeated, total),
        identical_lines=share(sum(texts.count(one) > 1 for one in texts), len(lines)),
        most_frequent=max(map(texts.count, texts), default=0),
    )


few = st.lists(st.sampled_from("a b A c".split()), max_size=9).map(" ".join)
any_line = st.one_of(few, text, odd_line)
triples = st.lists(st.tuples(any_line, any_line, any_line), max_size=8)


@given(triples, st.booleans(), st.sampled_from([1, 12, 1 << 21]))
def test_equals_a_slow_program(lines: list[tuple[str, str, str]], with_sources: bool, chunk: int) -> None:
    """Both sides, with and without sources, in chunks of any size."""
    predictions, references, sources = ([line[place].replace("\r", " ") for line in lines] for place in range(3))
    kept = glge.diversity._CHUNK
    glge.diversity._CHUNK = chunk
    try:
        found = measure_task(PLAIN, predictions, references, sources if with_sources else None)
    finally:
        glge.diversity._CHUNK = kept
    ours, theirs = (slow_variety(side, sources if with_sources else None) for side in (predictions, references))
    assert (found.of_predictions, found.of_references) == (ours, theirs)
    for order in (1, 2):
        first, second = getattr(ours, f"distinct{order}"), getattr(theirs, f"distinct{order}")
        expected = None if first is None or second is None else first / second
        assert getattr(found, f"distinct{order}_ratio") == expected
    texts = Counter(" ".join(line.lower().split()) for line in predictions)
    if found.most_frequent_text is None:
        assert max(texts.values(), default=0) <= 1
    else:
        assert texts[found.most_frequent_text] == max(texts.values())


@given(triples, st.randoms(use_true_random=False))
def test_the_order_of_lines_plays_no_part(lines: list[tuple[str, str, str]], random: Any) -> None:
    """Shuffled lines give the same figures."""
    other = random.sample(lines, len(lines))
    first, second = (
        measure_task(PLAIN, *([row[place] for row in rows] for place in range(3))) for rows in (lines, other)
    )
    assert (first.of_predictions, first.of_references) == (second.of_predictions, second.of_references)


@pytest.mark.parametrize("task", BENCHMARK.tasks)
@given(st.lists(st.tuples(odd_line, odd_line, odd_line), min_size=1, max_size=5))
def test_odd_lines_never_fail(task: str, lines: list[tuple[str, str, str]]) -> None:
    """Whatever characters come: every share is between 0 and 100."""
    found = measure_task(BENCHMARK.task(task), *([line[place] for line in lines] for place in range(3)))
    for side in (found.of_predictions, found.of_references):
        assert side.novel is not None
        for value in (side.distinct1, side.distinct2, *side.novel, side.repeated_trigrams, side.identical_lines):
            assert value is None or 0 <= value <= 100


@pytest.mark.parametrize("order", [1, 2])
def test_is_the_distinct_of_the_benchmark(order: int) -> None:
    """PersonaChat: Distinct of lower-case text is that of `glge score`, up to that script's 1e-5 in the divisor."""
    task = BENCHMARK.task("personachat")
    lines = (EXAMPLE / "predictions" / "personachat.hard.test").read_text(encoding="utf-8").rstrip("\n").split("\n")
    metric = METRICS[f"distinct{order}"]()
    texts = apply_rules(task.prediction.rules, lines)
    expected = metric.reduce(metric.rows(Pairs(texts, [("",)] * len(texts))))
    found = measure_task(task, lines, lines).of_predictions
    assert getattr(found, f"distinct{order}") / 100 == pytest.approx(expected, rel=1e-6)


# --- submissions ----------------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The example's data, to be changed."""
    folder = tmp_path / "data"
    shutil.copytree(EXAMPLE / "data", folder)
    return folder


def source_of(data: Path, task: str) -> Path:
    """The file of sources of a task."""
    return next(data.rglob(f"{task}_data/org_data/test.src"))


def measure(predictions: Any = EXAMPLE / "predictions", **more: Any) -> DiversityReport:
    """The example at level hard."""
    return measure_submission(predictions, **({"level": "hard", "data": EXAMPLE / "data"} | more))


def test_a_whole_submission() -> None:
    """All tasks in order, and the mean of their ratios."""
    report = measure()
    assert [task.task for task in report.tasks] == list(BENCHMARK.tasks)
    ratios = [task.distinct2_ratio for task in report.tasks]
    assert report.mean_ratio == sum(ratios) / 8  # type: ignore[arg-type]
    assert (report.measured, report.name, report.problems) == (8, "predictions", ())
    for task in report.tasks:
        assert task.sources is not None
        assert task.of_predictions.lines == task.predictions.lines == task.references.lines
    coqa = report.task("coqa")
    assert (coqa.most_frequent_text, coqa.of_predictions.most_frequent) == ("yes", 3)
    with pytest.raises(KeyError):
        report.task("none")


def test_some_tasks() -> None:
    """The mean runs over the tasks that are there; `measured` says how many."""
    report = measure(tasks=["xsum", "coqa"], name="two")
    assert [task.task for task in report.tasks] == ["xsum", "coqa"]
    assert (report.measured, len(report.expected_tasks), report.name) == (2, 8, "two")
    one = measure(EXAMPLE / "predictions" / "coqa.hard.test")
    assert ([task.task for task in one.tasks], one.name) == (["coqa"], "predictions")
    assert one.tasks[0].of_predictions == report.task("coqa").of_predictions


def test_a_task_without_ratio_is_left_out_of_the_mean(tmp_path: Path) -> None:
    """One-word predictions have no bigram."""
    shutil.copytree(EXAMPLE / "predictions", tmp_path / "preds")
    (tmp_path / "preds" / "coqa.hard.test").write_text("yes\n" * 30, encoding="utf-8")
    report = measure(tmp_path / "preds")
    ratios = [task.distinct2_ratio for task in report.tasks if task.task != "coqa"]
    assert report.task("coqa").distinct2_ratio is None
    assert (report.measured, report.mean_ratio) == (7, sum(ratios) / 7)  # type: ignore[arg-type]
    assert "no D-2 ratio: the predictions have no bigram (coqa)" in render_diversity(report, width=200)
    assert "coqa: 30 of 30 lines, 100.00 %" in render_diversity(report, width=200)


def test_no_ratio_at_all(tmp_path: Path) -> None:
    """No mean of nothing; every format can say so."""
    file = tmp_path / "coqa.hard.test"
    file.write_text("yes\n" * 30, encoding="utf-8")
    report = measure(file)
    assert (report.mean_ratio, report.measured) == (None, 0)
    for format in FORMATS:
        assert render_diversity(report, format)


@pytest.mark.parametrize("task", ["xsum", "squadqg"])
def test_without_sources(data: Path, task: str) -> None:
    """Novel n-grams are missing where `.src` is, also in a task that is grouped by it; the rest is the same."""
    whole = measure(data=data, tasks=[task]).tasks[0]
    source_of(data, task).unlink()
    report = measure(data=data, tasks=[task])
    bare = report.tasks[0]
    assert (bare.sources, bare.of_predictions.novel, bare.of_references.novel) == (None, None, None)
    assert bare.of_predictions == whole.of_predictions.model_copy(update={"novel": None})
    assert f"no novel n-grams: the data has no sources ({task})" in render_diversity(report, width=200)


def test_sources_of_another_number(data: Path) -> None:
    """Sources that do not fit are an error, not silence."""
    source_of(data, "xsum").write_text("one line\n", encoding="utf-8")
    with pytest.raises(DataError, match="sources and targets differ in number"):
        measure(data=data, tasks=["xsum"])


def test_what_cannot_be_measured(tmp_path: Path, data: Path) -> None:
    """Wrong names, wrong counts and missing files end in one line each."""
    with pytest.raises(RegistryError, match="there is no level 'hrad'"):
        measure(level="hrad")
    with pytest.raises(RegistryError, match="there is no task 'coqua'"):
        measure(tasks=["coqua"])
    with pytest.raises(SubmissionError):
        measure(tmp_path / "nowhere")
    with pytest.raises(SubmissionError):  # the predictions are told first
        measure(tmp_path / "nowhere", data=tmp_path / "no-data")
    with pytest.raises(DataError, match="does not exist"):
        measure(data=tmp_path / "no-data")
    source_of(data, "coqa").with_name("test.tgt").unlink()
    with pytest.raises(DataError, match="no references for coqa"):
        measure(data=data)
    short = tmp_path / "coqa.hard.test"
    short.write_text("yes\n", encoding="utf-8")
    with pytest.raises(SubmissionError, match="the submission cannot be measured: 1 error") as error:
        measure(short)
    assert [problem.code for problem in error.value.problems if problem.severity == "error"] == ["line-count"]


def test_progress_is_told() -> None:
    """Each task before it is measured, then the end."""
    told: list[tuple[str, int, int]] = []
    measure(tasks=["xsum", "coqa"], progress=lambda *now: told.append(now))
    assert told == [("xsum", 0, 2), ("coqa", 1, 2), ("", 2, 2)]


# --- renderers ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def report() -> DiversityReport:
    """The example."""
    return measure()


@pytest.fixture(scope="module")
def odd() -> DiversityReport:
    """Two tasks, a name that means something to every format, and figures at the edges."""
    some = measure(tasks=["xsum", "coqa"], name="=a|b_$x_1$ & \x1b[31m%")
    xsum = some.tasks[0].model_copy(update={"distinct2_ratio": 3.25, "most_frequent_text": "\x1b[0m|_&" * 20})
    return some.model_copy(update={"tasks": (xsum, some.tasks[1])})


def test_terminal(report: DiversityReport) -> None:
    """Both sides of each task, bars with a mark at 1, the mean, the most frequent prediction; all within the width."""
    shown = render_diversity(report, width=100)
    lines = shown.split("\n")
    assert lines[0] == "GLGE hard, test   predictions   output diversity"
    row = next(line for line in lines if line.startswith("coqa "))
    assert row.split() == ("coqa 1.00 1.11 predictions 68.75 100.00 17.50 48.00 60.00 73.33 0.00 10.00".split())
    assert "personachat  0.85  ██████████████████████████████████      │" in lines
    assert "D-2 ratio, mean of 8/8 tasks: 0.95" in lines
    assert "coqa: 3 of 30 lines, 10.00 % (most frequent reference: 3): yes" in lines
    for width in (40, 60, 80, 99, 100, 200):
        assert max(map(len, render_diversity(report, width=width).split("\n"))) <= width


def test_terminal_of_several(report: DiversityReport, odd: DiversityReport) -> None:
    """A table of ratios first, then each system."""
    lines = render_diversity([report, odd], width=120).split("\n")
    place = lines.index("Task            A     B")
    rows = [line.split() for line in lines[place + 2 : place + 11]]
    assert rows[0] == ["cnndm", "0.97", "–"]
    assert rows[2] == ["xsum", "0.95", "3.25"]
    assert rows[-1][0] == "mean"
    assert sum(line.startswith("D-2 ratio, mean of") for line in lines) == 2
    assert render_diversity([report] * 30, width=60)


def test_nothing_acts_on_the_screen(odd: DiversityReport) -> None:
    """Names and texts are made visible in every format; without color there is no escape code."""
    for format in FORMATS:
        for reports in (odd, [odd, odd]):
            shown = render_diversity(reports, format, width=100)
            assert "\x1b" not in shown
            assert shown.endswith("\n")
    assert json.loads(render_diversity(odd, "json"))["name"] == odd.name


def test_json_holds_everything(report: DiversityReport, odd: DiversityReport) -> None:
    """One report is itself and reads back equal; several are a list."""
    content = json.loads(render_diversity(report, "json"))
    assert DiversityReport.model_validate(content) == report
    both = json.loads(render_diversity([report, odd], "json"))
    assert [DiversityReport.model_validate(one) for one in both["systems"]] == [report, odd]
    assert list(both) == ["schema_version", "systems"]


def test_csv_is_long_and_unrounded(report: DiversityReport, odd: DiversityReport) -> None:
    """A row a figure, with the references' beside; formulas are defused."""
    rows = list(csv.DictReader(io.StringIO(render_diversity([report, odd], "csv", digits=0))))
    assert {row["system"] for row in rows} == {"predictions", "'=a|b_$x_1$ & \\x1b[31m%"}
    first = {(row["task"], row["name"]): row for row in rows if row["system"] == "predictions"}
    coqa = report.task("coqa")
    assert float(first["coqa", "distinct1"]["value"]) == coqa.of_predictions.distinct1
    assert float(first["coqa", "distinct1"]["reference"]) == coqa.of_references.distinct1
    assert float(first["", "distinct2_ratio"]["value"]) == report.mean_ratio
    assert first["coqa", "novel4"]["value"] == repr(coqa.of_predictions.novel[3])  # type: ignore[index]


def test_markdown_and_latex(report: DiversityReport, odd: DiversityReport) -> None:
    """Tables with as many cells in each row; the references in parentheses."""
    shown = render_diversity([report, odd], "markdown", digits=1)
    assert "| coqa | 1.0 | 1.1 | 68.8 (76.4) |" in shown
    tables = [line.replace("\\|", "") for line in shown.split("\n") if line.startswith("|")]
    assert {line.count("|") for line in tables} == {4, 12}
    assert "| D-2 ratio | predictions | =a\\|b\\_\\$x\\_1\\$ \\& \\\\x1b\\[31m% |" in shown
    shown = render_diversity([report, odd], "latex")
    assert shown.count(r"\begin{tabular}") == shown.count(r"\end{tabular}") == 3
    assert r"coqa & 1.00 & 1.11 & 68.75 (76.39) & 100.00 (100.00) &" in shown
    assert r"D-2 ratio & predictions & =a\textbar{}b\_\$x\_1\$ \& \textbackslash{}x1b{[}31m\% \\" in shown
    body = [line for line in shown.split("\n") if line.endswith(r"\\")]
    assert "–" not in "".join(body)


def test_wrong_wishes(report: DiversityReport) -> None:
    """An unknown format, digits out of range, nothing to show."""
    with pytest.raises(GlgeError, match="unknown format 'jsn'; did you mean 'json'"):
        render_diversity(report, "jsn")
    with pytest.raises(GlgeError, match="digits is out of range"):
        render_diversity(report, digits=18)
    with pytest.raises(GlgeError, match="there is no diversity report to show"):
        render_diversity([])


# --- no reference text ----------------------------------------------------------------------------


@pytest.fixture
def secret(data: Path) -> DiversityReport:
    """References and sources that hold a word which may not come out, the same line over and over."""
    for file in (*data.rglob("test.tgt"), *data.rglob("test.src")):
        count = file.read_text(encoding="utf-8").count("\n")
        file.write_text(f"{SENTINEL} {SENTINEL} was here .\n" * count, encoding="utf-8")
    return measure(data=data, tasks=["xsum", "coqa", "cnndm", "personachat"])


def test_no_reference_text_in_any_output(secret: DiversityReport) -> None:
    """Not in the report, not in any format."""
    assert secret.task("coqa").of_references.most_frequent == 30
    assert SENTINEL not in secret.model_dump_json()
    for format in FORMATS:
        for reports in (secret, [secret, secret]):
            assert SENTINEL not in render_diversity(reports, format, width=100)


def test_no_reference_text_in_messages(data: Path) -> None:
    """Not when references and sources do not fit either."""
    for file in (*data.rglob("test.tgt"), *data.rglob("test.src")):
        file.write_text(f"{SENTINEL}\n" * 3, encoding="utf-8")
    with pytest.raises(SubmissionError) as error:
        measure(data=data)
    assert SENTINEL not in str(error.value) + str(error.value.problems)


# --- the picture ----------------------------------------------------------------------------------

BEGINNINGS = {"png": b"\x89PNG\r\n\x1a\n", "svg": b"<?xml"}


@pytest.mark.parametrize("kind", ["png", "svg"])
@pytest.mark.parametrize("count", [1, 2, 5, 10])
def test_the_picture_is_made_and_always_the_same(
    report: DiversityReport, odd: DiversityReport, tmp_path: Path, kind: str, count: int
) -> None:
    """PNG and SVG, one system or several: the same bytes twice, no date, no warning."""
    matplotlib = pytest.importorskip("matplotlib")
    systems = [report, odd][:count] * max(1, count // 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot_diversity(systems if count > 1 else report, tmp_path / f"a.{kind}")
    with matplotlib.rc_context({"font.size": 30, "svg.hashsalt": "other", "axes.facecolor": "red"}):
        plot_diversity(systems, tmp_path / f"b.{kind}")
        assert matplotlib.rcParams["font.size"] == 30  # the user's settings stay
    made = (tmp_path / f"a.{kind}").read_bytes()
    assert made.startswith(BEGINNINGS[kind])
    assert made == (tmp_path / f"b.{kind}").read_bytes()
    assert b"dc:date" not in made
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a.{kind}", f"b.{kind}"]


def test_the_picture_of_nothing(report: DiversityReport) -> None:
    """No task, no ratio, a name in a script that the font lacks, a name that is long."""
    pytest.importorskip("matplotlib")
    empty = report.model_copy(update={"tasks": (), "mean_ratio": None, "measured": 0})
    none = tuple(task.model_copy(update={"distinct2_ratio": None}) for task in report.tasks)
    for one in (
        empty,
        report.model_copy(update={"tasks": none, "mean_ratio": None, "measured": 0}),
        report.model_copy(update={"name": "試験\n" * 40}),
    ):
        assert draw_diversity([one], "png").startswith(BEGINNINGS["png"])


def test_the_picture_says_what_it_shows(report: DiversityReport) -> None:
    """The text of an SVG stands in its comments: titles of tasks, the line, the figures; no reference."""
    pytest.importorskip("matplotlib")
    shown = draw_diversity([report], "svg").decode()
    for words in ("PersonaChat", "SQuAD 1.1 QG", "Mean", "as the references", "0.85", "GLGE hard, test"):
        assert words in shown, words


def test_no_reference_text_in_the_picture(secret: DiversityReport) -> None:
    """Only names and figures are drawn."""
    pytest.importorskip("matplotlib")
    assert SENTINEL not in draw_diversity([secret], "svg").decode()


def test_other_endings_are_refused(report: DiversityReport, tmp_path: Path) -> None:
    """One line that says which are known; nothing is written."""
    for name in ("plot.pdf", "plot"):
        with pytest.raises(GlgeError, match=r"a plot is a PNG or an SVG; give a name that ends in .png or .svg"):
            plot_diversity(report, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib(report: DiversityReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install."""
    real = builtins.__import__

    def absent(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(MissingResource) as error:
        plot_diversity(report, tmp_path / "plot.png")
    assert str(error.value) == "matplotlib is not installed; pip install 'glge[plots]'"


def test_a_picture_that_cannot_be_written(report: DiversityReport, tmp_path: Path) -> None:
    """A missing folder is one line."""
    pytest.importorskip("matplotlib")
    with pytest.raises(GlgeError, match="nothing was written: the folder does not exist"):
        plot_diversity(report, tmp_path / "nowhere" / "plot.svg")


def test_figures_of_a_task_are_those_of_the_model() -> None:
    """Every figure that is measured has its place in the report."""
    assert set(glge.diversity.Diversity.__dataclass_fields__) <= set(TaskDiversity.model_fields)
