"""Intervals and tests: their arithmetic, their sampling properties, and sacreBLEU's paired tests."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glge.errors import MetricError
from glge.metrics import METRICS, Pairs
from glge.significance import (
    Additive,
    Resampling,
    bootstrap,
    bootstrap_p,
    draw_counts,
    draw_swaps,
    holm,
    interval,
    randomization,
    randomization_p,
    sacrebleu_p,
)

VARIANTS: dict[str, dict[str, Any]] = {}
ADDITIVE_AND_NOT = ["rouge1", "rougeL", "coco_bleu4", "coco_rougeL", "f1", "smoothed_bleu2", "distinct1", "distinct2"]
PREDICTIONS = ["the old dog sleeps", "a cat", "no one came home today", "rain", "the cat sat on the mat", "the dog"] * 3
REFERENCES = ["an old dog sleeps", "a cat", "somebody came home", "rain fell", "a cat sat on a mat", "the fox"] * 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"resamples": 99}, "too few resamples to say anything"),
        ({"resamples": 2_000_000}, "more resamples than can be held"),
        ({"level": 49.0}, "this is no confidence level"),
        ({"level": 100.0}, "this is no confidence level"),
        ({"seed": -1}, "a seed is a whole number from 0 on"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: dict[str, Any], message: str) -> None:
    """Fewer than 100 resamples, odd levels and seeds are refused with the reason."""
    with pytest.raises(MetricError, match=message):
        Resampling(**arguments)


def test_every_resample_has_as_many_items() -> None:
    """Counts add up to the number of items in every draw, and all draws are there."""
    blocks = list(draw_counts(30_000, Resampling(150), "a"))
    assert len(blocks) > 1
    assert {int(total) for block in blocks for total in block.sum(axis=1)} == {30_000}
    assert sum(map(len, blocks)) == 150


def test_draws_depend_on_seed_and_stream_alone() -> None:
    """The same seed and stream give the same draws; another seed or stream gives others."""
    first, same, seed, stream = (
        np.concatenate(list(draw_counts(40, Resampling(100, chosen), name)))
        for chosen, name in [(1, "xsum"), (1, "xsum"), (2, "xsum"), (1, "coqa")]
    )
    assert np.array_equal(first, same)
    assert not np.array_equal(first, seed)
    assert not np.array_equal(first, stream)


def test_items_are_drawn_alike() -> None:
    """Every item is taken as often as any other, within sampling error."""
    total = sum(block.sum(axis=0) for block in draw_counts(50, Resampling(4000), "x"))
    assert np.all(np.abs(total - 4000) < 5 * np.sqrt(4000))  # type: ignore[operator]
    swapped = sum(block.sum(axis=0) for block in draw_swaps(50, Resampling(4000), "x"))
    assert np.all(np.abs(swapped - 2000) < 5 * np.sqrt(1000))  # type: ignore[operator]


@pytest.mark.parametrize("name", ADDITIVE_AND_NOT)
def test_a_resample_is_the_corpus_with_lines_taken_so_often(name: str) -> None:
    """The number of a resample is that of the texts written out, each as often as it was drawn."""
    metric = METRICS[name]()
    rows = metric.rows(Pairs.single(PREDICTIONS, REFERENCES))
    counts = next(iter(draw_counts(len(PREDICTIONS), Resampling(100), "x")))[:20]
    for draw, value in zip(counts, metric.reduce(rows, counts), strict=True):
        lines = [line for line, times in enumerate(draw) for _ in range(int(times))]
        written = Pairs.single([PREDICTIONS[line] for line in lines], [REFERENCES[line] for line in lines])
        assert value == pytest.approx(metric.reduce(metric.rows(written)), abs=1e-12)


@pytest.mark.parametrize("name", [*ADDITIVE_AND_NOT, "rouge2", "exact_match", "coco_bleu1"])
def test_a_part_of_the_rows_is_the_part_of_the_lines(name: str) -> None:
    """Rows 4 to 11 by themselves give what lines 4 to 11 give by themselves, the printed value too."""
    metric = METRICS[name]()
    part = metric.part(metric.rows(Pairs.single(PREDICTIONS, REFERENCES)), 4, 11)
    alone = metric.rows(Pairs.single(PREDICTIONS[4:11], REFERENCES[4:11]))
    assert metric.value(part) == metric.value(alone)
    assert metric.lines(part).tolist() == metric.lines(alone).tolist()
    assert metric.details(part) == metric.details(alone)


def test_the_interval_of_a_mean_is_the_textbooks() -> None:
    """For the mean of many numbers the bootstrap gives the standard error and the normal interval."""
    values = np.random.default_rng(1).normal(0.5, 0.2, 4000)
    draws = bootstrap({0: lambda counts: counts @ values / counts.sum(axis=1)}, 4000, Resampling(4000), "x")[0]
    ends = interval(draws, 95)
    error = values.std(ddof=1) / np.sqrt(4000)
    assert ends.standard_error == pytest.approx(error, rel=0.05)
    assert ends.low == pytest.approx(values.mean() - 1.96 * error, abs=0.2 * error)
    assert ends.high == pytest.approx(values.mean() + 1.96 * error, abs=0.2 * error)


def test_p_values_are_uniform_where_there_is_no_difference() -> None:
    """Two systems of one quality: both tests reject at 5 % in about 5 % of the trials."""
    generator = np.random.default_rng(7)
    rejected = {"bootstrap": 0, "randomization": 0}
    for trial in range(300):
        first, second = generator.normal(size=(2, 60))
        values = np.concatenate([first, second])
        observed = float(second.mean() - first.mean())
        resampling = Resampling(200, seed=trial)
        draws = bootstrap(
            {side: lambda counts, own=own: counts @ own / 60 for side, own in enumerate((first, second))},
            60,
            resampling,
            "x",
        )
        rejected["bootstrap"] += bootstrap_p(draws[1] - draws[0], observed) < 0.05
        swapped = randomization({"m": lambda wide, own=values: wide @ own / 60}, 60, 2, resampling, "x")["m"][1]
        rejected["randomization"] += randomization_p(swapped, observed) < 0.05
    assert all(3 <= count <= 30 for count in rejected.values()), rejected


def test_randomization_is_the_permutation_test() -> None:
    """On 8 items the p-value is that of all 256 exchanges, within sampling error."""
    first = np.array([0.1, 0.5, 0.3, 0.9, 0.2, 0.4, 0.6, 0.1])
    second = np.array([0.3, 0.6, 0.2, 1.0, 0.5, 0.4, 0.9, 0.3])
    observed = float((second - first).mean())
    exact = np.mean(
        [
            abs(float(np.mean(signs * (second - first)))) >= observed - 1e-12
            for signs in itertools.product((1, -1), repeat=8)
        ]
    )
    values = np.concatenate([first, second])
    swapped = randomization({"m": lambda wide: wide @ values / 8}, 8, 2, Resampling(20_000), "x")["m"][1]
    assert randomization_p(swapped, observed) == pytest.approx(float(exact), abs=0.01)


def test_the_smallest_p_is_one_over_n_plus_one() -> None:
    """A difference that no draw reaches has p = 1 / (n + 1), never 0; no difference has p = 1."""
    draws = np.linspace(-0.01, 0.01, 999)
    assert bootstrap_p(draws, 0.5) == randomization_p(draws, 0.5) == 1 / 1000
    assert bootstrap_p(np.zeros(500), 0.0) == randomization_p(np.zeros(500), 0.0) == 1.0


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_is_what_the_paper_says(values: list[float]) -> None:
    """Against the definition: the largest so far of the k-th smallest times m - k + 1, never above 1."""
    adjusted = holm(values)
    ranked = sorted(range(len(values)), key=values.__getitem__)
    steps = [(len(values) - rank) * values[place] for rank, place in enumerate(ranked)]
    for rank, place in enumerate(ranked):
        assert adjusted[place] == pytest.approx(min(1.0, max(steps[: rank + 1])))


def test_distinct_is_moved_to_its_value() -> None:
    """A resample of lines has fewer different n-grams than the corpus, so Distinct's draws are centred."""
    assert METRICS["distinct1"]().centred
    assert not METRICS["rouge1"]().centred
    metric = METRICS["distinct2"]()
    rows = metric.rows(Pairs.single(PREDICTIONS, REFERENCES))
    draws = bootstrap({0: partial(metric.reduce, rows)}, len(PREDICTIONS), Resampling(500), "x")[0]
    plain = metric.rows(Pairs.single([f"{n} {n}x {n}y" for n in range(50)], [""] * 50))
    below = bootstrap({0: partial(metric.reduce, plain)}, 50, Resampling(500), "x")[0]
    assert np.all(below < metric.reduce(plain))  # repeated lines alone
    assert draws.min() < metric.reduce(rows)


