"""Medium, medium+ and hard from easy, by section 4 of the paper; only the training data differ.

    medium    a random 50 % of easy's training pairs
    hard      the 25 % of easy's training pairs with the smallest word-frequency score, in their order
    medium+   the same with 50 %

    score(y) = sum of TF(w) over the tokens w of y / |y|

y is a training target without its stop words, TF(w) how often the token w stands in all test targets,
|y| the number of tokens of y. What the paper leaves open is an option of `LevelOptions`, and every
choice is in the manifest. docs/data-levels.md says what is known, what is not, and how much it matters.

Medium's draw gives each pair a 64-bit number, the raw output of PCG64 seeded with (seed, CRC-32 of the
task's name), and keeps the pairs with the smallest. NumPy promises that the raw output never changes,
which it does not of `permutation` or `choice`: the draw is the same on every platform and version.

A training file is read in blocks and never held whole.
"""

from __future__ import annotations

import contextlib
import shutil
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import BinaryIO, Literal, get_args, get_type_hints

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from glge.errors import DataError, GlgeError, NoReferences, did_you_mean
from glge.lines import printable
from glge.preparation.layout import (
    BYTE_ORDER_MARK,
    DataFile,
    Hasher,
    decode_block,
    find_file,
    lines_of,
    read_blocks,
    relative,
    unreadable_format,
)
from glge.preparation.manifest import NAME as MANIFEST
from glge.preparation.manifest import FileHash, Manifest, Option, Step, hash_file
from glge.preparation.output import OutputFolder
from glge.preparation.tables import shorten, table, wrap
from glge.references import read_references
from glge.reports.wording import MISSING, quantity
from glge.tasks import Benchmark, Task, load_tasks

Progress = Callable[[str, int, int], None]
Rows = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]

EASY = "easy"
MEDIUM = "medium"
SHARES: Mapping[str, Fraction] = {MEDIUM: Fraction(1, 2), "medium+": Fraction(1, 2), "hard": Fraction(1, 4)}
LEVELS = tuple(SHARES)
BY_SCORE = tuple(level for level in LEVELS if level != MEDIUM)
COPIED = ("dev.src", "dev.tgt", "test.src")  # never test.tgt: the gold stays where it is
DRAW = "pcg64-raw, seeded with (seed, crc32 of the task's name)"

# Brackets as the Penn Treebank writes them: punctuation in spite of their letters.
_BRACKETS = frozenset(f"-{side}{kind}b-" for side in "lr" for kind in "rcs")
_LEFT_OUT = -1
_ENDS = -2
_LINE_END = "\ue000"
_VOCABULARY = 2_000_000  # token types remembered; a type beyond is looked at each time it comes
_QUANTILES = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
_BINS = 20
_NARROW = 70  # columns


@dataclass(frozen=True)
class LevelOptions:
    """What the paper leaves open about the three levels. GlgeError for a value that is not known.

    >>> LevelOptions().score, LevelOptions(empty="drop").empty
    ('mean', 'drop')
    >>> LevelOptions(score="maen")
    Traceback (most recent call last):
    glge.errors.GlgeError: score: there is no 'maen'; did you mean 'mean'?
    """

    # Whether stop words are taken out of a training target. The paper says so.
    stop_words: Literal["remove", "keep"] = "remove"
    # Whether tokens without a letter or digit, and -LRB- and its like, are taken out too. The paper: stop words only.
    punctuation: Literal["keep", "remove"] = "keep"
    # Whether the mark between sentences (cnndm's <S_SEP>) is taken out. It is no token of the text.
    separators: Literal["remove", "keep"] = "remove"
    # Whether TF and stop words, or stop words alone, are compared in lower case. The paper: "each token".
    case: Literal["keep", "fold", "fold-stop-words"] = "keep"
    # The paper divides by |y|.
    score: Literal["mean", "sum"] = "mean"
    # Where a target goes of which nothing is left. It shares no word with the test targets: before all others.
    empty: Literal["first", "last", "drop"] = "first"
    # In whose targets TF is counted. The paper says test.
    statistic: Literal["test", "dev"] = "test"
    # How a number of pairs becomes whole; "round" takes a half up.
    rounding: Literal["floor", "round", "ceil"] = "floor"

    def __post_init__(self) -> None:
        for name, choices in option_choices().items():
            value = getattr(self, name)
            if value not in choices:
                raise GlgeError(f"{name.replace('_', ' ')}: there is no {value!r}", hint=did_you_mean(value, choices))


