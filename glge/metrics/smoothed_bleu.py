"""BLEU-1 and BLEU-2 of the PersonaChat script: the mean over lines of a smoothed sentence BLEU.

Equals `nltk.translate.bleu_score.sentence_bleu` with `SmoothingFunction().method7`, weights
(1, 0, 0, 0) and (.5, .5, 0, 0), averaged over lines with 0 wherever NLTK raises. NLTK changed its
smoothing in 3.6; the published numbers fit the formula of releases up to 3.5, which is the official
variant here, and the later one is a second named variant. Smoothing lets a perfect line score above 1:
four words or more that match exactly give 1.333 (BLEU-1) and 1.217 (BLEU-2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from glge.errors import MetricError
from glge.metrics.contract import AdditiveMetric, FloatArray, Pairs, Rows
from glge.metrics.tokens import Numbering, clipped_matches, count_grams, number_tokens, split_at_blanks

_ORDERS = 5  # method 5 looks one order beyond BLEU-4
_K = 5.0


@dataclass(frozen=True)
class SmoothedBleu(AdditiveMetric):
    """Mean over lines of sentence BLEU with NLTK's smoothing method 7; 0-1, and above 1 for perfect lines.

    `nltk` names the formula: "3.5" (official) or "3.6.1+". Tokens are split at single blanks; an empty
    text is one empty token. Under "3.5" a one-word prediction divides by ln 1 and counts 0.

    Definition: Chen and Cherry 2014, methods 4, 5 and 7, as NLTK implements them.

    >>> round(SmoothedBleu(1).score(["i like cats too"], ["i like cats too"]), 3)
    1.333
    >>> SmoothedBleu(2).score(["yes"], ["yes"])
    0.0
    >>> round(SmoothedBleu(2, nltk="3.6.1+").score(["yes"], ["yes"]), 3)
    0.577
    """

    order: Literal[1, 2]
    nltk: Literal["3.5", "3.6.1+"] = "3.5"

    def __post_init__(self) -> None:
        if self.nltk not in ("3.5", "3.6.1+"):
            raise MetricError("unknown NLTK formula", expected="3.5 or 3.6.1+", found=repr(self.nltk))

    @property
    def name(self) -> str:
        return f"smoothed_bleu{self.order}"

    @property
    def signature(self) -> str:
        return f"{self.name}|nltk-{self.nltk}|method7|tok:blank|mean of lines"

    def rows(self, pairs: Pairs) -> Rows:
        """Per line the sentence BLEU, 1 where NLTK raises, and 1; shape (lines, 3)."""
        parts = pairs.memo(("smoothed_bleu", self.nltk), lambda: _smoothed_parts(pairs, self.nltk))
        brevity, precisions, raised, matched = parts
        logs = np.log(precisions[:, : self.order]).mean(axis=1)
        score = np.where(matched & ~raised, brevity * np.exp(logs), 0.0)
        return Rows(np.stack((score, raised, np.ones(len(score))), axis=1), ("bleu", "raised", "n"))

    def finish(self, totals: NDArray[Any]) -> Any:
        """Mean over lines from totals of shape (…, 3), shape (…)."""
        return totals[..., 0] / np.maximum(totals[..., 2], 1)

    def lines(self, rows: Rows) -> FloatArray:
        """Sentence BLEU of each line."""
        return rows.values[:, 0].astype(np.float64)

    def details(self, rows: Rows) -> dict[str, float | int | str]:
        """How many lines count 0 because the script's NLTK raises an exception there."""
        return {"lines_raised": int(rows.column("raised").sum())}

    def line_notes(self, rows: Rows) -> dict[int, str]:
        """The one-word predictions that count 0 although the word matches."""
        return dict.fromkeys(np.flatnonzero(rows.column("raised")).tolist(), "one word: BLEU counts 0")

    def notes(self, rows: Rows) -> tuple[str, ...]:
        """How many one-word predictions count 0, and that values above 100 are meant."""
        raised = int(rows.column("raised").sum())
        found = []
        if raised:
            what = "1 one-word prediction counts" if raised == 1 else f"{raised:,} one-word predictions count"
            found.append(f"{what} 0 although the word matches: the script fails there")
        if self.reduce(rows) > 1:
            found.append("BLEU above 100: the smoothing lifts a perfect line of 4 or more words to 133.3 (BLEU-1)")
        return tuple(found)


def _smoothed_parts(pairs: Pairs, nltk: str) -> tuple[FloatArray, FloatArray, NDArray[np.bool_], NDArray[np.bool_]]:
    """Brevity penalty (n,), smoothed precisions (n, 4), where NLTK raises (n,), any word matched (n,)."""
    numbering = Numbering()
    predictions = number_tokens(pairs.predictions, numbering, split_at_blanks)
    references = number_tokens(pairs.only_references("smoothed BLEU"), numbering, split_at_blanks)
    lengths, reference_lengths = predictions.lengths, references.lengths
    lines = len(pairs)
    matches = np.stack(
        [clipped_matches(mine, gold, lines) for mine, gold in count_grams([predictions, references], _ORDERS)], axis=1
    ).astype(np.float64)
    grams = np.maximum(lengths[:, None] - np.arange(_ORDERS), 1).astype(np.float64)
    precisions = matches / grams
    beyond = precisions[:, 4].copy()
    with np.errstate(divide="ignore"):
        inverse_log = _K / np.log(lengths)
    several = lengths > 1
    raised = np.zeros(lines, dtype=bool)
    # Method 4: an order without a match gets a small numerator.
    used = np.ones(lines)  # the counter of the later formula
    for order in range(4):
        empty = matches[:, order] == 0
        if nltk == "3.5":
            raised |= empty & ~several
            numerator = np.where(several, order + inverse_log, 0.0)
            precisions[:, order] = np.where(empty, numerator / grams[:, order], precisions[:, order])
        else:
            smooth = empty & several
            numerator = 1.0 / (2.0**used * np.where(several, inverse_log, 1.0))
            precisions[:, order] = np.where(smooth, numerator / grams[:, order], precisions[:, order])
            used += smooth
    # Method 5: each order is averaged with its neighbours, the one below already smoothed.
    before = precisions[:, 0] + 1.0
    for order in range(4):
        after = precisions[:, order + 1] if order < 3 else beyond
        before = (before + precisions[:, order] + after) / 3.0
        precisions[:, order] = before
    brevity = np.where(lengths > reference_lengths, 1.0, np.exp(1.0 - reference_lengths / np.maximum(lengths, 1)))
    matched = matches[:, 0] > 0
    # With no common word NLTK returns 0 before it smooths, so nothing is raised there.
    return brevity, precisions[:, :4], raised & matched, matched
