"""The values of a report: lookups, coverage, and that they cannot be changed or misspelt."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from glge.results import FileRecord, Report, Score, TaskResult, mean_of

RECORD = FileRecord(name="coqa.hard.test", lines=1, sha256="0" * 64)
F1 = Score(name="f1", metric="f1", shown="F1", value=75.0, signature="f1|CoQA")
COQA = TaskResult(
    task="coqa",
    title="CoQA",
    version=1,
    level="hard",
    split="test",
    value=75.0,
    scores=(F1,),
    items=1,
    predictions=RECORD,
    references=RECORD,
)


def report(*tasks: TaskResult) -> Report:
    """A report of two expected tasks."""
    return Report(glge_version="0.1", level="hard", split="test", tasks=tasks, expected_tasks=("coqa", "xsum"))


@pytest.mark.parametrize(
    ("values", "mean"),
    [([], None), ([1.0], 1.0), ([1.0, 2.0], 1.5), ([1.0, None], None), ([None], None), ([0.0, 0.0], 0.0)],
)
def test_a_mean_needs_every_value(values: list[float | None], mean: float | None) -> None:
    """A missing value leaves no mean; zero is a value."""
    assert mean_of(values) == mean


def test_lookups_answer_by_name_or_raise_key_error() -> None:
    """`task` and `score` find what is there and raise KeyError for what is not."""
    assert report(COQA).task("coqa") == COQA
    assert COQA.score("f1") == F1
    with pytest.raises(KeyError):
        report(COQA).task("xsum")
    with pytest.raises(KeyError):
        COQA.score("f2")


def test_coverage_counts_tasks_with_a_value() -> None:
    """A task that was submitted but could not be scored does not count."""
    assert report(COQA).coverage == "1/2"
    assert report(COQA.model_copy(update={"value": None})).coverage == "0/2"
    assert report().coverage == "0/2"


def test_values_are_frozen() -> None:
    """A report cannot be changed after it was made."""
    with pytest.raises(ValidationError):
        COQA.value = 100.0  # type: ignore[misc]


def test_unknown_keys_are_refused() -> None:
    """A misspelt key is an error, not a silent loss."""
    with pytest.raises(ValidationError):
        Score(name="f1", metric="f1", shown="F1", signature="f1", valeu=1.0)  # type: ignore[call-arg]
