"""Predictions x References x Task -> TaskResult; a whole submission -> Report.

Each side's lines go through the task's rules, lines with the same source become one item where the
recipe says so, every metric makes its rows, and the rows make the number. A task's value is the mean of
its metrics, the benchmark's the mean over its tasks with equal weights, both on unrounded figures; there
is no overall score unless all tasks are there.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glge import __version__
from glge.errors import (
    DataError,
    GlgeError,
    MetricError,
    MissingResource,
    NoReferences,
    Problem,
    Severity,
    SubmissionError,
)
from glge.lines import DEFAULT_SIZE_LIMIT
from glge.metrics import METRICS, AdditiveMetric, Metric, Pairs
from glge.metrics.contract import Summary
from glge.metrics.plugins import Guarded, PlugInError
from glge.references import References, find_data, read_references
from glge.results import FileRecord, Interval, Report, Resamples, Score, TaskLines, TaskResult, mean_of
from glge.rules import apply_rules
from glge.significance import Additive, Reduce, Resampling, bootstrap, interval, randomization
from glge.submission import Predictions, Submission, read_submission
from glge.tasks import Benchmark, MetricEntry, Task, load_tasks

Progress = Callable[[str, int, int], None]

# The codes of problems that show when predictions meet references.
CODES: Mapping[str, Severity] = {"no-references": "error", "published-size": "note"}


@dataclass(frozen=True)
class Items:
    """A task's lines as its metrics see them: after the rules, lines with the same source put together.

    `numbers` has the lines of each item, from 1 on; the last of them is the one that is scored.
    """

    pairs: Pairs
    reference_counts: tuple[int, int]  # smallest and largest number of references of an item
    numbers: list[tuple[int, ...]]


def make_items(
    task: Task, predictions: Sequence[str], references: Sequence[Sequence[str]], sources: Sequence[str] | None = None
) -> Items:
    """Apply the rules of both sides and the grouping of the recipe.

    Where the recipe groups by source and sources are given, lines with the same source are one item: its
    references are those of all its lines, its prediction is that of the last one (the published scripts
    keep a dictionary by source). Raises MetricError when the lists differ in length.
    """
    if len(predictions) != len(references):
        raise MetricError(
            f"{task.name}: predictions and references differ in number",
            expected=f"{len(references):,} predictions",
            found=f"{len(predictions):,}",
        )
    predicted = apply_rules(task.prediction.rules, predictions)
    if all(len(group) == 1 for group in references):
        gold = [(text,) for text in apply_rules(task.reference.rules, [group[0] for group in references])]
    else:
        gold = [tuple(apply_rules(task.reference.rules, group)) for group in references]  # type: ignore[misc]
    if task.grouping and sources is not None:
        if len(sources) != len(references):
            raise MetricError(
                f"{task.name}: sources and references differ in number",
                expected=f"{len(references):,} sources",
                found=f"{len(sources):,}",
            )
        grouped: dict[str, list[int]] = {}
        for number, key in enumerate(apply_rules(task.grouping.rules, sources), 1):
            grouped.setdefault(key, []).append(number)
        numbers = [tuple(group) for group in grouped.values()]
        predicted = [predicted[group[-1] - 1] for group in numbers]
        gold = [tuple(text for number in group for text in gold[number - 1]) for group in numbers]  # type: ignore[misc]
    else:
        numbers = [(number,) for number in range(1, len(predicted) + 1)]
    counts = [len(group) for group in gold]
    return Items(Pairs(predicted, gold), (min(counts, default=0), max(counts, default=0)), numbers)


def score_metric(task: Task, entry: MetricEntry, items: Items) -> tuple[Score, tuple[str, ...]]:
    """One metric on prepared items, and what it has to say about the number.

    A metric whose resources are missing (METEOR without its tables) has value None and says in `missing`
    what to install.
    """
    try:
        metric = entry.build()
        summary = metric.summary(metric.rows(items.pairs))
    except MissingResource as error:
        return _missing_score(task, entry, items, error), ()
    return _as_score(task, entry, metric, items, summary), summary.notes


def _basis(task: Task, entry: MetricEntry, made_by: str, items: Items) -> dict[str, Any]:
    low, high = items.reference_counts
    signature = "|".join(
        (
            f"{task.name}:{task.version}",
            made_by,
            f"refs:{low}" if low == high else f"refs:{low}-{high}",
            f"items:{len(items.pairs)}",
            f"glge:{__version__}",
        )
    )
    return {
        "name": entry.name,
        "metric": entry.metric,
        "shown": entry.shown,
        "counted": entry.counted,
        "signature": signature,
    }


def _missing_score(task: Task, entry: MetricEntry, items: Items, error: GlgeError) -> Score:
    try:
        made_by = entry.build().signature
    except GlgeError:  # a plug-in that cannot be made
        made_by = entry.metric
    return Score(**_basis(task, entry, made_by, items), missing=str(error))


def _as_score(task: Task, entry: MetricEntry, metric: Metric[Any], items: Items, summary: Summary) -> Score:
    return Score(
        **_basis(task, entry, metric.signature, items),
        value=100 * summary.value,
        printed=_as_printed(entry, summary) if task.profile == "official" and not isinstance(metric, Guarded) else None,
        mean=None if summary.mean is None else 100 * summary.mean,
        interval=_interval(summary, entry),
        details={key: 100 * figure if isinstance(figure, float) else figure for key, figure in summary.details.items()},
    )


def _interval(summary: Summary, entry: MetricEntry) -> Interval | None:
    if summary.interval is None:
        return None
    low, high = summary.interval
    return Interval(low=100 * low, high=100 * high, level=95.0, resamples=1000, seed=None, method="ROUGE-1.5.5")


def _as_printed(entry: MetricEntry, summary: Summary) -> str | None:
    """The published wrapper's figure: 5 decimals first for ROUGE and question generation, then 2."""
    if not entry.counted:
        return None
    if entry.metric.startswith("distinct"):
        return f"{summary.value:.3f}"
    if entry.metric.startswith(("rouge", "coco", "meteor")):
        return f"{float(f'{summary.value:.5f}') * 100:.2f}"
    return f"{summary.value * 100:.2f}"


