"""From an alignment to METEOR's statistics, and from statistics to the score.

Equals the jar's statistics line (23 numbers), the score it gives a line and the score it gives a corpus
(the last line of `EVAL`): Denkowski and Lavie, "Meteor Universal", WMT 2014, with the parameters of `-l en`
(rank): alpha 0.85, beta 0.2, gamma 0.6, delta 0.75, modules 1.0, 0.6, 0.8, 0.6. The arithmetic is done in
the jar's order, so the doubles are the same.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glge.metrics.meteor.matches import MODULES, Matches, Texts
from glge.metrics.meteor.search import IntArray
from glge.metrics.meteor.vocabulary import Words

ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
WEIGHTS = (1.0, 0.6, 0.8, 0.6)

# In the order of the jar's line. "prediction" is the jar's test, "function" and "content" kinds of words.
COLUMNS: tuple[str, ...] = (
    "prediction_words",
    "reference_words",
    "prediction_function_words",
    "reference_function_words",
    *(
        f"{module}_{side}_{kind}"
        for module in MODULES
        for kind in ("content", "function")
        for side in ("prediction", "reference")
    ),
    "chunks",
    "prediction_matches",
    "reference_matches",
)

# What the corpus adds up in place of `chunks`: a perfect line adds none.
CORPUS_CHUNKS = "corpus_chunks"

_CHUNKS = COLUMNS.index("chunks")


def statistics(chosen: Matches, predictions: Texts, references: Texts, words: Words) -> IntArray:
    """The 23 statistics of each pair, shape (pairs, 23), columns as in `COLUMNS`."""
    pairs = len(references)
    table = np.zeros((pairs, len(COLUMNS)), dtype=np.int64)
    mine = _running(words.function[predictions.words])
    other = _running(words.function[references.words])
    table[:, 0] = predictions.lengths
    table[:, 1] = references.lengths
    table[:, 2] = np.diff(mine[predictions.starts])
    table[:, 3] = np.diff(other[references.starts])

    my_end = chosen.prediction + chosen.prediction_length
    other_end = chosen.reference + chosen.reference_length
    my_function = mine[my_end] - mine[chosen.prediction]
    other_function = other[other_end] - other[chosen.reference]
    cell = chosen.pair * len(COLUMNS) + 4 + 4 * chosen.module
    for offset, amount in enumerate(
        (
            chosen.prediction_length - my_function,
            chosen.reference_length - other_function,
            my_function,
            other_function,
        )
    ):
        # Sums of word counts: exact in the doubles bincount returns.
        table += np.bincount(cell + offset, amount, minlength=table.size).astype(np.int64).reshape(table.shape)

    # A chunk is a run of matches that follow one another on both sides.
    goes_on = (
        (chosen.pair[1:] == chosen.pair[:-1])
        & (chosen.reference[1:] == other_end[:-1])
        & (chosen.prediction[1:] == my_end[:-1])
    )
    opens = np.r_[np.ones(min(len(chosen), 1), dtype=np.bool_), ~goes_on]
    table[:, _CHUNKS] = np.bincount(chosen.pair[opens], minlength=pairs)
    for side in (0, 1):
        table[:, _CHUNKS + 1 + side] = table[:, 4 + side : _CHUNKS : 2].sum(axis=1)
    return table


def _running(flags: IntArray) -> IntArray:
    """How many before each word, and after the last."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(flags)])


def corpus_chunks(table: IntArray) -> IntArray:
    """The chunks each line adds to the corpus, shape (lines,): none where everything matches in one."""
    chunks, mine, other = table[:, _CHUNKS], table[:, _CHUNKS + 1], table[:, _CHUNKS + 2]
    perfect = (mine == table[:, 0]) & (other == table[:, 1]) & (chunks == 1)
    return np.where(perfect, 0, chunks)


def parts(table: NDArray[Any]) -> dict[str, NDArray[np.float64]]:
    """Precision, recall, F and fragmentation of statistics of shape (…, 23), each of shape (…), on 0-1.

    Where there is nothing to divide by, the value is NaN.
    """
    values = np.asarray(table, dtype=np.float64)
    lengths, functions = values[..., 0:2], values[..., 2:4]
    weighted = DELTA * (lengths - functions) + (1 - DELTA) * functions
    total = np.zeros(weighted.shape)
    for module, weight in enumerate(WEIGHTS):
        total = total + values[..., 4 + 4 * module : 6 + 4 * module] * weight * DELTA
    for module, weight in enumerate(WEIGHTS):
        total = total + values[..., 6 + 4 * module : 8 + 4 * module] * weight * (1 - DELTA)
    chunks, matched = values[..., _CHUNKS], values[..., _CHUNKS + 1 :]
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = total / weighted
        precision, recall = shares[..., 0], shares[..., 1]
        f_mean = 1.0 / ((1.0 - ALPHA) / precision + ALPHA / recall)
        fragmentation = chunks / ((matched[..., 0] + matched[..., 1]) / 2)
    perfect = np.all(matched == lengths, axis=-1) & (chunks == 1)
    return {
        "precision": precision,
        "recall": recall,
        "f_mean": f_mean,
        "fragmentation": np.where(perfect, 0.0, fragmentation),
    }


def score(table: NDArray[Any]) -> NDArray[np.float64]:
    """METEOR of statistics of shape (…, 23): shape (…), on the 0-1 scale.

    0 where a side is empty or nothing matches.
    """
    figures = parts(table)
    # math.pow and not NumPy's: the C library's is within one unit in the last place of Java's and, unlike
    # NumPy's vector versions, does not depend on where in an array a value stands.
    fragmentation = figures["fragmentation"]
    powers = np.array([math.pow(value, BETA) for value in fragmentation.ravel().tolist()]).reshape(fragmentation.shape)
    result = figures["f_mean"] * (1.0 - GAMMA * powers)
    return np.maximum(np.where(np.isnan(result), 0.0, result), 0.0)


def best_reference(scores: NDArray[np.float64], groups: IntArray) -> IntArray:
    """The place of the best-scored pair of each group; of equals, the first.

    `groups` holds the number of references of each line; `scores` those of all of them in order.
    """
    line = np.repeat(np.arange(len(groups)), groups)
    order = np.lexsort((-scores, line))
    best: IntArray = order[np.cumsum(groups) - groups]
    return best
