"""Which words and phrases of two texts METEOR could match, before any choice is made.

Equals the candidate matches the jar's four modules make - exact, stem, synonym, paraphrase - in the order
they make them, for many pairs of texts at once. Nothing is de-duplicated: the same two words may match
once in each module, and a paraphrase once in each direction, since the jar counts them so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glge.metrics.meteor.paraphrases import Paraphrases, Phrases
from glge.metrics.meteor.search import IntArray, beside, locate
from glge.metrics.meteor.vocabulary import Words

EXACT, STEM, SYNONYM, PARAPHRASE = range(4)
MODULES = ("exact", "stem", "synonym", "paraphrase")


@dataclass(frozen=True, eq=False)
class Texts:
    """Many texts end to end: `words` of shape (all words,), `starts` of shape (texts + 1,)."""

    words: IntArray
    starts: IntArray

    @classmethod
    def of(cls, texts: Sequence[Sequence[int]]) -> Texts:
        """From a list of word numbers for each text."""
        starts = np.zeros(len(texts) + 1, dtype=np.int64)
        np.cumsum([len(text) for text in texts], out=starts[1:])
        return cls(np.fromiter((word for text in texts for word in text), np.int64, starts[-1]), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> IntArray:
        """Words in each text."""
        return np.diff(self.starts)

    @property
    def owners(self) -> IntArray:
        """Which text each word belongs to."""
        return np.repeat(np.arange(len(self)), self.lengths)


@dataclass(frozen=True, eq=False)
class Matches:
    """Candidate matches of all pairs, ordered by pair, then first reference word, then creation.

    All of shape (matches,). `reference` and `prediction` are where the match begins, counted over all texts
    of that side; the lengths are in words.
    """

    pair: IntArray
    module: IntArray
    reference: IntArray
    reference_length: IntArray
    prediction: IntArray
    prediction_length: IntArray

    def __len__(self) -> int:
        return len(self.pair)

    def take(self, which: NDArray[np.bool_] | IntArray) -> Matches:
        """Some of the matches, in their order."""
        return Matches(
            self.pair[which],
            self.module[which],
            self.reference[which],
            self.reference_length[which],
            self.prediction[which],
            self.prediction_length[which],
        )


def candidates(predictions: Texts, references: Texts, words: Words, paraphrases: Paraphrases) -> Matches:
    """All candidate matches of each prediction with the reference beside it.

    Where both have the same words, only exact matches are sought, as in the jar.
    """
    same = _same_words(predictions, references, words)
    parts = _word_matches(predictions, references, words, same)
    parts += _phrase_matches(predictions, references, words, paraphrases, ~same)
    module, reference, reference_length, prediction, prediction_length = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    # The parts follow one another as the jar creates them, and so do the matches of one reference word within
    # a part; what is left is to bring those of one reference word together.
    order = np.argsort(reference, kind="stable")
    return Matches(
        references.owners[reference[order]],
        module[order],
        reference[order],
        reference_length[order],
        prediction[order],
        prediction_length[order],
    )


# Module, reference position and length, prediction position and length.
Columns = tuple[IntArray, IntArray, IntArray, IntArray, IntArray]


def _same_words(predictions: Texts, references: Texts, words: Words) -> NDArray[np.bool_]:
    """Which pairs have equal words throughout."""
    same: NDArray[np.bool_] = predictions.lengths == references.lengths
    for pair in np.flatnonzero(same).tolist():
        mine = predictions.words[predictions.starts[pair] : predictions.starts[pair + 1]]
        other = references.words[references.starts[pair] : references.starts[pair + 1]]
        same[pair] = np.array_equal(words.hash[mine], words.hash[other])
    return same


def _word_matches(predictions: Texts, references: Texts, words: Words, same: NDArray[np.bool_]) -> list[Columns]:
    """Exact, stem and synonym matches: one word with one word."""
    owners = references.owners
    begin = predictions.starts[owners]
    count = predictions.lengths[owners]
    only_exact = same[owners]
    mine, other = predictions.words, references.words
    my_hash, other_hash = words.hash[mine], words.hash[other]
    my_stem, other_stem = words.stem[mine], words.stem[other]
    in_a_set = np.zeros(len(words), dtype=np.bool_)
    in_a_set[words.synonyms // max(len(words), 1)] = True
    my_set, other_set = in_a_set[mine], in_a_set[other] & ~only_exact

    nothing = np.empty(0, dtype=np.int64)
    parts = [_columns(EXACT, nothing, nothing)]
    for items, ends, partners in beside(begin, count):
        counts = count[items]
        equal = np.repeat(other_hash[items], counts) == my_hash[partners]
        stems = np.repeat(other_stem[items], counts) == my_stem[partners]
        stems &= ~equal
        stems &= ~np.repeat(only_exact[items], counts)
        sets = np.repeat(other_set[items], counts) & my_set[partners]
        sets &= ~equal
        at = [np.flatnonzero(which) for which in (equal, stems, sets)]
        found = [(items.start + np.searchsorted(ends, place, side="right"), partners[place]) for place in at]
        reference, prediction = found[SYNONYM]
        _, shared = locate(words.synonyms, other[reference] * len(words) + mine[prediction])
        found[SYNONYM] = reference[shared], prediction[shared]
        parts += [_columns(module, *places) for module, places in enumerate(found)]
    return parts


def _columns(module: int, reference: IntArray, prediction: IntArray) -> Columns:
    one = np.ones(len(reference), dtype=np.int64)
    return np.full(len(reference), module), reference, one, prediction, one


def _phrase_matches(
    predictions: Texts, references: Texts, words: Words, table: Paraphrases, wanted: NDArray[np.bool_]
) -> list[Columns]:
    """Paraphrases of the reference found in the prediction, then those of the prediction in the reference."""
    mine = _phrases(predictions, words, table, wanted)
    other = _phrases(references, words, table, wanted)
    pairs = len(wanted)
    heads, bodies = _ordered_match(table, other, mine, pairs)
    module = np.full(len(heads.position), PARAPHRASE)
    first = (module, heads.position, heads.length, bodies.position, bodies.length)
    heads, bodies = _ordered_match(table, mine, other, pairs)
    module = np.full(len(heads.position), PARAPHRASE)
    return [first, (module, bodies.position, bodies.length, heads.position, heads.length)]


def _phrases(texts: Texts, words: Words, table: Paraphrases, wanted: NDArray[np.bool_]) -> Phrases:
    phrases = table.find(words.phrase[texts.words], texts.owners)
    return phrases.take(wanted[phrases.sentence])


def _ordered_match(table: Paraphrases, left: Phrases, right: Phrases, pairs: int) -> tuple[Phrases, Phrases]:
    """For each phrase of the left side, its paraphrases in the order of the table."""
    heads, place = table.heads_among(left)
    head, body, rank = table.match(heads, place, right, pairs)
    order = np.lexsort((rank, head))  # stable: equal paraphrases stay in order of position
    return heads.take(head[order]), right.take(body[order])
