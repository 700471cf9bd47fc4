"""The page every HTML report stands in: one file, no network, readable without JavaScript.

`shell` puts a body between the style and the script of `glge/reports/page/`, both inlined, under a content security
policy that lets nothing be loaded and no other script run. The parts below (text, tables, plots) are shared by all
reports; what they say is the report's own.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from typing import Literal

from glge.reports.wording import visible

Markup = str  # text that is HTML already


def text(value: str) -> Markup:
    r"""Text that came from outside, as HTML: it cannot open a tag, close an attribute or move the cursor.

    >>> text('<script>"a" & b</script>')
    '&lt;script&gt;&quot;a&quot; &amp; b&lt;/script&gt;'
    >>> text("a\u202eb"), text("")
    ('a\\u202eb', '')
    """
    return escape(visible(value), quote=True)


@cache
def _file(name: str) -> str:
    return files("glge.reports").joinpath("page", name).read_text(encoding="utf-8")


def shell(title: str, body: Markup) -> str:
    """A whole page: `title` is plain text, `body` HTML; ends in a newline.

    The script is named by its hash, so that one which came in with a text would not run even if it were not escaped.
    """
    script = "\n" + _file("script.js")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{text(title)}</title>
<style>
{_file("style.css")}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the figures</a>
<div class="page">
{_numbered(body.strip())}
</div>
<script>{script}</script>
</body>
</html>
"""


def _numbered(body: Markup) -> Markup:
    """Tables and figures by number, in the order of the page: what is hidden later keeps its number."""
    for tag, name in (("caption", "Table"), ("figcaption", "Figure")):
        numbers = itertools.count(1)
        body = re.sub(f"<{tag}>", lambda found: f"{found[0]}<b>{name} {next(numbers)}.</b> ", body)  # noqa: B023
    return body


# --- tables ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """A column: its heading (HTML), what it is sorted by (nothing: it is not), and its class."""

    label: Markup
    sort: Literal["number", "text"] | None = None
    kind: Literal["", "n", "t", "plot", "n ends"] = ""


def table(
    columns: Sequence[Column],
    groups: Iterable[Iterable[Markup]],
    *,
    caption: Markup,
    kind: str,
    attributes: Markup = "",
) -> Markup:
    """A table with a `<tbody>` a group; the script makes the headings of columns with `sort` into buttons.

    A table of several groups is sorted by the first row of each.
    """
    heads = "".join(
        f'<th scope="col"{_class(column.kind)}{f" data-sort={column.sort}" if column.sort else ""}>{column.label}</th>'
        for column in columns
    )
    bodies = "\n".join("<tbody>\n" + "\n".join(rows) + "\n</tbody>" for rows in groups)
    sortable = " data-sortable" if any(column.sort for column in columns) else ""
    return (
        f'<table class="{kind}"{sortable}{attributes}>\n<caption>{caption}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n{bodies}\n</table>\n"
    )


def cell(content: Markup, kind: str = "", label: str = "") -> Markup:
    """A cell; `label` (plain text) stands before it where a narrow page puts cells under each other."""
    shown = f' data-l="{text(label)}"' if label else ""
    return f"<td{_class(kind)}{shown}>{content}</td>"


def _class(kind: str) -> Markup:
    return f' class="{kind}"' if " " in kind else f" class={kind}" if kind else ""


def folded(summary: Markup, content: Markup) -> Markup:
    """Something to open."""
    return f"<details><summary>{summary}</summary>\n{content}</details>\n"


# --- plots ----------------------------------------------------------------------------------------


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def axis(low: float, high: float, *, signed: bool = False) -> Markup:
    """Tick labels over a column of bars: both ends, the middle, the quarters of a 0-based axis."""
    steps = 2 if signed else 4
    marks = [low + (high - low) * step / steps for step in range(steps + 1)]
    shown = [f"{mark:+g}".replace("-", "−") if signed and mark else f"{mark:g}" for mark in marks]
    return '<span class="axis" aria-hidden="true">' + "".join(f"<span>{mark}</span>" for mark in shown) + "</span>"


