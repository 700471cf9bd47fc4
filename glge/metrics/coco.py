"""BLEU-1 … BLEU-4 and ROUGE-L as the question-generation scripts compute them with coco-caption.

Equals `pycocoevalcap.bleu.Bleu(4)` (option "closest") and `pycocoevalcap.rouge.Rouge()` on texts that
are already tokenised: BLEU splits at white space, ROUGE-L at single blanks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from glge.errors import MetricError
from glge.lines import split_at_ascii_blanks
from glge.metrics.contract import AdditiveMetric, FloatArray, IntArray, Pairs, Rows
from glge.metrics.lcs import SequencePairs
from glge.metrics.tokens import (
    GramCounts,
    Numbering,
    Tokens,
    clipped_matches,
    count_grams,
    number_tokens,
    split_at_blanks,
)

_ORDERS = 4
_TINY, _SMALL = 1e-15, 1e-9
_BETA = 1.2


@dataclass(frozen=True)
class CocoBleu(AdditiveMetric):
    """Corpus BLEU of one order, 0-1: `order` n uses n-grams up to n with equal weights.

    Counts are summed over the corpus; matches are clipped by the largest count in any reference; the
    reference length is the one closest to the prediction's (the shorter one of two equally close).
    (correct + 1e-15) / (guess + 1e-9) keeps empty orders from being 0/0, so short texts score almost 0.

    Words are split at white space: `blanks` "unicode" as in pycocoevalcap today, "ascii" as in the published
    scripts, which are Python 2 and see bytes (a no-break space does not split there).

    Definition: Papineni et al. 2002; constants of coco-caption.

    >>> round(CocoBleu(1).score(["a b c d"], [["a b x d e"]]), 6)
    0.584101
    >>> round(CocoBleu(4).score(["yes", "no"], [["yes"], ["no"]]), 3)  # no 4-gram anywhere
    0.0
    >>> CocoBleu(2).score([""], [["a b"]])
    0.0
    """

    order: Literal[1, 2, 3, 4]
    blanks: Literal["unicode", "ascii"] = "unicode"

    def __post_init__(self) -> None:
        if self.blanks not in ("unicode", "ascii"):
            raise MetricError("unknown kind of blanks", expected="unicode or ascii", found=repr(self.blanks))

    @property
    def name(self) -> str:
        return f"coco_bleu{self.order}"

    @property
    def signature(self) -> str:
        return f"{self.name}|coco-caption|closest|tok:{self.blanks}-space"

    def rows(self, pairs: Pairs) -> Rows:
        """Per item: prediction and reference length, then guessed and correct n-grams of each order."""
        split = split_at_ascii_blanks if self.blanks == "ascii" else str.split
        return pairs.memo(("coco_bleu", self.blanks), lambda: _bleu_rows(pairs, split))

    def finish(self, totals: NDArray[Any]) -> Any:
        """BLEU from totals of shape (…, 10), shape (…)."""
        values = np.asarray(totals, dtype=np.float64)
        product = np.ones(values.shape[:-1])
        for order in range(self.order):
            product = product * ((values[..., 6 + order] + _TINY) / (values[..., 2 + order] + _SMALL))
        score = product ** (1.0 / self.order)
        ratio = (values[..., 0] + _TINY) / (values[..., 1] + _SMALL)
        penalty = np.exp(1.0 - 1.0 / np.minimum(ratio, 1.0))
        return np.where(ratio < 1, score * penalty, score)

    def lines(self, rows: Rows) -> FloatArray:
        """BLEU of each item by itself, shape (items,), 0-1."""
        result: FloatArray = self.finish(rows.values)
        return result

    def details(self, rows: Rows) -> dict[str, float | int | str]:
        """Lengths, and correct and guessed n-grams of each order."""
        totals = rows.totals()
        return {name: int(total) for name, total in zip(rows.columns, totals, strict=True)}

    def notes(self, rows: Rows) -> tuple[str, ...]:
        """Says why the corpus score is 0 when no n-gram of some order is there or matches."""
        totals = rows.totals()
        for order in range(1, self.order + 1):
            if not totals[1 + order]:
                return (f"BLEU-{self.order} is 0 by definition: no prediction is {order} words long",)
            if not totals[5 + order]:
                return (f"BLEU-{self.order} is 0 by definition: no {order}-gram of the predictions matches",)
        return ()


def _bleu_rows(pairs: Pairs, split: Callable[[str], list[str]]) -> Rows:
    numbering = Numbering()
    predictions = number_tokens(pairs.predictions, numbering, split)
    references = number_tokens(chain.from_iterable(pairs.references), numbering, split)
    item_of, first = _items(pairs)
    lengths = predictions.lengths
    guesses, corrects = [], []
    for order, (guessed, given) in enumerate(count_grams([predictions, references], _ORDERS), 1):
        guesses.append(np.maximum(lengths - order + 1, 0))
        corrects.append(clipped_matches(guessed, _largest_count(given, item_of), len(pairs)))
    # Closest reference length: smallest distance, then the shorter.
    reference_lengths = references.lengths
    distance = np.abs(reference_lengths - lengths[item_of])
    best = np.lexsort((reference_lengths, distance, item_of))[first]
    columns = ("prediction_length", "reference_length")
    columns += tuple(f"guess{n}" for n in range(1, 5)) + tuple(f"correct{n}" for n in range(1, 5))  # type: ignore[assignment]
    return Rows(np.stack((lengths, reference_lengths[best], *guesses, *corrects), axis=1), columns)


def _items(pairs: Pairs) -> tuple[IntArray, IntArray]:
    """The item of every reference, and the place of each item's first reference."""
    counts = np.fromiter(map(len, pairs.references), dtype=np.int64, count=len(pairs))
    return np.repeat(np.arange(len(pairs)), counts), np.cumsum(counts) - counts


