"""Building squadqg, coqa and personachat: small raw files written for this project, and real text and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from glge.preparation.build import build
from glge.preparation.coqa import DEV_LINES
from tests.golden import SAMPLES, lines, needs_samples
from tests.test_build import Files, error_of, lines_of, put, steps_of

SEP = " [SEP] "

# --- squadqg --------------------------------------------------------------------------------------


def question(name: str, text: str, *answers: str) -> dict[str, Any]:
    """One entry of `qas`."""
    return {"id": name, "question": text, "answers": [{"text": one, "answer_start": 0} for one in answers]}


def article(title: str, *paragraphs: tuple[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """One entry of `data`."""
    return {"title": title, "paragraphs": [{"context": context, "qas": qas} for context, qas in paragraphs]}


KITES = article(
    "Kites",
    (
        'A kite (red) "flies".\nHigh\u2029up.',
        [question("k1", "Who flies?", "A kite"), question("k2", "How?\n", "High")],
    ),
    ("Wind costs 5€.", [question("k3", "What's free ?", "Wind")]),
)
BOATS = article(
    "Boats_%28small%29", ("Boats sail.", [question("b1", "What sails?", "Boats"), question("b2", "?", " ")])
)
SHEEP = article("Sheep", ("Sheep eat.", [question("s1", "Who eats?", "Sheep eat", "Sheep", "Sheep")]))
SQUAD: Files = {
    "train-v1.1.json": json.dumps({"version": "1.1", "data": [KITES, BOATS]}),
    "dev-v1.1.json": json.dumps({"version": "1.1", "data": [SHEEP]}),
    "doclist-train.txt": "Boats_%28small%29\nKites\n",
    "doclist-dev.txt": "s1",
    "doclist-test.txt": "k3\n",
}


def squad(tmp_path: Path, **changed: str | None) -> Path:
    """The raw folder; a None takes a file away. Keys: `dev_list`, `train_json` and so on."""
    names = {f"{split}_list": f"doclist-{split}.txt" for split in ("train", "dev", "test")}
    names |= {"train_json": "train-v1.1.json", "dev_json": "dev-v1.1.json"}
    files = {**SQUAD, **{names[key]: value for key, value in changed.items()}}
    return put(tmp_path / "raw", {name: text for name, text in files.items() if text is not None})


def test_squad_by_titles_and_ids(tmp_path: Path) -> None:
    """Answer first, punctuation split off, case kept; an empty answer is dropped."""
    raw = squad(tmp_path, train_list="Boats_%28small%29\nk2\r\nk1\n", test_list=" k3 \n\n")
    manifest = build("squadqg", raw, tmp_path)
    passage = 'A kite ( red ) " flies " . High up .'
    assert lines_of(tmp_path, "squadqg", "train.src") == [
        "Boats [SEP] Boats sail .",
        f"High [SEP] {passage}",
        f"A kite [SEP] {passage}",
    ]
    assert lines_of(tmp_path, "squadqg", "train.tgt") == ["What sails ?", "How ?", "Who flies ?"]
    assert lines_of(tmp_path, "squadqg", "dev.src") == ["Sheep eat [SEP] Sheep eat ."]
    assert lines_of(tmp_path, "squadqg", "test.src") == ["Wind [SEP] Wind costs 5€ ."]
    assert lines_of(tmp_path, "squadqg", "test.tgt") == ["What ' s free ?"]
    found = steps_of(manifest)
    assert found["questions"] == (6, {})
    assert found["train: answer, passage and question there"] == (3, {"empty answer or passage": 1})


def test_squad_options(tmp_path: Path) -> None:
    """Order of the data, the most common answer, another separator, words as they are, lower case."""
    raw = squad(tmp_path, train_list="Boats_%28small%29\nk2\nk1\n")
    options = {"order": "data", "answer": "most-common", "separator": "<a>", "tokens": "as-is", "case": "lower"}
    build("squadqg", raw, tmp_path, options=options)
    assert lines_of(tmp_path, "squadqg", "train.tgt") == ["who flies?", "how?", "what sails?"]
    assert lines_of(tmp_path, "squadqg", "train.src")[0] == 'a kite <a> a kite (red) "flies". high up.'
    assert lines_of(tmp_path, "squadqg", "dev.src") == ["sheep <a> sheep eat."]


def test_squad_in_files(tmp_path: Path) -> None:
    """One JSON file a split, as a bare list of articles or not."""
    files = {"train.json": [KITES], "dev.json": {"data": [SHEEP]}, "test.json": [BOATS]}
    raw = put(tmp_path / "raw", {name: json.dumps(content) for name, content in files.items()})
    build("squadqg", raw, tmp_path)
    assert lines_of(tmp_path, "squadqg", "train.tgt") == ["Who flies ?", "How ?", "What ' s free ?"]
    assert lines_of(tmp_path, "squadqg", "test.tgt") == ["What sails ?"]
    put(raw, {"test.json": json.dumps([KITES])})
    assert error_of("squadqg", raw, tmp_path / "x").startswith(
        "test.json: [0].paragraphs[0].qas[0].id: duplicate id (found also train.json: [0].paragraphs[0].qas[0].id)"
    )


def test_squad_questions_in_no_list(tmp_path: Path) -> None:
    """Dropped and counted, an error, or to the split their file is named by."""
    raw = squad(tmp_path, train_list="Kites\n", test_list="b1\n")
    assert steps_of(build("squadqg", raw, tmp_path))["questions with a split"] == (5, {"in no split list": 1})
    told = error_of("squadqg", raw, tmp_path / "x", options={"unlisted": "error"})
    assert told.startswith(
        "train-v1.1.json: data[1].paragraphs[0].qas[1]: the question is in no split list (found id b2)"
    )
    for name in ("doclist-train.txt", "doclist-dev.txt"):
        (raw / name).unlink()
    build("squadqg", raw, tmp_path, options={"unlisted": "by-file"}, force=True)
    assert lines_of(tmp_path, "squadqg", "train.tgt") == ["Who flies ?", "How ?", "What ' s free ?"]
    assert lines_of(tmp_path, "squadqg", "dev.tgt") == ["Who eats ?"]
    assert "no split list for train" in error_of("squadqg", raw, tmp_path / "x")


@pytest.mark.parametrize(
    ("changed", "message", "step"),
    [
        ({"test_list": "k9\nk3"}, "doclist-test.txt:1: no such title or id (found 'k9')", "test: entries of the list"),
        (
            {"test_list": "k3\nk3"},
            "doclist-test.txt:2: listed twice (found also doclist-test.txt:1)",
            "test: entries of the list",
        ),
        (
            {"train_list": "Kites\nBoats_%28small%29", "test_list": "b1\nk3"},
            "doclist-test.txt:1: the question is in a split already (found by doclist-train.txt:2)",
            None,
        ),
        (
            {"dev_json": json.dumps({"data": [SHEEP, article("T", ("C", [question("k1", "Q", "A")]))]})},
            "train-v1.1.json: data[0].paragraphs[0].qas[0].id: duplicate id (found also dev-v1.1.json: data[1].",
            "questions",
        ),
        (
            {
                "dev_json": json.dumps(
                    {"data": [SHEEP, article("T", ("C", [{"id": "q", "question": 5, "answers": []}]))]}
                )
            },
            "dev-v1.1.json: data[1].paragraphs[0].qas[0].answers: no answer (expected SQuAD v1.1",
            "questions",
        ),
        (
            {"dev_json": json.dumps({"data": [SHEEP, {"title": "T", "paragraphs": {}}]})},
            "dev-v1.1.json: data[1].paragraphs: wrong type (expected a list, found an object)",
            "questions",
        ),
    ],
)
def test_bad_squad(tmp_path: Path, changed: dict[str, str], message: str, step: str | None) -> None:
    """File and line or JSON path; skipped and counted when asked for."""
    raw = squad(tmp_path, **{"train_list": "k1\nk2\nb1", **changed})
    assert error_of("squadqg", raw, tmp_path / "out").startswith(message)
    if step is not None:
        manifest = build("squadqg", raw, tmp_path / "out", skip_bad=True)
        assert sum(steps_of(manifest)[step][1].values()) == 1


@needs_samples
def test_real_questions_to_squad_and_back(tmp_path: Path) -> None:
    """Answers, passages and questions of real lines as SQuAD JSON give the same lines again."""
    sources, targets = (lines(SAMPLES / "qg_squad_xquad" / f"{side}.txt") for side in ("src", "tgt"))
    articles: list[dict[str, Any]] = []
    for number, (source, target) in enumerate(zip(sources, targets, strict=True)):
        answer, passage = source.split(SEP)
        if not articles or articles[-1]["paragraphs"][0]["context"] != passage:
            articles.append(article(f"Title_{len(articles)}", (passage, [])))
        articles[-1]["paragraphs"][0]["qas"].append(question(f"q{number}", target, answer))
    titles = [one["title"] for one in articles]
    raw = put(
        tmp_path / "raw",
        {
            "train-v1.1.json": json.dumps({"data": articles[60:]}),
            "dev-v1.1.json": json.dumps({"data": articles[:60]}),
            "train.titles": "\n".join(titles[100:]),
            "val.titles": "\n".join(titles[:60]),
            "test.titles": "\n".join(titles[60:100]),
        },
    )
    build("squadqg", raw, tmp_path)
    for side, expected in (("src", sources), ("tgt", targets)):
        built = [
            line for split in ("dev", "test", "train") for line in lines_of(tmp_path, "squadqg", f"{split}.{side}")
        ]
        assert built == expected


# --- coqa -----------------------------------------------------------------------------------------


def conversation(name: str, story: str, *turns: tuple[str, str]) -> dict[str, Any]:
    """One entry of CoQA's `data`, with additional answers that nobody may read."""
    return {
        "source": "wikipedia",
        "id": name,
        "filename": f"{name}.txt",
        "story": story,
        "questions": [{"input_text": ask, "turn_id": turn} for turn, (ask, _) in enumerate(turns, 1)],
        "answers": [
            {"span_start": 0, "span_end": 1, "span_text": "WRONG", "input_text": reply, "turn_id": turn}
            for turn, (_, reply) in enumerate(turns, 1)
        ],
        "additional_answers": {
            str(other): [{"input_text": "WRONG", "turn_id": turn} for turn, _ in enumerate(turns, 1)]
            for other in range(3)
        },
        "name": f"{name}.txt",
    }


