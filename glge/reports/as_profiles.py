"""Several profiles' reports on the same files, side by side: what another implementation makes of the same task.

Nothing is computed here but the difference that is shown.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from glge.errors import GlgeError
from glge.reports import as_csv, as_latex, as_markdown
from glge.reports.wording import MISSING, Look, aligned, by_task, figure, heading, overall_name, reasons, visible
from glge.results import SCHEMA_VERSION, Report


def render_profiles(reports: Sequence[Report], format: str = "terminal", look: Look | None = None) -> str:
    """The reports in a format, ending in a newline; they are on the same files and differ in their profile.

    JSON is `{"schema_version": …, "profiles": {name: report}}`, CSV the reports' rows under one head (they have a
    column `profile`), Markdown and LaTeX one table after the other. GlgeError for a format that has no such form.
    """
    chosen = look or Look()
    if format == "json":
        profiles = {report.profile: report.model_dump() for report in reports}
        content = {"schema_version": SCHEMA_VERSION, "profiles": profiles}
        return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if format == "csv":
        texts = [as_csv.render(report, chosen) for report in reports]
        return texts[0] + "".join(text.split("\n", 1)[1] for text in texts[1:])
    if format == "markdown":
        return "\n".join(as_markdown.render(report, chosen) for report in reports)
    if format == "latex":
        return "\n".join(as_latex.render(report, chosen) for report in reports)
    if format != "terminal":
        raise GlgeError(f"there is no {format} form of several profiles", hint="give one --profile")
    return _terminal(reports, chosen)


def _terminal(reports: Sequence[Report], look: Look) -> str:
    first = reports[0]
    names = [visible(report.profile) for report in reports]
    where, _, scale, *facts = heading(first)
    rows: list[list[str]] = []
    for task, result in by_task(first):
        others = [dict(by_task(report)).get(task) for report in reports]
        values = [other.value if other is not None else None for other in others]
        rows.append([task, "mean", *_cells(values, look)])
        for score in result.scores if result is not None else ():
            found = [
                next((one for one in other.scores if one.name == score.name), None) if other is not None else None
                for other in others
            ]
            shown = visible(score.shown) if score.counted else f"({visible(score.shown)})"
            rows.append(["", shown, *_cells([one.value if one is not None else None for one in found], look)])
    overall = [visible(first.benchmark), "score", *_cells([report.value for report in reports], look)]
    header = ["Task", "Metric", *names, *(f"{name} - {names[0]}" for name in names[1:])]
    lines = aligned(header, [*rows, overall], range(2, len(header)))
    said = dict.fromkeys(f"{report.profile}: {reason}" for report in reports for reason in reasons(report))
    parts = [
        ["   ".join([where, f"profiles {', '.join(names)}", scale, *facts])],
        [lines[0], "-" * max(map(len, lines)), *lines[1:]],
        [f"{overall_name(first)}, {first.coverage} tasks; why they differ: docs/libraries.md", *said],
    ]
    return "\n".join("".join(f"{line}\n" for line in part) for part in parts)


def _cells(values: Sequence[float | None], look: Look) -> list[str]:
    first = values[0]
    differences = [
        MISSING if first is None or value is None else f"{value - first:+.{look.digits}f}" for value in values[1:]
    ]
    return [*(figure(value, look.digits) for value in values), *differences]
