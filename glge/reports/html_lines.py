"""Single lines on an HTML page: which are shown, and what a prediction has in common with its references.

A page holds a task's best and worst lines and a random sample of the others, never all of a large one. Words are
matched as longest common n-grams, in lower case; the metrics have rules of their own, so a mark explains a value and
does not prove it.
"""

from __future__ import annotations

import heapq
import math
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from glge.reports.html_page import Column, Markup, cell, table, text
from glge.reports.wording import figure, visible
from glge.results import TaskLines

ENDS = 10  # so many best and so many worst
MOST = 200  # lines of a task on the page
ROOM = 150_000  # bytes of text of a task; a long-winded task shows fewer lines
LONGEST = 1_000  # characters of a text that are shown
REFERENCES = 5  # references of a line that are shown
SEED = 12345

_SEPARATOR = re.compile(r"\s*(?:\[X_SEP\]|<S_SEP>|\[SEP\])\s*")
_WORD = re.compile(r"\[X_SEP\]|<S_SEP>|\[SEP\]|\w+(?:[’']\w+)*|[^\w\s]")


def ranked_by(task: TaskLines) -> list[str]:
    """The metrics that make a line's value: those that count and say something about one line (Distinct does not)."""
    return [name for name in task.values if task.counted[name] and not name.startswith("distinct")]


def line_values(task: TaskLines) -> list[float | None]:
    """An item's value by itself: the mean of its `ranked_by` metrics, 0-100; None where it has none."""
    columns = [task.values[name] for name in ranked_by(task)]
    if not columns:
        return [None] * len(task)
    means = (sum(figures) / len(columns) for figures in zip(*columns, strict=True))
    return [mean if math.isfinite(mean) else None for mean in means]


@dataclass(frozen=True)
class Chosen:
    """The items of a task that are on the page (counted from 0): worst first, then best, then those drawn."""

    worst: list[int]
    best: list[int]
    drawn: list[int]
    all: int

    def __len__(self) -> int:
        return len(self.worst) + len(self.best) + len(self.drawn)