TALK = conversation(
    "t1", "A Kite\r\nflew.", ("Who?", "A Kite"), ("How?", "It flew."), ("Why?", "No"), ("When?", "unknown")
)
SHORT = [conversation(f"d{number}", f"Story {number}.", (f"Q{number}?", f"A{number}")) for number in range(1, 6)]
COQA: Files = {
    "coqa-train-v1.0.json": json.dumps({"version": "1.0", "data": [TALK]}),
    "coqa-dev-v1.0.json": json.dumps({"version": "1.0", "data": SHORT}),
}


def test_coqa(tmp_path: Path) -> None:
    """Two previous turns, question, passage; lower case, punctuation split; one gold answer a line."""
    raw = put(tmp_path / "raw", COQA)
    manifest = build("coqa", raw, tmp_path)
    assert lines_of(tmp_path, "coqa", "train.src") == [
        "who ? [SEP] a kite flew .",
        "who ? [SEP] a kite [SEP] how ? [SEP] a kite flew .",
        "who ? [SEP] a kite [SEP] how ? [SEP] it flew . [SEP] why ? [SEP] a kite flew .",
        "how ? [SEP] it flew . [SEP] why ? [SEP] no [SEP] when ? [SEP] a kite flew .",
    ]
    assert lines_of(tmp_path, "coqa", "train.tgt") == ["a kite", "it flew .", "no", "unknown"]
    assert lines_of(tmp_path, "coqa", "dev.tgt") == ["a1", "a2", "a3"]
    assert lines_of(tmp_path, "coqa", "test.tgt") == ["a4", "a5"]
    assert steps_of(manifest)["train: lines written"] == (4, {})
    assert manifest.seed is None


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"turns": "1", "parts": "passage-history-question", "turn_separator": "|"},
            "a kite flew . [SEP] how ? | it flew . [SEP] why ?",
        ),
        (
            {"turns": "all", "separator": "", "tokens": "as-is", "case": "keep", "turn_separator": "//"},
            "Who? // A Kite // How? // It flew. Why? A Kite flew.",
        ),
        ({"turns": 0}, "why ? [SEP] a kite flew ."),
    ],
)
def test_coqa_sources(tmp_path: Path, options: dict[str, Any], expected: str) -> None:
    """Turns, order, separators, tokens and case of the source are options."""
    build("coqa", put(tmp_path / "raw", COQA), tmp_path, options=options)
    assert lines_of(tmp_path, "coqa", "train.src")[2] == expected