@cache
def option_choices() -> dict[str, tuple[str, ...]]:
    """Every option with its values, the default first."""
    return {name: get_args(kind) for name, kind in get_type_hints(LevelOptions).items()}


def pairs_wanted(pairs: int, level: str, rounding: str) -> int:
    """How many of easy's training pairs a level keeps.

    >>> [pairs_wanted(75_722, "hard", rounding) for rounding in ("floor", "round", "ceil")]
    [18930, 18931, 18931]
    >>> pairs_wanted(0, "hard", "ceil"), pairs_wanted(1, "medium", "floor")
    (0, 0)
    """
    exact = pairs * SHARES[level]
    if rounding == "floor":
        return exact.numerator // exact.denominator
    if rounding == "ceil":
        return -(-exact.numerator // exact.denominator)
    return (2 * exact.numerator + exact.denominator) // (2 * exact.denominator)


# --- the two ways to choose -----------------------------------------------------------------------


def draw_rows(pairs: int, wanted: int, *, seed: int, task: str) -> Rows:
    """The rows (from 0) of medium: so many of `pairs` at random, ascending, the same on every platform.

    >>> draw_rows(8, 4, seed=1, task="coqa").tolist()
    [1, 2, 5, 7]
    >>> draw_rows(0, 0, seed=1, task="coqa").tolist()
    []
    """
    if seed < 0:
        raise GlgeError(f"the seed must not be negative: {seed}")
    generator = np.random.PCG64(np.random.SeedSequence([seed, zlib.crc32(task.encode("utf-8"))]))
    keys = np.atleast_1d(np.asarray(generator.random_raw(pairs), dtype=np.uint64))
    return np.sort(np.argsort(keys, kind="stable")[:wanted])


@dataclass(frozen=True)
class TargetScores:
    """The word-frequency scores of all training targets, in their order.

    `scores`: -inf where nothing is left of a target and it goes first, +inf where it goes last or is dropped.
    `words`: how many tokens are left of it.
    """

    scores: Scores
    words: npt.NDArray[np.int32]
    empty: str

    @property
    def dropped(self) -> int:
        """How many targets can never be chosen."""
        return int(np.count_nonzero(self.words == 0)) if self.empty == "drop" else 0

    def order(self) -> Rows:
        """All rows that can be chosen, smallest score first, equal ones in their order."""
        return np.argsort(self.scores, kind="stable")[: len(self.scores) - self.dropped]


def score_targets(file: DataFile, weights: Weights, *, tell: Callable[[int], None] | None = None) -> TargetScores:
    """Score every line of a file of training targets. DataError when it is not UTF-8."""
    sums: list[Rows] = []
    words: list[npt.NDArray[np.int32]] = []
    before = 0
    weigh = weights.__getitem__
    for block in read_blocks(file):
        text = decode_block(block, file, before)
        if not text.endswith("\n"):
            text += "\n"
        if weights.fold:
            text = text.lower()
        # One split for the whole block: an object a line would cost more than all the rest.
        end = _LINE_END
        while end in text:
            end += _LINE_END
        weights[end] = _ENDS
        tokens = text.replace("\n", f" {end} ").split()
        values = np.fromiter(map(weigh, tokens), np.int64, len(tokens))
        del weights[end]  # in another block it may be a word
        ends = np.flatnonzero(values == _ENDS)
        left = values >= 0
        values[~left] = 0
        sums.append(np.diff(np.cumsum(values)[ends], prepend=0))
        words.append(np.diff(np.cumsum(left)[ends], prepend=0).astype(np.int32))
        before += len(ends)
        if tell:
            tell(len(block))
    total = np.concatenate(sums) if sums else np.zeros(0, np.int64)
    count = np.concatenate(words) if words else np.zeros(0, np.int32)
    options = weights.options
    # A quotient of two whole numbers this small is the same float for the same fraction: ties are true ties.
    scores = total / np.maximum(count, 1) if options.score == "mean" else total.astype(np.float64)
    scores[count == 0] = -np.inf if options.empty == "first" else np.inf
    return TargetScores(scores, count, options.empty)


class Weights(dict[str, int]):
    """What each token of a training target adds: its frequency in the test targets, or that it is left out."""

    def __init__(self, targets: Iterable[str], options: LevelOptions, separator: str | None = None) -> None:
        super().__init__()
        self.options = options
        self.fold = options.case == "fold"
        separator = separator.strip() if separator else None
        self._separator = separator.lower() if separator and self.fold else separator
        self._frequencies: Counter[str] = Counter()
        for target in targets:
            self._frequencies.update((target.lower() if self.fold else target).split())

    def __missing__(self, token: str) -> int:
        weight = _LEFT_OUT if self.leaves_out(token) else self._frequencies.get(token, 0)
        if len(self) < _VOCABULARY:
            self[token] = weight
        return weight

    def leaves_out(self, token: str) -> bool:
        """Whether this token of a target is none of y."""
        options = self.options
        if token == self._separator:
            return options.separators == "remove"
        if options.stop_words == "remove":
            word = token.lower() if options.case == "fold-stop-words" else token
            if word in stop_words():
                return True
        return options.punctuation == "remove" and is_punctuation(token)


@cache
def stop_words() -> frozenset[str]:
    """The 179 English stop words, from the file beside this one."""
    return frozenset(Path(__file__).with_name("stopwords.txt").read_text(encoding="utf-8").split())


def is_punctuation(token: str) -> bool:
    """Whether a token has no letter and no digit, or is a bracket of the Penn Treebank.

    >>> [is_punctuation(token) for token in ("``", "-LRB-", "#", "don't", "é", "")]
    [True, True, True, False, False, True]
    """
    return not any(map(str.isalnum, token)) or token.lower() in _BRACKETS


# --- making the levels ----------------------------------------------------------------------------


def make_levels(
    root: Path,
    out: Path,
    *,
    seed: int = 0,
    options: LevelOptions | None = None,
    levels: Sequence[str] = LEVELS,
    tasks: Sequence[str] | None = None,
    with_dev_and_test: bool = False,
    force: bool = False,
    benchmark: Benchmark | None = None,
    progress: Progress | None = None,
) -> dict[str, Manifest]:
    """Write train.src and train.tgt of the levels below `out`, with a manifest beside them.

    `tasks`: None takes every task whose easy training data lie in `root`. `with_dev_and_test` copies dev and
    test.src of easy beside them; readers look for these in easy anyway. The answer has a manifest for each
    `{level}/{task}`. `progress(task, done, total)` counts megabytes.

    All levels of a task appear together or not at all; tasks that were finished before a fault stay. Raises
    DataError: no easy training data; no test targets; sources and targets of different number; data of a level
    there already (`force` replaces what lies in `out`); a full disk.
    """
    options = options or LevelOptions()
    benchmark = benchmark or load_tasks()
    for level in levels:
        if level not in LEVELS:
            raise GlgeError(f"{level!r} is no level that is made from easy", hint=did_you_mean(level, LEVELS))
    if MEDIUM in levels and seed < 0:
        raise GlgeError(f"the seed must not be negative: {seed}")
    pairs = _training_pairs(root, tasks, benchmark)
    _refuse_existing(out, pairs, levels, force)
    total = sum(source.path.stat().st_size + 2 * target.path.stat().st_size for source, target in pairs.values())
    counter = _Megabytes(total, progress)
    made: dict[str, Manifest] = {}
    for name, (source, target) in pairs.items():
        counter.what = name
        made |= _make_task(
            _Job(root, out, benchmark.task(name), source, target, options, seed, force),
            [level for level in LEVELS if level in levels],
            _to_copy(root, name) if with_dev_and_test else {},
            counter.add,
        )
    return made


@dataclass(frozen=True)
class _Job:
    """What the levels of one task are made from."""

    root: Path
    out: Path
    task: Task
    source: DataFile
    target: DataFile
    options: LevelOptions
    seed: int
    force: bool


class _Megabytes:
    """Tells the progress in megabytes when another one is done."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self.what = ""
        self._total = (total >> 20) + 1
        self._progress = progress
        self._done = 0
        self._told = -1

    def add(self, size: int) -> None:
        self._done += size
        if self._progress and self._done >> 20 != self._told:
            self._told = self._done >> 20
            self._progress(self.what, min(self._told, self._total), self._total)


def _training_pairs(
    root: Path, tasks: Sequence[str] | None, benchmark: Benchmark
) -> dict[str, tuple[DataFile, DataFile]]:
    """Easy's training files of the tasks asked for, or of all that are there."""
    found = {}
    for name in dict.fromkeys(tasks) if tasks is not None else benchmark.tasks:
        benchmark.task(name)
        sides = [find_file(root, EASY, name, "train", kind) for kind in ("src", "tgt")]
        source, target = sides
        if source and target:
            for side in (source, target):
                form = unreadable_format(side.path)
                if form is not None:
                    raise DataError(f"this is {form.name}, not UTF-8 text", file=side.name, hint=form.hint)
                if not side.path.stat().st_size:
                    raise DataError("the file is empty (0 bytes)", file=side.name, hint="fetch the file again")
            found[name] = (source, target)
        elif source or target or tasks is not None:
            kind = "src" if target else "tgt"
            raise NoReferences(
                f"the levels of {name} are made from easy's training data, of which "
                f"{relative(EASY, name, 'train', kind)} is missing",
                file=printable(str(root)),
                hint="give the folder that holds easy/, or the unpacked archive",
            )
    if not found:
        raise NoReferences(
            "no training data of level easy lie here, from which the levels are made",
            file=printable(str(root)),
            hint="give the folder that holds easy/, or the unpacked archive",
        )
    return found


def _refuse_existing(out: Path, tasks: Collection[str], levels: Sequence[str], force: bool) -> None:
    """What is there is never replaced, and never hidden from a reader that looks into `out` first."""
    if force:
        return
    there = [
        file.name
        for task in tasks
        for level in levels
        for kind in ("src", "tgt")
        if (file := find_file(out, level, task, "train", kind)) is not None
    ]
    there += [
        name
        for task in tasks
        for level in levels
        if (out / (name := relative(level, task, "train", "src").replace("train.src", MANIFEST))).exists()
    ]
    if there:
        more = f" and {len(there) - 1} more" if len(there) > 1 else ""
        raise DataError(
            f"already there: {there[0]}{more}",
            file=printable(str(out)),
            hint="give --force to replace what lies there, or another --out",
        )


def _to_copy(root: Path, task: str) -> dict[str, DataFile]:
    """Dev and test.src of easy, as far as they are there."""
    files = {name: find_file(root, EASY, task, *name.split(".")) for name in COPIED}
    return {name: file for name, file in files.items() if file is not None}


def _make_task(
    job: _Job, levels: Sequence[str], copied: Mapping[str, DataFile], tell: Callable[[int], None]
) -> dict[str, Manifest]:
    chosen, steps, statistic = _choose(job, levels, tell)
    places = {level: job.out / Path(relative(level, job.task.name, "train", "src")).parent for level in levels}
    names = ("train.src", "train.tgt", *copied, MANIFEST)
    made = {}
    with contextlib.ExitStack() as stack:
        folders = {
            level: stack.enter_context(OutputFolder(place, names=names, force=job.force))
            for level, place in places.items()
        }
        read: list[FileHash] = []
        written: dict[str, list[FileHash]] = {level: [] for level in levels}
        for name, file in (("train.src", job.source), ("train.tgt", job.target)):
            read.append(_copy_rows(file, name, chosen, folders, written, tell))
        source, target = read
        if source.lines != target.lines:
            raise DataError(
                f"sources and targets differ in number: {source.name} has {quantity(source.lines or 0, 'line')}, "
                f"{target.name} has {quantity(target.lines or 0, 'line')}",
                hint="both come from the same release: fetch the shorter one again",
            )
        for name, file in copied.items():
            for level, folder in folders.items():
                shutil.copyfile(file.path, folder.path(name))
                written[level].append(hash_file(folder.path(name), name, lines=True))
        for level, folder in folders.items():
            by_score = level != MEDIUM
            manifest = Manifest(
                command="data levels",
                task=job.task.name,
                level=level,
                seed=None if by_score else job.seed,
                options=_told_options(job.options, level),
                # Which characters are letters, blanks or capitals.
                versions={"unicode": unicodedata.unidata_version} if by_score else {},
                inputs=(*read, *([statistic] if by_score and statistic else [])),
                steps=steps[level],
                outputs=tuple(written[level]),
            )
            with folder.open(MANIFEST) as stream:
                stream.write(manifest.text())
            made[f"{level}/{job.task.name}"] = manifest
    return made


def _told_options(options: LevelOptions, level: str) -> dict[str, Option]:
    """The options that concern a level, and its share."""
    share: dict[str, Option] = {"share": float(SHARES[level])}
    if level == MEDIUM:
        return {**share, "draw": DRAW, "rounding": options.rounding}
    return {**share, **asdict(options)}


def _choose(
    job: _Job, levels: Sequence[str], tell: Callable[[int], None]
) -> tuple[dict[str, Rows], dict[str, tuple[Step, ...]], FileHash | None]:
    """The rows of each level, how they came about, and the file TF was counted in."""
    chosen: dict[str, Rows] = {}
    steps: dict[str, tuple[Step, ...]] = {}
    scored: TargetScores | None = None
    statistic: FileHash | None = None
    if any(level != MEDIUM for level in levels):
        weights, statistic = read_weights(job.root, job.task, job.options)
        scored = score_targets(job.target, weights, tell=tell)
        order = scored.order()
        pairs = len(scored.scores)
    else:
        pairs = 0
        for block in read_blocks(job.target):
            pairs += len(lines_of(block))
            tell(len(block))
    for level in levels:
        wanted = pairs_wanted(pairs, level, job.options.rounding)
        if level == MEDIUM:
            chosen[level] = draw_rows(pairs, wanted, seed=job.seed, task=job.task.name)
            last = Step(name="draw", kept=len(chosen[level]), dropped={"not drawn": pairs - len(chosen[level])})
        else:
            assert scored is not None
            wanted = min(wanted, len(order))
            chosen[level] = np.sort(order[:wanted])
            last = Step(name="keep the smallest scores", kept=wanted, dropped=_dropped(scored, order, wanted))
        steps[level] = (Step(name="read easy's training pairs", kept=pairs), last)
    return chosen, steps, statistic


def _dropped(scored: TargetScores, order: Rows, wanted: int) -> dict[str, int]:
    """Why the pairs behind the cut were not kept."""
    reasons = {"no words left": scored.dropped}
    if wanted:
        behind = scored.scores[order[wanted:]]
        ties = int(np.count_nonzero(behind == scored.scores[order[wanted - 1]]))
        reasons |= {"same score, but later in the file": ties, "larger score": len(behind) - ties}
    else:
        reasons |= {"larger score": len(order)}
    return {reason: count for reason, count in reasons.items() if count}


def read_weights(root: Path, task: Task, options: LevelOptions) -> tuple[Weights, FileHash]:
    """TF in the targets of test or dev, and the file they are in; NoReferences when it is not there."""
    try:
        references = read_references(root, task, EASY, options.statistic, with_sources=False, size_limit=None)
    except NoReferences as error:
        hint = error.hint
        if options.statistic == "test":
            hint = "they come in the second archive; --statistic dev counts in the dev targets instead"
        raise NoReferences(error.message, file=error.file, hint=hint) from None
    file = find_file(root, EASY, task.name, options.statistic, "tgt")
    assert file is not None
    weights = Weights(references.targets, options, task.reference.separator)
    return weights, hash_file(file.path, file.name, lines=True)


def _copy_rows(
    file: DataFile,
    name: str,
    chosen: Mapping[str, Rows],
    folders: Mapping[str, OutputFolder],
    written: Mapping[str, list[FileHash]],
    tell: Callable[[int], None],
) -> FileHash:
    """Write the chosen rows of a file into every level's folder, bytes as they are; the input's entry."""
    whole = Hasher()
    with contextlib.ExitStack() as stack:
        outputs: dict[str, tuple[BinaryIO, Hasher]] = {
            level: (stack.enter_context(folder.path(name).open("xb")), Hasher()) for level, folder in folders.items()
        }
        before = 0
        for block in read_blocks(file, keep_mark=True):
            lines = lines_of(block)
            if not before:
                lines[0] = lines[0].removeprefix(BYTE_ORDER_MARK)
            after = before + len(lines)
            for level, (stream, hasher) in outputs.items():
                rows = chosen[level]
                here = rows[np.searchsorted(rows, before) : np.searchsorted(rows, after)] - before
                if len(here):
                    data = b"\n".join([lines[row] for row in here.tolist()]) + b"\n"
                    stream.write(data)
                    hasher.add(data, len(here))
            whole.add(block, len(lines))
            before = after
            tell(len(block))
    for level, (_, hasher) in outputs.items():
        written[level].append(hasher.result(name))
    return whole.result(file.name)


# --- explaining a cut -----------------------------------------------------------------------------


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Bin(_Entry):
    """Scores from `low` (included) to `high` (not included; None: no end), and how many pairs have and keep them."""

    low: float
    high: float | None
    pairs: int
    kept: int


class Near(_Entry):
    """A training target near the cut: its rank among the scores and its line, both from 1."""

    rank: int
    line: int
    score: float | None
    words: int
    target: str


class Explanation(_Entry):
    """How the scores of a task's training targets lie, where a level cuts, and what is near the cut.

    Scores are mean (or sum of) frequencies in the statistic's targets. `pairs` = `scored` + `empty`; `kept` of
    them are in the level; `cut` is the largest score kept, which `ties` pairs have, `ties_kept` of them kept.
    """

    explanation_version: str = "1.0"
    task: str
    level: str
    options: dict[str, Option]
    statistic: str
    pairs: int
    empty: int
    scored: int
    zero: int
    kept: int
    cut: float | None
    ties: int
    ties_kept: int
    quantiles: tuple[tuple[float, float], ...]
    bins: tuple[Bin, ...]
    inside: tuple[Near, ...]
    outside: tuple[Near, ...]

    def text(self) -> str:
        """The JSON form, ending in a line feed."""
        return self.model_dump_json(indent=2) + "\n"


def explain(
    root: Path,
    task: str,
    *,
    level: str = "hard",
    options: LevelOptions | None = None,
    near: int = 10,
    benchmark: Benchmark | None = None,
    progress: Progress | None = None,
) -> Explanation:
    """The distribution of a task's word-frequency scores, the cut of a level, and the targets on either side of it.

    Only training targets are shown, which are public. Raises as `make_levels`.
    """
    options = options or LevelOptions()
    benchmark = benchmark or load_tasks()
    if level not in BY_SCORE:
        raise GlgeError(f"{level} has no scores to explain", hint=f"levels made by score: {', '.join(BY_SCORE)}")
    found = benchmark.task(task)
    _, target = _training_pairs(root, [task], benchmark)[task]
    counter = _Megabytes(2 * target.path.stat().st_size, progress)
    counter.what = task
    weights, statistic = read_weights(root, found, options)
    scored = score_targets(target, weights, tell=counter.add)
    order = scored.order()
    kept = min(pairs_wanted(len(scored.scores), level, options.rounding), len(order))
    ranks = range(max(kept - near, 0), min(kept + near, len(order)))
    texts = _read_rows(target, {int(order[rank]) for rank in ranks}, counter.add)
    shown = [_near(scored, int(order[rank]), rank, texts) for rank in ranks]
    cut = float(scored.scores[order[kept - 1]]) if kept else None
    with_words = scored.words > 0
    values = np.sort(scored.scores[with_words])
    inside = np.zeros(len(scored.scores), bool)
    inside[order[:kept]] = True
    same = scored.scores[order] == cut
    return Explanation(
        task=task,
        level=level,
        options=_told_options(options, level),
        statistic=statistic.name,
        pairs=len(scored.scores),
        empty=int(np.count_nonzero(~with_words)),
        scored=len(values),
        zero=int(np.count_nonzero(values == 0)),
        kept=kept,
        cut=cut if cut is not None and np.isfinite(cut) else None,
        ties=int(np.count_nonzero(same)),
        ties_kept=int(np.count_nonzero(same[:kept])),
        quantiles=tuple((share, float(np.quantile(values, share))) for share in _QUANTILES) if len(values) else (),
        bins=_bins(scored.scores[with_words], inside[with_words]),
        inside=tuple(row for row in shown if row.rank <= kept),
        outside=tuple(row for row in shown if row.rank > kept),
    )


def _near(scored: TargetScores, row: int, rank: int, texts: Mapping[int, str]) -> Near:
    words = int(scored.words[row])
    return Near(
        rank=rank + 1,
        line=row + 1,
        score=float(scored.scores[row]) if words else None,
        words=words,
        target=texts[row],
    )


def _read_rows(file: DataFile, rows: set[int], tell: Callable[[int], None]) -> dict[int, str]:
    """The texts of a few rows."""
    texts = {}
    wanted = sorted(rows)
    before = 0
    for block in read_blocks(file):
        lines = lines_of(block)
        while wanted and wanted[0] < before + len(lines):
            row = wanted.pop(0)
            texts[row] = lines[row - before].decode("utf-8")
        before += len(lines)
        tell(len(block))
        if not wanted:
            break
    return texts


def _bins(scores: Scores, kept: npt.NDArray[np.bool_]) -> tuple[Bin, ...]:
    """Twenty bins of the same width up to the 95 % quantile, and one for the long tail behind it."""
    if not len(scores):
        return ()
    top = float(np.quantile(scores, 0.95))
    edges = np.linspace(0.0, top or 1.0, _BINS + 1)
    place = np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, _BINS)
    pairs = np.bincount(place, minlength=_BINS + 1)
    inside = np.bincount(place[kept], minlength=_BINS + 1)
    highs = [*(float(edge) for edge in edges[1:]), None]
    return tuple(
        Bin(low=float(edges[number]), high=highs[number], pairs=int(pairs[number]), kept=int(inside[number]))
        for number in range(_BINS + 1)
    )


