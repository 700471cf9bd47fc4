"""Prediction files of any names, and fairseq logs -> a valid submission folder or zip.

    pack({"coqa": "out.txt", "cnndm": "generate-test.txt"}, "preds.zip", "hard", benchmark=load_tasks())

A plain file is one prediction a line, in the order of the data. A fairseq log (`fairseq-generate`, 0.9 to 0.12) is
recognised by its lines `H-<id>\\t<score>\\t<text>`: they are brought into the order of their ids, the best of several
hypotheses is taken (the highest score, of equals the first, which is fairseq's own order), and its word pieces are
joined as the published scripts do (` ##` taken out). When every id has a line `D-`, the text after fairseq's own
post-processing, that is taken.

Names, line counts and content are checked by `glge.submission.read_submission` on what was written, before it is moved
into place: a submission that could not be scored is never left behind.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from glge.errors import DataError, GlgeError, Problem, SubmissionError, did_you_mean
from glge.lines import DEFAULT_SIZE_LIMIT, PLACES, Lines, printable, read_lines
from glge.preparation.encoding import decode_line
from glge.preparation.layout import KINDS, find_file
from glge.preparation.manifest import hash_file
from glge.preparation.output import OutputFolder
from glge.preparation.outputfile import OutputFile
from glge.references import FALLBACK_LEVEL
from glge.submission import SPLITS, Submission, expected_names, read_submission
from glge.submission.names import Names

if TYPE_CHECKING:
    from glge.tasks import Benchmark

Kind = Literal["auto", "lines", "fairseq"]
KINDS_OF_FILE: tuple[Kind, ...] = ("auto", "lines", "fairseq")

_LOG_LINE = re.compile(r"([HD])-(\d{1,9})\t([^\t]*)(?:\t(.*))?", re.DOTALL)
_IS_LOG = re.compile(r"[HD]-\d{1,9}\t-?(?:\d|inf|nan)")
_MENDED = {"windows-line-ends", "byte-order-mark"}  # told here: what is written has them no more


@dataclass(frozen=True)
class PackedFile:
    """Where one task's predictions came from."""

    task: str
    source: str
    name: str
    kind: Literal["lines", "fairseq"]
    lines: int
    hypotheses: int
    joined: bool


@dataclass(frozen=True)
class Packed:
    """A submission that was written: where, from what, and what the validator says about it."""

    path: Path
    files: tuple[PackedFile, ...]
    submission: Submission
    problems: tuple[Problem, ...]  # of the given files; those of what was written are the submission's


@dataclass(frozen=True)
class Hypotheses:
    """The predictions of a fairseq log in the order of their ids: 0 to n-1. `most`: hypotheses of one id."""

    texts: list[str]
    most: int
    mark: Literal["H", "D"]


def parse_map(items: Iterable[str], benchmark: Benchmark) -> dict[str, Path]:
    """`TASK=FILE` from a command line -> task and file; the name alone is enough when it names its task.

    SubmissionError for an unknown task, a task twice, a file whose name says no task.

    >>> from glge.tasks import load_tasks
    >>> found = parse_map(["coqa=out.txt", "runs/xsum_best.txt"], load_tasks())
    >>> {task: file.name for task, file in found.items()}
    {'coqa': 'out.txt', 'xsum': 'xsum_best.txt'}
    """
    found: dict[str, Path] = {}
    names = Names(benchmark)
    for item in items:
        task, equals, file = item.partition("=")
        if not equals:
            guess = names.guess(Path(item).name)
            if guess.task is None or not guess.exact:
                raise SubmissionError(
                    "the name of this file says no task", file=printable(item), hint=f"write TASK={printable(item)}"
                )
            task, file = guess.task, item
        if task not in benchmark.tasks:
            raise _no_task(task, benchmark)
        if not file:
            raise SubmissionError(f"no file for {task}", hint=f"write {task}=FILE")
        if task in found:
            raise SubmissionError(
                f"two files for {task}: {printable(str(found[task]))} and {printable(file)}", hint="give one of them"
            )
        found[task] = Path(file)
    return found


