"""Task and Benchmark: the strict reader of `tasks/*.yaml`.

A task file read from top to bottom is the scoring recipe: what each side looks like, which named rules
its lines go through, whether lines with the same source are one item, and which metrics in which
variant make the score. YAML only names registered things; it runs no code. Reading the registry touches
no data and no network. Every mistake in a file ends in a `RegistryError` with file and line.

A task may name further sets of metrics, its `profiles`. A profile leaves texts, rules, grouping and items
alone and exchanges the metrics only, so that whatever differs between two profiles comes from the metrics.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from glge.errors import RegistryError, did_you_mean
from glge.metrics import METRICS, Metric
from glge.rules import RULES

BENCHMARK_FILE = "benchmark.yaml"
BUILT_IN = "builtin"  # what `extends` in a benchmark.yaml can say
OFFICIAL = "official"  # the profile that a task's `metrics` are


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Side(_Entry):
    """What one side of a task looks like and the rules its lines go through, in order."""

    separator: str | None = None
    empty: Literal["allowed", "error"] = "allowed"
    rules: list[str] = Field(default_factory=list)


class Grouping(_Entry):
    """Lines whose source is the same after `rules` are one item."""

    by: Literal["source"]
    rules: list[str] = Field(default_factory=list)


class MetricEntry(_Entry):
    """A metric of a task: its key inside the task, its name in METRICS, its display name and variant."""

    name: str
    metric: str
    shown: str
    variant: dict[str, bool | int | str] = Field(default_factory=dict)
    counted: bool = True

    def build(self) -> Metric[Any]:
        """The metric itself."""
        return METRICS[self.metric](**self.variant)


class Task(_Entry):
    """One task of the benchmark: the recipe from two files of lines to a score."""

    name: str
    version: int
    title: str
    family: str
    description: str
    source: str
    target: str
    sizes: dict[Literal["train", "dev", "test"], int] = Field(min_length=3)
    mean_words: dict[Literal["source", "target"], float] = Field(min_length=2)
    prediction: Side
    reference: Side
    grouping: Grouping | None = None
    metrics: list[MetricEntry] = Field(min_length=1)
    profiles: dict[str, Annotated[list[MetricEntry], Field(min_length=1)]] = Field(default_factory=dict)
    sources: list[str] = Field(min_length=1)
    _profile: str = PrivateAttr(OFFICIAL)

    @property
    def profile(self) -> str:
        """Which profile `metrics` are: `official` as read, another after `profiled`."""
        return self._profile

    def profiled(self, name: str) -> Task:
        """This task with the metrics of a profile; everything else stays.

        Raises RegistryError, with the nearest known name, when the task has no such profile.

        >>> coqa = load_tasks().task("coqa")
        >>> [entry.metric for entry in coqa.profiled("libraries").metrics] == [entry.metric for entry in coqa.metrics]
        True
        >>> coqa.profiled("official") == coqa.profiled("libraries").profiled("official") == coqa
        True
        >>> coqa.profiled("library")
        Traceback (most recent call last):
            ...
        glge.errors.RegistryError: coqa has no profile 'library'; did you mean 'libraries'?
        """
        if name == self._profile:
            return self
        # What `metrics` held goes under its own name, and what is taken leaves `profiles`: nothing is lost.
        known = {**self.profiles, self._profile: self.metrics}
        if name not in known:
            raise RegistryError(f"{self.name} has no profile {name!r}", hint=did_you_mean(name, known))
        rest = {other: entries for other, entries in known.items() if other != name}
        task = self.model_copy(update={"metrics": known[name], "profiles": rest})
        task._profile = name
        return task

    @property
    def groups_by_source(self) -> bool:
        """Whether source lines are needed to score."""
        return self.grouping is not None

    def recipe(self) -> list[str]:
        """The recipe in words, one step a line."""
        steps = [f"read one prediction a line: {self.target}"]
        if self.prediction.separator:
            steps[0] += f" (a prediction joins its sentences by {self.prediction.separator})"
        steps.append("predictions: " + (", then ".join(self.prediction.rules) or "as they are"))
        steps.append("references: " + (", then ".join(self.reference.rules) or "as they are"))
        if self.reference.empty == "error":
            steps.append("an empty reference is a fault of the data")
        if self.grouping:
            key = ", ".join(self.grouping.rules) or "as it is"
            steps.append(f"lines with the same source ({key}) are one item: all their references, the last prediction")
        for entry in self.metrics:
            role = "" if entry.counted else " (stands beside, does not count)"
            steps.append(f"{entry.shown}: {entry.build().signature}{role}")
        steps.append("task score: mean of the metrics that count, each on the 0-100 scale")
        return steps


class Level(_Entry):
    """A level of difficulty: only its training data differ."""

    name: str
    description: str
    board: bool


class Benchmark(_Entry):
    """All tasks in the order of the published board, and the levels.

    One that `extends` the built-in benchmark has its eight tasks and levels first, and a name of its own: its score
    is the mean of more tasks and no GLGE score.
    """

    name: str
    version: int
    title: str
    extends: Literal["builtin"] | None = None
    tasks: dict[str, Task]
    weights: Literal["equal"]
    levels: list[Level]
    sources: list[str]
    _profile: str = PrivateAttr(OFFICIAL)

    @property
    def profile(self) -> str:
        """Which profile's metrics the tasks have: `official` as read, another after `profiled`."""
        return self._profile

    @property
    def profiles(self) -> tuple[str, ...]:
        """The profiles any task has, `official` first."""
        names = {self._profile, *(name for task in self.tasks.values() for name in task.profiles)}
        return (OFFICIAL, *sorted(names - {OFFICIAL}))

    def profiled(self, name: str) -> Benchmark:
        """This benchmark with the metrics of a profile in every task; everything else stays.

        Raises RegistryError for an unknown name (with the nearest known one), and when a task has no such
        profile: a score of the benchmark that leaves out a task would be no score.

        >>> benchmark = load_tasks().profiled("libraries")
        >>> benchmark.profile, [entry.metric for entry in benchmark.task("msnews").metrics]
        ('libraries', ['library_rouge1', 'library_rouge2', 'library_rougeL'])
        >>> benchmark.profiled("official") == load_tasks()
        True
        """
        if name == self._profile:
            return self
        if name not in self.profiles:
            raise RegistryError(f"there is no profile {name!r}", hint=did_you_mean(name, self.profiles))
        lacking = [task.name for task in self.tasks.values() if name not in (task.profile, *task.profiles)]
        if lacking:
            raise RegistryError(
                f"no profile {name!r} in {', '.join(lacking)}",
                hint=f"give {'it' if len(lacking) == 1 else 'each'} a list of metrics under profiles: {name}:",
            )
        tasks = {key: task.profiled(name) for key, task in self.tasks.items()}
        benchmark = self.model_copy(update={"tasks": tasks})
        benchmark._profile = name
        return benchmark

    @property
    def level_names(self) -> tuple[str, ...]:
        """easy, medium, medium+, hard."""
        return tuple(level.name for level in self.levels)

    def task(self, name: str) -> Task:
        """The task of this name; RegistryError with the nearest known name otherwise."""
        if name not in self.tasks:
            raise RegistryError(f"there is no task {name!r}", hint=did_you_mean(name, self.tasks))
        return self.tasks[name]

    def check_level(self, name: str) -> str:
        """The level itself; RegistryError with the known names when there is none of that name."""
        if name not in self.level_names:
            raise RegistryError(f"there is no level {name!r}", hint=did_you_mean(name, self.level_names))
        return name


