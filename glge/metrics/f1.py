"""F1 and exact match of the CoQA script: overlap of words after SQuAD-style normalisation.

Equals the official CoQA evaluation with one gold answer a line: lower-case, ASCII punctuation deleted,
the words a, an, the blanked out, white space collapsed; then the overlap of the two bags of words.
Typographic quotes and other non-ASCII punctuation are kept, as there.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glge.metrics.contract import AdditiveMetric, FloatArray, Pairs, Rows

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def normalise(text: str) -> list[str]:
    """The words that count.

    >>> normalise("The  cat's  hat!")
    ['cats', 'hat']
    >>> normalise("a")
    []
    """
    return _ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def overlap_f1(predicted: list[str], gold: list[str]) -> float:
    """F1 of two bags of words, 0-1; both empty 1, one empty 0.

    >>> round(overlap_f1(["paris"] * 5, ["paris"]), 3)
    0.333
    """
    if not predicted or not gold:
        return float(predicted == gold)
    common = sum((Counter(predicted) & Counter(gold)).values())
    if not common:
        return 0.0
    precision, recall = common / len(predicted), common / len(gold)
    return 2 * precision * recall / (precision + recall)


class _AnswerMetric(AdditiveMetric):
    def rows(self, pairs: Pairs) -> Rows:
        """Per line F1, exact match, and 1; shape (lines, 3)."""
        return pairs.memo("coqa", lambda: _answer_rows(pairs))

    def details(self, rows: Rows) -> dict[str, float | int | str]:
        return {}


def _answer_rows(pairs: Pairs) -> Rows:
    values = np.ones((len(pairs), 3))
    for place, (prediction, reference) in enumerate(zip(pairs.predictions, pairs.only_references("F1"), strict=True)):
        predicted, gold = normalise(prediction), normalise(reference)
        values[place, 0] = overlap_f1(predicted, gold)
        values[place, 1] = predicted == gold
    return Rows(values, ("f1", "exact", "n"))


@dataclass(frozen=True)
class F1(_AnswerMetric):
    """Mean over lines of the word-overlap F1, 0-1.

    Definition: Rajpurkar et al. 2016; the CoQA evaluation script.

    >>> F1().score(["the"], ["a"])
    1.0
    >>> F1().score(["blue"], [""])
    0.0
    """

    @property
    def name(self) -> str:
        return "f1"

    @property
    def signature(self) -> str:
        return "f1|CoQA|one gold answer|mean of lines"

    def finish(self, totals: NDArray[Any]) -> Any:
        """Mean F1 from totals of shape (…, 3), shape (…)."""
        return totals[..., 0] / np.maximum(totals[..., 2], 1)

    def lines(self, rows: Rows) -> FloatArray:
        """F1 of each line."""
        return rows.values[:, 0].astype(np.float64)


@dataclass(frozen=True)
class ExactMatch(_AnswerMetric):
    """Share of lines that are equal after normalisation, 0-1.

    >>> ExactMatch().score(["The cat.", "dog"], ["cat", "cats"])
    0.5
    """

    @property
    def name(self) -> str:
        return "exact_match"

    @property
    def signature(self) -> str:
        return "exact_match|CoQA|one gold answer|mean of lines"

    def finish(self, totals: NDArray[Any]) -> Any:
        """Share of exact matches from totals of shape (…, 3), shape (…)."""
        return totals[..., 1] / np.maximum(totals[..., 2], 1)

    def lines(self, rows: Rows) -> FloatArray:
        """1 for an exact match, else 0."""
        return rows.values[:, 1].astype(np.float64)
