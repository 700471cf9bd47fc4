"""Output diversity as text: the paper's Figure 1 as a table, and what stands beside it. Nothing is computed here.

Ratios are plain (1: as the references), shares are in percent. Figures of the references are the yardstick; no text
of theirs is in a report, so none can be in what is written here.
"""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Iterator, Sequence

from glge.errors import GlgeError, did_you_mean
from glge.reports.as_csv import _text as cell
from glge.reports.as_json import _dumps
from glge.reports.as_latex import escaped as latex
from glge.reports.as_markdown import escaped as markdown
from glge.reports.wording import MISSING, aligned, figure, quantity, visible
from glge.results import SCHEMA_VERSION, DiversityReport, TaskDiversity, Variety

FORMATS = ("terminal", "json", "csv", "markdown", "latex")
COLUMNS = ("level", "split", "system", "task", "name", "value", "reference")
MOST_DIGITS = 17

RATIOS = ("D-2 ratio", "Length")
SHARES = ("D-1", "D-2", "Nov-1", "Nov-2", "Nov-3", "Nov-4", "Rep-3", "Same")
LEGEND = (
    "D-2 ratio: Distinct-2 of the predictions / of the references; 1: as varied as they",
    "Length: tokens of the predictions / of the references",
    "in percent: D-n different n-grams of all; Nov-n n-grams that are not in the line's source; "
    "Rep-3 trigrams that stood before in their line; Same lines that are identical to another",
)
_BAR = 40  # columns of the longest bar
_CUT = 2.0  # a bar of more than this is cut
_SHOWN = 60  # characters of a most frequent text


def render_diversity(
    reports: DiversityReport | Sequence[DiversityReport],
    format: str = "terminal",
    *,
    width: int | None = None,
    color: bool = False,
    digits: int = 2,
) -> str:
    """One system, or several beside each other, in one of FORMATS, ending in a newline.

    `digits`, and in the terminal `width` and `color`, are as for `render`; json and csv hold everything, unrounded.
    json is the report itself, or `{"schema_version", "systems": [reports]}` for several. GlgeError for an unknown
    format, for digits outside 0 … 17, for no report at all, and for a figure that json cannot hold.

    >>> common = {"glge_version": "0.1", "level": "hard", "split": "test", "expected_tasks": ()}
    >>> empty = DiversityReport(name="mine", tasks=(), **common)
    >>> print(render_diversity(empty, "csv"), end="")
    level,split,system,task,name,value,reference
    hard,test,mine,,distinct2_ratio,,
    >>> render_diversity(empty, "marked")
    Traceback (most recent call last):
    ...
    glge.errors.GlgeError: unknown format 'marked'; did you mean 'markdown'?
    """
    systems = as_list(reports)
    if format not in FORMATS:
        raise GlgeError(f"unknown format {format!r}", hint=did_you_mean(format, FORMATS))
    if not 0 <= digits <= MOST_DIGITS:
        raise GlgeError("digits is out of range", expected=f"0 to {MOST_DIGITS}", found=str(digits))
    if format == "json":
        if isinstance(reports, DiversityReport):
            return _dumps(reports.model_dump())
        return _dumps({"schema_version": SCHEMA_VERSION, "systems": [one.model_dump() for one in systems]})
    if format == "csv":
        return _csv(systems)
    if format == "markdown":
        return _markdown(systems, digits)
    if format == "latex":
        return _latex(systems, digits)
    return _terminal(systems, digits, width, color)


def as_list(reports: DiversityReport | Sequence[DiversityReport]) -> list[DiversityReport]:
    """One report or several as a list; GlgeError when there is none."""
    systems = [reports] if isinstance(reports, DiversityReport) else list(reports)
    if not systems:
        raise GlgeError("there is no diversity report to show")
    return systems


def task_names(systems: Sequence[DiversityReport]) -> list[str]:
    """The tasks that any of the systems has, in the order of the benchmark."""
    there = dict.fromkeys(task.task for one in systems for task in one.tasks)
    known = dict.fromkeys(name for one in systems for name in one.expected_tasks)
    return [name for name in known if name in there] + [name for name in there if name not in known]


