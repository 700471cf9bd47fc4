"""METEOR against its own jar: generated and real pairs, and the stemmer on the jar's whole vocabulary.

Needs Java and the files of `pycocoevalcap`; the conversion into the user's cache takes about 10 s once.
"""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from glge.errors import GlgeError, MetricError, MissingResource
from glge.metrics.contract import Pairs
from glge.metrics.meteor import Meteor, resources, text
from glge.metrics.meteor.java import JavaMeteor, JavaResult, find_java
from glge.metrics.meteor.scorer import Scorer
from glge.metrics.meteor.stemmer import stem

SHARED = Path(__file__).resolve().parents[2] / "shared"

Pair = tuple[str, tuple[str, ...]]


@pytest.fixture(scope="module")
def java() -> JavaMeteor:
    """The jar as an engine; the tests here are about nothing else."""
    try:
        engine = JavaMeteor()
        engine.command()
    except MissingResource as missing:
        pytest.skip(str(missing))
    return engine


@pytest.fixture(scope="module")
def scorer(java: JavaMeteor) -> Scorer:
    """The Python engine on the tables in the user's cache."""
    resources.build()
    return resources.load()


BITS = ". , ' ` - -- ... .. '' `` \" ? ! : ; ( ) $ % & / ‘ ’ “ ” – — … # @ * _ ~ . , ' -"
PIECES = (
    "U.S. Mr. Mrs No. pp. i.e. e.g v. vs. J.R.R. 1,000 1,5a 3.5 '90s 5's don't O'Neil well-known a-b-c "
    "state-of-the-art X. DOTMULTI DOTMULTI. DOTDOTMULTI rock'n'roll 1's"
)