# Work for a text, roughly, beside the array metrics.
_SLOWNESS = {"meteor": 20, "library_rougeLsum": 60, "library_rougeL": 20, "library_meteor": 20}
_APART = ("meteor", "library_meteor")


# --- units of work --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """What is wanted of every metric besides its value."""

    intervals: Resampling | None = None
    swaps: Resampling | None = None  # approximate randomization of several systems
    lines: bool = False


@dataclass(frozen=True)
class Unit:
    """Work for one process: some metrics of one task, on the outputs of one or more systems."""

    task: Task
    entries: tuple[MetricEntry, ...]
    systems: list[list[str]]
    references: list[tuple[str, ...]]
    sources: list[str] | None
    asked: Asked = Asked()

    @property
    def weight(self) -> int:
        """How long it may take, roughly: aligning is far slower than counting."""
        size = sum(map(len, chain.from_iterable(self.systems)))
        size += len(self.systems) * sum(len(text) for group in self.references for text in group)
        return size * max(
            _SLOWNESS.get(entry.metric, 1 if entry.metric in set(METRICS) else 100) for entry in self.entries
        )


@dataclass
class UnitResult:
    """What a unit found. Values are on the 0-1 scale, except those of the scores.

    `draws` and `swaps` have shape (systems, resamples), `lines` (systems, items); a metric whose resources are
    missing is in none of them, and with a single item there are no draws.
    """

    items: int
    numbers: list[tuple[int, ...]]
    scored: list[dict[str, tuple[Score, tuple[str, ...]]]]  # by system
    values: dict[str, list[float]] = field(default_factory=dict)  # what is resampled: metric -> by system
    draws: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    swaps: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    lines: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    notes: list[dict[int, list[str]]] = field(default_factory=list)  # by system: item -> what is odd

    def merge(self, other: UnitResult) -> None:
        """Take over the metrics of another unit of the same task and systems."""
        for mine, theirs in zip(self.scored, other.scored, strict=True):
            mine.update(theirs)
        for name in ("values", "draws", "swaps", "lines"):
            getattr(self, name).update(getattr(other, name))
        for here, there in zip(self.notes, other.notes, strict=True):
            for item, texts in there.items():
                here[item] = [*here.get(item, []), *texts]