def found(report: DiversityReport, name: str) -> TaskDiversity | None:
    """The figures of this task, or None."""
    return next((task for task in report.tasks if task.task == name), None)


def ratio(report: DiversityReport, name: str) -> float | None:
    """The Distinct-2 ratio of this task, or None."""
    task = found(report, name)
    return None if task is None else task.distinct2_ratio


def mean_name(report: DiversityReport) -> str:
    """`mean of 3/8 tasks`."""
    return f"mean of {report.measured}/{len(report.expected_tasks)} tasks"


# --- what all formats say -------------------------------------------------------------------------


def _shares(side: Variety, digits: int) -> list[str]:
    novel = side.novel or (None,) * 4
    values = (side.distinct1, side.distinct2, *novel, side.repeated_trigrams, side.identical_lines)
    return [figure(value, digits) for value in values]


def _ratios(task: TaskDiversity, digits: int) -> list[str]:
    return [figure(task.distinct2_ratio, digits), figure(task.length_ratio, digits)]


def _heading(report: DiversityReport) -> list[str]:
    where = f"{visible(report.benchmark)} {visible(report.level)}, {visible(report.split)}"
    return [where, visible(report.name), "output diversity"]


def _compared(systems: Sequence[DiversityReport], digits: int) -> list[list[str]]:
    """The ratios, a row a task and a column a system, and the means."""
    rows = [[visible(name), *(figure(ratio(one, name), digits) for one in systems)] for name in task_names(systems)]
    return [*rows, ["mean", *(figure(one.mean_ratio, digits) for one in systems)]]


def _universal(report: DiversityReport, digits: int) -> list[tuple[str, str, str]]:
    """Task, how often, and the prediction that stands most often; only where one stands twice."""
    rows = []
    for task in report.tasks:
        if task.most_frequent_text is not None:
            ours, theirs = task.of_predictions, task.of_references
            share = figure(100 * ours.most_frequent / ours.lines, digits)
            count = f"{ours.most_frequent:,} of {quantity(ours.lines, 'line')}, {share} %"
            count += f" (most frequent reference: {theirs.most_frequent:,})"
            text = task.most_frequent_text
            text = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
            rows.append((visible(task.task), count, visible(text) or "(empty)"))
    return rows


def _reasons(report: DiversityReport) -> list[str]:
    """Why a figure is missing, and what to know of the others: a sentence a cause, with its tasks."""
    causes: dict[str, list[str]] = {}
    for task in report.tasks:
        name = visible(task.task)
        ours, theirs = task.of_predictions, task.of_references
        if ours.distinct2 is None:
            causes.setdefault("no D-2 ratio: the predictions have no bigram", []).append(name)
        if theirs.distinct2 is None:
            causes.setdefault("no D-2 ratio: the references have no bigram", []).append(name)
        if task.length_ratio is None:
            causes.setdefault("no ratio of lengths: the references have no token", []).append(name)
        if ours.novel is None:
            causes.setdefault("no novel n-grams: the data has no sources", []).append(name)
        if ours.empty:
            causes.setdefault("empty predictions", []).append(f"{name} {ours.empty:,}")
    return [f"{why} ({', '.join(names)})" for why, names in causes.items()]


def _mean(report: DiversityReport, digits: int) -> str:
    return f"D-2 ratio, {mean_name(report)}: {figure(report.mean_ratio, digits)}"


# --- formats --------------------------------------------------------------------------------------


