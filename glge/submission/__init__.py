"""A folder, a zip or files of predictions -> Predictions, and everything that is wrong or odd about them.

A submission has one file a task, `{task}.{level}.{split}` (`coqa.hard.test`), one prediction a line. All
problems are found in one pass and none is fatal until asked (`Submission.raise_errors`): an error means
that the file cannot be scored, a warning that it can but that this is very likely not what was meant, a
note what is good to know. Only a path that cannot be opened at all raises at once.
"""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from glge.errors import GlgeError, Problem, SubmissionError, did_you_mean, nearest
from glge.lines import DEFAULT_SIZE_LIMIT, Lines, cannot_read, printable, read_lines, recognise
from glge.results import FileRecord
from glge.submission.archive import Archive, CannotOpen, open_archive
from glge.submission.content import check_predictions
from glge.submission.names import (
    OTHER_KIND,
    PACKED,
    SPLITS,
    Names,
    expected_names,
    is_ignored,
    suggest_name,
)
from glge.submission.problems import CODES, NAMES_SHOWN, listed

if TYPE_CHECKING:
    from glge.tasks import Benchmark

__all__ = [
    "CODES",
    "SPLITS",
    "Predictions",
    "Submission",
    "check_predictions",
    "expected_names",
    "read_submission",
    "suggest_name",
]

MAX_DEPTH = 3  # sub-folders below the submission
MAX_FILES = 10_000  # in a folder


@dataclass(frozen=True)
class Predictions:
    """The predictions of one task: n lines, in the order of the data.

    `path` says where they came from (for a zip: `preds.zip:sub/coqa.hard.test`); the record's name is
    relative to the submission.
    """

    task: str
    level: str
    split: str
    lines: list[str]
    record: FileRecord
    path: str

    def __len__(self) -> int:
        return len(self.lines)


@dataclass(frozen=True)
class Submission:
    """What was found at the given paths: predictions that can be scored, and all problems.

    `predictions` is in the benchmark's order and holds no task that has a problem of severity error.
    """

    name: str
    level: str
    split: str
    predictions: dict[str, Predictions]
    problems: tuple[Problem, ...]

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that stop the scoring."""
        return tuple(problem for problem in self.problems if problem.severity == "error")

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The problems that very likely are not meant."""
        return tuple(problem for problem in self.problems if problem.severity == "warning")

    @property
    def notes(self) -> tuple[Problem, ...]:
        """What is good to know."""
        return tuple(problem for problem in self.problems if problem.severity == "note")

    def raise_errors(self) -> None:
        """SubmissionError when there are errors: the only one, or how many and the first; it carries all problems."""
        errors = self.errors
        if len(errors) == 1:
            raise SubmissionError(str(errors[0]), problems=self.problems)
        if errors:
            raise SubmissionError(
                f"the submission cannot be scored: {len(errors)} errors, the first: {errors[0]}",
                file=self.name,
                problems=self.problems,
            )