def score_unit(unit: Unit) -> UnitResult:
    """Score the metrics of a unit for all its systems. Every text is looked at once."""
    parts = [make_items(unit.task, lines, unit.references, unit.sources) for lines in unit.systems]
    first, count = parts[0], len(parts[0].pairs)
    pairs = first.pairs
    if len(parts) > 1:
        pairs = Pairs(
            [text for part in parts for text in part.pairs.predictions],
            [group for part in parts for group in part.pairs.references],
        )
    result = UnitResult(count, first.numbers, [{} for _ in parts], notes=[{} for _ in parts])
    resampled: dict[tuple[str, int], Reduce] = {}
    mixed: dict[str, Additive | Reduce] = {}
    centred: dict[str, list[float]] = {}
    for entry in unit.entries:
        try:
            found = _score_entry(unit, entry, parts, pairs)
            if found.foreign:
                # Apart from the others, which must not suffer: the draws depend on seed and task alone.
                _resample(unit, result, found.resampled, found.mixed, found.centred, len(parts))
        except (MissingResource, PlugInError) as error:
            for system, part in enumerate(parts):
                result.scored[system][entry.name] = (_missing_score(unit.task, entry, part, error), ())
            continue
        for system, scored in enumerate(found.scored):
            result.scored[system][entry.name] = scored
            for item, text in found.notes[system].items():
                result.notes[system].setdefault(item, []).append(text)
        if found.values:
            result.values[entry.name] = found.values
        if found.lines is not None:
            result.lines[entry.name] = found.lines
        if not found.foreign:
            resampled |= found.resampled
            mixed |= found.mixed
            centred |= found.centred
    _resample(unit, result, resampled, mixed, centred, len(parts))
    return result


@dataclass
class _Found:
    """One metric of a unit: all of it, or, when it fails, none."""

    foreign: bool
    scored: list[tuple[Score, tuple[str, ...]]] = field(default_factory=list)
    notes: list[dict[int, str]] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    lines: NDArray[np.float64] | None = None
    resampled: dict[tuple[str, int], Reduce] = field(default_factory=dict)
    mixed: dict[str, Additive | Reduce] = field(default_factory=dict)
    centred: dict[str, list[float]] = field(default_factory=dict)


def _score_entry(unit: Unit, entry: MetricEntry, parts: Sequence[Items], pairs: Pairs) -> _Found:
    metric = entry.build()
    count = len(parts[0].pairs)
    rows = metric.rows(pairs)
    own = [rows]
    if len(parts) > 1:
        own = [metric.part(rows, system * count, (system + 1) * count) for system in range(len(parts))]
    found = _Found(isinstance(metric, Guarded))
    for system, (part, mine) in enumerate(zip(parts, own, strict=True)):
        summary = metric.summary(mine)
        found.scored.append((_as_score(unit.task, entry, metric, part, summary), summary.notes))
        found.resampled[entry.name, system] = partial(metric.reduce, mine)
        found.notes.append(metric.line_notes(mine) if unit.asked.lines else {})
    if len(parts) > 1 or metric.centred:
        found.values = [float(metric.reduce(mine)) for mine in own]
    if metric.centred:
        found.centred[entry.name] = found.values
    if len(parts) > 1:
        found.mixed[entry.name] = partial(metric.reduce, rows)
        if isinstance(metric, AdditiveMetric):
            table = np.stack([np.asarray(mine.values, dtype=np.float64) for mine in own])
            found.mixed[entry.name] = Additive(table, metric.finish)
    if unit.asked.lines:
        found.lines = np.stack([metric.lines(mine) for mine in own])
    return found


