"""Longest common subsequences of thousands of token pairs at once, one machine word a table row.

Two questions are answered: how long the LCS of each pair is (coco ROUGE-L), and which places of the
first sequence lie on the one path ROUGE-1.5.5 walks (its ROUGE-L). The path is fixed by the table
c[i][j] over first sequence i and second sequence j: diagonal where the tokens are equal, otherwise up
(i-1) when c[i-1][j] >= c[i][j-1], else left; walked back from the corner.

Bit j of a word stands for place j of the second sequence; row i of the table is kept as the word whose
bit j is 0 where c[i][j] exceeds c[i][j-1] (Allison and Dix 1986; Crochemore et al. 2001; Hyyrö 2004).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glge.metrics.contract import IntArray

_WORD = 64
_LONG = 512
_BATCH_CELLS = 1 << 18
_ALL = ~np.uint64(0)
_SHIFTS = [np.uint64(1 << power) for power in range(6)]


@dataclass(frozen=True, eq=False)
class SequencePairs:
    """n pairs of stretches of two flat token arrays (ids >= 0). All index arrays have shape (n,)."""

    first_tokens: IntArray
    first_begin: IntArray
    first_length: IntArray
    second_tokens: IntArray
    second_begin: IntArray
    second_length: IntArray

    def _long_pairs(self) -> NDArray[np.bool_]:
        long: NDArray[np.bool_] = (self.second_length > _WORD) | (self.first_length > _LONG)
        return long

    def _tokens_of(self, pair: int) -> tuple[list[int], list[int]]:
        begin, other = self.first_begin[pair], self.second_begin[pair]
        return (
            self.first_tokens[begin : begin + self.first_length[pair]].tolist(),
            self.second_tokens[other : other + self.second_length[pair]].tolist(),
        )

    def _batches(self) -> Iterator[IntArray]:
        """Numbers of the short pairs, pairs of like size together so that little of a batch is padding."""
        usable = ~self._long_pairs() & (self.first_length > 0) & (self.second_length > 0)
        order = np.flatnonzero(usable)
        order = order[np.lexsort((self.first_length[order], (self.second_length[order] + 7) // 8))]
        position = 0
        while position < len(order):
            width = int(self.second_length[order[position]] + 7) // 8 * 8
            height = int(self.first_length[order[min(position + 2048, len(order) - 1)]])
            take = max(64, _BATCH_CELLS // (width * max(height, 8)))
            yield order[position : position + take]
            position += take

    def _matches(self, batch: IntArray) -> NDArray[np.uint64]:
        """Word [i, pair]: bit j is set where first token i equals second token j."""
        height, width = self.first_length[batch], self.second_length[batch]
        rows, columns = np.arange(int(height.max())), np.arange(int(width.max()))
        place = self.first_begin[batch][:, None] + rows
        first = np.where(rows < height[:, None], self.first_tokens.take(place, mode="clip"), -1).astype(np.int32)
        place = self.second_begin[batch][:, None] + columns
        second = np.where(columns < width[:, None], self.second_tokens.take(place, mode="clip"), -2).astype(np.int32)
        packed = np.packbits(first.T[:, :, None] == second[None], axis=2, bitorder="little")
        words = np.zeros((len(rows), len(batch), 8), dtype=np.uint8)
        words[:, :, : packed.shape[2]] = packed
        return words.view("<u8")[:, :, 0].astype(np.uint64, copy=False)

    def lengths(self) -> IntArray:
        """LCS length of every pair, shape (n,)."""
        result = np.zeros(len(self.first_begin), dtype=np.int64)
        for batch in self._batches():
            row = np.full(len(batch), _ALL)
            for match in self._matches(batch):
                both = row & match
                row = (row + both) | (row - both)
            result[batch] = np.bitwise_count(~row & _low_bits(self.second_length[batch]))
        for pair in np.flatnonzero(self._long_pairs()).tolist():
            first, second = self._tokens_of(pair)
            row_bits, everything, places = _start(second)
            for token in first:
                both_bits = row_bits & places.get(token, 0)
                row_bits = ((row_bits + both_bits) | (row_bits - both_bits)) & everything
            result[pair] = len(second) - row_bits.bit_count()
        return result

    def mark_first(self) -> NDArray[np.bool_]:
        """Which first tokens lie on the path of some pair, shape of `first_tokens`."""
        marks = np.zeros(len(self.first_tokens), dtype=bool)
        for batch in self._batches():
            self._mark_batch(batch, marks)
        for pair in np.flatnonzero(self._long_pairs()).tolist():
            path = _path(*self._tokens_of(pair))
            marks[self.first_begin[pair] + np.array(path, dtype=np.int64)] = True
        return marks

    def _mark_batch(self, batch: IntArray, marks: NDArray[np.bool_]) -> None:
        """The walk back, for a batch.

        At row i go left to the first place where the tokens are equal (mark it and go diagonally) or
        where c[i-1][j] equals c[i][j] (go up): `reach` has a 1 for every column still ahead.
        """
        matches = self._matches(batch)
        rows = len(matches)
        table = np.empty((rows + 1, len(batch)), dtype=np.uint64)
        table[0] = _ALL
        for row in range(rows):
            both = table[row] & matches[row]
            np.bitwise_or(table[row] + both, table[row] - both, out=table[row + 1])
        reach = _low_bits(self.second_length[batch])
        on_path = np.empty((rows, len(batch)), dtype=bool)
        for row in range(rows - 1, -1, -1):
            steeper = table[row + 1] ^ table[row]
            for shift in _SHIFTS:  # parity of the bits up to each place: 1 where c[i][j] > c[i-1][j]
                steeper ^= steeper << shift
            stops = (matches[row] | ~steeper) & reach
            for shift in _SHIFTS:  # all places up to the highest stop
                stops |= stops >> shift
            below = stops >> _SHIFTS[0]
            diagonal = ((stops ^ below) & matches[row]) != 0
            on_path[row] = diagonal
            reach = np.where(diagonal, below, stops)
        row_index, pair = np.nonzero(on_path)
        marks[self.first_begin[batch][pair] + row_index] = True


def _low_bits(count: IntArray) -> NDArray[np.uint64]:
    """Words with the lowest `count` (1 … 64) bits set."""
    return _ALL >> (_WORD - count).astype(np.uint64)


def _start(second: list[int]) -> tuple[int, int, dict[int, int]]:
    """First row, mask of all columns, and the columns of each token, as Python's long integers."""
    places: dict[int, int] = {}
    for column, token in enumerate(second):
        places[token] = places.get(token, 0) | (1 << column)
    everything = (1 << len(second)) - 1
    return everything, everything, places


