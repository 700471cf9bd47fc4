"""What every report says the same way: figures, missing ones, the reasons, and text that is not ours."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from glge.errors import SEVERITIES, Problem
from glge.results import Interval, Report, Resamples, Score, TaskResult

MISSING = "–"
SCRIPT_DIGITS = 2
NOT_SUBMITTED = "not submitted"
BESIDE = "in parentheses: not in the mean"

# Controls, invisible format characters (direction overrides among them), lone surrogates, Unicode line ends.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


@dataclass(frozen=True)
class Look:
    """How a report is to look. Every renderer takes one and uses what concerns it."""

    width: int | None = None
    color: bool = False
    signatures: bool = False
    intervals: bool = False
    digits: int = 2


def visible(text: str) -> str:
    r"""The text on one line, with every character that could act on the reader's screen written out.

    >>> visible("coqa\x1b[31m.hard\ntest")
    'coqa\\x1b[31m.hard\\ntest'
    >>> visible("naïve – 試験")
    'naïve – 試験'
    >>> visible("")
    ''
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(char.encode("unicode_escape").decode("ascii") if unseen(char) else char for char in text)


def unseen(char: str) -> bool:
    """Whether this character could move a cursor, hide text or start a line."""
    return unicodedata.category(char) in _UNSEEN


def figure(value: float | None, digits: int) -> str:
    """The value with so many digits behind the point, or the dash of a missing one.

    >>> figure(45.125, 1), figure(0.0, 2), figure(None, 2)
    ('45.1', '0.00', '–')
    """
    return MISSING if value is None else f"{value:.{digits}f}"


def score_figure(score: Score, digits: int) -> str:
    """The score's figure; with two digits the very one the benchmark's script prints.

    The script rounds twice (5 decimals, then 2), which now and then gives another last digit. Its Distinct
    is on another scale and is not used.
    """
    if digits == SCRIPT_DIGITS and score.printed is not None and not score.metric.startswith("distinct"):
        return score.printed
    return figure(score.value, digits)


def ends(interval: Interval, digits: int) -> str:
    """Both ends of an interval: `[44.90, 45.33]`."""
    return f"[{figure(interval.low, digits)}, {figure(interval.high, digits)}]"


def shown_interval(report: Report, of: Score | TaskResult | Report, look: Look) -> str:
    """The interval to show behind a figure, or nothing: the bootstrap's where it was asked for, else ROUGE's own.

    `[undefined]` where the bootstrap was asked for and there is nothing to resample (the notes say why).
    """
    if report.resampling is not None:
        if of.ci is not None:
            return ends(of.ci, look.digits)
        return "" if of.value is None or isinstance(of, Report) else "[undefined]"
    own = of.interval if isinstance(of, Score) and look.intervals else None
    return "" if own is None else ends(own, look.digits)