def expected_lines(
    data: str | os.PathLike[str], tasks: Iterable[str], level: str, split: str = "test"
) -> dict[str, int]:
    """The number of lines of each task's data, from its sources or targets; DataError when it has neither."""
    root = Path(data)
    if not root.is_dir():
        raise DataError("there is no such folder", file=printable(str(root)))
    counts = {}
    for task in tasks:
        places = ((place, kind) for place in (level, FALLBACK_LEVEL) for kind in KINDS)
        found = next(filter(None, (find_file(root, place, task, split, kind) for place, kind in places)), None)
        if found is None:
            raise DataError(
                f"no {split}.src or {split}.tgt of {task}",
                file=printable(str(root)),
                hint="without --data the published sizes count",
            )
        counts[task] = hash_file(found.path, lines=True).lines or 0
    return counts


def read_log(lines: Lines, expected: int | None = None) -> Hypotheses:
    r"""The predictions of a fairseq log. `expected`: how many there must be.

    SubmissionError, one line, for ids that are missing, that stand in two places (two runs in one file), that are not
    below `expected`, for a score that is no number.

    >>> from glge.lines import decode_lines
    >>> log = b"S-1\tx\nH-1\t-0.5\tb ##c\nH-1\t-0.9\tb\nP-1\t-0.5\nH-0\t-0.1\ta\n"
    >>> read_log(decode_lines(log, "log"), 2)
    Hypotheses(texts=['a', 'b ##c'], most=2, mark='H')
    """
    best: dict[str, dict[int, tuple[float, str]]] = {"H": {}, "D": {}}
    counts: dict[tuple[str, int], int] = {}
    first: dict[tuple[str, int], int] = {}
    # Lines of the same kind of one id follow each other, but for lines P- and D- of the same id between them.
    current = -1
    most = 0
    for number, line in enumerate(lines.texts, 1):
        found = _LOG_LINE.fullmatch(line)
        if found is None:
            continue
        mark, place, score_text, text = found[1], int(found[2]), found[3], found[4] or ""
        try:
            score = float(score_text)
        except ValueError:
            raise SubmissionError(
                f"line {number:,}: a line {mark}-{place} without a score: not a log of fairseq", file=lines.name
            ) from None
        key = (mark, place)
        if place != current:
            if ("H", place) in first or ("D", place) in first:
                before = first.get(("H", place)) or first[("D", place)]
                raise SubmissionError(
                    f"the id {place} stands in two places, lines {before:,} and {number:,}",
                    file=lines.name,
                    hint="are there two runs in this log? keep one",
                )
            current = place
        first.setdefault(key, number)
        counts[key] = counts.get(key, 0) + 1
        most = max(most, counts[key])
        kept = best[mark].get(place)
        if kept is None or score > kept[0]:
            best[mark][place] = (score, text)
    ids = best["H"].keys() | best["D"].keys()
    if not ids:
        raise SubmissionError("no line H-<id> in it: not a log of fairseq-generate", file=lines.name)
    mark = "D" if len(best["D"]) == len(ids) else "H"
    _check_ids(best[mark].keys(), expected, lines)
    texts = [best[mark][place][1] for place in range(len(best[mark]))]
    return Hypotheses(texts, most, "D" if mark == "D" else "H")


def _check_ids(ids: Iterable[int], expected: int | None, lines: Lines) -> None:
    there = set(ids)
    count = max(there) + 1 if expected is None else expected
    beyond = sorted(place for place in there if place >= count)
    missing = count - (len(there) - len(beyond))
    if missing:
        first = list(islice((place for place in range(count) if place not in there), PLACES))
        raise SubmissionError(
            f"{_ids(missing)} of {count:,} missing: {_listed(first, missing)}",
            file=lines.name,
            hint="was the run stopped, were lines left out as too long, or do progress bars stand in the same lines?",
        )
    if beyond:
        raise SubmissionError(
            f"{_ids(len(beyond))} too many: {_listed(beyond[:PLACES], len(beyond))}; expected 0 to {count - 1:,}",
            file=lines.name,
            hint="is this the log of another split or task?",
        )


def _ids(count: int) -> str:
    return "1 id" if count == 1 else f"{count:,} ids"


def _listed(first: Sequence[int], count: int) -> str:
    return ", ".join(map(str, first)) + (" …" if count > len(first) else "")