@pytest.mark.parametrize("kind", ["bs", "ar"])
def test_sacrebleu_agrees(kind: str) -> None:
    """p-values and the bootstrap's mean agree with sacreBLEU's paired tests on its own BLEU, within sampling error."""
    pytest.importorskip("sacrebleu")
    from sacrebleu.metrics import BLEU
    from sacrebleu.significance import PairedTest

    generator = np.random.default_rng(5)
    words = np.array([f"w{number}" for number in range(200)])
    gold = [words[generator.integers(200, size=12)] for _ in range(250)]

    def system(kept: float) -> list[str]:
        return [
            " ".join(np.where(generator.random(12) < kept, line, words[generator.integers(200, size=12)]))
            for line in gold
        ]

    references = [" ".join(line) for line in gold]
    first, second = system(0.80), system(0.785)
    named = [("first", first), ("second", second)]
    _, results = PairedTest(named, {"BLEU": BLEU()}, [references], test_type=kind, n_samples=2000)()
    theirs = results["BLEU"][1]

    bleu = BLEU()
    statistics = [np.array(bleu._extract_corpus_statistics(lines, [references])) for lines in (first, second)]

    def value(totals: Any) -> Any:
        return np.array(
            [bleu._compute_score_from_stats(row.astype(int).tolist()).score for row in np.atleast_2d(totals)]
        )

    own = [float(value(table.sum(axis=0))[0]) for table in statistics]
    resampling = Resampling(2000)
    if kind == "bs":
        draws = bootstrap(
            {side: lambda counts, own=table: value(counts @ own) for side, table in enumerate(statistics)},
            250,
            resampling,
            "x",
        )
        p = sacrebleu_p(draws[1] - draws[0], own[1] - own[0])
        two_sided = bootstrap_p(draws[1] - draws[0], own[1] - own[0])
        assert two_sided == pytest.approx(2 * p, rel=0.15)
        assert draws[1].mean() == pytest.approx(theirs.mean, abs=0.3)
        assert interval(draws[1], 95).high - draws[1].mean() == pytest.approx(theirs.ci, rel=0.1)
    else:
        table = np.concatenate(statistics)
        swapped = randomization({"m": lambda wide: value(wide @ table)}, 250, 2, resampling, "x")["m"][1]
        added = randomization({"m": Additive(np.stack(statistics).astype(float), value)}, 250, 2, resampling, "x")["m"][
            1
        ]
        assert added == pytest.approx(swapped)
        p = randomization_p(swapped, own[1] - own[0])
    assert own[1] == pytest.approx(theirs.score, abs=1e-9)
    spread = np.sqrt(p * (1 - p) / 2000)
    assert p == pytest.approx(theirs.p_value, abs=6 * spread + 0.002)
    assert 0.005 < p < 0.9  # a pair on which the tests have something to disagree about