def _resample(
    unit: Unit,
    result: UnitResult,
    resampled: Mapping[tuple[str, int], Reduce],
    mixed: Mapping[str, Additive | Reduce],
    centred: Mapping[str, list[float]],
    systems: int,
) -> None:
    """Draw what was asked for, and add it to the result."""
    if result.items <= 1:
        return
    if unit.asked.intervals:
        draws = bootstrap(resampled, result.items, unit.asked.intervals, unit.task.name)
        for name, values in centred.items():
            for system, value in enumerate(values):
                draws[name, system] += value - draws[name, system].mean()
        names = dict.fromkeys(name for name, _ in resampled)
        result.draws |= {name: np.stack([draws[name, system] for system in range(systems)]) for name in names}
    if unit.asked.swaps:
        result.swaps |= randomization(mixed, result.items, systems, unit.asked.swaps, unit.task.name)


def make_units(task: Task, systems: list[list[str]], references: References, asked: Asked) -> Iterator[Unit]:
    """The work on one task; METEOR, a slow one, stands apart, and so do metrics of other packages."""
    gold: list[tuple[str, ...]] = [(text,) for text in references.targets]
    built_in = set(METRICS)
    apart = [entry for entry in task.metrics if entry.metric in _APART]
    foreign = [entry for entry in task.metrics if entry.metric not in built_in]
    together = [entry for entry in task.metrics if entry not in apart and entry not in foreign]
    for entries in (together, apart, foreign):
        if entries:
            yield Unit(task, tuple(entries), systems, gold, references.sources, asked)


def _with_interval(score: Score, draws: NDArray[np.float64] | None, resampling: Resampling) -> Score:
    signature = f"{score.signature}|{resampling.signature}"
    return score.model_copy(update={"ci": as_interval(draws, resampling), "signature": signature})


def as_interval(draws: NDArray[np.float64] | None, resampling: Resampling) -> Interval | None:
    """Draws on the 0-1 scale -> an interval on the 0-100 scale."""
    if draws is None:
        return None
    ends = interval(100 * draws, resampling.level)
    return Interval(
        low=ends.low,
        high=ends.high,
        level=resampling.level,
        resamples=resampling.resamples,
        seed=resampling.seed,
        method="percentile bootstrap",
        standard_error=ends.standard_error,
    )


def mean_draws(task: Task, draws: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64] | None:
    """Draws of the task's mean; None when a metric that counts has none."""
    names = [entry.name for entry in task.metrics if entry.counted]
    if not all(name in draws for name in names):
        return None
    total: NDArray[np.float64] = np.mean([draws[name] for name in names], axis=0)
    return total


def _task_result(
    task: Task,
    found: UnitResult,
    *,
    system: int = 0,
    resampling: Resampling | None = None,
    level: str,
    split: str,
    predictions: FileRecord,
    references: FileRecord,
    sources: FileRecord | None,
) -> TaskResult:
    scored = found.scored[system]
    scores = tuple(scored[entry.name][0] for entry in task.metrics)
    notes = dict.fromkeys(note for entry in task.metrics if entry.counted for note in scored[entry.name][1])
    ci = None
    if resampling:
        draws = {name: values[system] for name, values in found.draws.items()}
        scores = tuple(_with_interval(score, draws.get(score.name), resampling) for score in scores)
        ci = as_interval(mean_draws(task, draws), resampling)
        if found.items == 1:
            notes["the interval is undefined: a single item cannot be resampled"] = None
    return TaskResult(
        task=task.name,
        title=task.title,
        version=task.version,
        profile=task.profile,
        level=level,
        split=split,
        value=mean_of([score.value for score in scores if score.counted]),
        ci=ci,
        scores=scores,
        items=found.items,
        predictions=predictions,
        references=references,
        sources=sources,
        notes=tuple(notes),
    )


