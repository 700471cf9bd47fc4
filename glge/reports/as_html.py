"""HTML: one file with the scores and their intervals, the tasks, single lines, and a comparison of systems.

What is summarised here (bins, means by length) is for looking at; the figures are those of the report.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence

from glge.errors import Problem
from glge.reports.as_comparison import LEGEND, how, mark, rows_of
from glge.reports.html_lines import (
    SEED,
    Chosen,
    choose,
    difference_table,
    line_table,
    line_values,
    most_different,
    note_of,
    ranked_by,
)
from glge.reports.html_page import (
    Column,
    Histogram,
    Markup,
    axis,
    bar,
    cell,
    difference,
    folded,
    shell,
    table,
    text,
)
from glge.reports.wording import (
    MISSING,
    NOT_SUBMITTED,
    Look,
    apart,
    by_severity,
    by_task,
    coverage,
    ends,
    figure,
    overall_name,
    places,
    quantity,
    reasons,
    resampled,
    score_figure,
    shown_interval,
    standard_error,
    tally,
    visible,
)
from glge.results import Comparison, Difference, FileRecord, Interval, Report, Row, Score, TaskLines, TaskResult

BUCKETS = 5
BINS = 20
SURE = 0.05


def render(report: Report, look: Look) -> str:
    """The report as a page, without single lines."""
    return render_html(report, digits=look.digits)


def render_html(
    report: Report | None,
    *,
    lines: Sequence[TaskLines] = (),
    comparison: Comparison | None = None,
    comparison_lines: Sequence[Sequence[TaskLines]] = (),
    references: bool = True,
    title: str | None = None,
    digits: int = 2,
) -> str:
    """A page that needs nothing else: no network, no other file, no JavaScript for reading it.

    `lines` and `comparison_lines` (by task, then by system) add single lines, as `score_lines` and `compare_lines`
    give them. With `references=False` no text of a reference is in the page, and nothing that is made from their
    words: no marks, and no notes but those on the prediction alone. All figures are on the 0-100 scale, with so many
    `digits` behind the point. The same arguments give the same page.
    """
    page = _Page(report, list(lines), comparison, list(comparison_lines), references, digits)
    shown = title if title is not None else page.name()
    return shell(shown, page.body(shown))


class _Page:
    """What the parts of a page share."""

    def __init__(
        self,
        report: Report | None,
        lines: list[TaskLines],
        comparison: Comparison | None,
        comparison_lines: list[Sequence[TaskLines]],
        references: bool,
        digits: int,
    ) -> None:
        self.report = report
        self.lines = lines
        self.comparison = comparison
        self.comparison_lines = [systems for systems in comparison_lines if len(systems) > 1]
        self.references = references
        self.digits = digits
        self.look = Look(intervals=True, digits=digits)
        self.notes: dict[str, None] = {}  # those of the lines shown, for the filter

    def name(self) -> str:
        """What the page is called when nobody says."""
        if self.report is not None:
            return overall_name(self.report)
        if self.comparison is not None:
            return "Comparison of " + " and ".join(visible(system.name) for system in self.comparison.systems[:4])
        return "Lines"

    # --- the whole

    def keys(self) -> dict[str, str]:
        """Task -> what it is called in addresses and attributes: names come from outside."""
        report, found = self.report, self.comparison
        names = [name for name, _ in by_task(report)] if report is not None else []
        names += [visible(task.task) for task in (found.tasks if found is not None else ())]
        names += [visible(task.task) for task in self.lines]
        names += [visible(systems[0].task) for systems in self.comparison_lines]
        return {name: f"t{number}" for number, name in enumerate(dict.fromkeys(names), 1)}

    def body(self, title: str) -> Markup:
        """Everything between the style and the script."""
        comparison = "".join(self.compared())
        tasks = "".join(self.tasks())
        problems = "".join(self.problems())
        scores = self.scores() if self.report is not None else ""
        differing = "".join(self.differing_lines())
        finder = self.finder() if self.lines or self.comparison_lines else ""
        return "\n".join(
            [
                f"<header>{self.opening(title)}{self.contents(comparison, problems)}</header>",
                '<main id="main">',
                scores,
                comparison,
                finder,
                differing,
                tasks,
                problems,
                "</main>",
                self.foot(),
            ]
        )

    def opening(self, title: str) -> Markup:
        """What was scored, the one figure, and why it is not there."""
        report, found = self.report, self.comparison
        facts: list[tuple[str, str]] = []
        headline = ""
        if report is not None:
            ends_shown = "" if report.ci is None else ends(report.ci, self.digits)
            what = (
                f"{visible(report.benchmark)} score, the mean of {quantity(len(report.expected_tasks), 'task')}"
                if report.value is not None
                else f"no {visible(report.benchmark)} score: {self.why_none(report)}"
            )
            headline = (
                f'<p class="headline"><b>{figure(report.value, self.digits)}</b> <span>{ends_shown}</span></p>'
                f'<p class="small">{text(what)}</p>'
            )
            facts += [
                ("Level", report.level),
                ("Split", report.split),
                ("Profile", report.profile),
                ("Tasks", coverage(report).replace(" tasks", "", 1)),
            ]
            if report.resampling is not None:
                facts.append(("Intervals", resampled(report.resampling).replace(" intervals:", ",")))
            if error := standard_error(report, self.look):
                facts.append(("Standard error", error.removeprefix("standard error ")))
        if found is not None:
            facts.append(("Systems", ", ".join(f"{each.name} ({each.level})" for each in found.systems)))
            if report is None:
                facts += [("Split", found.split), ("Profile", found.profile)]
            facts.append(("Test", "; ".join(how(found)[:2])))
            if report is None:
                headline = self.overall_difference(found)
        version = report.glge_version if report is not None else found.glge_version if found is not None else ""
        if version:
            facts.append(("Made by", f"glge {version}"))
        listed = "".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in facts)
        benchmark = report.benchmark if report is not None else found.benchmark if found is not None else "GLGE"
        kind = "evaluation report" if report is not None else "comparison of systems"
        return (
            f'<p class="eyebrow"><span>{text(benchmark)}, {kind}</span>'
            f'<button type="button" id="theme" class="plain" hidden>Dark page</button></p>\n'
            f"<h1>{text(title)}</h1>\n"
            f'<div class="opening"><div>{headline}</div><dl class="facts">{listed}</dl></div>\n'
        )

    def why_none(self, report: Report) -> str:
        """Why there is no overall score, in a few words."""
        lacking = [name for name, result in by_task(report) if result is not None and result.value is None]
        parts = [f"{report.coverage} tasks have a value"]
        absent = [name for name, result in by_task(report) if result is None]
        if absent:
            parts.append(f"not submitted: {', '.join(absent)}")
        if lacking:
            parts.append(f"a metric is missing: {', '.join(lacking)}")
        if report.selected_tasks is not None:
            parts.append("not all tasks were asked for")
        return "; ".join(parts)

    def overall_difference(self, found: Comparison) -> Markup:
        """The headline of a comparison by itself."""
        value = found.overall.differences[1] if len(found.overall.differences) > 1 else None
        if len(found.systems) > 2:
            return ""
        if value is None:
            compared = f"{len(found.tasks)} of {quantity(len(found.expected_tasks), 'task')} compared"
            return f'<p class="headline"><b>{MISSING}</b></p><p class="small">no overall score: {compared}</p>'
        ends_shown = "" if value.ci is None else _ends(value.ci, self.digits)
        names = [visible(system.name) for system in found.systems]
        return (
            f'<p class="headline"><b>{_signed(value.value, self.digits)}</b> <span>{ends_shown}</span></p>'
            f'<p class="small">{text(found.benchmark)} score of {text(names[1])} less that of {text(names[0])}; '
            f"p {_p(value.p_adjusted)}</p>"
        )

    def contents(self, comparison: Markup, problems: Markup) -> Markup:
        """Links to the parts."""
        links = [("scores", "Scores")] if self.report is not None else []
        links += [("comparison", "Comparison")] if comparison else []
        links += [("differing", "Differing lines")] if self.comparison_lines else []
        links += [(self.keys()[name], name) for name, _, _ in self.task_parts()]
        if problems:
            found = self.all_problems()
            links.append(("problems", f"Notes ({tally(found)})" if found else "Notes"))
        links.append(("reading", "Reading"))
        items = "".join(f'<li><a href="#{key}">{text(name)}</a></li>' for key, name in links)
        return f'<nav class="contents" aria-label="Contents"><ul>{items}</ul></nav>'

    # --- scores

    def scores(self) -> Markup:
        """All tasks and metrics on one axis."""
        report = self.report
        assert report is not None
        values = [score.value or 0.0 for result in report.tasks for score in result.scores]
        top = _top(values)
        columns = [
            Column("Task, metric", "text"),
            Column("Value", "number", "n"),
            Column("Interval", None, "n ends"),
            Column(f'<span class="unseen">Plot</span>{axis(0, top)}', None, "plot"),
        ]
        drawn = report.resampling
        whose = (
            resampled(drawn) + ", over items"
            if drawn is not None
            else "95 % intervals of ROUGE-1.5.5 where it made some"
        )
        caption = (
            f"Every metric of every task, 0–100, and the mean of each task (bold). Whiskers: {text(whose)}. "
            "In parentheses and grey: metrics beside, which do not enter the mean."
        )
        groups = [list(self.task_rows(name, result, top)) for name, result in by_task(report)]
        if drawn is not None and report.value is not None:
            groups.append([self.score_row(f"{visible(report.benchmark)} score", report, top)])
        made = table(columns, groups, caption=caption, kind="scores") if groups else '<p class="none">No tasks.</p>'
        return f'<section id="scores"><h2>Scores</h2>\n{made}</section>\n'

    def task_rows(self, name: str, result: TaskResult | None, top: float) -> Iterator[Markup]:
        """The mean of a task, then its metrics."""
        if result is None:
            empty = cell(MISSING, "n") + cell("", "n ends") + cell(f'<span class="none">{NOT_SUBMITTED}</span>', "plot")
            yield f'<tr class="mean"><th scope="row">{text(name)}</th>{empty}</tr>'
            return
        yield self.score_row(name, result, top)
        for score in [each for part in apart(result.scores) for each in part]:
            yield self.score_row("", score, top)

    def score_row(self, name: str, of: Score | TaskResult | Report, top: float) -> Markup:
        """A row of the table of scores."""
        report = self.report
        assert report is not None
        shown = text(shown_interval(report, of, self.look))
        interval = _interval(report, of)
        if isinstance(of, Score):
            head = text(of.shown if of.counted else f"({of.shown})")
            value = score_figure(of, self.digits)
            kind = "" if of.counted else ' class="beside"'
        else:
            key = self.keys().get(name) if isinstance(of, TaskResult) else None
            head = f'<a href="#{key}">{text(name)}</a>' if key else text(name)
            value, kind = figure(of.value, self.digits), ' class="mean"'
        short = f'<span class="short">{shown}</span>' if shown else ""
        both = None if interval is None else (interval.low, interval.high)
        return (
            f'<tr{kind}><th scope="row">{head}</th>{cell(text(value) + short, "n")}{cell(shown, "n ends")}'
            f"{cell(bar(of.value, both, top=top), 'plot')}</tr>"
        )

    # --- tasks

    def task_parts(self) -> list[tuple[str, TaskResult | None, TaskLines | None]]:
        """Name, result and lines of every task that has either."""
        results = dict(by_task(self.report)) if self.report is not None else {}
        lines = {visible(task.task): task for task in self.lines}
        names = dict.fromkeys([*(name for name, result in results.items() if result is not None), *lines])
        return [(name, results.get(name), lines.get(name)) for name in names]

    def tasks(self) -> Iterator[Markup]:
        """A section a task."""
        parts = self.task_parts()
        if parts:
            yield '<h2 id="tasks">Tasks</h2>\n'
            if self.lines:
                yield f"<p>{self.legend()}</p>\n"
        for name, result, lines in parts:
            key = self.keys()[name]
            source = result if result is not None else lines
            assert source is not None
            title = visible(source.title)
            shown = f"{text(title)} <small>{text(name)}</small>" if title.lower() != name.lower() else text(title)
            yield f'<section id="{key}" data-section="{key}"><h3>{shown}</h3>\n'
            yield self.task_facts(result, lines)
            if lines is not None:
                yield from self.task_lines(key, lines)
            if result is not None:
                yield self.made_by(result)
            yield "</section>\n"

    def task_facts(self, result: TaskResult | None, lines: TaskLines | None) -> Markup:
        """One sentence: the mean, its interval, how much was scored."""
        report = self.report
        facts = []
        if result is not None and report is not None:
            interval = shown_interval(report, result, self.look)
            facts.append(f"Mean of the metrics {figure(result.value, self.digits)} {interval}".rstrip())
            grouped = result.items != result.predictions.lines
            items = f"{quantity(result.items, 'item')} from " if grouped else ""
            facts.append(items + quantity(result.predictions.lines, "line"))
        if lines is not None and len(lines):
            facts.append(f"{sum(lines.words) / len(lines):.1f} words a prediction")
        notes = "".join(f"<li>{text(note)}</li>" for note in (result.notes if result is not None else ()))
        return f"<p>{text('; '.join(facts))}.</p>\n" + (f"<ul>{notes}</ul>\n" if notes else "")

    def task_lines(self, key: str, task: TaskLines) -> Iterator[Markup]:
        """How the values of the lines are spread, how they go with length, and the lines themselves."""
        values = line_values(task)
        known = [value for value in values if value is not None]
        if known:
            yield f'<div class="pair">{self.distribution(task, known)}{lengths(task, values, self.digits)}</div>\n'
        elif len(task):
            yield '<p class="none">No metric of this task gives single lines a value.</p>\n'
        chosen = choose(task, values, references=self.references)
        ends_of = [*(("worst", item) for item in chosen.worst), *(("best", item) for item in chosen.best)]
        self.note([task], [item for _, item in ends_of] + chosen.drawn)
        if ends_of:
            caption = (
                f"{text(task.title)}: the {len(chosen.worst)} lines with the lowest values, "
                f"and the {len(chosen.best)} with the highest."
            )
            yield self.one_line_table(key, task, values, ends_of, caption)
        if chosen.drawn:
            made = self.one_line_table(
                key, task, values, [("drawn", item) for item in chosen.drawn], f"{text(task.title)}: {_drawn(chosen)}."
            )
            yield folded(f"{_drawn(chosen)}", made)

    def one_line_table(
        self,
        key: str,
        task: TaskLines,
        values: Sequence[float | None],
        items: Sequence[tuple[str, int]],
        caption: Markup,
    ) -> Markup:
        """Some lines of a task."""
        return line_table(task, values, items, caption=caption, key=key, digits=self.digits, references=self.references)

    def note(self, tasks: Iterable[TaskLines], items: Sequence[int]) -> None:
        """Keep the notes of these items for the filter."""
        for task in tasks:
            for item in items:
                parts = note_of(task, item, self.references).split("; ")
                self.notes |= dict.fromkeys(part for part in parts if part)

    def distribution(self, task: TaskLines, known: Sequence[float]) -> Markup:
        """The histogram of the lines' values."""
        top = _top(known)
        counts = [0] * BINS
        for value in known:
            counts[min(int(BINS * max(value, 0.0) / top), BINS - 1)] += 1
        quarters = statistics.quantiles(known, n=4, method="inclusive") if len(known) > 1 else [known[0]] * 3
        made_of = ", ".join(text(task.shown[name]) for name in ranked_by(task))
        shown = ", ".join(figure(quarter, 1) for quarter in quarters)
        figure_of = Histogram(tuple(counts), top).draw(statistics.fmean(known), text(task.title))
        mean = f"the mean of its {made_of}" if len(ranked_by(task)) > 1 else f"its {made_of}"
        return (
            f"<figure><figcaption>Lines by value; a line’s value is {mean}. Quartiles {shown}.</figcaption>\n"
            f"{figure_of}</figure>\n"
        )

    def made_by(self, result: TaskResult) -> Markup:
        """Every metric with what stands beside its value and what made it, and the files that were read."""
        columns = [
            Column("Metric"),
            Column("Value", None, "n"),
            Column("Interval", None, "n"),
            Column("Beside it"),
            Column("Signature"),
        ]
        report = self.report
        assert report is not None
        rows = []
        for score in result.scores:
            beside = [f"{key} {_detail(value, self.digits)}" for key, value in score.details.items()]
            if score.mean is not None:
                beside.insert(0, f"mean of lines {figure(score.mean, self.digits)}")
            if score.interval is not None and score.ci is not None:
                beside.append(f"{score.interval.method}: {ends(score.interval, self.digits)}")
            if score.missing:
                beside.insert(0, score.missing)
            rows.append(
                f'<tr><th scope="row">{text(score.shown if score.counted else f"({score.shown})")}</th>'
                f"{cell(text(score_figure(score, self.digits)), 'n', 'value')}"
                f"{cell(text(shown_interval(report, score, self.look)), 'n')}"
                f"{cell(text('; '.join(beside)))}{cell(f'<code>{text(score.signature)}</code>')}</tr>"
            )
        caption = f"{text(result.title)}, recipe version {result.version}: what made each figure."
        records = [("Predictions", result.predictions), ("References", result.references), ("Sources", result.sources)]
        files = "".join(_file(name, record) for name, record in records if record is not None)
        made = table(columns, [rows], caption=caption, kind="made") + f'<dl class="facts made">{files}</dl>\n'
        return folded("Metrics, signatures and files", made)

    def legend(self) -> Markup:
        """What the marks on words mean."""
        if not self.references:
            return "References are left out of this page, and so is every mark that would give their words away."
        return (
            "Words that a prediction and its reference share are marked: "
            "<mark>single words</mark> lightly, <mark class=g>two or more in a row</mark> strongly. Case is ignored; "
            "the metrics have their own rules for words."
        )

    def finder(self) -> Markup:
        """The bar that narrows all tables of lines; the script shows it."""
        keys = self.keys()
        with_lines = dict.fromkeys(
            [visible(task.task) for task in self.lines] + [visible(each[0].task) for each in self.comparison_lines]
        )
        tasks = _options([("", "all"), *((keys[name], name) for name in with_lines)])
        sets = (
            [("", "all"), ("worst", "lowest"), ("best", "highest"), ("drawn", "others")]
            if self.lines
            else [("", "all")]
        )
        if self.comparison_lines:
            sets.append(("differs", "where systems differ"))
        notes = [("", "any or none"), ("*", "any note"), *((note, note) for note in list(self.notes)[:30])]
        return (
            '<form id="finder" class="finder" role="search" aria-label="Find lines" hidden>'
            '<label>Find in lines <input type="search" name="text" autocomplete="off" spellcheck="false"></label>'
            f'<label>Task <select name="task">{tasks}</select></label>'
            f'<label>Lines <select name="set">{_options(sets)}</select></label>'
            f'<label>Note <select name="note">{_options(notes)}</select></label>'
            '<button type="reset" class="plain">Show all</button><output aria-live="polite"></output></form>\n'
        )

    # --- comparison

    def compared(self) -> Iterator[Markup]:
        """Differences of every system to the first."""
        found = self.comparison
        if found is None:
            return
        yield '<section id="comparison"><h2>Comparison</h2>\n'
        said = "; ".join(how(found))
        yield f"<p>{text(said[:1].upper() + said[1:])}. {text(LEGEND.replace('   ', ', '))}.</p>\n"
        for place in range(1, len(found.systems)):
            yield self.differences(found, place)
        yield "</section>\n"

    def differing_lines(self) -> Iterator[Markup]:
        """The lines where systems differ most."""
        if not self.comparison_lines:
            return
        yield '<section id="differing"><h2>Where the systems differ most</h2>\n'
        yield f"<p>By the value of a line: the mean of its metrics, without Distinct. {self.legend()}</p>\n"
        for systems in self.comparison_lines:
            key = self.keys()[visible(systems[0].task)]
            parts = [self.differing(systems, place, key) for place in range(1, len(systems))]
            yield f'<section data-section="{key}">' + "".join(parts) + "</section>\n"
        yield "</section>\n"

    def system(self, place: int) -> str:
        """The name of a system."""
        if self.comparison is not None and place < len(self.comparison.systems):
            return visible(self.comparison.systems[place].name)
        return f"system {place + 1}"

    def differences(self, found: Comparison, place: int) -> Markup:
        """One system against the first, a row a metric."""
        rows = [(task, row, row.differences[place]) for task, row in rows_of(found)]
        reach = _reach([each for _, _, each in rows if each is not None])
        first, other = self.system(0), self.system(place)
        columns = [
            Column("Task", "text"),
            Column("Metric", "text"),
            Column(text(first), "number", "n"),
            Column(text(other), "number", "n"),
            Column("Difference", "number", "n"),
            Column("Interval", None, "n"),
            Column("<i>p</i>", "number", "n"),
            Column("Holm <i>p</i>", "number", "n"),
            Column(f'<span class="unseen">Plot</span>{axis(-reach, reach, signed=True)}', None, "plot"),
        ]
        made = []
        for task, row, value in rows:
            name = visible(found.benchmark) if task is None else visible(task.task)
            shown = "score" if task is None else row.shown if row.counted else f"({row.shown})"
            again = task is not None and row is not task.mean
            made.append(self.difference_row((name, shown), row, value, place, reach, again=again))
        caption = (
            f"{text(other)} less {text(first)}: positive where {text(other)} is higher. Values 0–100. "
            "Filled dots: Holm-adjusted <i>p</i> below 0.05."
        )
        left = [visible(problem.message) for problem in found.problems if problem.code == "task-left-out"]
        if place > 1 or len(found.tasks) == len(found.expected_tasks):
            left = []
        after = f"<p>{text('; '.join(left))}.</p>\n" if left else ""
        return table(columns, [made], caption=caption, kind="differences") + after

    def difference_row(
        self,
        names: tuple[str, str],
        row: Row,
        value: Difference | None,
        place: int,
        reach: float,
        *,
        again: bool,
    ) -> Markup:
        """A row of the table of differences; `again`: the name of the task stands above."""
        name, shown = names
        figures = [
            cell(figure(row.values[0], self.digits), "n", self.system(0)),
            cell(figure(row.values[place], self.digits), "n", self.system(place)),
        ]
        if value is None:
            figures += [cell(MISSING, "n", "difference"), cell("", "n"), cell("", "n"), cell("", "n"), cell("", "plot")]
        else:
            both = None if value.ci is None else (value.ci.low, value.ci.high)
            sure = value.p_adjusted is not None and value.p_adjusted < SURE
            stars = mark(value)
            figures += [
                cell(_signed(value.value, self.digits) + stars, "n", "difference"),
                cell("" if value.ci is None else _ends(value.ci, self.digits), "n"),
                cell(_p(value.p), "n", "p"),
                cell(_p(value.p_adjusted), "n", "Holm p"),
                cell(difference(value.value, both, reach=reach, sure=sure), "plot"),
            ]
        kind = "mean" if row.name in ("mean", "glge") else "" if row.counted else "beside"
        key = self.keys().get(name)
        has_part = key is not None and any(name == other for other, _, _ in self.task_parts())
        head = f'<a href="#{key}">{text(name)}</a>' if has_part and not again else text(name)
        return (
            f'<tr{f" class={kind}" if kind else ""}><th scope="row"{" class=again" if again else ""}>{head}</th>'
            f"{cell(text(shown))}{''.join(figures)}</tr>"
        )

    def differing(self, systems: Sequence[TaskLines], place: int, key: str) -> Markup:
        """Where one system and the first differ most on one task."""
        pair = (systems[0], systems[place])
        for _, item in most_different(line_values(pair[0]), line_values(pair[1])):
            self.note(pair, [item])
        names = (self.system(0), self.system(place))
        title = visible(systems[0].title)
        made = difference_table(
            pair,
            names,
            caption=f"{text(title)}: largest differences of {text(names[1])} to {text(names[0])}.",
            key=key,
            digits=self.digits,
            references=self.references,
        )
        if not made:
            return f"<p>{text(title)}: no line’s value differs between {text(names[0])} and {text(names[1])}.</p>\n"
        return made

    # --- the end

    def all_problems(self) -> list[Problem]:
        """Those of the report and those of the comparison, once each."""
        found = list(self.report.problems) if self.report is not None else []
        found += list(self.comparison.problems) if self.comparison is not None else []
        return by_severity(list(dict.fromkeys(found)))

    def problems(self) -> Iterator[Markup]:
        """What was odd, and why figures are missing."""
        found = self.all_problems()
        why = reasons(self.report) if self.report is not None else []
        if not found and not why:
            return
        yield '<section id="problems"><h2>Problems and notes</h2>\n'
        if why:
            yield f"<ul>{''.join(f'<li>{text(reason)}</li>' for reason in why)}</ul>\n"
        if found:
            yield f"<p>{text(tally(found))}.</p>\n"
            yield f'<ul class="problems">{"".join(map(_problem, found))}</ul>\n'
        yield "</section>\n"

    def foot(self) -> Markup:
        """How to read the page."""
        sentences = [
            "All figures are on the 0–100 scale and formatted from unrounded values; "
            "– is a figure that is missing, never 0."
        ]
        if self.lines or self.comparison_lines:
            sentences.append(
                "A line’s value is the mean of the metrics that count, taken of that line alone, without Distinct, "
                "which says nothing about one line. Corpus figures such as BLEU-4 are no means of lines: the mean of "
                "the lines need not be the task’s score. Lines of equal value go by length, the longer first."
            )
            sentences.append(
                f"A large task shows its lowest and highest lines and a random sample of the others (seed {SEED})."
            )
        if not self.references:
            sentences.append("Reference texts are left out.")
        return f'<footer id="reading"><p>{" ".join(sentences)}</p></footer>\n'