def read_submission(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    level: str,
    *,
    benchmark: Benchmark,
    split: str = "test",
    tasks: Iterable[str] | None = None,
    size_limit: int | None = DEFAULT_SIZE_LIMIT,
    expected: Mapping[str, int | None] | None = None,
) -> Submission:
    """Read a submission: one folder, one zip, or one or more files.

    `tasks` narrows what is read; each of them must then be there. `size_limit` (bytes, None lifts it)
    holds for each file and for all a zip holds. `expected` gives the number of lines by task, from the
    data (None: any number will do); without it the benchmark's published sizes count.

    SubmissionError at once for an unknown level, split or task, for a path that does not exist or cannot
    be opened, and for an empty folder. Everything else is among the problems.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    wanted = _check_arguments(level, split, tasks, benchmark)
    reader = _Reader(
        level=level,
        split=split,
        wanted=wanted,
        chosen=tasks is not None,
        benchmark=benchmark,
        size_limit=size_limit,
        expected=expected or {},
        with_data=expected is not None,
        names=Names(benchmark),
    )
    with ExitStack() as stack:
        return reader.read([Path(path) for path in given], stack)


def _check_arguments(level: str, split: str, tasks: Iterable[str] | None, benchmark: Benchmark) -> list[str]:
    if level not in benchmark.level_names:
        guess = Names(benchmark).guess(f"_.{level}.test").level
        hint = f"did you mean '{guess}'?" if guess else did_you_mean(level, benchmark.level_names)
        raise SubmissionError(f"there is no level '{printable(level)}'", hint=hint)
    if split not in SPLITS:
        raise SubmissionError(f"there is no split '{printable(split)}' to score", hint=did_you_mean(split, SPLITS))
    if tasks is None:
        return list(benchmark.tasks)
    asked = set(tasks)
    for name in sorted(asked):
        if name not in benchmark.tasks:
            hint = did_you_mean(name, benchmark.tasks)
            raise SubmissionError(f"there is no task '{printable(name)}'", hint=hint)
    return [name for name in benchmark.tasks if name in asked]


@dataclass(frozen=True)
class _Entry:
    """A file of the submission: its name relative to the submission, and how to read it."""

    name: str
    path: str
    read: Callable[[], Lines]

    @property
    def base(self) -> str:
        return self.name.rsplit("/", 1)[-1]


@dataclass
class _Sorted:
    """The files of a submission by what their names say."""

    wanted: dict[str, list[_Entry]] = field(default_factory=dict)
    misnamed: dict[str, list[str]] = field(default_factory=dict)
    other_level: list[str] = field(default_factory=list)
    other_split: list[str] = field(default_factory=list)
    unknown_task: list[str] = field(default_factory=list)
    unrecognised: list[str] = field(default_factory=list)
    nested: list[str] = field(default_factory=list)


@dataclass
class _Reader:
    """One reading of one submission."""

    level: str
    split: str
    wanted: list[str]
    chosen: bool  # the tasks were named by the caller
    benchmark: Benchmark
    size_limit: int | None
    expected: Mapping[str, int | None]
    with_data: bool
    names: Names
    entries: list[_Entry] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def read(self, paths: list[Path], stack: ExitStack) -> Submission:
        if not paths:
            self._fail("nothing was given", None)
        shown = printable(str(paths[0])) if len(paths) == 1 else f"{len(paths)} files"
        self._open(paths, stack)
        predictions: dict[str, Predictions] = {}
        if not any(problem.code.startswith("zip-") for problem in self.problems):
            found = self._sort()
            self._report_names(found)
            for task in self.wanted:
                entries = found.wanted.get(task, [])
                if len(entries) > 1:
                    self._report_twice(task, entries)
                elif entries:
                    self._read_task(task, entries[0], predictions)
            self._report_missing(found, shown)
        self._report_lists()
        return Submission(shown, self.level, self.split, predictions, tuple(self.problems))

    def _add(
        self,
        code: str,
        message: str,
        *,
        file: str | None = None,
        task: str | None = None,
        count: int = 1,
        hint: str | None = None,
    ) -> None:
        self.problems.append(Problem(code, CODES[code], message, file=file, task=task, count=count, hint=hint))

    def _fail(self, message: str, path: Path | None, hint: str = "") -> NoReturn:
        names = ", ".join(expected_names(self.level, self.split, self.wanted))
        wanted = f"expected a folder, a zip or files named {names}"
        raise SubmissionError(
            message,
            file=None if path is None else printable(str(path)),
            hint=f"{hint}; {wanted}" if hint else wanted,
        )

    # what lies at the paths

    def _open(self, paths: list[Path], stack: ExitStack) -> None:
        kinds = [self._kind(path) for path in paths]
        if len(paths) == 1 and kinds[0] == "folder":
            self._open_folder(paths[0])
        elif len(paths) == 1 and kinds[0] == "zip":
            self._open_zip(paths[0], stack)
        else:
            for path, kind in zip(paths, kinds, strict=True):
                if kind != "file":
                    self._fail(f"this is a {kind} among {len(paths)} paths: give one folder, one zip, or files", path)
            self._open_files(paths)

    def _kind(self, path: Path) -> str:
        """'folder', 'zip' or 'file'; SubmissionError when there is nothing that can be opened."""
        try:
            mode = path.stat().st_mode
            if stat.S_ISDIR(mode):
                return "folder"
            if not stat.S_ISREG(mode):
                self._fail("this is no folder and no regular file", path)
            if self.names.parse(path.name):
                return "file"
            with path.open("rb") as file:
                head = file.read(4096)
        except FileNotFoundError:
            self._fail("there is no such folder, zip or file", path, _similar(path))
        except (OSError, ValueError) as error:
            self._fail(cannot_read("", error).message, path)
        if path.suffix.lower() == ".zip" or head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            return "zip"
        form = recognise(head)
        if form is not None and form.hint.startswith("unpack"):
            self._fail(f"this is {form.name}, not a zip", path, "pack the files as a zip, or give the folder")
        return "file"

    def _open_files(self, paths: list[Path]) -> None:
        seen: set[str] = set()
        for path in paths:
            absolute = os.path.abspath(path)  # noqa: PTH100 (the same file given twice is no fault)
            if absolute not in seen:
                seen.add(absolute)
                self._add_file(path, printable(str(path).replace(os.sep, "/")))

    def _add_file(self, path: Path, name: str) -> None:
        def read() -> Lines:
            return read_lines(path, name=name, size_limit=self.size_limit)

        self.entries.append(_Entry(name, printable(str(path)), read))

    def _open_folder(self, root: Path) -> None:
        waiting: list[tuple[Path, tuple[str, ...]]] = [(root, ())]
        seen = 0
        while waiting:
            folder, parts = waiting.pop()
            try:
                with os.scandir(folder) as found:
                    children = sorted(found, key=lambda child: child.name)
            except OSError as error:
                if folder == root:
                    self._fail(cannot_read("", error).message, root)
                self._add("unreadable-file", cannot_read("", error).message, file="/".join(parts) + "/")
                continue
            inner: list[tuple[Path, tuple[str, ...]]] = []
            for child in children:
                seen += 1
                if seen > MAX_FILES:
                    self._fail(f"more than {MAX_FILES:,} files: is this the right folder?", root)
                here = (*parts, child.name)
                name = printable("/".join(here))
                path = folder / child.name
                if child.is_dir(follow_symlinks=False):
                    if is_ignored(here):
                        self.ignored.append(name + "/")
                    elif len(here) > MAX_DEPTH:
                        self._add("folder-not-read", f"lies more than {MAX_DEPTH} folders deep", file=name + "/")
                    else:
                        inner.append((path, here))
                elif child.is_symlink() and path.is_dir():
                    self._add("folder-not-read", "a link to a folder is not followed", file=name)
                elif is_ignored(here):
                    self.ignored.append(name)
                else:
                    self._add_file(path, name)
            waiting += reversed(inner)
        if not seen:
            self._fail("the folder is empty", root)

    # a zip

    def _open_zip(self, path: Path, stack: ExitStack) -> None:
        try:
            archive = open_archive(path, stack, self.size_limit)
        except CannotOpen as error:
            self._fail(error.message, path, error.hint or "")
        self.problems += archive.problems
        if archive.problems:
            return
        for member in archive.members:
            parts = member.filename.split("/")
            name = printable(member.filename)
            if is_ignored(parts):
                self.ignored.append(name)
            elif len(parts) > MAX_DEPTH + 1:
                self._add("folder-not-read", f"lies more than {MAX_DEPTH} folders deep", file=name)
            else:
                self._add_member(archive, member, name, path)

    def _add_member(self, archive: Archive, member: zipfile.ZipInfo, name: str, path: Path) -> None:
        def read() -> Lines:
            return archive.read(member, name)

        self.entries.append(_Entry(name, f"{printable(str(path))}:{name}", read))

    # what the names say

    def _sort(self) -> _Sorted:
        found = _Sorted()
        for entry in self.entries:
            valid = self.names.parse(entry.base)
            if valid is not None:
                task, level, split = valid
                if task not in self.wanted:
                    continue
                if (level, split) == (self.level, self.split):
                    found.wanted.setdefault(task, []).append(entry)
                elif split != self.split:
                    found.other_split.append(entry.name)
                else:
                    found.other_level.append(entry.name)
            else:
                self._sort_misnamed(entry, found)
        return found

    def _sort_misnamed(self, entry: _Entry, found: _Sorted) -> None:
        guess = self.names.guess(entry.base)
        other_kind = OTHER_KIND.search(entry.base)
        if guess.task is None:
            if PACKED.search(entry.base):
                found.nested.append(entry.name)
            elif guess.level and guess.split and not other_kind:
                found.unknown_task.append(entry.name)
            else:
                found.unrecognised.append(entry.name)
            return
        if guess.task not in self.wanted:
            return
        meant = f"{guess.task}.{guess.level or self.level}.{guess.split or self.split}"
        likely = (guess.level or guess.split or guess.exact) and not other_kind
        if not likely:
            found.unrecognised.append(f"{entry.name} (did you mean {meant}?)")
        elif guess.split not in (None, self.split):
            known = self.names.parse(meant) is not None  # not so for train
            found.other_split.append(f"{entry.name} (did you mean {meant}?)" if known else entry.name)
        elif guess.level not in (None, self.level):
            found.other_level.append(f"{entry.name} (did you mean {meant}?)")
        else:
            found.misnamed.setdefault(meant, []).append(entry.name)

    def _report_names(self, found: _Sorted) -> None:
        present = {entry.base for entries in found.wanted.values() for entry in entries}
        for meant, names in found.misnamed.items():
            packed = all(PACKED.search(name) for name in names)
            ask = f"unpack it to {meant}" if packed else f"did you mean {meant}?"
            others = f"; so are {listed(names[1:])}" if len(names) > 1 else ""
            if meant in present:
                message = f"not a prediction file's name, so it was not read{others}"
                hint = f"{meant} is there and was read: remove the other"
                self._add("misnamed-copy", message, file=names[0], count=len(names), hint=f"{ask} {hint}")
            else:
                task = meant.split(".", 1)[0]
                message = f"not a prediction file's name, so {task} would not be scored{others}"
                self._add("misnamed-file", message, file=names[0], task=task, count=len(names), hint=ask)
        for name in found.unknown_task[:NAMES_SHOWN]:
            first = name.rsplit("/", 1)[-1].split(".", 1)[0]
            known = ", ".join(self.names.tasks)
            self._add("unknown-task", f"there is no task '{first}'; not read", file=name, hint=f"known: {known}")
        if found.nested:
            self._add(
                "nested-archive",
                f"an archive inside the submission is not opened: {listed(found.nested)}",
                count=len(found.nested),
                hint="unpack it, if it holds predictions",
            )
        self._add_list("other-level", found.other_level, f"of other levels, not scored at {self.level}")
        self._add_list("other-split", found.other_split, f"of other splits, not scored as {self.split}")
        example = expected_names(self.level, self.split, self.wanted[:1])[0]
        self._add_list("unrecognised-file", found.unrecognised, "not read", f"names are like {example}")

    def _report_lists(self) -> None:
        self._add_list("ignored-file", self.ignored, "ignored")

    def _add_list(self, code: str, names: list[str], what: str, hint: str | None = None) -> None:
        if names:
            files = "1 file" if len(names) == 1 else f"{len(names):,} files"
            self._add(code, f"{files} {what}: {listed(names)}", count=len(names), hint=hint)

    def _report_twice(self, task: str, entries: list[_Entry]) -> None:
        names = [entry.name for entry in entries]
        self._add(
            "duplicate-task",
            f"{entries[0].base} is there {'twice' if len(names) == 2 else f'{len(names)} times'}: "
            + " and ".join(names),
            file=names[-1],
            task=task,
            count=len(names),
            hint="keep one of them",
        )

    def _report_missing(self, found: _Sorted, shown: str) -> None:
        there = set(found.wanted) | {meant.split(".", 1)[0] for meant in found.misnamed}
        absent = [task for task in self.wanted if task not in there]
        names = expected_names(self.level, self.split, absent)
        if not there:
            if len(self.entries) == 1 and found.unrecognised and shown == self.entries[0].path:
                self._fail(f"this file's name is none of a prediction file at level {self.level}", Path(shown))
            self._add(
                "no-predictions",
                f"no predictions for level {self.level}, split {self.split}: looked for {', '.join(names)}",
                file=shown,
                count=len(names),
                hint="other levels are there: see --level" if found.other_level else None,
            )
        elif self.chosen:
            for task, name in zip(absent, names, strict=True):
                self._add("missing-task", f"no predictions for {task}: looked for {name}", file=shown, task=task)
        elif absent:
            count = len(self.wanted)
            self._add(
                "partial-submission",
                f"{count - len(absent)} of {count} tasks: no file for {', '.join(absent)}; "
                "there will be no overall score",
            )

    # what the files say

    def _read_task(self, name: str, entry: _Entry, predictions: dict[str, Predictions]) -> None:
        task = self.benchmark.tasks[name]
        try:
            lines = entry.read()
        except GlgeError as error:
            self._add("unreadable-file", error.message, file=entry.name, task=name, hint=error.hint)
            return
        problems = list(lines.problems)
        if not lines.errors:
            problems += check_predictions(
                lines.texts,
                task,
                file=entry.name,
                split=self.split,
                benchmark=self.benchmark,
                expected=self.expected.get(name),
                any_count=name in self.expected and self.expected[name] is None,
                with_data=self.with_data,
            )
        self.problems += [replace(problem, task=name) for problem in problems]
        if not any(problem.severity == "error" for problem in problems):
            predictions[name] = Predictions(name, self.level, self.split, lines.texts, lines.record, entry.path)


def _similar(path: Path) -> str:
    """'did you mean …?' for a path that does not exist, from what lies beside it."""
    try:
        close = nearest(path.name, os.listdir(path.parent))  # noqa: PTH208
    except (OSError, ValueError):
        return ""
    return f"did you mean {printable(str(path.with_name(close)))}?" if close else ""
