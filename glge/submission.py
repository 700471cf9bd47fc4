"""A folder, a zip or files of predictions -> Predictions, and everything that is wrong or odd about them.

A submission has one file a task, `{task}.{level}.{split}` (`coqa.hard.test`), one prediction a line. All
problems are found in one pass and none is fatal until asked (`Submission.raise_errors`): an error means
that the file cannot be scored, a warning that it can but that this is very likely not what was meant, a
note what is good to know. Only a path that cannot be opened at all raises at once.

A zip is never written to disk: its members are read in memory, and one that tries anything (a path out of
the archive, a link, a bomb) is refused whole.
"""

from __future__ import annotations

import io
import os
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn

from glge.errors import GlgeError, Problem, Severity, SubmissionError, did_you_mean, nearest
from glge.lines import (
    DEFAULT_SIZE_LIMIT,
    PLACES,
    Lines,
    cannot_read,
    decode_lines,
    printable,
    read_lines,
    recognise,
    shown_size,
    too_large,
    unreadable,
)
from glge.results import FileRecord

if TYPE_CHECKING:
    from glge.tasks import Benchmark, Task

SPLITS = ("test", "dev")
MAX_DEPTH = 3  # sub-folders below the submission
MAX_FILES = 10_000  # in a folder
MAX_MEMBERS = 1_000  # in a zip
MAX_DIRECTORY = 4 << 20  # bytes of a zip's own table of contents
MAX_RATIO = 100  # unpacked to packed; text seldom exceeds 5
RATIO_FLOOR = 8 << 20  # bytes below which the ratio is nobody's concern: one line repeated packs 1,000:1
NAMES_SHOWN = 10

# Every code this module gives beside those of glge.lines. docs/files.md says what to do about each.
CODES: Mapping[str, Severity] = {
    "no-predictions": "error",
    "missing-task": "error",
    "misnamed-file": "error",
    "duplicate-task": "error",
    "unreadable-file": "error",
    "line-count": "error",
    "zip-unsafe-member": "error",
    "zip-duplicate-member": "error",
    "zip-encrypted": "error",
    "zip-method": "error",
    "zip-too-many-members": "error",
    "zip-too-large": "error",
    "zip-ratio": "error",
    "zip-damaged": "error",
    "misnamed-copy": "warning",
    "unknown-task": "warning",
    "nested-archive": "warning",
    "empty-prediction": "warning",
    "identical-lines": "warning",
    "word-pieces": "warning",
    "foreign-separator": "warning",
    "misspelt-separator": "warning",
    "model-token": "warning",
    "tag-like-text": "warning",
    "no-separator": "note",
    "no-rouge-token": "note",
    "non-ascii-punctuation": "note",
    "partial-submission": "note",
    "other-level": "note",
    "other-split": "note",
    "ignored-file": "note",
    "unrecognised-file": "note",
    "folder-not-read": "note",
}


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


def expected_names(level: str, split: str, tasks: Iterable[str]) -> list[str]:
    """The file names of a whole submission.

    >>> expected_names("hard", "test", ["cnndm", "coqa"])
    ['cnndm.hard.test', 'coqa.hard.test']
    """
    return [f"{task}.{level}.{split}" for task in tasks]


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
    data; without it the benchmark's published sizes count.

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
        names=_Names(benchmark),
    )
    with ExitStack() as stack:
        return reader.read([Path(path) for path in given], stack)


def _check_arguments(level: str, split: str, tasks: Iterable[str] | None, benchmark: Benchmark) -> list[str]:
    if level not in benchmark.level_names:
        guess = _Names(benchmark).guess(f"_.{level}.test").level
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


# --- names ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Guess:
    """What a file name seems to say; None where it says nothing. `exact`: the task is spelt as it should be."""

    task: str | None
    level: str | None
    split: str | None
    exact: bool


_SPLIT_WORDS = {
    "test": "test",
    "tests": "test",
    "testset": "test",
    "tst": "test",
    "dev": "dev",
    "devel": "dev",
    "development": "dev",
    "devset": "dev",
    "val": "dev",
    "valid": "dev",
    "validation": "dev",
    "train": "train",
}
# Endings of files that are something else even when a task is in their name.
_OTHER_KIND = re.compile(
    r"\.(?:bin|cfg|csv|db|err|html|ini|ipynb|jsonl?|lock|log|md|np[yz]|old|pdf|pickle|pkl|png|pth?|py|sh|toml|tsv|xml"
    r"|ya?ml)\Z",
    re.IGNORECASE,
)
_PACKED = re.compile(r"\.(?:7z|bz2|gz|lz4|rar|tar|tgz|xz|zip|zst)\Z", re.IGNORECASE)


