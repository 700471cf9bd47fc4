"""Task files of one's own: `new_task` writes a commented one, `check_task` says everything that is wrong with one.

A folder made by `new_task` holds the task's YAML and a `benchmark.yaml` that extends the built-in benchmark, so that
`--tasks-folder FOLDER` gives the eight tasks and one's own beside them. Such a benchmark has a name of its own: its
score is the mean of all its tasks, and is never called the GLGE score.
"""

from __future__ import annotations

import json
import math
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

from glge.errors import GlgeError, Problem, RegistryError, Severity
from glge.metrics import METRICS
from glge.reports.files import write
from glge.results import Score
from glge.rules import RULES
from glge.scoring import Items, make_items, score_metric
from glge.tasks import BENCHMARK_FILE, BUILT_IN, MetricEntry, Task, built_in_folder, examine_task, load_tasks

CODE = "task-file"  # of every problem that `check_task` gives
RESERVED = ("benchmark", "check", "new")

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_LONGEST_NAME = 40

# What `new_task` leaves for its user to say.
_BLANKS = {
    "title": "A short title",
    "family": "a kind of task",
    "description": "Say in one sentence what a system is asked to do.",
    "source": "what a line of a .src file holds",
    "target": "what a line of a .tgt file and of a prediction file holds",
    "sources": "Who made the data, and where they are described",
}

_TASK = """\
# A task of your own. Read from top to bottom, this file is the recipe from two files of lines to a score.
# `glge tasks check {file}` says whether it can be used; docs/own-task.md goes through it step by step.

# The name of this file. Predictions are called {name}.LEVEL.test, the folder of references {name}_data.
name: {name}
# Stands in the signature of every figure: raise it whenever a change below can move one.
version: 1

# For people: what tables and `glge tasks` show.
title: {title}
family: {family} # summarization, question generation, question answering, dialogue, or your own word
description: {description}
source: {source}
target: {target}

# How many lines there are. Without references `glge validate` counts predictions by `test` (or `dev`); 0 where there
# is no such split.
sizes: {{ train: 0, dev: 0, test: 100 }}
# The mean number of words a line; information only.
mean_words: {{ source: 20.0, target: 10.0 }}

# What is done to each line of either side before it is scored: names of rules, one after the other.
# Known rules: {rules}
prediction:
  # separator: "[SEP]" # what joins several sentences in a line, if anything does; cutting there is a rule's work
  rules: [strip]
reference:
  # empty: error # an empty reference is a fault of the data; without this line it is allowed
  rules: [strip]

# Lines with the same source as one item, with all their references and the last prediction. Leave it out, and each
# line is an item.
# grouping: {{ by: source, rules: [strip] }}

# The metrics. The task's score is the mean of those that count, each on the 0-100 scale.
#   name     the key inside this task; it stands once
#   metric   whose definition it is: a name that `glge metrics` lists, or that of an installed plug-in
#   shown    the name in tables
#   variant  the metric's own settings, {{ key: value }}; docs/metrics/ has them
#   counted  false for a figure that only stands beside
# Known metrics: {metrics}
metrics:
  - {{ name: rougeL, metric: coco_rougeL, shown: R-L }}
  - {{ name: bleu4, metric: coco_bleu4, shown: B-4, counted: false }}

# Further sets of metrics by name, for `glge score --profile NAME`; the key may be left out.
# profiles:
#   mine:
#     - {{ name: f1, metric: f1, shown: F1 }}

# Where data and recipe come from: a list.
sources:
  - {sources}
"""

_BENCHMARK = """\
# The built-in benchmark and tasks of one's own, for `--tasks-folder` or GLGE_TASKS.
# A score of this benchmark is the mean of all its tasks under the name below. The GLGE score is that of the eight
# alone: score without --tasks-folder for it.
name: {name}
version: 1
title: {title}
# The built-in tasks come first, in their order; levels and weights are theirs.
extends: builtin
# Your own tasks. Each needs its file in this folder.
tasks: [{task}]
sources:
  - "GLGE, and what the task files name"
"""