def tasks_folder() -> Path:
    """Where the task files are: `GLGE_TASKS`, or the ones that came with the package."""
    given = os.environ.get("GLGE_TASKS")
    if given:
        return Path(given)
    return built_in_folder()


def built_in_folder() -> Path:
    """Where the task files are that came with the package."""
    import glge_tasks  # noqa: PLC0415 - the data package is looked for only when needed

    return Path(next(iter(glge_tasks.__path__)))


def load_tasks(folder: str | Path | None = None) -> Benchmark:
    """Read `benchmark.yaml` and the task files it lists.

    Raises RegistryError, with file and line, for a missing or unreadable file, a duplicate or unknown
    key, a wrong type, or a name (rule, metric, variant, task) that is not registered. With `extends: builtin`
    the tasks of the file come after the built-in ones.

    >>> list(load_tasks().tasks)[:3]
    ['cnndm', 'gigaword', 'xsum']
    """
    place = Path(folder) if folder is not None else tasks_folder()
    file = place / BENCHMARK_FILE
    content, lines = _read_yaml(file)
    names = content.get("tasks")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise _fault(file, lines, ("tasks",), "tasks must be a list of names")
    if len(set(names)) != len(names):
        raise _fault(file, lines, ("tasks",), "a task is listed twice")
    base = _read_base(file, content, lines) if "extends" in content else None
    tasks = dict(base.tasks) if base else {}
    for position, name in enumerate(names):
        task_file = place / f"{name}.yaml"
        if not task_file.is_file():
            known = [found.stem for found in place.glob("*.yaml") if found.name != BENCHMARK_FILE]
            raise _fault(
                file, lines, ("tasks", position), f"there is no file {name}.yaml", hint=did_you_mean(name, known)
            )
        tasks[name] = load_task(task_file)
    content["tasks"] = {}
    benchmark = _build(Benchmark, content, file, lines)
    return benchmark.model_copy(update={"tasks": tasks})


