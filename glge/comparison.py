"""Two or more systems beside each other: differences to the first, and whether they are real.

Every system is scored as alone; the systems' items are then resampled together. Paired bootstrap: in each resample
the same items are taken for all systems. Approximate randomization: for each item the outputs of two systems
change places or not. The mean of a task and the overall score are tested on the same draws as their parts. P-values
are two-sided with the +1 correction; Holm's correction runs over the tasks for the means, and over the metrics of
all tasks for the metrics.

What not all systems have is left out and named; nothing in common is an error.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from glge import __version__
from glge.errors import DataError, Problem, Severity, SubmissionError
from glge.lines import DEFAULT_SIZE_LIMIT, printable
from glge.references import find_data
from glge.results import (
    Comparison,
    Difference,
    Resamples,
    Row,
    SystemRecord,
    TaskComparison,
    TaskLines,
    mean_of,
)
from glge.scoring import (
    Asked,
    Progress,
    UnitResult,
    as_interval,
    make_units,
    mean_draws,
    read_all_references,
    score_units,
    task_lines,
)
from glge.significance import Resampling, bootstrap_p, holm, randomization_p, sacrebleu_p
from glge.submission import Submission, read_submission
from glge.tasks import Benchmark, Task, load_tasks

Test = Literal["bootstrap", "randomization"]
_TESTS = {"bootstrap": "paired bootstrap", "randomization": "approximate randomization"}

# The codes of problems that show when systems meet.
CODES: Mapping[str, Severity] = {"task-left-out": "note", "levels-differ": "note"}

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def compare_submissions(
    systems: Sequence[Paths],
    *,
    levels: Sequence[str],
    data: str | os.PathLike[str] | None = None,
    split: str = "test",
    tasks: Sequence[str] | None = None,
    test: Test = "bootstrap",
    resampling: Resampling | None = None,
    names: Sequence[str] | None = None,
    jobs: int = 1,
    size_limit: int | None = DEFAULT_SIZE_LIMIT,
    benchmark: Benchmark | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare systems with the first of them, on the tasks that all have.

    `systems` are paths as for `score_submission`. `levels` has one level for all, or one a system. `test` is
    "bootstrap" or "randomization". `names` are what the systems are called; by default the last part of their path.

    Raises SubmissionError for fewer than two systems, for files that cannot be scored and for systems without a
    common task; DataError when references are missing; MetricError for fewer than 100 resamples.
    """
    comparison, _ = compare_lines(
        systems,
        levels=levels,
        data=data,
        split=split,
        tasks=tasks,
        test=test,
        resampling=resampling,
        names=names,
        jobs=jobs,
        size_limit=size_limit,
        benchmark=benchmark,
        progress=progress,
        lines=False,
    )
    return comparison


def compare_lines(
    systems: Sequence[Paths],
    *,
    levels: Sequence[str],
    data: str | os.PathLike[str] | None = None,
    split: str = "test",
    tasks: Sequence[str] | None = None,
    test: Test = "bootstrap",
    resampling: Resampling | None = None,
    names: Sequence[str] | None = None,
    jobs: int = 1,
    size_limit: int | None = DEFAULT_SIZE_LIMIT,
    benchmark: Benchmark | None = None,
    progress: Progress | None = None,
    lines: bool = True,
) -> tuple[Comparison, list[list[TaskLines]]]:
    """`compare_submissions`, and beside it every metric's value of every item: by task, then by system."""
    known = benchmark or load_tasks()
    drawn = resampling or Resampling()
    if len(systems) < 2:
        raise SubmissionError("two systems or more are compared", expected="at least 2", found=str(len(systems)))
    if len(levels) not in (1, len(systems)):
        raise SubmissionError("give one level for all systems, or one for each", found=f"{len(levels)} levels")
    if test not in _TESTS:
        raise SubmissionError("there is no such test", expected="bootstrap or randomization", found=printable(test))
    each_level = list(levels) * (len(systems) if len(levels) == 1 else 1)
    called = _names(systems, names)
    wanted = [known.task(name).name for name in tasks] if tasks else None
    gold, missing = read_all_references(known, find_data(data), each_level[0], split, wanted, size_limit)
    read = [
        read_submission(
            _paths(paths),
            level,
            benchmark=known,
            split=split,
            size_limit=size_limit,
            expected={**dict.fromkeys(missing), **{name: len(found) for name, found in gold.items()}},
        )
        for paths, level in zip(systems, each_level, strict=True)
    ]
    common, problems = _common(read, called, known, wanted, missing)
    asked = Asked(
        intervals=drawn if test == "bootstrap" else None,
        swaps=drawn if test == "randomization" else None,
        lines=lines,
    )
    units = [
        unit
        for name in common
        for unit in make_units(known.tasks[name], [one.predictions[name].lines for one in read], gold[name], asked)
    ]
    results = score_units(units, jobs, progress)
    tested = _Tested(test, drawn, len(systems))
    found = [_compare_task(known.tasks[name], results[name], tested) for name in common]
    comparison = Comparison(
        glge_version=__version__,
        benchmark=known.name,
        profile=known.profile,
        split=split,
        test=_TESTS[test],
        resampling=Resamples(resamples=drawn.resamples, seed=drawn.seed, level=drawn.level),
        systems=tuple(
            SystemRecord(
                name=name,
                level=one.level,
                files={task: one.predictions[task].record for task in common},
                left_out=tuple(task for task in one.predictions if task not in common),
            )
            for name, one in zip(called, read, strict=True)
        ),
        tasks=_correct(found),
        expected_tasks=tuple(known.tasks),
        overall=_overall(known, found, {name: results[name] for name in common}, tested),
        problems=tuple(problems),
    )
    if not lines:
        return comparison, []
    return comparison, [
        [
            task_lines(known.tasks[name], results[name], one.predictions[name].lines, gold[name].targets, system=system)
            for system, one in enumerate(read)
        ]
        for name in common
    ]