@pytest.mark.parametrize(
    ("options", "dev", "test"),
    [
        ({"division": "alternate"}, ["a1", "a3", "a5"], ["a2", "a4"]),
        ({"division": "lists"}, ["a2", "a4"], ["a5"]),
        ({"division": "random", "seed": 1}, ["a1", "a2", "a5"], ["a3", "a4"]),
    ],
)
def test_coqa_divisions(tmp_path: Path, options: dict[str, Any], dev: list[str], test: list[str]) -> None:
    """Each division as it says; conversations stay whole."""
    raw = put(tmp_path / "raw", {**COQA, "dev.txt": "d4\nd2\n", "test.txt": "d5"})
    manifest = build("coqa", raw, tmp_path, options=options)
    assert lines_of(tmp_path, "coqa", "dev.tgt") == dev
    assert lines_of(tmp_path, "coqa", "test.tgt") == test
    assert (manifest.seed, "numpy" in manifest.versions) == ((1, True) if options.get("seed") else (None, False))
    if options["division"] == "lists":
        assert steps_of(manifest)["conversations with a split"] == (3, {"in no split list": 2})


def test_coqa_of_the_published_size(tmp_path: Path) -> None:
    """The first 3,935 answers are dev, in the middle of a conversation if need be; the rest is test."""
    many = [conversation(f"c{place}", "S", *[("Q", f"{place}x{turn}") for turn in range(10)]) for place in range(400)]
    raw = put(tmp_path / "raw", {**COQA, "coqa-dev-v1.0.json": json.dumps({"data": many})})
    manifest = build("coqa", raw, tmp_path, options={"division": "published-size"})
    dev, test = lines_of(tmp_path, "coqa", "dev.tgt"), lines_of(tmp_path, "coqa", "test.tgt")
    assert (len(dev), len(test), dev[-1], test[0]) == (DEV_LINES, 65, "393x4", "393x5")
    assert steps_of(manifest)["test: within the lines of the split"] == (65, {"in the other split": DEV_LINES})