class _Names:
    """Reads file names: the valid ones exactly, the others as well as can be guessed."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.tasks = list(benchmark.tasks)
        self.levels = list(benchmark.level_names)
        self._valid = {
            f"{task}.{level}.{split}": (task, level, split)
            for task in self.tasks
            for level in self.levels
            for split in SPLITS
        }
        alternatives = "|".join(map(re.escape, sorted(self.tasks, key=len, reverse=True)))
        levels = "|".join(map(re.escape, sorted(self.levels, key=len, reverse=True)))
        self._glued = re.compile(f"({alternatives})({levels})?({'|'.join(SPLITS)})?")

    def parse(self, name: str) -> tuple[str, str, str] | None:
        """(task, level, split) of a valid name."""
        return self._valid.get(name)

    def guess(self, name: str) -> _Guess:
        """What a name that is not valid seems to mean."""
        words: list[str | None] = []
        for word in re.findall(r"[a-z0-9]+\+?", self._plain(name)):
            glued = self._glued.fullmatch(word)
            words += [part for part in glued.groups() if part] if glued else [word]
        task = _take_exact(words, {name: name for name in self.tasks}, 3)
        level = _take_exact(words, {name: name for name in self.levels}, 1)
        split = _take_exact(words, _SPLIT_WORDS, 1)
        exact = task is not None
        task = task or _take_close(words, self.tasks, 0.7, 3)
        level = level or _take_close(words, self.levels, 0.75, 1)
        split = split or _take_close(words, SPLITS, 0.7, 1)
        return _Guess(task, level, split, exact)

    def _plain(self, name: str) -> str:
        """Lower case, `medium_plus`, `medium-+` and `mediumplus` as `medium+`."""
        plain = unicodedata.normalize("NFKC", name).casefold().replace("%2b", "+")
        for level in self.levels:
            if level.endswith("+"):
                plain = re.sub(rf"{re.escape(level[:-1])}[\W_]*(?:plus|\+)", level, plain)
        return plain


def _take_exact(words: list[str | None], known: Mapping[str, str], longest: int) -> str | None:
    """The known name that a run of words makes; the words are taken out of the list."""
    for length in range(1, longest + 1):
        for start in range(len(words) - length + 1):
            run = words[start : start + length]
            joined = "".join(word or "\0" for word in run)
            if joined in known:
                words[start : start + length] = [None] * length
                return known[joined]
    return None


def _take_close(words: list[str | None], known: Sequence[str], cutoff: float, longest: int) -> str | None:
    """The known name closest to a run of words, if any is close; the words are taken out of the list."""
    best: tuple[float, int, int, str] | None = None
    for length in range(1, longest + 1):
        for start in range(len(words) - length + 1):
            run = words[start : start + length]
            joined = "".join(word or "\0" for word in run)
            if len(joined) < 3 or "\0" in joined or len(joined) > 40:
                continue
            for name in known:
                begins = len(joined) >= 4 and name.startswith(joined)
                close = 0.9 if begins else SequenceMatcher(None, joined, name, autojunk=False).ratio()
                if close >= cutoff and (best is None or close > best[0]):
                    best = (close, start, length, name)
    if best is None:
        return None
    _, start, length, name = best
    words[start : start + length] = [None] * length
    return name


def suggest_name(name: str, level: str, split: str, benchmark: Benchmark) -> str | None:
    """The valid name that a wrong file name most likely stands for; None when it resembles none.

    What the name does not say is taken from the asked level and split.
    """
    guess = _Names(benchmark).guess(name)
    return None if guess.task is None else f"{guess.task}.{guess.level or level}.{guess.split or split}"


def _is_ignored(parts: Sequence[str]) -> bool:
    """System files, hidden files, read-me files and the data's own files, which come along by accident."""
    base = parts[-1].casefold()
    return (
        any(part.startswith(".") or part in ("__MACOSX", "__pycache__") for part in parts)
        or base in ("thumbs.db", "desktop.ini")
        or base.startswith(("readme", "license", "licence"))
        or base.endswith((".src", ".tgt"))
    )


