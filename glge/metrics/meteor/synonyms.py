"""The synonym sets of a word, as METEOR 1.5 looks them up in its copy of WordNet 3.0.

Equals the jar's synonym dictionary: the sets of the word itself together with those of its base form,
which comes from the list of irregular forms or, for other words, from a short list of endings. A set is
a WordNet offset without its part of speech, as in the jar.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from glge.metrics.meteor.search import beside
from glge.metrics.meteor.tablefile import TableFile, text_array

# Tried in this order, repetitions and all; the first that leads to a word in the dictionary is taken.
_ENDINGS = (
    ("s", ""),
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
    ("s", ""),
    ("ies", "y"),
    ("es", "e"),
    ("es", ""),
    ("ed", "e"),
    ("ed", ""),
    ("ing", "e"),
    ("ing", ""),
    ("er", ""),
    ("est", ""),
    ("er", "e"),
    ("est", "e"),
)

Sets = NDArray[np.int32]
_NONE: Sets = np.empty(0, dtype=np.int32)


class Synonyms:
    """The dictionary: words and irregular forms, each with the numbers of its synonym sets.

    `lemmas` and `forms` map a word to its place; `starts` (one longer than both together) says where in
    `sets` the numbers of each place begin.
    """

    def __init__(self, lemmas: list[str], forms: list[str], starts: NDArray[np.int32], sets: Sets) -> None:
        self._lemmas = {lemma: place for place, lemma in enumerate(lemmas)}
        self._forms = {form: place for place, form in enumerate(forms, start=len(lemmas))}
        self._starts = starts
        self._sets = sets

    @classmethod
    def from_table(cls, table: TableFile) -> Synonyms:
        """The dictionary as `synonym_arrays` stored it."""
        return cls(table.text("lemmas"), table.text("forms"), table.arrays["synset_starts"], table.arrays["synsets"])

    def sets(self, word: str) -> Sets:
        """The numbers of the synonym sets `word` belongs to, in no order, some twice; shape (sets,)."""
        own = self._at(self._lemmas.get(word))
        base = self._at(self._forms[word]) if word in self._forms else self._at(self._lemmas.get(self.base(word)))
        if base is own or not len(base):
            return own
        return np.concatenate([own, base])

    def base(self, word: str) -> str:
        """The word that the endings lead to; the word itself where they do not apply; else empty.

        >>> empty = np.zeros(3, dtype=np.int32)
        >>> dictionary = Synonyms(["box", "glass"], [], empty, empty)
        >>> [dictionary.base(word) for word in ("boxes", "boxed", "glass", "moss", "is", "houses")]
        ['box', 'box', 'glass', 'moss', 'is', '']
        """
        if word.endswith("ss") or len(word) <= 2:
            return word
        for ending, replacement in _ENDINGS:
            if word.endswith(ending):
                candidate = word[: -len(ending)] + replacement
                if candidate in self._lemmas:
                    return candidate
        return ""

    def _at(self, place: int | None) -> Sets:
        return _NONE if place is None else self._sets[self._starts[place] : self._starts[place + 1]]


def synonym_arrays(synsets: str, exceptions: str) -> dict[str, NDArray[np.int32] | NDArray[np.uint8]]:
    """The arrays of the table from the jar's `english.synsets` and `english.exceptions`.

    Words with an underscore (phrases of WordNet) are left out: no word of a normalised text has one.
    The sets of an irregular form are those of all its bases, so the bases themselves are not kept.
    """
    dictionary = {
        lemma: sorted({int(number) for number in numbers.split()}) for lemma, numbers in _pairs_of_lines(synsets)
    }
    bases: dict[str, set[int]] = {}
    for base, inflected in _pairs_of_lines(exceptions):
        for form in inflected.split():
            bases.setdefault(form, set()).update(dictionary.get(base, ()))
    lemmas = {lemma: numbers for lemma, numbers in dictionary.items() if "_" not in lemma}
    forms = {form: sorted(numbers) for form, numbers in bases.items() if "_" not in form}
    starts, numbers = _joined([*lemmas.values(), *forms.values()])
    return {
        "lemmas": text_array(list(lemmas)),
        "forms": text_array(list(forms)),
        "synset_starts": starts,
        "synsets": numbers,
    }


def neighbours(sets: Mapping[int, Sets], words: int) -> NDArray[np.int64]:
    """Which of some words share a synonym set: `left * words + right` for every ordered pair of them.

    `sets` maps a word's number, below `words`, to its sets. The result is sorted; a word is no neighbour
    of itself.
    """
    if not sets:
        return np.empty(0, dtype=np.int64)
    owners = np.repeat(np.array(list(sets), dtype=np.int64), [len(numbers) for numbers in sets.values()])
    numbers = np.concatenate(list(sets.values()))
    order = np.argsort(numbers, kind="stable")
    owners, numbers = owners[order], numbers[order]
    # Every owner of a set, beside every owner of the same set.
    begin = np.flatnonzero(np.r_[True, numbers[1:] != numbers[:-1]])
    count = np.diff(np.r_[begin, len(numbers)])
    found = [
        np.unique(left[left != right] * words + right[left != right])
        for items, _, partners in beside(np.repeat(begin, count), np.repeat(count, count))
        for left, right in [(np.repeat(owners[items], np.repeat(count, count)[items]), owners[partners])]
    ]
    return np.unique(np.concatenate(found))


def _pairs_of_lines(text: str) -> Iterable[tuple[str, str]]:
    lines = text.split("\n")
    return zip(lines[0::2], lines[1::2], strict=False)  # a last, empty line has no partner


def _joined(lists: list[list[int]]) -> tuple[NDArray[np.int32], Sets]:
    starts = np.zeros(len(lists) + 1, dtype=np.int32)
    np.cumsum([len(numbers) for numbers in lists], out=starts[1:])
    return starts, np.array([number for numbers in lists for number in numbers], dtype=np.int32)
