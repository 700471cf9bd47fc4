"""What commands share in front of a terminal: output as UTF-8, colours, widths, sizes, a progress bar.

Reports go to standard output (`show`), everything else to standard error (`say`). Nothing heavy is loaded here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glge.errors import GlgeError, SubmissionError

if TYPE_CHECKING:
    from glge.errors import Problem


def problem_text(problems: tuple[Problem, ...], stream: Any) -> str:
    """Problems as they are shown on a stream."""
    from glge.reports import render_problems

    return render_problems(problems, "terminal", color=colored(stream), width=width_of(stream))


def columns_text(header: tuple[str, ...], rows: Sequence[tuple[str, ...]], right: tuple[int, ...] = ()) -> str:
    """A table of plain cells; the columns in `right` are flush right."""
    from glge.reports.wording import aligned

    return "".join(f"{line}\n" for line in aligned(header, rows, right))


def check_output(output: Path | None) -> None:
    """Before any work: can a file be written there?"""
    if output is None:
        return
    folder = output.parent
    if not folder.is_dir():
        raise GlgeError("the folder of the output file does not exist", file=str(output), hint=f"make {folder} first")
    if output.is_dir():
        raise GlgeError("the output is a folder", file=str(output), hint="give a file name")
    if not os.access(folder, os.W_OK):
        raise GlgeError("the folder of the output file cannot be written to", file=str(output))


def bytes_of(text: str) -> int | None:
    """`500M` -> 500,000,000; None for no limit."""
    if text.lower() in ("none", "0", "off"):
        return None
    factors = {"k": 10**3, "m": 10**6, "g": 10**9}
    digits = text.lower().rstrip("b")
    factor = factors.get(digits[-1:], 1)
    number = digits[:-1] if digits[-1:] in factors else digits
    try:
        value = float(number)
    except ValueError:
        raise GlgeError(f"--size-limit {text!r} is not a size", hint="500M, 2G, or none") from None
    if not 0 < value < 1e15:
        raise GlgeError(f"--size-limit {text!r} is not a size", hint="500M, 2G, or none")
    return int(value * factor)


def cores() -> int:
    """How many processes can work at once here."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def colored(stream: Any) -> bool:
    """Whether a stream is to have colours: a terminal, unless NO_COLOR or TERM=dumb."""
    if os.environ.get("NO_COLOR"):
        return False
    return is_terminal(stream) and os.environ.get("TERM") != "dumb"


def width_of(stream: Any) -> int | None:
    """Columns to fill: what the user says, else the terminal's; 100 in a pipe."""
    columns = 0
    with suppress(ValueError):
        columns = int(os.environ.get("COLUMNS", ""))
    if columns <= 0 and is_terminal(stream):
        with suppress(OSError):
            columns = os.get_terminal_size(stream.fileno()).columns
    return max(20, columns) if columns > 0 else 100


def is_terminal(stream: Any) -> bool:
    """Whether somebody sits in front of the stream."""
    return stream is not None and bool(stream.isatty())  # None: the stream was closed (`glge … 2>&-`)


def shown_name(path: Path) -> str:
    """A file's name as UTF-8 whatever the locale says, with what acts on a screen escaped."""
    return harmless(os.fsencode(path).decode("utf-8", "backslashreplace"))


def harmless(line: str) -> str:
    """The line with every character that could act on a screen written out."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in line)


def show(text: str) -> None:
    """To standard output."""
    try:
        _write(sys.stdout, text)
    except BrokenPipeError:  # the reader of the pipe (head, less) has gone: nothing is wrong
        sys.stdout = nowhere()


def say(text: str) -> None:
    """To standard error, as a line."""
    try:
        _write(sys.stderr, text if text.endswith("\n") else text + "\n")
    except OSError:  # nobody listens any more; the exit code still tells
        sys.stderr = nowhere()


def nowhere() -> Any:
    """A stream in place of one that broke: what is left in that one is not tried again at the end."""
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - until the process ends


def _write(stream: Any, text: str) -> None:
    """Write UTF-8 whatever the locale says."""
    if stream is None:
        return
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(text)
    else:
        stream.flush()
        buffer.write(text.encode("utf-8", "replace"))
    stream.flush()


class Progress:
    """A bar on standard error while the work goes on; silent when that is no terminal."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.bar: Any = None
        self.started = 0.0

    def __enter__(self) -> Progress:
        import time

        self.clock = time.monotonic
        self.started = self.clock()
        return self

    def __call__(self, what: str, done: int, total: int) -> None:
        if not is_terminal(sys.stderr):
            return
        if self.bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            # No thread of its own: scoring may fork.
            self.bar = Bar(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                console=Console(file=sys.stderr),
                auto_refresh=False,
                transient=True,
            )
            self.bar.start()
            self.row = self.bar.add_task(self.what, total=total or None)
        self.bar.update(self.row, completed=done, total=total or None, description=f"{self.what} {what}".rstrip())
        if self.clock() - self.started > 0.3:
            self.bar.refresh()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()
            self.bar = None

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()
        # An error that carries problems is told with all of them, above its own line.
        if isinstance(error, SubmissionError) and error.problems:
            say(problem_text(error.problems, sys.stderr))