def score(
    predictions: Iterable[str],
    references: Iterable[str] | Iterable[Sequence[str]],
    task: str | Task,
    *,
    sources: Iterable[str] | None = None,
    level: str = "hard",
    split: str = "test",
    resampling: Resampling | None = None,
) -> TaskResult:
    """Score lists of lines on one task.

    `predictions` and `references` are lists of n raw lines, as they stand in the files; a reference may
    be a list of several. Tasks that group by source (squadqg, msqg) take `sources`, n lines; without
    them every line is an item of its own. Values are on the 0-100 scale. `resampling` adds bootstrap
    intervals over items.

    Raises MetricError when the lengths differ or there is nothing to score, RegistryError for an unknown
    task.

    >>> result = score(["the blue door", "yes"], ["a blue door", "no"], task="coqa")
    >>> result.value, result.score("f1").printed
    (50.0, '50.00')
    >>> score([""], ["a b"], task="xsum").value
    0.0
    """
    found = load_tasks().task(task) if isinstance(task, str) else task
    predicted = _listed(predictions, "predictions")
    groups = [(item,) if isinstance(item, str) else tuple(item) for item in _listed(references, "references")]
    source_lines = None if sources is None else _listed(sources, "sources")
    if found.reference.empty == "error":
        for number, group in enumerate(groups, 1):
            if not all(text.strip() for text in group):
                raise MetricError(f"an empty reference, which {found.name} does not allow", line=number)
    unit = Unit(found, tuple(found.metrics), [predicted], groups, source_lines, Asked(intervals=resampling))
    return _task_result(
        found,
        score_unit(unit),
        resampling=resampling,
        level=level,
        split=split,
        predictions=_record("predictions", predicted),
        references=_record("references", [text for group in groups for text in group]),
        sources=None if source_lines is None else _record("sources", source_lines),
    )


def _listed(lines: Iterable[object], what: str) -> list:  # type: ignore[type-arg]
    if isinstance(lines, (str, bytes, Mapping)):
        kind = "one string" if isinstance(lines, str) else f"a {type(lines).__name__}"
        raise MetricError(f"{what} must be a list of lines", found=kind, hint="put the texts into a list")
    found = list(lines)
    for number, line in enumerate(found, 1):
        for text in [line] if isinstance(line, (str, bytes)) or not isinstance(line, Sequence) else line:
            if not isinstance(text, str):
                raise MetricError(f"{what} must be texts", line=number, found=f"a {type(text).__name__}")
            if "\n" in text:
                hint = 'one text a line, without its end: text.rstrip("\\n")'
                raise MetricError(f"{what} hold a line feed", line=number, hint=hint)
    return found


def _record(name: str, lines: list[str]) -> FileRecord:
    digest = hashlib.sha256("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")).hexdigest()
    return FileRecord(name=name, lines=len(lines), sha256=digest)


def score_submission(
    predictions: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    level: str,
    data: str | os.PathLike[str] | None = None,
    split: str = "test",
    tasks: Sequence[str] | None = None,
    jobs: int = 1,
    size_limit: int | None = DEFAULT_SIZE_LIMIT,
    benchmark: Benchmark | None = None,
    progress: Progress | None = None,
    resampling: Resampling | None = None,
) -> Report:
    """Score a folder, a zip or some files of predictions against the references in `data`.

    `data` is a folder in the official layout (or `GLGE_DATA`). `tasks` narrows what is scored. `jobs` is
    the number of processes; the result does not depend on it. `progress(what, done, total)` is called as
    the work goes on. `resampling` adds bootstrap intervals to every metric, task and the overall score.

    Raises SubmissionError, with every problem found, when a file cannot be scored; DataError when
    references are missing; RegistryError for an unknown task or level. Nothing is scored in part.
    """
    report, _ = score_lines(
        predictions,
        level=level,
        data=data,
        split=split,
        tasks=tasks,
        jobs=jobs,
        size_limit=size_limit,
        benchmark=benchmark,
        progress=progress,
        resampling=resampling,
        lines=False,
    )
    return report