def _terminal(systems: Sequence[DiversityReport], digits: int, width: int | None, color: bool) -> str:
    from glge.reports.as_terminal import paragraphs  # noqa: PLC0415 - only the terminal loads rich

    room = width if width is not None else shutil.get_terminal_size((80, 24)).columns
    parts: list[list[str]] = []
    folded: list[int] = []

    def add(lines: list[str], fold: bool = False) -> None:
        if lines:
            folded.extend([len(parts)] if fold else [])
            parts.append(lines)

    if len(systems) > 1:
        add(["   ".join([_heading(systems[0])[0], "Distinct-2 of predictions / of references"])], fold=True)
        letters = [chr(ord("A") + place) if len(systems) <= 26 else f"S{place + 1}" for place in range(len(systems))]
        add(
            [
                f"{letter}  {visible(one.name)}   {visible(one.level)}   {mean_name(one)}"
                for letter, one in zip(letters, systems, strict=True)
            ],
            fold=True,
        )
        table = aligned(["Task", *letters], _compared(systems, digits), range(1, len(systems) + 1))
        fits = max(map(len, table)) <= room
        add(_ruled(table) if fits else list(_bars(systems, digits, room)))
    for one in systems:
        add(["   ".join(_heading(one))], fold=True)
        table = _ruled(_grid(one, digits))
        if max(map(len, table)) <= room:
            add(table)
        else:
            add(list(_stacked(one, digits)), fold=True)
        if len(systems) == 1:
            add(list(_bars(systems, digits, room)))
        add([_mean(one, digits)], fold=True)
        often = [f"{task}: {count}: {text}" for task, count, text in _universal(one, digits)]
        add(["Most frequent predictions", *often] if often else [], fold=True)
        add(_reasons(one), fold=True)
    add(list(LEGEND), fold=True)
    return paragraphs(parts, width=room, color=color, folded=folded)


def _ruled(table: list[str]) -> list[str]:
    return [table[0], "-" * max(map(len, table)), *table[1:]]


def _grid(report: DiversityReport, digits: int) -> list[str]:
    rows = []
    for task in report.tasks:
        rows.append([visible(task.task), *_ratios(task, digits), "predictions", *_shares(task.of_predictions, digits)])
        rows.append(["", "", "", "references", *_shares(task.of_references, digits)])
    return aligned(["Task", *RATIOS, "", *SHARES], rows, [1, 2, *range(4, 4 + len(SHARES))])


def _stacked(report: DiversityReport, digits: int) -> Iterator[str]:
    for task in report.tasks:
        named = [f"{name}={value}" for name, value in zip(RATIOS, _ratios(task, digits), strict=True)]
        yield f"{visible(task.task)}: {', '.join(named)}"
        for side, variety in (("predictions", task.of_predictions), ("references", task.of_references)):
            named = [f"{name}={value}" for name, value in zip(SHARES, _shares(variety, digits), strict=True)]
            yield f"  {side}: {' '.join(named)}"


def _bars(systems: Sequence[DiversityReport], digits: int, room: int) -> Iterator[str]:
    """The paper's bar chart: a bar a task (and system), a mark at 1."""
    rows = [(name, place, ratio(one, name)) for name in task_names(systems) for place, one in enumerate(systems)]
    if not rows:
        return
    label = max(len(visible(name)) for name, *_ in rows)
    shown = [figure(value, digits) for *_, value in rows]
    mark = max(map(len, shown))
    long = min(_CUT, max(1.0, *(value or 0.0 for *_, value in rows)))
    scale = max(8, min(_BAR, room - label - mark - 8)) / long
    one = round(scale)
    for (name, place, value), text in zip(rows, shown, strict=True):
        filled = round(min(value or 0.0, long) * scale)
        bar = "█" * filled
        if filled < one:
            bar += " " * (one - filled) + "│"
        elif filled > one:
            bar = "█" * one + "┃" + "█" * (filled - one - 1)
        bar += "→" if value is not None and value > long else ""
        first = visible(name) if place == 0 else ""
        letter = f"{chr(ord('A') + place) if len(systems) <= 26 else place + 1} " if len(systems) > 1 else ""
        yield f"{first.ljust(label)}  {letter}{text.rjust(mark)}  {bar}"


