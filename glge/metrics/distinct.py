"""Distinct-1 and Distinct-2 of the PersonaChat script: the share of different n-grams in all replies.

Equals (different n-grams + 1e-12) / (n-grams + 1e-5) over the whole corpus; tokens are split at single
blanks and n-grams stay inside a line. References play no part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

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
        if counts.ndim > 1:
            return np.array([self.reduce(rows, draw) for draw in counts])
        taken = np.zeros(rows.size, dtype=bool)
        taken[rows.gram[counts[rows.line] > 0]] = True
        return float((taken.sum() + 1e-12) / (counts @ rows.total + 1e-5))

    def lines(self, rows: GramRows) -> FloatArray:
        """Different n-grams divided by n-grams of each line by itself, 0-1."""
        different = np.bincount(rows.line, minlength=len(rows))
        return (different + 1e-12) / (rows.total + 1e-5)

    def details(self, rows: GramRows) -> dict[str, float | int | str]:
        """How many different n-grams, of how many."""
        return {"different": len(np.unique(rows.gram)), "ngrams": int(rows.total.sum())}
