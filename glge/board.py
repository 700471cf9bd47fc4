"""Tables of published figures -> overall scores: what `glge score --from-table FILE` computes.

Reads JSON (`{"rows": [{"level", "model", "overall"?, "tasks": {task: {metric: figure}}}]}`) or CSV (one
row a system; columns `level`, `model`, `overall` and `task.metric`). Figures are on the 0-100 scale,
Distinct already times 100. A task's score is the mean of its metrics, the overall score the mean of all
tasks with equal weights; a system without all tasks gets none.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from glge.errors import GlgeError, RegistryError, did_you_mean
from glge.results import mean_of
from glge.tasks import Benchmark, tasks_folder

PUBLISHED = "published"


@dataclass(frozen=True)
class BoardRow:
    """One system of a table, recomputed. Values 0-100; None where something is missing."""

    level: str
    model: str
    tasks: dict[str, float | None]
    value: float | None
    given: float | None = None
    expected: int = 8
    figures: dict[str, dict[str, float]] = field(default_factory=dict)

    @property
    def coverage(self) -> str:
        """For example '7/8': tasks with all their figures."""
        return f"{sum(value is not None for value in self.tasks.values())}/{self.expected}"


def read_table(file: str | Path, benchmark: Benchmark) -> list[BoardRow]:
    """Read a table and recompute every row; `published` is the leaderboard that comes with the package.

    Raises GlgeError, with the row, for an unknown task or metric, a figure that is no number or outside
    0-150, or a file that is neither JSON nor CSV of this form.
    """
    place = tasks_folder() / "published.json" if str(file) == PUBLISHED else Path(file)
    try:
        text = place.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise GlgeError(f"cannot read the table: {error.strerror}", file=str(place)) from None
    except UnicodeDecodeError:
        raise GlgeError("the table is not UTF-8", file=str(place)) from None
    rows = _json_rows(text, place) if text.lstrip()[:1] in ("{", "[") else _csv_rows(text, place)
    if not rows:
        raise GlgeError("the table has no rows", file=str(place))
    return [_recompute(row, number, place, benchmark) for number, row in enumerate(rows, 1)]


def _json_rows(text: str, place: Path) -> list[dict[str, Any]]:
    try:
        content = json.loads(text, object_pairs_hook=_no_duplicates)
    except json.JSONDecodeError as error:
        raise GlgeError(f"not readable as JSON: {error.msg}", file=str(place), line=error.lineno) from None
    except (ValueError, RecursionError):
        raise GlgeError("not readable as JSON: a number too long, or nested too deep", file=str(place)) from None
    except GlgeError as error:
        raise GlgeError(error.message, file=str(place)) from None
    rows = content.get("rows") if isinstance(content, dict) else content
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise GlgeError("expected a list of rows", file=str(place), hint='{"rows": [{"model": …, "tasks": …}]}')
    return rows


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise GlgeError(f"the key {twice[:40]!r} stands twice in one object")
    return found


def _csv_rows(text: str, place: Path) -> list[dict[str, Any]]:
    lines = list(csv.reader(text.split("\n")))
    header = lines[0] if lines else []
    if not any("." in name for name in header):
        raise GlgeError("no column names a metric", file=str(place), line=1, hint="name them task.metric: cnndm.rouge1")
    for name, count in Counter(header).items():
        if count > 1:
            raise GlgeError(f"the column {name[:40]!r} stands twice", file=str(place), line=1)
    rows = []
    for number, cells in enumerate(lines[1:], 2):
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(header):
            raise GlgeError(
                "wrong number of cells", file=str(place), line=number, expected=str(len(header)), found=str(len(cells))
            )
        row: dict[str, Any] = {"tasks": {}}
        for name, cell in zip(header, cells, strict=True):
            if "." in name:
                task, metric = name.split(".", 1)
                if cell.strip() not in ("", "-", "–"):
                    row["tasks"].setdefault(task, {})[metric] = cell
            else:
                row[name] = cell
        rows.append(row)
    return rows


def _recompute(row: dict[str, Any], number: int, place: Path, benchmark: Benchmark) -> BoardRow:
    model = str(row.get("model") or f"row {number}")
    given = row.get("tasks")
    if not isinstance(given, dict):
        raise GlgeError(f"row {number} ({model}) has no tasks", file=str(place))
    tasks: dict[str, float | None] = {}
    kept: dict[str, dict[str, float]] = {}
    for name, figures in given.items():
        if name not in benchmark.tasks:
            raise GlgeError(
                f"row {number} ({model}): there is no task {name!r}",
                file=str(place),
                hint=did_you_mean(name, benchmark.tasks),
            )
        if figures is None:
            continue
        if not isinstance(figures, dict):
            raise GlgeError(f"row {number} ({model}): {name} needs its metrics by name", file=str(place))
        counted = [entry.name for entry in benchmark.tasks[name].metrics if entry.counted]
        every = [entry.name for entry in benchmark.tasks[name].metrics]
        for metric in figures:
            if metric not in every:
                raise GlgeError(
                    f"row {number} ({model}): {name} has no metric {metric!r}",
                    file=str(place),
                    hint=did_you_mean(metric, every),
                )
        kept[name] = {
            metric: figure
            for metric in every
            if (figure := _number(figures.get(metric), f"row {number} ({model}): {name}.{metric}", place)) is not None
        }
        tasks[name] = mean_of([kept[name].get(metric) for metric in counted])
    level = str(row.get("level") or "")
    if level:
        try:
            benchmark.check_level(level)
        except RegistryError as error:
            raise GlgeError(f"row {number} ({model}): {error.message}", file=str(place), hint=error.hint) from None
    values = [tasks.get(name) for name in benchmark.tasks]
    return BoardRow(
        level=level,
        model=model,
        tasks={name: tasks.get(name) for name in benchmark.tasks},
        value=mean_of(values),
        given=_number(row.get("overall"), f"row {number} ({model}): overall", place),
        expected=len(benchmark.tasks),
        figures=kept,
    )


def _number(figure: Any, what: str, place: Path) -> float | None:
    if figure is None or (isinstance(figure, str) and figure.strip() in ("", "-", "–")):
        return None
    try:
        if isinstance(figure, bool) or (isinstance(figure, str) and "_" in figure):
            raise ValueError
        value = float(figure)
    except (TypeError, ValueError, OverflowError):
        raise GlgeError(f"{what} is not a number", file=str(place), found=repr(figure)[:40]) from None
    if not 0 <= value <= 150:
        raise GlgeError(f"{what} is outside the 0-100 scale", file=str(place), found=f"{value:g}")
    return value
