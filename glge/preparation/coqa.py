"""CoQA JSON -> a source line of previous turns, question and passage, and the answer.

CoQA's test set is hidden; the benchmark's dev and test sets are its dev set divided in two. How is unknown, as are
the number of previous turns, the order of the parts and the separators: all are options.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations

from glge.lines import printable
from glge.preparation.raw import Json, LinePlace, candidates, find_one, read_json, read_list
from glge.preparation.recipe import (
    Builder,
    BuildOption,
    Job,
    Pair,
    StepCount,
    Text,
    case_option,
    joined,
    separator_option,
    tokens_option,
)

DEV_LINES = 3935  # of the official dev set
PARTS = ("history", "question", "passage")
_FILES = ("coqa-{split}-v1.0.json", "coqa-{split}.json", "{split}.json")
_LISTS = ("{split}.txt", "{split}.ids", "{split}_ids.txt")
_LIST_FOLDERS = (".", "split", "lists")


@dataclass(frozen=True, slots=True)
class _Conversation:
    """A passage and its turns, as they stand."""

    id: str
    story: Json
    turns: tuple[tuple[Json, Json], ...]


def read(job: Job) -> Mapping[str, Iterator[Pair]]:
    """The pairs of each split."""
    seen: dict[str, Json] = {}
    result: dict[str, Iterator[Pair]] = {}
    if "train" in job.splits:
        result["train"] = _pairs(job, "train", _conversations(job, "train", seen), None)
    held_out = [split for split in job.splits if split != "train"]
    if held_out and job.choice("division") == "none":
        for split in held_out:
            result[split] = _pairs(job, split, _conversations(job, split, seen), None)
    elif held_out:
        divided = _divide(job, _conversations(job, "dev", seen))
        cut = DEV_LINES if job.choice("division") == "published-size" else None
        for split in held_out:
            part = None if cut is None else (0, cut) if split == "dev" else (cut, None)
            result[split] = _pairs(job, split, divided[split], part)
    return {split: result[split] for split in job.splits}


def _conversations(job: Job, split: str, seen: dict[str, Json]) -> list[_Conversation]:
    path = find_one(job.raw, candidates(split, _FILES), f"CoQA JSON file for {split}")
    content = read_json(path, job.use(path))
    entries = content["data"].items() if isinstance(content.value, dict) else content.items()
    step = job.step(f"{split} file: conversations")
    found = []
    for number, entry in enumerate(entries, 1):
        with job.record(step):
            identity = entry["id"].text()
            if identity in seen:
                raise entry["id"].fault("duplicate id", found=f"also {seen[identity]}")
            seen[identity] = entry["id"]
            entry["story"].text()
            found.append(_Conversation(identity, entry["story"], _turns(entry)))
            step.kept += 1
        job.told(path.name, number, len(entries))
    return found


def _turns(entry: Json) -> tuple[tuple[Json, Json], ...]:
    """Questions with the answers of the same turn. Additional answers are read by nobody here: one gold a line."""
    questions, answers = entry["questions"].items(), entry["answers"].items()
    if len(questions) != len(answers):
        raise entry.fault(
            "questions and answers differ in number", expected=f"{len(questions):,}", found=f"{len(answers):,}"
        )
    turns = []
    for question, answer in zip(questions, answers, strict=True):
        if question["turn_id"].number() != answer["turn_id"].number():
            raise answer["turn_id"].fault(
                "the answer is of another turn",
                expected=str(question["turn_id"].number()),
                found=str(answer["turn_id"].number()),
            )
        question["input_text"].text()
        answer["input_text"].text()
        turns.append((question["input_text"], answer["input_text"]))
    return tuple(turns)


def _divide(job: Job, conversations: list[_Conversation]) -> dict[str, list[_Conversation]]:
    division = job.choice("division")
    count = len(conversations)
    if division == "published-size":
        return {"dev": conversations, "test": conversations}
    if division == "lists":
        return _by_lists(job, conversations)
    if division == "alternate":
        dev = set(range(0, count, 2))
    elif division == "random":
        import numpy as np  # noqa: PLC0415 - only this choice needs it

        job.versions["numpy"] = np.__version__
        order = np.random.default_rng(int(job.options["seed"])).permutation(count)
        dev = {int(number) for number in order[: (count + 1) // 2]}
    else:
        dev = set(range((count + 1) // 2))
    return {
        "dev": [one for number, one in enumerate(conversations) if number in dev],
        "test": [one for number, one in enumerate(conversations) if number not in dev],
    }


def _by_lists(job: Job, conversations: list[_Conversation]) -> dict[str, list[_Conversation]]:
    known = {one.id for one in conversations}
    given: dict[str, tuple[str, LinePlace]] = {}
    for split in (split for split in job.splits if split != "train"):
        path = find_one(job.raw, candidates(split, _LISTS), f"list of conversation ids for {split}", _LIST_FOLDERS)
        step = job.step(f"{split}: entries of the list")
        for entry, place in read_list(path, job.use(path, lines=True)):
            with job.record(step):
                if entry in given:
                    raise place.fault("listed twice", found=f"also {given[entry][1]}")
                if entry not in known:
                    raise place.fault("no such conversation", found=repr(printable(entry)[:60]))
                given[entry] = split, place
                step.kept += 1
    step = job.step("conversations with a split")
    result: dict[str, list[_Conversation]] = {"dev": [], "test": []}
    for one in conversations:
        if one.id in given:
            result[given[one.id][0]].append(one)
            step.kept += 1
        else:
            step.drop("in no split list")
    return result


def _pairs(
    job: Job, split: str, conversations: list[_Conversation], part: tuple[int, int | None] | None
) -> Iterator[Pair]:
    between = job.choice("separator"), job.choice("turn_separator")
    read_step = job.step(f"{split}: conversations")
    text = Text(job, split, separators=between)
    step = job.step(f"{split}: question and answer there")
    cut = job.step(f"{split}: within the lines of the split") if part is not None else None
    pairs = _lines(job, split, conversations, between, read_step, text, step)
    return pairs if cut is None or part is None else _within(pairs, part, cut)


def _within(pairs: Iterator[Pair], part: tuple[int, int | None], step: StepCount) -> Iterator[Pair]:
    for number, pair in enumerate(pairs):
        if part[0] <= number and (part[1] is None or number < part[1]):
            step.kept += 1
            yield pair
        else:
            step.drop("in the other split")


def _lines(
    job: Job,
    split: str,
    conversations: list[_Conversation],
    between: tuple[str, str],
    read_step: StepCount,
    text: Text,
    step: StepCount,
) -> Iterator[Pair]:
    order = job.choice("parts").split("-")
    turns = job.options["turns"]
    for number, conversation in enumerate(conversations, 1):
        done: list[tuple[str, str]] = []
        passage = ""
        with job.record(read_step):
            passage = text(conversation.story.text(), conversation.story)
            done = [(text(ask.text(), ask), text(reply.text(), reply)) for ask, reply in conversation.turns]
            if not passage:
                done = []
                read_step.drop("empty passage")
            else:
                read_step.kept += 1
        for place, (question, answer) in enumerate(done):
            if not question or not answer:
                step.drop("empty answer" if question else "empty question")
                continue
            first = max(0, place - turns) if isinstance(turns, int) else 0
            history = joined([one for turn in done[first:place] for one in turn], between[1])
            parts = {"history": history, "question": question, "passage": passage}
            step.kept += 1
            yield joined([parts[name] for name in order], between[0]), answer
        job.told(split, number, len(conversations))


BUILDER = Builder(
    task="coqa",
    expects="coqa-train-v1.0.json and coqa-dev-v1.0.json",
    options=(
        BuildOption(
            "division",
            "halves",
            "how CoQA's dev set becomes dev and test: halves (the first half of its conversations is dev), alternate "
            "(every second one), random (by the option seed), published-size (its first 3,935 answers are dev), lists "
            "(dev.txt and test.txt with conversation ids), none (a JSON file each). What the benchmark did is unknown",
            ("halves", "alternate", "random", "published-size", "lists", "none"),
        ),
        BuildOption("seed", 0, "the seed of division=random; nothing else uses it", kind="count"),
        BuildOption(
            "turns",
            2,
            "how many previous turns (question and answer) stand in the source; the published mean length suggests "
            "about two",
            ("all",),
            kind="count",
        ),
        BuildOption(
            "parts",
            "history-question-passage",
            "the order of the source's parts; the official one is unknown, this is the order in which the paper's "
            "table names them",
            tuple("-".join(order) for order in permutations(PARTS)),
        ),
        separator_option(between="history, question and passage; unknown"),
        separator_option("turn_separator", "the questions and answers of the history; unknown"),
        tokens_option("punctuation", "The official lines have punctuation split off"),
        case_option("lower", "The official lines are lower case"),
    ),
    read=read,
)