class Generator:
    """Pairs nobody would write: seeded, so a failure can be repeated."""

    def __init__(self, scorer: Scorer, seed: int) -> None:
        self.random = random.Random(seed)
        self.table = scorer.paraphrases
        self.vocabulary = list(self.table.words)[1:]
        self.common = self.vocabulary[:400] + sorted(scorer.function_words)
        self.synonyms = scorer.synonyms
        self.lemmas = [word for word in scorer.synonyms._lemmas if word.isalpha()]
        self.by_set: dict[int, list[str]] = {}
        for lemma in self.random.sample(self.lemmas, 20_000):
            for number in scorer.synonyms.sets(lemma).tolist():
                self.by_set.setdefault(number, []).append(lemma)
        self.shared_sets = [lemmas for lemmas in self.by_set.values() if len(lemmas) > 1]

    def pairs(self) -> list[Pair]:
        """At least 6,000 of them."""
        kinds: list[tuple[Callable[[], Pair], int]] = [
            (self.salad, 1200),
            (self.repeats, 600),
            (self.crossing, 100),
            (self.long_line, 24),
            (self.paraphrased, 1200),
            (self.synonymous, 800),
            (self.punctuated, 1200),
            (self.odd, 800),
            (self.several, 400),
            (self.broken, 300),
        ]
        found = [make() for make, count in kinds for _ in range(count)]
        found += [("", ("",)), ("", ("a word",)), ("a word", ("",)), (" ", ("\t",)), (".", ("...",)), ("|", ("| |",))]
        return found

    def phrase(self, number: int) -> str:
        """The text of a phrase of the table."""
        found: list[str] = []
        while number >= len(self.vocabulary) + 1:
            number, word = divmod(int(self.table.edges[number - len(self.table.words)]), len(self.table.words))
            found.insert(0, self.vocabulary[word - 1])
        return " ".join([self.vocabulary[number - 1], *found])

    def some(self, vocabulary: list[str], low: int, high: int) -> list[str]:
        """Some words of a vocabulary, again and again."""
        return self.random.choices(vocabulary, k=self.random.randint(low, high))

    def salad(self) -> Pair:
        """Two draws from the same few words."""
        vocabulary = self.random.sample(self.common, self.random.randint(4, 40))
        return " ".join(self.some(vocabulary, 0, 25)), (" ".join(self.some(vocabulary, 0, 25)),)

    def repeats(self) -> Pair:
        """Hardly any different words: many ways to align them."""
        vocabulary = self.random.sample(self.common, self.random.randint(1, 4))
        return " ".join(self.some(vocabulary, 1, 30)), (" ".join(self.some(vocabulary, 1, 30)),)

    def crossing(self) -> Pair:
        """The same words in other orders, among them inflections: more partial alignments than the beam keeps."""
        vocabulary = self.random.sample(self.common, 2)
        vocabulary += [word + ending for word in vocabulary for ending in ("s", "ed")]
        mine = self.some(vocabulary, 12, 30)
        other = mine[:]
        self.random.shuffle(other)
        return " ".join(mine), (" ".join(other),)

    def long_line(self) -> Pair:
        """Hundreds of words."""
        vocabulary = self.random.sample(self.common, 150) + self.random.sample(self.vocabulary, 400)
        return " ".join(self.some(vocabulary, 100, 500)), (" ".join(self.some(vocabulary, 100, 500)),)

    def paraphrased(self) -> Pair:
        """Phrases of the table against their paraphrases, in either direction."""
        mine, other = [], []
        for _ in range(self.random.randint(1, 6)):
            head = self.random.randrange(len(self.table.heads))
            low, high = self.table.starts[head : head + 2].tolist()
            sides = [self.phrase(int(self.table.heads[head])), ""]
            sides[1] = self.phrase(int(self.table.bodies[self.random.randrange(low, high)]))
            self.random.shuffle(sides)
            mine.append(sides[0])
            other.append(sides[1])
            if self.random.random() < 0.5:
                mine += self.some(self.common, 0, 2)
                other += self.some(self.common, 0, 2)
        if self.random.random() < 0.3:
            self.random.shuffle(mine)
        return " ".join(mine), (" ".join(other),)

    def synonymous(self) -> Pair:
        """Words of one synonym set, inflected."""
        mine, other = [], []
        for _ in range(self.random.randint(1, 8)):
            left, right = self.random.sample(self.random.choice(self.shared_sets), 2)
            mine.append(left + self.random.choice(("", "", "s", "es", "ed", "ing", "er", "est", "ly")))
            other.append(right + self.random.choice(("", "", "s", "es", "ed", "ing", "er", "est", "ly")))
            mine += self.some(self.common, 0, 1)
            other += self.some(self.common, 0, 1)
        return " ".join(mine), (" ".join(other),)

    def punctuated(self) -> Pair:
        """Every rule of the normaliser, glued together."""
        bits, pieces = BITS.split(" "), PIECES.split(" ")

        def line(items: list[str]) -> str:
            text = ""
            for item in items:
                text += self.random.choice((item, item.upper(), item.capitalize()))
                text += self.random.choice(bits) if self.random.random() < 0.4 else ""
                text += self.random.choice((" ", " ", " ", "", "  ", "\u00a0"))
            return text

        items = [self.random.choice(pieces + self.common[:30]) for _ in range(self.random.randint(0, 14))]
        mine = line(items)
        if self.random.random() < 0.5:
            self.random.shuffle(items)
        return mine, (line(items),)

    def odd(self) -> Pair:
        """Letters of many scripts, controls, and spaces of every width."""
        letters = (
            "aeéÉèßẞİıŠžŸ×÷ÀÖÿŁłĲǆΣσςЖжѐԥԨꙀꙮꚗᴀᵿαΩא中日本한🙂𝒜\u0301\u200b\ufeff\u2028\u0085\x00\x01\x0b\x0c\x1c\x1f"
        )
        letters += "\u00a0\u2003\u200a\u202f\u3000\u205f\u180e.,'-09xX |"
        alphabet = [*self.random.sample(letters, self.random.randint(2, 12)), " ", " ", "a"]

        def line() -> str:
            return "".join(self.random.choices(alphabet, k=self.random.randint(0, 30)))

        mine = line()
        return mine, (self.random.choice((mine.upper(), mine.lower(), mine + line(), line())),)

    def several(self) -> Pair:
        """Two to six references."""
        mine, (other,) = self.random.choice((self.salad, self.punctuated, self.paraphrased))()
        groups = [other]
        for _ in range(self.random.randint(1, 5)):
            more = other.split(" ")
            self.random.shuffle(more)
            groups.append(self.random.choice((" ".join(more), "", self.salad()[0], mine, other)))
        self.random.shuffle(groups)
        return mine, tuple(groups)

    def broken(self) -> Pair:
        """What breaks the line protocol."""

        def planted(text: str) -> str:
            for _ in range(self.random.randint(1, 3)):
                place = self.random.randint(0, len(text))
                bit = self.random.choice(("|||", " ||| ", "||||", "|", "\r", "\t", "\n", "\r\n", "  ", "SCORE"))
                text = text[:place] + bit + text[place:]
            return text

        mine, (other,) = self.random.choice((self.salad, self.punctuated))()
        return planted(mine), (planted(other),)


