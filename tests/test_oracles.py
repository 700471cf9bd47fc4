"""The oracles give the figures of the golden set, and the golden files that ship are what the oracles give."""

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests import oracles
from tests.golden import GOLDEN, SHIPPED, load, needs_golden

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "submissions" / "example"
Json = dict[str, Any]


def needs(program: str) -> pytest.MarkDecorator:
    """Skip where the original program is not at hand, and say what is missing."""
    reason = oracles.missing(program)
    return pytest.mark.skipif(reason is not None, reason=reason or "")


def load_make_goldens() -> ModuleType:
    """The script scripts/make_goldens.py as a module."""
    spec = importlib.util.spec_from_file_location("make_goldens", ROOT / "scripts" / "make_goldens.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module


make_goldens = load_make_goldens()


def golden_lines(*parts: str) -> list[str]:
    """The lines of a file of the golden set."""
    found: list[str] = make_goldens.read_lines(GOLDEN.joinpath(*parts))
    return found


def assert_rouge(expected: Json, result: oracles.RougeResult) -> None:
    """Every printed figure, averages and pairs."""
    assert expected["average"] == {
        metric: {letter: list(value) for letter, value in values.items()} for metric, values in result.averages.items()
    }
    assert expected["lines"] == {metric: [list(line) for line in lines] for metric, lines in result.lines.items()}


def split(texts: Sequence[str]) -> list[list[str]]:
    """Each text as its sentences."""
    return [text.split("\n") for text in texts]


def test_missing_answers_for_every_program() -> None:
    """Each driver says what it lacks in one line, or nothing."""
    for program in ("rouge155", "coco", "meteor", "nltk"):
        reason = oracles.missing(program)
        assert oracles.available(program) == (reason is None)
        assert reason is None or "\n" not in reason


# ROUGE-1.5.5.pl


@needs_golden
@needs("rouge155")
def test_rouge_xsum() -> None:
    """XSum's 1,500 pairs, sides swapped, give every printed figure."""
    pairs = [
        (make_goldens.sentences_at_stops(gold), make_goldens.sentences_at_stops(prediction))
        for prediction, gold in zip(golden_lines("xsum", "hyp.txt"), golden_lines("xsum", "ref.txt"), strict=True)
    ]
    assert len(pairs) == 1500
    assert_rouge(load(GOLDEN / "xsum" / "rouge.json"), oracles.rouge155(pairs))


@needs_golden
@needs("rouge155")
def test_rouge_cnndm() -> None:
    """CNN/DailyMail's 500 pairs give the post-processed text and every printed figure."""
    expected = load(GOLDEN / "cnndm" / "rouge.json")
    predictions = [make_goldens.cnndm_prediction(line) for line in golden_lines("cnndm", "hyp.txt")]
    assert expected["post"] == ["\n".join(sentences) for sentences in predictions]
    references = [make_goldens.cnndm_reference(line) for line in golden_lines("cnndm", "ref.txt")]
    pairs = make_goldens.all_names_back(list(zip(predictions, references, strict=True)))
    assert_rouge(expected, oracles.rouge155(pairs, stem_of_names="cand"))


@needs_golden
@needs("rouge155")
def test_rouge_gigaword() -> None:
    """Gigaword's 600 pairs give the post-processed text and every printed figure."""
    expected = load(GOLDEN / "gigaword" / "rouge.json")
    predictions = [make_goldens.gigaword_prediction(line) for line in golden_lines("gigaword", "hyp.txt")]
    assert expected["post"] == [sentence for (sentence,) in predictions]
    references = [make_goldens.gigaword_reference(line) for line in golden_lines("gigaword", "ref.txt")]
    pairs = make_goldens.all_names_back(list(zip(predictions, references, strict=True)))
    assert_rouge(expected, oracles.rouge155(pairs, stem_of_names="cand"))


@needs_golden
@needs("rouge155")
@pytest.mark.parametrize("stem", [True, False])
@pytest.mark.parametrize("exceptions", ["none", "full"])
def test_rouge_edge(stem: bool, exceptions: oracles.Exceptions) -> None:
    """The 108 odd pairs of the golden set give every printed figure under each of four settings."""
    golden = load(GOLDEN / "edge" / "rouge.json")
    table = "empty" if exceptions == "none" else "full"
    expected = golden["rouge"][f"{'stem' if stem else 'nostem'},exceptions-{table}"]
    pairs = [(peer.split("\n"), model.split("\n")) for peer, model in golden["pairs"]]
    result = oracles.rouge155(pairs, stem, exceptions)
    assert_rouge(expected, result)
    assert oracles.EXCEPTION_ENTRIES[exceptions] == result.entries


@needs_golden
@needs("rouge155")
@pytest.mark.parametrize(("name", "stem_of_names"), [("msnews", "s"), ("rouge_edge", "s"), ("gigaword_edge", "cand")])
def test_rouge_published_scripts(name: str, stem_of_names: str) -> None:
    """What the unmodified published scripts gave end to end: text, averages, intervals, pairs, both tables."""
    folder = GOLDEN / "more" / name
    golden = load(folder / "golden.json")
    predictions, references = golden_lines("more", name, "hyp.txt"), golden_lines("more", name, "ref.txt")
    rows = list(zip(predictions, references, strict=True))
    if name == "gigaword_edge":
        pairs = [(make_goldens.gigaword_prediction(p), make_goldens.gigaword_reference(r)) for p, r in rows]
    else:
        pairs = [(make_goldens.sentences_at_stops(r), make_goldens.sentences_at_stops(p)) for p, r in rows]
    assert golden["processed"]["peer"] == ["\n".join(peer) for peer, _ in pairs]
    assert golden["processed"]["model"] == ["\n".join(model) for _, model in pairs]
    if name == "gigaword_edge":
        pairs = make_goldens.all_names_back(pairs)
    result = oracles.rouge155(pairs, stem_of_names=stem_of_names)
    averages = {f"{m}_{x}": value for m, values in result.averages.items() for x, value in values.items()}
    assert golden["corpus"] == {key: value.value for key, value in averages.items()}
    assert golden["conf_int"] == {key: [value.low, value.high] for key, value in averages.items()}
    assert golden["seg_RPF"] == {
        str(line): {metric: list(result.lines[metric][line]) for metric in oracles.ROUGE_METRICS}
        for line in range(len(pairs))
    }
    full = oracles.rouge155(pairs, exceptions="full", stem_of_names=stem_of_names)
    assert golden["corpus_with_exception_db"] == {
        f"{m}_{x}": value.value for m, values in full.averages.items() for x, value in values.items()
    }
    assert golden["seg_F_with_exception_db"] == {
        str(line): [full.lines[metric][line][2] for metric in oracles.ROUGE_METRICS] for line in range(len(pairs))
    }


ODD_PAIRS = [
    ([f"a cat {n} sat on mat {n % 7}", "rain fell"], [f"the cats {n % 5} sat", "it rained"]) for n in range(30)
]


@needs("rouge155")
@pytest.mark.skipif(not oracles.perl_has_dom(), reason="Perl has no XML::Parser")
def test_rouge_settings_file_and_list_agree() -> None:
    """The pairs named in a plain list score as when named in the settings file that the wrappers write."""
    by_list, by_file = (oracles.rouge155(ODD_PAIRS, settings=settings) for settings in ("list", "xml"))
    assert by_file.averages == by_list.averages
    assert by_file.lines == by_list.lines


@needs("rouge155")
def test_rouge_names_do_not_matter_but_gaps_do() -> None:
    """`s` and `cand` order the ids alike; line numbers with gaps keep the lines and may move the resampling."""
    plain = oracles.rouge155(ODD_PAIRS)
    assert plain.averages == oracles.rouge155(ODD_PAIRS, stem_of_names="cand").averages
    gaps = oracles.rouge155(ODD_PAIRS, numbers=[number * 9 for number in range(30)])
    assert plain.lines == gaps.lines


@needs("rouge155")
def test_rouge_refuses_what_it_cannot_write() -> None:
    """A newline inside a sentence and an empty list are refused."""
    with pytest.raises(ValueError, match="newline"):
        oracles.rouge155([(["a\nb"], ["a"])])
    with pytest.raises(ValueError, match="no pairs"):
        oracles.rouge155([])


# coco-caption and METEOR


@needs_golden
@needs("coco")
@pytest.mark.parametrize("task", ["squadqg", "msqg"])
def test_coco_groups(task: str) -> None:
    """The groups of the golden set come out as text, and with them BLEU-1..4 and ROUGE-L."""
    golden = load(GOLDEN / task / "qg.json")
    sources, predictions, references = (golden_lines(task, f"{side}.txt") for side in ("src", "hyp", "ref"))
    items = make_goldens.qg_items(task, sources, predictions, references)
    assert golden["groups"] == len(items)
    assert golden["prediction"] == [hypothesis for hypothesis, _, _ in items]
    assert golden["references"] == [references for _, references, _ in items]
    result = oracles.coco([(hypothesis, references) for hypothesis, references, _ in items])
    assert golden["bleu"] == pytest.approx(result.bleu, abs=1e-12)
    assert golden["rouge_l"] == pytest.approx(result.rouge_l, abs=1e-12)
    assert golden["rouge_l_lines"] == pytest.approx(result.rouge_l_lines, abs=1e-12)
    for expected, actual in zip(golden["bleu_lines"], result.bleu_lines, strict=True):
        assert expected == pytest.approx(actual, abs=1e-12)


@needs_golden
@needs("meteor")
@pytest.mark.parametrize("task", ["squadqg", "msqg"])
def test_meteor_groups(task: str) -> None:
    """METEOR of the golden groups, aggregate and segments."""
    golden = load(GOLDEN / task / "qg.json")
    result = oracles.meteor(list(zip(golden["prediction"], golden["references"], strict=True)))
    assert golden["meteor"] == result.meteor
    assert golden["meteor_lines"] == result.meteor_lines


@needs_golden
@needs("coco")
@needs("meteor")
def test_coco_and_meteor_edge() -> None:
    """The 121 odd items of the golden set."""
    golden = load(GOLDEN / "edge" / "coco.json")
    result, meteor = oracles.coco(golden["items"]), oracles.meteor(golden["items"])
    assert golden["bleu"] == pytest.approx(result.bleu, abs=1e-12)
    assert golden["rouge_l"] == pytest.approx(result.rouge_l, abs=1e-12)
    assert golden["rouge_l_lines"] == pytest.approx(result.rouge_l_lines, abs=1e-12)
    for expected, actual in zip(golden["bleu_lines"], result.bleu_lines, strict=True):
        assert expected == pytest.approx(actual, abs=1e-12)
    assert golden["meteor"] == meteor.meteor
    assert golden["meteor_lines"] == meteor.meteor_lines


@needs_golden
@needs("coco")
@needs("meteor")
@pytest.mark.parametrize(("name", "task"), [("qg_edge", "squadqg"), ("qg_edge_plain", "msqg")])
def test_question_generation_published_scripts(name: str, task: str) -> None:
    """What the unmodified published scripts gave for odd rows: groups, text and every figure."""
    golden = load(GOLDEN / "more" / name / "golden.json")
    sources, predictions, references = (golden_lines("more", name, f"{side}.txt") for side in ("src", "hyp", "ref"))
    items = make_goldens.qg_items(task, sources, predictions, references)
    assert [(g["hyp"], g["refs"], g["lines"]) for g in golden["groups"]] == items
    texts = [(hypothesis, references) for hypothesis, references, _ in items]
    result = oracles.coco(texts)
    # METEOR's wrapper takes ||| out of the prediction.
    meteor = oracles.meteor([(hypothesis.replace("|||", ""), references) for hypothesis, references in texts])
    corpus = [*result.bleu, meteor.meteor, result.rouge_l]
    assert list(golden["corpus"].values()) == pytest.approx(corpus, abs=1e-12)
    for number, expected in enumerate(golden["groups"]):
        assert expected["bleu"] == pytest.approx([row[number] for row in result.bleu_lines], abs=1e-12)
        assert expected["rouge_l"] == pytest.approx(result.rouge_l_lines[number], abs=1e-12)
        assert expected["meteor"] == meteor.meteor_lines[number]
        assert expected["meteor_stats"] == meteor.stats[number]


@needs_golden
@needs("meteor")
def test_meteor_probes() -> None:
    """The nine METEOR probes of the golden set, with their statistics."""
    golden = load(GOLDEN / "more" / "meteor_probes.json")
    fit = [probe for probe in golden if not any(mark in probe["hyp"] + probe["ref"] for mark in ("|||", "\n", "\r"))]
    result = oracles.meteor([(probe["hyp"], [probe["ref"]]) for probe in fit])
    assert [probe["score"] for probe in fit] == result.meteor_lines
    assert [probe["stats"] for probe in fit] == result.stats


@needs("meteor")
@pytest.mark.parametrize("text", ["a ||| b", "a\nb", "a\rb"])
def test_meteor_refuses_what_breaks_the_protocol(text: str) -> None:
    """Text that the jar's line protocol cannot carry is refused on either side."""
    for item in ((text, ["a"]), ("a", ["a", text])):
        with pytest.raises(ValueError, match="text holds"):
            oracles.meteor([item])


# NLTK, F1, Distinct


@needs_golden
@needs("nltk")
def test_nltk_personachat() -> None:
    """PersonaChat's 1,500 lines under the installed NLTK's smoothing, line by line."""
    golden = load(GOLDEN / "personachat" / "personachat.json")["nltk-3.6.1+"]
    pairs = list(zip(golden_lines("personachat", "hyp.txt"), golden_lines("personachat", "ref.txt"), strict=True))
    for order, weights in enumerate(make_goldens.PERSONACHAT_WEIGHTS.values(), 1):
        lines = oracles.nltk_lines(pairs, weights)
        assert golden[f"bleu{order}_lines"] == pytest.approx([value for value, _ in lines], abs=1e-12)
        assert golden[f"raised{order}"] == sum(raised for _, raised in lines)
        assert golden[f"bleu{order}"] == pytest.approx(100 * sum(value for value, _ in lines) / len(lines), abs=1e-9)


@needs_golden
def test_distinct_personachat() -> None:
    """Distinct-1 and -2 of the golden PersonaChat predictions."""
    golden = load(GOLDEN / "personachat" / "personachat.json")
    assert golden["distinct"] == pytest.approx(oracles.distinct(golden_lines("personachat", "hyp.txt")), abs=1e-15)


@needs_golden
def test_f1_coqa() -> None:
    """F1 of the 1,500 golden CoQA lines, mean and lines."""
    golden = load(GOLDEN / "coqa" / "f1.json")
    lines = oracles.coqa_f1(golden_lines("coqa", "hyp.txt"), golden_lines("coqa", "ref.txt"))
    assert golden["f1_lines"] == lines
    assert golden["f1"] == pytest.approx(100 * sum(lines) / len(lines), abs=1e-12)


def test_f1_by_hand() -> None:
    """Repeated words count once each, articles vanish, and two empty answers agree."""
    answers = ["paris paris paris paris paris", "the", "“white”", "a cat", ""]
    golds = ["Paris", "a", "white", "the cat sat", "cat"]
    assert pytest.approx([1 / 3, 1.0, 0.0, 2 / 3, 0.0]) == oracles.coqa_f1(answers, golds)


def test_distinct_by_hand() -> None:
    """Distinct counts over the corpus; a pair of words never crosses a line."""
    assert pytest.approx((2 / 3, 1.0), abs=1e-5) == oracles.distinct(["a b", "a"])


# The golden files that ship


@needs("rouge155")
@pytest.mark.parametrize("stem", [True, False])
@pytest.mark.parametrize("exceptions", ["none", "full"])
def test_rouge_pairs_are_what_the_program_prints(stem: bool, exceptions: oracles.Exceptions) -> None:
    """rouge_pairs.json is what ROUGE-1.5.5.pl prints here, and holds the pairs of the script."""
    golden = load(SHIPPED / "rouge_pairs.json")
    assert golden["pairs"] == [list(pair) for pair in make_goldens.ROUGE_PAIRS]
    pairs = list(zip(split([p for p, _ in golden["pairs"]]), split([m for _, m in golden["pairs"]]), strict=True))
    expected = golden["settings"][f"{'stem' if stem else 'nostem'},exceptions-{exceptions}"]
    result = oracles.rouge155(pairs, stem, exceptions)
    assert_rouge(expected, result)
    assert expected["exceptions"] == result.entries


@needs("coco")
@needs("meteor")
def test_coco_pairs_are_what_the_programs_give() -> None:
    """coco_pairs.json is what coco-caption and the METEOR jar give here."""
    golden = load(SHIPPED / "coco_pairs.json")
    items = [(hypothesis, references) for hypothesis, references in golden["items"]]
    assert items == make_goldens.COCO_ITEMS
    result, meteor = oracles.coco(items), oracles.meteor(items)
    assert golden["bleu"] == result.bleu
    assert golden["bleu_lines"] == result.bleu_lines
    assert golden["rouge_l"] == result.rouge_l
    assert golden["rouge_l_lines"] == result.rouge_l_lines
    assert golden["meteor"] == meteor.meteor
    assert golden["meteor_lines"] == meteor.meteor_lines
    assert golden["meteor_statistics"] == meteor.stats


@needs("nltk")
def test_personachat_pairs_are_what_nltk_gives() -> None:
    """personachat_pairs.json is what the installed NLTK gives here (3.5 cannot be installed beside it)."""
    golden = load(SHIPPED / "personachat_pairs.json")
    pairs = [(prediction, reference) for prediction, reference in golden["pairs"]]
    assert pairs == make_goldens.PERSONACHAT_PAIRS
    for name, weights in golden["weights"].items():
        expected = golden["variants"]["nltk-3.6.1+"][name]
        lines = oracles.nltk_lines(pairs, weights)
        assert expected["lines"] == pytest.approx([value for value, _ in lines], abs=1e-12)
        assert expected["raised"] == [number for number, (_, raised) in enumerate(lines) if raised]
    assert golden["distinct"] == list(oracles.distinct([prediction for prediction, _ in pairs]))


def test_expected_covers_the_example() -> None:
    """expected.json has every task of the example with as many rows, and the means follow from its metrics."""
    expected = load(EXAMPLE / "expected.json")
    assert tuple(expected["tasks"]) == make_goldens.TASKS
    for task, scores in expected["tasks"].items():
        path = EXAMPLE / "predictions" / f"{task}.{expected['level']}.test"
        assert scores["rows"] == len(make_goldens.read_lines(path))
        assert scores["mean"] == pytest.approx(sum(scores["metrics"].values()) / len(scores["metrics"]))
    means = [scores["mean"] for scores in expected["tasks"].values()]
    assert expected["overall"] == pytest.approx(sum(means) / 8)


@needs("rouge155")
@pytest.mark.parametrize("task", ["cnndm", "gigaword", "xsum", "msnews"])
def test_expected_rouge_is_what_the_program_prints(task: str) -> None:
    """The example's ROUGE figures are what ROUGE-1.5.5.pl prints here."""
    expected = load(EXAMPLE / "expected.json")["tasks"][task]
    actual = make_goldens.example_scores(task, EXAMPLE, Path())
    assert expected["rouge"] == actual["rouge"]
    assert expected["metrics"] == actual["metrics"]


@needs("coco")
@needs("meteor")
@pytest.mark.parametrize("task", ["squadqg", "msqg"])
def test_expected_questions_are_what_the_programs_give(task: str) -> None:
    """The example's question-generation figures are what coco-caption and the METEOR jar give here."""
    expected = load(EXAMPLE / "expected.json")["tasks"][task]
    actual = make_goldens.example_scores(task, EXAMPLE, Path())
    assert expected == {**actual, "command": expected["command"]}