def _read_base(file: Path, content: dict[str, Any], lines: _Lines) -> Benchmark:
    """The built-in benchmark, which `content` extends; what it gives is put into `content`.

    It cannot be changed this way: no task of it is taken over, its levels stay, and its name stays its own.
    """
    if content["extends"] != BUILT_IN:
        found = repr(content["extends"])[:60]
        raise _fault(file, lines, ("extends",), "this cannot be extended", expected=BUILT_IN, found=found)
    base = load_tasks(built_in_folder())
    for key in ("levels", "weights"):
        if key in content:
            raise _fault(file, lines, (key,), f"{key} are those of {base.name}", hint="leave the key out")
    if str(content.get("name", "")).casefold() == base.name.casefold():
        raise _fault(
            file,
            lines,
            ("name",),
            f"a benchmark with more tasks than {base.name} needs another name",
            hint="its score is the mean of more tasks",
        )
    for position, name in enumerate(content["tasks"]):
        if name.casefold() in base.tasks:
            raise _fault(
                file,
                lines,
                ("tasks", position),
                f"{name!r} is a task of {base.name}",
                hint="list your own tasks only, under other names",
            )
    content["levels"] = [level.model_dump() for level in base.levels]
    content["weights"] = base.weights
    return base


def load_task(file: Path) -> Task:
    """Read and check one task file; RegistryError with file and line for any mistake."""
    task, faults = examine_task(file)
    if task is None or faults:
        raise faults[0]
    return task


def examine_task(file: Path) -> tuple[Task | None, list[RegistryError]]:
    """The task in a file, and every mistake found in one pass; None when its keys or types are wrong."""
    try:
        content, lines = _read_yaml(file)
    except RegistryError as error:
        return None, [error]
    try:
        task = Task.model_validate(content)
    except ValidationError as error:
        return None, _told(Task, error, file, lines)
    return task, list(_task_faults(task, file, lines))


def _task_faults(task: Task, file: Path, lines: _Lines) -> Iterator[RegistryError]:
    if task.name != file.stem:
        yield _fault(file, lines, ("name",), "the name must be the file's", expected=file.stem, found=task.name)
    places: list[tuple[tuple[str | int, ...], list[str]]] = [
        (("prediction", "rules"), task.prediction.rules),
        (("reference", "rules"), task.reference.rules),
        (("grouping", "rules"), task.grouping.rules if task.grouping else []),
    ]
    for path, rules in places:
        for position, rule in enumerate(rules):
            if rule not in RULES:
                yield _fault(
                    file, lines, (*path, position), f"there is no rule {rule!r}", hint=did_you_mean(rule, RULES)
                )
    yield from _metric_faults(file, lines, ("metrics",), task.metrics)
    for profile, entries in task.profiles.items():
        where = ("profiles", profile)
        if not re.fullmatch(r"[a-z][a-z0-9-]*", profile):
            yield _fault(
                file,
                lines,
                where,
                f"{profile!r} cannot be the name of a profile",
                expected="small letters, digits and hyphens",
            )
        if profile == OFFICIAL:
            yield _fault(
                file,
                lines,
                where,
                f"the profile {OFFICIAL!r} is what stands under metrics",
                hint="give this one another name",
            )
        yield from _metric_faults(file, lines, where, entries)


def _metric_faults(file: Path, lines: _Lines, path: _Path, entries: Sequence[MetricEntry]) -> Iterator[RegistryError]:
    """Every metric of a list can be made, no name stands twice, and one counts; what is wrong with it otherwise."""
    seen: set[str] = set()
    for position, entry in enumerate(entries):
        where = (*path, position)
        if entry.metric not in METRICS:
            yield _fault(
                file,
                lines,
                (*where, "metric"),
                f"there is no metric {entry.metric!r}",
                hint=did_you_mean(entry.metric, METRICS.names()),
            )
            continue
        if entry.name in seen:
            yield _fault(file, lines, (*where, "name"), f"the metric name {entry.name!r} stands twice")
        seen.add(entry.name)
        try:
            entry.build()
        except TypeError:
            known = list(getattr(getattr(METRICS[entry.metric], "func", METRICS[entry.metric]), "__match_args__", ()))
            unknown = next((key for key in entry.variant if key not in known), "?")
            yield _fault(
                file,
                lines,
                (*where, "variant", unknown),
                f"{entry.metric} has no variant {unknown!r}",
                hint=did_you_mean(unknown, known),
            )
        except Exception as error:
            yield _fault(file, lines, (*where, "variant"), f"{entry.metric}: {error}")
    if not any(entry.counted for entry in entries):
        yield _fault(file, lines, path, "no metric counts")


