"""What a file's name says: the valid names exactly, the others as well as can be guessed.

A prediction file is called `{task}.{level}.{split}`: `coqa.hard.test`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glge.tasks import Benchmark

SPLITS = ("test", "dev")


def expected_names(level: str, split: str, tasks: Iterable[str]) -> list[str]:
    """The file names of a whole submission.

    >>> expected_names("hard", "test", ["cnndm", "coqa"])
    ['cnndm.hard.test', 'coqa.hard.test']
    """
    return [f"{task}.{level}.{split}" for task in tasks]


@dataclass(frozen=True)
class Guess:
    """What a file name seems to say; None where it says nothing. `exact`: the task is spelt as it should be."""

    task: str | None
    level: str | None
    split: str | None
    exact: bool


_SPLIT_WORDS = {
    "test": "test",
    "tests": "test",
    "testset": "test",
    "tst": "test",
    "dev": "dev",
    "devel": "dev",
    "development": "dev",
    "devset": "dev",
    "val": "dev",
    "valid": "dev",
    "validation": "dev",
    "train": "train",
}
# Endings of files that are something else even when a task is in their name.
OTHER_KIND = re.compile(
    r"\.(?:bin|cfg|csv|db|err|html|ini|ipynb|jsonl?|lock|log|md|np[yz]|old|pdf|pickle|pkl|png|pth?|py|sh|toml|tsv|xml"
    r"|ya?ml)\Z",
    re.IGNORECASE,
)
PACKED = re.compile(r"\.(?:7z|bz2|gz|lz4|rar|tar|tgz|xz|zip|zst)\Z", re.IGNORECASE)


class Names:
    """Reads file names: the valid ones exactly, the others as well as can be guessed."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.tasks = list(benchmark.tasks)
        self.levels = list(benchmark.level_names)
        self._valid = {
            f"{task}.{level}.{split}": (task, level, split)
            for task in self.tasks
            for level in self.levels
            for split in SPLITS
        }
        alternatives = "|".join(map(re.escape, sorted(self.tasks, key=len, reverse=True)))
        levels = "|".join(map(re.escape, sorted(self.levels, key=len, reverse=True)))
        self._glued = re.compile(f"({alternatives})({levels})?({'|'.join(SPLITS)})?")

    def parse(self, name: str) -> tuple[str, str, str] | None:
        """(task, level, split) of a valid name."""
        return self._valid.get(name)

    def guess(self, name: str) -> Guess:
        """What a name that is not valid seems to mean."""
        words: list[str | None] = []
        for word in re.findall(r"[a-z0-9]+\+?", self._plain(name)):
            glued = self._glued.fullmatch(word)
            words += [part for part in glued.groups() if part] if glued else [word]
        task = _take_exact(words, {name: name for name in self.tasks}, 3)
        level = _take_exact(words, {name: name for name in self.levels}, 1)
        split = _take_exact(words, _SPLIT_WORDS, 1)
        exact = task is not None
        task = task or _take_close(words, self.tasks, 0.7, 3)
        level = level or _take_close(words, self.levels, 0.75, 1)
        split = split or _take_close(words, SPLITS, 0.7, 1)
        return Guess(task, level, split, exact)

    def _plain(self, name: str) -> str:
        """Lower case, `medium_plus`, `medium-+` and `mediumplus` as `medium+`."""
        plain = unicodedata.normalize("NFKC", name).casefold().replace("%2b", "+")
        for level in self.levels:
            if level.endswith("+"):
                plain = re.sub(rf"{re.escape(level[:-1])}[\W_]*(?:plus|\+)", level, plain)
        return plain


def _take_exact(words: list[str | None], known: Mapping[str, str], longest: int) -> str | None:
    """The known name that a run of words makes; the words are taken out of the list."""
    for length in range(1, longest + 1):
        for start in range(len(words) - length + 1):
            run = words[start : start + length]
            joined = "".join(word or "\0" for word in run)
            if joined in known:
                words[start : start + length] = [None] * length
                return known[joined]
    return None


def _take_close(words: list[str | None], known: Sequence[str], cutoff: float, longest: int) -> str | None:
    """The known name closest to a run of words, if any is close; the words are taken out of the list."""
    best: tuple[float, int, int, str] | None = None
    for length in range(1, longest + 1):
        for start in range(len(words) - length + 1):
            run = words[start : start + length]
            joined = "".join(word or "\0" for word in run)
            if len(joined) < 3 or "\0" in joined or len(joined) > 40:
                continue
            for name in known:
                begins = len(joined) >= 4 and name.startswith(joined)
                close = 0.9 if begins else SequenceMatcher(None, joined, name, autojunk=False).ratio()
                if close >= cutoff and (best is None or close > best[0]):
                    best = (close, start, length, name)
    if best is None:
        return None
    _, start, length, name = best
    words[start : start + length] = [None] * length
    return name


def suggest_name(name: str, level: str, split: str, benchmark: Benchmark) -> str | None:
    """The valid name that a wrong file name most likely stands for; None when it resembles none.

    What the name does not say is taken from the asked level and split.
    """
    guess = Names(benchmark).guess(name)
    return None if guess.task is None else f"{guess.task}.{guess.level or level}.{guess.split or split}"


def is_ignored(parts: Sequence[str]) -> bool:
    """System files, hidden files, read-me files and the data's own files, which come along by accident."""
    base = parts[-1].casefold()
    return (
        any(part.startswith(".") or part in ("__MACOSX", "__pycache__") for part in parts)
        or base in ("thumbs.db", "desktop.ini")
        or base.startswith(("readme", "license", "licence"))
        or base.endswith((".src", ".tgt"))
    )