def _largest_count(grams: GramCounts, item_of: IntArray) -> GramCounts:
    """Counts of references -> the largest count of each n-gram among the references of an item."""
    if not len(grams.gram):
        return grams
    keys = item_of[grams.text] * grams.size + grams.gram
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    begins = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    largest = np.maximum.reduceat(grams.count[order], begins)
    return GramCounts(keys[begins] // grams.size, keys[begins] % grams.size, largest, grams.size)


@dataclass(frozen=True)
class CocoRougeL(AdditiveMetric):
    """Mean over items of the ROUGE-L F of coco-caption (beta 1.2), 0-1.

    With several references the largest precision and the largest recall are taken, each on its own.

    >>> round(CocoRougeL().score(["a b c d"], [["a b d", "x b c d e"]]), 6)
    0.879808
    >>> CocoRougeL().score([""], [["a"]])
    0.0
    """

    @property
    def name(self) -> str:
        return "coco_rougeL"

    @property
    def signature(self) -> str:
        return f"{self.name}|coco-caption|beta:{_BETA}|tok:blank|mean of items"

    def rows(self, pairs: Pairs) -> Rows:
        """Per item F, precision and recall (0-1), and 1; shape (items, 4)."""
        numbering = Numbering()
        predictions = number_tokens(pairs.predictions, numbering, split_at_blanks)
        references = number_tokens(chain.from_iterable(pairs.references), numbering, split_at_blanks)
        item_of, first = _items(pairs)
        common = _common_lengths(references, predictions, item_of)
        precision = np.maximum.reduceat(common / predictions.lengths[item_of], first)
        recall = np.maximum.reduceat(common / references.lengths, first)
        below = recall + _BETA**2 * precision
        score = np.divide((1 + _BETA**2) * precision * recall, below, out=np.zeros(len(pairs)), where=below > 0)
        return Rows(
            np.stack((score, precision, recall, np.ones(len(pairs))), axis=1), ("f", "precision", "recall", "n")
        )

    def finish(self, totals: NDArray[Any]) -> Any:
        """Mean F from totals of shape (…, 4), shape (…)."""
        return totals[..., 0] / np.maximum(totals[..., 3], 1)

    def lines(self, rows: Rows) -> FloatArray:
        """F of each item, 0-1."""
        return rows.values[:, 0].astype(np.float64)

    def details(self, rows: Rows) -> dict[str, float | int | str]:
        """Means of the items' precision and recall, 0-1."""
        totals = rows.totals()
        return {"precision": float(totals[1] / totals[3]), "recall": float(totals[2] / totals[3])}


def _common_lengths(references: Tokens, predictions: Tokens, item_of: IntArray) -> IntArray:
    return SequencePairs(
        references.ids,
        references.starts[:-1],
        references.lengths,
        predictions.ids,
        predictions.starts[:-1][item_of],
        predictions.lengths[item_of],
    ).lengths()
