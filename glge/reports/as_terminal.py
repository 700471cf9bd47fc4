"""The terminal: a table a row a task, the overall score, what is odd about the files, the signatures.

The figures decide the layout, never the other way round. The metrics of a task stand side by side and
fold onto further lines as the width asks; where not even two fit beside the task's name, the table gives
way to a stack. Lines break at blanks only, so a figure, a file name or a signature may stick out of a very
narrow terminal but is never cut.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.box import Box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from glge.errors import Problem
from glge.reports.wording import (
    BESIDE,
    MISSING,
    NOT_SUBMITTED,
    Look,
    all_signatures,
    apart,
    by_severity,
    by_task,
    coverage,
    figure,
    heading,
    overall_name,
    places,
    reasons,
    score_figure,
    shown_interval,
    standard_error,
    tally,
    visible,
)
from glge.results import Report, Score, TaskResult

FALLBACK_WIDTH = 80
NARROWEST = 20

_GAP = 3  # between the pieces of a line, and between the columns of the table
_NARROW_GAP = 2  # between metrics, where that saves a line
_FEWEST = 2  # metrics side by side in a table: below that it is a stack
_INDENT = 2
_ENDLESS = 1_000_000  # the console's own width: the layout is decided here, it must neither wrap nor cut
_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}
# One rule under the head, nothing else: light on a screen, and plain ASCII in a pipe.
_LIGHT = Box("    \n    \n ── \n    \n    \n    \n    \n    \n")
_PLAIN = Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)


def render(report: Report, look: Look) -> str:
    """The report for a terminal of `look.width` columns."""
    width = _width(look)
    title, *facts = heading(report)
    parts: list[list[Text | Table]] = [
        [*_folded([_styled(title, "bold"), *(_styled(fact, "dim") for fact in facts)], width)],
        [*_tasks(report, look, width)],
        [*_overall(report, look, width)],
    ]
    if report.problems:
        parts += [[*_problems(report.problems, width)], [*_tally(report.problems, width)]]
    if look.signatures:
        parts.append([*_signatures(report)])
    return _printed(parts, look)


def render_problems(problems: Sequence[Problem], look: Look) -> str:
    """The problems for a terminal of `look.width` columns, their tally last."""
    width = _width(look)
    parts: list[list[Text | Table]] = [[*_problems(problems, width)], [*_tally(problems, width)]]
    return _printed(parts, look)


def paragraphs(parts: Sequence[Sequence[str]], *, width: int, color: bool, folded: Sequence[int] = ()) -> str:
    """Paragraphs of plain lines, a blank line between them; those in `folded` are broken at the width."""
    pieces: list[list[Text | Table]] = []
    for place, part in enumerate(parts):
        texts = [Text(line) for line in part]
        pieces.append(
            [*(piece for text in texts for piece in _wrapped(text, max(NARROWEST, width), _INDENT))]
            if place in folded
            else [*texts]
        )
    return _printed(pieces, Look(width=width, color=color))


def _width(look: Look) -> int:
    wide = look.width if look.width is not None else shutil.get_terminal_size((FALLBACK_WIDTH, 24)).columns
    return max(NARROWEST, wide)


def _printed(parts: Iterable[Sequence[Text | Table]], look: Look) -> str:
    # Markup, emoji codes and highlighting are off: text is text. NO_COLOR, FORCE_COLOR and TERM are the
    # caller's to read; here `color` alone decides.
    console = Console(
        file=io.StringIO(),
        width=_ENDLESS,
        force_terminal=look.color,
        color_system="standard" if look.color else None,
        no_color=not look.color,
        force_jupyter=False,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
    )
    blocks = []
    for part in parts:
        if part:
            with console.capture() as captured:
                for piece in part:
                    console.print(piece, soft_wrap=isinstance(piece, Text))
            blocks.append("".join(line.rstrip(" ") + "\n" for line in captured.get().removesuffix("\n").split("\n")))
    return "\n".join(blocks)


def _styled(text: str, style: str) -> Text:
    # The style covers these characters only: a style given to Text itself would spread to what is appended.
    return Text.assemble((text, style))


@dataclass(frozen=True)
class _Cell:
    """One metric: its name, its figure as shown (`45.12`, `(45.12)`, `–`), its interval as shown or nothing."""

    name: str
    value: str
    interval: str
    style: str

    @classmethod
    def of(cls, score: Score, report: Report, look: Look) -> _Cell:
        value = score_figure(score, look.digits)
        interval = shown_interval(report, score, look)
        style = "" if score.counted and score.value is not None else "dim"
        return cls(visible(score.shown), value if score.counted else f"({value})", interval, style)


_Lines = list[list[Text]]  # for each task its lines
_Rows = Sequence[tuple[str, TaskResult | None]]


def _tasks(report: Report, look: Look, width: int) -> Iterable[Text | Table]:
    rows = by_task(report)
    if not rows:
        return
    counted: list[list[_Cell]] = []
    beside: list[list[_Cell]] = []
    for _, result in rows:
        for cells, scores in zip((counted, beside), apart(result.scores if result is not None else ()), strict=True):
            cells.append([_Cell.of(score, report, look) for score in scores])
    means = _means(rows, report, look)
    names = max(cell_len(name) for name in ["Task", *(name for name, _ in rows)])
    room = width - names - max(map(len, ["Mean", *means])) - 2 * _GAP

    together = [[*first, *second] for first, second in zip(counted, beside, strict=True)]
    across = min(_FEWEST, max(map(len, counted)))
    if (lines := _grid(together, max(map(len, together)), _GAP)) and _widest(lines) <= room:
        yield _table(rows, lines, means, look)
    elif max(_widest(_grid(counted, across, _GAP)), _widest(_grid(beside, across, _GAP))) <= room:
        # What does not fit on one line puts the metrics that stand beside on a line of their own.
        yield _table(rows, _joined(_fitting(counted, room), _fitting(beside, room)), means, look)
    else:
        room = width - _INDENT
        yield from _stack(rows, _joined(_fitting(counted, room), _fitting(beside, room)), means)
    if any(beside):
        yield from _wrapped(Text(BESIDE, "dim"), width, indent=0)


def _means(rows: _Rows, report: Report, look: Look) -> list[str]:
    """The mean of each task with its interval, if it has one; figures stand under figures."""
    values = [figure(result.value if result is not None else None, look.digits) for _, result in rows]
    found = [shown_interval(report, result, look) if result is not None else "" for _, result in rows]
    longest = max(map(len, found))
    if not longest:
        return values
    return [f"{value} {interval.ljust(longest)}" for value, interval in zip(values, found, strict=True)]


def _grid(tasks: Sequence[Sequence[_Cell]], across: int, gap: int) -> _Lines:
    """The metrics in columns, `across` of them a line: names left, figures right, over all tasks."""
    across = max(across, 1)
    folded = [[cells[at : at + across] for at in range(0, len(cells), across)] for cells in tasks]
    lines = [line for task in folded for line in task]
    columns = [[line[at] for line in lines if len(line) > at] for at in range(max(map(len, lines), default=0))]
    names = [max(cell_len(cell.name) for cell in column) for column in columns]
    intervals = [max(len(cell.interval) for cell in column) for column in columns]
    # A parenthesis behind a figure must not push it out of line with the figures above.
    closed = [any(cell.value.endswith(")") for cell in column) for column in columns]
    values = [max(len(_closed(cell, shut)) for cell in column) for column, shut in zip(columns, closed, strict=True)]
    texts: _Lines = []
    for task in folded:
        texts.append([])
        for line in task:
            text = Text()
            for at, cell in enumerate(line):
                text.append(" " * gap if at else "")
                text.append(cell.name + " " * (names[at] - cell_len(cell.name) + 1), "dim")
                text.append(_closed(cell, closed[at]).rjust(values[at]), cell.style)
                if intervals[at]:
                    text.append(" " + cell.interval.ljust(intervals[at]), "dim")
            text.rstrip()
            texts[-1].append(text)
    return texts


def _closed(cell: _Cell, closed: bool) -> str:
    return cell.value + (" " if closed and not cell.value.endswith(")") else "")


def _fitting(tasks: Sequence[Sequence[_Cell]], room: int) -> _Lines:
    """The grid with as many metrics a line as there is room for, one at least."""
    for across in range(max(map(len, tasks)), 1, -1):
        for gap in (_GAP, _NARROW_GAP):
            lines = _grid(tasks, across, gap)
            if _widest(lines) <= room:
                return lines
    return _grid(tasks, 1, _GAP)


def _widest(lines: _Lines) -> int:
    return max((cell_len(line.plain) for task in lines for line in task), default=0)


def _joined(first: _Lines, second: _Lines) -> _Lines:
    return [[*above, *below] for above, below in zip(first, second, strict=True)]


def _table(rows: _Rows, texts: list[list[Text]], means: list[str], look: Look) -> Table:
    table = Table(
        box=_LIGHT if look.color else _PLAIN,
        show_edge=False,
        pad_edge=False,
        header_style="dim",
        border_style="dim",
    )
    table.add_column("Task", no_wrap=True)
    table.add_column("Metrics", no_wrap=True)
    table.add_column("Mean", no_wrap=True, justify="right")
    for (name, result), lines, mean in zip(rows, texts, means, strict=True):
        metrics = Text("\n").join(lines) if result is not None else Text(NOT_SUBMITTED)
        table.add_row(
            Text(name),
            metrics,
            Text(mean, "dim" if mean.strip() == MISSING else "bold"),
            style="dim" if result is None else None,
        )
    return table


def _stack(rows: _Rows, texts: list[list[Text]], means: list[str]) -> Iterable[Text]:
    both = [(name, mean) for (name, _), mean in zip(rows, means, strict=True)]
    longest = max(
        _widest(texts) + _INDENT, *(cell_len(name) + len(mean) + 2 for name, mean in [("Task", "Mean"), *both])
    )
    yield Text("Task" + "Mean".rjust(longest - len("Task")), "dim")
    for (name, result), lines, mean in zip(rows, texts, means, strict=True):
        missing = mean.strip() == MISSING
        gap = " " * (longest - cell_len(name) - len(mean))
        yield Text.assemble((name, "dim" if result is None else ""), gap, (mean, "dim" if missing else "bold"))
        if result is None:
            yield Text(" " * _INDENT + NOT_SUBMITTED, "dim")
        yield from (Text(" " * _INDENT) + line for line in lines)


def _overall(report: Report, look: Look, width: int) -> Iterable[Text]:
    value = figure(report.value, look.digits)
    score = Text.assemble(
        (f"{overall_name(report)}: ", "bold"), (value, "bold green" if report.value is not None else "dim")
    )
    if interval := shown_interval(report, report, look):
        score.append(f" {interval}", "dim")
    pieces = [score, Text(coverage(report))]
    if error := standard_error(report, look):
        pieces.append(Text(error, "dim"))
    yield from _folded(pieces, width)
    for reason in reasons(report):
        yield from _wrapped(Text(reason), width, indent=_INDENT)


def _problems(problems: Sequence[Problem], width: int) -> Iterable[Text]:
    label_width = max((len(problem.severity) for problem in problems), default=0)
    indent = label_width + 2
    for problem in by_severity(problems):
        text = _styled(problem.severity, _STYLES[problem.severity])
        text.append(" " * (indent - len(problem.severity)))
        if where := problem.file or problem.task:
            text.append(f"{visible(where)}: ", "bold")
        text.append(visible(problem.message))
        if found := places(problem):
            text.append(f" ({found})", "dim")
        yield from _wrapped(text, width, indent)
        if problem.hint:
            yield from _wrapped(Text(" " * indent + visible(problem.hint), "dim"), width, indent)


def _tally(problems: Sequence[Problem], width: int) -> Iterable[Text]:
    return _wrapped(Text(tally(problems), "bold" if problems else ""), width, indent=_INDENT)


def _signatures(report: Report) -> Iterable[Text]:
    found = all_signatures(report)
    if not found:
        return
    tasks = max(cell_len(task) for task, _, _ in found)
    names = max(cell_len(shown) for _, shown, _ in found)
    yield Text("Signatures", "bold")
    for task, shown, signature in found:
        before = task + " " * (tasks - cell_len(task) + 2) + shown + " " * (names - cell_len(shown) + 2)
        yield Text.assemble((before, "dim"), signature)


def _folded(pieces: Sequence[Text], width: int) -> Iterable[Text]:
    """The pieces on as few lines as hold them, `_GAP` apart; one that is too long alone is wrapped."""
    line = Text()
    for piece in pieces:
        if line and cell_len(line.plain) + _GAP + cell_len(piece.plain) > width:
            yield from _wrapped(line, width, _INDENT)
            line = Text()
        line = line + Text(" " * _GAP) + piece if line else piece
    yield from _wrapped(line, width, _INDENT)


def _wrapped(text: Text, width: int, indent: int) -> Iterable[Text]:
    """The text broken at blanks where the width asks for it, later lines indented; a long word stays whole."""
    plain = text.plain
    start = 0
    lead = 0
    while cell_len(plain[start:]) + lead > width:
        # The last blank that still fits, or else the first one there is, after the line's first word.
        first = start + len(plain[start:]) - len(plain[start:].lstrip(" "))
        if start == 0:
            first = max(first, min(indent, len(plain)))
        blanks = [at for at in range(first + 1, len(plain)) if plain[at] == " "]
        fitting = [at for at in blanks if cell_len(plain[start:at]) + lead <= width]
        if not blanks:
            break
        at = fitting[-1] if fitting else blanks[0]
        yield Text(" " * lead) + text[start:at]
        start = at + len(plain[at:]) - len(plain[at:].lstrip(" "))
        lead = indent
    yield Text(" " * lead) + text[start:]
