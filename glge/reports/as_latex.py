"""LaTeX: one row for the system under grouped columns, as in the benchmark's own table. Needs booktabs."""

from __future__ import annotations

from glge.reports.wording import (
    Look,
    all_signatures,
    apart,
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

MISSING = "--"

_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "[": "{[}",  # an optional argument, right after \\
        "*": "{*}",
        **{char: f"\\{char}" for char in "{}$&#_%"},
    }
)


def render(report: Report, look: Look) -> str:
    r"""The report as a `tabular` with a row for the system, and one for the intervals when they are asked for.

    Comments above it say what it needs, and hold what has no column: the mean of each task, the metrics
    that stand beside, the reasons for what is missing, and the signatures when they are asked for.
    """
    rows = by_task(report)
    above = ["; ".join([*heading(report), f"glge {report.glge_version}"])]
    above += [r"needs \usepackage{booktabs}; if it is too wide: table*, \small, \setlength{\tabcolsep}{3pt}"]
    sure = "".join(f", {fact}" for fact in (shown_interval(report, report, look), standard_error(report, look)) if fact)
    above += [f"{overall_name(report)}: {figure(report.value, look.digits)}{sure} ({coverage(report)})"]
    groups: list[tuple[str, list[Score | None]]] = []
    for name, result in rows:
        counted, beside = apart(result.scores if result is not None else ())
        groups.append((name, list(counted) or [None]))
        if result is not None:
            facts = [f"mean {figure(result.value, look.digits)} {shown_interval(report, result, look)}".rstrip()]
            facts += [f"{score.shown} ({score_figure(score, look.digits)})" for score in beside]
            above.append(f"{name}: {', '.join(facts)}")
    above += reasons(report)
    if look.signatures:
        above += [f"{name} {shown}: {signature}" for name, shown, signature in all_signatures(report)]

    heads: list[str] = [""]
    rules: list[str] = []
    first = 2
    for name, group in groups:
        heads.append(rf"\multicolumn{{{len(group)}}}{{c}}{{{escaped(name)}}}")
        rules.append(rf"\cmidrule(lr){{{first}-{first + len(group) - 1}}}")
        first += len(group)
    columns = [score for _, group in groups for score in group]
    shown = ["" if score is None else escaped(score.shown) for score in columns]
    values = [
        MISSING if score is None or score.value is None else score_figure(score, look.digits) for score in columns
    ]
    body = [_row(["System", *values, _figure(report.value, look)])]
    if look.intervals or report.resampling:
        found = ["" if score is None else shown_interval(report, score, look) for score in columns]
        body.append(_row(["interval", *found, shown_interval(report, report, look)]))
    lines = [
        *(f"% {visible(line)}" for line in above),
        rf"\begin{{tabular}}{{@{{}}l {' '.join('r' * len(group) for _, group in groups)} r@{{}}}}",
        r"\toprule",
        _row([*heads, escaped(report.benchmark)]),
        *([" ".join(rules)] if rules else []),
        _row(["", *shown, "score"]),
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _figure(value: float | None, look: Look) -> str:
    return MISSING if value is None else figure(value, look.digits)


def escaped(text: str) -> str:
    """The text as LaTeX, whatever it holds."""
    return visible(text).translate(_SPECIAL)
