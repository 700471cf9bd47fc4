"""Markdown: a table of GitHub's kind, a row a task, the overall score beneath."""

from __future__ import annotations

import re

from glge.reports.wording import (
    BESIDE,
    MISSING,
    NOT_SUBMITTED,
    Look,
    all_signatures,
    by_task,
    coverage,
    figure,
    heading,
    overall_name,
    reasons,
    score_figure,
    shown_interval,
    standard_error,
    visible,
)
from glge.results import Report, Score

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~!&$@])")


def render(report: Report, look: Look) -> str:
    """The report as Markdown. Figures in parentheses stand beside and do not enter the mean."""
    lines = ["| Task | Metrics | Scores | Mean |", "|:--|:--|--:|--:|"]
    rows = by_task(report)
    for name, result in rows:
        if result is None:
            lines.append(f"| {escaped(name)} | {NOT_SUBMITTED} | {MISSING} | {MISSING} |")
            continue
        names = " / ".join(_beside(score, escaped(score.shown)) for score in result.scores)
        values = " / ".join(_beside(score, _value(score, report, look)) for score in result.scores)
        mean = _with(figure(result.value, look.digits), shown_interval(report, result, look))
        lines.append(f"| {escaped(name)} | {names} | {values} | {mean} |")
    overall = _with(f"**{escaped(overall_name(report))}: {figure(report.value, look.digits)}**", _overall(report, look))
    lines += ["", f"{overall} ({escaped(coverage(report))})"]
    facts = heading(report)[1:]
    if any(not score.counted for _, result in rows if result is not None for score in result.scores):
        facts.append(BESIDE)
    lines += ["", escaped("; ".join(facts))]
    if why := reasons(report):
        lines += ["", *(f"- {escaped(reason)}" for reason in why)]
    if look.signatures and (found := all_signatures(report)):
        lines += ["", *(f"- {escaped(task)} {escaped(shown)}: {_code(sign)}" for task, shown, sign in found)]
    return "\n".join(lines) + "\n"


def _value(score: Score, report: Report, look: Look) -> str:
    return _with(score_figure(score, look.digits), shown_interval(report, score, look))


def _overall(report: Report, look: Look) -> str:
    return ", ".join(filter(None, [shown_interval(report, report, look), standard_error(report, look)]))


def _with(value: str, interval: str) -> str:
    return f"{value} {interval}" if interval else value


def _beside(score: Score, text: str) -> str:
    return text if score.counted else f"({text})"


def escaped(text: str) -> str:
    """The text as Markdown, whatever it holds."""
    return _SPECIAL.sub(r"\\\1", visible(text))


def _code(text: str) -> str:
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text}{pad}{fence}"
