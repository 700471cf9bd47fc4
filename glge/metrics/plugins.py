"""Metrics of other packages: found by their entry points, loaded when asked for, and held at arm's length.

A package joins by the entry-point group `glge.metrics`, with two lines of its own pyproject.toml:

    [project.entry-points."glge.metrics"]
    my_metric = "my_package.my_module:MyMetric"

`METRICS["my_metric"](**variant)` then calls `MyMetric(**variant)`, which must be a `glge.metrics.Metric`. What comes
back stands behind `Guarded`: the plug-in sees copies of the texts, and what it gives is checked before it is used. If
it raises, gives something that is no finite float, or has not one value a line, the answer is a `PlugInError` that
names the metric, its package and version, and the place; what the plug-in itself said once it had seen the texts is
not repeated, for it could quote a reference. It cannot take the name of a built-in metric, and where two packages
give one name neither is taken.
"""

from __future__ import annotations

import inspect
import math
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glge.errors import MetricError, MissingResource, did_you_mean
from glge.metrics.contract import FloatArray, Metric, Pairs, Summary, check_counts

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "glge.metrics"
OWN = "glge"  # metrics that come with glge itself, but need an extra
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_AGREE = 1e-6  # how far `reduce` with counts of one may be from `reduce` without


class PlugInError(MetricError):
    """A metric of another package failed. Which one, whose, where and how; never what it said of the texts."""


@dataclass(frozen=True)
class PlugIn:
    """A metric that a package offers. Calling it with a variant imports it and makes the metric.

    `fault` says why it cannot be had; it is empty when nothing speaks against it before it is imported.
    """

    name: str
    package: str
    version: str
    entry: EntryPoint = field(repr=False)
    fault: str = ""

    def __str__(self) -> str:
        return f"{self.name} of {self.package} {self.version}"

    def __call__(self, **variant: Any) -> Metric[Any]:
        """The metric, guarded. Raises PlugInError when it cannot be imported or made; MissingResource as it is."""
        if self.fault:
            raise PlugInError(f"the plug-in {self} cannot be used: {self.fault}")
        with _watch(self, "cannot be imported", tell=True):
            make = self.entry.load()
        if not callable(make):
            raise self.error("is nothing that can be called", expected="a class", found=type(make).__name__)
        self._check_variant(make, variant)
        with _watch(self, "cannot be made", tell=True):
            made = make(**variant)
        if not isinstance(made, Metric):
            raise self.error("makes no metric", expected="a glge.metrics.Metric", found=type(made).__name__)
        return Guarded(self, made)

    def error(self, what: str, *, expected: str | None = None, found: str | None = None) -> PlugInError:
        """`the plug-in NAME of PACKAGE VERSION WHAT`."""
        return PlugInError(f"the plug-in {self} {what}", expected=expected, found=found)

    def _check_variant(self, make: Callable[..., Any], variant: Mapping[str, Any]) -> None:
        try:
            known = inspect.signature(make).parameters
        except (TypeError, ValueError):  # something that does not tell: it will say so itself
            return
        kinds = {parameter.kind for parameter in known.values()}
        unknown = next((key for key in variant if key not in known), None)
        if unknown is not None and inspect.Parameter.VAR_KEYWORD not in kinds:
            raise PlugInError(
                f"the plug-in {self} has no variant {unknown!r}",
                hint=did_you_mean(unknown, known) if known else "it has none at all",
            )


def find_plugins(builtin: Mapping[str, Any]) -> list[PlugIn]:
    """Every metric that an installed package offers, by name and package; none is imported.

    One that takes a name of glge's own, that shares its name with another package's, or whose name could not stand in
    a signature has a `fault`.
    """
    from importlib.metadata import entry_points  # noqa: PLC0415 - not needed by who uses the built-in metrics only

    found = []
    for entry in entry_points(group=GROUP):
        package, version = ("?", "?") if entry.dist is None else (str(entry.dist.name), str(entry.dist.version))
        found.append(PlugIn(entry.name, package, version, entry))
    found.sort(key=lambda plugin: (plugin.name, plugin.package))
    taken = {*builtin, *(plugin.name for plugin in found if plugin.package == OWN)}
    packages: dict[str, list[str]] = {}
    for plugin in found:
        packages.setdefault(plugin.name, []).append(f"{plugin.package} {plugin.version}")
    return [replace(plugin, fault=_fault(plugin, taken, packages[plugin.name])) for plugin in found]


def _fault(plugin: PlugIn, taken: Set[str], packages: list[str]) -> str:
    if plugin.name in taken:
        return "" if plugin.package == OWN else "the name is that of one of glge's own metrics"
    if not _NAME.fullmatch(plugin.name):
        return "a name has letters, digits and _ only"
    if len(packages) > 1:
        return f"more than one package gives it ({', '.join(packages)}); uninstall all but one"
    return ""