def resampled(resampling: Resamples) -> str:
    """`95 % intervals: 1,000 resamples, seed 12345`."""
    return f"{resampling.level:g} % intervals: {resampling.resamples:,} resamples, seed {resampling.seed}"


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]], right: Iterable[int] = (), gap: int = 2) -> list[str]:
    """Rows of cells as lines of text in columns; the columns in `right` are flush right.

    >>> aligned(("task", "F1"), [("coqa", "9.5")], right=[1])
    ['task   F1', 'coqa  9.5']
    """
    table = [list(header), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    flush = set(right)
    return [
        (" " * gap)
        .join(
            cell.rjust(width) if place in flush else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        .rstrip()
        for line in table
    ]


def quantity(count: int, one: str, many: str | None = None) -> str:
    """A number and its noun.

    >>> quantity(1, "line"), quantity(4049, "line")
    ('1 line', '4,049 lines')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def by_task(report: Report) -> list[tuple[str, TaskResult | None]]:
    """Every task (or those asked for) in order, with None for one that was not scored; any other after them."""
    rows: list[tuple[str, TaskResult | None]] = []
    for name in report.expected_tasks if report.selected_tasks is None else report.selected_tasks:
        results = [result for result in report.tasks if result.task == name]
        rows += [(name, result) for result in results] or [(name, None)]
    rows += [(result.task, result) for result in report.tasks if all(result.task != name for name, _ in rows)]
    return [(visible(name), result) for name, result in rows]


def apart(scores: Iterable[Score]) -> tuple[list[Score], list[Score]]:
    """The scores that enter the task's mean, and those that stand beside."""
    counted: list[Score] = []
    beside: list[Score] = []
    for score in scores:
        (counted if score.counted else beside).append(score)
    return counted, beside


def heading(report: Report) -> list[str]:
    """What the figures are about, in pieces: `GLGE hard, test`, `official profile`, `figures 0-100`."""
    where = f"{visible(report.benchmark)} {visible(report.level)}, {visible(report.split)}"
    facts = [where, f"{visible(report.profile)} profile", "figures 0-100"]
    return facts if report.resampling is None else [*facts, resampled(report.resampling)]


def standard_error(report: Report, look: Look) -> str:
    """`standard error 0.21` of the overall score; empty when it has none."""
    if report.ci is None or report.ci.standard_error is None:
        return ""
    return f"standard error {figure(report.ci.standard_error, look.digits)}"


def overall_name(report: Report) -> str:
    """`GLGE score (hard, test)`."""
    return f"{visible(report.benchmark)} score ({visible(report.level)}, {visible(report.split)})"


def coverage(report: Report) -> str:
    """`8/8 tasks`, or `7/8 tasks: missing coqa`."""
    absent = [name for name, result in by_task(report) if result is None]
    return f"{report.coverage} tasks" + (f": missing {', '.join(absent)}" if absent else "")


def reasons(report: Report) -> list[str]:
    """Why figures are missing or not what one expects: one sentence a cause, with the tasks it concerns."""
    missing: dict[str, list[str]] = {}
    noted: dict[str, list[str]] = {}
    for name, result in by_task(report):
        for score in result.scores if result is not None else ():
            if score.value is None:
                why = f": {visible(score.missing)}" if score.missing else ""
                missing.setdefault(f"{visible(score.shown)} is missing{why}", []).append(name)
        for note in result.notes if result is not None else ():
            noted.setdefault(visible(note), []).append(name)
    return [f"{why} ({', '.join(dict.fromkeys(names))})" for why, names in [*missing.items(), *noted.items()]]


def all_signatures(report: Report) -> list[tuple[str, str, str]]:
    """Task, display name and signature of every metric."""
    return [
        (name, visible(score.shown), visible(score.signature))
        for name, result in by_task(report)
        for score in (result.scores if result is not None else ())
    ]


def by_severity(problems: Sequence[Problem]) -> list[Problem]:
    """Errors, then warnings, then notes, each in the order they were found."""
    return [problem for severity in SEVERITIES for problem in problems if problem.severity == severity]


def places(problem: Problem) -> str:
    """Where, and how often; empty when there is nothing to add to a single fault.

    >>> places(Problem("x", "note", "odd", count=12, places=(3, 9)))
    '12 lines, first 3, 9'
    >>> places(Problem("x", "note", "odd", places=(7,))), places(Problem("x", "note", "odd", count=2, places=(7, 9)))
    ('line 7', 'lines 7, 9')
    >>> places(Problem("x", "note", "odd", count=12)), places(Problem("x", "note", "odd"))
    ('12 times', '')
    """
    known = ", ".join(map(str, problem.places))
    if not known:
        return quantity(problem.count, "time") if problem.count > 1 else ""
    if problem.count > len(problem.places):
        return f"{quantity(problem.count, 'line')}, first {known}"
    return f"{'line' if len(problem.places) == 1 else 'lines'} {known}"


def counts(problems: Sequence[Problem]) -> dict[str, int]:
    """How many problems of each severity."""
    return {severity: sum(problem.severity == severity for problem in problems) for severity in SEVERITIES}


def tally(problems: Sequence[Problem]) -> str:
    """The counts in words: `2 errors, 1 warning, 3 notes`, or `no problems found`."""
    found = [quantity(count, severity) for severity, count in counts(problems).items() if count]
    return ", ".join(found) or "no problems found"
