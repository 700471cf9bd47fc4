"""The paper's Table 1 for the data that are there, beside the published values.

Table 1 has for each task the number of training, development and test pairs of level easy and the mean
number of words of sources and targets. Over which splits these means were taken, and what was a word, is
not known: here a word stands between blanks, separators included, and the mean is given over all splits
that are there and over each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, cast

import numpy as np
from pydantic import BaseModel, ConfigDict

from glge import __version__
from glge.errors import NoReferences
from glge.lines import printable
from glge.preparation.layout import DataFile, find_file, read_blocks, relative, unreadable_format
from glge.preparation.tables import table, wrap
from glge.references import SPLITS
from glge.reports.wording import MISSING
from glge.tasks import Benchmark, Task

Progress = Callable[[str, int, int], None]
Split = Literal["train", "dev", "test"]

ALL = "all"
_SIDES = (("src", "source"), ("tgt", "target"))
_ROUNDED = 0.05  # Table 1 has one decimal


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Size(_Entry):
    """Pairs of a split: those there (null: none), and the published number."""

    lines: int | None
    published: int
    differs: bool


class MeanWords(_Entry):
    """Mean words of one side: over each split that is there and over all of them, and the published mean.

    `agrees`: which of these means are the published one when rounded to its one decimal.
    """

    means: dict[str, float]
    published: float
    agrees: tuple[str, ...]

    @property
    def shown(self) -> float | None:
        """The mean over all splits that are there."""
        return self.means.get(ALL)


class TaskStatistics(_Entry):
    """One row of the table."""

    task: str
    level: str
    sizes: dict[Split, Size]
    source: MeanWords
    target: MeanWords


class Table1(_Entry):
    """The table, in the order of the benchmark."""

    table_version: str = "1.0"
    glge_version: str = __version__
    rows: tuple[TaskStatistics, ...]

    def text(self) -> str:
        """The JSON form, ending in a line feed."""
        return self.model_dump_json(indent=2) + "\n"


def statistics_table(
    root: Path,
    *,
    benchmark: Benchmark,
    level: str = "easy",
    tasks: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Table1:
    """Count lines and words of every task of which something lies in `root` or its archives.

    Of another level only the training data differ: dev and test are taken from easy where the level has none,
    and the published numbers are easy's throughout. `progress(task, done, total)` counts megabytes.
    NoReferences, a DataError, when nothing is there or a file cannot be read as text.
    """
    benchmark.check_level(level)
    names = list(dict.fromkeys(tasks)) if tasks is not None else list(benchmark.tasks)
    found = {name: _files(root, benchmark.task(name), level) for name in names}
    found = {name: files for name, files in found.items() if files}
    if not found:
        raise NoReferences(
            f"no file of level {level} lies here",
            file=printable(str(root)),
            expected=relative(level, "TASK", "train", "src"),
            hint="give the folder that holds easy/, medium/, medium+/ and hard/, or the unpacked archives",
        )
    total = sum(file.path.stat().st_size for files in found.values() for file in files.values())
    done = 0
    rows = []
    for name, files in found.items():
        counts: dict[tuple[str, str], tuple[int, int]] = {}
        for key, file in files.items():
            lines = words = 0
            for block in read_blocks(file):
                more_lines, more_words = _count(block)
                lines, words = lines + more_lines, words + more_words
                done += len(block)
                if progress:
                    progress(name, done >> 20, max(total >> 20, 1))
            counts[key] = lines, words
        rows.append(_row(benchmark.task(name), level, counts))
    return Table1(rows=tuple(rows))


def _files(root: Path, task: Task, level: str) -> dict[tuple[str, str], DataFile]:
    """Every file of a task that is text: by split and side."""
    found = {}
    for split in SPLITS:
        for kind, _ in _SIDES:
            file = find_file(root, level, task.name, split, kind)
            if file is None and split != "train":
                file = find_file(root, "easy", task.name, split, kind)
            if file is not None and unreadable_format(file.path) is None:
                found[split, kind] = file
    return found


def _count(block: bytes) -> tuple[int, int]:
    r"""Lines and words of a block of whole lines.

    >>> _count(b"a cat\n\n sat"), _count(b"\n")
    ((3, 3), (1, 0))
    """
    text = np.frombuffer(block, np.uint8) > 0x20
    words = int(text[0]) + int(np.count_nonzero(text[1:] & ~text[:-1]))
    return block.count(b"\n") + (not block.endswith(b"\n")), words


def _row(task: Task, level: str, counts: Mapping[tuple[str, str], tuple[int, int]]) -> TaskStatistics:
    sizes: dict[Split, Size] = {}
    for name in SPLITS:
        split = cast(Split, name)
        there = [counts[split, kind][0] for kind, _ in _SIDES if (split, kind) in counts]
        lines = max(there) if there else None
        sizes[split] = Size(
            lines=lines, published=task.sizes[split], differs=lines is not None and lines != task.sizes[split]
        )
    sides = {}
    for kind, side in _SIDES:
        by_split = {split: counts[split, kind] for split in SPLITS if (split, kind) in counts}
        by_split[ALL] = sum(lines for lines, _ in by_split.values()), sum(words for _, words in by_split.values())
        means = {split: words / lines for split, (lines, words) in by_split.items() if lines}
        published = task.mean_words[cast(Literal["source", "target"], side)]
        agrees = tuple(split for split, mean in means.items() if abs(mean - published) <= _ROUNDED + 1e-9)
        sides[side] = MeanWords(means=means, published=published, agrees=agrees)
    return TaskStatistics(task=task.name, level=level, sizes=sizes, source=sides["source"], target=sides["target"])


# --- as text --------------------------------------------------------------------------------------


def statistics_text(found: Table1, *, width: int | None = None) -> str:
    """The table for a terminal: a row of what is there above a row of what is published; `*` marks a difference."""
    rows = []
    for row in found.rows:
        sizes = [row.sizes[cast(Split, split)] for split in SPLITS]
        sides = (row.source, row.target)
        rows.append(
            [
                row.task,
                "here",
                *(
                    f"{size.lines:,}{_mark(size.differs)}" if size.lines is not None else f"{MISSING} "
                    for size in sizes
                ),
                *(
                    f"{side.shown:.1f}{_mark(not side.agrees)}" if side.shown is not None else f"{MISSING} "
                    for side in sides
                ),
            ]
        )
        published = [f"{size.published:,} " for size in sizes]
        rows.append(["", "Table 1", *published, *(f"{side.published:.1f} " for side in sides)])
    header = ["task", "", *(f"{split} " for split in SPLITS), "words src ", "words tgt "]
    text = table(header, rows, width=width, left=2)
    level = found.rows[0].level if found.rows else "easy"
    notes = [f"Level {level}. * differs from the published value." if _any_differs(found) else f"Level {level}."]
    notes.append("Mean words are over all splits that are there; an unmarked mean agrees in at least one of them.")
    return text + "\n" + wrap(" ".join(notes), width=width)


def _mark(differs: bool) -> str:
    return "*" if differs else " "


def _any_differs(found: Table1) -> bool:
    return any(
        any(size.differs for size in row.sizes.values()) or not (row.source.agrees and row.target.agrees)
        for row in found.rows
    )
