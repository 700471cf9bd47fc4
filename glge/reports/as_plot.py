"""The paper's Figure 1 as a picture: a group of bars a task, a bar a system, a line at 1. Nothing is computed here.

matplotlib (the extra `plots`) is loaded when a picture is drawn. It draws off screen, with its own settings and not
the user's, so that the same figures give the same file: an SVG holds no date and no random name.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from glge.errors import GlgeError, MissingResource
from glge.reports.as_diversity import as_list, found, ratio, task_names
from glge.reports.files import write
from glge.reports.wording import visible
from glge.results import DiversityReport

SUFFIXES = (".png", ".svg")

# Okabe and Ito's colours, told apart with any colour vision; the hatches also in grey.
_COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
_HATCHES = ("", "//", "..", "\\\\", "xx", "--", "oo", "++")
_DARK = ("#0072B2", "#000000")  # white letters are read best on these
_INK = "#333333"
_TOP = 1.1  # the axis reaches at least this far
_CUT = 2.0  # and at most this far; a higher bar is cut and says its figure
_SETTINGS: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 9.5,
    "hatch.linewidth": 0.6,
    "svg.hashsalt": "glge",
    "svg.fonttype": "path",
    "text.parse_math": False,  # a $ in a system's name is a $
}


def plot_diversity(reports: DiversityReport | Sequence[DiversityReport], path: str | os.PathLike[str]) -> None:
    """Draw the Distinct-2 ratios of one system, or of several beside each other, into `path`: PNG or SVG by its ending.

    A task without a ratio has a dash for a bar. The last group holds the means. The file is there whole or not at all.

    Raises MissingResource without matplotlib; GlgeError for another ending, for no report and when the file cannot be
    written.
    """
    place = Path(path)
    systems = as_list(reports)
    check_suffix(place)
    write(draw_diversity(systems, place.suffix.lower().removeprefix(".")), place)


def check_suffix(path: str | os.PathLike[str]) -> None:
    """GlgeError unless a plot can be written under this name, MissingResource without matplotlib."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise GlgeError(
            "a plot is a PNG or an SVG", file=visible(os.fspath(path)), hint="give a name that ends in .png or .svg"
        )
    _matplotlib()


def draw_diversity(systems: Sequence[DiversityReport], kind: str) -> bytes:
    """The picture as the bytes of a `png` or `svg` file; the same figures give the same bytes.

    Raises MissingResource without matplotlib.
    """
    matplotlib = _matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - see _matplotlib
    from matplotlib.figure import Figure  # noqa: PLC0415

    file = io.BytesIO()
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name in a script that the font lacks is drawn as boxes
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        names = task_names(systems)
        groups = len(names) + 1
        wide = max(5.0, 1.6 + groups * max(0.72, 0.14 * len(systems) + 0.3))
        figure = Figure(figsize=(wide, 4.0 + 0.2 * ((len(systems) - 1) // 2)), dpi=200, layout="constrained")
        FigureCanvasAgg(figure)
        _draw(figure, systems, names)
        stamp = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
        title = {"Title": f"Output diversity: {', '.join(visible(one.name) for one in systems)}"}
        figure.savefig(file, format=kind, metadata={**title, **stamp})
    return file.getvalue()


def _draw(figure: Any, systems: Sequence[DiversityReport], names: Sequence[str]) -> None:
    axes = figure.add_subplot()
    places = [*range(len(names)), len(names) + 0.35]
    values = [[*(ratio(one, name) for name in names), one.mean_ratio] for one in systems]
    known = [value for row in values for value in row if value is not None]
    top = min(_CUT, max(_TOP, 1.08 * max(known, default=0.0)))
    width = 0.8 / len(systems)
    size = 8.5 if len(systems) == 1 else 7.0
    for number, (one, row) in enumerate(zip(systems, values, strict=True)):
        centres = [place - 0.4 + (number + 0.5) * width for place in places]
        color = _COLORS[number % len(_COLORS)]
        axes.bar(
            centres,
            [min(value or 0.0, top) for value in row],
            0.92 * width,
            color=color,
            hatch=_HATCHES[min(number, len(_HATCHES) - 1)],
            edgecolor="white",
            linewidth=0.0,
            label=_label(one),
            zorder=2,
        )
        for centre, value in zip(centres, row, strict=True):
            # Many systems leave no room for figures: the table has them.
            text = "–" if value is None else f"{value:.2f}" if len(systems) <= 3 or value > top else ""
            turned = len(systems) > 1 and value is not None
            if value is not None and value > top:
                text += " →" if turned else " ↑"  # the bar is cut; the arrow is turned with the figure
            height = min(value or 0.0, top)
            # Inside the bar, where the line at 1 is not in the way, if there is room.
            inside = height > 0.25
            axes.annotate(
                text,
                (centre, height),
                (0, -3 if inside else 2),
                textcoords="offset points",
                ha="center",
                va="top" if inside else "bottom",
                rotation=90 if turned else 0,
                fontsize=size,
                color="white" if inside and color in _DARK else "black",
                zorder=4,
                bbox={"boxstyle": "square,pad=0.15", "facecolor": color, "edgecolor": "none"} if inside else None,
            )
    axes.axhline(1.0, color=_INK, linewidth=1.0, linestyle=(0, (4, 3)), zorder=3)
    axes.set_xlim(-0.55, places[-1] + 0.55)
    axes.annotate(
        "as the references",
        (1.0, 1.0),
        (3, 0),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        ha="left",
        va="center",
        rotation=-90,
        fontsize=8,
        color=_INK,
    )
    axes.axvline(len(names) - 0.325, color="#bbbbbb", linewidth=0.8)
    axes.set_xticks(places, [*(_title(systems, name) for name in names), "Mean"], rotation=30, ha="right")
    axes.set_ylim(0.0, 1.1 * top)
    axes.set_ylabel("Distinct-2 of predictions / references")
    axes.grid(axis="y", color="#dddddd", linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    levels = "/".join(dict.fromkeys(visible(one.level) for one in systems))
    first = systems[0]
    title = f"Output diversity, {visible(first.benchmark)} {levels}, {visible(first.split)}"
    if len(systems) == 1:
        axes.set_title(f"{title}: {_label(first)}", loc="left", fontsize=10.5)
        return
    figure.suptitle(title, x=0.01, ha="left", fontsize=10.5)
    figure.legend(loc="outside lower left", ncols=min(len(systems), 3), frameon=False, fontsize=8.5)


def _title(systems: Sequence[DiversityReport], name: str) -> str:
    for one in systems:
        task = found(one, name)
        if task is not None:
            return visible(task.title)
    return visible(name)


def _label(report: DiversityReport) -> str:
    """The system's name, and of how many tasks its mean is, where not of all."""
    name = visible(report.name)
    name = name if len(name) <= 40 else name[:39] + "…"
    whole = report.measured == len(report.expected_tasks)
    return name if whole else f"{name} ({report.measured}/{len(report.expected_tasks)} tasks)"


def _matplotlib() -> Any:
    try:
        import matplotlib  # noqa: PLC0415 - half a second, and an extra
    except ImportError as error:
        raise MissingResource("matplotlib is not installed", hint="pip install 'glge[plots]'") from error
    return matplotlib
