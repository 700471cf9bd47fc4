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
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

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
from glge.metrics import Pairs
from glge.metrics.contract import Summary
from glge.references import References, find_data, read_references
from glge.results import FileRecord, Interval, Report, Score, TaskResult, mean_of
from glge.rules import apply_rules
from glge.submission import Predictions, Submission, read_submission
from glge.tasks import Benchmark, MetricEntry, Task, load_tasks

Progress = Callable[[str, int, int], None]

# The codes of problems that show when predictions meet references.
CODES: Mapping[str, Severity] = {"no-references": "error", "published-size": "note"}


@dataclass(frozen=True)
class Items:
    """A task's lines as its metrics see them: after the rules, lines with the same source put together."""

    pairs: Pairs
    reference_counts: tuple[int, int]  # smallest and largest number of references of an item


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
        last: dict[str, str] = {}
        grouped: dict[str, list[str]] = {}
        keys = apply_rules(task.grouping.rules, sources)
        for key, prediction, group in zip(keys, predicted, gold, strict=True):
            last[key] = prediction
            grouped.setdefault(key, []).extend(group)
        predicted = [last[key] for key in grouped]
        gold = [tuple(group) for group in grouped.values()]  # type: ignore[misc]
    pairs = Pairs(predicted, gold)
    counts = [len(group) for group in gold]
    return Items(pairs, (min(counts), max(counts)))


def score_metric(task: Task, entry: MetricEntry, items: Items) -> tuple[Score, tuple[str, ...]]:
    """One metric on prepared items, and what it has to say about the number.

    A metric whose resources are missing (METEOR without its tables) has value None and says in `missing`
    what to install.
    """
    metric = entry.build()
    low, high = items.reference_counts
    signature = "|".join(
        (
            f"{task.name}:{task.version}",
            metric.signature,
            f"refs:{low}" if low == high else f"refs:{low}-{high}",
            f"items:{len(items.pairs)}",
            f"glge:{__version__}",
        )
    )
    basis = {
        "name": entry.name,
        "metric": entry.metric,
        "shown": entry.shown,
        "counted": entry.counted,
        "signature": signature,
    }
    try:
        summary = metric.summary(metric.rows(items.pairs))
    except MissingResource as error:
        return Score(**basis, missing=str(error)), ()  # type: ignore[arg-type]
    score = Score(
        **basis,  # type: ignore[arg-type]
        value=100 * summary.value,
        printed=_as_printed(entry, summary),
        mean=None if summary.mean is None else 100 * summary.mean,
        interval=_interval(summary, entry),
        details={key: 100 * figure if isinstance(figure, float) else figure for key, figure in summary.details.items()},
    )
    return score, summary.notes


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


@dataclass(frozen=True)
class _Unit:
    """Work for one process: some metrics of one task."""

    task: Task
    entries: tuple[MetricEntry, ...]
    predictions: list[str]
    references: list[tuple[str, ...]]
    sources: list[str] | None

    @property
    def weight(self) -> int:
        """How long it may take, roughly: aligning is far slower than counting."""
        size = sum(map(len, self.predictions)) + sum(len(text) for group in self.references for text in group)
        return size * (20 if any(entry.metric == "meteor" for entry in self.entries) else 1)


_Scored = dict[str, tuple[Score, tuple[str, ...]]]


def _score_unit(unit: _Unit) -> tuple[_Scored, int]:
    items = make_items(unit.task, unit.predictions, unit.references, unit.sources)
    return {entry.name: score_metric(unit.task, entry, items) for entry in unit.entries}, len(items.pairs)


def _units(task: Task, predictions: list[str], references: References) -> Iterator[_Unit]:
    gold: list[tuple[str, ...]] = [(text,) for text in references.targets]
    apart = [entry for entry in task.metrics if entry.metric == "meteor"]
    together = [entry for entry in task.metrics if entry.metric != "meteor"]
    for entries in (together, apart):
        if entries:
            yield _Unit(task, tuple(entries), predictions, gold, references.sources)