def test_coqa_with_a_file_each(tmp_path: Path) -> None:
    """division=none reads a third file."""
    raw = put(tmp_path / "raw", {**COQA, "coqa-test-v1.0.json": json.dumps({"data": [{**TALK, "id": "x"}]})})
    build("coqa", raw, tmp_path, options={"division": "none"})
    assert lines_of(tmp_path, "coqa", "dev.tgt") == ["a1", "a2", "a3", "a4", "a5"]
    assert len(lines_of(tmp_path, "coqa", "test.tgt")) == 4


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (
            {**TALK, "id": "d1"},
            "coqa-dev-v1.0.json: data[0].id: duplicate id (found also coqa-train-v1.0.json: data[1].id)",
        ),
        ({**TALK, "story": None}, "coqa-train-v1.0.json: data[1].story: wrong type (expected text, found null)"),
        (
            {**TALK, "answers": TALK["answers"][1:]},
            "coqa-train-v1.0.json: data[1]: questions and answers differ in number",
        ),
        (
            {**TALK, "answers": [*TALK["answers"][1:], TALK["answers"][0]]},
            "coqa-train-v1.0.json: data[1].answers[0].turn_id: the answer is of another turn (expected 1, found 2)",
        ),
        ({"id": "y"}, "coqa-train-v1.0.json: data[1]: the key 'story' is missing"),
        ({**TALK, "story": "a [SEP] b"}, "coqa-train-v1.0.json: data[1].story: the text holds the separator [SEP]"),
    ],
)
def test_bad_coqa(tmp_path: Path, bad: dict[str, Any], message: str) -> None:
    """File and JSON path; the conversation is skipped and counted when asked for."""
    bad = {**bad, "id": "t2" if bad["id"] == "t1" else bad["id"]}
    raw = put(tmp_path / "raw", {**COQA, "coqa-train-v1.0.json": json.dumps({"data": [TALK, bad]})})
    options = {"tokens": "as-is", "case": "keep"}
    assert error_of("coqa", raw, tmp_path / "out", options=options).startswith(message)
    manifest = build("coqa", raw, tmp_path / "out", options=options, skip_bad=True)
    dropped = [reason for step in manifest.steps for reason in step.dropped]
    assert len(dropped) == 1
    assert lines_of(tmp_path / "out", "coqa", "train.tgt")[:4] == ["A Kite", "It flew.", "No", "unknown"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"dev.txt": "d1\nzz\n", "test.txt": "d2"}, "dev.txt:2: no such conversation (found 'zz')"),
        ({"dev.txt": "d1\n", "test.txt": "d1\nd2"}, "test.txt:1: listed twice (found also dev.txt:1)"),
    ],
)
def test_bad_coqa_lists(tmp_path: Path, files: Files, message: str) -> None:
    """A wrong or repeated conversation id, with its line."""
    raw = put(tmp_path / "raw", {**COQA, **files})
    assert error_of("coqa", raw, tmp_path / "out", options={"division": "lists"}).startswith(message)


