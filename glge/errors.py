"""What can go wrong, said once: where, what was expected, what was found, and what to do next.

The library raises a `GlgeError` or one of its few children; the command line turns it into one line
and an exit code, a web handler into one JSON shape. A fault that need not stop the work (an odd
character, a suspicious file) is a `Problem`: a value that travels with the result.

No message here may ever quote a reference text.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True)
class Problem:
    """One kind of fault found in one file, with how often it occurs and where first.

    `places` holds the first few line numbers, counted from 1; `count` the number of lines (or files)
    concerned. `code` is stable, for machines and tests; `message` is one sentence for people; `hint`
    says what to do about it.
    """

    code: str
    severity: Severity
    message: str
    file: str | None = None
    task: str | None = None
    count: int = 1
    places: tuple[int, ...] = ()
    hint: str | None = None

    def __str__(self) -> str:
        return one_line(self.message, file=self.file, line=self.places[0] if self.places else None, hint=self.hint)


class GlgeError(Exception):
    """A fault the user can mend. `str()` of it is one line.

    >>> str(GlgeError("too few lines", file="coqa.hard.test", line=7, expected="8", found="6", hint="add the rest"))
    'coqa.hard.test:7: too few lines (expected 8, found 6); add the rest'
    >>> str(GlgeError("nothing to score"))
    'nothing to score'
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        expected: str | None = None,
        found: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.expected = expected
        self.found = found
        self.hint = hint

    def __str__(self) -> str:
        return one_line(
            self.message, file=self.file, line=self.line, expected=self.expected, found=self.found, hint=self.hint
        )

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process borders whole when tasks are scored in parallel.
        return (_rebuild, (type(self), dict(self.__dict__)))


class RegistryError(GlgeError):
    """A task, benchmark or recipe file is wrong."""


class DataError(GlgeError):
    """The references or sources are missing, unreadable or do not fit together."""


class NoReferences(DataError):
    """The data has no such file for a task; what was looked for, and where, is in the message."""


class NoSources(NoReferences):
    """The references are there, the sources beside them are not."""


class MetricError(GlgeError):
    """A metric was given something it cannot score (lists of different length, no lines at all)."""


class MissingResource(GlgeError):
    """Something optional is not installed (Java, a jar, an extra); the hint says how to get it."""


class SubmissionError(GlgeError):
    """The submission cannot be scored. `problems` holds everything found, not only the first fault."""

    def __init__(self, message: str, *, problems: Iterable[Problem] = (), **where: str | None) -> None:
        super().__init__(
            message,
            file=where.get("file"),
            expected=where.get("expected"),
            found=where.get("found"),
            hint=where.get("hint"),
        )
        self.problems = tuple(problems)


def _rebuild(kind: type[GlgeError], state: dict[str, object]) -> GlgeError:
    error = kind.__new__(kind)
    error.__dict__.update(state)
    Exception.__init__(error, state["message"])
    return error


def one_line(
    message: str,
    *,
    file: str | None = None,
    line: int | None = None,
    expected: str | None = None,
    found: str | None = None,
    hint: str | None = None,
) -> str:
    """Put the parts of a message into one line: `file:line: message (expected …, found …); hint`."""
    where = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
    if file is None and line is not None:
        where = f"line {line}: "
    facts = ", ".join(
        part for part in (expected and f"expected {expected}", found and f"found {found}") if part is not None and part
    )
    text = f"{where}{message}" + (f" ({facts})" if facts else "") + (f"; {hint}" if hint else "")
    return " ".join(text.split("\n"))


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name closest to `name`, or None when nothing is close.

    >>> nearest("sqaudqg", ["coqa", "squadqg"])
    'squadqg'
    >>> nearest("zzz", ["coqa"]) is None
    True
    """
    table = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower(), table, n=1, cutoff=0.6 if len(name) > 3 else 0.5)
    return table[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint for an unknown name: the nearest known one, or the list of all.

    >>> did_you_mean("rogue1", ["rouge1", "f1"])
    "did you mean 'rouge1'?"
    >>> did_you_mean("zzz", ["rouge1", "f1"])
    'known: f1, rouge1'
    """
    names = sorted(known)
    close = nearest(name, names)
    return f"did you mean '{close}'?" if close else "known: " + ", ".join(names)
