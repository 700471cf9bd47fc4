"""BLEU and ROUGE-L of coco-caption: goldens, cases, and the package itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glge.metrics import METRICS, Pairs
from glge.metrics.coco import CocoBleu, CocoRougeL
from tests import oracles, strategies
from tests.golden import GOLDEN, SHIPPED, load, needs_golden


def close(found: object, expected: object, tolerance: float = 1e-9) -> bool:
    """Equal within the tolerance, element by element."""
    return bool(np.max(np.abs(np.asarray(found, dtype=float) - np.asarray(expected, dtype=float))) <= tolerance)


def check(
    pairs: Pairs, bleu: list[float], bleu_lines: list[list[float]], rouge: float, rouge_lines: list[float]
) -> None:
    """Corpus and per-item figures of all five metrics."""
    for order in (1, 2, 3, 4):
        metric = CocoBleu(order)
        rows = metric.rows(pairs)
        assert close(metric.reduce(rows), bleu[order - 1])
        assert close(metric.lines(rows), bleu_lines[order - 1])
    metric = CocoRougeL()
    rows = metric.rows(pairs)
    assert close(metric.reduce(rows), rouge)
    assert close(metric.lines(rows), rouge_lines)


def by_order(figures: list[list[float]]) -> list[list[float]]:
    """Some goldens list items first, some orders first."""
    return figures if len(figures) == 4 else [list(column) for column in zip(*figures, strict=True)]


@needs_golden
@pytest.mark.parametrize("name", ["squadqg", "msqg"])
def test_golden_groups(name: str) -> None:
    """Groups of real questions."""
    golden = load(GOLDEN / name / "qg.json")
    pairs = Pairs(golden["prediction"], golden["references"])
    check(pairs, golden["bleu"], by_order(golden["bleu_lines"]), golden["rouge_l"], golden["rouge_l_lines"])


@needs_golden
def test_golden_edge_items() -> None:
    """121 odd items."""
    golden = load(GOLDEN / "edge" / "coco.json")
    pairs = Pairs([item[0] for item in golden["items"]], [item[1] for item in golden["items"]])
    check(pairs, golden["bleu"], by_order(golden["bleu_lines"]), golden["rouge_l"], golden["rouge_l_lines"])


def test_shipped_golden_items() -> None:
    """Items written for this project, scored by pycocoevalcap; the file says how."""
    golden = load(SHIPPED / "coco_pairs.json")
    pairs = Pairs([item[0] for item in golden["items"]], [item[1] for item in golden["items"]])
    check(pairs, golden["bleu"], by_order(golden["bleu_lines"]), golden["rouge_l"], golden["rouge_l_lines"])


def test_m10_one_word_lines() -> None:
    """M10: three one-word lines equal to themselves are BLEU-4 0.0 by definition, and a note says so."""
    metric = CocoBleu(4)
    rows = metric.rows(Pairs.single(["yes", "no", "maybe"], ["yes", "no", "maybe"]))
    assert f"{100 * metric.reduce(rows):.1f}" == "0.0"
    assert metric.notes(rows) == ("BLEU-4 is 0 by definition: no prediction is 2 words long",)


def test_m11_all_predictions_empty() -> None:
    """M11: BLEU 0.0, no NaN."""
    for order in (1, 2, 3, 4):
        assert METRICS[f"coco_bleu{order}"]().score(["", ""], ["a b", "c"]) == 0.0
    assert METRICS["coco_rougeL"]().score(["", ""], ["a b", "c"]) == 0.0


@pytest.mark.parametrize("references", [["a b c", "a b c d e"], ["a b c d e", "a b c"]])
def test_m12_ties_of_length(references: list[str]) -> None:
    """M12: of two references equally far the shorter one sets the length, in both orders."""
    metric = CocoBleu(1)
    assert metric.details(metric.rows(Pairs(["a b c d"], [references])))["reference_length"] == 3


def test_rouge_l_takes_each_maximum_by_itself() -> None:
    """Largest precision and largest recall may come from different references."""
    metric = CocoRougeL()
    rows = metric.rows(Pairs(["a b c d"], [["a", "a b x y z q"]]))
    assert (rows.values[0, 1], rows.values[0, 2]) == (0.5, 1.0)


def test_l9_double_blanks() -> None:
    """L9: ROUGE-L splits at single blanks, so double blanks are tokens; BLEU splits at white space."""
    assert METRICS["coco_rougeL"]().score(["a  b"], ["x  y"]) == pytest.approx(1 / 3)
    assert METRICS["coco_bleu1"]().score(["a  b"], ["a b"]) == pytest.approx(1.0)


@pytest.mark.skipif(oracles.missing("coco") is not None, reason=str(oracles.missing("coco")))
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(strategies.text, st.lists(strategies.text, min_size=1, max_size=4)), min_size=1, max_size=30))
def test_differential(items: list[tuple[str, list[str]]]) -> None:
    """Generated items against pycocoevalcap itself."""
    found = oracles.coco(items)
    pairs = Pairs([hypothesis for hypothesis, _ in items], [references for _, references in items])
    check(pairs, found.bleu, found.bleu_lines, found.rouge_l, found.rouge_l_lines)
