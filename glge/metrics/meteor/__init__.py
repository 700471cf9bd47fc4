"""METEOR 1.5 as a metric: digit for digit the jar's `-l en -norm`, without Java.

`Meteor` is the metric; `build` makes its tables ahead of time and `state` says what there is of them. Nothing
here needs METEOR's files until a text is scored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from glge.errors import GlgeError, MetricError, MissingResource
from glge.metrics.contract import AdditiveMetric, FloatArray, Pairs, Rows
from glge.metrics.meteor import resources, statistics
from glge.metrics.meteor.resources import Sources, State, Tables, build, state
from glge.metrics.meteor.scorer import Scorer
from glge.metrics.meteor.statistics import COLUMNS, CORPUS_CHUNKS

__all__ = ["Meteor", "Sources", "State", "Tables", "build", "state"]

Engine = Literal["python", "java"]
_PROGRAMS: dict[str, str] = {"python": "METEOR-1.5", "java": "METEOR-1.5-java"}


@dataclass(frozen=True)
class Meteor(AdditiveMetric):
    """METEOR 1.5, English, rank parameters, normalised text: the score of the benchmark's question tasks.

    `engine` is "python" (this package) or "java" (the jar itself, for cross-checks: needs Java and 1.2 GB).
    Rows have the jar's 23 statistics of each line and the chunks the line adds to the corpus, as integers.
    The corpus score is not the mean of the lines: the statistics are added up first. With several references
    a line counts with the one of the highest score, the first of equals.

    Definition: Denkowski and Lavie 2014 as the program does it; see docs/metrics/meteor.md.

    >>> Meteor().name
    'meteor'
    >>> float(Meteor().finish(np.zeros(24)))  # nothing to match
    0.0
    >>> Meteor("perl")
    Traceback (most recent call last):
        ...
    glge.errors.MetricError: unknown METEOR engine (expected python or java, found perl)
    """

    engine: Engine = "python"

    def __post_init__(self) -> None:
        if self.engine not in _PROGRAMS:
            raise MetricError("unknown METEOR engine", expected="python or java", found=str(self.engine))

    @property
    def name(self) -> str:
        """The name in reports, whichever engine: `meteor`."""
        return "meteor"

    @property
    def signature(self) -> str:
        """Program, options, and the checksum of the files the tables come from (`missing` without them)."""
        checksum = resources.checksum()
        tables = checksum[:12] if checksum else "missing"
        return f"meteor|{_PROGRAMS[self.engine]}|-l en -norm|tables:{tables}"

    def prepare(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Convert the tables if this is their first use. Without METEOR's files there is nothing to do."""
        if self.engine == "python" and resources.checksum():
            build(progress=progress)

    def rows(self, pairs: Pairs) -> Rows:
        """The statistics of each line: int64 of shape (lines, 24).

        Raises MissingResource without METEOR's files (or Java, for that engine), and when the tables cannot be
        written on their first use.
        """
        if self.engine == "java":
            from glge.metrics.meteor.java import JavaMeteor  # noqa: PLC0415

            table = JavaMeteor().run(pairs).statistics
        else:
            table = _scorer().statistics(pairs.predictions, pairs.references)
        return Rows(np.column_stack([table, statistics.corpus_chunks(table)]), (*COLUMNS, CORPUS_CHUNKS))

    def finish(self, totals: NDArray[Any]) -> Any:
        """The score of totals of shape (…, 24): shape (…), on the 0-1 scale, the jar's to the last bit."""
        return statistics.score(_as_corpus(totals))

    def lines(self, rows: Rows) -> FloatArray:
        """The jar's score of each line, shape (lines,), on the 0-1 scale."""
        return statistics.score(rows.values[:, :-1])

    def details(self, rows: Rows) -> dict[str, float | int | str]:
        """Precision, recall, their mean F, and fragmentation of the corpus; the mean of the lines' scores."""
        figures = statistics.parts(_as_corpus(rows.totals()))
        found: dict[str, float | int | str] = {name: float(np.nan_to_num(value)) for name, value in figures.items()}
        found["mean_of_lines"] = float(np.mean(self.lines(rows)))
        return found


def _scorer() -> Scorer:
    """The scorer on its tables; what keeps these from being made is a missing resource like the files themselves."""
    try:
        return resources.load()
    except MissingResource:
        raise
    except GlgeError as error:
        raise MissingResource(error.message, file=error.file, expected=error.expected, hint=error.hint) from error


def _as_corpus(totals: NDArray[Any]) -> NDArray[Any]:
    """Totals as a statistics line of 23: the chunks are those that count for a corpus."""
    line = np.array(totals[..., :-1])
    line[..., COLUMNS.index("chunks")] = totals[..., -1]
    return line
