"""The profile `libraries`: its metrics equal the packages called directly; the registry is strict about profiles."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glge
from glge.errors import MetricError, MissingResource, RegistryError
from glge.metrics import METRICS, Pairs, libraries
from glge.metrics.libraries import LibraryBleu, LibraryMeteor, LibraryRouge, LibrarySentenceBleu, find_wordnet
from glge.rules import apply_rules
from glge.significance import Resampling
from glge.tasks import Benchmark, Task, load_tasks, tasks_folder
from tests import strategies

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "submissions" / "example"
LIBRARY_METRICS = [name for name in METRICS if name.startswith("library_")]

PREDICTIONS = [
    "The police arrested three men , officials said .\nNobody was hurt .",
    "who built the old bridge ?",
    "the cars were running quickly",
    "",
    "an old red house by the sea",
    "studies of U.S. well-known agreements",
    "old house",
]
GROUPS = [
    ["Three men were arrested by police .\nOfficials said nobody was injured ."],
    ["what is the old bridge ?", "who built the bridge ?", "who constructed the old bridge ?"],
    ["the autos ran fast"],
    ["something else"],
    ["an old red house by the sea", "a house"],
    ["a study of u.s. well known agreement"],
    ["the old house"],
]

groups = st.lists(
    st.tuples(strategies.odd_line, st.lists(strategies.odd_line, min_size=1, max_size=3)), min_size=1, max_size=6
)


def padded(references: Sequence[Sequence[str]]) -> list[list[str | None]]:
    """References item by item -> sacreBLEU's streams, None where an item has no more."""
    most = max(map(len, references))
    return [[group[place] if place < len(group) else None for group in references] for place in range(most)]


def example(name: str) -> tuple[list[str], list[str]]:
    """Predictions and references of a task of the example submission, raw lines."""
    files = [
        EXAMPLE / "predictions" / f"{name}.hard.test",
        EXAMPLE / "data" / "easy" / f"{name}_data" / "org_data" / "test.tgt",
    ]
    predictions, references = (file.read_bytes().decode("utf-8").split("\n")[:-1] for file in files)
    return predictions, references


@pytest.fixture(scope="module")
def profile() -> Benchmark:
    """The registry that ships, with the metrics of the profile."""
    return load_tasks(ROOT / "tasks").profiled("libraries")


# --- rouge-score ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["1", "2", "L", "Lsum"])
def test_rouge_is_rouge_score(kind: str) -> None:
    """F, precision and recall of every item are those of RougeScorer with its stemmer, several references too."""
    scoring = pytest.importorskip("rouge_score.rouge_scorer")
    theirs = scoring.RougeScorer([f"rouge{kind}"], use_stemmer=True)
    expected = [
        theirs.score_multi(group, text)[f"rouge{kind}"] for text, group in zip(PREDICTIONS, GROUPS, strict=True)
    ]
    metric = METRICS[f"library_rouge{kind}"]()
    rows = metric.rows(Pairs(PREDICTIONS, GROUPS))
    assert rows.column("f").tolist() == [score.fmeasure for score in expected]
    assert rows.column("precision").tolist() == [score.precision for score in expected]
    assert rows.column("recall").tolist() == [score.recall for score in expected]
    assert metric.lines(rows).tolist() == rows.column("f").tolist()
    assert metric.value(rows) == pytest.approx(np.mean([score.fmeasure for score in expected]), abs=1e-15)
    assert metric.details(rows)["recall"] == pytest.approx(np.mean([score.recall for score in expected]), abs=1e-15)
    assert len(set(rows.column("f").tolist())) > 3  # nothing constant would pass


def test_the_stemmer_is_on() -> None:
    """Without its stemmer rouge-score gives another figure on these pairs."""
    scoring = pytest.importorskip("rouge_score.rouge_scorer")
    plain = scoring.RougeScorer(["rouge1"], use_stemmer=False)
    bare = np.mean(
        [plain.score_multi(group, text)["rouge1"].fmeasure for text, group in zip(PREDICTIONS, GROUPS, strict=True)]
    )
    assert METRICS["library_rouge1"]().score(PREDICTIONS, GROUPS) > bare + 0.01


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(strategies.document, strategies.document), min_size=1, max_size=4))
def test_rouge_is_rouge_score_on_any_text(drawn: list[tuple[str, str]]) -> None:
    """All four figures on one list of pairs, whose tokens they share."""
    scoring = pytest.importorskip("rouge_score.rouge_scorer")
    kinds = ["1", "2", "L", "Lsum"]
    theirs = scoring.RougeScorer([f"rouge{kind}" for kind in kinds], use_stemmer=True)
    pairs = Pairs.single([text for text, _ in drawn], [gold for _, gold in drawn])
    expected = [theirs.score(gold, text) for text, gold in drawn]
    for kind in kinds:
        metric = METRICS[f"library_rouge{kind}"]()
        assert metric.lines(metric.rows(pairs)).tolist() == [found[f"rouge{kind}"].fmeasure for found in expected]


