"""The paraphrase table of METEOR 1.5: which phrases may stand for which, and where they occur in a text.

Equals the jar's reading of `paraphrase-en.gz`: triples of lines (probability, phrase, paraphrase), of
which the probability is ignored; the pairs have a direction, and those of one phrase an order.

Phrases are numbered through a tree: a phrase of one word is that word's number, a longer one is an edge
from the phrase without its last word. The edges are one sorted array of `parent * words + word`, so the
phrases of a whole corpus are found by a few binary searches, exactly: there is no hash to collide.
"""

from __future__ import annotations

import gzip
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glge.metrics.meteor.search import IntArray, beside, locate
from glge.metrics.meteor.tablefile import TableFile, text_array

# Bits of the address in the filter: 2^26 bits are 8 MiB and let through 8 in 100 pairs that are not there.
_FILTER_BITS = 26
_HEAD_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_BODY_FACTOR = np.uint64(0xC2B2AE3D27D4EB4F)
_FILTER_SHIFT = np.uint64(64 - _FILTER_BITS)
_THREE, _SEVEN = np.uint64(3), np.uint64(7)

# Pairs put into the filter at a time, and bytes read at a time.
_BLOCK = 1 << 20
_READ_BLOCK = 1 << 22


@dataclass(frozen=True, eq=False)
class Phrases:
    """The phrases of the table that occur in some sentences, in order of position, then of length.

    All four have shape (occurrences,): which sentence, position counted over all sentences, length in
    words, and number of the phrase.
    """

    sentence: IntArray
    position: IntArray
    length: IntArray
    number: IntArray

    def take(self, which: NDArray[np.bool_] | IntArray) -> Phrases:
        """Some of the occurrences."""
        return Phrases(self.sentence[which], self.position[which], self.length[which], self.number[which])


