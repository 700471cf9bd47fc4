"""One contract test over every registered metric."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from glge.errors import MetricError, MissingResource
from glge.metrics import METRICS, Pairs
from tests import strategies


@pytest.fixture(params=list(METRICS))
def metric(request: pytest.FixtureRequest) -> Any:
    """Every metric in its default variant; METEOR only where its tables are."""
    made = METRICS[request.param]()
    try:
        made.score(["a"], ["a"])
    except MissingResource as error:
        pytest.skip(str(error))
    return made


PREDICTIONS = ["the cat sat on the mat", "a dog ran", "yes", "", "the the the", "an old red house by the sea"]
REFERENCES = ["a cat was on the mat", "the dogs ran fast", "yes", "no", "the", "an old red house by the sea"]


def test_names_and_signatures(metric: Any) -> None:
    """A metric knows its registered name, and its signature begins with it."""
    assert METRICS[metric.name]().signature == metric.signature
    assert metric.signature.split("|")[0] == metric.name
    assert metric.higher_is_better is True


def test_reduce_with_ones_is_reduce(metric: Any) -> None:
    """counts of ones are the corpus, however they are typed."""
    rows = metric.rows(Pairs.single(PREDICTIONS, REFERENCES))
    whole = metric.reduce(rows)
    assert isinstance(whole, float)
    assert metric.reduce(rows, np.ones(len(PREDICTIONS), dtype=np.int64)) == pytest.approx(whole, abs=1e-12)


def test_counts_choose_lines(metric: Any) -> None:
    """Zeros and ones are a shard, twos are lines taken twice: the same as scoring such a list."""
    rows = metric.rows(Pairs.single(PREDICTIONS, REFERENCES))
    counts = np.array([1, 0, 2, 0, 1, 1])
    taken = [place for place, count in enumerate(counts) for _ in range(count)]
    alone = Pairs.single([PREDICTIONS[place] for place in taken], [REFERENCES[place] for place in taken])
    assert metric.reduce(rows, counts) == pytest.approx(metric.reduce(metric.rows(alone)), abs=1e-12)


def test_many_draws_at_once(metric: Any) -> None:
    """Counts of shape (draws, lines) give one value a draw."""
    rows = metric.rows(Pairs.single(PREDICTIONS, REFERENCES))
    draws = np.random.default_rng(1).multinomial(6, np.full(6, 1 / 6), size=5)
    together = metric.reduce(rows, draws)
    assert together.shape == (5,)
    assert together == pytest.approx([metric.reduce(rows, draw) for draw in draws], abs=1e-12)


def test_shuffling_lines_changes_nothing(metric: Any) -> None:
    """The plain value does not depend on the order of the lines."""
    order = [3, 0, 5, 1, 4, 2]
    one = metric.reduce(metric.rows(Pairs.single(PREDICTIONS, REFERENCES)))
    shuffled = Pairs.single([PREDICTIONS[i] for i in order], [REFERENCES[i] for i in order])
    assert metric.reduce(metric.rows(shuffled)) == pytest.approx(one, abs=1e-12)


def test_one_value_a_line(metric: Any) -> None:
    """`lines` has a finite number for every line."""
    values = metric.lines(metric.rows(Pairs.single(PREDICTIONS, REFERENCES)))
    assert values.shape == (len(PREDICTIONS),)
    assert np.isfinite(values).all()


def test_perfect_is_not_beaten(metric: Any) -> None:
    """Predictions equal to the references score at least as high as any other we try."""
    if metric.name.startswith("distinct"):
        pytest.skip("looks at predictions alone")
    texts = ["the cat sat on the mat", "an old red house by the sea"]
    perfect = metric.score(texts, texts)
    assert perfect >= metric.score(["the cat sat on a mat", "an old house"], texts)
    assert perfect >= metric.score(["", ""], texts)


def test_summary_holds_everything(metric: Any) -> None:
    """Value, details and notes in one call; the value equals `value`."""
    rows = metric.rows(Pairs.single(PREDICTIONS, REFERENCES))
    summary = metric.summary(rows)
    assert summary.value == metric.value(rows)
    assert all(isinstance(figure, (float, int, str)) for figure in summary.details.values())


def test_lengths_are_checked(metric: Any) -> None:
    """L10: lists of different length are refused, never zipped."""
    with pytest.raises(MetricError, match="expected 3 predictions, found 1"):
        metric.score(["a"], ["a", "b", "c"])
    with pytest.raises(MetricError, match="nothing to score"):
        metric.score([], [])
    rows = metric.rows(Pairs.single(PREDICTIONS, REFERENCES))
    with pytest.raises(MetricError, match="counts do not fit"):
        metric.reduce(rows, np.ones(2))


@settings(max_examples=25, deadline=None)
@given(strategies.pairs)
def test_odd_characters_never_crash(drawn: list[tuple[str, str]]) -> None:
    """Any text gives a finite number, in every metric."""
    pairs = Pairs.single([a for a, _ in drawn], [b for _, b in drawn])
    for make in METRICS.values():
        made = make()
        try:
            value = made.value(made.rows(pairs))
        except MissingResource:
            continue
        assert math.isfinite(value)
        assert value >= 0


def test_changed_texts_are_scored_anew() -> None:
    """M21: nothing is remembered beyond one list of pairs."""
    metric = METRICS["rouge1"]()
    predictions = ["a"]
    assert metric.score(predictions, ["a"]) == 1.0
    predictions[0] = "b"
    assert metric.score(predictions, ["a"]) == 0.0