def score_lines(
    predictions: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    level: str,
    data: str | os.PathLike[str] | None = None,
    split: str = "test",
    tasks: Sequence[str] | None = None,
    jobs: int = 1,
    size_limit: int | None = DEFAULT_SIZE_LIMIT,
    benchmark: Benchmark | None = None,
    progress: Progress | None = None,
    resampling: Resampling | None = None,
    lines: bool = True,
) -> tuple[Report, list[TaskLines]]:
    """`score_submission`, and beside the report every metric's value of every item, task by task."""
    known = benchmark or load_tasks()
    known.check_level(level)
    wanted = list(dict.fromkeys(known.task(name).name for name in tasks)) if tasks else None
    submission, gold = _read_both(predictions, level, data, split, wanted, size_limit, known)
    names = [name for name in known.tasks if name in submission.predictions]
    asked = Asked(intervals=resampling, lines=lines)
    units = [
        unit
        for name in names
        for unit in make_units(known.tasks[name], [submission.predictions[name].lines], gold[name], asked)
    ]
    results = score_units(units, jobs, progress)
    task_results = tuple(
        task_result(
            known.tasks[name],
            results[name],
            submission.predictions[name],
            gold[name],
            resampling=resampling,
        )
        for name in names
    )
    report = make_report(
        known,
        task_results,
        {name: {key: values[0] for key, values in results[name].draws.items()} for name in names},
        level=level,
        split=split,
        wanted=wanted,
        problems=(*submission.problems, *(problem for name in names for problem in gold[name].problems)),
        resampling=resampling,
    )
    if not lines:
        return report, []
    return report, [
        task_lines(known.tasks[name], results[name], submission.predictions[name].lines, gold[name].targets)
        for name in names
    ]


def task_result(
    task: Task,
    found: UnitResult,
    predictions: Predictions,
    references: References,
    *,
    system: int = 0,
    resampling: Resampling | None = None,
) -> TaskResult:
    """The result of one system on one task, from what its units found."""
    return _task_result(
        task,
        found,
        system=system,
        resampling=resampling,
        level=predictions.level,
        split=predictions.split,
        predictions=predictions.record,
        references=references.record,
        sources=references.source_record,
    )


def make_report(
    benchmark: Benchmark,
    results: Sequence[TaskResult],
    draws: Mapping[str, Mapping[str, NDArray[np.float64]]],
    *,
    level: str,
    split: str,
    wanted: Sequence[str] | None,
    problems: Sequence[Problem],
    resampling: Resampling | None = None,
) -> Report:
    """Put the tasks together: the overall score is there when every task of the benchmark is.

    `draws` has the bootstrap draws by task and metric; tasks were drawn independently, so draw i of the overall
    score is the mean of draws i of the tasks.
    """
    values = [result.value for result in results]
    value = mean_of(values) if len(values) == len(benchmark.tasks) else None
    ci = None
    if resampling and value is not None:
        means = [mean_draws(benchmark.tasks[result.task], draws[result.task]) for result in results]
        if all(mean is not None for mean in means):
            ci = as_interval(np.mean(means, axis=0), resampling)  # type: ignore[arg-type]
    return Report(
        glge_version=__version__,
        benchmark=benchmark.name,
        profile=benchmark.profile,
        level=level,
        split=split,
        value=value,
        ci=ci,
        resampling=None
        if resampling is None
        else Resamples(resamples=resampling.resamples, seed=resampling.seed, level=resampling.level),
        tasks=tuple(results),
        expected_tasks=tuple(benchmark.tasks),
        selected_tasks=tuple(wanted) if wanted else None,
        problems=tuple(problems),
    )