# --- as text --------------------------------------------------------------------------------------


_EMPTY = {"first": "go first", "last": "go last", "drop": "dropped"}


def levels_text(made: Mapping[str, Manifest], out: str, *, width: int | None = None) -> str:
    """What `make_levels` wrote: a row for each level and task, and what was left out."""
    rows = []
    for manifest in made.values():
        first, last = manifest.steps
        ties = last.dropped.get("same score, but later in the file", 0)
        empty = last.dropped.get("no words left", 0)
        rows.append(
            [
                manifest.task or "",
                manifest.level or "",
                f"{first.kept:,}",
                f"{last.kept:,}",
                f"{100 * last.kept / first.kept:.1f} %" if first.kept else MISSING,
                f"{ties:,}" if manifest.level != MEDIUM else MISSING,
                f"{empty:,}" if manifest.level != MEDIUM else MISSING,
            ]
        )
    header = ["task", "level", "easy", "kept", "share", "ties cut", "empty dropped"]
    text = table(header, rows, width=width, left=2)
    seeds = sorted({manifest.seed for manifest in made.values() if manifest.seed is not None})
    text += "\n" + wrap(f"Written to {printable(out)}, with a {MANIFEST} in each folder.", width=width)
    return text + (wrap(f"Medium was drawn with seed {seeds[0]}.", width=width) if seeds else "")


