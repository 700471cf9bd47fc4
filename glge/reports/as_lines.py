"""The value of every item by itself, for a spreadsheet or a data frame: JSON Lines, CSV or Parquet.

A row has the task, the number of the line that is scored and of all lines of its item, every metric's value on
the 0-100 scale, the words of the prediction, and what is odd about it. Texts are not in it. For a comparison a row
has the values of two systems, largest difference first.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from glge.errors import GlgeError, MissingResource, did_you_mean
from glge.results import TaskLines

SUFFIXES = (".jsonl", ".csv", ".parquet")

Row = dict[str, Any]


def line_rows(tasks: Sequence[TaskLines]) -> Iterator[Row]:
    """One row an item, in the order of the data; `scores` maps each metric to its value, 0-100."""
    for task in tasks:
        for item, numbers in enumerate(task.numbers):
            yield {
                "task": task.task,
                "line": numbers[-1],
                "lines": list(numbers),
                "scores": {name: values[item] for name, values in task.values.items()},
                "words": task.words[item],
                "notes": task.notes[item],
            }


def difference_rows(tasks: Sequence[Sequence[TaskLines]], names: Sequence[str]) -> list[Row]:
    """One row an item and system after the first, by the size of `difference`: mean of the metrics, other - first.

    `tasks` has the systems' lines by task. Distinct has no place in the mean: by itself a line's share of different
    words says little.
    """
    rows = []
    for systems in tasks:
        first = systems[0]
        for name, other in zip(names[1:], systems[1:], strict=True):
            for item, numbers in enumerate(first.numbers):
                rows.append(
                    {
                        "task": first.task,
                        "line": numbers[-1],
                        "lines": list(numbers),
                        "first": names[0],
                        "other": name,
                        "difference": line_mean(other, item) - line_mean(first, item),
                        "scores_first": {metric: values[item] for metric, values in first.values.items()},
                        "scores_other": {metric: values[item] for metric, values in other.values.items()},
                        "words_first": first.words[item],
                        "words_other": other.words[item],
                        "notes_first": first.notes[item],
                        "notes_other": other.notes[item],
                    }
                )
    return sorted(rows, key=lambda row: (-abs(row["difference"]), names.index(row["other"])))


def line_mean(task: TaskLines, item: int) -> float:
    """Mean of an item's metrics that count and say something about one line, 0-100; 0 when there is none."""
    found = [
        values[item] for name, values in task.values.items() if task.counted[name] and not name.startswith("distinct")
    ]
    return sum(found) / len(found) if found else 0.0


def render_lines(rows: Sequence[Row], path: str | os.PathLike[str]) -> str | bytes:
    """The rows in the format of the path's ending.

    GlgeError for another ending, MissingResource for Parquet without pyarrow.
    """
    match check_suffix(path):
        case ".jsonl":
            return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        case ".csv":
            return _csv([_flat(row) for row in rows])
        case _:
            return _parquet([_flat(row) for row in rows])


def check_suffix(path: str | os.PathLike[str]) -> str:
    """The ending of the path, to be asked before any work.

    GlgeError when lines cannot be written in such a format, MissingResource for Parquet without pyarrow.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise GlgeError(
            "lines are written as .jsonl, .csv or .parquet",
            file=os.fspath(path),
            found=suffix or "no ending",
            hint=did_you_mean(suffix, SUFFIXES),
        )
    if suffix == ".parquet" and find_spec("pyarrow") is None:
        raise MissingResource("Parquet needs the package pyarrow", hint="pip install pyarrow, or write .jsonl or .csv")
    return suffix


def _flat(row: Row) -> Row:
    """Scores as columns of their own: `rouge1`, or `rouge1_first` and `rouge1_other`."""
    flat: Row = {}
    for key, value in row.items():
        if key.startswith("scores"):
            flat.update({name + key.removeprefix("scores"): figure for name, figure in value.items()})
        elif key == "lines":
            flat[key] = " ".join(map(str, value))
        else:
            flat[key] = value
    return flat


def _columns(rows: Sequence[Row]) -> list[str]:
    ends = ("words", "notes", "words_first", "words_other", "notes_first", "notes_other")
    found = dict.fromkeys(key for row in rows for key in row)
    return [*(key for key in found if key not in ends), *(key for key in ends if key in found)]


def _csv(rows: Sequence[Row]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, _columns(rows), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def _parquet(rows: Sequence[Row]) -> bytes:
    import pyarrow as pa  # noqa: PLC0415 - only this format needs it
    import pyarrow.parquet as pq  # noqa: PLC0415

    table = pa.table({name: [row.get(name) for row in rows] for name in _columns(rows)})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content
