"""SQuAD v1.1 JSON -> `answer [SEP] passage` and the question, divided by article titles, question ids or files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from glge.errors import DataError
from glge.lines import printable
from glge.preparation.raw import Json, LinePlace, candidates, find_all, find_one, read_json, read_list
from glge.preparation.recipe import (
    SPLITS,
    Builder,
    BuildOption,
    Job,
    Pair,
    StepCount,
    Text,
    case_option,
    joined,
    order_option,
    separator_option,
    tokens_option,
)

_LISTS = (
    "doclist-{split}.txt",
    "{split}.txt",
    "{split}.ids",
    "{split}.titles",
    "{split}_ids.txt",
    "{split}_titles.txt",
)
_LIST_FOLDERS = (".", "split", "lists")
_FILES = ("{split}.json", "{split}-v1.1.json")
_TRAIN_AND_DEV = ("train", "dev")


@dataclass(frozen=True, slots=True)
class _Question:
    """A question with where it belongs; its texts are still as they stand."""

    id: str
    title: str
    file: str
    place: Json
    question: Json
    answer: Json
    context: Json


def read(job: Job) -> Mapping[str, Iterator[Pair]]:
    """The pairs of each split."""
    layout = job.choice("layout")
    lists = {split: find_all(job.raw, candidates(split, _LISTS), _LIST_FOLDERS) for split in SPLITS}
    if layout == "auto":
        layout = "lists" if any(lists.values()) else "files"
    if layout == "files":
        paths = {split: find_one(job.raw, candidates(split, _FILES), f"JSON file for {split}") for split in job.splits}
        seen: dict[str, Json] = {}
        chosen = {
            split: _questions(job, [path], job.step(f"{split}: questions"), seen) for split, path in paths.items()
        }
        return {split: _pairs(job, split, questions) for split, questions in chosen.items()}
    files = sorted(
        (path for path in job.raw.glob("*.json") if not path.name.startswith(".")), key=lambda path: path.name
    )
    if not files:
        raise DataError("no JSON files", file=printable(str(job.raw)), expected="train-v1.1.json, dev-v1.1.json")
    questions = _questions(job, files, job.step("questions"), {})
    divided = _divide(job, questions, lists)
    return {split: _pairs(job, split, divided[split]) for split in job.splits}


def _questions(job: Job, paths: list[Path], step: StepCount, seen: dict[str, Json]) -> list[_Question]:
    found: list[_Question] = []
    for path in paths:
        content = read_json(path, job.use(path))
        # Released as {"version", "data": [...]}; the re-split files of Du et al. are the bare list.
        articles = content["data"].items() if isinstance(content.value, dict) else content.items()
        for number, article in enumerate(articles, 1):
            with job.record(step):
                title = article["title"].text().strip()
                for paragraph in article["paragraphs"].items():
                    with job.record(step):
                        context = paragraph["context"]
                        context.text()
                        for entry in paragraph["qas"].items():
                            with job.record(step):
                                found.append(_question(job, entry, title, path.name, context, seen))
                                step.kept += 1
            job.told(path.name, number, len(articles))
    return found


def _question(job: Job, entry: Json, title: str, file: str, context: Json, seen: dict[str, Json]) -> _Question:
    identity = entry["id"].text()
    if identity in seen:
        raise entry["id"].fault("duplicate id", found=f"also {seen[identity]}")
    seen[identity] = entry["id"]
    answers = [answer["text"] for answer in entry["answers"].items()]
    if not answers:
        raise entry["answers"].fault("no answer", expected="SQuAD v1.1, where every question has one")
    texts = [answer.text() for answer in answers]
    place = 0
    if job.choice("answer") == "most-common":
        counts = Counter(texts)
        place = texts.index(max(texts, key=lambda text: counts[text]))
    entry["question"].text()
    return _Question(identity, title, file, entry, entry["question"], answers[place], context)


def _divide(job: Job, questions: list[_Question], lists: Mapping[str, list[Path]]) -> dict[str, list[_Question]]:
    """Questions to splits by the lists; each list holds titles, ids, or both."""
    by_file = job.choice("unlisted") == "by-file"
    needed = [split for split in job.splits if lists[split] or not (by_file and split in _TRAIN_AND_DEV)]
    known: dict[str, list[int]] = {}
    for number, question in enumerate(questions):
        known.setdefault(question.title, []).append(number)
    for number, question in enumerate(questions):
        known.setdefault(question.id, []).append(number)
    given: dict[int, LinePlace] = {}
    divided: dict[str, list[int]] = {split: [] for split in SPLITS}
    for split in SPLITS:
        # A list of a split that is not built still takes its questions out of the others.
        if split not in needed and not lists[split]:
            continue
        path = find_one(job.raw, candidates(split, _LISTS), f"split list for {split}", _LIST_FOLDERS)
        entries = read_list(path, job.use(path, lines=True))
        step = job.step(f"{split}: entries of the list")
        seen: dict[str, LinePlace] = {}
        for entry, place in entries:
            with job.record(step):
                if entry in seen:
                    raise place.fault("listed twice", found=f"also {seen[entry]}")
                seen[entry] = place
                if entry not in known:
                    raise place.fault("no such title or id", found=repr(printable(entry)[:60]))
                for number in known[entry]:
                    if number in given:
                        raise place.fault("the question is in a split already", found=f"by {given[number]}")
                for number in known[entry]:
                    given[number] = place
                divided[split] += known[entry]
                step.kept += 1
    rest = [number for number in range(len(questions)) if number not in given]
    step = job.step("questions with a split")
    step.kept = len(given)
    for number in rest:
        question = questions[number]
        home = next((split for split in _TRAIN_AND_DEV if question.file.startswith(split)), None)
        if by_file and home is not None:
            divided[home].append(number)
            step.kept += 1
        elif job.choice("unlisted") == "error":
            with job.record(step):
                raise question.place.fault(
                    "the question is in no split list", found=f"id {printable(question.id)[:60]}"
                )
        else:
            step.drop("in no split list")
    if job.choice("order") == "data":
        divided = {split: sorted(numbers) for split, numbers in divided.items()}
    return {split: [questions[number] for number in numbers] for split, numbers in divided.items()}


def _pairs(job: Job, split: str, questions: list[_Question]) -> Iterator[Pair]:
    separator = job.choice("separator")
    text = Text(job, split, separators=(separator,))
    step = job.step(f"{split}: answer, passage and question there")
    return _lines(job, split, questions, separator, text, step)


def _lines(
    job: Job, split: str, questions: list[_Question], separator: str, text: Text, step: StepCount
) -> Iterator[Pair]:
    passages: dict[tuple[str, str], str] = {}
    for number, question in enumerate(questions, 1):
        with job.record(step):
            where = question.context.file, question.context.path
            if where not in passages:
                passages[where] = text(question.context.text(), question.context)
            answer = text(question.answer.text(), question.answer)
            target = text(question.question.text(), question.question)
            if not answer or not passages[where]:
                step.drop("empty answer or passage")
            elif not target:
                step.drop("empty question")
            else:
                step.kept += 1
                yield joined([answer, passages[where]], separator), target
        job.told(split, number, len(questions))


BUILDER = Builder(
    task="squadqg",
    expects="train-v1.1.json and dev-v1.1.json with split lists of article titles or question ids (doclist-train.txt "
    "or train.txt, and so on); or train.json, dev.json and test.json, divided before",
    options=(
        BuildOption(
            "layout",
            "auto",
            "where the split comes from: lists, or a JSON file a split; auto takes lists when there is one",
            ("auto", "lists", "files"),
        ),
        BuildOption(
            "unlisted",
            "drop",
            "a question in no list is dropped and counted, is an error, or (by-file) goes to train or dev by the "
            "name of its JSON file, so that a list for test alone will do",
            ("drop", "error", "by-file"),
        ),
        order_option("data"),
        BuildOption(
            "answer",
            "first",
            "which answer of a question that has several (dev): the first, or the most common (the earliest of "
            "equals); what the benchmark took is unknown",
            ("first", "most-common"),
        ),
        separator_option(between="answer and passage"),
        tokens_option("punctuation", "The official lines have punctuation split off"),
        case_option("keep", "The official lines are cased"),
    ),
    read=read,
)