def _task_result(
    task: Task,
    scored: Mapping[str, tuple[Score, tuple[str, ...]]],
    items: int,
    *,
    level: str,
    split: str,
    predictions: FileRecord,
    references: FileRecord,
    sources: FileRecord | None,
) -> TaskResult:
    scores = tuple(scored[entry.name][0] for entry in task.metrics)
    notes = dict.fromkeys(note for entry in task.metrics if entry.counted for note in scored[entry.name][1])
    return TaskResult(
        task=task.name,
        title=task.title,
        version=task.version,
        level=level,
        split=split,
        value=mean_of([score.value for score in scores if score.counted]),
        scores=scores,
        items=items,
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
) -> TaskResult:
    """Score lists of lines on one task.

    `predictions` and `references` are lists of n raw lines, as they stand in the files; a reference may
    be a list of several. Tasks that group by source (squadqg, msqg) take `sources`, n lines; without
    them every line is an item of its own. Values are on the 0-100 scale.

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
    items = make_items(found, predicted, groups, source_lines)
    scored = {entry.name: score_metric(found, entry, items) for entry in found.metrics}
    return _task_result(
        found,
        scored,
        len(items.pairs),
        level=level,
        split=split,
        predictions=_record("predictions", predicted),
        references=_record("references", [text for group in groups for text in group]),
        sources=None if source_lines is None else _record("sources", source_lines),
    )


def _listed(lines: Iterable[object], what: str) -> list:  # type: ignore[type-arg]
    if isinstance(lines, str):
        raise MetricError(f"{what} must be a list of lines", found="one string", hint="put it into a list")
    return list(lines)


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
) -> Report:
    """Score a folder, a zip or some files of predictions against the references in `data`.

    `data` is a folder in the official layout (or `GLGE_DATA`). `tasks` narrows what is scored. `jobs` is
    the number of processes; the result does not depend on it. `progress(what, done, total)` is called as
    the work goes on.

    Raises SubmissionError, with every problem found, when a file cannot be scored; DataError when
    references are missing; RegistryError for an unknown task or level. Nothing is scored in part.
    """
    known = benchmark or load_tasks()
    known.check_level(level)
    wanted = list(dict.fromkeys(known.task(name).name for name in tasks)) if tasks else None
    submission, gold = _read_both(predictions, level, data, split, wanted, size_limit, known)
    names = [name for name in known.tasks if name in submission.predictions]
    units = [
        unit for name in names for unit in _units(known.tasks[name], submission.predictions[name].lines, gold[name])
    ]
    results: dict[str, _Scored] = {name: {} for name in names}
    items: dict[str, int] = {}
    for unit, (scored, count) in _run(units, jobs, progress):
        results[unit.task.name].update(scored)
        items[unit.task.name] = count
    task_results = tuple(
        _task_result(
            known.tasks[name],
            results[name],
            items[name],
            level=level,
            split=split,
            predictions=submission.predictions[name].record,
            references=gold[name].record,
            sources=gold[name].source_record,
        )
        for name in names
    )
    values = [result.value for result in task_results]
    return Report(
        glge_version=__version__,
        benchmark=known.name,
        level=level,
        split=split,
        value=mean_of(values) if len(values) == len(known.tasks) else None,
        tasks=task_results,
        expected_tasks=tuple(known.tasks),
        selected_tasks=tuple(wanted) if wanted else None,
        problems=(*submission.problems, *(problem for name in names for problem in gold[name].problems)),
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
        gold, missing = _read_references(known, find_data(data), level, split, wanted, size_limit)
    faulty = {name: error for name, error in missing.items() if not isinstance(error, NoReferences)}
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
    absent = [name for name in missing if name in counted.union(submission.predictions) and name not in faulty]
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


def _read_references(
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
    gold, missing = _read_references(known, root, level, split, wanted, size_limit)
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
    if needed and len(errors) == len(needed) == 1:
        raise needed[0]
    if errors:
        raise SubmissionError(
            f"the submission cannot be scored: {len(errors)} error{'s' if len(errors) > 1 else ''}",
            problems=problems,
            hint="mend them, or choose other tasks with --task",
        )
    return submission, gold


def _run(units: list[_Unit], jobs: int, progress: Progress | None) -> Iterator[tuple[_Unit, tuple[_Scored, int]]]:
    """Score all units, heaviest first, in this process or in several."""
    total = len(units)
    ordered = sorted(units, key=lambda unit: unit.weight, reverse=True)
    if jobs <= 1 or total <= 1:
        for done, unit in enumerate(ordered):
            if progress:
                progress(unit.task.name, done, total)
            yield unit, _score_unit(unit)
        if progress:
            progress("", total, total)
        return
    pool = ProcessPoolExecutor(min(jobs, total), initializer=_quiet)
    whole = False
    try:
        with _undisturbed():
            waiting: dict[Future[tuple[_Scored, int]], _Unit] = {
                pool.submit(_score_unit, unit): unit for unit in ordered
            }
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


__all__ = ["Predictions", "Progress", "make_items", "score", "score_metric", "score_submission", "validate_submission"]
