"""How varied the outputs of a system are: the paper's ratio of Distinct-2, and what stands beside it.

The ratio is that of "Output diversity analysis" and Figure 1 of the GLGE paper: Distinct-2 (Li et al. 2016) of all
predictions of a task, divided by that of its references. Beside it: Distinct-1, the ratio of lengths, n-grams that
are not in the source (See et al. 2017, Narayan et al. 2018), trigrams repeated inside a line, and lines that are
identical ("universal responses", Li et al. 2016). `docs/diversity.md` argues each definition.

Both sides go through the rules of the task as they do when they are scored, sources through the rules of the
references, whose form they have. Then case is folded and tokens are what stands between white space.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np

from glge.errors import MetricError
from glge.metrics.contract import IntArray
from glge.metrics.tokens import Numbering, Tokens, count_grams, number_tokens
from glge.results import Variety
from glge.rules import apply_rules
from glge.tasks import Task

ORDERS = 4  # of novel n-grams
_CHUNK = 1 << 21  # characters of sources whose tokens are held at once


@dataclass(frozen=True)
class Diversity:
    """The figures of one task, named and scaled as in `glge.results.TaskDiversity`."""

    distinct1_ratio: float | None
    distinct2_ratio: float | None
    length_ratio: float | None
    of_predictions: Variety
    of_references: Variety
    most_frequent_text: str | None


def measure_task(
    task: Task, predictions: Sequence[str], references: Sequence[str], sources: Sequence[str] | None = None
) -> Diversity:
    """How varied the predictions are, and the references. Ratios are plain (1: as the references), shares 0-100.

    Every line counts once: lines with the same source are not put together. What is divided by nothing is None.
    Raises MetricError when the lists differ in length.

    >>> from glge.tasks import load_tasks
    >>> coqa = load_tasks().task("coqa")
    >>> found = measure_task(coqa, ["I do not know", "i do not  know"], ["in a barn", "two red cats"])
    >>> found.distinct2_ratio, found.of_predictions.identical_lines, found.most_frequent_text
    (0.5, 100.0, 'i do not know')
    >>> measure_task(coqa, ["yes"], ["in a barn"], ["Yes , he said ."]).of_predictions.novel
    (0.0, None, None, None)
    >>> found = measure_task(coqa, [""], [""])
    >>> found.distinct2_ratio, found.length_ratio, found.of_predictions.empty
    (None, None, 1)
    """
    for what, lines in (("references", references), ("sources", sources)):
        if lines is not None and len(lines) != len(predictions):
            raise MetricError(
                f"{task.name}: predictions and {what} differ in number",
                expected=f"{len(lines):,} predictions",
                found=f"{len(predictions):,}",
            )
    sides = (
        [text.lower() for text in apply_rules(task.prediction.rules, predictions)],
        [text.lower() for text in apply_rules(task.reference.rules, references)],
    )
    novel: Sequence[tuple[float | None, ...] | None] = (None, None)
    if sources is not None:
        novel = _novelty(sides, sources, task.reference.rules)
    texts = [Counter(" ".join(text.split()) for text in side) for side in sides]
    ours, theirs = map(_variety, sides, texts, novel)
    text, count = next(iter(texts[0].most_common(1)), ("", 0))  # of several, the one that comes first
    return Diversity(
        distinct1_ratio=_ratio(ours.distinct1, theirs.distinct1),
        distinct2_ratio=_ratio(ours.distinct2, theirs.distinct2),
        length_ratio=_ratio(ours.tokens, theirs.tokens),
        of_predictions=ours,
        of_references=theirs,
        most_frequent_text=text if count > 1 else None,
    )


def _variety(side: Sequence[str], texts: Counter[str], novel: tuple[float | None, ...] | None) -> Variety:
    tokens = number_tokens(side, Numbering())
    unigrams, bigrams, trigrams = (counts[0] for counts in count_grams([tokens], 3))
    # An entry is a different n-gram of a line: what is above one for each was there before.
    all_trigrams = int(trigrams.count.sum())
    return Variety(
        lines=len(side),
        empty=texts[""],
        tokens=len(tokens.ids),
        distinct1=_share(len(np.unique(unigrams.gram)), len(tokens.ids)),
        distinct2=_share(len(np.unique(bigrams.gram)), int(bigrams.count.sum())),
        novel=novel,
        repeated_trigrams=_share(all_trigrams - len(trigrams.count), all_trigrams),
        identical_lines=_share(sum(count for count in texts.values() if count > 1), len(side)),
        most_frequent=max(texts.values(), default=0),
    )


def _share(part: int, whole: int) -> float | None:
    return 100 * part / whole if whole else None


def _ratio(ours: float | None, theirs: float | None) -> float | None:
    return None if ours is None or not theirs else ours / theirs


# --- novel n-grams --------------------------------------------------------------------------------


def _novelty(
    sides: Sequence[Sequence[str]], sources: Sequence[str], rules: Sequence[str]
) -> list[tuple[float | None, ...]]:
    """For each side the shares, 0-100, of its n-grams that are not in the source of their line, n = 1 … ORDERS."""
    novel = np.zeros((len(sides), ORDERS), dtype=np.int64)
    total = np.zeros_like(novel)
    for part in _chunks(sources):
        texts = [text.lower() for text in apply_rules(rules, sources[part])]
        found = _count_novel([side[part] for side in sides], texts)
        novel += found[0]
        total += found[1]
    return [tuple(map(_share, *rows)) for rows in zip(novel.tolist(), total.tolist(), strict=True)]


def _chunks(sources: Sequence[str]) -> Iterator[slice]:
    """Runs of lines whose sources have about _CHUNK characters together, one line at least."""
    begin = size = 0
    for place, text in enumerate(sources):
        size += len(text)
        if size >= _CHUNK:
            yield slice(begin, place + 1)
            begin, size = place + 1, 0
    yield slice(begin, len(sources))


def _count_novel(sides: Sequence[Sequence[str]], sources: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Novel n-grams and all n-grams, both of shape (sides, ORDERS).

    An n-gram of the source can be one of a side only if its first n-1 tokens and its last are: source positions are
    dropped as soon as they are not, so the longer n-grams cost next to nothing.
    """
    numbering = Numbering()
    targets = [number_tokens(side, numbering) for side in sides]
    source = _number_known(sources, numbering)
    width = len(numbering)
    novel = np.zeros((len(sides), ORDERS), dtype=np.int64)
    total = np.zeros_like(novel)
    # A run: where an n-gram starts, where its text ends, and the number of (line, n-gram) in the table of its order.
    runs = [(np.arange(len(one.ids)), one.starts[1:][one.text], one.text) for one in (*targets, source)]
    known = source.ids >= 0
    runs[-1] = (runs[-1][0][known], runs[-1][1][known], runs[-1][2][known])
    for order in range(ORDERS):
        keys = []
        for place, (one, (starts, ends, grams)) in enumerate(zip((*targets, source), runs, strict=True)):
            inside = starts + order < ends
            starts, ends, grams = starts[inside], ends[inside], grams[inside]  # noqa: PLW2901
            last = one.ids[starts + order]
            runs[place] = (starts, ends, grams)
            keys.append(np.where(last >= 0, grams * width + last, -1))
        table, numbers = np.unique(np.concatenate(keys[:-1]), return_inverse=True)
        if not len(table):
            break
        found = np.minimum(np.searchsorted(table, keys[-1]), len(table) - 1)
        there = table[found] == keys[-1]
        present = np.zeros(len(table), dtype=bool)
        present[found[there]] = True
        runs[-1] = (runs[-1][0][there], runs[-1][1][there], found[there])
        sizes = [len(one) for one in keys[:-1]]
        for place, own in enumerate(np.split(numbers, np.cumsum(sizes)[:-1])):
            runs[place] = (runs[place][0], runs[place][1], own)
            total[place, order] = len(own)
            novel[place, order] = len(own) - np.count_nonzero(present[own])
    return novel, total


def _number_known(texts: Sequence[str], numbering: Numbering) -> Tokens:
    """As `number_tokens`, but a token that has no number gets -1."""
    pieces = [text.split() for text in texts]
    lengths = np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces))
    numbers = map(numbering.get, chain.from_iterable(pieces), repeat(-1))
    ids = np.fromiter(numbers, dtype=np.int64, count=int(lengths.sum()))
    return Tokens(ids, np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths))))