# ---------------------------------------------------------------------------------------------------
# YAML with line numbers

Model = TypeVar("Model", bound=BaseModel)

_MAPPING, _SEQUENCE = "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"

_Path = tuple[str | int, ...]
_Lines = Mapping[_Path, int]


def _read_yaml(file: Path) -> tuple[dict[str, Any], dict[_Path, int]]:
    """The mapping in a file, and the line (from 1) of everything in it."""
    try:
        text = file.read_bytes().decode("utf-8")
    except OSError as error:
        raise RegistryError("cannot read the task registry", file=str(file), found=error.strerror or "") from None
    except UnicodeDecodeError as error:
        raise RegistryError("not UTF-8", file=str(file), found=f"byte {error.start}") from None
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        lines: dict[_Path, int] = {}
        content = _plain(loader, node, (), lines, file) if node is not None else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise RegistryError(
            f"not readable as YAML: {error.problem}", file=str(file), line=mark.line + 1 if mark else None
        ) from None
    except yaml.YAMLError as error:
        raise RegistryError(f"not readable as YAML: {error}", file=str(file)) from None
    finally:
        loader.dispose()
    if not isinstance(content, dict):
        raise RegistryError("expected a mapping of keys", file=str(file), line=1)
    return content, lines


def _plain(loader: yaml.SafeLoader, node: yaml.Node, path: _Path, lines: dict[_Path, int], file: Path) -> Any:
    lines[path] = node.start_mark.line + 1
    if not isinstance(node, yaml.ScalarNode) and node.tag not in (_MAPPING, _SEQUENCE):
        raise RegistryError("tags are not allowed", file=str(file), line=lines[path], found=str(node.tag))
    if isinstance(node, yaml.MappingNode):
        result: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = loader.construct_object(key_node)
            line = key_node.start_mark.line + 1
            if not isinstance(key, str):
                raise RegistryError("keys must be text", file=str(file), line=line, found=repr(key))
            if key in result:
                raise RegistryError(f"the key {key!r} stands twice", file=str(file), line=line)
            result[key] = _plain(loader, value_node, (*path, key), lines, file)
            lines[(*path, key)] = line
        return result
    if isinstance(node, yaml.SequenceNode):
        return [_plain(loader, item, (*path, place), lines, file) for place, item in enumerate(node.value)]
    return loader.construct_object(node)


def _fault(
    file: Path,
    lines: _Lines,
    path: _Path,
    message: str,
    *,
    expected: str | None = None,
    found: str | None = None,
    hint: str | None = None,
) -> RegistryError:
    while path and path not in lines:
        path = path[:-1]
    return RegistryError(message, file=str(file), line=lines.get(path), expected=expected, found=found, hint=hint)


def _build(model: type[Model], content: dict[str, Any], file: Path, lines: _Lines) -> Model:
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise _told(model, error, file, lines)[0] from None


def _told(model: type[BaseModel], error: ValidationError, file: Path, lines: _Lines) -> list[RegistryError]:
    """What pydantic found, in our words."""
    faults = []
    # A misspelt key is told before the key that is missing because of it.
    for found in sorted(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden"):
        path = tuple(part for part in found["loc"] if isinstance(part, (str, int)))
        name = ".".join(str(part) for part in path)
        if found["type"] == "extra_forbidden":
            hint = did_you_mean(str(path[-1]), _keys(model, path))
            faults.append(_fault(file, lines, path, f"unknown key {path[-1]!r}", hint=hint))
        elif found["type"] == "missing":
            faults.append(_fault(file, lines, path, f"the key {name!r} is missing"))
        else:
            wrong = repr(found["input"])[:60]
            faults.append(_fault(file, lines, path, f"{name}: {found['msg'].lower()}", found=wrong))
    return faults


def _keys(model: type[BaseModel], path: _Path) -> list[str]:
    """The keys known where the last part of `path` stands."""
    current: type[BaseModel] = model
    for part in path[:-1]:
        if isinstance(part, str) and part in current.model_fields:
            inner = next(_models_in(current.model_fields[part].annotation), None)
            if inner is None:
                break
            current = inner
    return list(current.model_fields)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and get_origin(annotation) is None and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)
