"""Tables as plain text: aligned columns, or one short paragraph a row where the width does not hold them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from glge.reports.wording import visible

NARROWEST = 20


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, width: int | None = None, left: int = 1) -> str:
    """The rows below their header, the first `left` columns to the left and all others to the right.

    Where `width` columns of text do not hold it, each row becomes a paragraph: its first `left` cells, then
    one cell a line. Empty columns are kept; the text ends in a line feed.

    >>> print(table(["task", "lines"], [["coqa", "7"], ["msqg", "1,100"]]), end="")
    task  lines
    coqa      7
    msqg  1,100
    >>> print(table(["task", "lines"], [["coqa", "7"]], width=6), end="")
    coqa
      lines  7
    >>> print(table(["task", "lines"], []), end="")
    task  lines
    """
    widths = [max(len(line[column]) for line in (header, *rows)) for column in range(len(header))]
    if width is not None and sum(widths) + 2 * (len(widths) - 1) > width:
        return "\n".join(_paragraph(header, row, left) for row in rows)
    lines = []
    for row in (header, *rows):
        cells = [
            cell.ljust(wide) if column < left else cell.rjust(wide)
            for column, (cell, wide) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "".join(f"{line}\n" for line in lines)


def _paragraph(header: Sequence[str], row: Sequence[str], left: int) -> str:
    """One row of a table that is too wide."""
    names = header[left:]
    wide = max((len(name) for name in names), default=0)
    lines = [" ".join(cell for cell in row[:left] if cell)]
    lines += [f"  {name.ljust(wide)}  {cell}" for name, cell in zip(names, row[left:], strict=True) if cell]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def wrap(text: str, *, width: int | None = None, indent: str = "") -> str:
    """A sentence on as many lines as the width asks for; an indented one has its other lines further in.

    >>> print(wrap("one two three four five six", width=20, indent="  "), end="")
      one two three four
        five six
    """
    if width is None:
        return f"{indent}{text}\n"
    lines = textwrap.wrap(
        text,
        max(width, NARROWEST),
        initial_indent=indent,
        subsequent_indent=indent and indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "".join(f"{line}\n" for line in lines)


def shorten(text: str, length: int) -> str:
    r"""A line of data in so many characters, characters that act on a screen written out.

    >>> shorten("a cat sat", 20), shorten("a cat sat on the mat", 10), shorten("a\x1b[1m", 20)
    ('a cat sat', 'a cat sat…', 'a\\x1b[1m')
    """
    shown = visible(text[: length + 1])
    if len(shown) <= length:
        return shown
    return shown[: max(length - 1, 0)].rstrip() + "…"