# --- reading --------------------------------------------------------------------------------------


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
    names: _Names
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
                    if _is_ignored(here):
                        self.ignored.append(name + "/")
                    elif len(here) > MAX_DEPTH:
                        self._add("folder-not-read", f"lies more than {MAX_DEPTH} folders deep", file=name + "/")
                    else:
                        inner.append((path, here))
                elif child.is_symlink() and path.is_dir():
                    self._add("folder-not-read", "a link to a folder is not followed", file=name)
                elif _is_ignored(here):
                    self.ignored.append(name)
                else:
                    self._add_file(path, name)
            waiting += reversed(inner)
        if not seen:
            self._fail("the folder is empty", root)

    # a zip

    def _open_zip(self, path: Path, stack: ExitStack) -> None:
        try:
            file = stack.enter_context(path.open("rb"))
            size = os.fstat(file.fileno()).st_size
        except OSError as error:
            self._fail(cannot_read("", error).message, path)
        if size == 0:
            self._fail("the file is empty (0 bytes), not a zip", path)
        if self.size_limit is not None and size > self.size_limit:
            self._fail(too_large("", size, self.size_limit).message, path, too_large("", 0, 0).hint or "")
        guarded = _GuardedFile(file, size)
        try:
            archive = stack.enter_context(zipfile.ZipFile(guarded))
        except _DirectoryTooLarge as error:
            self._add(
                "zip-too-many-members",
                f"the zip's table of contents has {shown_size(error.size)}, the limit is {shown_size(MAX_DIRECTORY)}; "
                "nothing was read",
                file=printable(str(path)),
            )
            return
        except _ZIP_FAULTS as error:
            file.seek(0)
            head = file.read(4096)
            form = recognise(head)
            if head.startswith(b"PK"):
                reason = "the zip is cut off or damaged: it has no readable table of contents at its end"
            elif form is not None:
                reason = f"this is {form.name}, not a zip"
            else:
                reason = "this is not a zip"
            if not isinstance(error, zipfile.BadZipFile):
                reason = "the zip is damaged"
            self._fail(reason, path)
        guarded.open()
        members = archive.infolist()
        if not members:
            self._fail("the zip is empty", path)
        self._check_zip(members, size, printable(str(path)))
        if any(problem.code.startswith("zip-") for problem in self.problems):
            return
        for member in members:
            if member.is_dir():
                continue
            parts = member.filename.split("/")
            name = printable(member.filename)
            if _is_ignored(parts):
                self.ignored.append(name)
            elif len(parts) > MAX_DEPTH + 1:
                self._add("folder-not-read", f"lies more than {MAX_DEPTH} folders deep", file=name)
            else:
                self._add_member(archive, member, name, path)

    def _check_zip(self, members: list[zipfile.ZipInfo], packed: int, file: str) -> None:
        """Every reason to refuse the zip whole, from its directory alone."""
        if len(members) > MAX_MEMBERS:
            self._add(
                "zip-too-many-members",
                f"the zip has {len(members):,} members, the limit is {MAX_MEMBERS:,}; nothing was read",
                file=file,
                count=len(members),
                hint="pack only the prediction files",
            )
        reasons: dict[tuple[str, str], list[str]] = {}
        for member in members:
            for code, reason in _dangers(member):
                reasons.setdefault((code, reason), []).append(printable(member.orig_filename))
        for name, count in Counter(member.filename for member in members).items():
            if count > 1:
                reasons.setdefault(("zip-duplicate-member", "the same path twice"), []).append(printable(name))
        for (code, reason), names in reasons.items():
            self._add(
                code,
                f"the zip was refused: {reason}: {_listed(names)}; nothing was read",
                file=file,
                count=len(names),
                hint="pack the prediction files again, in plain folders",
            )
        total = sum(member.file_size for member in members)
        if self.size_limit is not None and total > self.size_limit:
            self._add(
                "zip-too-large",
                f"the zip would unpack to {shown_size(total)}, the limit is {shown_size(self.size_limit)}; "
                "nothing was read",
                file=file,
                hint="pack only the prediction files, or raise the limit with --size-limit",
            )
        # Members that overlap share their packed bytes, so the whole is measured against the file.
        dense = [member for member in members if member.file_size > max(RATIO_FLOOR, MAX_RATIO * member.compress_size)]
        if dense or total > max(RATIO_FLOOR, MAX_RATIO * packed):
            ratio = max([total / packed, *(member.file_size / max(member.compress_size, 1) for member in dense)])
            which = _listed([printable(member.filename) for member in dense]) if dense else "all members together"
            self._add(
                "zip-ratio",
                f"the zip would unpack to {ratio:,.0f} times its size ({which}), the limit is {MAX_RATIO} times "
                f"above {shown_size(RATIO_FLOOR)}; nothing was read",
                file=file,
                count=max(len(dense), 1),
            )

    def _add_member(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, path: Path) -> None:
        def read() -> Lines:
            limit = self.size_limit
            if limit is not None and member.file_size > limit:
                return unreadable(name, [too_large(name, member.file_size, limit)])
            try:
                data = _read_member(archive, member)
            except _ZIP_FAULTS as error:
                known = str(error) if isinstance(error, zipfile.BadZipFile) else "it cannot be unpacked"
                reason = "its checksum does not fit" if "CRC" in known else "it cannot be unpacked"
                problem = Problem("zip-damaged", CODES["zip-damaged"], f"damaged in the zip: {reason}", file=name)
                return unreadable(name, [replace(problem, hint="pack the files again")])
            return decode_lines(data, name)

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
        other_kind = _OTHER_KIND.search(entry.base)
        if guess.task is None:
            if _PACKED.search(entry.base):
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
            packed = all(_PACKED.search(name) for name in names)
            ask = f"unpack it to {meant}" if packed else f"did you mean {meant}?"
            others = f"; so are {_listed(names[1:])}" if len(names) > 1 else ""
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
                f"an archive inside the submission is not opened: {_listed(found.nested)}",
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
            self._add(code, f"{files} {what}: {_listed(names)}", count=len(names), hint=hint)

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
                count=len(absent),
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


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {rest:,} more" if rest > 0 else "")