def bar(value: float | None, ends: tuple[float, float] | None = None, *, top: float = 100.0) -> Markup:
    """A bar from 0 to the value on an axis 0 … `top`, and a whisker over both ends of its interval."""
    place = 100.0 / top
    marks = "".join(f'<line class="grid" x1="{x}" x2="{x}" y1="-40" y2="52"/>' for x in (0, 25, 50, 75, 100))
    if value is not None:
        width = min(max(value * place, 0.0), 100.0)
        marks += f'<rect class="bar" x="0" y="2" width="{_n(width)}" height="8"/>'
    if ends is not None:
        marks += _whisker(*(min(max(end * place, 0.0), 100.0) for end in ends))
    return _strip(marks)


def difference(
    value: float, ends: tuple[float, float] | None, *, reach: float, sure: bool, title: Markup = ""
) -> Markup:
    """A dot and its interval on an axis -reach … +reach; `sure` fills the dot."""

    def place(figure: float) -> float:
        return min(max(50 + 50 * figure / reach, 0.0), 100.0)

    marks = '<line class="zero" x1="50" x2="50" y1="-40" y2="52"/>'
    if ends is not None:
        marks += _whisker(place(ends[0]), place(ends[1]))
    x = _n(place(value))
    marks += f'<path class="dot{"" if sure else " open"}" d="M{x} 6h.001"/>'
    return _strip(marks)


def _whisker(low: float, high: float) -> Markup:
    a, b = _n(low), _n(high)
    return f'<path class="whisker" d="M{a} 6H{b}M{a} 3v6M{b} 3v6"/>'


def _strip(marks: Markup) -> Markup:
    return f'<svg viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">{marks}</svg>'


@dataclass(frozen=True)
class Histogram:
    """Counts of values in bins of equal width from 0 to `top`."""

    counts: tuple[int, ...]
    top: float

    @property
    def width(self) -> float:
        return self.top / len(self.counts)

    def draw(self, middle: float, name: Markup) -> Markup:
        """The histogram as a figure of its own, a broken line at `middle`; the counts are in its label too."""
        wide, high, left, base, right = 340.0, 142.0, 34.0, 122.0, 14.0
        step = (wide - left - right) / len(self.counts)
        most = max(self.counts, default=0) or 1
        marks = []
        told = []
        for place, count in enumerate(self.counts):
            tall = 100.0 * count / most
            span = f"{place * self.width:g} to {(place + 1) * self.width:g}"
            if count:
                told.append(f"{span}: {count:,}")
                marks.append(
                    f'<rect class="bar" x="{_n(left + place * step + 0.5)}" y="{_n(base - tall)}" '
                    f'width="{_n(step - 1)}" height="{_n(tall)}"><title>{span}: {count:,}</title></rect>'
                )
        x = left + (wide - left - right) * middle / self.top
        marks.append(f'<line class="mid" x1="{_n(x)}" x2="{_n(x)}" y1="16" y2="{base}"/>')
        anchor = "start" if x < wide / 2 else "end"
        shift = 4 if x < wide / 2 else -4
        marks.append(
            f'<text class="mid-label" x="{_n(x + shift)}" y="13" text-anchor="{anchor}">mean {middle:.1f}</text>'
        )
        marks.append(f'<line class="zero" x1="{left}" x2="{wide - right}" y1="{base}" y2="{base}"/>')
        for quarter in range(5):
            at = left + (wide - left - right) * quarter / 4
            marks.append(f'<line class="zero" x1="{_n(at)}" x2="{_n(at)}" y1="{base}" y2="{base + 4}"/>')
            marks.append(f'<text x="{_n(at)}" y="{base + 16}" text-anchor="middle">{self.top * quarter / 4:g}</text>')
        marks.append(f'<text x="{left - 5}" y="{base}" text-anchor="end">0</text>')
        marks.append(f'<text x="{left - 5}" y="{base - 96}" text-anchor="end">{most:,}</text>')
        marks.insert(0, f'<line class="grid" x1="{left}" x2="{wide - right}" y1="{base - 100}" y2="{base - 100}"/>')
        label = f"{name}. Lines by value, {'; '.join(told)}. Mean {middle:.1f}."
        return f'<svg viewBox="0 0 {wide:g} {high:g}" role="img" aria-label="{label}">{"".join(marks)}</svg>'
