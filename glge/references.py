"""Gold files in the benchmark's official folder layout -> References.

    DATA/{level}/{task}_data/org_data/{split}.tgt   and   {split}.src

The public archive (`glge-released-dataset`) has train and dev of every level and test.src; test.tgt is
in a second archive (`glge-hidden-dataset`), for easy only. Dev and test are the same at every level, so
a reader looks for the asked level and then for easy, in DATA itself and in both archives, whether they
lie inside DATA or DATA is one of them with the other beside it. Train differs by level and is looked
for at the asked level alone.

No message, problem or record made here holds any text of a reference.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from glge.errors import DataError, GlgeError, NoReferences, NoSources, Problem, Severity, did_you_mean
from glge.lines import DEFAULT_SIZE_LIMIT, PLACES, Lines, printable, read_lines
from glge.results import FileRecord

if TYPE_CHECKING:
    from glge.tasks import Benchmark, Task

ENVIRONMENT = "GLGE_DATA"
RELEASED = "glge-released-dataset"
HIDDEN = "glge-hidden-dataset"
ARCHIVES = (RELEASED, HIDDEN)
FALLBACK_LEVEL = "easy"
SPLITS = ("train", "dev", "test")

# Every code this module gives beside those of glge.lines. docs/files.md says what to do about each.
CODES: Mapping[str, Severity] = {
    "empty-reference": "note",
}


@dataclass(frozen=True)
class References:
    """The gold lines of one task and split, and the source lines where they were asked for.

    `level` is the level asked for, `found_level` the folder the targets came from. Names in the records
    and problems are relative to the data root, so they are the same on every machine.
    """

    task: str
    level: str
    found_level: str
    split: str
    targets: list[str]
    sources: list[str] | None
    record: FileRecord
    source_record: FileRecord | None
    problems: tuple[Problem, ...]

    def __len__(self) -> int:
        return len(self.targets)


def find_data(path: str | os.PathLike[str] | None = None) -> Path:
    """The data root: the argument, or else the environment variable GLGE_DATA.

    DataError when neither is given or what is given is no folder.
    """
    given = os.fspath(path) if path is not None else os.environ.get(ENVIRONMENT, "")
    if not given:
        raise DataError(
            f"no data folder was given: neither --data nor the environment variable {ENVIRONMENT}",
            hint="give the folder that holds easy/, medium/, medium+/ and hard/, or the two unpacked archives",
        )
    origin = "given data folder" if path is not None else f"data folder of {ENVIRONMENT}"
    root = Path(given).expanduser()
    shown = printable(str(root))
    try:
        if root.is_dir():
            return root
        exists = root.exists()
    except (OSError, ValueError) as error:
        raise DataError(f"the {origin} cannot be read: {error}", file=shown) from error
    if exists:
        raise DataError(
            f"the {origin} is a file", file=shown, expected="a folder", hint="if it is an archive, unpack it"
        )
    raise DataError(f"the {origin} does not exist", file=shown)


def read_references(
    data_root: str | os.PathLike[str],
    task: Task,
    level: str,
    split: str = "test",
    *,
    with_sources: bool | None = None,
    size_limit: int | None = DEFAULT_SIZE_LIMIT,
) -> References:
    """The gold lines of `task`; its source lines too when the task groups by source or `with_sources`.

    NoReferences, a DataError, when a file is missing (with what was looked for, where); DataError when one cannot
    be read, when targets and sources differ in number, or when a line is empty in a task whose recipe forbids it.
    """
    root = Path(data_root)
    target_path, found_level = _find(root, task.name, level, split, "tgt")
    targets = _read(root, target_path, size_limit)
    problems = [replace(problem, task=task.name) for problem in targets.problems]
    problems += _check_empty(targets, task)

    sources: Lines | None = None
    if task.groups_by_source if with_sources is None else with_sources:
        source_path, _ = _find(root, task.name, level, split, "src")
        sources = _read(root, source_path, size_limit)
        problems += [replace(problem, task=task.name) for problem in sources.problems]
        if len(sources) != len(targets):
            raise DataError(
                f"sources and targets differ in number: {sources.name} has {_lines(len(sources))}, "
                f"{targets.name} has {_lines(len(targets))}",
                hint="both come from the same release: fetch the shorter one again",
            )
    return References(
        task=task.name,
        level=level,
        found_level=found_level,
        split=split,
        targets=targets.texts,
        sources=None if sources is None else sources.texts,
        record=targets.record,
        source_record=None if sources is None else sources.record,
        problems=tuple(problems),
    )


def available_tasks(data_root: str | os.PathLike[str], level: str, split: str, benchmark: Benchmark) -> dict[str, bool]:
    """For each task of the benchmark, in order: are all files there that scoring it needs? Reads none."""
    _check_names(level, split)
    root = Path(data_root)
    answer = {}
    for name, task in benchmark.tasks.items():
        kinds = ("tgt", "src") if task.groups_by_source else ("tgt",)
        answer[name] = all(
            any(path.is_file() for path, _ in _candidates(root, name, level, split, kind)) for kind in kinds
        )
    return answer


# --- looking for files ----------------------------------------------------------------------------


def archive_roots(data_root: str | os.PathLike[str]) -> tuple[Path, ...]:
    """The folders that may hold the levels: the root, the archives inside it, the archive beside it."""
    root = Path(data_root)
    absolute = Path(os.path.abspath(root))  # noqa: PTH100 (resolve() would follow a link to another name)
    beside = [absolute.parent / other for other in ARCHIVES if other != absolute.name]
    return (root, *(root / archive for archive in ARCHIVES), *(beside if absolute.name in ARCHIVES else ()))


def _levels(level: str, split: str) -> tuple[str, ...]:
    return (level,) if split == "train" or level == FALLBACK_LEVEL else (level, FALLBACK_LEVEL)


def _candidates(root: Path, task: str, level: str, split: str, kind: str) -> list[tuple[Path, str]]:
    return [
        (base / candidate / f"{task}_data" / "org_data" / f"{split}.{kind}", candidate)
        for candidate in _levels(level, split)
        for base in archive_roots(root)
    ]


def _find(root: Path, task: str, level: str, split: str, kind: str) -> tuple[Path, str]:
    _check_names(level, split)
    for path, found in _candidates(root, task, level, split, kind):
        try:
            if path.exists():
                return path, found
        except (OSError, ValueError) as error:
            raise DataError(f"cannot be read: {error}", file=_relative(root, path)) from error
    files = " and ".join(f"{candidate}/{task}_data/org_data/{split}.{kind}" for candidate in _levels(level, split))
    bases = archive_roots(root)
    others = ", ".join(_relative(root, base) for base in bases[1:])
    what = "references" if kind == "tgt" else "sources"
    fault = NoReferences if kind == "tgt" else NoSources
    raise fault(
        f"no {what} for {task} (level {level}, split {split}): looked for {files} "
        f"in {printable(str(root))} itself and in {others} there",
        hint=_advice(root, task, level, split, kind),
    )


def _advice(root: Path, task: str, level: str, split: str, kind: str) -> str:
    """What to do about a missing file, from what does lie in the data root."""
    if not root.is_dir():
        return "the data folder does not exist"
    if (root / "org_data").is_dir() or root.name.endswith("_data"):
        parent = _up(root, 3 if root.name == "org_data" else 2)
        return f"this folder is the data of one task: give the folder that holds the levels, {parent}"
    if (root / f"{task}_data").is_dir() or (root.name in ("easy", "medium", "medium+", "hard") and _tasks_in(root)):
        return f"this folder is one level: give the folder that holds the levels, {_up(root, 1)}"
    bases = archive_roots(root)
    for base in bases:
        for candidate in _levels(level, split):
            folder = base / candidate / f"{task}_data"
            for near in (folder / f"{split}.{kind}", base / candidate / task / "org_data" / f"{split}.{kind}"):
                if near.is_file():
                    return (
                        f"{_relative(root, near)} is there: move it to {candidate}/{task}_data/org_data/{split}.{kind}"
                    )
            packed = sorted(path.name for path in (folder / "org_data").glob(f"{split}.{kind}.*"))
            if packed:
                return f"{_relative(root, folder / 'org_data' / packed[0])} is there: unpack it"
    if kind == "tgt" and split == "test":
        has_sources = any(path.is_file() for path, _ in _candidates(root, task, level, split, "src"))
        there = "test.src is there, but the " if has_sources else "the "
        return (
            f"{there}test.tgt files come in the second archive ({HIDDEN}) and otherwise only from the organisers; "
            "unpack it here or beside the first, or score --split dev"
        )
    found = sorted({candidate for base in bases for candidate in _levels_in(base)})
    if not found:
        inner = next((path for path in _folders(root) if _levels_in(path)), None)
        if inner is not None:
            return f"no level lies in this folder: did you mean {printable(str(inner))}?"
        return "no level lies in this folder: give the folder that holds easy/, medium/, medium+/ and hard/"
    if not set(found) & set(_levels(level, split)):
        return f"the folder has no level {level}, but {', '.join(found)}"
    return f"levels that are there: {', '.join(found)}"


def _levels_in(base: Path) -> list[str]:
    """Folders of `base` that hold folders of tasks."""
    return [path.name for path in _folders(base) if _tasks_in(path)]


def _tasks_in(level: Path) -> bool:
    return any(path.name.endswith("_data") for path in _folders(level))


def _folders(base: Path) -> list[Path]:
    try:
        return sorted(path for path in base.iterdir() if path.is_dir())
    except OSError:
        return []


def _up(path: Path, steps: int) -> str:
    absolute = Path(os.path.abspath(path))  # noqa: PTH100
    return printable(str(absolute.parents[min(steps, len(absolute.parents)) - 1]))


def _relative(root: Path, path: Path) -> str:
    return printable(os.path.relpath(path, root).replace(os.sep, "/"))


def _check_names(level: str, split: str) -> None:
    if split not in SPLITS:
        raise DataError(f"unknown split '{printable(split)}'", hint=did_you_mean(split, SPLITS))
    if not re.fullmatch(r"[a-z0-9]+[+]?", level):  # a level is a folder's name, never a path
        raise DataError(f"unknown level '{printable(level)}'")


# --- reading them ---------------------------------------------------------------------------------


def _read(root: Path, path: Path, size_limit: int | None) -> Lines:
    name = _relative(root, path)
    try:
        lines = read_lines(path, name=name, size_limit=size_limit)
    except GlgeError as error:
        raise DataError(error.message, file=error.file, expected=error.expected, hint=error.hint) from error
    for problem in lines.errors:
        line = problem.places[0] if problem.places else None
        raise DataError(problem.message, file=name, line=line, hint=problem.hint)
    return lines


def _check_empty(targets: Lines, task: Task) -> list[Problem]:
    empty = [number for number, line in enumerate(targets.texts, 1) if not line.strip()]
    if not empty:
        return []
    if task.reference.empty == "error":
        raise DataError(
            f"{_lines(len(empty))} without text among the references, which {task.name} does not allow",
            file=targets.name,
            line=empty[0],
            hint="fetch the file again",
        )
    return [
        Problem(
            "empty-reference",
            CODES["empty-reference"],
            f"{_lines(len(empty))} without text among the references",
            file=targets.name,
            task=task.name,
            count=len(empty),
            places=tuple(empty[:PLACES]),
        )
    ]


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"