# --- zip ------------------------------------------------------------------------------------------

# What the zip module is known to raise on damaged archives.
_ZIP_FAULTS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,
    NotImplementedError,
    OverflowError,
    IndexError,
)


_METHODS = {9: "deflate64", 12: "bzip2", 14: "lzma", 93: "zstd", 95: "xz", 98: "ppmd"}


class _DirectoryTooLarge(Exception):
    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


class _GuardedFile(io.RawIOBase):
    """A file that refuses large reads until it is opened up: the zip module reads the directory in one go."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        super().__init__()
        self._file = file
        self._size = size
        self._limit: int | None = MAX_DIRECTORY

    def open(self) -> None:
        self._limit = None

    def read(self, size: int = -1, /) -> bytes:
        wanted = size if size >= 0 else max(self._size - self._file.tell(), 0)
        if self._limit is not None and wanted > self._limit:
            raise _DirectoryTooLarge(wanted)
        return self._file.read(size)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True


def _dangers(member: zipfile.ZipInfo) -> Iterable[tuple[str, str]]:
    """(code, reason) for everything about a member that refuses its zip."""
    name = member.orig_filename  # `filename` ends at a NUL
    if "\0" in name:
        yield "zip-unsafe-member", "a NUL in a name"
    if "\\" in name:
        yield "zip-unsafe-member", "a backslash in a name"
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        yield "zip-unsafe-member", "an absolute path"
    if ".." in re.split(r"[/\\]", name):
        yield "zip-unsafe-member", "a path that leads out of the zip"
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind == stat.S_IFLNK:
        yield "zip-unsafe-member", "a symbolic link"
    elif kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        yield "zip-unsafe-member", "a device or pipe"
    if member.flag_bits & 0x41:
        yield "zip-encrypted", "an encrypted member"
    elif member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # The module unpacks bzip2 and lzma without a bound, and the others not at all.
        method = _METHODS.get(member.compress_type, f"method {member.compress_type}")
        yield "zip-method", f"packed by {method} (only stored and deflate are read)"


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The bytes of a member, never more than its header declares; BadZipFile when they differ."""
    chunks: list[bytes] = []
    size = 0
    with archive.open(member) as file:
        while chunk := file.read(1 << 20):
            size += len(chunk)
            if size > member.file_size:
                break
            chunks.append(chunk)
    if size != member.file_size:
        raise zipfile.BadZipFile("the size differs from the directory's")
    return b"".join(chunks)