class Registry(Mapping[str, Callable[..., Metric[Any]]]):
    """Metrics by name: the built-in ones, and on a miss those of other packages.

    Iterating, counting and comparing sees the built-in ones alone, in their order, whatever is installed; a plug-in
    is looked for when its name is asked for, and imported when it is called. `plugins()` lists them.

    >>> registry = Registry({"f1": dict})
    >>> list(registry), "f1" in registry, "no_such_metric" in registry
    (['f1'], True, False)
    >>> registry["no_such_metric"]
    Traceback (most recent call last):
        ...
    KeyError: 'no_such_metric'
    """

    def __init__(self, builtin: Mapping[str, Callable[..., Any]]) -> None:
        self._builtin = dict(builtin)

    def __getitem__(self, name: str) -> Callable[..., Metric[Any]]:
        if name in self._builtin:
            return self._builtin[name]
        found = [plugin for plugin in self.plugins() if plugin.name == name]
        if not found:
            raise KeyError(name)
        return next((plugin for plugin in found if not plugin.fault), found[0])

    def __contains__(self, name: object) -> bool:
        return name in self._builtin or any(plugin.name == name for plugin in self.plugins())

    def __iter__(self) -> Iterator[str]:
        return iter(self._builtin)

    def __len__(self) -> int:
        return len(self._builtin)

    def plugins(self) -> list[PlugIn]:
        """What other packages offer, by name; those that cannot be used say why in `fault`."""
        return find_plugins(self._builtin)

    def names(self) -> list[str]:
        """Every name that can stand in a task file: the built-in ones, then those of plug-ins."""
        return [*self._builtin, *(plugin.name for plugin in self.plugins() if not plugin.fault)]


# --- the guard ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class GuardedRows:
    """The rows of a plug-in, which are its own affair, and how many lines they are of."""

    inner: Any
    lines: int

    def __len__(self) -> int:
        return self.lines