def test_summary_level_and_plain_rouge_differ_where_sentences_are() -> None:
    """The two kinds of L are told apart by newlines alone."""
    pytest.importorskip("rouge_score")
    prediction, reference = ["c d .\na b ."], ["a b .\nc d ."]
    assert METRICS["library_rougeLsum"]().score(prediction, reference) == 1.0
    assert METRICS["library_rougeL"]().score(prediction, reference) == 0.5


# --- sacreBLEU ------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_bleu_is_sacrebleu(order: int) -> None:
    """Corpus score, sentence scores, counts and signature are sacreBLEU's, to the last bit."""
    bleu = pytest.importorskip("sacrebleu.metrics").BLEU
    theirs = bleu(max_ngram_order=order)
    expected = theirs.corpus_score(PREDICTIONS, padded(GROUPS))
    metric = METRICS["library_bleu"](order=order)
    rows = metric.rows(Pairs(PREDICTIONS, GROUPS))
    assert metric.value(rows) == expected.score / 100
    assert 0 < metric.value(rows) < 1
    details = metric.details(rows)
    assert details["sacrebleu"] == str(theirs.get_signature())
    assert "nrefs:var|" in str(details["sacrebleu"])
    assert [details[f"correct{n}"] for n in range(1, order + 1)] == expected.counts
    assert [details[f"total{n}"] for n in range(1, order + 1)] == expected.totals
    assert (details["prediction_length"], details["reference_length"]) == (expected.sys_len, expected.ref_len)
    sentence = bleu(max_ngram_order=order, effective_order=True).sentence_score
    lines = [sentence(text, group).score / 100 for text, group in zip(PREDICTIONS, GROUPS, strict=True)]
    assert metric.lines(rows).tolist() == lines


def test_bleu_is_the_function_of_the_package() -> None:
    """`sacrebleu.corpus_bleu`, the call that everybody writes."""
    sacrebleu = pytest.importorskip("sacrebleu")
    predictions, references = example("squadqg")
    assert METRICS["library_bleu"]().score(predictions, references) == (
        sacrebleu.corpus_bleu(predictions, [references], tokenize="13a").score / 100
    )


@settings(max_examples=50, deadline=None)
@given(groups, st.sampled_from([1, 2, 3, 4]), st.randoms())
def test_bleu_rows_add_up(drawn: list[tuple[str, list[str]]], order: int, random: Any) -> None:
    """Any choice of lines, with repeats, has the corpus score of that list."""
    bleu = pytest.importorskip("sacrebleu.metrics").BLEU
    predictions, references = [text for text, _ in drawn], [group for _, group in drawn]
    metric = METRICS["library_bleu"](order=order)
    rows = metric.rows(Pairs(predictions, references))
    taken = [random.randrange(len(drawn)) for _ in range(len(drawn) + 1)]
    counts = np.bincount(taken, minlength=len(drawn))
    theirs = bleu(max_ngram_order=order, force=True)
    alone = theirs.corpus_score([predictions[i] for i in taken], padded([references[i] for i in taken]))
    assert metric.reduce(rows, counts) == alone.score / 100
    assert metric.reduce(rows, np.stack([counts, counts]).astype(float)).tolist() == [alone.score / 100] * 2


def test_bleu_settings_are_sacrebleus_own() -> None:
    """The signature is sacreBLEU's without the references, which the report counts, and with the order."""
    pytest.importorskip("sacrebleu")
    version = metadata.version("sacrebleu")
    expected = f"library_bleu|sacreBLEU|case:mixed|eff:no|tok:13a|smooth:exp|version:{version}|order:2"
    assert METRICS["library_bleu"](order=2).signature == expected