# --- content --------------------------------------------------------------------------------------

# Sub-word units that were not joined: what marks them, their name, and what joins them.
_NUMBER_ENDINGS = r"(?!(?:th|st|nd|rd|s|am|pm|bn|mn?|k[gm]?|[cm]m|[mg]b|mph|ft|x|p|[cf]|yr|hz)\b)[^\W\d_]"
_PIECES: tuple[tuple[str, str, re.Pattern[str], str], ...] = (
    ("##", "word pieces (##)", re.compile(r"(?<!\S)##[^\W_]"), "sed 's/ ##//g'"),
    ("@@", "byte-pair pieces (@@)", re.compile(r"\w@@(?!\S)"), "sed -E 's/@@( |$)//g'"),
    ("\u2581", "SentencePiece marks (U+2581)", re.compile("\u2581"), "sed 's/ //g; s/\u2581/ /g; s/^ //'"),
    ("\u0120", "byte-level marks (U+0120)", re.compile(r"(?<!\S)\u0120[^\W\d_]"), "sed 's/ //g; s/\u0120/ /g'"),
)
_MASKED_PIECE = re.compile(rf"(?<!\S)##{_NUMBER_ENDINGS}")
_MODEL_TOKEN = re.compile(
    r"\[(?:CLS|SEP|PAD|MASK|BOS|EOS)\]|</?s>|<(?:pad|bos|eos|mask|extra_id_\d+)>|<\|endoftext\|>", re.IGNORECASE
)
_ASCII_WORD = re.compile(r"[A-Za-z0-9]")
_ODD_PUNCTUATION = re.compile("[\u2018-\u201f\u2032\u2033\u00ab\u00bb\u2039\u203a\u2010-\u2015\u2026\u00bf\u00a1]")


def check_predictions(
    texts: Sequence[str],
    task: Task,
    *,
    file: str,
    split: str,
    benchmark: Benchmark,
    expected: int | None = None,
    any_count: bool = False,
) -> list[Problem]:
    """What is wrong or odd with the n lines of one prediction file, apart from its encoding.

    `expected` is the number of lines of the data; None: the published size of the split counts;
    `any_count`: the number of lines is not checked.
    """
    problems: list[Problem] = []

    def add(code: str, numbers: Sequence[int], message: str, hint: str | None = None) -> None:
        if numbers:
            text = f"{_count(len(numbers))} {message}"
            first = tuple(numbers[:PLACES])
            problems.append(
                Problem(code, CODES[code], text, file=file, task=task.name, count=len(numbers), places=first, hint=hint)
            )

    def where(test: Callable[[str], object]) -> list[int]:
        return [number for number, text in enumerate(texts, 1) if test(text)]

    if not any_count:
        problems += _check_count(texts, task, file=file, split=split, benchmark=benchmark, expected=expected)
    empty = where(lambda text: not text.strip())
    add("empty-prediction", empty, "without text; kept, each counts as an empty prediction")
    if len(texts) > 1 and not empty and all(text == texts[0] for text in texts):
        add("identical-lines", range(1, len(texts) + 1), "and all are the same text", "was the right file written?")

    whole = "\n".join(texts)
    rules = task.prediction.rules
    for mark, name, pattern, command in _PIECES:
        if mark in whole:
            # Where digits are written as #, "##th" is a number.
            search = (_MASKED_PIECE if mark == "##" and "ones-to-hashes" in rules else pattern).search
            pieces = where(search)
            if mark == "\u0120" and len(pieces) * 10 < len(texts):
                continue  # a letter of Maltese
            add("word-pieces", pieces, f"with {name} that were not joined", f"join them: {command} {file}")

    own = task.prediction.separator
    separators = _separators(benchmark)
    for separator in separators:
        if separator != own and separator in whole:
            means = f"; its sentences are joined by {own}" if own else ""
            numbers = where(lambda text, part=separator: part in text)  # type: ignore[misc]
            message = f"with {separator}, which predictions of {task.name} do not use{means}; read as ordinary text"
            add("foreign-separator", numbers, message, "replace it" if own else "take it out")
    if own:
        loose = _loose(own)
        if loose.search(whole.replace(own, "")):
            numbers = where(lambda text: loose.search(text.replace(own, "")))
            add("misspelt-separator", numbers, f"with {own} spelt otherwise; read as ordinary text", f"write {own}")
        if own not in whole and len(texts) > 1:
            add(
                "no-separator",
                range(1, len(texts) + 1),
                f"and none with {own}: each prediction counts as one sentence",
                f"join the sentences of a prediction by {own}",
            )
    if _MODEL_TOKEN.search(whole):
        numbers = where(_MODEL_TOKEN.search)
        present = sorted({found for number in numbers for found in _MODEL_TOKEN.findall(texts[number - 1])})
        add("model-token", numbers, f"with tokens of the model left in ({', '.join(present[:8])})", "take them out")

    metrics = [metric.metric for metric in task.metrics]
    if any(metric.startswith("rouge") for metric in metrics):
        if "<" in whole:
            escaped = "fix-tokens-lower" in rules  # there a whole token < becomes &lt;
            numbers = where(lambda text: _loses_text(text, separators, escaped))
            add("tag-like-text", numbers, "with '<': ROUGE-1.5.5 loses the rest of the sentence after it")
        numbers = where(lambda text: not _ASCII_WORD.search(text) and text.strip())
        add("no-rouge-token", numbers, "without an ASCII letter or digit: ROUGE-1.5.5 finds no word there and gives 0")
    if "f1" in metrics and not whole.isascii():
        numbers = where(_ODD_PUNCTUATION.search)
        message = "with punctuation outside ASCII (curly quotes, dashes): the official F1 keeps it as part of the word"
        add("non-ascii-punctuation", numbers, message)
    return problems


