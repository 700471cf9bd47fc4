"""Whole lists of texts as flat integer arrays, and the n-grams of all of them counted in one go."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count

import numpy as np

from glge.metrics.contract import IntArray


class Numbering(defaultdict[str, int]):
    """Token -> number from 0 on; grows as tokens are met. One numbering serves all sides of a corpus."""

    def __init__(self) -> None:
        super().__init__(count().__next__)


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of n texts, one after the other."""

    ids: IntArray  # (tokens,)
    starts: IntArray  # (texts + 1,)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> IntArray:
        """Tokens in each text, shape (texts,)."""
        return np.diff(self.starts)

    @property
    def text(self) -> IntArray:
        """Number of the text each token is in, shape (tokens,)."""
        return np.repeat(np.arange(len(self)), self.lengths)


def number_tokens(texts: Iterable[str], numbering: Numbering, split: Callable[[str], list[str]] = str.split) -> Tokens:
    """Split every text and number its tokens.

    >>> number_tokens(["a b a", "", "b"], Numbering()).ids.tolist()
    [0, 1, 0, 1]
    """
    pieces = [split(text) for text in texts]
    lengths = np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces))
    ids = np.fromiter(map(numbering.__getitem__, chain.from_iterable(pieces)), dtype=np.int64, count=lengths.sum())
    return Tokens(ids, np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths))))


def split_at_blanks(text: str) -> list[str]:
    """`text.split(" ")`: double blanks make empty tokens, and an empty text is one empty token."""
    return text.split(" ")


@dataclass(frozen=True, eq=False)
class GramCounts:
    """Each different n-gram of each text with its count, sorted by text and n-gram."""

    text: IntArray  # (entries,)
    gram: IntArray  # (entries,) numbers shared by all sides of the same order
    count: IntArray  # (entries,)
    size: int  # numbers of n-grams are below this


def count_grams(sides: Sequence[Tokens], orders: int) -> Iterator[list[GramCounts]]:
    """For each order 1 … `orders` the n-gram counts of every side; n-grams never cross texts.

    >>> sides = [number_tokens(["a a b"], Numbering())]
    >>> [[int(c) for c in grams[0].count] for grams in count_grams(sides, 2)]
    [[2, 1], [1, 1]]
    """
    places = [np.arange(len(side.ids)) for side in sides]
    grams = [side.ids for side in sides]
    texts = [side.text for side in sides]
    tokens = max((int(side.ids.max(initial=-1)) for side in sides), default=-1) + 1
    size = tokens
    for order in range(1, orders + 1):
        if order > 1:
            for index, side in enumerate(sides):
                # Lengthen each gram of the order before by the token behind it, inside its text.
                ends = side.starts[1:][texts[index][places[index]]]
                inside = places[index] + order - 1 < ends
                places[index] = places[index][inside]
                grams[index] = grams[index][inside] * tokens + side.ids[places[index] + order - 1]
            # New numbers from 0 on, so that the next order cannot overflow.
            known, numbers = np.unique(np.concatenate(grams), return_inverse=True)
            size = max(len(known), 1)
            grams = np.split(numbers, np.cumsum([len(side) for side in grams])[:-1])
        yield [
            _counted(text[place], gram, max(size, 1)) for text, place, gram in zip(texts, places, grams, strict=True)
        ]


def _counted(text: IntArray, gram: IntArray, size: int) -> GramCounts:
    keys, counts = np.unique(text * size + gram, return_counts=True)
    return GramCounts(keys // size, keys % size, counts, size)


def clipped_matches(first: GramCounts, second: GramCounts, texts: int) -> IntArray:
    """For each text the sum over n-grams of the smaller of the two counts, shape (texts,)."""
    if not len(first.gram) or not len(second.gram):
        return np.zeros(texts, dtype=np.int64)
    keys = first.text * first.size + first.gram
    others = second.text * second.size + second.gram
    place = np.minimum(np.searchsorted(others, keys), len(others) - 1)
    common = others[place] == keys
    smaller = np.minimum(first.count[common], second.count[place[common]])
    return np.bincount(first.text[common], weights=smaller, minlength=texts).astype(np.int64)