class Guarded(Metric[GuardedRows]):
    """A metric of another package behind a guard: everything it gives is checked, everything it raises is caught.

    `rows` tries at once what may be asked later (`reduce` with and without counts, `lines`), so that a faulty
    plug-in fails there, before any other metric of the task has been resampled.
    """

    def __init__(self, plugin: PlugIn, inner: Metric[Any]) -> None:
        self.plugin = plugin
        self._inner = inner
        with self._watch("does not say what it is"):
            name = inner.name
            # These belong to the class in the contract, but here each wrapped metric has its own.
            self.__dict__.update(higher_is_better=bool(inner.higher_is_better), centred=bool(inner.centred))
        if name != plugin.name:
            raise plugin.error("calls itself by another name", expected=plugin.name, found=repr(name)[:60])

    @property
    def name(self) -> str:
        return self.plugin.name

    @property
    def signature(self) -> str:
        """The plug-in's own, and its package and version. A plug-in that has none to give is told so; never raises."""
        try:
            with self._watch("has no signature"):
                given = self._inner.signature
            if not isinstance(given, str):
                raise self.plugin.error("has no signature")
        except MetricError:
            given = f"{self.name}|no signature"
        except MissingResource:
            given = f"{self.name}|not installed"
        text = "".join(character if character.isprintable() else " " for character in given)
        if text.split("|")[0] != self.name:
            text = f"{self.name}|{text}"
        # The version of glge ends every signature of a report already.
        return text if self.plugin.package == OWN else f"{text}|plugin:{self.plugin.package} {self.plugin.version}"

    def rows(self, pairs: Pairs) -> GuardedRows:
        """What each line contributes, tried out. Raises PlugInError, or MissingResource when something lacks."""
        # Texts and memory of its own: nothing that it does to them reaches another metric.
        own = Pairs(tuple(pairs.predictions), tuple(tuple(group) for group in pairs.references))
        with self._watch("failed in rows"):
            inner = self._inner.rows(own)
            size = len(inner) if hasattr(inner, "__len__") else len(own)
        if size != len(own):
            raise self.plugin.error("has rows of another length", expected=f"{len(own)} lines", found=str(size))
        rows = GuardedRows(inner, len(own))
        whole = self.reduce(rows)
        ones = self.reduce(rows, np.ones((2, len(own)), dtype=np.int64))
        if not np.allclose(ones, whole, rtol=_AGREE, atol=_AGREE):
            raise self.plugin.error("gives another value when each line is counted once")
        self.lines(rows)
        return rows

    def reduce(self, rows: GuardedRows, counts: NDArray[Any] | None = None) -> Any:
        """A finite float, or finite floats of shape (draws,) when counts has shape (draws, lines)."""
        if counts is None:
            with self._watch("failed in reduce"):
                given = self._inner.reduce(rows.inner)
            return self._number("reduce", given)
        check_counts(counts, rows.lines)
        seen = counts.view()
        seen.flags.writeable = False  # other metrics take the same draws
        with self._watch("failed in reduce with counts"):
            given = self._inner.reduce(rows.inner, seen)
        if counts.ndim == 1:
            return self._number("reduce with counts", given)
        return self._numbers("reduce with counts", given, len(counts))

    def lines(self, rows: GuardedRows) -> FloatArray:
        with self._watch("failed in lines"):
            given = self._inner.lines(rows.inner)
        return self._numbers("lines", given, rows.lines)

    def part(self, rows: GuardedRows, begin: int, end: int) -> GuardedRows:
        with self._watch("failed in part"):
            inner = self._inner.part(rows.inner, begin, end)
            size = len(inner) if hasattr(inner, "__len__") else end - begin
        if size != end - begin:
            raise self.plugin.error("has a part of another length", expected=f"{end - begin} lines", found=str(size))
        return GuardedRows(inner, end - begin)

    def value(self, rows: GuardedRows) -> float:
        with self._watch("failed in value"):
            given = self._inner.value(rows.inner)
        return self._number("value", given)

    def details(self, rows: GuardedRows) -> dict[str, float | int | str]:
        with self._watch("failed in details"):
            given = dict(self._inner.details(rows.inner))
        return self._details(given)

    def notes(self, rows: GuardedRows) -> tuple[str, ...]:
        with self._watch("failed in notes"):
            return tuple(str(text) for text in self._inner.notes(rows.inner))

    def line_notes(self, rows: GuardedRows) -> dict[int, str]:
        with self._watch("failed in line_notes"):
            given = {int(line): str(text) for line, text in self._inner.line_notes(rows.inner).items()}
        if any(not 0 <= line < rows.lines for line in given):
            raise self.plugin.error("has notes on lines that are not there", expected=f"0 to {rows.lines - 1}")
        return given

    def summary(self, rows: GuardedRows) -> Summary:
        with self._watch("failed in summary"):
            given = self._inner.summary(rows.inner)
        if not isinstance(given, Summary):
            raise self.plugin.error("has no summary", expected="a Summary", found=type(given).__name__)
        interval = given.interval
        if interval is not None:
            with self._watch("failed in summary"):
                low, high = interval
            interval = (self._number("interval", low), self._number("interval", high))
        with self._watch("failed in summary"):
            details, notes = dict(given.details), tuple(str(text) for text in given.notes)
        return Summary(
            self._number("value", given.value),
            mean=None if given.mean is None else self._number("mean", given.mean),
            interval=interval,
            details=self._details(details),
            notes=notes,
        )

    def _details(self, given: dict[Any, Any]) -> dict[str, float | int | str]:
        checked: dict[str, float | int | str] = {}
        for key, figure in given.items():
            if isinstance(figure, (int, np.integer)) and not isinstance(figure, bool):
                checked[str(key)] = int(figure)
            elif isinstance(figure, str):
                checked[str(key)] = figure
            else:
                checked[str(key)] = self._number("a figure of details", figure)
        return checked

    def _number(self, what: str, given: Any) -> float:
        if not isinstance(given, (float, np.floating)):
            raise self.plugin.error(f"gives no float ({what})", expected="a float", found=type(given).__name__)
        number = float(given)
        if not math.isfinite(number):
            raise self.plugin.error(f"gives no finite number ({what})", expected="a finite float", found=str(number))
        return number

    def _numbers(self, what: str, given: Any, length: int) -> FloatArray:
        with self._watch(f"gives no array of numbers ({what})"):
            found = np.array(given)  # a copy, which the plug-in cannot reach
        if found.dtype.kind not in "fiu":
            raise self.plugin.error(
                f"gives no array of numbers ({what})", expected="floats", found=f"dtype {found.dtype}"
            )
        if found.shape != (length,):
            raise self.plugin.error(
                f"gives an array of another shape ({what})", expected=f"({length},)", found=str(found.shape)
            )
        values: FloatArray = found.astype(np.float64)
        if not np.isfinite(values).all():
            bad = int(np.count_nonzero(~np.isfinite(values)))
            raise self.plugin.error(
                f"gives no finite numbers ({what})", expected="finite floats", found=f"{bad} of {length} are not"
            )
        return values

    def _watch(self, what: str) -> Any:
        return _watch(self.plugin, what)


@contextmanager
def _watch(plugin: PlugIn, what: str, *, tell: bool = False) -> Iterator[None]:
    """Run something of a plug-in: what it raises becomes a PlugInError, what it prints goes to standard error.

    NumPy's error state and the warning filters are as before afterwards. With `tell` the plug-in's own message is
    repeated, which is safe as long as it has seen no text.
    """
    try:
        with np.errstate(), warnings.catch_warnings(), redirect_stdout(sys.stderr):
            yield
    except (PlugInError, MissingResource):
        raise
    except (Exception, SystemExit) as error:
        place, ours = _place(error.__traceback__)
        if isinstance(error, MetricError) and ours:
            # Raised by glge's own code (Pairs.only_references, for example), so the words are ours.
            raise plugin.error(f"{what}: {error.message}", expected=error.expected, found=error.found) from None
        said = f": {' '.join(str(error).split())[:200]}" if tell and str(error) else ""
        raise plugin.error(f"{what}: {type(error).__name__} at {place}{said}") from None


def _place(trace: TracebackType | None) -> tuple[str, bool]:
    """`file.py:12` where an exception was raised, and whether that is in this package."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "?", False
    code = trace.tb_frame.f_code
    module = str(trace.tb_frame.f_globals.get("__name__", ""))
    return f"{Path(code.co_filename).name}:{trace.tb_lineno}", module.split(".", maxsplit=1)[0] == OWN
