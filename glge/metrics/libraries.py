"""The maintained packages as metrics: rouge-score, sacreBLEU, and METEOR and sentence BLEU of NLTK.

Every figure is the package's own, on the texts that a task hands over:

- `library_rouge…`: the mean over items of `RougeScorer([…], use_stemmer=True).score_multi(references, prediction)`, F
- `library_bleu`: `BLEU(max_ngram_order=order).corpus_score(predictions, references)`, whose statistics add up
- `library_meteor`: the mean over items of `meteor_score(references, prediction, wordnet=…)` on words between blanks
- `library_sentence_bleu…`: `sentence_bleu(…, smoothing_function=SmoothingFunction().method7)` as the PersonaChat script
  calls it, on the NLTK that is installed here

None of them stands for the benchmark's published figures: see docs/libraries.md for how far they are off and why. The
packages are imported when a text is scored (sacreBLEU also for its signature), never before. Only their public
functions are used. A package or WordNet that is missing is a MissingResource that says what to install.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import warnings
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module, metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from glge.errors import MetricError, MissingResource
from glge.metrics.contract import AdditiveMetric, FloatArray, IntArray, Pairs, Rows

WORDNET_VARIABLE = "GLGE_WORDNET"
SYSTEM_WORDNET = Path("/usr/share/wordnet")  # where Debian's wordnet-base puts it

_INSTALL = (
    "pip install 'glge[libraries]' (without a network: "
    "pip install --no-index --find-links FOLDER 'glge[libraries]', with the downloaded wheels in FOLDER)"
)
_INSTALL_WORDNET = (
    "online: python -m nltk.downloader wordnet; offline: apt install wordnet-base, "
    f"or name a folder with WordNet's dict files in {WORDNET_VARIABLE}"
)
_ORDERS = 4
_ALPHA, _BETA, _GAMMA = 0.9, 3.0, 0.5  # NLTK's own, given to it so that the signature cannot lie


def _package(module: str, distribution: str) -> Any:
    """A module of a package; MissingResource, with what to install, when it cannot be imported."""
    try:
        return import_module(module)
    except ImportError as error:
        version = _version(distribution)
        if version == "missing":
            raise MissingResource(f"{distribution} is not installed", hint=_INSTALL) from None
        raise MissingResource(f"{distribution} {version} cannot be imported", found=str(error), hint=_INSTALL) from None


def _version(distribution: str) -> str:
    """The version of an installed package, or `missing`. Imports nothing."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "missing"


def _remembered(function: Callable[[str], Any]) -> Callable[[str], Any]:
    """The same function, asked once for each word."""
    return lru_cache(maxsize=None)(function)


class _MeanOfItems(AdditiveMetric):
    """A metric whose first column is an item's value and whose last is 1: the number is the mean."""

    def finish(self, totals: NDArray[Any]) -> Any:
        """Mean from totals of shape (…, columns), shape (…), on the 0-1 scale."""
        return totals[..., 0] / np.maximum(totals[..., -1], 1)

    def lines(self, rows: Rows) -> FloatArray:
        """The value of each item."""
        return rows.values[:, 0].astype(np.float64)