def task_lines(
    task: Task, found: UnitResult, predictions: Sequence[str], references: Sequence[str], *, system: int = 0
) -> TaskLines:
    """The items of one system on one task, each by itself."""
    texts = [predictions[numbers[-1] - 1] for numbers in found.numbers]
    notes = []
    for item, text in enumerate(texts):
        odd = [] if text.strip() else ["empty prediction"]
        notes.append("; ".join(dict.fromkeys([*odd, *found.notes[system].get(item, ())])))
    present = [entry for entry in task.metrics if entry.name in found.lines]
    return TaskLines(
        task=task.name,
        title=task.title,
        shown={entry.name: entry.shown for entry in present},
        counted={entry.name: entry.counted for entry in present},
        values={entry.name: (100 * found.lines[entry.name][system]).tolist() for entry in present},
        numbers=found.numbers,
        words=[len(text.split()) for text in texts],
        notes=notes,
        predictions=texts,
        references=[tuple(references[number - 1] for number in numbers) for numbers in found.numbers],
    )


def validate_submission(
    predictions: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    level: str,
    data: str | os.PathLike[str] | None = None,
    split: str = "test",
    tasks: Sequence[str] | None = None,
    size_limit: int | None = DEFAULT_SIZE_LIMIT,
    benchmark: Benchmark | None = None,
) -> tuple[Problem, ...]:
    """Every problem of a submission in one pass, without scoring it.

    With `data` (or `GLGE_DATA`) line counts are checked against the references and what is odd about these is told
    as well; without, and for tasks whose files the data lacks, the published sizes count. Raises SubmissionError
    when there is nothing to look at, DataError when `data` is no data root.
    """
    known = benchmark or load_tasks()
    known.check_level(level)
    wanted = list(dict.fromkeys(known.task(name).name for name in tasks)) if tasks else None
    gold: dict[str, References] = {}
    missing: dict[str, DataError] = {}
    if data is not None or os.environ.get("GLGE_DATA"):
        gold, missing = read_all_references(known, find_data(data), level, split, wanted, size_limit)
    hidden = {name for name, error in missing.items() if type(error) is NoReferences}
    faulty = {name: error for name, error in missing.items() if name not in hidden}
    expected: dict[str, int | None] = dict.fromkeys(faulty)
    expected |= {name: len(references) for name, references in gold.items()}
    submission = read_submission(
        _paths(predictions),
        level,
        benchmark=known,
        split=split,
        tasks=wanted,
        size_limit=size_limit,
        expected=expected if gold or missing else None,
    )
    found = [problem for name in submission.predictions if name in gold for problem in gold[name].problems]
    counted = {problem.task for problem in submission.problems if problem.code == "line-count"}
    absent = [name for name in missing if name in counted.union(submission.predictions) and name in hidden]
    if absent:
        message = f"the data has no references for {', '.join(absent)}: counted by the published size"
        found.append(Problem("published-size", CODES["published-size"], message, count=len(absent)))
    return (*submission.problems, *_unreferenced(submission, faulty), *found)


def _unreferenced(submission: Submission, missing: Mapping[str, DataError]) -> list[Problem]:
    """An error for every task that has predictions and no references that can be used."""
    code = "no-references"
    return [
        Problem(code, CODES[code], error.message, file=error.file, task=name, hint=error.hint)
        for name, error in missing.items()
        if name in submission.predictions
    ]


def read_all_references(
    known: Benchmark, root: Path, level: str, split: str, wanted: list[str] | None, size_limit: int | None
) -> tuple[dict[str, References], dict[str, DataError]]:
    """The references of every task that is wanted, and why those of the others are not there."""
    gold: dict[str, References] = {}
    missing: dict[str, DataError] = {}
    for name, task in known.tasks.items():
        if wanted is None or name in wanted:
            try:
                gold[name] = read_references(root, task, level, split, size_limit=size_limit)
            except DataError as error:
                missing[name] = error
    return gold, missing


def _paths(predictions: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Path]:
    if isinstance(predictions, (str, os.PathLike)):
        return [Path(predictions)]
    return [Path(path) for path in predictions]


