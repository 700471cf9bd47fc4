"""XSum: `.summary` files (`[SN]URL[SN]`, TITLE, FIRST-SENTENCE, RESTBODY) and the id split -> article, summary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from glge.errors import DataError
from glge.lines import printable
from glge.preparation.raw import SPLIT_NAMES, Json, LinePlace, find_one, read_json, read_record, walk
from glge.preparation.recipe import Builder, Job, Pair, StepCount, Text, case_option, order_option, tokens_option

SUFFIX = ".summary"
_SPLIT_FILES = ("XSum-TRAINING-DEV-TEST-SPLIT-90-5-5.json", "split.json")
_HEADING = re.compile(r"\[SN\]([A-Z-]+)\[SN\]")


def read(job: Job) -> Mapping[str, Iterator[Pair]]:
    """The pairs of each split."""
    path = find_one(job.raw, _SPLIT_FILES, "split file")
    lists = read_json(path, job.use(path))
    files = walk(job.raw, SUFFIX)
    seen: dict[str, Json] = {}
    return {split: _split(job, split, lists, files, seen) for split in job.splits}


def _split(job: Job, split: str, lists: Json, files: Mapping[str, list[Path]], seen: dict[str, Json]) -> Iterator[Pair]:
    named = [one for name in SPLIT_NAMES[split] if (one := lists.get(name)) is not None]
    if len(named) != 1:
        raise DataError(
            f"{'more than one' if named else 'no'} list for {split}",
            file=lists.file,
            expected=" or ".join(SPLIT_NAMES[split]),
        )
    step = job.step(f"{split}: summary files")
    kept: list[tuple[str, Path]] = []
    for entry in named[0].items():
        with job.record(step):
            name = entry.text()
            if name in seen:
                raise entry.fault("listed twice", found=f"also {seen[name].path}")
            seen[name] = entry
            if name not in files:
                raise entry.fault("no such summary file", expected=f"a file {printable(name)[:60]}{SUFFIX}")
            if len(files[name]) > 1:
                several = ", ".join(job.name(path) for path in files[name][:3])
                raise entry.fault("more than one file of this name", found=several)
            kept.append((name, files[name][0]))
    if job.choice("order") == "id":
        kept.sort(key=lambda item: (len(item[0]), item[0]) if item[0].isdigit() else (1 << 30, item[0]))
    filled = job.step(f"{split}: article and summary there")
    return _pairs(job, split, kept, step, filled, Text(job, split))


def _pairs(
    job: Job, split: str, files: list[tuple[str, Path]], step: StepCount, filled: StepCount, text: Text
) -> Iterator[Pair]:
    for number, (_, path) in enumerate(files, 1):
        place = LinePlace(job.name(path))
        with job.record(step):
            sections = parse_summary(read_record(path, place), place)
            job.use_small(path)
            article = text(sections["RESTBODY"], place)
            summary = text(sections["FIRST-SENTENCE"], place)
            step.kept += 1
            if not article:
                filled.drop("no article text")
            elif not summary:
                filled.drop("no summary")
            else:
                filled.kept += 1
                yield article, summary
        job.told(split, number, len(files))


def parse_summary(text: str, place: LinePlace) -> dict[str, str]:
    r"""The sections of a summary file by name.

    >>> parse_summary("[SN]FIRST-SENTENCE[SN]\nIt rained.\n\n[SN]RESTBODY[SN]\nA\nB\n", LinePlace("1.summary"))
    {'FIRST-SENTENCE': 'It rained.\n', 'RESTBODY': 'A\nB\n'}
    >>> parse_summary("[SN]RESTBODY[SN]\nA\n", LinePlace("1.summary"))
    Traceback (most recent call last):
    glge.preparation.raw.BadRecord: 1.summary: no section FIRST-SENTENCE
    """
    sections: dict[str, list[str]] = {}
    name = ""
    for number, line in enumerate(text.split("\n"), 1):
        heading = _HEADING.fullmatch(line.strip())
        if heading is None:
            sections.setdefault(name, []).append(line)
            continue
        name = heading[1]
        if name in sections:
            raise LinePlace(place.file, number).fault(f"the section {name[:30]} stands twice")
        sections[name] = []
    for needed in ("FIRST-SENTENCE", "RESTBODY"):
        if needed not in sections:
            raise place.fault(f"no section {needed}")
    return {name: "\n".join(lines) for name, lines in sections.items() if name}


BUILDER = Builder(
    task="xsum",
    expects="{id}.summary files anywhere in the folder, and XSum-TRAINING-DEV-TEST-SPLIT-90-5-5.json (or split.json) "
    "with the lists train, validation and test",
    options=(
        order_option("id"),
        tokens_option(
            "as-is",
            "The published mean of 21.1 words a summary is that of untokenised text (21.1 on the public test "
            "summaries, 23.3 in tokens)",
        ),
        case_option("keep", "The official lines' case is unknown"),
    ),
    read=read,
)