# --- rouge-score ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class LibraryRouge(_MeanOfItems):
    """Mean over items of the F of Google's rouge-score with its stemmer, 0-1.

    `kind` is "1", "2", "L" (the whole text as one sequence) or "Lsum" (sentences at newlines, union of common
    subsequences). Of several references the one with the best F counts. Raises MissingResource without
    rouge-score.

    Definition: Lin 2004 as rouge-score implements it.

    >>> LibraryRouge("Lsum").name
    'library_rougeLsum'
    >>> LibraryRouge("3")
    Traceback (most recent call last):
        ...
    glge.errors.MetricError: unknown kind of ROUGE (expected 1, 2, L or Lsum, found 3)
    """

    kind: Literal["1", "2", "L", "Lsum"]

    def __post_init__(self) -> None:
        if self.kind not in ("1", "2", "L", "Lsum"):
            raise MetricError("unknown kind of ROUGE", expected="1, 2, L or Lsum", found=str(self.kind))

    @property
    def name(self) -> str:
        return f"library_rouge{self.kind}"

    @property
    def signature(self) -> str:
        """The package with its version, and NLTK's, whose stemmer it uses."""
        stemmer = f"stemmer:nltk-{_version('nltk')}"
        return f"{self.name}|rouge-score-{_version('rouge-score')}|F|{stemmer}|best reference|mean of items"

    def rows(self, pairs: Pairs) -> Rows:
        """Per item F, precision and recall (0-1) of the best reference, and 1; shape (items, 4)."""
        kind = f"rouge{self.kind}"
        scoring = _package("rouge_score.rouge_scorer", "rouge-score")
        try:
            scorer = scoring.RougeScorer([kind], tokenizer=pairs.memo("rouge-score", _RougeTokens))
            score = scorer.score_multi
        except (AttributeError, TypeError):
            old = f"rouge-score {_version('rouge-score')} is too old"
            raise MissingResource(old, expected="0.1.2 or later", hint=_INSTALL) from None
        values = np.ones((len(pairs), 4))
        for place, (prediction, references) in enumerate(zip(pairs.predictions, pairs.references, strict=True)):
            found = score(references, prediction)[kind]
            values[place, :3] = found.fmeasure, found.precision, found.recall
        return Rows(values, ("f", "precision", "recall", "n"))

    def details(self, rows: Rows) -> dict[str, float | int | str]:
        """Means of the items' precision and recall, 0-1."""
        totals = rows.totals()
        return {"precision": float(totals[1] / totals[3]), "recall": float(totals[2] / totals[3])}


class _RougeTokens:
    """rouge-score's own tokeniser and stemmer, asked once for each text and each word: the three figures share it."""

    def __init__(self) -> None:
        split = _package("rouge_score.tokenize", "rouge-score").tokenize
        porter = _package("nltk.stem.porter", "nltk").PorterStemmer()
        stemmer = SimpleNamespace(stem=_remembered(porter.stem))
        self.tokenize = _remembered(lambda text: split(text, stemmer))


# --- sacreBLEU ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LibraryBleu(AdditiveMetric):
    """Corpus BLEU of sacreBLEU as it comes (tokens 13a, exponential smoothing, mixed case), 0-1.

    `order` n uses n-grams up to n. Items may have different numbers of references. A line's own value is
    sacreBLEU's sentence score with `effective_order`, as it recommends; the corpus score is not their mean.
    Raises MissingResource without sacreBLEU.

    Definition: Papineni et al. 2002; Post 2018.

    >>> LibraryBleu().name, LibraryBleu(5)
    Traceback (most recent call last):
        ...
    glge.errors.MetricError: BLEU counts n-grams up to 1, 2, 3 or 4 (found 5)
    """

    order: Literal[1, 2, 3, 4] = 4

    def __post_init__(self) -> None:
        if self.order not in (1, 2, 3, 4):
            raise MetricError("BLEU counts n-grams up to 1, 2, 3 or 4", found=str(self.order))

    @property
    def name(self) -> str:
        return "library_bleu"

    @property
    def signature(self) -> str:
        """sacreBLEU's own signature without the number of references, and the order, which it leaves out."""
        try:
            own = _sacrebleu_signature(None)
        except MissingResource:
            own = "version:missing"
        return f"{self.name}|sacreBLEU|{own}|order:{self.order}"

    def rows(self, pairs: Pairs) -> Rows:
        """Per item the two lengths, matched and all n-grams of each order, references; int64 of shape (items, 11)."""
        columns = ("prediction_length", "reference_length")
        columns += tuple(f"correct{n}" for n in range(1, 5)) + tuple(f"total{n}" for n in range(1, 5))  # type: ignore[assignment]
        return Rows(pairs.memo("sacreBLEU", lambda: _bleu_statistics(pairs)), (*columns, "references"))

    def finish(self, totals: NDArray[Any]) -> Any:
        """BLEU by sacreBLEU from totals of shape (…, 11), shape (…), on the 0-1 scale."""
        return self._scores(totals, effective_order=False)

    def lines(self, rows: Rows) -> FloatArray:
        """sacreBLEU's sentence score of each item, shape (items,), 0-1."""
        return self._scores(rows.values, effective_order=True)

    def _scores(self, totals: NDArray[Any], *, effective_order: bool) -> FloatArray:
        compute = _bleu().compute_bleu
        counts = np.rint(totals).astype(np.int64)
        values = [
            compute(
                correct=row[2 : 2 + self.order],
                total=row[2 + _ORDERS : 2 + _ORDERS + self.order],
                sys_len=row[0],
                ref_len=row[1],
                smooth_method="exp",
                effective_order=effective_order,
                max_ngram_order=self.order,
            ).score
            for row in counts.reshape(-1, counts.shape[-1]).tolist()
        ]
        return np.array(values, dtype=np.float64).reshape(counts.shape[:-1]) / 100

    def details(self, rows: Rows) -> dict[str, float | int | str]:
        """sacreBLEU's signature as it prints it; lengths, matched and all n-grams of each order."""
        references = np.unique(rows.column("references"))
        found: dict[str, float | int | str] = {
            "sacrebleu": _sacrebleu_signature(int(references[0]) if len(references) == 1 else "var")
        }
        totals = rows.totals()
        found.update({name: int(total) for name, total in zip(rows.columns[:-1], totals[:-1], strict=True)})
        return found