# --- NLTK -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("order", "weights"), [(1, (1, 0, 0, 0)), (2, (0.5, 0.5, 0, 0))])
def test_sentence_bleu_is_nltks(order: int, weights: tuple[float, ...]) -> None:
    """Line by line the call of the PersonaChat script."""
    nltk = pytest.importorskip("nltk.translate.bleu_score")
    predictions, references = example("personachat")
    predictions, references = [*predictions, "", "yes", "yes  sir"], [*references, "a b", "yes", "yes  i do"]
    method7 = nltk.SmoothingFunction().method7
    expected = [
        nltk.sentence_bleu([gold.split(" ")], text.split(" "), weights=weights, smoothing_function=method7)
        for text, gold in zip(predictions, references, strict=True)
    ]
    metric = METRICS[f"library_sentence_bleu{order}"]()
    rows = metric.rows(Pairs.single(predictions, references))
    assert metric.lines(rows).tolist() == expected
    assert metric.value(rows) == pytest.approx(sum(expected) / len(expected), abs=1e-15)
    assert len(set(expected)) > 10
    if tuple(map(int, metadata.version("nltk").split(".")[:2])) >= (3, 9):
        ours = METRICS[f"smoothed_bleu{order}"](nltk="3.6.1+")
        assert metric.lines(rows) == pytest.approx(ours.lines(ours.rows(Pairs.single(predictions, references))))


def test_sentence_bleu_takes_several_references() -> None:
    """NLTK clips by the largest count of any reference."""
    nltk = pytest.importorskip("nltk.translate.bleu_score")
    expected = nltk.sentence_bleu(
        [reference.split(" ") for reference in GROUPS[1]],
        PREDICTIONS[1].split(" "),
        weights=(1, 0, 0, 0),
        smoothing_function=nltk.SmoothingFunction().method7,
    )
    assert METRICS["library_sentence_bleu1"]().score([PREDICTIONS[1]], [GROUPS[1]]) == expected


def test_an_nltk_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A division by zero counts 0 and is told; an NLTK that does not work here is no row of zeros."""
    nltk = pytest.importorskip("nltk.translate.bleu_score")
    metric = METRICS["library_sentence_bleu1"]()

    def divides(references: Any, words: list[str], **_: Any) -> float:
        return 1 / (len(words) - 1)

    monkeypatch.setattr(nltk, "sentence_bleu", divides)
    rows = metric.rows(Pairs.single(["yes", "a b"], ["yes", "a b"]))
    assert metric.value(rows) == 0.5
    assert metric.details(rows) == {"lines_raised": 1}
    assert metric.notes(rows) == ("NLTK fails on 1 of the lines: they count 0",)
    assert metric.line_notes(rows) == {0: "NLTK fails: BLEU counts 0"}

    def refuses(*_: Any, **__: Any) -> float:
        raise TypeError("_normalize")

    monkeypatch.setattr(nltk, "sentence_bleu", refuses)
    with pytest.raises(MissingResource, match=r"the sentence BLEU of NLTK .* does not work on this Python"):
        metric.score(["yes"], ["yes"])


# --- METEOR and WordNet ---------------------------------------------------------------------------

SYNSETS = {
    "noun": [["car", "auto", "automobile", "motor_car"], ["study", "survey"]],
    "verb": [["build", "construct"], ["run", "dash"]],
    "adj": [["old", "aged"]],
    "adv": [["fast", "soon"]],
}


def write_wordnet(folder: Path) -> Path:
    """A WordNet of six synonym sets in the layout of WordNet's own files, without those that Debian leaves out."""
    folder.mkdir(parents=True)
    for part, sets in SYNSETS.items():
        letter = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}[part]
        data = "  1 WordNet 9.7 Copyright nobody: written for a test.  \n"
        index = data
        for words in sets:
            offset = len(data)
            lemmas = " ".join(f"{word} 0" for word in words)
            frames = " 00" if part == "verb" else ""
            data += f"{offset:08d} 03 {letter} {len(words):02x} {lemmas} 000{frames} | nothing  \n"
            index += "".join(f"{word} {letter} 1 0 1 0 {offset:08d}  \n" for word in sorted(words))
        (folder / f"data.{part}").write_bytes(data.encode())
        (folder / f"index.{part}").write_bytes(index.encode())
        (folder / f"{part}.exc").write_bytes(b"ran run\n" if part == "verb" else b"")
    (folder / "cntlist.rev").write_bytes(b"")
    return folder


@pytest.fixture
def no_wordnet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """A machine without WordNet: gives NLTK's module of data, whose paths lead nowhere."""
    data = pytest.importorskip("nltk.data")
    monkeypatch.delenv("GLGE_WORDNET", raising=False)
    monkeypatch.setattr(data, "path", [str(tmp_path / "nltk_data")])
    monkeypatch.setattr(libraries, "SYSTEM_WORDNET", tmp_path / "nowhere")
    libraries._reader.cache_clear()
    yield data
    libraries._reader.cache_clear()


