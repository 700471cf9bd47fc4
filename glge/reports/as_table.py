"""A table of systems with their task means and overall scores: what `glge score --from-table` shows.

Takes rows with `level`, `model`, `tasks` (name -> mean or None), `value`, `given` and `coverage`, as
`glge.board` makes them; computes nothing.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Protocol

from glge.reports.wording import MISSING, aligned, figure, visible
from glge.results import SCHEMA_VERSION


class Row(Protocol):
    """What a row must have; figures are 0-100 or None."""

    @property
    def level(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def tasks(self) -> dict[str, float | None]: ...
    @property
    def value(self) -> float | None: ...
    @property
    def given(self) -> float | None: ...
    @property
    def coverage(self) -> str: ...


def render_table(rows: Sequence[Row], tasks: Sequence[str], format: str, *, digits: int = 2) -> str:
    """All rows in one of the report formats, ending in a newline.

    `digits` concerns terminal, markdown and latex; json and csv hold the unrounded figures. "given" is
    the overall score the table itself states, for comparison.
    """
    if format == "json":
        content = {
            "schema_version": SCHEMA_VERSION,
            "rows": [
                {
                    "level": row.level,
                    "model": row.model,
                    "value": row.value,
                    "given": row.given,
                    "coverage": row.coverage,
                    "tasks": row.tasks,
                }
                for row in rows
            ],
        }
        return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    header = ["level", "model", *tasks, "GLGE", "given", "tasks"]
    places = None if format == "csv" else digits
    cells = [
        [
            visible(row.level),
            visible(row.model),
            *(_cell(row.tasks.get(task), places) for task in tasks),
            _cell(row.value, places),
            _cell(row.given, places),
            row.coverage,
        ]
        for row in rows
    ]
    if format == "csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([header, *([_as_text(cell) for cell in line] for line in cells)])
        return text.getvalue()
    if format == "markdown":
        lines = [header, ["---", "---", *["---:"] * (len(tasks) + 2), "---:"], *cells]
        return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)
    if format == "latex":
        body = "".join(" & ".join(_latex(cell) for cell in line) + " \\\\\n" for line in cells)
        head = " & ".join(_latex(name) for name in header) + " \\\\\n"
        columns = "ll" + "r" * (len(header) - 2)
        return (
            f"% needs \\usepackage{{booktabs}}\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n{head}\\midrule\n"
            f"{body}\\bottomrule\n\\end{{tabular}}\n"
        )
    return "".join(f"{line}\n" for line in aligned(header, cells, range(2, len(header))))


def _cell(value: float | None, digits: int | None) -> str:
    if digits is None:
        return "" if value is None else repr(value)
    return figure(value, digits)


def _as_text(cell: str) -> str:
    # A spreadsheet reads a leading = + - @ as a formula.
    return "'" + cell if cell[:1] in ("=", "+", "-", "@") else cell


_LATEX = {char: "\\" + char for char in "&%$#_{}"} | {
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "\\": "\\textbackslash{}",
    MISSING: "--",
}


def _latex(text: str) -> str:
    return "".join(_LATEX.get(char, char) for char in text)
