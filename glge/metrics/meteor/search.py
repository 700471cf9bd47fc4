"""Two array operations the aligner lives on: looking up many keys, and setting groups against groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]

# How many pairs of items are looked at together: a few arrays of 8 MB.
_BLOCK = 1 << 20


def locate(keys: NDArray[Any], wanted: IntArray) -> tuple[IntArray, NDArray[np.bool_]]:
    """Binary search in sorted keys: the places of those that exist, and which of `wanted` exist.

    >>> places, exist = locate(np.array([2, 5, 9]), np.array([9, 3, 2, 10]))
    >>> places.tolist(), exist.tolist()
    ([2, 0], [True, False, True, False])
    >>> locate(np.array([], dtype=np.int64), np.array([1]))[1].tolist()
    [False]
    """
    # Sorted queries walk through memory in order; corpora repeat themselves, so each is asked once.
    distinct, back = np.unique(wanted, return_inverse=True)
    place = np.searchsorted(keys, distinct.astype(keys.dtype))
    exists = place < len(keys)
    exists[exists] = keys[place[exists]] == distinct[exists]
    found = exists[back]
    return place[back][found], found


def beside(begin: IntArray, count: IntArray) -> Iterator[tuple[slice, IntArray, IntArray]]:
    """Set each item against its `count` partners, which lie together from `begin` on.

    Yields, for as many items at a time as fit the memory: which items, the end of each item's share, and the
    partners, item after item.

    >>> for items, ends, partners in beside(np.array([0, 0, 2]), np.array([2, 2, 1])):
    ...     print(items, ends.tolist(), partners.tolist())
    slice(0, 3, None) [2, 4, 5] [0, 1, 0, 1, 2]
    """
    total = np.cumsum(count)
    low = 0
    while low < len(count):
        before = total[low - 1] if low else 0
        high = max(low + 1, int(np.searchsorted(total, before + _BLOCK, side="right")))
        ends = total[low:high] - before
        if ends[-1]:
            counts = count[low:high]
            yield slice(low, high), ends, np.arange(ends[-1]) - np.repeat(ends - counts - begin[low:high], counts)
        low = high