def _csv(systems: Sequence[DiversityReport]) -> str:
    """Long form: a row a figure; `value` is of the predictions or a ratio, `reference` of the references."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in systems:
        common = [cell(one.level), cell(one.split), cell(one.name)]
        for task in one.tasks:
            for name in ("distinct2_ratio", "distinct1_ratio", "length_ratio"):
                writer.writerow([*common, cell(task.task), name, getattr(task, name), None])
            ours, theirs = _named(task.of_predictions), _named(task.of_references)
            for name, value in ours.items():
                writer.writerow([*common, cell(task.task), name, value, theirs[name]])
        writer.writerow([*common, "", "distinct2_ratio", one.mean_ratio, None])
    return stream.getvalue()


def _named(side: Variety) -> dict[str, float | int | None]:
    novel = side.novel or (None,) * 4
    return {
        "distinct1": side.distinct1,
        "distinct2": side.distinct2,
        **{f"novel{order}": value for order, value in enumerate(novel, 1)},
        "repeated_trigrams": side.repeated_trigrams,
        "identical_lines": side.identical_lines,
        "most_frequent": side.most_frequent,
        "lines": side.lines,
        "empty": side.empty,
        "tokens": side.tokens,
    }


def _both(task: TaskDiversity, digits: int) -> list[str]:
    """Shares of the predictions, those of the references in parentheses."""
    pairs = zip(_shares(task.of_predictions, digits), _shares(task.of_references, digits), strict=True)
    return [ours if ours == theirs == MISSING else f"{ours} ({theirs})" for ours, theirs in pairs]


def _markdown(systems: Sequence[DiversityReport], digits: int) -> str:
    lines: list[str] = []

    def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        lines.append(f"| {' | '.join(header)} |")
        lines.append("|:--|" + "--:|" * (len(header) - 1))
        lines.extend(f"| {' | '.join(map(markdown, row))} |" for row in rows)
        lines.append("")

    if len(systems) > 1:
        table(["D-2 ratio", *(markdown(one.name) for one in systems)], _compared(systems, digits))
    for one in systems:
        lines += [markdown(", ".join(_heading(one))), ""]
        rows = [[visible(task.task), *_ratios(task, digits), *_both(task, digits)] for task in one.tasks]
        table(["Task", *RATIOS, *SHARES], rows)
        lines += [f"**{markdown(_mean(one, digits))}**", ""]
        notes = [*(f"{task}: {count}: {text}" for task, count, text in _universal(one, digits)), *_reasons(one)]
        lines += [*(f"- {markdown(note)}" for note in notes), *([""] if notes else [])]
    lines.append(markdown("; ".join([*LEGEND, "in parentheses: references"])))
    return "\n".join(lines) + "\n"


def _latex(systems: Sequence[DiversityReport], digits: int) -> str:
    lines = [r"% needs \usepackage{booktabs}; if it is too wide: table*, \small, \setlength{\tabcolsep}{3pt}"]
    lines += [f"% {line}" for line in (*LEGEND, "in parentheses: references")]

    def table(header: Sequence[str], rows: Sequence[Sequence[str]], ruled: bool = False) -> None:
        lines.extend([rf"\begin{{tabular}}{{@{{}}l{'r' * (len(header) - 1)}@{{}}}}", r"\toprule"])
        lines.extend([" & ".join(map(latex, header)) + r" \\", r"\midrule"])
        for place, row in enumerate(rows):
            if ruled and place == len(rows) - 1:
                lines.append(r"\midrule")
            lines.append(" & ".join(latex(text).replace(MISSING, "--") for text in row) + r" \\")
        lines.extend([r"\bottomrule", r"\end{tabular}"])

    if len(systems) > 1:
        table(["D-2 ratio", *(one.name for one in systems)], _compared(systems, digits), ruled=True)
    for one in systems:
        lines += [f"% {'; '.join(_heading(one))}; glge {visible(one.glge_version)}", f"% {_mean(one, digits)}"]
        lines += [f"% {task}: {count}: {text}" for task, count, text in _universal(one, digits)]
        lines += [f"% {reason}" for reason in _reasons(one)]
        rows = [[task.task, *_ratios(task, digits), *_both(task, digits)] for task in one.tasks]
        table(["Task", *RATIOS, *SHARES], rows)
    return "\n".join(lines) + "\n"