def _read_both(
    predictions: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    level: str,
    data: str | os.PathLike[str] | None,
    split: str,
    wanted: list[str] | None,
    size_limit: int | None,
    known: Benchmark,
) -> tuple[Submission, dict[str, References]]:
    """Read predictions and references; raise with everything that is wrong with either."""
    try:
        root = find_data(data)
    except DataError:
        # A wrong path of the predictions is told first.
        read_submission(_paths(predictions), level, benchmark=known, split=split, size_limit=size_limit)
        raise
    gold, missing = read_all_references(known, root, level, split, wanted, size_limit)
    submission = read_submission(
        _paths(predictions),
        level,
        benchmark=known,
        split=split,
        tasks=wanted,
        size_limit=size_limit,
        expected={**dict.fromkeys(missing), **{name: len(references) for name, references in gold.items()}},
    )
    needed = [missing[name] for name in submission.predictions if name in missing]
    faults = _unreferenced(submission, missing)
    problems = (*submission.problems, *faults)
    errors = [problem for problem in problems if problem.severity == "error"]
    if needed and len(errors) == len(needed):
        first = needed[0]
        if len(needed) == 1:
            raise first
        names = ", ".join(name for name in submission.predictions if name in missing)
        raise DataError(f"references are missing for {names}; the first: {first.message}", hint=first.hint)
    if errors:
        raise SubmissionError(
            f"the submission cannot be scored: {len(errors)} error{'s' if len(errors) > 1 else ''}",
            problems=problems,
            hint="mend them, or choose other tasks with --task",
        )
    return submission, gold


def score_units(units: Sequence[Unit], jobs: int, progress: Progress | None) -> dict[str, UnitResult]:
    """Score all units, heaviest first, in this process or in several; the results of each task together."""
    results: dict[str, UnitResult] = {}
    _prepare(units, progress)
    for unit, found in _run(list(units), jobs, progress):
        if unit.task.name in results:
            results[unit.task.name].merge(found)
        else:
            results[unit.task.name] = found
    return results


def _prepare(units: Sequence[Unit], progress: Progress | None) -> None:
    """What a metric makes on its first use is made here, with a bar, and not in several processes at once."""
    entries = {entry.metric: entry for unit in units for entry in unit.entries if entry.metric in _APART}
    for name, entry in entries.items():
        told = partial(progress, f"{name} tables") if progress else None
        with suppress(GlgeError):  # told where it is scored
            entry.build().prepare(told)


def _run(units: list[Unit], jobs: int, progress: Progress | None) -> Iterator[tuple[Unit, UnitResult]]:
    total = len(units)
    ordered = sorted(units, key=lambda unit: unit.weight, reverse=True)
    if jobs <= 1 or total <= 1:
        for done, unit in enumerate(ordered):
            if progress:
                progress(unit.task.name, done, total)
            yield unit, score_unit(unit)
        if progress:
            progress("", total, total)
        return
    pool = ProcessPoolExecutor(min(jobs, total), initializer=_quiet)
    whole = False
    try:
        with _undisturbed():
            waiting: dict[Future[UnitResult], Unit] = {pool.submit(score_unit, unit): unit for unit in ordered}
        done = 0
        while waiting:
            if progress:
                progress(next(iter(waiting.values())).task.name, done, total)
            finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in finished:
                unit = waiting.pop(future)
                done += 1
                yield unit, future.result()
        if progress:
            progress("", total, total)
        whole = True
    except BrokenProcessPool:
        raise GlgeError(
            "a scoring process was ended from outside, most likely for want of memory", hint="try --jobs 1"
        ) from None
    finally:
        # After a fault the workers are left to end by themselves, so that its message is not late.
        pool.shutdown(wait=whole, cancel_futures=True)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals wait while processes are started: raised inside a fork's own hooks, a Ctrl-C would be lost."""
    import signal  # noqa: PLC0415 - only where processes are started

    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _quiet() -> None:
    """Worker processes leave Ctrl-C to the process that started them, and end with it, however it ends."""
    import multiprocessing  # noqa: PLC0415 - only in worker processes
    import signal  # noqa: PLC0415
    import threading  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):  # blocked while this process was started
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=follow, daemon=True).start()


__all__ = [
    "Predictions",
    "Progress",
    "make_items",
    "score",
    "score_lines",
    "score_metric",
    "score_submission",
    "validate_submission",
]
