"""What every metric is: rows that say what each line contributes, and one road from rows to a number.

`rows(pairs)` looks at the texts once, over the whole list, in flat NumPy arrays. `reduce(rows, counts)`
makes the number; `counts[i]` says how often line i is taken, so the corpus (all ones), a shard (ones
and zeros) and a bootstrap resample (draws) cannot disagree. Values are on the 0-1 scale; the report
multiplies by 100.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from glge.errors import MetricError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Pairs:
    """Predictions beside their references: n texts, and for each of them one or more reference texts.

    This is where the lists meet, so this is where their lengths are checked. `memo` keeps what several
    metrics of one family share (tokens, n-gram counts); it lives and dies with the pairs, so a changed
    file can never be answered from an old one.

    Raises MetricError when the lengths differ, when there is nothing to score, or when a line has no
    reference.
    """

    predictions: Sequence[str]
    references: Sequence[Sequence[str]]
    _memory: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if len(self.predictions) != len(self.references):
            raise MetricError(
                "predictions and references differ in number",
                expected=f"{len(self.references)} predictions",
                found=str(len(self.predictions)),
                hint="one prediction for each reference",
            )
        if not self.predictions:
            raise MetricError("there is nothing to score: no lines", hint="give at least one pair")
        for position, group in enumerate(self.references):
            if isinstance(group, str) or not group:
                raise MetricError(
                    "each line needs a list of references",
                    line=position + 1,
                    found="a bare string" if isinstance(group, str) else "an empty list",
                )

    @classmethod
    def single(cls, predictions: Sequence[str], references: Sequence[str]) -> Pairs:
        """Pairs with exactly one reference each."""
        return cls(predictions, [(reference,) for reference in references])

    def __len__(self) -> int:
        return len(self.predictions)

    def memo(self, key: Hashable, make: Callable[[], T]) -> T:
        """`make()`, computed once for this key."""
        if key not in self._memory:
            self._memory[key] = make()
        found: T = self._memory[key]
        return found

    def only_references(self, metric: str) -> list[str]:
        """The references when every line has exactly one; MetricError otherwise."""
        for position, group in enumerate(self.references):
            if len(group) != 1:
                raise MetricError(
                    f"{metric} is defined here for one reference a line",
                    line=position + 1,
                    expected="1 reference",
                    found=str(len(group)),
                )
        return [group[0] for group in self.references]


@dataclass(frozen=True, eq=False)
class Rows:
    """What each line contributes, as a matrix of shape (lines, columns) that may be added up."""

    values: FloatArray | IntArray
    columns: tuple[str, ...]

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def column(self, name: str) -> FloatArray | IntArray:
        """One column by name, shape (lines,)."""
        return self.values[:, self.columns.index(name)]

    def totals(self, counts: NDArray[Any] | None = None) -> FloatArray | IntArray:
        """Column sums: shape (columns,), or (draws, columns) when counts has shape (draws, lines)."""
        if counts is None:
            summed: FloatArray | IntArray = self.values.sum(axis=0)
            return summed
        check_counts(counts, len(self))
        if counts.ndim == 1:
            result: FloatArray | IntArray = np.asarray(counts) @ self.values
            return result
        # einsum, for BLAS would start a thread for every core in each of the scoring processes. Whole numbers
        # stay exact: their sums are far below 2^53.
        flat = np.ascontiguousarray(self.values.T, dtype=np.float64)
        sums: FloatArray = np.einsum("ij,kj->ik", np.asarray(counts, dtype=np.float64), flat)
        return sums

    def part(self, begin: int, end: int) -> Rows:
        """The rows of some lines."""
        return Rows(self.values[begin:end], self.columns)


R = TypeVar("R")


@dataclass(frozen=True)
class Summary:
    """All figures of one metric on one corpus. `value`, `mean` and `interval` are on the 0-1 scale.

    `mean` is the plain mean of the lines where the program's own value is another one; `interval` the
    program's own (low, high). In `details` a float is a share (0-1) and an int a count.
    """

    value: float
    mean: float | None = None
    interval: tuple[float, float] | None = None
    details: dict[str, float | int | str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Metric(ABC, Generic[R]):
    """One metric. Subclasses are frozen dataclasses whose fields are the variant."""

    higher_is_better: ClassVar[bool] = True
    # Whether a resample with repeats is off on one side (a union of lines is), so that draws are moved to the value.
    centred: ClassVar[bool] = False

    @property
    @abstractmethod
    def name(self) -> str:
        """Its key in METRICS."""

    @property
    @abstractmethod
    def signature(self) -> str:
        """Name, program and variant in one short line: `rouge1|ROUGE-1.5.5|stem:yes|exceptions:none`."""

    def prepare(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Make ready, once for all processes, what takes long the first time; `progress(done, total)` is told."""

    @abstractmethod
    def rows(self, pairs: Pairs) -> R:
        """What each line contributes. Looks at every text once."""

    @abstractmethod
    def reduce(self, rows: R, counts: NDArray[Any] | None = None) -> Any:
        """The number on the 0-1 scale: a float, or shape (draws,) when counts has shape (draws, lines)."""

    @abstractmethod
    def lines(self, rows: R) -> FloatArray:
        """A value for each line, shape (lines,), on the 0-1 scale: for looking at, not for averaging."""

    def part(self, rows: R, begin: int, end: int) -> R:
        """The rows of lines begin … end-1, as if only they had been read."""
        if not isinstance(rows, Rows):
            raise MetricError(f"{self.name} does not say how to take a part of its rows")
        found: Any = rows.part(begin, end)
        return found  # type: ignore[no-any-return]

    def line_notes(self, rows: R) -> dict[int, str]:
        """What is odd about single lines: line (counted from 0) -> a few words."""
        return {}

    def value(self, rows: R) -> float:
        """The figure the original program prints. It is `reduce(rows)` unless the program does otherwise."""
        return float(self.reduce(rows))

    def details(self, rows: R) -> dict[str, float | int | str]:
        """Figures that stand beside the value: a float is a share (0-1), an int a count."""
        return {}

    def notes(self, rows: R) -> tuple[str, ...]:
        """Sentences that explain an unexpected number."""
        return ()

    def summary(self, rows: R) -> Summary:
        """Everything a report says about these rows."""
        return Summary(self.value(rows), details=self.details(rows), notes=self.notes(rows))

    def score(self, predictions: Sequence[str], references: Sequence[str] | Sequence[Sequence[str]]) -> float:
        """`value` of two lists; references may be plain strings or lists of strings."""
        groups = [(item,) if isinstance(item, str) else item for item in references]
        return self.value(self.rows(Pairs(predictions, groups)))


class AdditiveMetric(Metric[Rows]):
    """A metric whose rows add up: the number is a function of the column totals alone."""

    @abstractmethod
    def finish(self, totals: NDArray[Any]) -> Any:
        """From totals of shape (…, columns) to values of shape (…), on the 0-1 scale."""

    def reduce(self, rows: Rows, counts: NDArray[Any] | None = None) -> Any:
        result = self.finish(rows.totals(counts))
        return float(result) if np.ndim(result) == 0 else result


def check_counts(counts: NDArray[Any], lines: int) -> None:
    """MetricError unless the last axis of counts has one entry a line."""
    if counts.shape[-1] != lines:
        raise MetricError("counts do not fit the rows", expected=f"{lines} entries", found=str(counts.shape[-1]))