def test_meteor_on_a_small_wordnet(no_wordnet: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exact words, stems and synonyms of a folder in GLGE_WORDNET; the figures worked out by hand."""
    monkeypatch.setenv("GLGE_WORDNET", str(write_wordnet(tmp_path / "dict")))
    metric = METRICS["library_meteor"]()
    rows = metric.rows(
        Pairs.single(
            ["the car", "the auto", "the autos", "The motor", "", "who ran fast"],
            ["the car", "the car", "the car", "the car", "the car", "who dash soon now"],
        )
    )

    def by_hand(matches: int, words: int, gold: int, chunks: int) -> float:
        p, r = matches / words, matches / gold
        return (1 - 0.5 * (chunks / matches) ** 3) * p * r / (0.9 * p + 0.1 * r)

    expected = [by_hand(2, 2, 2, 1)] * 3 + [by_hand(1, 2, 2, 1), 0.0, by_hand(3, 3, 4, 1)]
    assert metric.lines(rows) == pytest.approx(expected, abs=1e-15)
    assert metric.value(rows) == pytest.approx(np.mean(expected), abs=1e-15)
    # Several references: the best.
    assert metric.score(["the car"], [["nothing", "the auto", "a van"]]) == pytest.approx(by_hand(2, 2, 2, 1))


def test_meteor_is_nltks(no_wordnet: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same as `meteor_score` called with NLTK's own reader and stemmer, nothing remembered."""
    nltk = pytest.importorskip("nltk.translate.meteor_score")
    monkeypatch.setenv("GLGE_WORDNET", str(write_wordnet(tmp_path / "dict")))
    reader = libraries._reader(find_wordnet())
    expected = [
        nltk.meteor_score([reference.split() for reference in group], text.split(), wordnet=reader)
        for text, group in zip(PREDICTIONS, GROUPS, strict=True)
    ]
    metric = METRICS["library_meteor"]()
    assert metric.lines(metric.rows(Pairs(PREDICTIONS, GROUPS))).tolist() == expected
    without = SimpleNamespace(synsets=lambda word: [])
    assert (
        expected[1:3]
        != [  # the synonyms of this WordNet do play a part
            nltk.meteor_score([reference.split() for reference in group], text.split(), wordnet=without)
            for text, group in zip(PREDICTIONS[1:3], GROUPS[1:3], strict=True)
        ]
    )


def test_where_wordnet_is_looked_for(no_wordnet: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable first, then NLTK's data as a folder or a zip, then the system's; all give the same figure."""
    prediction, reference = ["the auto"], ["the car"]
    metric = METRICS["library_meteor"]()
    made = write_wordnet(tmp_path / "dict")
    with pytest.raises(MissingResource):
        find_wordnet()

    monkeypatch.setattr(libraries, "SYSTEM_WORDNET", made)
    system = find_wordnet()
    assert (system.place, system.entry) == (str(made), None)
    figures = [metric.score(prediction, reference)]
    labels = [system.label]
    assert re.fullmatch(r"wordnet-9\.7-[0-9a-f]{8}", system.label)

    corpora = tmp_path / "nltk_data" / "corpora"
    corpora.mkdir(parents=True)
    with zipfile.ZipFile(corpora / "wordnet.zip", "w") as archive:
        archive.writestr("wordnet/", b"")
        for file in sorted(made.iterdir()):
            archive.write(file, f"wordnet/{file.name}")
    zipped = find_wordnet()
    assert (zipped.place, zipped.entry) == (str(corpora / "wordnet.zip"), "wordnet/")
    figures.append(metric.score(prediction, reference))
    labels.append(zipped.label)

    (corpora / "wordnet.zip").unlink()
    shutil.copytree(made, corpora / "wordnet")
    assert find_wordnet().place == str(corpora / "wordnet")
    figures.append(metric.score(prediction, reference))
    labels.append(find_wordnet().label)

    named = write_wordnet(tmp_path / "mine")
    monkeypatch.setenv("GLGE_WORDNET", str(named))
    assert find_wordnet().place == str(named)
    figures.append(metric.score(prediction, reference))
    labels.append(find_wordnet().label)

    assert len(set(figures)) == len(set(labels)) == 1
    assert figures[0] > 0.9
    assert f"|{labels[0]}|alpha:0.9|beta:3|gamma:0.5|" in metric.signature

    # Other content under the same name is another WordNet.
    (named / "noun.exc").write_bytes(b"oxen ox\n")
    assert find_wordnet().label != labels[0]


def test_no_wordnet_says_what_to_do(no_wordnet: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One line with the way online, the way offline, and the variable; a wrong folder is named."""
    metric = METRICS["library_meteor"]()
    with pytest.raises(MissingResource) as caught:
        metric.score(["a"], ["a"])
    assert str(caught.value) == (
        "NLTK's METEOR needs WordNet, and there is none here; online: python -m nltk.downloader wordnet; "
        "offline: apt install wordnet-base, or name a folder with WordNet's dict files in GLGE_WORDNET"
    )
    assert "|wordnet-missing|" in metric.signature
    monkeypatch.setenv("GLGE_WORDNET", str(tmp_path))
    with pytest.raises(MissingResource, match=r"GLGE_WORDNET names no folder of WordNet \(expected data.adj, data.adv"):
        metric.score(["a"], ["a"])


def test_a_damaged_wordnet(no_wordnet: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What NLTK cannot read ends in one line, not in NLTK's own."""
    made = write_wordnet(tmp_path / "dict")
    (made / "index.noun").write_bytes(b"car n x\n")
    monkeypatch.setenv("GLGE_WORDNET", str(made))
    with pytest.raises(MissingResource, match=r"dict: NLTK .* cannot read WordNet \(found .*\); online: ") as caught:
        METRICS["library_meteor"]().score(["a"], ["a"])
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(not (libraries.SYSTEM_WORDNET / "data.noun").is_file(), reason="no wordnet-base (Debian)")
def test_debians_wordnet(no_wordnet: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """NLTK's reader reads the files of wordnet-base, which leaves out two that it asks for: the docs' figures."""
    monkeypatch.setattr(libraries, "SYSTEM_WORDNET", Path("/usr/share/wordnet"))
    wordnet = find_wordnet()
    assert wordnet.place == "/usr/share/wordnet"
    assert re.fullmatch(r"wordnet-3\.\d-[0-9a-f]{8}", wordnet.label)
    reader = libraries._reader(wordnet)
    assert {lemma.name() for synset in reader.synsets("cars") for lemma in synset.lemmas()} >= {"auto", "automobile"}
    metric = METRICS["library_meteor"]()
    potato = metric.score(["the potato ran"], ["the car ran"])
    assert metric.score(["the auto ran"], ["the car ran"]) > potato
    # NLTK looks for synonyms of the stem, and "automobil" is no word.
    assert metric.score(["the automobile ran"], ["the car ran"]) == potato
    predictions, references = example("msqg")
    nltk = pytest.importorskip("nltk.translate.meteor_score")
    expected = [
        nltk.meteor_score([gold.split()], text.split(), wordnet=reader)
        for text, gold in zip(predictions, references, strict=True)
    ]
    assert metric.lines(metric.rows(Pairs.single(predictions, references))).tolist() == expected


# --- packages that are not there ------------------------------------------------------------------

INSTALL = (
    "; pip install 'glge[libraries]' (without a network: "
    "pip install --no-index --find-links FOLDER 'glge[libraries]', with the downloaded wheels in FOLDER)"
)


@pytest.mark.parametrize(
    ("metric", "module", "package"),
    [
        *((f"library_rouge{kind}", "rouge_score.rouge_scorer", "rouge-score") for kind in ("1", "2", "L", "Lsum")),
        ("library_bleu", "sacrebleu.metrics", "sacrebleu"),
        ("library_meteor", "nltk.translate.meteor_score", "nltk"),
        ("library_sentence_bleu1", "nltk.translate.bleu_score", "nltk"),
        ("library_sentence_bleu2", "nltk.translate.bleu_score", "nltk"),
    ],
)
def test_a_missing_package(metric: str, module: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line that names the package and both ways to install it; the signature says `missing`, never raises."""
    known = metadata.version

    def version(name: str) -> str:
        if name == package:
            raise metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setitem(sys.modules, module, None)
    made = METRICS[metric]()
    with pytest.raises(MissingResource) as caught:
        made.score(["a"], ["a"])
    assert str(caught.value) == f"{package} is not installed{INSTALL}"
    assert "missing" in made.signature


def test_a_package_that_does_not_load(monkeypatch: pytest.MonkeyPatch) -> None:
    """Installed, but something of it cannot be imported: version and reason are told."""
    pytest.importorskip("sacrebleu")
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    message = rf"sacrebleu {re.escape(metadata.version('sacrebleu'))} cannot be imported \(found .*sacrebleu.metrics"
    with pytest.raises(MissingResource, match=message):
        METRICS["library_bleu"]().score(["a"], ["a"])


def test_an_old_rouge_score(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before 0.1.2 it took no tokeniser and one reference only."""
    scoring = pytest.importorskip("rouge_score.rouge_scorer")
    monkeypatch.setattr(scoring, "RougeScorer", lambda kinds, use_stemmer=False: None)
    with pytest.raises(MissingResource, match=r"rouge-score .* is too old \(expected 0.1.2 or later\)"):
        METRICS["library_rouge1"]().score(["a"], ["a"])


def test_a_missing_package_leaves_the_others(monkeypatch: pytest.MonkeyPatch, profile: Benchmark) -> None:
    """In a report the metric has no value and says why; the task has none, the other metrics do."""
    pytest.importorskip("rouge_score")
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    monkeypatch.setitem(sys.modules, "nltk.translate.meteor_score", None)
    result = glge.score(["who ?"], ["who ?"], task=profile.task("squadqg"))
    assert result.value is None
    assert result.score("rougeL").value == 100.0
    assert "sacrebleu" in str(result.score("bleu4").missing)
    assert "nltk" in str(result.score("meteor").missing)


def test_nothing_is_imported_before_it_is_used() -> None:
    """Making every metric, reading the registry and choosing the profile load none of the packages."""
    code = (
        "import sys\n"
        "from glge.metrics import METRICS\n"
        "from glge.tasks import load_tasks\n"
        f"load_tasks({str(ROOT / 'tasks')!r}).profiled('libraries')\n"
        "made = [make() for name, make in METRICS.items() if name.startswith('library_')]\n"
        "assert len(made) == 8\n"
        "assert not {'nltk', 'sacrebleu', 'rouge_score'} & set(sys.modules)\n"
        "made[0].signature\n"
        "assert not {'nltk', 'sacrebleu', 'rouge_score'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LibraryRouge("3"), "unknown kind of ROUGE"),  # type: ignore[arg-type]
        (lambda: LibraryBleu(5), "n-grams up to 1, 2, 3 or 4"),  # type: ignore[arg-type]
        (lambda: LibrarySentenceBleu(3), "n-grams up to 1 or 2"),  # type: ignore[arg-type]
    ],
)
def test_wrong_settings(make: Any, message: str) -> None:
    """A setting nobody knows is told when the metric is made."""
    with pytest.raises(MetricError, match=message):
        make()


def test_every_metric_is_registered() -> None:
    """Eight names, of four classes."""
    kinds = {name: type(METRICS[name]()) for name in LIBRARY_METRICS}
    assert kinds == {
        **{f"library_rouge{kind}": LibraryRouge for kind in ("1", "2", "L", "Lsum")},
        "library_bleu": LibraryBleu,
        "library_meteor": LibraryMeteor,
        "library_sentence_bleu1": LibrarySentenceBleu,
        "library_sentence_bleu2": LibrarySentenceBleu,
    }


# --- the profile ----------------------------------------------------------------------------------


def test_the_profile_exchanges_metrics_only(profile: Benchmark) -> None:
    """Texts, rules, grouping and versions stay; so do the metrics' names inside a task and which of them count."""
    official = load_tasks(ROOT / "tasks")
    assert (official.profile, profile.profile) == ("official", "libraries")
    assert official.profiles == profile.profiles == ("official", "libraries")
    for name, task in official.tasks.items():
        other = profile.task(name)
        assert (task.profile, other.profile) == ("official", "libraries")
        assert task.model_dump(exclude={"metrics", "profiles"}) == other.model_dump(exclude={"metrics", "profiles"})
        assert [(e.name, e.counted) for e in task.metrics] == [(e.name, e.counted) for e in other.metrics]
    assert profile.profiled("official") == official
    assert profile.profiled("libraries") is profile
    assert official.profiled("official") is official


def test_which_metric_stands_where(profile: Benchmark) -> None:
    """The natural counterpart of every counted metric; where no package has one, the benchmark's own."""
    found = {name: [entry.metric for entry in task.metrics if entry.counted] for name, task in profile.tasks.items()}
    plain = ["library_rouge1", "library_rouge2", "library_rougeL"]
    questions = ["library_rougeL", "library_bleu", "library_meteor"]
    assert found == {
        "cnndm": ["library_rouge1", "library_rouge2", "library_rougeLsum"],
        "gigaword": plain,
        "xsum": plain,
        "msnews": plain,
        "squadqg": questions,
        "msqg": questions,
        "coqa": ["f1"],
        "personachat": ["library_sentence_bleu1", "library_sentence_bleu2", "distinct1", "distinct2"],
    }


def test_a_task_scores_by_its_profile(profile: Benchmark) -> None:
    """`score` with a task of the profile: the packages' figures on the text that the rules make."""
    scoring = pytest.importorskip("rouge_score.rouge_scorer")
    predictions, references = example("cnndm")
    task = profile.task("cnndm")
    result = glge.score(predictions, references, task=task, resampling=Resampling(100))
    scorer = scoring.RougeScorer(["rouge1", "rouge2", "rougeLsum"], use_stemmer=True)
    sides = zip(
        apply_rules(task.prediction.rules, predictions), apply_rules(task.reference.rules, references), strict=True
    )
    pairs = [scorer.score(gold, text) for text, gold in sides]
    for name, kind in (("rouge1", "rouge1"), ("rouge2", "rouge2"), ("rougeL", "rougeLsum")):
        score = result.score(name)
        assert score.value == pytest.approx(100 * np.mean([pair[kind].fmeasure for pair in pairs]), abs=1e-11)
        assert score.ci is not None
        assert score.ci.low < score.value < score.ci.high
    assert "rouge-score-" in result.score("rouge1").signature


def test_grouping_stays(profile: Benchmark) -> None:
    """Lines with one source are one item for sacreBLEU too: all references, the last prediction."""
    sacrebleu = pytest.importorskip("sacrebleu")
    result = glge.score(
        ["what is it ?", "who was it then ?", "where is the old bridge ?"],
        ["what was it ?", "who was it ?", "where is the bridge now ?"],
        task=profile.task("msqg"),
        sources=["one", "one", "two"],
    )
    expected = sacrebleu.corpus_bleu(
        ["who was it then ?", "where is the old bridge ?"],
        [["what was it ?", "where is the bridge now ?"], ["who was it ?", None]],
    )
    assert result.items == 2
    assert result.score("bleu4").value == pytest.approx(expected.score, abs=1e-12)
    assert result.score("bleu4").details["sacrebleu"] == str(
        "nrefs:var|case:mixed|eff:no|tok:13a|smooth:exp|version:" + metadata.version("sacrebleu")
    )


def test_figures_of_the_documentation(profile: Benchmark) -> None:
    """The example submission's figures that docs/libraries.md shows, made with the versions it names."""
    for package in ("rouge_score", "sacrebleu", "nltk"):
        pytest.importorskip(package)
    versions = {name: metadata.version(name) for name in ("rouge-score", "sacrebleu", "nltk")}
    if versions != {"rouge-score": "0.1.2", "sacrebleu": "2.6.0", "nltk": "3.10.4"}:
        pytest.skip(f"other versions: {versions}")
    page = (ROOT / "docs" / "libraries.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| ([^|]+) \| ([\d.]+) \| ([\d.]+) \|", page, flags=re.MULTILINE)
    shown = {(task, name): (before, after) for task, name, before, after in rows}
    official = load_tasks(ROOT / "tasks")
    report = {
        benchmark.profile: glge.score_submission(
            EXAMPLE / "predictions", level="hard", data=EXAMPLE / "data", benchmark=benchmark
        )
        for benchmark in (official, profile)
    }
    try:
        same_wordnet = find_wordnet().label in page
    except MissingResource:
        same_wordnet = False
    compared = 0
    for task in official.tasks:
        results = [report[name].task(task) for name in ("official", "libraries")]
        values = {score.name: [result.score(score.name).value for result in results] for score in results[0].scores}
        for score in results[0].scores:
            mine, theirs = values[score.name]
            if score.name == "meteor" and not same_wordnet:
                continue
            if score.counted and mine is not None and theirs is not None:
                assert shown[task, score.shown] == (f"{mine:.2f}", f"{theirs:.2f}")
                compared += 1
    assert compared >= 21  # 23 with both METEORs


# --- mistakes in a task file ----------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the registry to spoil."""
    place = tmp_path / "tasks"
    shutil.copytree(ROOT / "tasks", place, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    return place


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("profiles:", "profile:", r"coqa.yaml:19: unknown key 'profile'; did you mean 'profiles'\?"),
        ("  libraries:", "  official:", r"coqa.yaml:21: the profile 'official' is what stands under metrics"),
        ("  libraries:", "  Libraries, mine:", r"coqa.yaml:21: 'Libraries, mine' cannot be the name of a profile"),
        (
            "    - { name: f1, metric: f1, shown: F1 }",
            "    - { name: f1, metric: f2, shown: F1 }",
            r"coqa.yaml:22: there is no metric 'f2'; did you mean 'f1'\?",
        ),
        (
            "    - { name: f1, metric: f1, shown: F1 }",
            "    - { name: f1, metric: library_bleu, shown: F1, variant: { ordre: 1 } }",
            r"coqa.yaml:22: library_bleu has no variant 'ordre'; did you mean 'order'\?",
        ),
        (
            "    - { name: f1, metric: f1, shown: F1 }",
            "    - { name: f1, metric: library_bleu, shown: F1, variant: { order: 7 } }",
            r"coqa.yaml:22: library_bleu: BLEU counts n-grams up to 1, 2, 3 or 4 \(found 7\)",
        ),
        (
            "    - { name: f1, metric: f1, shown: F1 }",
            "    - { name: f1, metrik: f1, shown: F1 }",
            r"coqa.yaml:22: unknown key 'metrik'; did you mean 'metric'\?",
        ),
        (
            "    - { name: f1, metric: f1, shown: F1 }",
            "    - { name: exact_match, metric: f1, shown: F1 }",
            r"coqa.yaml:23: the metric name 'exact_match' stands twice",
        ),
        (
            "    - { name: f1, metric: f1, shown: F1 }",
            "    - { name: f1, metric: f1, shown: F1, counted: false }",
            r"coqa.yaml:21: no metric counts",
        ),
        (
            "  libraries:\n",
            "  libraries: []\n  more:\n",
            r"coqa.yaml:21: profiles.libraries: list should have at least 1 item",
        ),
        ("  libraries:\n", "  libraries:\n  libraries:\n", r"coqa.yaml:22: the key 'libraries' stands twice"),
    ],
)
def test_mistakes_are_told_with_file_and_line(folder: Path, old: str, new: str, message: str) -> None:
    """The same strictness as under `metrics`."""
    file = folder / "coqa.yaml"
    text = file.read_text(encoding="utf-8")
    place = text.index(old, text.index("EM, counted"))
    file.write_text(text[:place] + text[place:].replace(old, new, 1), encoding="utf-8")
    with pytest.raises(RegistryError, match=message) as caught:
        load_tasks(folder)
    assert "\n" not in str(caught.value)


def test_the_registry_cannot_set_its_own_profile(folder: Path) -> None:
    """Which profile is in force is no key of benchmark.yaml."""
    file = folder / "benchmark.yaml"
    file.write_text(file.read_text(encoding="utf-8") + "profile: libraries\n", encoding="utf-8")
    with pytest.raises(RegistryError, match=r"benchmark.yaml:\d+: unknown key 'profile'"):
        load_tasks(folder)


def test_unknown_profiles(folder: Path) -> None:
    """The nearest name is offered; a task without the profile is named, and only when the profile is wanted."""
    with pytest.raises(RegistryError, match=r"there is no profile 'library'; did you mean 'libraries'\?"):
        load_tasks(folder).profiled("library")
    file = folder / "coqa.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text[: text.index("profiles:")] + text[text.index("sources:") :], encoding="utf-8")
    benchmark = load_tasks(folder)
    assert benchmark.profiles == ("official", "libraries")
    with pytest.raises(RegistryError, match=r"no profile 'libraries' in coqa; give it a list of metrics under prof"):
        benchmark.profiled("libraries")
    with pytest.raises(RegistryError, match=r"coqa has no profile 'libraries'; known: official"):
        benchmark.task("coqa").profiled("libraries")
    assert benchmark.task("xsum").profiled("libraries").profile == "libraries"


def test_a_profile_of_ones_own(folder: Path) -> None:
    """More than one profile can stand in a file, and the way back leads through any of them."""
    file = folder / "coqa.yaml"
    text = file.read_text(encoding="utf-8")
    mine = "profiles:\n  strict:\n    - { name: em, metric: exact_match, shown: EM }\n"
    file.write_text(text.replace("profiles:\n", mine, 1), encoding="utf-8")
    task: Task = load_tasks(folder).task("coqa")
    strict = task.profiled("strict")
    assert [entry.name for entry in strict.metrics] == ["em"]
    assert strict.profiled("libraries").profiled("official") == task
    assert set(strict.profiles) == {"official", "libraries"}
    assert glge.score(["a dog"], ["the dog ran"], task=strict).value == 0.0


def test_the_recipe_says_who_computes(profile: Benchmark) -> None:
    """`glge tasks` on a task of the profile names packages and versions."""
    text = "\n".join(profile.task("squadqg").recipe())
    assert "METEOR: library_meteor|nltk-" in text
    assert "B-4: library_bleu|sacreBLEU|" in text
    assert "same source (strip-ascii, lower-ascii) are one item" in text


def test_the_shipped_registry_is_this_one() -> None:
    """What is installed as the data package has the profile as well."""
    assert "libraries" in load_tasks(tasks_folder()).profiles