def _bleu() -> Any:
    """The class BLEU of sacreBLEU 2 or later."""
    return _package("sacrebleu.metrics", "sacrebleu").BLEU


def _bleu_statistics(pairs: Pairs) -> IntArray:
    """The counts of every item, as sacreBLEU's sentence score reports them."""
    # The effective order has no influence on counts; without it sacreBLEU warns at every sentence.
    score = _bleu()(max_ngram_order=_ORDERS, effective_order=True).sentence_score
    values = np.empty((len(pairs), 3 + 2 * _ORDERS), dtype=np.int64)
    for place, (prediction, references) in enumerate(zip(pairs.predictions, pairs.references, strict=True)):
        found = score(prediction, references)
        values[place] = (found.sys_len, found.ref_len, *found.counts, *found.totals, len(references))
    return values


def _sacrebleu_signature(references: int | str | None) -> str:
    """sacreBLEU's signature of a corpus score: `nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0`."""
    bleu = _bleu()(max_ngram_order=_ORDERS)
    bleu.corpus_score(["a"], [["a"]])  # it has a signature once it has scored
    signature = bleu.get_signature()
    signature.update("nrefs", references)
    return str(signature.format())


# --- NLTK -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LibraryMeteor(_MeanOfItems):
    """Mean over items of NLTK's METEOR (alpha 0.9, beta 3, gamma 0.5), 0-1.

    Words are what stands between blanks; NLTK lower-cases them and matches words, stems (its Porter) and synonyms
    (its WordNet) one after the other, without paraphrases. Of several references the best score counts. WordNet is
    looked for in `GLGE_WORDNET`, in NLTK's data folders and in /usr/share/wordnet. Raises MissingResource without
    NLTK or WordNet.

    Definition: Lavie and Agarwal 2007 as NLTK implements it.

    >>> LibraryMeteor().name
    'library_meteor'
    """

    @property
    def name(self) -> str:
        return "library_meteor"

    @property
    def signature(self) -> str:
        """NLTK's version, WordNet's version with a checksum of its files, and the three parameters."""
        try:
            label = find_wordnet().label
        except MissingResource:
            label = "wordnet-missing"
        parameters = f"alpha:{_ALPHA:g}|beta:{_BETA:g}|gamma:{_GAMMA:g}"
        return f"{self.name}|nltk-{_version('nltk')}|{label}|{parameters}|tok:blank|best reference|mean of items"

    def rows(self, pairs: Pairs) -> Rows:
        """Per item the score (0-1), and 1; shape (items, 2)."""
        score = _package("nltk.translate.meteor_score", "nltk").meteor_score
        porter = _package("nltk.stem.porter", "nltk").PorterStemmer()
        options = {
            "stemmer": SimpleNamespace(stem=_remembered(porter.stem)),
            "wordnet": SimpleNamespace(synsets=_remembered(_reader(find_wordnet()).synsets)),
            "alpha": _ALPHA,
            "beta": _BETA,
            "gamma": _GAMMA,
        }
        values = np.ones((len(pairs), 2))
        for place, (prediction, references) in enumerate(zip(pairs.predictions, pairs.references, strict=True)):
            values[place, 0] = score([reference.split() for reference in references], prediction.split(), **options)
        return Rows(values, ("meteor", "n"))


