"""The paper's output diversity analysis of a whole submission: predictions x references x sources -> DiversityReport.

Reads as scoring does and measures task by task; the sources of one task are held at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from glge import __version__
from glge.diversity import measure_task
from glge.errors import DataError, NoReferences, SubmissionError
from glge.lines import DEFAULT_SIZE_LIMIT, printable
from glge.references import References, find_data, read_references
from glge.results import DiversityReport, TaskDiversity, mean_of
from glge.submission import Submission, read_submission
from glge.tasks import Benchmark, load_tasks

Progress = Callable[[str, int, int], None]


def measure_submission(
    predictions: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    level: str,
    data: str | os.PathLike[str] | None = None,
    split: str = "test",
    tasks: Sequence[str] | None = None,
    size_limit: int | None = DEFAULT_SIZE_LIMIT,
    benchmark: Benchmark | None = None,
    name: str | None = None,
    progress: Progress | None = None,
) -> DiversityReport:
    """How varied the outputs are in a folder, a zip or some files of predictions, beside the references in `data`.

    `data` is a folder in the official layout (or `GLGE_DATA`); a task whose `.src` is not there has no novel
    n-grams, the rest is measured. `tasks` narrows what is read. `name` is what the system is called: the end of the
    path, if nothing else is said. `progress(what, done, total)` is called as the work goes on.

    Raises SubmissionError, with every problem found, when a file cannot be used; DataError when references are
    missing or do not fit; RegistryError for an unknown task or level.
    """
    known = benchmark or load_tasks()
    known.check_level(level)
    wanted = [known.task(one).name for one in tasks] if tasks else None
    paths = [Path(predictions)] if isinstance(predictions, (str, os.PathLike)) else [Path(path) for path in predictions]
    root, gold, submission = _read(paths, level, data, split, wanted, size_limit, known)
    names = [one for one in known.tasks if one in submission.predictions]
    found = []
    problems = list(submission.problems)
    for done, one in enumerate(names):
        if progress:
            progress(one, done, len(names))
        task, given, references = known.tasks[one], submission.predictions[one], gold.pop(one)
        with suppress(NoReferences):  # the targets were there: where this is raised, the sources are not
            references = read_references(root, task, level, split, with_sources=True, size_limit=size_limit)
        problems += references.problems
        measured = measure_task(task, given.lines, references.targets, references.sources)
        found.append(
            TaskDiversity(
                task=one,
                title=task.title,
                version=task.version,
                level=level,
                split=split,
                **vars(measured),
                predictions=given.record,
                references=references.record,
                sources=references.source_record,
            )
        )
    if progress:
        progress("", len(names), len(names))
    ratios = [one.distinct2_ratio for one in found if one.distinct2_ratio is not None]
    return DiversityReport(
        glge_version=__version__,
        benchmark=known.name,
        name=name if name is not None else _name(paths),
        level=level,
        split=split,
        mean_ratio=mean_of([*ratios]),
        measured=len(ratios),
        tasks=tuple(found),
        expected_tasks=tuple(known.tasks),
        problems=tuple(problems),
    )


def _name(paths: Sequence[Path]) -> str:
    """The folder or zip, or the folder of the first file."""
    path = Path(os.path.abspath(paths[0]))  # noqa: PTH100 - a link keeps its name
    return printable((path if path.is_dir() or path.suffix.lower() == ".zip" else path.parent).name or str(path))


def _read(
    paths: list[Path],
    level: str,
    data: str | os.PathLike[str] | None,
    split: str,
    wanted: list[str] | None,
    size_limit: int | None,
    known: Benchmark,
) -> tuple[Path, dict[str, References], Submission]:
    """The data root, references without sources, and the predictions; raise when one of them cannot be used."""
    try:
        root = find_data(data)
    except DataError:
        # A wrong path of the predictions is told first.
        read_submission(paths, level, benchmark=known, split=split, tasks=wanted, size_limit=size_limit)
        raise
    gold: dict[str, References] = {}
    missing: dict[str, DataError] = {}
    for name, task in known.tasks.items():
        if wanted is None or name in wanted:
            try:
                gold[name] = read_references(root, task, level, split, with_sources=False, size_limit=size_limit)
            except DataError as error:
                missing[name] = error
    submission = read_submission(
        paths,
        level,
        benchmark=known,
        split=split,
        tasks=wanted,
        size_limit=size_limit,
        expected={**dict.fromkeys(missing), **{name: len(references) for name, references in gold.items()}},
    )
    count = len(submission.errors)
    if count:
        raise SubmissionError(
            f"the submission cannot be measured: {count} error{'s' if count > 1 else ''}",
            problems=submission.problems,
            hint="mend them, or choose other tasks with --task",
        )
    for name in submission.predictions:
        if name in missing:
            raise missing[name]
    return root, gold, submission