def test_coqa_with_empty_turns(tmp_path: Path) -> None:
    """A pair without an answer is no pair and no history; a conversation without a passage is dropped."""
    odd = conversation("o", "S", ("Q1", " "), ("Q2", "A2"), ("\n", "A3"))
    raw = put(
        tmp_path / "raw",
        {**COQA, "coqa-train-v1.0.json": json.dumps({"data": [odd, conversation("e", "\u2028", ("Q", "A"))]})},
    )
    manifest = build("coqa", raw, tmp_path)
    assert lines_of(tmp_path, "coqa", "train.src") == ["q1 [SEP] q2 [SEP] s"]
    assert steps_of(manifest)["train: question and answer there"] == (1, {"empty answer": 1, "empty question": 1})
    assert steps_of(manifest)["train: conversations"] == (1, {"empty passage": 1})


@needs_samples
def test_real_turns_to_coqa_and_back(tmp_path: Path) -> None:
    """Each real line as a conversation whose last pair is the line itself."""
    sources, targets = (lines(SAMPLES / "coqa_abg" / f"{side}.txt") for side in ("src", "tgt"))
    data = []
    for number, (source, target) in enumerate(zip(sources, targets, strict=True)):
        *history, last, story = source.split(SEP)
        turns = [*zip(history[::2], history[1::2], strict=True), (last, target)]
        data.append(conversation(f"c{number}", story, *turns))
    raw = put(
        tmp_path / "raw",
        {
            "coqa-train-v1.0.json": json.dumps({"data": data[:600]}),
            "coqa-dev-v1.0.json": json.dumps({"data": data[600:]}),
        },
    )
    build("coqa", raw, tmp_path)
    counts = [len(one["questions"]) for one in data]
    ends = {sum(counts[: place + 1]) - 1 for place in range(len(counts))}
    for side, expected in (("src", sources), ("tgt", targets)):
        built = [line for split in ("train", "dev", "test") for line in lines_of(tmp_path, "coqa", f"{split}.{side}")]
        assert [line for place, line in enumerate(built) if place in ends] == expected


