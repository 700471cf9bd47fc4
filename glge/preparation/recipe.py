"""What every builder of a dataset is made of: its options, the counted steps, and text as the options ask for it.

A builder turns the raw files of one dataset into pairs of a source and a target line for each split. Whatever no
public source says about how the benchmark did it is an option with a default; the manifest records all of them.
"""

from __future__ import annotations

import contextlib
import os
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from glge.errors import DataError, did_you_mean
from glge.lines import printable
from glge.preparation.manifest import FileHash, Step, hash_file, hash_files
from glge.preparation.raw import SPLIT_NAMES, BadRecord, Place, unreadable
from glge.preparation.tokenisers import TOKENISERS

Pair = tuple[str, str]  # a source line and a target line
Value = str | int
Progress = Callable[[str, int, int], None]  # what, done, total (0: unknown)

SPLITS = tuple(SPLIT_NAMES)


@dataclass(frozen=True)
class BuildOption:
    """One option of a builder.

    `kind`: a choice takes one of `choices`; a count takes a whole number from 0, or one of `choices`; a text takes
    any text of one line (white space around it is taken off).
    """

    name: str
    default: Value
    meaning: str
    choices: tuple[str, ...] = ()
    kind: Literal["choice", "count", "text"] = "choice"

    def check(self, value: object) -> Value:
        """The value as the builder uses it; DataError says what is allowed.

        >>> turns = BuildOption("turns", 2, "previous turns", ("all",), "count")
        >>> turns.check("3"), turns.check("all")
        (3, 'all')
        >>> turns.check("-1")
        Traceback (most recent call last):
        glge.errors.DataError: option turns: not allowed (expected a whole number or all, found '-1')
        """
        if self.kind == "text":
            text = " ".join(str(value).split())
            if not text.isprintable():
                raise self._fault("printable text", value)
            return text
        if isinstance(value, str) and value in self.choices:
            return value
        if self.kind == "count" and not isinstance(value, bool):
            digits = str(value)
            if digits.isascii() and digits.isdigit() and len(digits) <= 18:
                return int(digits)
            raise self._fault(" or ".join(["a whole number", *self.choices]), value)
        raise self._fault(", ".join(self.choices), value)

    def _fault(self, expected: str, value: object) -> DataError:
        return DataError(f"option {self.name}: not allowed", expected=expected, found=repr(value)[:60])


@dataclass(frozen=True)
class Builder:
    """How one task is built from its raw files.

    `expects` says in one sentence which files; `read` gives, for each split asked for, its pairs one after another.
    """

    task: str
    expects: str
    options: tuple[BuildOption, ...]
    read: Callable[[Job], Mapping[str, Iterator[Pair]]]

    @property
    def all_options(self) -> tuple[BuildOption, ...]:
        """The builder's own options, and `splits`, which all builders have."""
        return (SPLITS_OPTION, *self.options)

    def resolve(self, options: Mapping[str, object]) -> dict[str, Value]:
        """All options with their values, defaults too; DataError for an unknown name or a value not allowed."""
        known = {option.name: option for option in self.all_options}
        for name in options:
            if name not in known:
                raise DataError(
                    f"{self.task} has no option {printable(str(name))!r}", hint=did_you_mean(str(name), known)
                )
        return {name: option.check(options.get(name, option.default)) for name, option in known.items()}


SPLITS_OPTION = BuildOption("splits", ",".join(SPLITS), "which splits to build, separated by commas", kind="text")


def order_option(what: str) -> BuildOption:
    """The option `order`, for datasets whose records a split list names."""
    return BuildOption(
        "order",
        "list",
        f"order of the lines: the split list's, or {what}; the official order is unknown",
        ("list", what),
    )


def tokens_option(default: str, why: str) -> BuildOption:
    """The option `tokens`."""
    kinds = "as-is: words as the raw text has them; punctuation: each mark a token; ptb: Penn Treebank tokens"
    return BuildOption("tokens", default, f"{kinds}. {why}", tuple(TOKENISERS))


def case_option(default: str, why: str) -> BuildOption:
    """The option `case`."""
    return BuildOption("case", default, f"keep capitals, or lower-case all text. {why}", ("keep", "lower"))


def separator_option(name: str = "separator", between: str = "the parts of a source line") -> BuildOption:
    """The option `separator`."""
    return BuildOption(name, "[SEP]", f"stands between {between}, blanks around it; empty: a blank alone", kind="text")


@dataclass
class StepCount:
    """One step while it runs."""

    name: str
    kept: int = 0
    changed: int | None = None
    dropped: Counter[str] = field(default_factory=Counter)

    def drop(self, reason: str) -> None:
        """One record less."""
        self.dropped[reason] += 1

    def change(self, before: str, after: str) -> str:
        """One text more, changed or not: the text after."""
        self.kept += 1
        if before != after:
            self.changed = (self.changed or 0) + 1
        return after

    def done(self) -> Step:
        """The step as the manifest has it."""
        name = self.name if self.changed is None else f"{self.name} ({self.changed:,} of {self.kept:,} texts changed)"
        return Step(name=name, kept=self.kept, dropped=dict(sorted(self.dropped.items())))