def _path(first: list[int], second: list[int]) -> list[int]:
    """Places of `first` on the path, for one pair of any length, last one first.

    Every 1,024th row is kept on the way down and the rows between are made again on the way up, so
    that lines of a million characters fit in memory.
    """
    row, everything, places = _start(second)
    step = 1024
    kept = [row]
    for position, token in enumerate(first, 1):
        both = row & places.get(token, 0)
        row = ((row + both) | (row - both)) & everything
        if position % step == 0:
            kept.append(row)
    path: list[int] = []
    column = len(second)  # columns up to here are still ahead
    for block in range((len(first) - 1) // step, -1, -1):
        rows = [kept[block]]
        for token in first[block * step : (block + 1) * step]:
            both = rows[-1] & places.get(token, 0)
            rows.append(((rows[-1] + both) | (rows[-1] - both)) & everything)
        for offset in range(len(rows) - 1, 0, -1):
            if not column:
                return path
            position = block * step + offset - 1
            match = places.get(first[position], 0)
            column = _stop(rows[offset], rows[offset - 1], match, column)
            if column and match >> (column - 1) & 1:
                path.append(position)
                column -= 1
    return path


def _stop(row: int, above: int, match: int, column: int) -> int:
    """Going left from `column`: the first place with equal tokens or with c[i-1][j] = c[i][j]; 0 if none."""
    mask = (1 << column) - 1
    changes = (row ^ above) & mask
    equal = (match & mask).bit_length()
    rise = changes.bit_count() & 1  # c[i][column] - c[i-1][column]
    while column > equal:
        if not rise:
            return column
        # The difference stays 1 back to the highest change and is 0 in front of it.
        column = changes.bit_length() - 1
        changes ^= 1 << column
        rise = 0
    return max(column, equal)