def explanation_text(explanation: Explanation, *, width: int | None = None) -> str:
    """The explanation for a terminal: summary, histogram, quantiles, the lines on either side of the cut."""
    it = explanation
    unit = "mean frequency of a target's words" if it.options["score"] == "mean" else "summed frequency of the words"
    text = wrap(f"{it.task}, {it.level}: {unit} in {it.statistic}", width=width)
    told = ", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in it.options.items() if name != "share")
    text += wrap(told, width=width) + "\n"
    text += table(
        ["", ""],
        [
            ["training pairs", f"{it.pairs:,}"],
            ["kept", f"{it.kept:,}"],
            ["cut: largest score kept", _score(it.cut) if it.cut is not None else MISSING],
            ["pairs with exactly this score", f"{it.ties:,}"],
            ["  of them kept (the first ones)", f"{it.ties_kept:,}"],
            ["score 0: no word in common", f"{it.zero:,}"],
            [f"no words left ({_EMPTY[str(it.options['empty'])]})", f"{it.empty:,}"],
        ],
    ).lstrip("\n")
    if it.bins:
        text += "\n" + _histogram(it.bins, width) + "\n"
        text += table(["share of pairs", "score"], [[f"{100 * q:g} %", _score(value)] for q, value in it.quantiles])
    for title, rows in (("Last inside", it.inside), ("First outside", it.outside)):
        text += f"\n{title}\n" + (_near_text(rows, width) if rows else "none\n")
    return text