# --- personachat ----------------------------------------------------------------------------------

DIALOGUE = (
    "1 your persona: i ski.\n2 your persona: i like  tea.\n"
    "3 hello\thi , you ?\t\tno|yes\n4 fine\u2028here\tgreat .\t0.5\tmaybe|hi , you ?\n"
)
BOTH = "1 your persona: i ski.\n2 partner's persona: i row.\n3 hello\thi , you ?\n4 fine here\tgreat .\n"
PERSONA: Files = {
    "train_self_original.txt": DIALOGUE + "1 your persona: i sing.\r\n2 __SILENCE__\tla\r\n3 what ?\tla la\r\n",
    "valid_self_original_no_cands.txt": DIALOGUE.replace("\t\tno|yes", ""),
    "test_self_original.txt": DIALOGUE,
    "train_both_original.txt": BOTH,
    "valid_both_original.txt": BOTH,
    "test_both_original.txt": BOTH,
}


def test_personachat(tmp_path: Path) -> None:
    """Every utterance but a dialogue's first is a target; candidates, with or without, and rewards are not read."""
    raw = put(tmp_path / "raw", PERSONA)
    manifest = build("personachat", raw, tmp_path)
    expected = [
        "i ski. [SEP] i like tea. [SEP] hello",
        "i ski. [SEP] i like tea. [SEP] hello [SEP] hi , you ?",
        "i ski. [SEP] i like tea. [SEP] hello [SEP] hi , you ? [SEP] fine here",
    ]
    assert lines_of(tmp_path, "personachat", "dev.src") == expected
    assert lines_of(tmp_path, "personachat", "test.src") == expected
    assert lines_of(tmp_path, "personachat", "test.tgt") == ["hi , you ?", "fine here", "great ."]
    assert lines_of(tmp_path, "personachat", "train.src") == [
        *expected,
        "i sing. [SEP] la",
        "i sing. [SEP] la [SEP] what ?",
    ]
    assert lines_of(tmp_path, "personachat", "train.tgt")[3:] == ["what ?", "la la"]
    assert steps_of(manifest)["train: dialogues"] == (2, {})
    assert steps_of(manifest)["train: utterances"] == (5, {"a dialogue's first": 2})


@pytest.mark.parametrize(
    ("options", "sources", "targets"),
    [
        (
            {"targets": "self"},
            ["i ski. [SEP] hello", "i ski. [SEP] hello [SEP] hi , you ? [SEP] fine here"],
            "hi great",
        ),
        (
            {"persona": "speaker", "turns": "1"},
            ["i ski. [SEP] hello", "i row. [SEP] hi , you ?", "i ski. [SEP] fine here"],
            "hi fine great",
        ),
        (
            {"persona": "both", "turns": 1, "separator": "|"},
            ["i ski. | i row. | hello", "i ski. | i row. | hi , you ?", "i ski. | i row. | fine here"],
            "hi fine great",
        ),
        ({"persona": "none", "turns": 1}, ["hello", "hi , you ?", "fine here"], "hi fine great"),
        ({"turns": 0, "tokens": "punctuation"}, ["i ski ."] * 3, "hi fine great"),
    ],
)
def test_personachat_options(tmp_path: Path, options: dict[str, Any], sources: list[str], targets: str) -> None:
    """Whose persona, how much history, whose utterances."""
    raw = put(tmp_path / "raw", PERSONA)
    build("personachat", raw, tmp_path, options={"variant": "both_original", **options})
    assert lines_of(tmp_path, "personachat", "train.src") == sources
    assert [line.split()[0] for line in lines_of(tmp_path, "personachat", "train.tgt")] == targets.split()


