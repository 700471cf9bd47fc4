"""Systems beside each other: a row a metric, the differences to the first system, and how sure they are.

Marks follow the corrected p-values: * below 0.05, ** below 0.01, *** below 0.001. Nothing is computed here.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Iterator, Sequence

from glge.errors import GlgeError, did_you_mean
from glge.reports.as_latex import escaped as latex
from glge.reports.as_markdown import escaped as markdown
from glge.reports.wording import MISSING, aligned, ends, figure, quantity, visible
from glge.results import Comparison, Difference, Row, TaskComparison

FORMATS = ("terminal", "json", "csv", "markdown", "latex")
COLUMNS = (
    "task", "name", "shown", "counted", "system", "value", "difference", "ci_low", "ci_high", "p", "p_adjusted",
)  # fmt: skip
MARKS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
LEGEND = "* p < 0.05   ** p < 0.01   *** p < 0.001"


def render_comparison(
    comparison: Comparison,
    format: str = "terminal",
    *,
    width: int | None = None,
    color: bool = False,
    digits: int = 2,
) -> str:
    """The comparison in one of FORMATS, ending in a newline; figures are on the 0-100 scale.

    `digits`, and in the terminal `width` and `color`, are as for `render`. GlgeError for an unknown format.
    """
    if format not in FORMATS:
        raise GlgeError(f"unknown format {format!r}", hint=did_you_mean(format, FORMATS))
    if format == "json":
        return json.dumps(comparison.model_dump(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if format == "csv":
        return _csv(comparison)
    if format == "markdown":
        return _markdown(comparison, digits)
    if format == "latex":
        return _latex(comparison, digits)
    return _terminal(comparison, digits, width, color)


def mark(difference: Difference | None) -> str:
    """`*`, `**`, `***` by the corrected p-value, or nothing."""
    p = None if difference is None else difference.p_adjusted
    return "" if p is None else next((stars for bound, stars in MARKS if p < bound), "")


def how(comparison: Comparison) -> list[str]:
    """The test in words, in pieces."""
    drawn = comparison.resampling
    return [
        comparison.test,
        f"{drawn.resamples:,} resamples, seed {drawn.seed}",
        "p two-sided, Holm-corrected over the tasks (means) and over all metrics",
    ]


def rows_of(comparison: Comparison) -> Iterator[tuple[TaskComparison | None, Row]]:
    """Task and row: each task's mean and metrics that count, then those beside; the overall score last."""
    for task in comparison.tasks:
        yield task, task.mean
        yield from ((task, row) for row in sorted(task.metrics, key=lambda row: not row.counted))
    yield None, comparison.overall


def _letters(count: int) -> list[str]:
    return [chr(ord("A") + place) if count <= 26 else f"S{place + 1}" for place in range(count)]


def _signed(value: float, digits: int) -> str:
    text = f"{value:+.{digits}f}"
    return text.replace("-", "") if float(text) == 0 else text  # no -0.00


def _p(value: float | None) -> str:
    return MISSING if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def _where(comparison: Comparison) -> str:
    levels = dict.fromkeys(system.level for system in comparison.systems)
    return f"{visible(comparison.benchmark)} {visible('/'.join(levels))}, {visible(comparison.split)}"


def _terminal(comparison: Comparison, digits: int, width: int | None, color: bool) -> str:
    from glge.reports.as_terminal import paragraphs  # noqa: PLC0415 - only the terminal loads rich

    room = width if width is not None else shutil.get_terminal_size((80, 24)).columns
    letters = _letters(len(comparison.systems))
    head = [[_where(comparison), f"{visible(comparison.profile)} profile", "figures 0-100"], how(comparison)]
    systems = [f"{letter}  {visible(system.name)}" for letter, system in zip(letters, comparison.systems, strict=True)]
    table = _grid(comparison, letters, digits, intervals=True)
    if max(map(len, table)) > room:
        table = _grid(comparison, letters, digits, intervals=False)
    if max(map(len, table)) > room:
        table = _stacked(comparison, letters, digits)
    count = len(comparison.tasks)
    left = [] if count == len(comparison.expected_tasks) else [_coverage(comparison)]
    rest = [LEGEND, *left, *(visible(problem.message) for problem in _said(comparison))]
    return paragraphs(
        [["   ".join(pieces) for pieces in head], systems, table, rest], width=room, color=color, folded=(0, 1, 3)
    )


def _said(comparison: Comparison) -> list:  # type: ignore[type-arg]
    return [problem for problem in comparison.problems if problem.code in ("task-left-out", "levels-differ")]


def _coverage(comparison: Comparison) -> str:
    compared = len(comparison.tasks)
    return f"{compared} of {quantity(len(comparison.expected_tasks), 'task')} compared: there is no overall score"