def pack(
    files: Mapping[str, str | os.PathLike[str]],
    out: str | os.PathLike[str],
    level: str,
    *,
    benchmark: Benchmark,
    split: str = "test",
    expected: Mapping[str, int | None] | None = None,
    kind: Kind = "auto",
    join: bool | None = None,
    force: bool = False,
    size_limit: int | None = DEFAULT_SIZE_LIMIT,
) -> Packed:
    """Write the files, by task, as a submission: a zip when `out` ends in `.zip`, a folder otherwise.

    `expected`: the number of lines by task, from the data (None: any); without it the published sizes count. `join`:
    join word pieces (` ##`); None does so for logs only. A folder keeps what else is in it; files of the same name,
    or a zip that is there, are refused unless `force`.

    SubmissionError for unknown names, for files that cannot be read, and when the result could not be scored: it
    carries all problems of all files. Nothing is written then.
    """
    if level not in benchmark.level_names:
        raise SubmissionError(
            f"there is no level '{printable(level)}'", hint=did_you_mean(level, benchmark.level_names)
        )
    if split not in SPLITS:
        raise SubmissionError(f"there is no split '{printable(split)}' to submit", hint=did_you_mean(split, SPLITS))
    if kind not in KINDS_OF_FILE:
        raise SubmissionError(f"there is no kind of file '{printable(kind)}'", hint=did_you_mean(kind, KINDS_OF_FILE))
    for task in files:
        if task not in benchmark.tasks:
            raise _no_task(task, benchmark)
    if not files:
        raise SubmissionError("nothing to pack", hint="give TASK=FILE, such as coqa=out.txt")
    tasks = [task for task in benchmark.tasks if task in files]
    packer = _Packer(benchmark, level, split, expected, kind, join, size_limit)
    target = Path(out)
    if target.name.lower().endswith(".zip"):
        return packer.to_zip([(task, Path(files[task])) for task in tasks], target, force)
    return packer.to_folder([(task, Path(files[task])) for task in tasks], target, force)


def _no_task(name: str, benchmark: Benchmark) -> SubmissionError:
    return SubmissionError(f"there is no task '{printable(name)}'", hint=did_you_mean(name, benchmark.tasks))


