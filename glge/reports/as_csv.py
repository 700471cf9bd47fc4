"""CSV in long form: a row a metric, then a row a task (`task`), at the end the overall score (`GLGE`).

Figures are unrounded, an empty cell is a missing one. A text that a spreadsheet would run as a formula
is preceded by an apostrophe.
"""

from __future__ import annotations

import csv
import io
from typing import Any

from glge.reports.wording import Look, by_task, visible
from glge.results import Interval, Report

COLUMNS = (
    "level", "split", "profile", "task", "metric", "name", "shown",
    "value", "counted", "mean", "low", "high", "ci_low", "ci_high", "standard_error", "printed", "signature",
)  # fmt: skip

_FORMULA = tuple("=+-@＝＋－＠")


def render(report: Report, look: Look) -> str:
    """The report as CSV, with `\\n` line ends. `look` changes nothing here."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    common = {"level": _text(report.level), "split": _text(report.split), "profile": _text(report.profile)}
    for name, result in by_task(report):
        task = common | {"task": _text(name)}
        for score in result.scores if result is not None else ():
            interval = score.interval
            writer.writerow(
                task
                | {
                    "metric": _text(score.metric),
                    "name": _text(score.name),
                    "shown": _text(score.shown),
                    "value": score.value,
                    "counted": "true" if score.counted else "false",
                    "mean": score.mean,
                    "low": interval.low if interval is not None else None,
                    "high": interval.high if interval is not None else None,
                    **_bootstrap(score.ci),
                    "printed": score.printed,
                    "signature": _text(score.signature),
                }
            )
        mean: dict[str, Any] = {"name": "task", "shown": "mean", "value": None}
        if result is not None:
            mean |= {"value": result.value, **_bootstrap(result.ci)}
        writer.writerow(task | mean)
    benchmark = _text(report.benchmark)
    overall = {"name": benchmark, "shown": benchmark, "value": report.value, **_bootstrap(report.ci)}
    writer.writerow(common | overall)
    return stream.getvalue()


def _bootstrap(ci: Interval | None) -> dict[str, float | None]:
    if ci is None:
        return {}
    return {"ci_low": ci.low, "ci_high": ci.high, "standard_error": ci.standard_error}


def _text(text: str) -> str:
    shown = visible(text)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) else shown
