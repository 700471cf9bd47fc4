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
    ends,
    figure,
    heading,
    overall_name,
    reasons,
    score_figure,
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
            lines.append(f"| {_escaped(name)} | {NOT_SUBMITTED} | {MISSING} | {MISSING} |")
            continue
        names = " / ".join(_beside(score, _escaped(score.shown)) for score in result.scores)
        values = " / ".join(_beside(score, _value(score, look)) for score in result.scores)
        lines.append(f"| {_escaped(name)} | {names} | {values} | {figure(result.value, look.digits)} |")
    lines += [
        "",
        f"**{_escaped(overall_name(report))}: {figure(report.value, look.digits)}** ({_escaped(coverage(report))})",
    ]
    facts = heading(report)[1:]
    if any(not score.counted for _, result in rows if result is not None for score in result.scores):
        facts.append(BESIDE)
    lines += ["", _escaped("; ".join(facts))]
    if why := reasons(report):
        lines += ["", *(f"- {_escaped(reason)}" for reason in why)]
    if look.signatures and (found := all_signatures(report)):
        lines += ["", *(f"- {_escaped(task)} {_escaped(shown)}: {_code(sign)}" for task, shown, sign in found)]
    return "\n".join(lines) + "\n"


def _value(score: Score, look: Look) -> str:
    interval = f" {ends(score.interval, look.digits)}" if look.intervals and score.interval is not None else ""
    return f"{score_figure(score, look.digits)}{interval}"


def _beside(score: Score, text: str) -> str:
    return text if score.counted else f"({text})"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", visible(text))


def _code(text: str) -> str:
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text}{pad}{fence}"