def _paths(paths: Paths) -> list[Path]:
    return [Path(paths)] if isinstance(paths, (str, os.PathLike)) else [Path(path) for path in paths]


def _names(systems: Sequence[Paths], names: Sequence[str] | None) -> list[str]:
    """What the systems are called: as little of their paths as tells them apart."""
    if names:
        if len(names) != len(systems):
            raise SubmissionError("give a name to each system", expected=f"{len(systems)} names", found=str(len(names)))
        if len(set(names)) < len(names):
            raise SubmissionError("two systems have the same name", found=", ".join(map(printable, names)))
        return list(names)
    parts = [Path(os.path.abspath(_paths(paths)[0])).parts for paths in systems]  # noqa: PTH100 - links keep their names
    for length in range(1, max(map(len, parts)) + 1):
        short = [printable("/".join(each[-length:])) for each in parts]
        if len(set(short)) == len(short):
            return short
    return [f"{printable(each[-1])} ({number})" for number, each in enumerate(parts, 1)]


def _common(
    read: Sequence[Submission],
    called: Sequence[str],
    known: Benchmark,
    wanted: list[str] | None,
    missing: Mapping[str, DataError],
) -> tuple[list[str], list[Problem]]:
    """The tasks that are compared, and what there is to say about the files and about what is left out."""
    problems: list[Problem] = []
    for name, one in zip(called, read, strict=True):
        for problem in one.problems:
            if problem.code == "partial-submission" or (wanted and problem.task and problem.task not in wanted):
                continue
            file = f"{name}: {problem.file}" if problem.file else name
            problems.append(
                Problem(
                    problem.code,
                    problem.severity,
                    problem.message,
                    file=file,
                    task=problem.task,
                    count=problem.count,
                    places=problem.places,
                    hint=problem.hint,
                )
            )
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise SubmissionError(
            f"the systems cannot be compared: {len(errors)} error{'s' if len(errors) > 1 else ''}",
            problems=problems,
            hint="mend them, or choose other tasks with --task",
        )
    asked = wanted or list(known.tasks)
    common = [name for name in asked if all(name in one.predictions for one in read)]
    common = [name for name in known.tasks if name in common]
    if not common:
        listed = "; ".join(
            f"{name} has {', '.join(one.predictions) or 'none'}" for name, one in zip(called, read, strict=True)
        )
        raise SubmissionError("the systems have no task in common", found=printable(listed))
    for name in common:
        if name in missing:
            raise missing[name]
    for name in asked:
        having = [system for system, one in zip(called, read, strict=True) if name in one.predictions]
        if name not in common and having:
            lacking = [system for system in called if system not in having]
            message = (
                f"{name} is left out: {', '.join(lacking)} {'has' if len(lacking) == 1 else 'have'} no file for it"
            )
            problems.append(Problem("task-left-out", CODES["task-left-out"], message, task=name))
    if len({one.level for one in read}) > 1:
        levels = ", ".join(f"{name}: {one.level}" for name, one in zip(called, read, strict=True))
        problems.append(
            Problem("levels-differ", CODES["levels-differ"], f"systems of different levels are compared ({levels})")
        )
    return common, problems


# --- differences ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Tested:
    """How differences are tested."""

    test: Test
    resampling: Resampling
    systems: int

    def difference(self, observed: float, tested: float, draws: NDArray[np.float64] | None) -> Difference:
        """`observed` on the 0-100 scale; the others on the 0-1 scale: what was resampled, and its draws."""
        if draws is None:
            return Difference(value=observed)
        if self.test == "bootstrap":
            p = bootstrap_p(draws, tested)
            other = sacrebleu_p(draws, tested)
            return Difference(value=observed, ci=as_interval(draws, self.resampling), p=p, p_sacrebleu=other)
        return Difference(value=observed, p=randomization_p(draws, tested))

    def draws(self, result: UnitResult) -> dict[str, NDArray[np.float64]]:
        """Draws of the differences to the first system: metric -> shape (systems, resamples)."""
        if self.test == "bootstrap":
            return {name: draws - draws[0] for name, draws in result.draws.items()}
        return result.swaps


