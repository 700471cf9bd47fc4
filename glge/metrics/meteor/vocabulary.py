"""What METEOR needs to know about each different word of a corpus, worked out once a word.

Equals the jar in what it takes for equality: two words, or two stems, are the same when Java's
`String.hashCode` of them is the same number. Real words collide (`20s` and `225`), so the number itself is
kept. Synonyms and paraphrases are looked up by the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field

import numpy as np

from glge.metrics.meteor.search import IntArray
from glge.metrics.meteor.stemmer import stem
from glge.metrics.meteor.synonyms import Sets, Synonyms, neighbours


def java_hash(text: str) -> int:
    """Java's `String.hashCode`, as a number from 0 to 2^32 - 1.

    >>> java_hash("20s") == java_hash("225")
    True
    >>> java_hash("")
    0
    >>> java_hash("😀") == java_hash("\\ud83d\\ude00")  # two UTF-16 units
    True
    """
    result = 0
    if text.isascii() or max(text) <= "\uffff":
        for unit in map(ord, text):
            result = 31 * result + unit
    else:
        units = text.encode("utf-16-le", "surrogatepass")
        for place in range(0, len(units), 2):
            result = 31 * result + units[place] + 256 * units[place + 1]
    return result & 0xFFFFFFFF


@dataclass
class Vocabulary:
    """The different words met so far, numbered in order of appearance."""

    synonyms: Synonyms
    paraphrase_words: Mapping[str, int]
    function_words: Set[str]
    _numbers: dict[str, int] = field(default_factory=dict)
    _hashes: list[int] = field(default_factory=list)
    _stems: list[int] = field(default_factory=list)
    _functions: list[bool] = field(default_factory=list)
    _phrases: list[int] = field(default_factory=list)
    _sets: dict[int, Sets] = field(default_factory=dict)

    def numbers(self, words: Iterable[str]) -> list[int]:
        """The number of each word; new words are looked up."""
        known = self._numbers
        found = []
        for word in words:
            number = known.get(word)
            if number is None:
                number = self._add(word)
            found.append(number)
        return found

    def _add(self, word: str) -> int:
        number = len(self._hashes)
        self._numbers[word] = number
        self._hashes.append(java_hash(word))
        self._stems.append(java_hash(stem(word)))
        self._functions.append(word in self.function_words)
        self._phrases.append(self.paraphrase_words.get(word, -1))
        sets = self.synonyms.sets(word)
        if len(sets):
            self._sets[number] = sets
        return number

    def words(self) -> Words:
        """All of it as arrays."""
        return Words(
            np.array(self._hashes, dtype=np.int64),
            np.array(self._stems, dtype=np.int64),
            np.array(self._functions, dtype=np.int64),
            np.array(self._phrases, dtype=np.int64),
            neighbours(self._sets, len(self._hashes)),
        )


@dataclass(frozen=True, eq=False)
class Words:
    """Facts of the numbered words. All but the last have shape (words,).

    `hash` and `stem` are Java hashes, `function` is 1 for a function word, `phrase` the word's number in the
    paraphrase table or -1. `synonyms` lists every ordered pair of words that share a synonym set, ascending,
    as `left * words + right`.
    """

    hash: IntArray
    stem: IntArray
    function: IntArray
    phrase: IntArray
    synonyms: IntArray

    def __len__(self) -> int:
        return len(self.hash)