# --- pieces ---------------------------------------------------------------------------------------


def buckets(words: Sequence[int], most: int = BUCKETS) -> list[tuple[int, int]]:
    """Ranges of words, both ends included, with about as many lines each; lines of one length stay together.

    >>> buckets([1, 1, 1, 2, 3, 3, 9, 12], most=2)
    [(1, 2), (3, 12)]
    >>> buckets([4, 4]), buckets([])
    ([(4, 4)], [])
    """
    ordered = sorted(words)
    count = max(1, min(most, len(ordered) // 4))
    found: list[tuple[int, int]] = []
    begin = 0
    for part in range(1, count + 1):
        end = round(len(ordered) * part / count)
        while begin < end < len(ordered) and ordered[end] == ordered[end - 1]:
            end += 1
        if end > begin:
            found.append((ordered[begin], ordered[end - 1]))
            begin = end
    return found


def lengths(task: TaskLines, values: Sequence[float | None], digits: int) -> Markup:
    """The mean value of the lines by the length of the prediction."""
    known = [(count, value) for count, value in zip(task.words, values, strict=True) if value is not None]
    parts = []
    for low, high in buckets([count for count, _ in known]):
        own = [value for count, value in known if low <= count <= high]
        parts.append((low, high, len(own), statistics.fmean(own)))
    top = _top([mean for *_, mean in parts])
    columns = [
        Column("Words", "number", "n"),
        Column("Lines", "number", "n"),
        Column("Mean", "number", "n"),
        Column(f'<span class="unseen">Plot</span>{axis(0, top)}', None, "plot"),
    ]
    rows = [
        f"<tr>{cell(f'{low:,}' if low == high else f'{low:,}–{high:,}', 'n')}{cell(f'{count:,}', 'n')}"
        f"{cell(figure(mean, digits), 'n')}{cell(bar(mean, top=top), 'plot')}</tr>"
        for low, high, count, mean in parts
    ]
    caption = "Mean value of the lines by the number of words in the prediction."
    return table(columns, [rows], caption=caption, kind="lengths")


def _interval(report: Report, of: Score | TaskResult | Report) -> Interval | None:
    if report.resampling is not None:
        return of.ci
    return of.interval if isinstance(of, Score) else None


def _top(values: Iterable[float]) -> float:
    """The end of an axis: 100, or the next 20 above it (smoothed BLEU goes up to 133)."""
    most = max(values, default=0.0)
    return 100.0 if most <= 100 or not math.isfinite(most) else 20.0 * math.ceil(most / 20)


def _reach(differences: Iterable[Difference]) -> float:
    """The end of an axis of differences: the next round figure."""
    most = 0.0
    for each in differences:
        most = max(most, abs(each.value), *((abs(each.ci.low), abs(each.ci.high)) if each.ci is not None else ()))
    if most == 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(most))
    return next(step * power for step in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 20) if step * power >= most)