def assert_equal_to_the_jar(pairs: list[Pair], expected: JavaResult) -> None:
    """Statistics equal, scores to 1e-9, corpus to 1e-12."""
    metric = Meteor()
    rows = metric.rows(Pairs(*zip(*pairs, strict=True)))
    different = np.flatnonzero(np.any(rows.values[:, :-1] != expected.statistics, axis=1))
    shown = [
        (pairs[place], rows.values[place].tolist(), expected.statistics[place].tolist()) for place in different[:3]
    ]
    assert not len(different), f"{len(different)} of {len(pairs)} lines differ: {shown}"
    np.testing.assert_allclose(metric.lines(rows), expected.lines, rtol=0, atol=1e-9)
    assert metric.reduce(rows) == pytest.approx(expected.corpus, abs=1e-12)


def test_generated_pairs(java: JavaMeteor, scorer: Scorer) -> None:
    """6,500 seeded pairs: salads, repeats, long lines, several references, odd characters, table words."""
    pairs = Generator(scorer, seed=15).pairs()
    assert len(pairs) >= 5_000
    assert_equal_to_the_jar(pairs, java.run(Pairs(*zip(*pairs, strict=True))))


def test_real_pairs(java: JavaMeteor, scorer: Scorer) -> None:
    """More than 2,000 real pairs: questions, summaries, headlines, replies."""
    if not SHARED.is_dir():
        pytest.skip("the sample texts are not here")
    pairs = real_pairs()
    assert len(pairs) >= 2_000
    assert_equal_to_the_jar(pairs, java.run(Pairs(*zip(*pairs, strict=True))))


def real_pairs() -> list[Pair]:
    """Predictions and references of the samples and goldens; none of them is copied into the project."""

    def lines(*path: str) -> list[str]:
        return SHARED.joinpath(*path).read_text("utf-8").split("\n")[:-1]

    def beside(hyp: list[str], ref: list[str], count: int) -> list[Pair]:
        return [(left, (right,)) for left, right in list(zip(hyp, ref, strict=True))[:count]]

    pairs: list[Pair] = []
    for folder in ("squadqg", "msqg", "xsum", "cnndm", "gigaword", "personachat", "coqa"):
        count = 60 if folder == "cnndm" else 500
        pairs += beside(lines("golden", folder, "hyp.txt"), lines("golden", folder, "ref.txt"), count)
    for folder in ("squadqg", "msqg"):
        golden = json.loads((SHARED / "golden" / folder / "qg.json").read_text("utf-8"))
        pairs += zip(golden["prediction"], map(tuple, golden["references"]), strict=True)
    questions = lines("samples", "qg_squad_xquad", "tgt.txt")
    pairs += beside(questions[:-1], questions[1:], 1200)
    gold = lines("samples", "xsum_scored", "gold-test-sentences.txt")
    pairs += beside(lines("samples", "xsum_scored", "convs2s-test-output.txt"), gold, 500)
    return pairs


def test_the_normaliser(java: JavaMeteor, scorer: Scorer) -> None:
    """Each character of the first 65,536 between letters, digits and a final dot, and 20,000 odd lines."""
    odd = Generator(scorer, seed=16)
    characters = [chr(code) for code in range(1 << 16) if chr(code) not in "\r\n" and not 0xD800 <= code < 0xE000]
    asked = [f"a{character}b 1{character}2 {character}. x" for character in characters]
    asked += [odd.punctuated()[0] for _ in range(15_000)] + [odd.odd()[0] for _ in range(5_000)]
    # The jar's own little program for it reads lines as they are; without these it would see other ones.
    asked = [line.replace("\r", " ").strip(text._TRIMMED) for line in asked]
    command = [find_java(), "-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8"]
    command += ["-cp", str(resources.find_sources().jar), "edu.cmu.meteor.util.Normalizer", "en", "true"]
    answer = subprocess.run(command, input="\n".join(asked).encode(), capture_output=True, check=True, timeout=300)
    answers = answer.stdout.decode().split("\n")[: len(asked)]
    ours = [text.words(line, scorer.prefixes) for line in asked]
    wrong = [
        (line, words, theirs)
        for line, words, theirs in zip(asked, ours, answers, strict=True)
        if words != text._WORD.findall(theirs.lower())
    ]
    assert wrong[:5] == []