@dataclass(frozen=True, eq=False)
class Paraphrases:
    """The table. `words` gives the number of a word; the arrays are described at `paraphrase_arrays`."""

    words: dict[str, int]
    edges: IntArray
    heads: NDArray[np.int32]
    starts: NDArray[np.int32]
    bodies: NDArray[np.int32]
    ranks: NDArray[np.uint16]
    filter: NDArray[np.uint8]

    @classmethod
    def from_table(cls, table: TableFile) -> Paraphrases:
        """The table as `paraphrase_arrays` stored it."""
        words = {word: number for number, word in enumerate(table.text("words"))}
        names = ("edges", "heads", "starts", "bodies", "ranks", "filter")
        return cls(words, *(table.arrays[name] for name in names))

    def find(self, words: IntArray, sentence: IntArray) -> Phrases:
        """Every phrase of the tree that occurs in the sentences.

        `words` holds the numbers of all words of all sentences, -1 for a word the table does not know;
        `sentence`, of the same shape, the ascending number of the sentence each belongs to.
        """
        position = np.flatnonzero(words >= 0)
        number = words[position]
        found = [(position, number)]
        length = 1
        while len(position):
            inside = position + length < len(words)
            position, number = position[inside], number[inside]
            following = words[position + length]
            goes_on = (following >= 0) & (sentence[position + length] == sentence[position])
            position, number, following = position[goes_on], number[goes_on], following[goes_on]
            edge, exists = locate(self.edges, number * len(self.words) + following)
            position, number = position[exists], edge + len(self.words)
            found.append((position, number))
            length += 1
        lengths = np.repeat(np.arange(1, len(found) + 1), [len(place) for place, _ in found])
        places = np.concatenate([place for place, _ in found])
        order = np.argsort(places, kind="stable")
        places = places[order]
        return Phrases(sentence[places], places, lengths[order], np.concatenate([n for _, n in found])[order])

    def heads_among(self, phrases: Phrases) -> tuple[Phrases, IntArray]:
        """The occurrences of phrases that have paraphrases, and their places among the heads."""
        place, exists = locate(self.heads, phrases.number)
        return phrases.take(exists), place

    def match(
        self, heads: Phrases, place: IntArray, others: Phrases, sentences: int
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Every head with every other phrase of the same sentence number that is a paraphrase of it.

        `heads` and `place` come from `heads_among`. Three arrays of one length: which head (ascending),
        which other phrase (ascending for each head), and the rank of that paraphrase in the table.
        """
        first = np.searchsorted(others.sentence, np.arange(sentences + 1))
        begin = first[heads.sentence]
        count = first[heads.sentence + 1] - begin
        head_part = place.astype(np.uint64) * _HEAD_FACTOR
        other_part = others.number.astype(np.uint64) * _BODY_FACTOR
        found = []
        for items, ends, other in beside(begin, count):
            address = (np.repeat(head_part[items], count[items]) + other_part[other]) >> _FILTER_SHIFT
            maybe = np.flatnonzero(self.filter[address >> _THREE] >> (address & _SEVEN).astype(np.uint8) & 1)
            head = items.start + np.searchsorted(ends, maybe, side="right")
            body = other[maybe]
            pair, exists = self._pair(place[head], others.number[body])
            found.append((head[exists], body[exists], self.ranks[pair].astype(np.int64)))
        if not found:
            nothing = np.empty(0, dtype=np.int64)
            return nothing, nothing, nothing
        return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))  # type: ignore[return-value]

    def _pair(self, head: IntArray, body: IntArray) -> tuple[IntArray, NDArray[np.bool_]]:
        """Binary search for each body within its head's: the places found, and which exist."""
        low = self.starts[head].astype(np.int64)
        end = self.starts[head + 1].astype(np.int64)
        high = end.copy()
        while np.any(open_ := low < high):
            middle = (low + high) >> 1
            smaller = open_ & (self.bodies[np.minimum(middle, len(self.bodies) - 1)] < body)
            low = np.where(smaller, middle + 1, low)
            high = np.where(smaller, high, np.minimum(high, middle))
        exists = low < end
        exists[exists] = self.bodies[low[exists]] == body[exists]
        return low[exists], exists


def paraphrase_arrays(
    path: Path, progress: Callable[[int, int], None] | None = None
) -> dict[str, NDArray[np.int64] | NDArray[np.int32] | NDArray[np.uint16] | NDArray[np.uint8]]:
    """Convert the published table (gzip) into the arrays of `Paraphrases`.

    - words: the text of the vocabulary; a word's number is its place.
    - edges: the tree; edge e leads to phrase `len(words) + e`.
    - heads: the phrases that have paraphrases, ascending.
    - starts: where in bodies and ranks those of each head begin; one longer than heads.
    - bodies: the paraphrases of each head, ascending; ranks: their order in the file.
    - filter: 2^26 bits, of which each pair sets one: most pairs that are not in the table end there.

    `progress(done, total)` is called now and then. Raises OSError, EOFError or zlib.error when the file
    cannot be read to its end, ValueError when it is not such a table.
    """
    total = path.stat().st_size * 4 // 3  # reading takes about three quarters of the time
    reader = _Reader()
    for lines, done in _triples(path):
        reader.add(lines)
        if progress:
            progress(min(done, total), total)
    arrays = reader.arrays()
    if progress:
        progress(total, total)
    return arrays


class _Numbering(dict[str, int]):
    """Gives every new word the next number."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


class _Reader:
    """Collects the table block by block, as flat arrays of word numbers with a 0 after each phrase."""

    def __init__(self) -> None:
        self.numbering = _Numbering({"\n": 0})
        self.heads: list[NDArray[Any]] = []
        self.bodies: list[NDArray[Any]] = []
        self.changes: list[IntArray] = []  # the pairs at which the head is not that of the pair before
        self.pairs = 0
        self.last: str | None = None

    def add(self, lines: list[str]) -> None:
        """Take in whole triples. Of the phrases, which come in runs, only changes are looked at."""
        phrases, paraphrases = lines[1::3], lines[2::3]
        changes = np.fromiter(map(operator.ne, phrases, [self.last, *phrases]), np.bool_, len(phrases))
        places = np.flatnonzero(changes)
        self.heads.append(self._numbers([phrases[place] for place in places.tolist()]))
        self.bodies.append(self._numbers(paraphrases))
        self.changes.append(places + self.pairs)
        self.pairs += len(phrases)
        self.last = phrases[-1]

    def _numbers(self, phrases: list[str]) -> NDArray[Any]:
        if not phrases:
            return np.empty(0, dtype=np.uint16)
        tokens = (" \n ".join(phrases) + " \n").split(" ")
        numbers = np.fromiter(map(self.numbering.__getitem__, tokens), np.int32, len(tokens))
        # The published vocabulary fits 16 bits, which halves the memory; a larger one just takes more.
        return numbers.astype(np.uint16) if len(self.numbering) <= 1 << 16 else numbers

    def arrays(self) -> dict[str, NDArray[np.int64] | NDArray[np.int32] | NDArray[np.uint16] | NDArray[np.uint8]]:
        """What `paraphrase_arrays` promises."""
        if not self.pairs:
            raise ValueError("no paraphrases")
        vocabulary = len(self.numbering)
        words = np.concatenate([*self.heads, *self.bodies])
        self.heads.clear()
        self.bodies.clear()
        changes = np.concatenate(self.changes)
        edges, numbers = _grow_tree(words, vocabulary)
        del words
        heads, head = np.unique(numbers[: len(changes)], return_inverse=True)
        head = np.repeat(head.astype(np.int32), np.diff(np.r_[changes, self.pairs]))
        starts = np.zeros(len(heads) + 1, dtype=np.int32)
        np.cumsum(np.bincount(head, minlength=len(heads)), out=starts[1:])

        ranks = np.arange(self.pairs, dtype=np.int32)
        in_file = np.argsort(head, kind="stable").astype(np.int32)
        ranks[in_file] = ranks - np.repeat(starts[:-1], np.diff(starts))
        del in_file
        keys = head.astype(np.int64) << 32 | numbers[len(changes) :]
        del numbers
        order = np.argsort(keys).astype(np.int32)
        ranks, keys = ranks[order], keys[order]
        del order
        if np.any(keys[1:] == keys[:-1]):
            raise ValueError("a pair of phrases is listed twice")
        if ranks.max() > np.iinfo(np.uint16).max:
            raise ValueError("a phrase has more than 65,536 paraphrases")
        head = (keys >> 32).astype(np.int32)
        bodies = keys.astype(np.int32)  # the lower half
        del keys
        return {
            "words": text_array(["\x00", *islice(self.numbering, 1, None)]),
            "edges": edges,
            "heads": heads.astype(np.int32),
            "starts": starts,
            "bodies": bodies,
            "ranks": ranks.astype(np.uint16),
            "filter": _filter(head, bodies),
        }


def _grow_tree(words: NDArray[Any], vocabulary: int) -> tuple[IntArray, NDArray[np.int32]]:
    """The edges of the tree of all phrases, and the number of each phrase, in order."""
    ends = np.flatnonzero(words == 0).astype(np.int32)
    begins = np.concatenate([np.zeros(1, dtype=np.int32), ends[:-1] + np.int32(1)])
    lengths = (ends - begins).astype(np.uint16)
    del ends
    numbers = words[begins].astype(np.int32)
    levels: list[IntArray] = []
    nodes = vocabulary
    for length in range(1, int(lengths.max())):
        longer = np.flatnonzero(lengths > length).astype(np.int32)
        keys = numbers[longer].astype(np.int64) * vocabulary + words[begins[longer] + length]
        edges = np.unique(keys)
        numbers[longer] = nodes + np.searchsorted(edges, keys)
        levels.append(edges)
        nodes += len(edges)
    # A phrase of one level has a higher number than all of the level before, so the whole is sorted too.
    return np.concatenate(levels) if levels else np.empty(0, dtype=np.int64), numbers


def _filter(head: NDArray[Any], bodies: NDArray[np.int32]) -> NDArray[np.uint8]:
    bits = np.zeros(1 << _FILTER_BITS, dtype=np.bool_)
    for low in range(0, len(head), _BLOCK):
        part = slice(low, low + _BLOCK)
        bits[_address(head[part].astype(np.uint64), bodies[part].astype(np.uint64))] = True
    return np.packbits(bits, bitorder="little")


def _address(head: NDArray[np.uint64], body: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return (head * _HEAD_FACTOR + body * _BODY_FACTOR) >> _FILTER_SHIFT


def _triples(path: Path) -> Iterator[tuple[list[str], int]]:
    """Whole triples of lines, some ten thousand at a time, and how many bytes of the file are read."""
    with path.open("rb") as raw, gzip.GzipFile(fileobj=raw) as file:
        lines: list[str] = []
        rest = b""
        while block := file.read(_READ_BLOCK):
            text, _, rest = (rest + block).rpartition(b"\n")
            if text:
                lines += text.decode("utf-8").split("\n")
            whole = len(lines) - len(lines) % 3
            if whole:
                yield lines[:whole], raw.tell()
            lines = lines[whole:]
        if rest:
            lines += rest.decode("utf-8").split("\n")
        if len(lines) % 3:
            raise ValueError("the number of lines is not a multiple of three")
        if lines:
            yield lines, raw.tell()
