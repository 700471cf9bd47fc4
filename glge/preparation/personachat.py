"""PersonaChat and ConvAI2 text (ParlAI's format) -> persona and dialogue so far, and the next utterance.

    1 your persona: i like to ski.
    2 hello there\thi , how are you ?\t\tcandidate one|candidate two
    3 fine , and you ?\tgreat , i went skiing .

Numbers start again with each dialogue. A turn is the partner's utterance, a tab, and the reply of the one whose
persona is "your"; a reward and candidates may follow and are not used. Every utterance but a dialogue's first is a
target, of both speakers: the official number of lines, 151,157, is that of the original files counted so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from glge.errors import DataError
from glge.preparation.raw import LinePlace, candidates, decode, find_one, raw_lines
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

SILENCE = "__SILENCE__"  # stands for the partner's utterance where "you" speak first
OWN, PARTNER = "your persona:", "partner's persona:"
_FILES = ("{split}_VARIANT.txt", "{split}_VARIANT_no_cands.txt", "{split}.txt")
_VARIANTS = tuple(f"{who}_{form}" for who in ("self", "both", "other", "none") for form in ("original", "revised"))
_NUMBERED = re.compile(rb"(\d{1,9}) (.*)", re.DOTALL)


@dataclass
class Dialogue:
    """One dialogue as it stands; `utterances` holds whether it is "your" own, the text and the place."""

    place: LinePlace
    own: list[tuple[str, LinePlace]] = field(default_factory=list)
    partner: list[tuple[str, LinePlace]] = field(default_factory=list)
    utterances: list[tuple[bool, str, LinePlace]] = field(default_factory=list)


def read(job: Job) -> Mapping[str, Iterator[Pair]]:
    """The pairs of each split."""
    if job.options["turns"] == 0 and job.choice("persona") == "none":
        raise DataError("turns=0 and persona=none leave nothing in the sources", hint="take one of them back")
    patterns = [pattern.replace("VARIANT", job.choice("variant")) for pattern in _FILES]
    paths = {split: find_one(job.raw, candidates(split, patterns), f"file for {split}") for split in job.splits}
    return {split: _pairs(job, split, path) for split, path in paths.items()}


def _numbered(path: Path, name: str) -> Iterator[list[tuple[int, bytes]]]:
    """The lines of one dialogue after another, with their line numbers in the file."""
    lines: list[tuple[int, bytes]] = []
    for number, line in raw_lines(path, name):
        if line.startswith(b"1 ") and lines:
            yield lines
            lines = []
        if line.strip():
            lines.append((number, line))
    if lines:
        yield lines


def parse_dialogue(lines: list[tuple[int, bytes]], name: str) -> Dialogue:
    r"""The dialogue in some lines of a file; BadRecord with the line that is wrong.

    >>> found = parse_dialogue([(8, b"1 your persona: i ski."), (9, b"2 hi\thello\t\ta|b")], "train.txt")
    >>> [text for text, _ in found.own], [(own, text) for own, text, _ in found.utterances]
    (['i ski.'], [(False, 'hi'), (True, 'hello')])
    >>> parse_dialogue([(8, b"1 hi there")], "train.txt")
    Traceback (most recent call last):
    glge.preparation.raw.BadRecord: train.txt:8: neither a persona nor a turn (expected an utterance, a tab, a reply)
    """
    dialogue = Dialogue(LinePlace(name, lines[0][0]))
    for expected, (number, raw) in enumerate(lines, 1):
        place = LinePlace(name, number)
        match = _NUMBERED.fullmatch(raw)
        if match is None:
            raise place.fault("no line number", expected=f"'{expected} ' before the text")
        if int(match[1]) != expected:
            raise place.fault("the line numbers jump", expected=str(expected), found=str(int(match[1])))
        text = decode(match[2], place)
        if "\t" not in text:
            persona = next((who for who in (OWN, PARTNER) if text.startswith(who)), None)
            if persona is None:
                raise place.fault("neither a persona nor a turn", expected="an utterance, a tab, a reply")
            (dialogue.own if persona == OWN else dialogue.partner).append((text.removeprefix(persona).strip(), place))
            continue
        heard, reply = text.split("\t")[:2]
        for own, said in ((False, heard), (True, reply)):
            if said.strip() != SILENCE:
                dialogue.utterances.append((own, said, place))
    return dialogue


def _pairs(job: Job, split: str, path: Path) -> Iterator[Pair]:
    name = job.use(path, lines=True)
    separator = job.choice("separator")
    step = job.step(f"{split}: dialogues")
    text = Text(job, split, separators=(separator,))
    spoken = job.step(f"{split}: utterances")
    return _lines(job, split, path, name, separator, step, text, spoken)


def _lines(
    job: Job, split: str, path: Path, name: str, separator: str, step: StepCount, text: Text, spoken: StepCount
) -> Iterator[Pair]:
    turns = job.options["turns"]
    only_own = job.choice("targets") == "self"
    for number, lines in enumerate(_numbered(path, name), 1):
        said: list[tuple[bool, str]] = []
        personas: dict[bool, list[str]] = {}
        with job.record(step):
            dialogue = parse_dialogue(lines, name)
            personas = _personas(job, dialogue, text)
            said = [(own, text(words, place)) for own, words, place in dialogue.utterances]
            if not said:
                step.drop("no utterance")
            else:
                step.kept += 1
        before: list[str] = []
        for place, (own, words) in enumerate(said):
            if not words:
                spoken.drop("empty utterance")
                continue
            if not before:
                spoken.drop("a dialogue's first" if place == 0 else "nothing said before")
            elif only_own and not own:
                spoken.drop("the partner's")
            else:
                spoken.kept += 1
                heard = before[max(0, len(before) - turns) :] if isinstance(turns, int) else before
                yield joined([*personas[own], *heard], separator), words
            before.append(words)
        job.told(split, number)


def _personas(job: Job, dialogue: Dialogue, text: Text) -> dict[bool, list[str]]:
    """The persona sentences that stand before an utterance of one's own (True) and of the partner (False)."""
    wanted = job.choice("persona")
    own, partner = ([text(words, place) for words, place in side] for side in (dialogue.own, dialogue.partner))
    if wanted == "none":
        return {True: [], False: []}
    missing = OWN if not own else PARTNER if not partner and wanted != "self" else None
    if missing is not None:
        raise DataError(
            f'the dialogue has no line "{missing}"',
            file=dialogue.place.file,
            line=dialogue.place.line,
            hint=f"persona={wanted} needs it: take another variant (both_original has both), or another persona",
        )
    if wanted == "both":
        return {True: own + partner, False: own + partner}
    return {True: own, False: partner if wanted == "speaker" else own}