def _check_count(
    texts: Sequence[str], task: Task, *, file: str, split: str, benchmark: Benchmark, expected: int | None
) -> list[Problem]:
    by = "by the published size" if expected is None else "by the data"
    wanted = task.sizes["dev" if split == "dev" else "test"] if expected is None else expected
    count = len(texts)
    if count == wanted:
        return []
    message = f"{_count(count)}, expected {wanted:,} {by}"
    hints: list[str] = []
    places: tuple[int, ...] = ()
    with_text = sum(1 for text in texts if text.strip())
    trailing = next((back for back, text in enumerate(reversed(texts)) if text.strip()), count)
    if count > wanted:
        surplus = count - wanted
        places = (wanted + 1,)
        if trailing >= surplus:
            message += (
                f"; line {count:,} is empty: remove the trailing blank line"
                if surplus == 1
                else f"; lines {wanted + 1:,} to {count:,} are empty: remove the {surplus:,} trailing blank lines"
            )
        elif with_text == wanted:
            hints.append(f"without its {count - with_text:,} empty lines the number would fit")
        else:
            hints.append("too many lines: one prediction a line; does a text contain a line break?")
    else:
        returns = sum(text.count("\r") for text in texts)
        if returns and count + returns == wanted:
            hints.append(f"too few lines, but it has {returns:,} carriage returns: end the lines by line feeds")
        else:
            hints.append("too few lines: one for each input, an empty line where there is no text")
    sizes = [
        f"{name} {part}"
        for name, other in benchmark.tasks.items()
        for part in SPLITS
        if other.sizes["dev" if part == "dev" else "test"] == count and (name, part) != (task.name, split)
    ]
    if sizes:
        hints.append(f"{count:,} is the size of {' and '.join(sizes)}")
    if expected is None:
        hints.append("for other data than the published give --data")
    return [
        Problem(
            "line-count",
            CODES["line-count"],
            message,
            file=file,
            task=task.name,
            places=places,
            hint="; ".join(hints) or None,
        )
    ]


def _separators(benchmark: Benchmark) -> list[str]:
    """Every separator that some side of some task uses."""
    sides = [side for task in benchmark.tasks.values() for side in (task.prediction, task.reference)]
    return sorted({side.separator.strip() for side in sides if side.separator})


def _loose(separator: str) -> re.Pattern[str]:
    """The separator in any case, with blanks anywhere inside: what a tokeniser makes of it."""
    return re.compile(r"[ ]*".join(map(re.escape, separator)), re.IGNORECASE)


def _loses_text(text: str, separators: Sequence[str], escaped: bool) -> bool:
    for separator in separators:
        text = text.replace(separator, " ")
    return any("<" in token and not (escaped and token == "<") for token in text.split())


def _count(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"