@dataclass
class Job:
    """One build while it runs: where from, the options, and everything that goes into the manifest."""

    raw: Path
    options: Mapping[str, Value]
    splits: tuple[str, ...]
    skip_bad: bool = False
    progress: Progress | None = None
    skipped: Callable[[BadRecord], None] | None = None
    steps: list[StepCount] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    _inputs: dict[str, FileHash] = field(default_factory=dict)
    _small: dict[str, Path] = field(default_factory=dict)

    def choice(self, name: str) -> str:
        """An option's value as text."""
        return str(self.options[name])

    def name(self, path: Path) -> str:
        """A raw file's name in messages and in the manifest: relative to the raw folder."""
        return printable(os.path.relpath(path, self.raw).replace(os.sep, "/"))

    def step(self, name: str, *, changes: bool = False) -> StepCount:
        """A new step, at the end of those there are."""
        count = StepCount(name, changed=0 if changes else None)
        self.steps.append(count)
        return count

    def use(self, path: Path, *, lines: bool = False) -> str:
        """Note a file as an input; its name."""
        name = self.name(path)
        if name not in self._inputs:
            try:
                self._inputs[name] = hash_file(path, name, lines=lines)
            except OSError as error:
                raise unreadable(name, error) from None
        return name

    def use_small(self, path: Path) -> str:
        """Note one of very many small files; together they are one entry of the manifest."""
        name = self.name(path)
        self._small[name] = path
        return name

    def inputs(self) -> tuple[FileHash, ...]:
        """What was read, by name."""
        many = (hash_files(self._small.values(), self.raw),) if self._small else ()
        return (*(self._inputs[name] for name in sorted(self._inputs)), *many)

    @contextlib.contextmanager
    def record(self, step: StepCount) -> Iterator[None]:
        """One record of a step: a bad one ends the build, or is skipped and counted when that was asked for."""
        try:
            yield
        except BadRecord as fault:
            self.skip(step, fault)

    def skip(self, step: StepCount, fault: BadRecord) -> None:
        """Count a bad record, or raise when bad records are not to be skipped."""
        if not self.skip_bad:
            fault.hint = fault.hint or "mend it, or give --skip-bad to leave such records out"
            raise fault
        step.drop(fault.reason)
        if self.skipped is not None:
            self.skipped(fault)

    def told(self, what: str, done: int, total: int = 0) -> None:
        """Report progress, now and then."""
        if self.progress is not None and (done % 1000 == 0 or done == total):
            self.progress(what, done, total)


class Text:
    """The texts of one split as the options `tokens`, `case` and `separator` ask: one line each, white space single.

    Every run of white space becomes one blank: that takes out line feeds, carriage returns, U+2028 and all other
    characters at which some program ends a line. Each of the steps counts the texts it changed.
    """

    def __init__(self, job: Job, split: str, *, separators: Sequence[str] = ()) -> None:
        self._separators = tuple(separator for separator in separators if separator)
        self._tokens = TOKENISERS[str(job.options.get("tokens", "as-is"))]
        self._lower = job.options.get("case") == "lower"
        self._blanks = job.step(f"{split}: white space", changes=True)
        self._split: StepCount | None = None
        self._cased: StepCount | None = None
        if self._tokens is not None:
            self._split = job.step(f"{split}: tokens, {job.options['tokens']}", changes=True)
        if self._lower:
            self._cased = job.step(f"{split}: lower case", changes=True)
        if self._tokens is not None or self._lower:
            job.versions["unicode"] = unicodedata.unidata_version

    def __call__(self, raw: str, place: Place) -> str:
        """The text; BadRecord when it holds one of the separators, which would be misread afterwards."""
        text = self.line(raw)
        for separator in self._separators:
            if separator in text:
                raise place.fault(f"the text holds the separator {separator}")
        return text

    def line(self, raw: str) -> str:
        """The text, whatever it holds."""
        text = " ".join(raw.split())
        self._blanks.kept += 1
        if text != raw:
            self._blanks.changed = (self._blanks.changed or 0) + 1
        if self._split is not None and self._tokens is not None:
            text = self._split.change(text, self._tokens(text))
        if self._cased is not None:
            text = self._cased.change(text, " ".join(text.lower().split()))
        return text


def joined(parts: Sequence[str], separator: str) -> str:
    """Parts with a separator between them; empty parts are left out.

    >>> joined(["a b", "", "c"], "[SEP]"), joined(["a", "b"], "")
    ('a b [SEP] c', 'a b')
    """
    return (f" {separator} " if separator else " ").join(part for part in parts if part)
