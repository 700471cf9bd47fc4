"""The named rules: goldens of the published post-processing, and each odd step by itself."""

from __future__ import annotations

import pytest
from hypothesis import given

from glge.rules import RULES, apply_rules, fix_tokens_lower, fix_tokens_upper
from tests import strategies
from tests.golden import GOLDEN, lines, load, needs_golden


@needs_golden
def test_golden_cnndm_post_processing() -> None:
    """500 real predictions after the published post-processing."""
    rules = ["strip", "sentences-at-x-sep", "fix-tokens-upper", "drop-short-sentences", "drop-repeated-sentences"]
    assert apply_rules(rules, lines(GOLDEN / "cnndm" / "hyp.txt")) == load(GOLDEN / "cnndm" / "rouge.json")["post"]


@needs_golden
@pytest.mark.parametrize("name", ["gigaword", "more/gigaword_edge"])
def test_golden_gigaword_post_processing(name: str) -> None:
    """Real and odd gigaword predictions after the published post-processing."""
    file = GOLDEN / name / ("rouge.json" if name == "gigaword" else "golden.json")
    golden = load(file)
    expected = golden["post"] if "post" in golden else golden["processed"]["peer"]
    assert apply_rules(["fix-tokens-lower", "ones-to-hashes"], lines(GOLDEN / name / "hyp.txt")) == expected


@needs_golden
@pytest.mark.parametrize("name", ["msnews", "rouge_edge"])
def test_golden_sentence_splits(name: str) -> None:
    """The texts files2rouge is given."""
    folder = GOLDEN / "more" / name
    golden = load(folder / "golden.json")["processed"]
    for file, side in (("hyp.txt", "model"), ("ref.txt", "peer")):
        assert apply_rules(["strip", "sentences-at-full-stop"], lines(folder / file)) == golden[side]


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ('" a " b "', "`` a '' b ``"),
        ("he isn ' t here", "he is n't here"),
        ("it ' s we ' ll i ' d", "it 's we 'll i 'd"),
        ("' quoted ' text", "` quoted ' text"),
        ("wait . . . no", "wait ... no"),
        ("1 , 000 , 000", "1,000,000"),
        ("3 . 5 . 1", "3.5 . 1"),
        ("a , b", "a , b"),
        ("U . S . today", "U.S. . today"),
        ("U . S . A . today", "U.S. . A . today"),
        ("U . N . X Y .", "U.N.XY . X Y ."),
        ("a - - b", "a -- b"),
        ("- a b -", "- a b -"),
        ("well - known", "well-known"),
        ("a - ' s", "a - 's"),
        ("isn - t", "isn-t"),
        ("! - b", "! - b"),
        ("", ""),
        ("  spaced   out  ", "spaced out"),
    ],
)
def test_fix_tokens(text: str, fixed: str) -> None:
    """Quotes by turns, contractions, numbers, initials one token late, hyphens."""
    assert fix_tokens_upper(text) == fixed


def test_fix_tokens_renames_whole_tokens_only() -> None:
    """Brackets, entities and [UNK] are renamed as tokens, not inside words; each variant has its own names."""
    assert fix_tokens_lower("( a&b & [UNK] x<y < )") == "-lrb- a&b &amp; UNK x<y &lt; -rrb-"
    assert fix_tokens_upper("{ a & [UNK] }") == "-LCB- a & [UNK] -RCB-"


def test_a_bracket_after_a_dash_is_not_glued() -> None:
    """The dash looks at the raw next token: a bracket is punctuation."""
    assert fix_tokens_upper("well - ( known )") == "well - -LRB- known -RRB-"


def test_repeated_sentences() -> None:
    """Over 70 % of the words seen before: dropped; words of dropped sentences count as seen."""
    rule = RULES["drop-repeated-sentences"]
    assert rule("a b c\na b x\na b c") == "a b c\na b x"
    assert rule("a b c d e f g h i j\na b c d e f g x y z") == "a b c d e f g h i j\na b c d e f g x y z"
    assert rule("a b c d\na b c z\nz z z z") == "a b c d"


def test_x_sep_and_s_sep() -> None:
    """M2: the separators of both sides are understood."""
    assert RULES["sentences-at-x-sep"]("a b .[X_SEP]c").split("\n") == ["a b .", "c"]
    assert RULES["sentences-at-s-sep"]("a <S_SEP> b <S_SEP>c").split("\n") == ["a", "b <S_SEP>c"]


@pytest.mark.parametrize("name", RULES)
@given(strategies.odd_line)
def test_rules_never_crash_and_keep_lines(name: str, line: str) -> None:
    """Any line gives a line, and the number of lines never changes."""
    assert len(apply_rules([name], [line, "", line])) == 3