def test_the_stemmer_on_the_whole_vocabulary(java: JavaMeteor, scorer: Scorer) -> None:
    """Every word of the synonym and paraphrase tables has the stem the jar gives it."""
    vocabulary = sorted({*scorer.synonyms._lemmas, *scorer.synonyms._forms, *list(scorer.paraphrases.words)[1:]})
    # The jar's own little program stems the words of a text; it leaves words that are numbers alone.
    asked = [word for word in vocabulary if len(word.split()) == 1 and not word.replace(".", "").isdigit()]
    assert len(asked) > 100_000
    command = [find_java(), "-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8"]
    command += ["-cp", str(resources.find_sources().jar), "Stemmer", "english"]
    answer = subprocess.run(command, input="\n".join(asked).encode(), capture_output=True, check=True, timeout=300)
    answers = answer.stdout.decode().split("\n")[: len(asked)]
    wrong = [(word, stem(word), theirs) for word, theirs in zip(asked, answers, strict=True) if stem(word) != theirs]
    assert wrong == []


def test_odd_texts_under_a_comma_locale(java: JavaMeteor, scorer: Scorer, monkeypatch: pytest.MonkeyPatch) -> None:
    """M13-M15: each pair keeps its own score, in both engines, whatever the language of the machine."""
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Duser.language=de -Duser.country=DE")
    # These would overrule the command line; with a Turkish I the jar even falls silent.
    monkeypatch.setenv("_JAVA_OPTIONS", "-Duser.language=tr -Duser.language.format=de -Duser.country.format=DE")
    plain = Pairs.single(["one small cat", "two dogs", "a bird"], ["a small cat", "two | | | dogs", "a bird"])
    odd = Pairs.single(["one\rsmall\tcat", "two dogs", "a\nbird\r\n"], ["a small cat", "two ||| dogs", "a\rbird"])
    metric, oracle = Meteor(), Meteor("java")
    rows = oracle.rows(odd)
    assert rows.values.tolist() == metric.rows(odd).values.tolist() == metric.rows(plain).values.tolist()
    assert oracle.reduce(rows) == metric.reduce(metric.rows(plain))


def test_files_in_other_places(java: JavaMeteor, scorer: Scorer, tmp_path: Path) -> None:
    """A jar and a paraphrase table apart from each other serve the jar as well."""
    found = resources.find_sources()
    table = tmp_path / "table.gz"
    table.write_bytes(found.paraphrases.read_bytes())
    pairs = Pairs.single(["in favour of it"], ["for it"])
    moved = replace(java, sources=resources.Sources(found.jar, table))
    assert moved.run(pairs).statistics.tolist() == Meteor().rows(pairs).values[:, :-1].tolist()


def test_a_jar_that_fails_is_reported(java: JavaMeteor, tmp_path: Path) -> None:
    """No hang and no stack trace: one line."""
    jar = tmp_path / "empty.jar"
    jar.write_bytes(b"")
    broken = replace(java, sources=resources.Sources(jar, jar), patience=60.0)
    with pytest.raises(GlgeError, match="the METEOR jar stopped"):
        broken.run(Pairs.single(["a"], ["a"]))


def test_a_silent_jar_is_ended(java: JavaMeteor) -> None:
    """A program that never answers is given up after the patience asked for."""
    with pytest.raises(GlgeError, match=r"silent for 0\.01 s"):
        replace(java, patience=0.01).run(Pairs.single(["a"], ["a"]))


def test_half_a_surrogate_is_refused(java: JavaMeteor) -> None:
    """What cannot be sent to the jar is named by its line."""
    with pytest.raises(MetricError, match="line 2: half a surrogate pair"):
        java.run(Pairs.single(["a", "\ud800"], ["a", "b"]))