def _signed(value: float, digits: int) -> str:
    shown = f"{value:+.{digits}f}"
    return shown[1:] if float(shown) == 0 else shown.replace("-", "−")


def _ends(interval: Interval, digits: int) -> str:
    return f"[{_signed(interval.low, digits)}, {_signed(interval.high, digits)}]"


def _p(value: float | None) -> str:
    return MISSING if value is None else "&lt;0.001" if value < 0.001 else f"{value:.3f}"


def _detail(value: float | int | str, digits: int) -> str:
    return f"{value:.{digits}f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value


def _file(name: str, record: FileRecord) -> Markup:
    return (
        f"<dt>{name}</dt><dd>{text(record.name)}, {quantity(record.lines, 'line')}, "
        f"<code>sha256 {text(record.sha256)}</code></dd>"
    )


def _drawn(chosen: Chosen) -> str:
    rest = chosen.all - len(chosen.worst) - len(chosen.best)
    if rest == len(chosen.drawn):
        return f"The other {quantity(rest, 'line')}"
    return f"{len(chosen.drawn):,} of the other {rest:,} lines, drawn at random (seed {SEED})"


def _options(pairs: Iterable[tuple[str, str]]) -> Markup:
    return "".join(f'<option value="{text(value)}">{text(shown)}</option>' for value, shown in pairs)


def _problem(problem: Problem) -> Markup:
    where = f"{text(problem.file)}: " if problem.file else ""
    at = places(problem)
    hint = f"<br><small>{text(problem.hint)}</small>" if problem.hint else ""
    return (
        f'<li><b class="{problem.severity}">{problem.severity}</b>'
        f"<span>{where}{text(problem.message)}{f' ({text(at)})' if at else ''}{hint}</span></li>"
    )
