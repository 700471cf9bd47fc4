"""Gigaword: two line-aligned files a split (first sentence, headline) -> the same pairs, one pass, constant memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path

from glge.errors import DataError
from glge.preparation.raw import BadRecord, LinePlace, candidates, decode, find_one, raw_lines
from glge.preparation.recipe import Builder, BuildOption, Job, Pair, StepCount, Text, case_option

_SOURCES = ("{split}.src", "{split}.article.txt", "{split}.article.filter.txt", "{split}.article", "{split}.src.txt")
_TARGETS = ("{split}.tgt", "{split}.title.txt", "{split}.title.filter.txt", "{split}.title", "{split}.tgt.txt")
_FOLDERS = (".", "train", "dev", "val", "valid", "test", "org_data")
_HASHES = str.maketrans(dict.fromkeys("0123456789", "#"))


def read(job: Job) -> Mapping[str, Iterator[Pair]]:
    """The pairs of each split."""
    found = {}
    for split in job.splits:
        source = find_one(job.raw, candidates(split, _SOURCES), f"file of source lines for {split}", _FOLDERS)
        target = find_one(job.raw, candidates(split, _TARGETS), f"file of headlines for {split}", _FOLDERS)
        found[split] = _split(job, split, source, target)
    return found


def _split(job: Job, split: str, source: Path, target: Path) -> Iterator[Pair]:
    names = job.use(source, lines=True), job.use(target, lines=True)
    step = job.step(f"{split}: pairs read")
    filled = job.step(f"{split}: source and headline there")
    return _pairs(job, split, (source, target), names, step, filled, Text(job, split))


def _pairs(
    job: Job,
    split: str,
    paths: tuple[Path, Path],
    names: tuple[str, str],
    step: StepCount,
    filled: StepCount,
    text: Text,
) -> Iterator[Pair]:
    hashes = job.choice("digits") == "hash"
    unknown = job.choice("unknown") == "UNK"
    total = next((one.lines or 0 for one in job.inputs() if one.name == names[0]), 0)

    def line(raw: bytes, side: int, number: int) -> str:
        try:
            clean = text.line(raw.decode("utf-8"))
        except UnicodeDecodeError:
            return decode(raw, LinePlace(names[side], number))  # raises, with the place
        if unknown and "<unk>" in clean:
            clean = " ".join("UNK" if word == "<unk>" else word for word in clean.split(" "))
        return clean.translate(_HASHES) if hashes else clean

    for left, right in zip_longest(raw_lines(paths[0], names[0]), raw_lines(paths[1], names[1])):
        if left is None or right is None:
            counts = [sum(1 for _ in raw_lines(path, name)) for path, name in zip(paths, names, strict=True)]
            raise DataError(
                "sources and headlines differ in number",
                file=names[1],
                line=min(counts) + 1,
                expected=f"{counts[0]:,} lines as in {names[0]}",
                found=f"{counts[1]:,}",
            )
        number = left[0]
        try:
            source, target = line(left[1], 0, number), line(right[1], 1, number)
        except BadRecord as fault:
            job.skip(step, fault)
            continue
        step.kept += 1
        if not source:
            filled.drop("empty source")
        elif not target:
            filled.drop("empty headline")
        else:
            filled.kept += 1
            yield source, target
        job.told(split, number, total)


BUILDER = Builder(
    task="gigaword",
    expects="two files of equally many lines a split, train.src and train.tgt or train.article.txt and train.title.txt",
    options=(
        case_option("keep", "The public pairs are lower case already"),
        BuildOption(
            "digits",
            "keep",
            "hash: every digit 0-9 becomes #, for pairs that are not masked; the public pairs are",
            ("keep", "hash"),
        ),
        BuildOption(
            "unknown",
            "keep",
            "UNK: the token <unk>, as some public copies write it, becomes UNK as in the official test targets",
            ("keep", "UNK"),
        ),
    ),
    read=read,
)