def test_personachat_needs_the_persona_it_is_asked_for(tmp_path: Path) -> None:
    """Not a fault of a record: the wrong files, with what to take."""
    raw = put(tmp_path / "raw", PERSONA)
    told = error_of("personachat", raw, tmp_path / "out", options={"persona": "speaker"}, skip_bad=True)
    assert told.startswith('train_self_original.txt:1: the dialogue has no line "partner\'s persona:"; persona=speaker')
    told = error_of("personachat", raw, tmp_path / "out", options={"persona": "none", "turns": 0})
    assert "leave nothing in the sources" in told


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 your persona: a\n3 b\tc\n", "train_self_original.txt:6: the line numbers jump (expected 2, found 3)"),
        ("1 your persona: a\n2 only this\n", "train_self_original.txt:6: neither a persona nor a turn (expected an"),
        ("1 your persona: a\nx\ty\n", "train_self_original.txt:6: no line number (expected '2 ' before the text)"),
        ("1 your persona: a\n2 b\tc [SEP] d\n", "train_self_original.txt:6: the text holds the separator [SEP]"),
    ],
)
def test_bad_dialogues(tmp_path: Path, text: str, message: str) -> None:
    """File and line; the dialogue is skipped and counted when asked for."""
    raw = put(tmp_path / "raw", {**PERSONA, "train_self_original.txt": DIALOGUE + text + DIALOGUE})
    assert error_of("personachat", raw, tmp_path / "out").startswith(message)
    manifest = build("personachat", raw, tmp_path / "out", skip_bad=True)
    kept, dropped = steps_of(manifest)["train: dialogues"]
    assert (kept, sum(dropped.values())) == (2, 1)
    assert len(lines_of(tmp_path / "out", "personachat", "train.tgt")) == 6


def test_dialogues_without_words(tmp_path: Path) -> None:
    """An empty utterance is no target and no history; a dialogue of a persona alone is dropped."""
    text = "1 your persona: a\n1 your persona: a\n2  \thi\n3 b\t \n"
    raw = put(tmp_path / "raw", {**PERSONA, "train_self_original.txt": text})
    manifest = build("personachat", raw, tmp_path)
    assert lines_of(tmp_path, "personachat", "train.src") == ["a [SEP] hi"]
    found = steps_of(manifest)
    assert found["train: dialogues"] == (1, {"no utterance": 1})
    assert found["train: utterances"] == (1, {"empty utterance": 2, "nothing said before": 1})


@needs_samples
def test_real_dialogues_to_text_and_back(tmp_path: Path) -> None:
    """ConvAI2 dialogues of one side as ParlAI text give the same lines again."""
    sources, targets = (lines(SAMPLES / "persona_convai2" / f"{side}.txt") for side in ("src", "tgt"))
    text: list[str] = []
    said: list[str] = []
    for source, target in zip(sources, targets, strict=True):
        parts = source.split(SEP)
        if not said or parts[: len(said)] != said:
            text += [f"{number} your persona: {one}" for number, one in enumerate(parts[:-1], 1)]
            said = parts[:-1]
            number = len(said)
        number += 1
        text.append(f"{number} {parts[-1]}\t{target}\t\t{target}|no")
        said = [*parts, target]
    raw = tmp_path / "raw"
    for split in ("train", "valid", "test"):
        put(raw, {f"{split}_self_original.txt": "\n".join(text) + "\n"})
    build("personachat", raw, tmp_path, options={"targets": "self"})
    assert lines_of(tmp_path, "personachat", "dev.src") == sources
    assert lines_of(tmp_path, "personachat", "dev.tgt") == targets
