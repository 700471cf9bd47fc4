"""The values of a report, and their versioned JSON form.

A `Report` holds one `TaskResult` a task, which holds one `Score` a metric. Every value is on the
0-100 scale and unrounded; `None` stands for "not scored", never 0. Two runs on the same files give
the same report, byte for byte: nothing here depends on the time, the machine or the order of work.

The JSON Schema of `Report` ships as `glge/report.schema.json` and each key is described in
`docs/report.md`.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from glge.errors import Problem

SCHEMA_VERSION = "1.1"


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Interval(_Value):
    """A confidence interval on the 0-100 scale: both ends, and how it was drawn."""

    low: float
    high: float
    level: float = Field(description="Confidence level in percent, for example 95.")
    resamples: int
    seed: int | None = Field(None, description="None: the program's own sequence of seeds 0 … resamples-1.")
    method: str = Field(description="Who defines the interval, for example 'ROUGE-1.5.5' or 'percentile bootstrap'.")
    standard_error: float | None = Field(default=None, description="Standard deviation of the resamples, 0-100.")


class Resamples(_Value):
    """How intervals and tests were drawn."""

    resamples: int
    seed: int
    level: float = Field(description="Confidence level in percent.")


class Score(_Value):
    """One metric of one task."""

    name: str = Field(description="Key of the metric inside its task, as the published board names it: rougeL, bleu4 …")
    metric: str = Field(description="Name in glge.METRICS: says which program's definition this is.")
    shown: str = Field(description="Display name: R-1, B-4 …")
    value: float | None = Field(None, description="0-100, unrounded; null when it could not be computed.")
    printed: str | None = Field(None, description="The figure exactly as the benchmark's published script prints it.")
    counted: bool = Field(True, description="False for a figure that stands beside and does not enter the task's mean.")
    mean: float | None = Field(None, description="Plain mean over the lines, where the official value is another one.")
    interval: Interval | None = Field(None, description="The original program's own interval (ROUGE-1.5.5).")
    ci: Interval | None = Field(None, description="Percentile bootstrap over items; null unless asked for.")
    details: dict[str, float | int | str] = Field(default_factory=dict, description="Precision, recall, counts …")
    signature: str = Field(description="Everything that made the number, in one short line.")
    missing: str | None = Field(None, description="One line: why there is no value and how to get it.")


class FileRecord(_Value):
    """A file that was read: its name as given, its number of lines, the SHA-256 of its text."""

    name: str
    lines: int
    sha256: str = Field(description="SHA-256 of the lines as read (UTF-8, joined and ended by a newline).")


class TaskResult(_Value):
    """All metrics of one task and their mean."""

    task: str
    title: str
    version: int = Field(description="Version of the task's recipe.")
    profile: str = "official"
    level: str
    split: str
    value: float | None = Field(None, description="Mean of the counted metrics; null when one of them is missing.")
    ci: Interval | None = Field(None, description="Of the mean, metrics resampled together; null unless asked for.")
    scores: tuple[Score, ...]
    items: int = Field(description="What the means run over: lines, or groups of lines with the same source.")
    predictions: FileRecord
    references: FileRecord
    sources: FileRecord | None = None
    notes: tuple[str, ...] = Field((), description="Sentences that explain an unexpected number.")

    def score(self, name: str) -> Score:
        """The score with this key; KeyError when the task has none of that name."""
        for score in self.scores:
            if score.name == name:
                return score
        raise KeyError(name)


class Report(_Value):
    """One submission at one level: every task, the overall score, and what was odd about the files."""

    schema_version: str = SCHEMA_VERSION
    glge_version: str
    benchmark: str = "GLGE"
    level: str
    split: str
    profile: str = "official"
    value: float | None = Field(None, description="The GLGE score: mean over all tasks; null unless all are scored.")
    ci: Interval | None = Field(None, description="Of the GLGE score, tasks resampled independently.")
    resampling: Resamples | None = Field(None, description="How the intervals `ci` were drawn; null without them.")
    tasks: tuple[TaskResult, ...]
    expected_tasks: tuple[str, ...] = Field(description="All tasks of the benchmark, in order.")
    selected_tasks: tuple[str, ...] | None = Field(
        None, description="The tasks that were asked for; null for all the submission has."
    )
    problems: tuple[Problem, ...] = ()

    @property
    def scored(self) -> int:
        """How many of the benchmark's tasks have a value."""
        return sum(task.value is not None for task in self.tasks)

    @property
    def coverage(self) -> str:
        """For example '3/8': tasks with a value, out of the tasks of the benchmark."""
        return f"{self.scored}/{len(self.expected_tasks)}"

    def task(self, name: str) -> TaskResult:
        """The result of this task; KeyError when it was not scored."""
        for result in self.tasks:
            if result.task == name:
                return result
        raise KeyError(name)


class Difference(_Value):
    """A system against the first one, on the 0-100 scale; positive: higher than the first."""

    value: float
    ci: Interval | None = Field(default=None, description="Of the difference; null under approximate randomization.")
    p: float | None = Field(default=None, description="Two-sided, uncorrected; null when nothing can be resampled.")
    p_adjusted: float | None = Field(default=None, description="Holm-corrected over the rows of its kind.")
    p_sacrebleu: float | None = Field(
        default=None, description="Paired bootstrap only: the p-value by sacreBLEU's count, about half of `p`."
    )


