"""Reports: a `Report` as text for people (terminal, Markdown, LaTeX) and for machines (JSON, CSV).

Nothing is computed here. A figure is written from the unrounded float of the report, a missing one as
`–`, and text that came from files (names, messages) can neither style nor break what it stands in.

>>> from glge.results import Report
>>> report = Report(glge_version="0.1", level="hard", split="test", tasks=(), expected_tasks=("coqa", "xsum"))
>>> print(render(report, width=60), end="")
GLGE hard, test   official profile   figures 0-100
<BLANKLINE>
Task   Metrics         Mean
---------------------------
coqa   not submitted      –
xsum   not submitted      –
<BLANKLINE>
GLGE score (hard, test): –   0/2 tasks: missing coqa, xsum
>>> render(report, "csv").splitlines()[-1]
'hard,test,official,,,GLGE,GLGE,,,,,,,,,,'
>>> render(report, "jsn")
Traceback (most recent call last):
...
glge.errors.GlgeError: unknown report format 'jsn'; did you mean 'json'?
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from glge.errors import GlgeError, Problem, did_you_mean
from glge.reports.as_json import read_report
from glge.reports.files import write
from glge.reports.wording import Look
from glge.results import Report

__all__ = ["FORMATS", "PROBLEM_FORMATS", "read_report", "render", "render_problems", "write"]

FORMATS: tuple[str, ...] = ("terminal", "json", "csv", "markdown", "latex")
PROBLEM_FORMATS: tuple[str, ...] = ("terminal", "json")

MOST_DIGITS = 17  # a float has no more to show


def render(
    report: Report,
    format: str = "terminal",
    *,
    width: int | None = None,
    color: bool = False,
    signatures: bool = False,
    intervals: bool = False,
    digits: int = 2,
) -> str:
    """The report in one of FORMATS, as text that ends in a newline.

    `width` (terminal columns; None: the terminal's own, 80 where there is none) and `color` concern the
    terminal alone: without color the text holds no escape code. `digits` behind the point, `signatures`
    and `intervals` concern terminal, markdown and latex; json and csv always hold everything, unrounded.
    A narrow terminal folds the table; no figure is ever cut. All figures are on the 0-100 scale.

    Raises GlgeError for an unknown format, for digits outside 0 … 17, and, for json, when a figure is not
    finite.
    """
    if not 0 <= digits <= MOST_DIGITS:
        raise GlgeError("digits is out of range", expected=f"0 to {MOST_DIGITS}", found=str(digits))
    look = Look(width=width, color=color, signatures=signatures, intervals=intervals, digits=digits)
    text: str = import_module(_module(format, FORMATS)).render(report, look)
    return text


def render_problems(
    problems: Sequence[Problem], format: str = "terminal", *, width: int | None = None, color: bool = False
) -> str:
    """What is odd about a submission, in one of PROBLEM_FORMATS, as text that ends in a newline.

    Errors first, then warnings, then notes, each with its file, count, first places and hint; the last
    line counts them. Raises GlgeError for an unknown format.

    >>> print(render_problems([]), end="")
    no problems found
    >>> odd = Problem("empty-line", "warning", "empty predictions", file="coqa.hard.test", count=3, places=(7, 9, 12))
    >>> print(render_problems([odd], width=80), end="")
    warning  coqa.hard.test: empty predictions (lines 7, 9, 12)
    <BLANKLINE>
    1 warning
    """
    look = Look(width=width, color=color)
    text: str = import_module(_module(format, PROBLEM_FORMATS)).render_problems(problems, look)
    return text


def _module(format: str, known: tuple[str, ...]) -> str:
    # One module a format, loaded when it is asked for: only the terminal needs rich.
    if format not in known:
        raise GlgeError(f"unknown report format {format!r}", hint=did_you_mean(format, known))
    return f"glge.reports.as_{format}"