@dataclass(frozen=True)
class LibrarySentenceBleu(_MeanOfItems):
    """Mean over lines of NLTK's sentence BLEU with smoothing method 7, 0-1, and above 1 for perfect lines.

    The PersonaChat script's call on the NLTK that is installed: words at single blanks, weights (1, 0, 0, 0) or
    (.5, .5, 0, 0), 0 where NLTK fails on a line's figures. Raises MissingResource without an NLTK that works on
    this Python.

    Definition: Chen and Cherry 2014, method 7, as NLTK implements it.

    >>> LibrarySentenceBleu(2).name
    'library_sentence_bleu2'
    """

    order: Literal[1, 2]

    def __post_init__(self) -> None:
        if self.order not in (1, 2):
            raise MetricError("sentence BLEU is defined here for n-grams up to 1 or 2", found=str(self.order))

    @property
    def name(self) -> str:
        return f"library_sentence_bleu{self.order}"

    @property
    def weights(self) -> tuple[float, float, float, float]:
        """The weights of the four orders."""
        return (1, 0, 0, 0) if self.order == 1 else (0.5, 0.5, 0, 0)

    @property
    def signature(self) -> str:
        weights = ",".join(f"{weight:g}" for weight in self.weights)
        return f"{self.name}|nltk-{_version('nltk')}|method7|weights:{weights}|tok:blank|mean of lines"

    def rows(self, pairs: Pairs) -> Rows:
        """Per line the sentence BLEU, 1 where NLTK raises, and 1; shape (lines, 3)."""
        bleu = _package("nltk.translate.bleu_score", "nltk")
        smooth = bleu.SmoothingFunction().method7
        values = np.zeros((len(pairs), 3))
        values[:, 2] = 1
        for place, (prediction, references) in enumerate(zip(pairs.predictions, pairs.references, strict=True)):
            groups = [reference.split(" ") for reference in references]
            try:
                values[place, 0] = bleu.sentence_bleu(
                    groups, prediction.split(" "), weights=self.weights, smoothing_function=smooth
                )
            except ArithmeticError:
                values[place, 1] = 1
            except (TypeError, ValueError) as error:
                # NLTK up to 3.8.1 raises on every line since Python 3.12: no figure is better than 0.
                raise MissingResource(
                    f"the sentence BLEU of NLTK {_version('nltk')} does not work on this Python",
                    found=type(error).__name__,
                    hint=_INSTALL,
                ) from None
        return Rows(values, ("bleu", "raised", "n"))

    def details(self, rows: Rows) -> dict[str, float | int | str]:
        """How many lines count 0 because NLTK raises there."""
        return {"lines_raised": int(rows.column("raised").sum())}

    def line_notes(self, rows: Rows) -> dict[int, str]:
        """The lines that count 0 because NLTK raises there."""
        return dict.fromkeys(np.flatnonzero(rows.column("raised")).tolist(), "NLTK fails: BLEU counts 0")

    def notes(self, rows: Rows) -> tuple[str, ...]:
        """How many lines NLTK fails on, and that values above 100 are meant."""
        raised = int(rows.column("raised").sum())
        found = [f"NLTK fails on {raised:,} of the lines: they count 0"] if raised else []
        if self.reduce(rows) > 1:
            found.append("BLEU above 100: the smoothing lifts a perfect line of 4 or more words to 133.3 (BLEU-1)")
        return tuple(found)


# --- WordNet --------------------------------------------------------------------------------------

_PARTS = ("adj", "adv", "noun", "verb")
_WORDNET_FILES = tuple(f"{kind}.{part}" for kind in ("data", "index") for part in _PARTS) + tuple(
    f"{part}.exc" for part in _PARTS
)


@dataclass(frozen=True)
class WordNet:
    """WordNet's dict files: a folder, or a zip with a folder in it.

    `stamp` has the times and sizes of what is read, so that files that changed are another WordNet. `root` is what
    NLTK's reader is given.
    """

    place: str
    stamp: tuple[tuple[int, int], ...]
    entry: str | None = None  # the folder inside the zip
    root: Any = field(default=None, compare=False, repr=False)

    @property
    def label(self) -> str:
        """Version and the first 8 digits of the files' SHA-256, for signatures: `wordnet-3.0-0a1b2c3d`."""
        return _label(self)

    def files(self) -> list[bytes]:
        """The content of the twelve files METEOR depends on."""
        if self.entry is None:
            return [Path(self.place, name).read_bytes() for name in _WORDNET_FILES]
        with zipfile.ZipFile(self.place) as archive:
            return [archive.read(f"{self.entry}{name}") for name in _WORDNET_FILES]


