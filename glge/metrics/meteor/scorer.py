"""METEOR 1.5 in Python: from texts to the statistics of the jar, line by line.

Equals `java -jar meteor-1.5.jar - - -stdio -l en -norm`: the statistics line of every pair, and, with several
references, that of the reference with the highest score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from glge.metrics.meteor.alignment import align
from glge.metrics.meteor.matches import Texts, candidates
from glge.metrics.meteor.paraphrases import Paraphrases
from glge.metrics.meteor.search import IntArray
from glge.metrics.meteor.statistics import COLUMNS, best_reference, score, statistics
from glge.metrics.meteor.synonyms import Synonyms
from glge.metrics.meteor.tablefile import TableFile
from glge.metrics.meteor.text import clean_prediction, clean_reference, parse_prefixes, words
from glge.metrics.meteor.vocabulary import Vocabulary

# Pairs looked at together: enough for the array operations to pay, few enough to bound the memory.
_PAIRS = 4096
_WORDS = 200_000


@dataclass(frozen=True, eq=False)
class Scorer:
    """The tables of METEOR, ready for use."""

    prefixes: dict[str, bool]
    function_words: frozenset[str]
    synonyms: Synonyms
    paraphrases: Paraphrases

    @classmethod
    def from_table(cls, table: TableFile) -> Scorer:
        """From the converted tables (see `resources`)."""
        return cls(
            parse_prefixes("\n".join(table.text("prefixes"))),
            frozenset(table.text("function_words")),
            Synonyms.from_table(table),
            Paraphrases.from_table(table),
        )

    def statistics(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> IntArray:
        """The 23 statistics of each prediction with its best reference, shape (lines, 23)."""
        vocabulary = Vocabulary(self.synonyms, self.paraphrases.words, self.function_words)
        groups = np.array([len(group) for group in references], dtype=np.int64)
        tables = [self._block(block, vocabulary) for block in self._blocks(predictions, references, vocabulary)]
        table = np.concatenate(tables) if tables else np.empty((0, len(COLUMNS)), dtype=np.int64)
        if np.all(groups == 1):
            return table
        return table[best_reference(score(table), groups)]

    def _blocks(
        self, predictions: Sequence[str], references: Sequence[Sequence[str]], vocabulary: Vocabulary
    ) -> Iterator[list[tuple[list[int], list[int]]]]:
        """The word numbers of every prediction with every reference of it."""
        block: list[tuple[list[int], list[int]]] = []
        size = 0
        for prediction, group in zip(predictions, references, strict=True):
            mine = vocabulary.numbers(words(clean_prediction(prediction), self.prefixes))
            for reference in group:
                other = vocabulary.numbers(words(clean_reference(reference), self.prefixes))
                block.append((mine, other))
                size += len(mine) + len(other)
                if len(block) >= _PAIRS or size >= _WORDS:
                    yield block
                    block, size = [], 0
        if block:
            yield block

    def _block(self, block: list[tuple[list[int], list[int]]], vocabulary: Vocabulary) -> IntArray:
        facts = vocabulary.words()
        predictions = Texts.of([mine for mine, _ in block])
        references = Texts.of([other for _, other in block])
        matches = candidates(predictions, references, facts, self.paraphrases)
        chosen = matches.take(align(matches, predictions, references))
        return statistics(chosen, predictions, references, facts)
