"""F1 and exact match (CoQA), smoothed BLEU and Distinct (PersonaChat)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glge.errors import MetricError
from glge.metrics import METRICS, Pairs
from glge.metrics.distinct import Distinct
from glge.metrics.f1 import F1, normalise
from glge.metrics.smoothed_bleu import SmoothedBleu
from glge.rules import apply_rules
from tests import oracles, strategies
from tests.golden import GOLDEN, SHIPPED, lines, load, needs_golden
from tests.test_coco import close

FORMULAS = ("3.5", "3.6.1+")


# --- F1


@needs_golden
def test_golden_f1() -> None:
    """1,500 answers: every line and the mean."""
    golden = load(GOLDEN / "coqa" / "f1.json")
    metric = F1()
    rows = metric.rows(Pairs.single(lines(GOLDEN / "coqa" / "hyp.txt"), lines(GOLDEN / "coqa" / "ref.txt")))
    assert close(100 * metric.reduce(rows), golden["f1"], 1e-12)
    assert close(metric.lines(rows), golden["f1_lines"], 1e-12)


@pytest.mark.parametrize(
    ("prediction", "reference", "expected"),
    [
        ("paris paris paris paris paris", "Paris", 1 / 3),  # M16: a bag of words, not a set
        ("the", "a", 1.0),  # M17: both empty once the articles are gone
        ("“white”", "white", 0.0),  # M18: only ASCII punctuation is deleted
        ("", "white", 0.0),
        ("", "", 1.0),
        ("don't", "dont", 1.0),
        ("a-b", "ab", 1.0),
        ("An apple", "apple", 1.0),
        ("theatre", "atre", 0.0),
        ("ｔｈｅ cat", "cat", 2 / 3),
    ],
)
def test_f1_cases(prediction: str, reference: str, expected: float) -> None:
    """M16, M17, M18 and their kind."""
    assert METRICS["f1"]().score([prediction], [reference]) == pytest.approx(expected, abs=1e-12)


def test_set_based_f1_is_caught() -> None:
    """A set-based F1 would give 1.0 on M16: the case above tells them apart."""
    predicted, gold = set(normalise("paris paris paris")), set(normalise("Paris"))
    assert 2 * len(predicted & gold) / (len(predicted) + len(gold)) == 1.0
    assert METRICS["f1"]().score(["paris paris paris"], ["Paris"]) == 0.5


def test_exact_match_stands_beside() -> None:
    """Exact match after the same normalisation."""
    assert METRICS["exact_match"]().score(["The cat!", "cat", "a cat sat"], ["cat", "dog", "cat"]) == pytest.approx(
        1 / 3
    )


@given(st.lists(st.tuples(strategies.odd_line, strategies.odd_line), min_size=1, max_size=20))
def test_f1_against_a_plain_second_writing(drawn: list[tuple[str, str]]) -> None:
    """Generated lines against an independent writing of the definition."""
    predictions, references = [a for a, _ in drawn], [b for _, b in drawn]
    metric = F1()
    found = metric.lines(metric.rows(Pairs.single(predictions, references)))
    assert close(found, oracles.coqa_f1(predictions, references), 1e-12)


# --- Smoothed BLEU


@needs_golden
@pytest.mark.parametrize("formula", FORMULAS)
def test_golden_personachat(formula: str) -> None:
    """1,500 replies, both NLTK formulas: lines, mean, and how often NLTK raises."""
    golden = load(GOLDEN / "personachat" / "personachat.json")
    sides = [apply_rules(["strip"], lines(GOLDEN / "personachat" / name)) for name in ("hyp.txt", "ref.txt")]
    pairs = Pairs.single(*sides)
    expected = golden[f"nltk-{formula}"]
    for order in (1, 2):
        metric = SmoothedBleu(order, nltk=formula)  # type: ignore[arg-type]
        rows = metric.rows(pairs)
        assert close(100 * metric.reduce(rows), expected[f"bleu{order}"])
        assert close(metric.lines(rows), expected[f"bleu{order}_lines"])
        assert metric.details(rows)["lines_raised"] == expected[f"raised{order}"]
        distinct = Distinct(order)
        assert close(distinct.reduce(distinct.rows(pairs)), golden["distinct"][order - 1], 1e-12)


@pytest.mark.parametrize("formula", FORMULAS)
def test_shipped_golden_replies(formula: str) -> None:
    """Replies written for this project, scored with both NLTK releases; the file says how."""
    golden = load(SHIPPED / "personachat_pairs.json")
    stripped = [apply_rules(["strip"], [pair[side] for pair in golden["pairs"]]) for side in (0, 1)]
    pairs = Pairs.single(*stripped)
    for order in (1, 2):
        expected = golden["variants"][f"nltk-{formula}"][f"bleu{order}"]
        metric = SmoothedBleu(order, nltk=formula)  # type: ignore[arg-type]
        rows = metric.rows(pairs)
        assert close(100 * metric.reduce(rows), expected["value"])
        assert close(metric.lines(rows), expected["lines"])
        assert np.flatnonzero(rows.column("raised")).tolist() == expected["raised"]
        distinct = Distinct(order)  # type: ignore[arg-type]
        assert close(distinct.reduce(distinct.rows(pairs)), golden["distinct"][order - 1], 1e-12)


def test_m20_a_perfect_line_is_above_one() -> None:
    """M20: four words or more that match exactly give 1.333 and 1.217, and a note says why."""
    line = ["i like cats too"]
    one, two = METRICS["smoothed_bleu1"](), METRICS["smoothed_bleu2"]()
    assert (round(one.score(line, line), 3), round(two.score(line, line), 3)) == (1.333, 1.217)
    assert "above 100" in one.notes(one.rows(Pairs.single(line, line)))[-1]
    assert "nltk-3.5" in one.signature


def test_one_word_replies_count_zero_in_the_official_formula() -> None:
    """NLTK 3.5 divides by ln 1 there and the script counts 0; the later formula does not."""
    assert METRICS["smoothed_bleu1"]().score(["yes"], ["yes"]) == 0.0
    assert METRICS["smoothed_bleu1"](nltk="3.6.1+").score(["yes"], ["yes"]) == 1.0


def test_later_smoothing_under_the_older_name_is_caught() -> None:
    """The two formulas differ on an ordinary line, so a mix-up cannot hide."""
    pair = (["i really like cats and dogs"], ["i do not like dogs"])
    older, newer = (METRICS["smoothed_bleu2"](nltk=formula).score(*pair) for formula in FORMULAS)
    assert abs(older - newer) > 0.01


def test_unknown_formula() -> None:
    """A formula nobody knows is refused, not replaced."""
    with pytest.raises(MetricError, match=r"expected 3.5 or 3.6.1\+, found '3.7'"):
        METRICS["smoothed_bleu1"](nltk="3.7")


@pytest.mark.skipif(oracles.missing("nltk") is not None, reason=str(oracles.missing("nltk")))
@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(strategies.text, strategies.text), min_size=1, max_size=20))
def test_differential_nltk(drawn: list[tuple[str, str]]) -> None:
    """Generated replies against the installed NLTK (its formula is that of 3.6.1 and later)."""
    pairs = Pairs.single([a for a, _ in drawn], [b for _, b in drawn])
    for order, weights in ((1, (1, 0, 0, 0)), (2, (0.5, 0.5, 0, 0))):
        metric = SmoothedBleu(order, nltk="3.6.1+")  # type: ignore[arg-type]
        expected = [oracles.nltk_sentence_bleu(a.split(" "), b.split(" "), weights) for a, b in drawn]
        assert close(metric.lines(metric.rows(pairs)), expected)


# --- Distinct


def test_m19_over_the_corpus() -> None:
    """M19: four replies, one empty, one of one token: over the corpus, not a mean of replies."""
    replies = ["a b c", "a b d", "", "a"]
    metric = Distinct(2)
    assert metric.score(replies, replies) == pytest.approx(0.75, abs=1e-5)


def test_distinct_union_and_counts() -> None:
    """A resample that takes a line twice adds its n-grams to the total only."""
    metric = Distinct(1)
    rows = metric.rows(Pairs.single(["a b", "b c", "d"], ["", "", ""]))
    assert metric.reduce(rows, np.array([2, 0, 1])) == pytest.approx(3 / 5, abs=1e-5)
    draws = np.array([[1, 1, 1], [0, 0, 3]])
    assert metric.reduce(rows, draws) == pytest.approx([4 / 5, 1 / 3], abs=1e-5)


@given(st.lists(strategies.odd_line, min_size=1, max_size=20))
def test_distinct_against_a_plain_second_writing(replies: list[str]) -> None:
    """Generated replies against an independent writing of the definition."""
    stripped = apply_rules(["strip"], replies)
    expected = oracles.distinct(apply_rules([], replies))
    for order in (1, 2):
        assert math.isclose(Distinct(order).score(stripped, stripped), expected[order - 1], abs_tol=1e-12)  # type: ignore[arg-type]