def _score(value: float | None) -> str:
    return MISSING if value is None else f"{value:,.2f}"


def _near_text(rows: Sequence[Near], width: int | None) -> str:
    """Targets beside their figures, or below them where the width does not hold both."""
    narrow = width is not None and width < _NARROW
    room = max((width or 120) - (2 if narrow else 36), 20)
    cells = [
        [f"{row.rank:,}", f"{row.line:,}", _score(row.score), str(row.words), shorten(row.target, room)] for row in rows
    ]
    if narrow:
        return "".join(
            wrap(f"{rank}: line {line}, score {score}, words {words}", width=width) + f"  {target}\n"
            for rank, line, score, words, target in cells
        )
    wide = max(len(row[-1]) for row in cells)
    header = ["rank", "line", "score", "words", "target".ljust(wide)]
    return table(header, [[*row[:-1], row[-1].ljust(wide)] for row in cells], left=0)


def _histogram(bins: Sequence[Bin], width: int | None) -> str:
    """A bar for each bin: kept pairs full, the others light."""
    labels = [f"{_score(bin.low)} to {_score(bin.high)}" if bin.high is not None else "above" for bin in bins]
    wide = max(map(len, labels))
    counts = max(len(f"{bin.pairs:,}") for bin in bins)
    room = min(max((width or 80) - wide - counts - 4, 5), 50)
    most = max(bin.pairs for bin in bins) or 1
    lines = []
    for label, bin in zip(labels, bins, strict=True):
        length = -(-bin.pairs * room // most)
        full = -(-bin.kept * room // most) if bin.kept else 0
        bar = "█" * full + "░" * (length - full)
        lines.append(f"{label.rjust(wide)}  {bin.pairs:>{counts},}  {bar}".rstrip())
    head = f"{'score'.rjust(wide)}  {'pairs'.rjust(counts)}  █ kept  ░ not kept"
    return "".join(f"{line}\n" for line in (head, *lines))