@dataclass(frozen=True)
class Trial:
    """What one metric makes of the two lines of a dry run: its score, or None when it failed."""

    shown: str  # with the profile before it, unless that is the official one
    score: Score | None

    def __str__(self) -> str:
        if self.score is None:
            return f"{self.shown}: failed"
        if self.score.value is None:
            return f"{self.shown}: not tried, {self.score.missing}"
        return f"{self.shown}: {self.score.value:.2f}   {self.score.signature}"


@dataclass(frozen=True)
class TaskCheck:
    """What `check_task` found. `task` is None when the file's keys are wrong; then nothing was tried."""

    file: str
    task: Task | None
    problems: tuple[Problem, ...]
    texts: tuple[tuple[str, str], ...] = ()  # prediction and reference of the dry run after the rules, by line
    trials: tuple[Trial, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether the task can be scored."""
        return self.task is not None and not any(problem.severity == "error" for problem in self.problems)

    def lines(self) -> list[str]:
        """The dry run in words: texts, then figures. Problems are not among them."""
        told = []
        for number, (prediction, reference) in enumerate(self.texts, 1):
            told += [f"line {number} predicted: {prediction!r}", f"line {number} reference: {reference!r}"]
        return [*told, *map(str, self.trials)]


# --- writing --------------------------------------------------------------------------------------


def new_task(name: str, folder: str | Path, *, force: bool = False) -> list[Path]:
    """Write FOLDER/NAME.yaml with a comment on every key, and a benchmark.yaml that lists it; the files written.

    Files are written whole or not at all. A benchmark.yaml that is there gets the name put into its list of tasks
    when that is one line `tasks: [...]`, and is otherwise left as it is. Raises RegistryError when the name cannot
    be a task's, is taken, or the file is there already (unless `force`), GlgeError when the disk says no.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = [path.name for path in new_task("riddles", folder)]
    ...     sound = check_task(Path(folder) / "riddles.yaml").sound
    >>> written, sound
    (['riddles.yaml', 'benchmark.yaml'], True)
    >>> new_task("coqa", "mine")
    Traceback (most recent call last):
        ...
    glge.errors.RegistryError: 'coqa' is a built-in task; choose another name
    """
    place = Path(folder).expanduser()
    check_name(name)
    if place.resolve() == built_in_folder().resolve():
        raise RegistryError(
            "this is the folder of the built-in tasks", file=str(place), hint="name a folder of your own; it is made"
        )
    if name in load_tasks(built_in_folder()).tasks:
        raise RegistryError(f"{name!r} is a built-in task", hint="choose another name")
    file = place / f"{name}.yaml"
    if file.exists() and not force:
        raise RegistryError("the file is there already", file=str(file), hint="--force writes it anew")
    listing = _listing(place, name)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GlgeError(f"the folder cannot be made: {error.strerror or error}", file=str(place)) from None
    write(_task_text(name), file)
    if listing is None:
        return [file]
    write(listing, place / BENCHMARK_FILE)
    return [file, place / BENCHMARK_FILE]


def check_name(name: str) -> None:
    """RegistryError unless a task can be called so: its name stands in the names of files and in signatures."""
    if not _NAME.fullmatch(name):
        raise RegistryError(
            f"{name[:60]!r} cannot be the name of a task", expected="small letters, digits and _, a letter first"
        )
    if len(name) > _LONGEST_NAME:
        raise RegistryError("the name is too long", expected=f"{_LONGEST_NAME} letters at most", found=str(len(name)))
    if name in RESERVED:
        raise RegistryError(f"{name!r} means something else to `glge tasks`", hint="choose another name")


def _task_text(name: str) -> str:
    blanks = {key: json.dumps(text) for key, text in _BLANKS.items()}
    return _TASK.format(
        file=f"{name}.yaml",
        name=name,
        rules=_wrapped(list(RULES), "# "),
        metrics=_wrapped(list(METRICS), "# "),
        **blanks,
    )


def _wrapped(names: list[str], prefix: str) -> str:
    """Names in lines of a comment."""
    return f"\n{prefix}  ".join(textwrap.wrap(", ".join(names), 100, break_on_hyphens=False))


def _listing(place: Path, name: str) -> str | None:
    """What benchmark.yaml shall be so that it lists the task; None when it is to stay as it is."""
    file = place / BENCHMARK_FILE
    if not file.exists():
        called = re.sub(r"[^\w-]+", "-", place.resolve().name).strip("-") or "mine"
        if called.casefold() == load_tasks(built_in_folder()).name.casefold():
            called += "-and-more"
        return _BENCHMARK.format(name=json.dumps(called), title=json.dumps(f"GLGE and {name}"), task=name)
    try:
        text = file.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    found = re.search(r"^tasks:[ \t]*\[([^\]\n#]*)\][ \t]*(#.*)?$", text, flags=re.MULTILINE)
    if found is None:
        return None
    listed = [item.strip().strip("'\"") for item in found[1].split(",") if item.strip()]
    if name in listed:
        return None
    return text[: found.start(1)] + ", ".join([*listed, name]) + text[found.end(1) :]


# --- checking -------------------------------------------------------------------------------------


def check_task(file: str | Path) -> TaskCheck:
    """Everything that is wrong or odd with a task file, in one pass, and a dry run of its recipe on two lines.

    Looks at keys, types, names, rules, metrics with their variants, sizes, and at the benchmark.yaml beside the file;
    then takes two invented lines, the first of which is predicted as it should be, through the recipe and through the
    metrics of every profile. Never raises for what stands in the file; RegistryError when there is no such file.
    """
    path = Path(file).expanduser()
    if not path.is_file():
        raise RegistryError("there is no such task file", file=str(path))
    task, faults = examine_task(path)
    found = _Findings(path, "" if task is None else path.read_bytes().decode("utf-8"))
    found.problems += [_problem(fault) for fault in faults]
    if task is None:
        return TaskCheck(str(path), None, tuple(found.problems))
    found.look_at(task)
    found.look_around(task)
    texts: tuple[tuple[str, str], ...] = ()
    trials: tuple[Trial, ...] = ()
    if not faults:
        texts, trials = found.try_out(task)
    return TaskCheck(str(path), task, tuple(found.problems), texts, trials)


def _problem(fault: GlgeError) -> Problem:
    facts = [f"{word} {fact}" for word, fact in (("expected", fault.expected), ("found", fault.found)) if fact]
    message = fault.message + (f" ({', '.join(facts)})" if facts else "")
    places = () if fault.line is None else (fault.line,)
    return Problem(CODE, "error", message, file=fault.file, places=places, hint=fault.hint)


# Two lines of two sentences each, long enough for any rule; words, numbers, quotes and brackets.
_REFERENCES = (
    ("the small boat left the old harbour before 6 . 30 .", "nobody on the quay ( or above ) had seen it go ."),
    ("a keeper ' s lamp was burning in the tower all night .", "by morning it had gone out by itself ."),
)
_OTHER = ("the keeper ' s lamp in the tower burned the whole night .", "in the morning it was found cold and dark .")
_SOURCES = ("what was seen at the harbour ?", "what was seen in the tower ?")


class _Findings:
    """Collects what is wrong with one task file."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.lines = text.split("\n")
        self.problems: list[Problem] = []

    def tell(self, severity: Severity, key: str, message: str, hint: str | None = None) -> None:
        """A problem at the line where a top-level key stands."""
        places = [number for number, line in enumerate(self.lines, 1) if line.startswith(f"{key}:")]
        self.problems.append(Problem(CODE, severity, message, file=str(self.path), places=tuple(places[:1]), hint=hint))

    def look_at(self, task: Task) -> None:
        """What the reader of task files lets pass and a task of one's own should not have."""
        try:
            check_name(task.name)
        except RegistryError as error:
            self.tell("error", "name", str(error))
        if task.version < 1:
            self.tell("error", "version", f"the version is {task.version}", "versions count from 1")
        for split, size in task.sizes.items():
            if size < 0 or (split == "test" and size == 0):
                self.tell("error", "sizes", f"{split} has {size} lines", "count them; train and dev may be 0")
        for side, mean in task.mean_words.items():
            if not (math.isfinite(mean) and mean > 0):
                self.tell("error", "mean_words", f"the mean number of words of {side} is {mean:g}", "count them")
        for key, entries in (("metrics", task.metrics), *(("profiles", found) for found in task.profiles.values())):
            shown = [entry.shown for entry in entries]
            for name in sorted({name for name in shown if shown.count(name) > 1}):
                self.tell("warning", key, f"more than one metric is shown as {name!r}", "tables cannot tell them apart")
        for key, blank in _BLANKS.items():
            value = getattr(task, key)
            if value == blank or (key == "sources" and blank in value):
                self.tell("note", key, f"{key} is still what `glge tasks new` wrote")

    def look_around(self, task: Task) -> None:
        """Whether the benchmark.yaml beside the file lists it and can be read."""
        listing = self.path.parent / BENCHMARK_FILE
        if not listing.is_file():
            self.tell(
                "warning",
                "name",
                f"there is no {BENCHMARK_FILE} beside it, which lists the tasks to use",
                f"write one with `extends: {BUILT_IN}` and `tasks: [{task.name}]`",
            )
            return
        try:
            known = load_tasks(self.path.parent).tasks
        except RegistryError as error:
            if error.file != str(self.path):  # what is wrong with this file is told already
                self.problems.append(_problem(error))
            return
        if task.name not in known:
            self.tell("warning", "name", f"{BENCHMARK_FILE} does not list this task", f"put {task.name} into its tasks")

    def try_out(self, task: Task) -> tuple[tuple[tuple[str, str], ...], tuple[Trial, ...]]:
        """The recipe on two lines, the first predicted as its reference, the second in other words."""

        def joined(sentences: tuple[str, ...], separator: str | None) -> str:
            return (f" {separator.strip()} " if separator else " ").join(sentences)

        predictions = [joined(sentences, task.prediction.separator) for sentences in (_REFERENCES[0], _OTHER)]
        references = [(joined(sentences, task.reference.separator),) for sentences in _REFERENCES]
        items = make_items(task, predictions, references, list(_SOURCES) if task.grouping else None)
        pairs = items.pairs
        texts = tuple((text, group[0]) for text, group in zip(pairs.predictions, pairs.references, strict=True))
        for number, sides in enumerate(texts, 1):
            for side, kept in zip(("prediction", "reference"), sides, strict=True):
                if not kept.strip():
                    self.tell("warning", side, f"the {side}'s rules leave nothing of line {number} of the dry run")
        if texts[0][0].split() != texts[0][1].split():
            self.tell("note", "prediction", "the two sides' rules make different words of the same line")
        keyed = [("metrics", entry.shown, entry) for entry in task.metrics]
        for profile, entries in task.profiles.items():
            keyed += [("profiles", f"{profile} {entry.shown}", entry) for entry in entries]
        return texts, tuple(Trial(shown, self.try_metric(key, task, entry, items)) for key, shown, entry in keyed)

    def try_metric(self, key: str, task: Task, entry: MetricEntry, items: Items) -> Score | None:
        """One metric on the items of the dry run; None when it fails, which is told."""
        try:
            score, _ = score_metric(task, entry, items)
        except GlgeError as error:
            self.tell("error", key, f"{entry.name}: {error}")
            return None
        if score.missing:
            self.tell("warning", key, f"{entry.name} was not tried: {score.missing}")
        elif score.value is None or not math.isfinite(score.value):
            self.tell("error", key, f"{entry.name} gives no finite number")
            return None
        return score