def choose(task: TaskLines, values: Sequence[float | None], *, references: bool = True) -> Chosen:
    """Up to ENDS worst and best items, and others drawn at random (SEED) until MOST or ROOM is reached.

    Of items with the same value the one with the longer prediction goes first, then the earlier one.
    """
    ranked = sorted(
        (item for item, value in enumerate(values) if value is not None),
        key=lambda item: (values[item], -task.words[item], item),
    )
    count = min(ENDS, len(ranked) // 2)
    worst = ranked[:count]
    best = sorted(ranked[count:], key=lambda item: (-(values[item] or 0.0), -task.words[item], item))[:count]
    taken = {*worst, *best}
    order = random.Random(SEED)
    rest = [item for _, item in sorted((order.random(), item) for item in range(len(task)) if item not in taken)]
    spent = sum(_weight(task, item, references) for item in taken)
    drawn: list[int] = []
    for item in rest[: MOST - len(taken)]:
        spent += _weight(task, item, references)
        if spent > ROOM:
            break
        drawn.append(item)
    return Chosen(worst, best, sorted(drawn), len(task))


def _weight(task: TaskLines, item: int, references: bool) -> int:
    texts = [task.predictions[item], *(task.references[item][:REFERENCES] if references else ())]
    return sum(len(each[:LONGEST].encode("utf-8", "replace")) for each in texts)


# --- what two texts have in common ----------------------------------------------------------------


@dataclass(frozen=True)
class Words:
    """A text in words: each as it is compared, and where it stands."""

    shown: str
    keys: list[str]
    places: list[tuple[int, int]]


def words_of(shown: str) -> Words:
    """Words and punctuation marks, in lower case; separators of sentences are words of their own.

    >>> words_of("It's 40,000.").keys
    ["it's", '40', ',', '000', '.']
    >>> words_of("").keys
    []
    """
    found = list(_WORD.finditer(shown))
    return Words(shown, [each[0].casefold() for each in found], [each.span() for each in found])


def matches(first: Words, second: Words) -> tuple[list[int], list[int]]:
    """For every word of both texts, the length of the common n-gram it is part of; 0: it has no partner.

    The longest common n-gram is taken first and each word once (greedy string tiling). Separators match nothing, and
    a punctuation mark only within a longer n-gram.

    >>> matches(words_of("the red door is shut ."), words_of("is the red door open ."))[0]
    [3, 3, 3, 1, 0, 0]
    """
    where: dict[str, list[int]] = {}
    for place, key in enumerate(second.keys):
        if not _SEPARATOR.fullmatch(key.upper()):
            where.setdefault(key, []).append(place)
    ends: dict[int, int] = {}
    runs: list[tuple[int, int, int]] = []
    for i, key in enumerate(first.keys):
        now = {j: ends.get(j - 1, 0) + 1 for j in where.get(key, ())}
        # A run that does not go on here has ended with the word before.
        runs += [(-length, i - length, j + 1 - length) for j, length in ends.items() if j + 1 not in now]
        ends = now
    end = len(first.keys)
    runs += [(-length, end - length, j + 1 - length) for j, length in ends.items()]
    heapq.heapify(runs)
    left, right = [0] * len(first.keys), [0] * len(second.keys)
    while runs:
        length, i, j = heapq.heappop(runs)
        free = [not left[i + step] and not right[j + step] for step in range(-length)]
        if all(free):
            if length == -1 and not first.keys[i][0].isalnum():
                continue
            left[i : i - length] = right[j : j - length] = [-length] * -length
            continue
        for begin, stop in _stretches(free):
            heapq.heappush(runs, (begin - stop, i + begin, j + begin))
    return left, right


def _stretches(free: Sequence[bool]) -> Iterator[tuple[int, int]]:
    begin = None
    for place, yes in enumerate([*free, False]):
        if yes and begin is None:
            begin = place
        elif not yes and begin is not None:
            yield begin, place
            begin = None


def marked(words: Words, lengths: Sequence[int]) -> Markup:
    """The text with its matching words marked: single ones lightly, longer n-grams strongly."""
    parts = []
    done = place = 0
    while place < len(lengths):
        length = lengths[place]
        if length:
            # Two n-grams may touch here and stand apart there: each is a mark of its own.
            stop = place + 1
            while stop < min(place + length, len(lengths)) and lengths[stop] == length:
                stop += 1
            begin, end = words.places[place][0], words.places[stop - 1][1]
            parts.append(text(words.shown[done:begin]))
            parts.append(f"<mark{' class=g' if length > 1 else ''}>{text(words.shown[begin:end])}</mark>")
            done, place = end, stop
        else:
            place += 1
    parts.append(text(words.shown[done:]))
    return "".join(parts)


def _cut(whole: str) -> tuple[str, Markup]:
    if len(whole) <= LONGEST:
        return whole, ""
    return whole[:LONGEST], f' <span class="cut">… {len(whole) - LONGEST:,} more characters</span>'


def side_by_side(predictions: Sequence[str], references: Sequence[str]) -> tuple[list[Markup], Markup]:
    """The predictions of a line (of one or more systems) and its references, with what they have in common marked.

    A word of a prediction is marked by the longest n-gram it shares with any reference, one of a reference by the
    longest it shares with any prediction.
    """
    gold = [_cut(each) for each in references[:REFERENCES]]
    gold_words = [words_of(shown) for shown, _ in gold]
    gold_lengths = [[0] * len(each.keys) for each in gold_words]
    cells = []
    for prediction in predictions:
        shown, more = _cut(prediction)
        own = words_of(shown)
        lengths = [0] * len(own.keys)
        for place, other in enumerate(gold_words):
            mine, theirs = matches(own, other)
            lengths = list(map(max, lengths, mine))
            gold_lengths[place] = list(map(max, gold_lengths[place], theirs))
        cells.append(_paragraph(marked(own, lengths) + more))
    shown_references = "".join(
        _paragraph(marked(each, lengths) + more)
        for each, lengths, (_, more) in zip(gold_words, gold_lengths, gold, strict=True)
    )
    rest = len(references) - REFERENCES
    return cells, shown_references + (f'<p class="cut">and {rest:,} more</p>' if rest > 0 else "")


def plain(prediction: str) -> Markup:
    """A prediction by itself, nothing marked."""
    shown, more = _cut(prediction)
    return _paragraph(text(shown) + more)


def _paragraph(content: Markup) -> Markup:
    return f'<p dir="auto">{content}</p>' if content else '<p class="none">(empty)</p>'


# --- tables ---------------------------------------------------------------------------------------

SETS = {"worst": "lowest", "best": "highest", "drawn": "drawn"}


def line_table(
    task: TaskLines,
    values: Sequence[float | None],
    items: Sequence[tuple[str, int]],
    *,
    caption: Markup,
    key: str,
    digits: int,
    references: bool,
) -> Markup:
    """Items with their kind (of SETS), a row each: figures, then prediction and references side by side."""
    shown = {name: visible(task.shown[name] if task.counted[name] else f"({task.shown[name]})") for name in task.values}
    columns = [
        Column("Line", "number", "n"),
        Column("Value", "number", "n"),
        *(Column(text(shown[name]), "number", "n") for name in task.values),
        Column("Words", "number", "n"),
        Column("Prediction", "text", "t"),
        *([Column("Reference", "text", "t")] if references else []),
    ]
    rows = []
    for kind, item in items:
        note = note_of(task, item, references)
        if references:
            (prediction,), gold = side_by_side([task.predictions[item]], task.references[item])
        else:
            prediction, gold = plain(task.predictions[item]), ""
        if note:
            prediction += f'<p class="note">{text(note)}</p>'
        cells = [
            cell((f"<small>{SETS[kind]}</small> " if kind != "drawn" else "") + _number(task, item), "n", "line"),
            cell(figure(values[item], digits), "n", "value"),
            *(cell(_finite(task.values[name][item], digits), "n", shown[name]) for name in task.values),
            cell(f"{task.words[item]:,}", "n", "words"),
            cell(prediction, "t", "Prediction"),
            *([cell(gold, "t", "Reference")] if references else []),
        ]
        odd = f' data-note="{text(note)}"' if note else ""
        rows.append(f"<tr data-set={kind}{odd}>{''.join(cells)}</tr>")
    return table(columns, [rows], caption=caption, kind="lines", attributes=f' data-task="{key}"')


def most_different(
    before: Sequence[float | None], after: Sequence[float | None], most: int = ENDS
) -> list[tuple[float, int]]:
    """Differences (after - before) and items, the largest first; of equal ones the earlier item."""
    known = [
        (new - old, item)
        for item, (old, new) in enumerate(zip(before, after, strict=True))
        if old is not None and new is not None and new != old
    ]
    return sorted(known, key=lambda found: (-abs(found[0]), found[1]))[:most]


def difference_table(
    systems: tuple[TaskLines, TaskLines],
    names: tuple[str, str],
    *,
    caption: Markup,
    key: str,
    digits: int,
    references: bool,
) -> Markup:
    """The items whose values differ most between two systems; empty when none differ."""
    first, other = systems
    before, after = line_values(first), line_values(other)
    differing = most_different(before, after)
    if not differing:
        return ""
    columns = [
        Column("Line", "number", "n"),
        Column("Difference", "number", "n"),
        Column(text(names[0]), "number", "n"),
        Column(text(names[1]), "number", "n"),
        Column(f"Prediction of {text(names[0])}", "text", "t"),
        Column(f"Prediction of {text(names[1])}", "text", "t"),
        *([Column("Reference", "text", "t")] if references else []),
    ]
    rows = []
    for change, item in differing:
        texts = [first.predictions[item], other.predictions[item]]
        if references:
            predictions, gold = side_by_side(texts, first.references[item])
        else:
            predictions, gold = [plain(each) for each in texts], ""
        notes = [note_of(system, item, references) for system in systems]
        for place, note in enumerate(notes):
            predictions[place] += f'<p class="note">{text(note)}</p>' if note else ""
        note = "; ".join(dict.fromkeys(part for each in notes if each for part in each.split("; ")))
        cells = [
            cell(_number(first, item), "n", "line"),
            cell(f"{change:+.{digits}f}".replace("-", "−"), "n", "difference"),
            cell(figure(before[item], digits), "n", names[0]),
            cell(figure(after[item], digits), "n", names[1]),
            *(cell(shown, "t", f"Prediction of {name}") for shown, name in zip(predictions, names, strict=True)),
            *([cell(gold, "t", "Reference")] if references else []),
        ]
        odd = f' data-note="{text(note)}"' if note else ""
        rows.append(f"<tr data-set=differs{odd}>{''.join(cells)}</tr>")
    return table(columns, [rows], caption=caption, kind="lines", attributes=f' data-task="{key}"')


def note_of(task: TaskLines, item: int, references: bool = True) -> str:
    """What is odd about an item. Without references only what the prediction alone shows: other notes tell of them."""
    if references:
        return task.notes[item]
    return "" if task.predictions[item].strip() else "empty prediction"


def _number(task: TaskLines, item: int) -> Markup:
    *others, last = task.numbers[item]
    if not others:
        return f"{last:,}"
    shown = ", ".join(f"{number:,}" for number in others[:4]) + (", …" if len(others) > 4 else "")
    return f"{last:,} <small>with {shown}</small>"


def _finite(value: float, digits: int) -> str:
    return figure(value if math.isfinite(value) else None, digits)
