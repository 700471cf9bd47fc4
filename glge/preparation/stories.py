"""CNN/DailyMail: `.story` files (body, `@highlight` blocks) -> an article line and a line of joined highlights.

The split comes from lists of URLs, hashes or file names (a story's file is named by the SHA-1 of its URL), or from
folders named like the splits. Target sentences are joined by ` <S_SEP> `, as the benchmark's scorer reads them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from glge.errors import DataError
from glge.lines import printable
from glge.preparation.raw import LinePlace, candidates, find_all, find_one, read_list, read_record, walk
from glge.preparation.recipe import (
    Builder,
    BuildOption,
    Job,
    Pair,
    StepCount,
    Text,
    case_option,
    order_option,
    tokens_option,
)

HIGHLIGHT = "@highlight"
SENTENCES = "<S_SEP>"
SUFFIX = ".story"

_LISTS = ("all_{split}.txt", "{split}.txt", "{split}_urls.txt", "{split}.urls", "{split}.hashes", "mapping_{split}.txt")
_LIST_FOLDERS = (".", "url_lists", "lists")
_HASH = re.compile(r"[0-9a-fA-F]{40}")
_ENDED = frozenset(".!?:;'`\"\u2019\u201d)]}")


def read(job: Job) -> Mapping[str, Iterator[Pair]]:
    """The pairs of each split."""
    lists = {split: find_all(job.raw, candidates(split, _LISTS), _LIST_FOLDERS) for split in job.splits}
    folders = {split: _split_folders(job.raw, split) for split in job.splits}
    layout = job.choice("layout")
    if layout == "auto":
        if any(lists.values()) and any(folders.values()):
            raise DataError(
                "there are both split lists and split folders",
                file=printable(str(job.raw)),
                hint="choose one: layout=lists or layout=folders",
            )
        layout = "folders" if any(folders.values()) else "lists"
    if layout == "folders":
        return {split: _pairs(job, split, _in_folder(job, split, folders[split])) for split in job.splits}
    named = {
        split: find_one(job.raw, candidates(split, _LISTS), f"split list for {split}", _LIST_FOLDERS) for split in lists
    }
    stories = walk(job.raw, SUFFIX)
    seen: dict[str, LinePlace] = {}
    return {split: _pairs(job, split, _listed(job, split, path, stories, seen)) for split, path in named.items()}


def _split_folders(raw: Path, split: str) -> list[Path]:
    return [raw / name for name in candidates(split, ["{split}"]) if (raw / name).is_dir()]


def _in_folder(job: Job, split: str, folders: list[Path]) -> tuple[StepCount, Iterator[tuple[str, Path]], int]:
    if len(folders) != 1:
        raise DataError(
            f"{'more than one' if folders else 'no'} folder for {split}",
            file=printable(str(job.raw)),
            expected=" or ".join(candidates(split, ["{split}"])),
        )
    stories = walk(folders[0], SUFFIX)
    if not stories:
        raise DataError(f"no {SUFFIX} files", file=job.name(folders[0]))
    step = job.step(f"{split}: stories")

    def found() -> Iterator[tuple[str, Path]]:
        for name in sorted(stories):
            with job.record(step):
                yield name, _only(stories[name], LinePlace(job.name(stories[name][0])), job)

    return step, found(), len(stories)


def _listed(
    job: Job, split: str, path: Path, stories: Mapping[str, list[Path]], seen: dict[str, LinePlace]
) -> tuple[StepCount, Iterator[tuple[str, Path]], int]:
    entries = read_list(path, job.use(path, lines=True))
    names = [(story_name(entry), place) for entry, place in entries]
    step = job.step(f"{split}: stories")
    kept: list[tuple[str, Path]] = []
    for name, place in names:
        with job.record(step):
            if name in seen:
                raise place.fault("listed twice", found=f"also {seen[name]}")
            seen[name] = place
            if name not in stories:
                raise place.fault("no such story", expected=f"a file {printable(name)[:60]}{SUFFIX}")
            kept.append((name, _only(stories[name], place, job)))
    if job.choice("order") == "name":
        kept.sort(key=lambda item: item[0])
    return step, iter(kept), len(kept)


def _only(paths: list[Path], place: LinePlace, job: Job) -> Path:
    if len(paths) > 1:
        raise place.fault("more than one story of this name", found=", ".join(job.name(path) for path in paths[:3]))
    return paths[0]


def story_name(entry: str) -> str:
    """The name of a story's file without `.story`, from a list's entry: a URL, a hash or a file name.

    >>> story_name("http://example.org/news/1")
    '71c5a9a40df1f9161cce325ea38cd20acfb5f0fe'
    >>> story_name("0001.story"), story_name("AB" * 20)
    ('0001', 'abababababababababababababababababababab')
    """
    if "://" in entry:
        return hashlib.sha1(entry.encode("utf-8"), usedforsecurity=False).hexdigest()
    return entry.lower() if _HASH.fullmatch(entry) else entry.removesuffix(SUFFIX)


def parse_story(text: str) -> tuple[list[str], list[str]]:
    r"""The paragraphs of a story's body and its highlights, as they stand.

    >>> parse_story("One.\n\nTwo.\n\n@highlight\n\nFirst\n\n@highlight\n\nSecond,\nlonger\n")
    (['One.', 'Two.'], ['First', 'Second, longer'])
    >>> parse_story("@highlight\n\n")
    ([], [])
    """
    article: list[str] = []
    highlights: list[list[str]] = []
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped == HIGHLIGHT:
            highlights.append([])
        elif stripped:
            (highlights[-1] if highlights else article).append(line)
    return article, [" ".join(lines) for lines in highlights if lines]


def with_period(sentence: str) -> str:
    """A full stop after a text that no mark ends.

    >>> with_period("It rained"), with_period("Did it ?"), with_period("")
    ('It rained .', 'Did it ?', '')
    """
    ended = not sentence or sentence[-1] in _ENDED or sentence.endswith(("-RRB-", "-RSB-", "-RCB-"))
    return sentence if ended else f"{sentence} ."


def _pairs(job: Job, split: str, source: tuple[StepCount, Iterator[tuple[str, Path]], int]) -> Iterator[Pair]:
    step, stories, total = source
    filled = job.step(f"{split}: article and highlights there")
    clean = Text(job, split, separators=(SENTENCES,))
    periods = job.step(f"{split}: full stop added", changes=True) if job.choice("full_stop") == "add" else None
    return _read_stories(job, split, stories, total, step, filled, clean, periods)


def _read_stories(
    job: Job,
    split: str,
    stories: Iterator[tuple[str, Path]],
    total: int,
    step: StepCount,
    filled: StepCount,
    clean: Text,
    periods: StepCount | None,
) -> Iterator[Pair]:
    def finished(text: str, place: LinePlace) -> str:
        line = clean(text, place)
        if periods is None:
            return line
        return periods.change(line, with_period(line))

    for number, (_, path) in enumerate(stories, 1):
        place = LinePlace(job.name(path))
        with job.record(step):
            article, highlights = parse_story(read_record(path, place))
            job.use_small(path)
            source = " ".join(filter(None, (finished(paragraph, place) for paragraph in article)))
            target = [finished(highlight, place) for highlight in highlights]
            step.kept += 1
            if not source:
                filled.drop("no article text")
            elif not any(target):
                filled.drop("no highlights")
            else:
                filled.kept += 1
                yield source, f" {SENTENCES} ".join(filter(None, target))
        job.told(split, number, total)


BUILDER = Builder(
    task="cnndm",
    expects="*.story files anywhere in the folder, and split lists (all_train.txt, all_val.txt, all_test.txt) of URLs, "
    "hashes or file names; or folders train, dev and test with the stories in them",
    options=(
        BuildOption(
            "layout",
            "auto",
            "where the split comes from: lists, or folders; auto takes the one that is there and stops when both are",
            ("auto", "lists", "folders"),
        ),
        order_option("name"),
        tokens_option(
            "ptb",
            "The benchmark's lines are Penn Treebank tokens and the released stories are not; take as-is for "
            "stories that were tokenised before",
        ),
        case_option("keep", "The official lines' case is unknown; the scorer lower-cases both sides"),
        BuildOption(
            "full_stop",
            "add",
            "add: a full stop after a paragraph or highlight that no mark ends, as in the preparation of See et al. "
            "2017, which the paper names; keep: as they are. What the benchmark did is unknown",
            ("add", "keep"),
        ),
    ),
    read=read,
)