def _grid(comparison: Comparison, letters: Sequence[str], digits: int, *, intervals: bool) -> list[str]:
    header = ["Task", "Metric", *letters]
    for letter in letters[1:]:
        header += [f"{letter}-{letters[0]}", "", *(["interval"] if intervals else []), "p"]
    cells = []
    before = ""
    for task, row in rows_of(comparison):
        name = visible(comparison.benchmark) if task is None else visible(task.task)
        shown = "score" if task is None else visible(row.shown) if row.counted else f"({visible(row.shown)})"
        line = ["" if name == before else name, shown, *(figure(value, digits) for value in row.values)]
        for difference in row.differences[1:]:
            if difference is None:
                line += [MISSING, "", *([""] if intervals else []), ""]
                continue
            line += [_signed(difference.value, digits), mark(difference)]
            if intervals:
                line.append("" if difference.ci is None else ends(difference.ci, digits))
            line.append(_p(difference.p_adjusted if row.counted else difference.p))
        before = name
        cells.append(line)
    step = 4 if intervals else 3
    first = 2 + len(letters)
    marks = {first + 1 + step * place for place in range(len(letters) - 1)}
    right = [place for place in range(2, len(header)) if place not in marks]
    lines = aligned(header, cells, right)
    return [lines[0], "-" * max(map(len, lines)), *lines[1:]]


def _stacked(comparison: Comparison, letters: Sequence[str], digits: int) -> list[str]:
    """For narrow terminals: a line a system."""
    lines = []
    for task, row in rows_of(comparison):
        name = visible(comparison.benchmark) if task is None else visible(task.task)
        lines.append(f"{name} {'score' if task is None else visible(row.shown)}")
        for letter, value, difference in zip(letters, row.values, row.differences, strict=True):
            tail = ""
            if difference is not None:
                p = _p(difference.p_adjusted if row.counted else difference.p)
                tail = f" {_signed(difference.value, digits)}{mark(difference)} p {p}"
            lines.append(f"  {letter} {figure(value, digits)}{tail}")
    return lines


def _csv(comparison: Comparison) -> str:
    stream = io.StringIO()
    columns = (
        "task",
        "name",
        "shown",
        "counted",
        "system",
        "value",
        "difference",
        "ci_low",
        "ci_high",
        "p",
        "p_adjusted",
    )
    writer = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
    writer.writeheader()
    for task, row in rows_of(comparison):
        for system, value, difference in zip(comparison.systems, row.values, row.differences, strict=True):
            line = {
                "task": "" if task is None else visible(task.task),
                "name": row.name,
                "shown": visible(row.shown),
                "counted": "true" if row.counted else "false",
                "system": ("'" if system.name[:1] in ("=", "+", "-", "@") else "") + visible(system.name),
                "value": value,
            }
            if difference is not None:
                line |= {"difference": difference.value, "p": difference.p, "p_adjusted": difference.p_adjusted}
                if difference.ci is not None:
                    line |= {"ci_low": difference.ci.low, "ci_high": difference.ci.high}
            writer.writerow(line)
    return stream.getvalue()


def _compact(row: Row, place: int, digits: int) -> tuple[str, str]:
    """The value of a system, and its difference with the mark: `45.10`, `+0.31**`."""
    difference = row.differences[place]
    return figure(row.values[place], digits), (
        "" if difference is None else f"{_signed(difference.value, digits)}{mark(difference)}"
    )


def _markdown(comparison: Comparison, digits: int) -> str:
    names = [markdown(system.name) for system in comparison.systems]
    lines = ["| Task | Metric | " + " | ".join(names) + " |", "|:--|:--|" + "--:|" * len(names)]
    for task, row in rows_of(comparison):
        name = markdown(comparison.benchmark) if task is None else markdown(task.task)
        shown = markdown(row.shown if row.counted else f"({row.shown})") if task is not None else "score"
        cells = []
        for place in range(len(names)):
            value, difference = _compact(row, place, digits)
            cells.append(f"{value} ({markdown(difference)})" if difference else value)
        lines.append(f"| {name} | {shown} | " + " | ".join(cells) + " |")
    facts = [_where(comparison), *how(comparison), f"differences to {comparison.systems[0].name}", LEGEND]
    lines += ["", markdown("; ".join(facts))]
    lines += ["", *(f"- {markdown(problem.message)}" for problem in _said(comparison))] if _said(comparison) else []
    return "\n".join(lines) + "\n"


def _latex(comparison: Comparison, digits: int) -> str:
    facts = [_where(comparison), *how(comparison), f"differences to {comparison.systems[0].name}", LEGEND]
    lines = [f"% {visible(fact)}" for fact in facts]
    lines += [f"% {visible(problem.message)}" for problem in _said(comparison)]
    lines += [r"% needs \usepackage{booktabs}"]
    lines += [rf"\begin{{tabular}}{{@{{}}ll{'r' * len(comparison.systems)}@{{}}}}", r"\toprule"]
    lines.append("Task & Metric & " + " & ".join(latex(system.name) for system in comparison.systems) + r" \\")
    lines.append(r"\midrule")
    for task, row in rows_of(comparison):
        if task is None:
            lines.append(r"\midrule")
        name = latex(comparison.benchmark) if task is None else latex(task.task)
        shown = "score" if task is None else latex(row.shown if row.counted else f"({row.shown})")
        cells = []
        for place in range(len(comparison.systems)):
            value, _ = _compact(row, place, digits)
            stars = mark(row.differences[place])
            value = value.replace(MISSING, "--")
            cells.append(f"{value}$^{{{stars}}}$" if stars else value)
        lines.append(f"{name} & {shown} & " + " & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"