@lru_cache(maxsize=4)
def _label(wordnet: WordNet) -> str:
    digest = hashlib.sha256()
    version = "unknown"
    try:
        for content in wordnet.files():
            told = re.search(rb"WordNet (\d+(?:\.\d+)*) Copyright", content[:4000])
            if told and version == "unknown":
                version = told[1].decode()
            digest.update(hashlib.sha256(content).digest())
    except (OSError, KeyError, zipfile.BadZipFile):
        return "wordnet-unreadable"
    return f"wordnet-{version}-{digest.hexdigest()[:8]}"


def find_wordnet() -> WordNet:
    """The WordNet that METEOR uses: `GLGE_WORDNET`, NLTK's own data, or /usr/share/wordnet, in this order.

    Raises MissingResource, with what to install or to set, when there is none.
    """
    named = os.environ.get(WORDNET_VARIABLE)
    if named:
        folder = Path(named).expanduser()
        absent = [name for name in _WORDNET_FILES if not (folder / name).is_file()]
        if absent:
            raise MissingResource(
                f"{WORDNET_VARIABLE} names no folder of WordNet",
                file=str(folder),
                expected=", ".join(absent[:3]) + (" …" if len(absent) > 3 else ""),
                hint=_INSTALL_WORDNET,
            )
        return _in_folder(folder.resolve())
    return _in_nltk_data() or _in_system() or _no_wordnet()


def _no_wordnet() -> WordNet:
    raise MissingResource("NLTK's METEOR needs WordNet, and there is none here", hint=_INSTALL_WORDNET)


def _in_folder(folder: Path, root: Any = None) -> WordNet:
    stats = [(folder / name).stat() for name in _WORDNET_FILES]
    stamp = tuple((found.st_mtime_ns, found.st_size) for found in stats)
    return WordNet(str(folder), stamp, root=root or str(folder))


def _in_system() -> WordNet | None:
    whole = all((SYSTEM_WORDNET / name).is_file() for name in _WORDNET_FILES)
    return _in_folder(SYSTEM_WORDNET) if whole else None


def _in_nltk_data() -> WordNet | None:
    """What `python -m nltk.downloader wordnet` brought: a zip, or the folder unpacked from it."""
    find = _package("nltk.data", "nltk").find
    for name in ("corpora/wordnet", "corpora/wordnet.zip/wordnet/"):
        try:
            root = find(name)
            archive = getattr(root, "zipfile", None)
            if archive is None:
                return _in_folder(Path(str(root)), root)
            found = Path(str(archive.filename)).stat()
            stamp = ((found.st_mtime_ns, found.st_size),)
            return WordNet(str(archive.filename), stamp, str(root.entry), root)
        except (LookupError, OSError):
            continue
    return None


@lru_cache(maxsize=1)
def _reader(wordnet: WordNet) -> Any:
    """NLTK's reader on these files; MissingResource when it cannot read them. Takes about a second."""
    base = _package("nltk.corpus.reader.wordnet", "nltk").WordNetCorpusReader

    class Reader(base):  # type: ignore[misc, valid-type]
        """NLTK's reader for English alone, on files that need not have come from NLTK."""

        def open(self, file: str) -> Any:
            # Debian leaves out the names of the lexicographers' files. METEOR has no use for them: numbers will do.
            if file == "lexnames":
                return io.StringIO("".join(f"{number:02d}\t{number:02d}\t0\n" for number in range(100)))
            return super().open(file)

        def map_wn(self, version: str = "wordnet") -> None:
            """No way from other languages: it would need NLTK's own copy of WordNet and a file Debian leaves out."""

    if isinstance(wordnet.root, str) and wordnet.root == wordnet.place:
        # NLTK reads in registered folders only; this is how one of the user's own is registered.
        paths = _package("nltk.data", "nltk").path
        if wordnet.place not in paths:
            paths.append(wordnet.place)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "multilingual functions are not available"
            return Reader(wordnet.root, None)
    except Exception as error:
        raise MissingResource(
            f"NLTK {_version('nltk')} cannot read WordNet",
            file=wordnet.place,
            found=f"{type(error).__name__}: {error}"[:200],
            hint=_INSTALL_WORDNET,
        ) from None


__all__: Sequence[str] = [
    "SYSTEM_WORDNET",
    "WORDNET_VARIABLE",
    "LibraryBleu",
    "LibraryMeteor",
    "LibraryRouge",
    "LibrarySentenceBleu",
    "WordNet",
    "find_wordnet",
]