class _Packer:
    """One packing: the same steps for a folder and a zip."""

    def __init__(
        self,
        benchmark: Benchmark,
        level: str,
        split: str,
        expected: Mapping[str, int | None] | None,
        kind: Kind,
        join: bool | None,
        size_limit: int | None,
    ) -> None:
        self._benchmark = benchmark
        self._level = level
        self._split = split
        self._expected = expected
        self._kind = kind
        self._join = join
        self._size_limit = size_limit
        self._files: list[PackedFile] = []
        self._problems: list[Problem] = []
        self._errors: list[Problem] = []

    def to_folder(self, files: Sequence[tuple[str, Path]], target: Path, force: bool) -> Packed:
        names = tuple(expected_names(self._level, self._split, (task for task, _ in files)))
        others = _others(target, names)
        # `.` and `runs/..` have no name that a temporary folder could stand beside.
        place = Path(os.path.abspath(target))  # noqa: PTH100
        with OutputFolder(place, names=names, force=force) as folder:
            for name, text in self._texts(files, names):
                with folder.open(name) as writer:
                    writer.write(text)
            submission = self._check(folder.path(""), target)
        if others:  # the report is about the whole folder
            submission = self._read(target)
        return Packed(target, tuple(self._files), submission, tuple(self._problems))

    def to_zip(self, files: Sequence[tuple[str, Path]], target: Path, force: bool) -> Packed:
        names = tuple(expected_names(self._level, self._split, (task for task, _ in files)))
        with OutputFile(target, force=force) as output:
            with output.open():
                pass  # the place is taken and can be written to
            with zipfile.ZipFile(output.path, "w") as archive:
                for name, text in self._texts(files, names):
                    archive.writestr(_member(name), text.encode("utf-8"), compresslevel=9)
            submission = self._check(output.path, target)
        return Packed(target, tuple(self._files), submission, tuple(self._problems))

    def _texts(self, files: Sequence[tuple[str, Path]], names: Sequence[str]) -> Iterator[tuple[str, str]]:
        """(name, text) of each file that can be read; SubmissionError at the end when one cannot."""
        for (task, path), name in zip(files, names, strict=True):
            try:
                texts = self._read_file(task, path, name)
            except GlgeError as error:
                where = error.file or printable(str(path))
                self._errors.append(
                    Problem("unreadable-file", "error", error.message, file=where, task=task, hint=error.hint)
                )
                continue
            if texts is not None and not self._errors:
                yield name, "".join(f"{text}\n" for text in texts)
        if self._errors:
            raise self._refusal(self._errors, (*self._errors, *self._problems))

    def _read_file(self, task: str, path: Path, name: str) -> list[str] | None:
        lines = read_lines(path, size_limit=self._size_limit)
        problems = [replace(problem, task=task) for problem in lines.problems]
        self._errors += [problem for problem in problems if problem.severity == "error"]
        if lines.errors:
            return None
        is_log = self._kind == "fairseq" or (self._kind == "auto" and _is_log(lines.texts))
        if is_log:
            hypotheses = read_log(lines, self._wanted(task))
            texts, most = hypotheses.texts, hypotheses.most
        else:
            texts, most = lines.texts, 1
        # Of a log only the predictions go on, and the submission's own report tells what is odd about them.
        self._problems += [] if is_log else [problem for problem in problems if problem.code in _MENDED]
        join = is_log if self._join is None else self._join
        if join:
            texts = [decode_line(text, task) for text in texts]
        source = printable(str(path))
        kind: Literal["lines", "fairseq"] = "fairseq" if is_log else "lines"
        self._files.append(PackedFile(task, source, name, kind, len(texts), most, join))
        return texts

    def _wanted(self, task: str) -> int | None:
        if self._expected is not None and task in self._expected:
            return self._expected[task]
        return self._benchmark.tasks[task].sizes["dev" if self._split == "dev" else "test"]

    def _read(self, path: Path) -> Submission:
        return read_submission(
            path,
            self._level,
            benchmark=self._benchmark,
            split=self._split,
            size_limit=self._size_limit,
            expected=self._expected,
        )

    def _check(self, written: Path, target: Path) -> Submission:
        """What the validator says about what was written, under the name it will have; SubmissionError for errors."""
        submission = self._read(written)
        shown, temporary = printable(str(target)), printable(str(written))
        problems = tuple(
            replace(problem, file=shown) if problem.file == temporary else problem for problem in submission.problems
        )
        predictions = {
            task: replace(found, path=shown + found.path.removeprefix(temporary))
            for task, found in submission.predictions.items()
        }
        submission = replace(submission, name=shown, problems=problems, predictions=predictions)
        if submission.errors:
            raise self._refusal(self._blame(submission.errors), self._blame(problems))
        return submission

    def _blame(self, problems: Iterable[Problem]) -> list[Problem]:
        """The same problems, told of the file that was given: the one that was to be written is gone."""
        sources = {file.name: file.source for file in self._files}
        return [replace(problem, file=sources.get(problem.file or "", problem.file)) for problem in problems]

    def _refusal(self, errors: Sequence[Problem], problems: Iterable[Problem]) -> SubmissionError:
        if len(errors) == 1:
            return SubmissionError(f"{errors[0]}; nothing was written", problems=problems)
        return SubmissionError(f"nothing was written: {len(errors)} errors, the first: {errors[0]}", problems=problems)


def _is_log(texts: Sequence[str]) -> bool:
    """Whether a line, beside at most log messages, is one of fairseq's."""
    return any(_IS_LOG.match(text) for text in texts if text[1:2] == "-")


def _others(folder: Path, names: Sequence[str]) -> bool:
    """Whether the folder holds files beside those of the given names."""
    return folder.is_dir() and any(path.name not in names for path in folder.iterdir())


def _member(name: str) -> zipfile.ZipInfo:
    """A member of a zip that tells nothing of when and where it was packed."""
    member = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    member.compress_type = zipfile.ZIP_DEFLATED
    member.external_attr = 0o644 << 16
    member.create_system = 3
    return member
