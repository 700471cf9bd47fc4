"""Distinct-1 and Distinct-2 of the PersonaChat script: the share of different n-grams in all replies.

Equals (different n-grams + 1e-12) / (n-grams + 1e-5) over the whole corpus; tokens are split at single
blanks and n-grams stay inside a line. References play no part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from glge.metrics.contract import FloatArray, IntArray, Metric, Pairs, check_counts
from glge.metrics.tokens import Numbering, count_grams, number_tokens, split_at_blanks


@dataclass(frozen=True, eq=False)
class GramRows:
    """The different n-grams of each line: they do not add up, a corpus needs their union."""

    line: IntArray  # (entries,) sorted
    gram: IntArray  # (entries,)
    total: IntArray  # (lines,) n-grams of each line, repeats included
    size: int

    def __len__(self) -> int:
        return len(self.total)


@dataclass(frozen=True)
class Distinct(Metric[GramRows]):
    """Different n-grams divided by all n-grams of the predictions, 0-1.

    Definition: Li et al. 2016.

    >>> round(Distinct(1).score(["a b a", "b"], ["", ""]), 4)
    0.5
    >>> round(Distinct(2).score(["a", ""], ["", ""]), 4)  # no bigram at all
    0.0
    """

    order: Literal[1, 2]
    centred: ClassVar[bool] = True  # lines taken twice add n-grams, but no different ones

    @property
    def name(self) -> str:
        return f"distinct{self.order}"

    @property
    def signature(self) -> str:
        return f"{self.name}|corpus|tok:blank"

    def rows(self, pairs: Pairs) -> GramRows:
        """The different n-grams of each line."""
        predictions = number_tokens(pairs.predictions, Numbering(), split_at_blanks)
        *_, grams = (side[0] for side in count_grams([predictions], self.order))
        total = np.maximum(predictions.lengths - self.order + 1, 0)
        return GramRows(grams.text, grams.gram, total, grams.size)

    def reduce(self, rows: GramRows, counts: NDArray[Any] | None = None) -> Any:
        """The ratio, 0-1: a float, or shape (draws,) when counts has shape (draws, lines)."""
        if counts is None:
            counts = np.ones(len(rows), dtype=np.int64)
        check_counts(counts, len(rows))
        draws = np.atleast_2d(counts)
        different = self._different(rows, draws > 0)
        total = np.einsum("ij,j->i", draws.astype(np.float64), rows.total.astype(np.float64))
        result = (different + 1e-12) / (total + 1e-5)
        return float(result[0]) if counts.ndim == 1 else result

    @staticmethod
    def _different(rows: GramRows, taken: NDArray[np.bool_]) -> FloatArray:
        """How many different n-grams stand in the lines that each draw takes, shape (draws,)."""
        occurrences = np.bincount(rows.gram, minlength=rows.size)
        alone = occurrences[rows.gram] == 1
        # An n-gram of a single line is there when its line is: these simply add up.
        singles = np.bincount(rows.line[alone], minlength=len(rows)).astype(np.float64)
        found: FloatArray = np.einsum("ij,j->i", taken.astype(np.float64), singles)
        # The others are there when any of their lines is.
        order = np.argsort(rows.gram[~alone], kind="stable")
        lines, grams = rows.line[~alone][order], rows.gram[~alone][order]
        if len(grams):
            begins = np.flatnonzero(np.concatenate(([True], grams[1:] != grams[:-1])))
            for draw, there in enumerate(taken):
                found[draw] += np.logical_or.reduceat(there[lines], begins).sum()
        return found

    def part(self, rows: GramRows, begin: int, end: int) -> GramRows:
        first, last = np.searchsorted(rows.line, [begin, end])
        return GramRows(rows.line[first:last] - begin, rows.gram[first:last], rows.total[begin:end], rows.size)

    def lines(self, rows: GramRows) -> FloatArray:
        """Different n-grams divided by n-grams of each line by itself, 0-1."""
        different = np.bincount(rows.line, minlength=len(rows))
        return (different + 1e-12) / (rows.total + 1e-5)

    def details(self, rows: GramRows) -> dict[str, float | int | str]:
        """How many different n-grams, of how many."""
        return {"different": len(np.unique(rows.gram)), "ngrams": int(rows.total.sum())}