BUILDER = Builder(
    task="personachat",
    expects="train_self_original.txt, valid_self_original.txt and test_self_original.txt (with or without _no_cands; "
    "or another variant), or train.txt, valid.txt and test.txt",
    options=(
        BuildOption(
            "variant",
            "self_original",
            "which of the released files: whose personas they hold, original or revised. What the benchmark took is "
            "unknown",
            _VARIANTS,
        ),
        BuildOption(
            "persona",
            "self",
            'whose persona stands in the source: self ("your persona", for the targets of both speakers), speaker '
            "(that of the one who speaks; needs a both variant), both, none. The published mean length fits one "
            "persona; whose is unknown",
            ("self", "speaker", "both", "none"),
        ),
        BuildOption(
            "targets",
            "both",
            "both: every utterance but a dialogue's first, which gives the published sizes; self: only those of the "
            'one with "your persona" (ConvAI2 has every dialogue from both sides)',
            ("both", "self"),
        ),
        BuildOption(
            "turns",
            "all",
            "how many previous utterances stand in the source; the published mean length fits all",
            ("all",),
            kind="count",
        ),
        separator_option(between="persona sentences and utterances"),
        tokens_option("as-is", "The released text is lower case and spaced already"),
        case_option("keep", "The released text is lower case already"),
    ),
    read=read,
)
