"""How sure a number is: bootstrap intervals, paired bootstrap, approximate randomization, Holm's correction.

Works on any metric's rows through its reduce function alone: a resample is a matter of counts, how often each
item is taken, so every metric, additive or not, has intervals and tests by the same few lines. Items are what a
metric's rows are: lines, or groups of lines with the same source.

Equals: the percentile bootstrap of Efron and Tibshirani 1993, ch. 13; the paired bootstrap of Koehn 2004 with a
two-sided p-value on centred differences and the +1 correction (sacreBLEU counts one tail of the sizes of differences:
`sacrebleu_p`); approximate randomization of Noreen 1989, two-sided, +1 correction, as in sacreBLEU; Holm 1979.

Everything is drawn from `numpy.random.default_rng` with a seed and the name of what is drawn for, so that the
metrics of one task share their draws, tasks are drawn independently, and the order of work plays no part.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from glge.errors import MetricError

FloatArray = NDArray[np.float64]
K = TypeVar("K", bound=Hashable)
Reduce = Callable[[FloatArray], Any]

MIN_RESAMPLES = 100
MAX_RESAMPLES = 1_000_000
_CELLS = 1 << 21  # counts held at once: 16 MB


@dataclass(frozen=True)
class Resampling:
    """What is drawn: how many resamples, from which seed, and the level of intervals in percent.

    MetricError for fewer than 100 resamples (the ends of an interval would be single draws), for a level
    outside 50 … 99.9, and for a negative seed.
    """

    resamples: int = 1000
    seed: int = 12345
    level: float = 95.0

    def __post_init__(self) -> None:
        if not MIN_RESAMPLES <= self.resamples <= MAX_RESAMPLES:
            raise MetricError(
                "too few resamples to say anything"
                if self.resamples < MIN_RESAMPLES
                else "more resamples than can be held",
                expected=f"{MIN_RESAMPLES} to {MAX_RESAMPLES:,}",
                found=f"{self.resamples:,}",
                hint="the ends of a 95 % interval are the 2.5 % of lowest and highest draws; 1000 is usual",
            )
        if not 50 <= self.level <= 99.9:
            raise MetricError("this is no confidence level", expected="50 to 99.9 (percent)", found=f"{self.level:g}")
        if self.seed < 0:
            raise MetricError("a seed is a whole number from 0 on", found=str(self.seed))

    @property
    def signature(self) -> str:
        """For the signature of a number: `resamples:1000|seed:12345`."""
        return f"resamples:{self.resamples}|seed:{self.seed}"

    def generator(self, stream: str) -> np.random.Generator:
        """The random numbers of one stream (a task's name): independent of every other stream."""
        return np.random.default_rng([self.seed, zlib.crc32(stream.encode("utf-8"))])


def draw_counts(items: int, resampling: Resampling, stream: str) -> Iterator[FloatArray]:
    """Bootstrap resamples of `items` items, in blocks of shape (draws, items): how often each is taken.

    >>> blocks = list(draw_counts(5, Resampling(200), "xsum"))
    >>> sum(len(block) for block in blocks), {int(row.sum()) for row in blocks[0]}
    (200, {5})
    """
    generator = resampling.generator(stream)
    for draws in _blocks(items, resampling.resamples):
        taken = generator.integers(items, size=(draws, items), dtype=np.uint32)
        places = taken + (np.arange(draws, dtype=np.uint32) * np.uint32(items))[:, None]
        yield np.bincount(places.ravel(), minlength=draws * items).reshape(draws, items).astype(np.float64)


def draw_swaps(items: int, resampling: Resampling, stream: str) -> Iterator[FloatArray]:
    """Random exchanges of two systems, in blocks of shape (draws, items): 1 where their outputs change places."""
    generator = resampling.generator(f"{stream}/swaps")
    for draws in _blocks(items, resampling.resamples):
        yield (generator.random((draws, items), dtype=np.float32) < 0.5).astype(np.float64)


def _blocks(items: int, resamples: int) -> Iterator[int]:
    size = max(1, _CELLS // max(items, 1))
    for begin in range(0, resamples, size):
        yield min(size, resamples - begin)


def bootstrap(reduces: Mapping[K, Reduce], items: int, resampling: Resampling, stream: str) -> dict[K, FloatArray]:
    """The number of each metric in every resample, shape (resamples,), all metrics on the same draws.

    `reduces[key](counts)` takes counts of shape (draws, items); systems that are compared are keys of one call.
    """
    parts: dict[K, list[FloatArray]] = {name: [] for name in reduces}
    for counts in draw_counts(items, resampling, stream):
        for name, reduce in reduces.items():
            parts[name].append(np.asarray(reduce(counts), dtype=np.float64))
    return {name: np.concatenate(found) for name, found in parts.items()}


@dataclass(frozen=True)
class Ends:
    """An interval and the standard error, in the unit of the draws."""

    low: float
    high: float
    standard_error: float


def interval(draws: FloatArray, level: float) -> Ends:
    """Percentile interval and standard error (n - 1) of bootstrap draws.

    >>> ends = interval(np.arange(101) / 100, 90)
    >>> round(ends.low, 4), round(ends.high, 4)
    (0.05, 0.95)
    """
    low, high = np.percentile(draws, [(100 - level) / 2, (100 + level) / 2])
    return Ends(float(low), float(high), float(np.std(draws, ddof=1)))


# --- two systems ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Additive:
    """Rows of all systems that add up, shape (systems, items, columns), and what makes numbers of their totals."""

    values: FloatArray
    finish: Reduce  # totals of shape (draws, columns) -> numbers of shape (draws,)


def randomization(
    metrics: Mapping[K, Additive | Reduce], items: int, systems: int, resampling: Resampling, stream: str
) -> dict[K, FloatArray]:
    """Differences to the first system when outputs change places at random: shape (systems, resamples).

    A metric whose rows add up is given as such; any other by its reduce function over the rows of all systems, one
    after the other (items 0 … n-1 of the first, n … 2n-1 of the second), so that a mixture of two systems is a matter
    of counts. The row of the first system is 0.
    """
    found = {name: np.zeros((systems, resampling.resamples)) for name in metrics}
    begin = 0
    for swaps in draw_swaps(items, resampling, stream):
        end = begin + len(swaps)
        for name, metric in metrics.items():
            for system in range(1, systems):
                if isinstance(metric, Additive):
                    first, second = _exchanged(metric, system, swaps)
                else:
                    first, second = _mixed(metric, system, swaps, items, systems)
                found[name][system, begin:end] = second - first
        begin = end
    return found


def _exchanged(metric: Additive, system: int, swaps: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both systems' numbers after the exchange: what moves is the difference of their rows."""
    own, other = metric.values[0], metric.values[system]
    moved = np.einsum("ij,kj->ik", swaps, np.ascontiguousarray((other - own).T))
    return np.asarray(metric.finish(own.sum(axis=0) + moved)), np.asarray(metric.finish(other.sum(axis=0) - moved))


def _mixed(reduce: Reduce, system: int, swaps: FloatArray, items: int, systems: int) -> tuple[FloatArray, FloatArray]:
    numbers = []
    for kept in (1.0 - swaps, swaps):
        wide = np.zeros((len(swaps), items * systems))
        wide[:, :items] = kept
        wide[:, system * items : (system + 1) * items] = 1.0 - kept
        numbers.append(np.asarray(reduce(wide), dtype=np.float64))
    return numbers[0], numbers[1]


def bootstrap_p(differences: FloatArray, observed: float) -> float:
    """Two-sided p-value of an observed difference from paired bootstrap differences, (c + 1) / (n + 1).

    The draws are centred: they stand for a world in which there is no difference.
    """
    beyond = np.abs(differences - differences.mean()) >= abs(observed) - _tolerance(observed)
    return float((beyond.sum() + 1) / (len(differences) + 1))


def sacrebleu_p(differences: FloatArray, observed: float) -> float:
    """The p-value as sacreBLEU (and the Moses script it follows) has it for the same paired bootstrap.

    It counts how often the *size* of a difference exceeds its mean by the observed difference. For a clear difference
    that is one tail, about half of the two-sided value, so at 0.05 it calls a tenth of equal pairs different.
    """
    sizes = np.abs(differences)
    beyond = sizes - sizes.mean() > abs(observed)
    return float((beyond.sum() + 1) / (len(differences) + 1))


def randomization_p(differences: FloatArray, observed: float) -> float:
    """Two-sided p-value of an observed difference from randomized differences, (c + 1) / (n + 1)."""
    beyond = np.abs(differences) >= abs(observed) - _tolerance(observed)
    return float((beyond.sum() + 1) / (len(differences) + 1))


def _tolerance(observed: float) -> float:
    """Two sums of the same numbers in another order count as equal."""
    return 1e-12 + 1e-9 * abs(observed)


def holm(values: Sequence[float]) -> list[float]:
    """Holm's step-down correction of a family of p-values.

    >>> [round(value, 3) for value in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    >>> holm([])
    []
    """
    adjusted = [0.0] * len(values)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        largest = max(largest, min(1.0, (len(values) - rank) * values[place]))
        adjusted[place] = largest
    return adjusted
