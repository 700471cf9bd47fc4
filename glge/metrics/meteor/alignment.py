"""Which of the candidate matches METEOR takes: the one alignment the jar's beam search ends in.

Equals the jar's aligner with its beam of 40, including what looks like a slip in it: the distance of a
match is added not to the new partial alignment but to the one it grew from, so that the alternatives tried
after it inherit the distance. Alignments are ranked by words covered (a word matched by anything but the
exact module counts half, and the half is cut off), then by fewer chunks, then by less distance, and of
equal ones the earlier made wins; the order of the candidates therefore matters.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glge.metrics.meteor.matches import EXACT, Matches, Texts
from glge.metrics.meteor.search import IntArray

BEAM = 40
# Prediction words that are kept as the bits of one integer; a longer line has a set of the few that are used.
_BITS = 2048

# A partial alignment: its rank (one integer, smaller is better), the prediction word right after its last
# match (-1 after a gap), the reference word right after its last match, the prediction words it uses, and the
# chosen matches as a chain of (chain, match). Words are the bits of an integer or a set: | and & serve both.
_Trail = tuple["_Trail", int] | None
_Words = Any
_State = tuple[int, int, int, _Words, _Trail]
_rank = itemgetter(0)


def align(matches: Matches, predictions: Texts, references: Texts) -> NDArray[np.bool_]:
    """Which candidate matches are chosen, shape (matches,)."""
    chosen = _uncontested(matches, predictions, references)
    contested = np.zeros(len(references), dtype=np.bool_)
    contested[matches.pair[~chosen]] = True
    # Where nothing is contested the answer is all of it; only the rest is searched.
    places = np.flatnonzero(contested[matches.pair])
    winners = [place for search in _searches(matches, places, chosen, predictions, references) for place in search]
    chosen[winners] = True
    return chosen


def _uncontested(matches: Matches, predictions: Texts, references: Texts) -> NDArray[np.bool_]:
    """Matches none of whose words, on either side, occurs in another match."""
    crowded = _crowded(matches.reference, matches.reference_length, len(references.words))
    mine = _crowded(matches.prediction, matches.prediction_length, len(predictions.words))
    return np.asarray(
        (crowded[matches.reference + matches.reference_length] == crowded[matches.reference])
        & (mine[matches.prediction + matches.prediction_length] == mine[matches.prediction])
    )


def _crowded(begin: IntArray, length: IntArray, words: int) -> IntArray:
    """Before each word (and after the last): how many words so far lie in more than one match."""
    covered = np.cumsum(np.bincount(begin, minlength=words + 1) - np.bincount(begin + length, minlength=words + 1))
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(covered[:words] > 1)])


def _searches(
    matches: Matches, places: IntArray, fixed: NDArray[np.bool_], predictions: Texts, references: Texts
) -> Iterator[list[int]]:
    """The chosen matches of each contested pair."""
    some = matches.take(places)
    begin = some.reference - references.starts[some.pair]
    mine = some.prediction - predictions.starts[some.pair]
    both = some.prediction_length + some.reference_length
    gain = np.where(some.module == EXACT, both, some.prediction_length // 2 + some.reference_length // 2)
    options = list(
        zip(
            begin.tolist(),
            (begin + some.reference_length).tolist(),
            mine.tolist(),
            (mine + some.prediction_length).tolist(),
            gain.tolist(),
            np.abs(begin - mine).tolist(),
            fixed[places].tolist(),
            places.tolist(),
            strict=True,
        )
    )
    cuts = np.flatnonzero(np.r_[True, some.pair[1:] != some.pair[:-1], True]) if len(some) else np.zeros(1, np.int64)
    lengths = references.lengths[some.pair[cuts[:-1]]].tolist()
    for length, low, high in zip(lengths, cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        yield _search(options[low:high], length)


_Option = tuple[int, int, int, int, int, int, bool, int]


def _search(options: list[_Option], length: int) -> list[int]:
    """The beam search over one pair: the chosen matches, without the uncontested ones.

    `options` are (reference word, its end, prediction word, its end, gain, distance, fixed, match), ordered
    by reference word; `length` is the number of reference words.
    """
    # rank = -gain * chunks_possible * distances_possible + chunks * distances_possible + distance
    chunk = sum(option[5] for option in options) + 1
    word = chunk * (length + 3)
    sparse = max((option[3] for option in options), default=0) > _BITS
    states: list[_State] = [(0, -1, 0, frozenset() if sparse else 0, None)]
    place = 0
    current = 0
    count = len(options)
    while place < count:
        begin = options[place][0]
        if begin > current:
            states = _pass_over(states, current, begin, chunk)
            current = begin
        low = place
        while place < count and options[place][0] == begin:
            place += 1
        if options[low][6]:
            _, end, mine, after, gain, distance, _, _ = options[low]
            cost = distance - gain * word
            states = [
                (rank + cost if last in (-1, mine) else rank + cost + chunk, after, end, used, trail)
                for rank, last, _, used, trail in states
            ]
        else:
            states = _branch(states, options[low:place], begin, word, chunk, sparse)
        if len(states) > 1:
            states.sort(key=_rank)
            del states[BEAM:]
        current = begin + 1
    states = _pass_over(states, current, length, chunk)
    # The last open chunk is closed; min takes the first of equals, as the jar's stable sort does.
    best = min(states, key=lambda state: state[0] if state[1] == -1 else state[0] + chunk)
    trail = best[4]
    found = []
    while trail is not None:
        trail, match = trail
        found.append(match)
    return found


def _pass_over(states: list[_State], current: int, until: int, chunk: int) -> list[_State]:
    """Reference words at which no match begins: open chunks are closed, and the ranking renewed."""
    while current < until:
        if len(states) == 1:
            rank, last, end, used, trail = states[0]
            return states if last == -1 or end >= until else [(rank + chunk, -1, end, used, trail)]
        closed = [
            state if state[1] == -1 or state[2] > current else (state[0] + chunk, -1, state[2], state[3], state[4])
            for state in states
        ]
        if closed != states:
            closed.sort(key=_rank)
            states = closed
        elif all(state[2] <= current for state in states):
            break
        current += 1
    return states


def _branch(
    states: list[_State], options: list[_Option], begin: int, word: int, chunk: int, sparse: bool
) -> list[_State]:
    """At a contested reference word: each partial alignment with each match that fits, and with none.

    Of those made, only the ones that may be among the first `BEAM` are returned: `states` are sorted, and
    what ranks no better than `BEAM` earlier ones is not made at all.
    """
    moves = [
        (
            mine,
            after,
            end,
            frozenset(range(mine, after)) if sparse else ((1 << (after - mine)) - 1) << mine,
            gain * word,
            distance,
            match,
        )
        for _, end, mine, after, gain, distance, _, match in options
    ]
    most = max(move[4] for move in moves)
    grown: list[_State] = []
    add = grown.append
    limit: int | None = None
    for state in states:
        if len(grown) >= 2 * BEAM:
            grown.sort(key=_rank)
            del grown[BEAM:]
            limit = grown[-1][0]
        rank, last, end, used, trail = state
        if limit is not None and rank - most >= limit:
            break
        if end > begin:
            add(state)
            continue
        closing = rank if last == -1 else rank + chunk
        for mine, after, stop, mask, gain, distance, match in moves:
            if used & mask:
                continue
            reached = (rank if last == mine else closing) - gain
            if limit is None or reached < limit:
                add((reached, after, stop, used | mask, (trail, match)))
            rank += distance  # on the parent, for the alternatives still to come
            closing += distance
        if limit is None or closing < limit:
            add((closing, -1, end, used, trail))
    return grown