class Row(_Value):
    """One metric, or a mean, for every system; `differences` starts with null, for the first system."""

    name: str
    shown: str
    counted: bool = True
    values: tuple[float | None, ...] = Field(description="One a system; the figures of the reports.")
    differences: tuple[Difference | None, ...]
    signature: str = ""
    missing: str | None = None


class TaskComparison(_Value):
    """All systems on one task."""

    task: str
    title: str
    items: int
    metrics: tuple[Row, ...]
    mean: Row
    notes: tuple[str, ...] = ()


class SystemRecord(_Value):
    """One of the systems that were compared: where it came from and the hashes of its files."""

    name: str
    level: str
    files: dict[str, FileRecord] = Field(description="By task.")
    left_out: tuple[str, ...] = Field((), description="Its tasks that another system lacks.")


class Comparison(_Value):
    """Two or more systems on the tasks that all of them have; differences are to the first."""

    schema_version: str = SCHEMA_VERSION
    glge_version: str
    benchmark: str = "GLGE"
    split: str
    profile: str = "official"
    test: str = Field(description="'paired bootstrap' or 'approximate randomization'.")
    resampling: Resamples
    correction: str = "Holm"
    systems: tuple[SystemRecord, ...]
    tasks: tuple[TaskComparison, ...]
    expected_tasks: tuple[str, ...]
    overall: Row = Field(description="The GLGE score; its values are null unless all tasks were compared.")
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class TaskLines:
    """The value of every item of one task by itself, on the 0-100 scale; no part of the report.

    An item is a line, or the lines with the same source: `numbers` has the numbers of its lines, from 1 on, and the
    last of them is the one whose prediction is scored. `words` counts the words of that prediction as it stands in
    the file. Texts are as they stand in the files.
    """

    task: str
    title: str
    shown: dict[str, str]  # metric -> display name
    counted: dict[str, bool]
    values: dict[str, list[float]]  # metric -> one value an item; a metric without resources is not here
    numbers: list[tuple[int, ...]]
    words: list[int]
    notes: list[str]
    predictions: list[str]
    references: list[tuple[str, ...]]

    def __len__(self) -> int:
        return len(self.numbers)


def mean_of(values: list[float | None]) -> float | None:
    """The plain mean, or None when the list is empty or anything in it is missing."""
    known = [value for value in values if value is not None]
    if not known or len(known) != len(values):
        return None
    return sum(known) / len(known)


# --- diversity ------------------------------------------------------------------------------------


class Variety(_Value):
    """How varied the lines of one side are. Shares are on the 0-100 scale, null where there is nothing to share out."""

    lines: int
    empty: int = Field(description="Lines without any token.")
    tokens: int
    distinct1: float | None = Field(None, description="Different tokens of all tokens, 0-100.")
    distinct2: float | None = Field(None, description="Different bigrams of all bigrams, 0-100.")
    novel: tuple[float | None, ...] | None = Field(
        None, description="For n = 1 … 4: n-grams that are not in the line's source, 0-100; null without sources."
    )
    repeated_trigrams: float | None = Field(None, description="Trigrams that stood before in the same line, 0-100.")
    identical_lines: float | None = Field(None, description="Lines with the same text as some other line, 0-100.")
    most_frequent: int = Field(0, description="How many lines have the text that stands most often.")


class TaskDiversity(_Value):
    """How varied the predictions of one task are, and its references as the yardstick.

    Ratios are predictions to references: 1 means as the references. No text of a reference is here.
    """

    task: str
    title: str
    version: int = Field(description="Version of the task's recipe.")
    level: str
    split: str
    distinct1_ratio: float | None = Field(None, description="Null when either side has no token.")
    distinct2_ratio: float | None = Field(None, description="Null when either side has no bigram.")
    length_ratio: float | None = Field(None, description="All tokens to all tokens; null when references have none.")
    of_predictions: Variety
    of_references: Variety
    most_frequent_text: str | None = Field(
        None, description="The prediction that stands most often, as it is compared; null when none stands twice."
    )
    predictions: FileRecord
    references: FileRecord
    sources: FileRecord | None = Field(None, description="Null: there are none, so no n-gram can be called novel.")


class DiversityReport(_Value):
    """How varied the outputs of one system are, task by task."""

    schema_version: str = SCHEMA_VERSION
    glge_version: str
    benchmark: str = "GLGE"
    name: str = Field(description="What the system is called.")
    level: str
    split: str
    mean_ratio: float | None = Field(
        None, description="Mean of the Distinct-2 ratios of the tasks that have one; `measured` counts these."
    )
    measured: int = Field(0, description="Tasks with a Distinct-2 ratio.")
    tasks: tuple[TaskDiversity, ...]
    expected_tasks: tuple[str, ...] = Field(description="All tasks of the benchmark, in order.")
    problems: tuple[Problem, ...] = ()

    def task(self, name: str) -> TaskDiversity:
        """The figures of this task; KeyError when it was not measured."""
        for found in self.tasks:
            if found.task == name:
                return found
        raise KeyError(name)
