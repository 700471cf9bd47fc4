"""What lies in a data root: every file of the official layout read once, and what can be scored with it.

Per task, level and split: lines, mean words, empty and repeated lines, whether sources and targets belong
together, separators that should not be there, and the distance to the sizes the paper publishes (Table 1).
A word is what stands between blanks (bytes up to 0x20), separators included.

Files are read in blocks and never held whole. What stays of a line is a 64-bit hash (to find repeated ones,
and a level's pairs among easy's) and whether it is empty: nine bytes. Hashes are of this process only and
never leave it. Two lines in a file of four million take the same one with a chance of one in two million.

Whether sources and targets belong together is looked at on a sample of 4,096 line numbers, spread evenly:
a target shares more words with its own source than with the neighbours' or a stranger's.

No problem or figure here quotes a line.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from glge import __version__
from glge.errors import NoReferences, Problem, Severity, nearest
from glge.lines import PLACES, printable
from glge.preparation.layout import (
    BYTE_ORDER_MARK,
    KINDS,
    DataFile,
    Hasher,
    find_files,
    lines_of,
    read_blocks,
    relative,
    unreadable_format,
)
from glge.preparation.levels import EASY, LEVELS, SHARES, pairs_wanted, stop_words
from glge.preparation.manifest import NAME as MANIFEST
from glge.preparation.tables import table, wrap
from glge.references import HIDDEN, SPLITS, archive_roots
from glge.reports.wording import MISSING, by_severity, places, quantity, tally
from glge.tasks import Benchmark, Task

Progress = Callable[[str, int, int], None]
Hashes = npt.NDArray[np.uint64]

# Every code of a problem of this module. docs/data-check.md says what to do about each.
CODES: Mapping[str, Severity] = {
    "wrong-format": "error",
    "empty-file": "error",
    "invalid-utf8": "error",
    "half-missing": "error",
    "lines-differ": "error",
    "shifted": "warning",
    "unrelated": "warning",
    "one-side-empty": "warning",
    "unknown-separator": "warning",
    "no-separator": "warning",
    "size-differs": "warning",
    "level-differs": "warning",
    "not-from-easy": "warning",
    "unknown-folder": "warning",
    "carriage-return": "warning",
    "nul-character": "warning",
    "undocumented-separator": "note",
    "empty-line": "note",
    "repeated-pair": "note",
    "in-training": "note",
    "found-twice": "note",
    "unknown-file": "note",
    "windows-line-ends": "note",
    "byte-order-mark": "note",
    "line-boundary-character": "note",
    "replacement-character": "note",
    "no-final-line-feed": "note",
}

# No source tells how coqa's history, question and passage are joined.
UNDOCUMENTED = frozenset({"coqa"})


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class FileFacts(_Entry):
    """One file: `words` is their whole number, `repeated` the lines equal to an earlier one, `separators` how often
    each mark like `[SEP]` stands in it."""

    name: str
    bytes: int
    sha256: str
    lines: int
    words: int
    mean_words: float
    longest: int
    empty: int
    repeated: int | None
    separators: dict[str, int]


class SplitFacts(_Entry):
    """One split of a task at a level.

    `published` is the size in Table 1 (for medium, medium+ and hard: its share of easy's), `difference` what is
    there minus that. `in_easy`: pairs that are among easy's training pairs; `in_train`: pairs of dev or test that
    are among easy's training pairs; null where that was not to be found out. `overlap`: mean share of a
    target's words that stand in its source, on the sample; `overlap_stranger`: in another line's source.
    """

    task: str
    level: str
    split: str
    source: FileFacts | None
    target: FileFacts | None
    published: int
    difference: int | None
    repeated_pairs: int | None
    one_side_empty: int | None
    in_easy: int | None
    in_train: int | None
    overlap: float | None
    overlap_stranger: float | None


class Use(_Entry):
    """Whether the data of a task suffice to score a split: at these levels, and why not at the others."""

    task: str
    split: str
    levels: tuple[str, ...]
    why: str | None


class DataReport(_Entry):
    """Everything `check_data` found. `trainable`: the levels of each task whose training data are there and sound."""

    report_version: str = "1.0"
    glge_version: str = __version__
    splits: tuple[SplitFacts, ...]
    scorable: tuple[Use, ...]
    trainable: dict[str, tuple[str, ...]]
    problems: tuple[Problem, ...]

    def text(self) -> str:
        """The JSON form, ending in a line feed."""
        return self.model_dump_json(indent=2) + "\n"


def check_data(
    root: Path,
    *,
    benchmark: Benchmark,
    tasks: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> DataReport:
    """Read every file of the layout in `root` and the archives in or beside it.

    `progress(what, done, total)` counts megabytes. NoReferences, a DataError, when no such file is there;
    RegistryError for a task that is not in the benchmark; DataError when a file cannot be opened. Every other
    fault is among the report's problems.
    """
    names = list(dict.fromkeys(tasks)) if tasks is not None else list(benchmark.tasks)
    for name in names:
        benchmark.task(name)
    check = _Check(root, benchmark, names)
    if not check.files:
        raise NoReferences(
            "no file of the official layout lies here",
            file=printable(str(root)),
            expected=relative("easy", "TASK", "train", "src"),
            hint="give the folder that holds easy/, medium/, medium+/ and hard/, or the unpacked archives",
        )
    check.find_strangers()
    total = sum(found[0].path.stat().st_size for found in check.files.values())
    check.tell = _megabytes(total, progress)
    for name in names:
        check.check_task(name)
    return check.report()


_Key = tuple[str, str, str, str]  # task, level, split, kind


@dataclass
class _Scan:
    """A file as read: its facts and what is needed to compare it with others."""

    facts: FileFacts
    hashes: Hashes
    empty: npt.NDArray[np.bool_]
    sample: dict[int, str]
    readable: bool


class _Check:
    """One walk over a data root; holds the lines' hashes of one task at a time."""

    def __init__(self, root: Path, benchmark: Benchmark, tasks: Sequence[str]) -> None:
        self.root = root
        self.benchmark = benchmark
        self.tasks = tasks
        self.tell: Callable[[str, int], None] = lambda what, size: None
        self.problems: list[Problem] = []
        self.splits: list[SplitFacts] = []
        self.uses: list[Use] = []
        self.trainable: dict[str, tuple[str, ...]] = {}
        self.files: dict[_Key, list[DataFile]] = {}
        for task in tasks:
            for level in benchmark.level_names:
                for split in SPLITS:
                    for kind in KINDS:
                        found = find_files(root, level, task, split, kind)
                        if found:
                            self.files[task, level, split, kind] = found

    def report(self) -> DataReport:
        return DataReport(
            splits=tuple(self.splits),
            scorable=tuple(self.uses),
            trainable=self.trainable,
            problems=tuple(self.problems),
        )

    def add(
        self,
        code: str,
        message: str,
        *,
        file: str,
        task: str | None,
        count: int = 1,
        places: Sequence[int] = (),
        hint: str | None = None,
    ) -> None:
        """Note a problem."""
        first = tuple(places)[:PLACES]
        self.problems.append(Problem(code, CODES[code], message, file, task, count=count, places=first, hint=hint))

    # --- names --------------------------------------------------------------------------------------

    def find_strangers(self) -> None:
        """Folders and files whose names the layout does not know, and files that are there twice."""
        known_levels = self.benchmark.level_names
        known_tasks = {f"{task}_data" for task in self.benchmark.tasks}
        known_files = {f"{split}.{kind}" for split in SPLITS for kind in KINDS} | {MANIFEST}
        for base in archive_roots(self.root):
            for level in _folders(base):
                inner = [folder for folder in _folders(level) if folder.name.endswith("_data")]
                if level.name not in known_levels:
                    if inner:
                        self._stranger(level, known_levels)
                    continue
                for folder in inner:
                    if folder.name not in known_tasks:
                        self._stranger(folder, known_tasks)
                        continue
                    place = folder / "org_data"
                    others = [
                        path.name
                        for path in _entries(place)
                        if path.is_file() and path.name not in known_files and not path.name.startswith(".")
                    ]
                    if others:
                        packed = [name for name in others if re.match(r"(train|dev|test)\.(src|tgt)\.", name)]
                        self.add(
                            "unknown-file",
                            f"{quantity(len(others), 'file')} that no program of the benchmark reads: "
                            + ", ".join(printable(name) for name in others[:3])
                            + (" …" if len(others) > 3 else ""),
                            file=self._name(place),
                            task=folder.name.removesuffix("_data"),
                            count=len(others),
                            hint="unpack them" if packed else None,
                        )
        for (task, *_), found in self.files.items():
            if len(found) > 1:
                self.add(
                    "found-twice",
                    f"it lies in {quantity(len(found), 'place')}; the first is read, not {found[1].name}",
                    file=found[0].name,
                    task=task,
                    count=len(found),
                )

    def _stranger(self, folder: Path, known: Iterable[str]) -> None:
        close = nearest(folder.name, known)
        self.add(
            "unknown-folder",
            "a folder that no program of the benchmark reads",
            file=self._name(folder),
            task=None,
            hint=f"did you mean {close}?" if close else None,
        )

    def _name(self, path: Path) -> str:
        return printable(os.path.relpath(path, self.root).replace(os.sep, "/"))

    # --- one task -----------------------------------------------------------------------------------

    def check_task(self, name: str) -> None:
        """Read everything of one task."""
        task = self.benchmark.task(name)
        easy: dict[str, Hashes] = {}
        digests: dict[tuple[str, str], str] = {}
        sound: dict[_Key, str | None] = {}  # why a file cannot be used, None when it can
        lines: dict[_Key, int] = {}
        trainable: set[str] = set()
        levels = sorted(self.benchmark.level_names, key=lambda level: level != EASY)
        for level in levels:
            for split in SPLITS:
                scans = {kind: self._scan(task, level, split, kind) for kind in KINDS}
                source, target = scans["src"], scans["tgt"]
                if source is None and target is None:
                    continue
                for kind, scan in scans.items():
                    if scan is not None:
                        lines[name, level, split, kind] = scan.facts.lines
                        sound[name, level, split, kind] = self._why_unsound(task, split, kind, scan)
                        if split != "train" and scan.readable:
                            self._same_as_easy(task, level, split, kind, scan, digests)
                self._halves(task, level, split, source, target)
                facts, pairs = self._compare(task, level, split, source, target, easy)
                self.splits.append(facts)
                if level == EASY and pairs is not None:
                    easy[split] = pairs
                if split == "train" and pairs is not None:
                    trainable.add(level)
        self._compare_training(task, easy)
        self.trainable[name] = tuple(level for level in self.benchmark.level_names if level in trainable)
        for split in ("test", "dev"):
            self.uses.append(self._use(task, split, sound, lines))

    def _scan(self, task: Task, level: str, split: str, kind: str) -> _Scan | None:
        found = self.files.get((task.name, level, split, kind))
        if found is None:
            return None
        file = found[0]
        form = unreadable_format(file.path)
        size = file.path.stat().st_size
        if form is not None or not size:
            self.tell(task.name, size)
            if form is not None:
                message = f"this is {form.name}, not UTF-8 text"
                self.add("wrong-format", message, file=file.name, task=task.name, hint=form.hint)
            else:
                hint = "fetch the file again"
                self.add("empty-file", "the file is empty (0 bytes)", file=file.name, task=task.name, hint=hint)
            return _unreadable(file, size)
        reader = _Reader(file, task, lambda block: self.tell(task.name, block))
        scan = reader.read()
        for code, message, count, numbers, advice in reader.problems():
            self.add(code, message, file=file.name, task=task.name, count=count, places=numbers, hint=advice)
        return scan

    def _why_unsound(self, task: Task, split: str, kind: str, scan: _Scan) -> str | None:
        if not scan.readable:
            return f"{split}.{kind} cannot be read"
        if kind == "tgt" and split != "train" and scan.facts.empty and task.reference.empty == "error":
            return f"{quantity(scan.facts.empty, 'reference')} without text, which {task.name} does not allow"
        return None

    def _same_as_easy(
        self, task: Task, level: str, split: str, kind: str, scan: _Scan, digests: dict[tuple[str, str], str]
    ) -> None:
        if digests.setdefault((split, kind), scan.facts.sha256) != scan.facts.sha256:
            self.add(
                "level-differs",
                f"not the same as easy's {split}.{kind}, though {split} is the same at every level",
                file=scan.facts.name,
                task=task.name,
                hint=f"the scorer takes this one at level {level}",
            )

    def _halves(self, task: Task, level: str, split: str, source: _Scan | None, target: _Scan | None) -> None:
        """Test targets come in an archive of their own and may be missing; nothing else may."""
        there = source or target
        if (source and target) or there is None or split == "test":
            return
        missing = relative(level, task.name, split, "src" if target else "tgt")
        self.add("half-missing", f"{missing} is missing", file=there.facts.name, task=task.name)

    def _compare(
        self, task: Task, level: str, split: str, source: _Scan | None, target: _Scan | None, easy: Mapping[str, Hashes]
    ) -> tuple[SplitFacts, Hashes | None]:
        """The facts of one split, with the hashes of its pairs when it has pairs."""
        lines = max(scan.facts.lines for scan in (source, target) if scan is not None)
        published, difference = _distance(task, level, split, lines)
        shown = (target or source).facts.name  # type: ignore[union-attr]
        add = partial(self.add, file=shown, task=task.name)
        pairs: Hashes | None = None
        one_side = repeated = in_easy = None
        fit: _Fit | None = None
        if difference:
            of = "" if level == EASY or split != "train" else f", {float(SHARES[level]):.0%} of easy's"
            add(
                "size-differs",
                f"{quantity(lines, 'line')}, {abs(difference):,} {'more' if difference > 0 else 'fewer'} than the "
                f"published {published:,}{of}",
            )
        if source is not None and target is not None and source.readable and target.readable:
            if source.facts.lines != target.facts.lines:
                add(
                    "lines-differ",
                    f"{quantity(target.facts.lines, 'line')}, but {source.facts.name} has {source.facts.lines:,}",
                    hint="both come from the same release: fetch the shorter one again",
                )
            else:
                pairs = _join(source.hashes, target.hashes)
                repeated = _repeated(pairs)
                one_side = self._one_side_empty(source, target, task)
                fit = _fit(source.sample, target.sample)
                self._report_fit(fit, lines, task, shown)
                if repeated:
                    told = f"{quantity(repeated, 'pair')} equal to an earlier one"
                    add("repeated-pair", told, count=repeated)
                if split == "train" and level != EASY and "train" in easy:
                    in_easy = int(np.count_nonzero(np.isin(pairs, easy["train"])))
                    if in_easy != len(pairs):
                        add(
                            "not-from-easy",
                            f"{quantity(len(pairs) - in_easy, 'training pair')} that easy does not have",
                            count=len(pairs) - in_easy,
                            hint="a level is a part of easy's training pairs: both from the same release?",
                        )
        facts = SplitFacts(
            task=task.name,
            level=level,
            split=split,
            source=source.facts if source else None,
            target=target.facts if target else None,
            published=published,
            difference=difference,
            repeated_pairs=repeated,
            one_side_empty=one_side,
            in_easy=in_easy,
            in_train=None,
            overlap=fit.own if fit else None,
            overlap_stranger=fit.stranger if fit else None,
        )
        return facts, pairs

    def _one_side_empty(self, source: _Scan, target: _Scan, task: Task) -> int:
        numbers = np.flatnonzero(source.empty != target.empty)
        if len(numbers):
            self.add(
                "one-side-empty",
                f"{quantity(len(numbers), 'pair')} with text on one side only",
                file=target.facts.name,
                task=task.name,
                count=len(numbers),
                places=[int(number) + 1 for number in numbers[:PLACES]],
            )
        return len(numbers)

    def _report_fit(self, fit: _Fit | None, lines: int, task: Task, shown: str) -> None:
        if fit is None:
            return
        for part, offset in fit.shifted:
            first, last = lines * part // _PARTS + 1, lines * (part + 1) // _PARTS
            self.add(
                "shifted",
                f"targets of lines {first:,} to {last:,} fit the sources one line "
                + ("later" if offset > 0 else "earlier"),
                file=shown,
                task=task.name,
                hint="a line is missing or too many on one side: fetch both files again",
            )
        if fit.unrelated and not fit.shifted:
            self.add(
                "unrelated",
                f"targets share no more words with their sources ({fit.own:.0%}) than with others ({fit.stranger:.0%})",
                file=shown,
                task=task.name,
                hint="is one of the two files in another order or of another task?",
            )

    def _compare_training(self, task: Task, easy: Mapping[str, Hashes]) -> None:
        """Pairs of dev and test that are among easy's training pairs."""
        if "train" not in easy:
            return
        for number, facts in enumerate(self.splits):
            if facts.task != task.name or facts.level != EASY or facts.split == "train" or facts.split not in easy:
                continue
            count = int(np.count_nonzero(np.isin(easy[facts.split], easy["train"])))
            self.splits[number] = facts.model_copy(update={"in_train": count})
            if count and facts.target:
                told = f"{quantity(count, 'pair')} that {'is' if count == 1 else 'are'} among easy's training pairs too"
                self.add("in-training", told, file=facts.target.name, task=task.name, count=count)

    # --- what can be done with it -------------------------------------------------------------------

    def _use(self, task: Task, split: str, sound: Mapping[_Key, str | None], lines: Mapping[_Key, int]) -> Use:
        """At which levels a split can be scored. The scorer looks at the level asked for, then at easy."""
        if not sound:
            return Use(task=task.name, split=split, levels=(), why="nothing of it lies here")
        usable = []
        why: str | None = None
        for level in self.benchmark.level_names:
            reason = None
            used = {}
            for kind in ("tgt", "src") if task.groups_by_source else ("tgt",):
                keys = [(task.name, candidate, split, kind) for candidate in (level, EASY)]
                key = next((key for key in keys if key in sound), None)
                if key is None:
                    reason = f"{split}.{kind} is missing"
                    if split == "test" and kind == "tgt":
                        reason += f" (it comes in the second archive, {HIDDEN})"
                    elif kind == "src":
                        reason += f", by which {task.name} puts references together"
                    break
                used[kind] = key
                reason = sound[key]
                if reason:
                    break
            if reason is None and len({lines[key] for key in used.values()}) > 1:
                reason = f"{split}.src and {split}.tgt differ in their number of lines"
            if reason is None:
                usable.append(level)
            else:
                why = why or reason
        return Use(task=task.name, split=split, levels=tuple(usable), why=why)


def _distance(task: Task, level: str, split: str, lines: int) -> tuple[int, int]:
    """The published size and the distance to it; a half or a quarter may be rounded either way."""
    size = task.sizes[split]  # type: ignore[index]
    if split != "train" or level not in LEVELS:
        return size, lines - size
    low, high = (pairs_wanted(size, level, rounding) for rounding in ("floor", "ceil"))
    return low, min(lines - low, 0) or max(lines - high, 0)


def _megabytes(total: int, progress: Progress | None) -> Callable[[str, int], None]:
    """A function that takes bytes and tells megabytes when another one is done."""
    done, told = 0, -1

    def tell(what: str, size: int) -> None:
        nonlocal done, told
        done += size
        if progress and done >> 20 != told:
            told = done >> 20
            progress(what, told, max(total >> 20, told, 1))

    return tell


def _folders(base: Path) -> list[Path]:
    return [path for path in _entries(base) if path.is_dir()]


def _entries(base: Path) -> list[Path]:
    try:
        return sorted(base.iterdir())
    except OSError:
        return []


# --- reading one file -----------------------------------------------------------------------------

_ORDINARY = bytes([10, *range(0x20, 0x7F)])
_MARK = re.compile(rb"\[[A-Za-z/_]{1,16}\]|<\|?[A-Za-z/_]{1,16}\|?>|\|\|\|")
_PLAIN = frozenset({"[unk]", "<unk>"})
_SEPARATOR_WORDS = frozenset(
    "s p q t n br nl cls pad mask bos eos sos go start end stop turn usr user sys bot eot eou doc ans answer question "
    "query context title endoftext".split()
)
_MARKS = 50  # marks whose lines are counted, whatever they are called
_OFTEN = 0.2  # lines with a mark: then it is a separator, whatever it is called
_ODD = (
    ("nul-character", (b"\0",), "a NUL character", "write the file again: it is probably damaged"),
    ("replacement-character", (b"\xef\xbf\xbd",), "a replacement character (U+FFFD): text was lost before", None),
    (
        "line-boundary-character",
        (b"\x0b", b"\x0c", b"\x1c", b"\x1d", b"\x1e", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9"),
        "a character at which some programs end a line",
        "read it with line feeds as the only line ends",
    ),
)
_GROUP = 8  # neighbouring lines in the sample
_GROUPS = 512
_CUT = 8_000  # bytes of a line in the sample


def _unreadable(file: DataFile, size: int) -> _Scan:
    facts = FileFacts(
        name=file.name,
        bytes=size,
        sha256=Hasher().result(file.name).sha256,
        lines=0,
        words=0,
        mean_words=0.0,
        longest=0,
        empty=0,
        repeated=None,
        separators={},
    )
    return _Scan(facts, np.zeros(0, np.uint64), np.zeros(0, bool), {}, False)


@dataclass
class _Seen:
    """How many lines have something, and the first of them."""

    count: int = 0
    places: list[int] = field(default_factory=list)

    def add(self, rows: Sequence[int], before: int) -> None:
        self.count += len(rows)
        self.places += [before + row + 1 for row in rows[: PLACES - len(self.places)]]


class _Reader:
    """One pass over a file."""

    def __init__(self, file: DataFile, task: Task, tell: Callable[[int], None]) -> None:
        self.file = file
        self.task = task
        self.tell = tell
        self.required, self.known = expected_separators(task, file.kind)
        self.marks: Counter[str] = Counter()
        self.mark_places: dict[str, _Seen] = {}
        self.seen: dict[str, _Seen] = {}
        self.lines = 0
        self.windows = 0
        self.final_line_feed = True
        self.byte_order_mark = False

    def read(self) -> _Scan:
        hasher = Hasher()
        hashes: list[Hashes] = []
        empty: list[npt.NDArray[np.bool_]] = []
        words = longest = 0
        sample = _Sample()
        for raw in read_blocks(self.file, keep_mark=True):
            self.tell(len(raw))
            block = raw
            if not self.lines and raw.startswith(BYTE_ORDER_MARK):
                self.byte_order_mark = True
                block = raw.removeprefix(BYTE_ORDER_MARK) or b"\n"
            lines = lines_of(block)
            hasher.add(raw, len(lines))
            counts = _words(block)
            hashes.append(np.fromiter(map(hash, lines), np.int64, len(lines)).view(np.uint64))
            empty.append(counts == 0)
            words += int(counts.sum())
            longest = max(longest, int(counts.max()))
            self._look(block, lines)
            sample.add(lines, self.lines)
            self.lines += len(lines)
            self.final_line_feed = block.endswith(b"\n")
        known = hasher.result(self.file.name)
        all_hashes = np.concatenate(hashes)
        all_empty = np.concatenate(empty)
        if all_empty.any():
            self._note("empty-line", np.flatnonzero(all_empty).tolist(), 0)
        facts = FileFacts(
            name=self.file.name,
            bytes=known.bytes,
            sha256=known.sha256,
            lines=self.lines,
            words=words,
            mean_words=words / self.lines,
            longest=longest,
            empty=int(np.count_nonzero(all_empty)),
            repeated=_repeated(all_hashes),
            separators=dict(self.marks.most_common(20)),
        )
        return _Scan(facts, all_hashes, all_empty, sample.texts(), "invalid-utf8" not in self.seen)

    def _note(self, code: str, rows: Sequence[int], before: int) -> None:
        if rows:
            self.seen.setdefault(code, _Seen()).add(rows, before)

    def _look(self, block: bytes, lines: list[bytes]) -> None:
        """Odd bytes and separators of one block."""
        rest = block.translate(None, _ORDINARY)
        if rest:
            if not rest.isascii():
                self._check_utf8(block, lines)
            if b"\r" in rest:
                self.windows += sum(line.endswith(b"\r") for line in lines)
                self._note("carriage-return", [row for row, line in enumerate(lines) if b"\r" in line[:-1]], self.lines)
                self._note("mixed", [row for row, line in enumerate(lines) if line.endswith(b"\r")], self.lines)
            for code, patterns, _, _ in _ODD:
                found = [pattern for pattern in patterns if pattern in rest]
                if found:
                    rows = [row for row, line in enumerate(lines) if any(pattern in line for pattern in found)]
                    self._note(code, rows, self.lines)
        counted = Counter(_MARK.findall(block))
        for mark, count in counted.items():
            name = mark.decode("ascii")
            self.marks[name] += count
            if name not in self.known and (_is_separator(name) or len(self.mark_places) < _MARKS):
                seen = self.mark_places.setdefault(name, _Seen())
                seen.add([row for row, line in enumerate(lines) if mark in line], self.lines)
        if self.required:
            mark = self.required.encode("utf-8")
            without = len(lines) - sum(mark in line for line in lines)
            if without:
                self._note("no-separator", [row for row, line in enumerate(lines) if mark not in line], self.lines)

    def _check_utf8(self, block: bytes, lines: list[bytes]) -> None:
        try:
            block.decode("utf-8")
        except UnicodeDecodeError:
            self._note("invalid-utf8", [row for row, line in enumerate(lines) if not _is_utf8(line)], self.lines)

    def problems(self) -> Iterator[tuple[str, str, int, list[int], str | None]]:
        """Code, message, count, places and hint of everything odd about the file."""
        told = {
            "invalid-utf8": ("not UTF-8 text", "save it as UTF-8 text"),
            "empty-line": ("without text", None),
            "no-separator": (f"without the separator {self.required}", "is the file of another task?"),
            **{code: (f"with {what}", hint) for code, _, what, hint in _ODD},
        }
        for code, (what, hint) in told.items():
            if seen := self.seen.get(code):
                yield code, f"{quantity(seen.count, 'line')} {what}", seen.count, seen.places, hint
        yield from self._line_ends()
        if self.byte_order_mark:
            yield "byte-order-mark", "a byte order mark (U+FEFF) at the start", 1, [], None
        if not self.final_line_feed:
            yield "no-final-line-feed", "the last line has no line feed", 1, [self.lines], "was the file cut off?"
        for mark, seen in self.mark_places.items():
            often = seen.count >= _OFTEN * self.lines and seen.count > 1
            if mark.lower() in _PLAIN or not (often or _is_separator(mark)):
                continue
            code, words = "unknown-separator", "which this side does not have"
            if self.file.kind == "src" and self.task.name in UNDOCUMENTED:
                code, words = "undocumented-separator", "and which separator this side has is not documented"
            elif self.known:
                words = f"but the separator of this side is {', '.join(sorted(self.known))}"
            yield code, f"{mark} stands {quantity(self.marks[mark], 'time')}, {words}", seen.count, seen.places, None

    def _line_ends(self) -> Iterator[tuple[str, str, int, list[int], str | None]]:
        carriage = "carriage return (U+000D)"
        if self.windows and self.windows >= self.lines - (not self.final_line_feed):
            yield "windows-line-ends", f"every line ends with a {carriage}", self.windows, [], None
        elif mixed := self.seen.get("mixed"):
            told = f"{quantity(mixed.count, 'line')} with a {carriage} at the end, the others without"
            yield "carriage-return", told, mixed.count, mixed.places, "give all lines the same end"
        if inner := self.seen.get("carriage-return"):
            told = f"{quantity(inner.count, 'line')} with a {carriage} inside"
            yield "carriage-return", told, inner.count, inner.places, "take it out of the text"


def expected_separators(task: Task, kind: str) -> tuple[str | None, frozenset[str]]:
    """The separator every line of a side must have, and those it may have, as the task file tells.

    A source has between its parts what its description quotes; a target may have what joins its sentences.

    >>> from glge.tasks import load_tasks
    >>> tasks = load_tasks().tasks
    >>> expected_separators(tasks["squadqg"], "src")
    ('[SEP]', frozenset({'[SEP]'}))
    >>> expected_separators(tasks["cnndm"], "tgt"), expected_separators(tasks["xsum"], "src")
    ((None, frozenset({'<S_SEP>'})), (None, frozenset()))
    """
    if kind == "tgt":
        separator = (task.reference.separator or "").strip()
        return None, frozenset({separator} if separator else ())
    quoted = re.findall(r'"\s*([\[<][A-Z_]+[\]>])\s*"', task.source)
    return (quoted[0] if quoted else None), frozenset(quoted)


def _is_separator(mark: str) -> bool:
    """Whether a mark is a separator by its name."""
    word = mark.strip("[]<>|/").lower()
    return not word or "sep" in word or word in _SEPARATOR_WORDS


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _words(block: bytes) -> npt.NDArray[np.int32]:
    """How many words each line of a block has.

    >>> _words(b"a cat sat\\n\\n  on \\nmat").tolist()
    [3, 0, 1, 1]
    """
    values = np.frombuffer(block, np.uint8)
    text = values > 0x20
    starts = text.copy()
    starts[1:] &= ~text[:-1]
    ends = np.flatnonzero(values == 10)
    first = np.concatenate(([0], ends + 1))
    if first[-1] == len(values):
        first = first[:-1]
    return np.add.reduceat(starts, first, dtype=np.int32)


def _repeated(hashes: Hashes) -> int:
    """How many are equal to an earlier one."""
    ordered = np.sort(hashes)
    return int(np.count_nonzero(ordered[1:] == ordered[:-1]))


def _join(sources: Hashes, targets: Hashes) -> Hashes:
    """A hash for each pair; which side is which matters."""
    mixed = sources * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed += targets
    return mixed


# --- do the two sides belong together? ------------------------------------------------------------

_PARTS = 10
_FEWEST = 20  # targets of a part, below which nothing is said
_MARGIN = 0.1
_CERTAIN = 4.0  # standard errors


class _Sample:
    """Groups of neighbouring lines, spread evenly; the same line numbers for any two files of the same length."""

    def __init__(self) -> None:
        self._stride = 1
        self._lines: dict[int, bytes] = {}

    def add(self, lines: Sequence[bytes], before: int) -> None:
        after = before + len(lines)
        group = -(-(before // _GROUP) // self._stride) * self._stride
        while group * _GROUP < after:
            for row in range(max(group * _GROUP, before), min((group + 1) * _GROUP, after)):
                self._lines[row] = lines[row - before][:_CUT]
            group += self._stride
            if len(self._lines) > _GROUP * _GROUPS:
                self._stride *= 2
                self._lines = {row: line for row, line in self._lines.items() if row // _GROUP % self._stride == 0}
                group = -(-group // self._stride) * self._stride

    def texts(self) -> dict[int, str]:
        return {row: line.decode("utf-8", "replace") for row, line in self._lines.items()}


@dataclass(frozen=True)
class _Fit:
    """Share of a target's words that stand in its own and in a stranger's source; parts that fit a neighbour's."""

    own: float
    stranger: float
    unrelated: bool
    shifted: tuple[tuple[int, int], ...]


def _fit(sources: Mapping[int, str], targets: Mapping[int, str]) -> _Fit | None:
    """Compare each target of the sample with its own source, both neighbours' and a stranger's.

    In a conversation the next source holds this target as history: that is no shift, and is left out.
    """
    words = {row: _content(text) for row, text in sources.items()}
    rows = sorted(row for row in targets if row - 1 in words and row + 1 in words and row in words)
    found = []
    for place, row in enumerate(rows):
        mine = _content(targets[row])
        if len(mine) < 2:
            continue
        stranger = rows[(place + len(rows) // 2) % len(rows)]
        shares = [len(mine & words[other]) / len(mine) for other in (row, row - 1, row + 1, stranger)]
        if targets[row].strip() in sources[row + 1]:
            shares[2] = shares[0]
        found.append((row, *shares))
    if len(found) < _FEWEST:
        return None
    table_of = np.array(found)
    part = (table_of[:, 0] * _PARTS // (max(targets) + 1)).astype(int)
    shifted = []
    for number in range(_PARTS):
        here = table_of[part == number]
        if len(here) < _FEWEST or _larger(here[:, 1] - here[:, 4], 0.0):
            continue
        for column, offset in ((2, -1), (3, 1)):
            if _larger(here[:, column] - here[:, 1], _MARGIN):
                shifted.append((number, offset))
    own, stranger_share = float(table_of[:, 1].mean()), float(table_of[:, 4].mean())
    apart = abs(rows[0] - rows[len(rows) // 2]) > 1
    unrelated = apart and len(found) >= 5 * _FEWEST and not _larger(table_of[:, 1] - table_of[:, 4], 0.0)
    return _Fit(own, stranger_share, unrelated, tuple(shifted))


def _larger(differences: npt.NDArray[np.float64], margin: float) -> bool:
    """Whether differences are above 0 on average, by more than the margin and beyond chance."""
    mean = float(differences.mean())
    error = float(differences.std()) / len(differences) ** 0.5
    return mean > margin and mean > _CERTAIN * error


def _content(text: str) -> frozenset[str]:
    return frozenset(word for word in text.lower().split() if len(word) > 2 and word not in stop_words())


# --- as text --------------------------------------------------------------------------------------


def check_text(report: DataReport, *, width: int | None = None) -> str:
    """The report for a terminal: a row for each split, the problems, what can be scored and trained."""
    header = ["task", "level", "split", "lines", "Table 1", "words src", "words tgt", "empty", "repeated"]
    rows = [_row(facts) for facts in report.splits]
    text = table(header, rows, width=width, left=3)
    text += "\n" + wrap(
        "Table 1: lines more or fewer than published, = when equal. empty: lines without text on either side. "
        "repeated: pairs equal to an earlier one.",
        width=width,
    )
    if report.problems:
        text += f"\nProblems: {tally(report.problems)}\n"
        for problem in by_severity(report.problems):
            where = places(problem) if problem.places else ""
            line = f"{problem.severity}: {problem.file}: {problem.message}" + (f" ({where})" if where else "")
            text += wrap(line + (f"; {problem.hint}" if problem.hint else ""), width=width, indent="  ")
    text += "\nWhat can be done with it\n"
    uses: dict[str, dict[str, Use]] = {}
    for use in report.scorable:
        uses.setdefault(use.task, {})[use.split] = use
    every = {level for use in report.scorable for level in use.levels} | set(report_levels(report))
    rows = [
        [task, _levels(by["test"].levels, every), _levels(by["dev"].levels, every), _trained(report.trainable[task])]
        for task, by in uses.items()
    ]
    text += table(["task", "score test", "score dev", "train"], rows, width=width, left=4)
    reasons: dict[str, list[str]] = {}
    for use in report.scorable:
        if use.why:
            reasons.setdefault(use.why, []).append(use.task)
    if reasons:
        text += "\nWhy not\n"
    for why, tasks in reasons.items():
        text += wrap(f"{', '.join(dict.fromkeys(tasks))}: {why}", width=width, indent="  ")
    return text


def report_levels(report: DataReport) -> tuple[str, ...]:
    """The levels of which something lies there."""
    return tuple(dict.fromkeys(facts.level for facts in report.splits))


def _row(facts: SplitFacts) -> list[str]:
    both = [side for side in (facts.source, facts.target) if side is not None]
    lines = [f"{side.lines:,}" for side in both]
    return [
        facts.task,
        facts.level,
        facts.split,
        " / ".join(dict.fromkeys(lines)),
        "=" if not facts.difference else f"{facts.difference:+,}",
        f"{facts.source.mean_words:.1f}" if facts.source else MISSING,
        f"{facts.target.mean_words:.1f}" if facts.target else MISSING,
        f"{sum(side.empty for side in both):,}",
        f"{facts.repeated_pairs:,}" if facts.repeated_pairs is not None else MISSING,
    ]


def _levels(levels: Sequence[str], every: set[str]) -> str:
    if not levels:
        return "no"
    return "yes" if set(levels) >= every else f"only {', '.join(levels)}"


def _trained(levels: Sequence[str]) -> str:
    return ", ".join(levels) or "no"