@dataclass(frozen=True)
class _Task:
    comparison: TaskComparison
    values: NDArray[np.float64] | None  # (systems,) of the mean as it is resampled, 0-1
    draws: NDArray[np.float64] | None  # (systems, resamples) differences of the mean


def _compare_task(task: Task, result: UnitResult, tested: _Tested) -> _Task:
    draws = tested.draws(result)
    rows = []
    for entry in task.metrics:
        scores = [scored[entry.name][0] for scored in result.scored]
        differences: list[Difference | None] = [None]
        for system in range(1, tested.systems):
            first, other = scores[0].value, scores[system].value
            if first is None or other is None:
                differences.append(None)
                continue
            values = result.values[entry.name]
            own = draws[entry.name][system] if entry.name in draws else None
            differences.append(tested.difference(other - first, values[system] - values[0], own))
        rows.append(
            Row(
                name=entry.name,
                shown=entry.shown,
                counted=entry.counted,
                values=tuple(score.value for score in scores),
                differences=tuple(differences),
                signature=f"{scores[0].signature}|{_TESTS[tested.test]}|{tested.resampling.signature}",
                missing=scores[0].missing,
            )
        )
    counted = [row for row in rows if row.counted]
    means = [mean_of([row.values[system] for row in counted]) for system in range(tested.systems)]
    complete = all(mean is not None for mean in means)
    tested_means = None
    if complete:
        tested_means = np.mean([result.values[row.name] for row in counted], axis=0)
    mean_of_draws = mean_draws(task, draws)
    mean = Row(
        name="mean",
        shown="mean",
        values=tuple(means),
        differences=_differences(means, tested_means, mean_of_draws, tested),
    )
    notes = ("no test: a single item cannot be resampled",) if result.items == 1 else ()
    comparison = TaskComparison(
        task=task.name, title=task.title, items=result.items, metrics=tuple(rows), mean=mean, notes=notes
    )
    return _Task(comparison, tested_means, mean_of_draws)


def _differences(
    shown: Sequence[float | None],
    values: NDArray[np.float64] | None,
    draws: NDArray[np.float64] | None,
    tested: _Tested,
) -> tuple[Difference | None, ...]:
    found: list[Difference | None] = [None]
    for system in range(1, tested.systems):
        first, other = shown[0], shown[system]
        if values is None or first is None or other is None:
            found.append(None)
        else:
            own = None if draws is None else draws[system]
            found.append(tested.difference(other - first, float(values[system] - values[0]), own))
    return tuple(found)


def _overall(known: Benchmark, found: Sequence[_Task], results: Mapping[str, UnitResult], tested: _Tested) -> Row:
    complete = len(found) == len(known.tasks)
    shown = [
        mean_of([task.comparison.mean.values[system] for task in found]) if complete else None
        for system in range(tested.systems)
    ]
    values = draws = None
    each = [task.values for task in found if task.values is not None]
    each_draws = [task.draws for task in found if task.draws is not None]
    if complete and len(each) == len(found):
        values = np.mean(each, axis=0)
        if len(each_draws) == len(found):
            draws = np.mean(each_draws, axis=0)
    differences = _differences(shown, values, draws, tested)
    # One test: nothing to correct for.
    differences = tuple(
        None if difference is None else difference.model_copy(update={"p_adjusted": difference.p})
        for difference in differences
    )
    return Row(name="glge", shown=f"{known.name} score", values=tuple(shown), differences=differences)


def _correct(found: Sequence[_Task]) -> tuple[TaskComparison, ...]:
    """Holm's correction for each system: over the task means, and over all counted metrics."""
    tasks = [task.comparison for task in found]
    means = _corrected([task.mean for task in tasks])
    flat = [row for task in tasks for row in task.metrics]
    rows = iter(_corrected(flat))
    return tuple(
        task.model_copy(update={"mean": mean, "metrics": tuple(next(rows) for _ in task.metrics)})
        for task, mean in zip(tasks, means, strict=True)
    )


def _corrected(rows: Sequence[Row]) -> list[Row]:
    columns = [list(row.differences) for row in rows]
    for system in range(max((len(column) for column in columns), default=0)):
        family = [
            place
            for place, (row, column) in enumerate(zip(rows, columns, strict=True))
            if row.counted and (difference := column[system]) is not None and difference.p is not None
        ]
        values = [columns[place][system].p for place in family]  # type: ignore[union-attr]
        for place, value in zip(family, holm(values), strict=True):  # type: ignore[arg-type]
            columns[place][system] = columns[place][system].model_copy(update={"p_adjusted": value})  # type: ignore[union-attr]
    return [row.model_copy(update={"differences": tuple(column)}) for row, column in zip(rows, columns, strict=True)]
