"""What is wrong or odd with the text of predictions: counts, empty lines, separators, what a model left in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from glge.errors import Problem
from glge.lines import PLACES
from glge.submission.names import SPLITS
from glge.submission.problems import CODES

if TYPE_CHECKING:
    from glge.tasks import Benchmark, Task

# Sub-word units that were not joined: what marks them, their name, and what joins them.
_NUMBER_ENDINGS = r"(?!(?:th|st|nd|rd|s|am|pm|bn|mn?|k[gm]?|[cm]m|[mg]b|mph|ft|x|p|[cf]|yr|hz)\b)[^\W\d_]"
_PIECES: tuple[tuple[str, str, re.Pattern[str], str], ...] = (
    ("##", "word pieces (##)", re.compile(r"(?<!\S)##[^\W_]"), "sed 's/ ##//g'"),
    ("@@", "byte-pair pieces (@@)", re.compile(r"\w@@(?!\S)"), "sed -E 's/@@( |$)//g'"),
    ("\u2581", "SentencePiece marks (U+2581)", re.compile("\u2581"), "sed 's/ //g; s/\u2581/ /g; s/^ //'"),
    ("\u0120", "byte-level marks (U+0120)", re.compile(r"(?<!\S)\u0120[^\W\d_]"), "sed 's/ //g; s/\u0120/ /g'"),
)
_MASKED_PIECE = re.compile(rf"(?<!\S)##{_NUMBER_ENDINGS}")
_MODEL_TOKEN = re.compile(
    r"\[(?:CLS|SEP|PAD|MASK|BOS|EOS)\]|</?s>|<(?:pad|bos|eos|mask|extra_id_\d+)>|<\|endoftext\|>", re.IGNORECASE
)
_ASCII_WORD = re.compile(r"[A-Za-z0-9]")
_ODD_PUNCTUATION = re.compile("[\u2018-\u201f\u2032\u2033\u00ab\u00bb\u2039\u203a\u2010-\u2015\u2026\u00bf\u00a1]")


def check_predictions(
    texts: Sequence[str],
    task: Task,
    *,
    file: str,
    split: str,
    benchmark: Benchmark,
    expected: int | None = None,
    any_count: bool = False,
    with_data: bool = False,
) -> list[Problem]:
    """What is wrong or odd with the n lines of one prediction file, apart from its encoding.

    `expected` is the number of lines of the data; None: the published size of the split counts;
    `any_count`: the number of lines is not checked; `with_data`: there is data, so that none need be asked for.
    """
    problems: list[Problem] = []

    def add(code: str, numbers: Sequence[int], message: str, hint: str | None = None) -> None:
        if numbers:
            text = f"{_count(len(numbers))} {message}"
            first = tuple(numbers[:PLACES])
            problems.append(
                Problem(code, CODES[code], text, file=file, task=task.name, count=len(numbers), places=first, hint=hint)
            )

    def where(test: Callable[[str], object]) -> list[int]:
        return [number for number, text in enumerate(texts, 1) if test(text)]

    if not any_count:
        problems += _check_count(
            texts, task, file=file, split=split, benchmark=benchmark, expected=expected, with_data=with_data
        )
    empty = where(lambda text: not text.strip())
    add("empty-prediction", empty, "without text; kept, each counts as an empty prediction")
    if len(texts) > 1 and not empty and all(text == texts[0] for text in texts):
        add("identical-lines", range(1, len(texts) + 1), "and all are the same text", "was the right file written?")

    whole = "\n".join(texts)
    rules = task.prediction.rules
    for mark, name, pattern, command in _PIECES:
        if mark in whole:
            # Where digits are written as #, "##th" is a number.
            search = (_MASKED_PIECE if mark == "##" and "ones-to-hashes" in rules else pattern).search
            pieces = where(search)
            if mark == "\u0120" and len(pieces) * 10 < len(texts):
                continue  # a letter of Maltese
            add("word-pieces", pieces, f"with {name} that were not joined", f"join them: {command} {file}")

    own = task.prediction.separator
    separators = _separators(benchmark)
    for separator in separators:
        if separator != own and separator in whole:
            means = f"; its sentences are joined by {own}" if own else ""
            numbers = where(lambda text, part=separator: part in text)  # type: ignore[misc]
            message = f"with {separator}, which predictions of {task.name} do not use{means}; read as ordinary text"
            add("foreign-separator", numbers, message, "replace it" if own else "take it out")
    if own:
        loose = _loose(own)
        if loose.search(whole.replace(own, "")):
            numbers = where(lambda text: loose.search(text.replace(own, "")))
            add("misspelt-separator", numbers, f"with {own} spelt otherwise; read as ordinary text", f"write {own}")
        if own not in whole and len(texts) > 1:
            add(
                "no-separator",
                range(1, len(texts) + 1),
                f"and none with {own}: each prediction counts as one sentence",
                f"join the sentences of a prediction by {own}",
            )
    if _MODEL_TOKEN.search(whole):
        numbers = where(_MODEL_TOKEN.search)
        present = sorted({found for number in numbers for found in _MODEL_TOKEN.findall(texts[number - 1])})
        add("model-token", numbers, f"with tokens of the model left in ({', '.join(present[:8])})", "take them out")

    metrics = [metric.metric for metric in task.metrics]
    if any(metric.startswith("rouge") for metric in metrics):
        if "<" in whole:
            escaped = "fix-tokens-lower" in rules  # there a whole token < becomes &lt;
            numbers = where(lambda text: _loses_text(text, separators, escaped))
            add("tag-like-text", numbers, "with '<': ROUGE-1.5.5 loses the rest of the sentence after it")
        numbers = where(lambda text: not _ASCII_WORD.search(text) and text.strip())
        add("no-rouge-token", numbers, "without an ASCII letter or digit: ROUGE-1.5.5 finds no word there and gives 0")
    if "f1" in metrics and not whole.isascii():
        numbers = where(_ODD_PUNCTUATION.search)
        message = "with punctuation outside ASCII (curly quotes, dashes): the official F1 keeps it as part of the word"
        add("non-ascii-punctuation", numbers, message)
    return problems


def _check_count(
    texts: Sequence[str],
    task: Task,
    *,
    file: str,
    split: str,
    benchmark: Benchmark,
    expected: int | None,
    with_data: bool,
) -> list[Problem]:
    by = "by the published size" if expected is None else "by the data"
    wanted = task.sizes["dev" if split == "dev" else "test"] if expected is None else expected
    count = len(texts)
    if count == wanted:
        return []
    message = f"{_count(count)}, expected {wanted:,} {by}"
    hints: list[str] = []
    places: tuple[int, ...] = ()
    with_text = sum(1 for text in texts if text.strip())
    trailing = next((back for back, text in enumerate(reversed(texts)) if text.strip()), count)
    if count > wanted:
        surplus = count - wanted
        places = (wanted + 1,)
        if trailing >= surplus:
            message += (
                f"; line {count:,} is empty: remove the trailing blank line"
                if surplus == 1
                else f"; lines {wanted + 1:,} to {count:,} are empty: remove the {surplus:,} trailing blank lines"
            )
        elif with_text == wanted:
            hints.append(f"without its {count - with_text:,} empty lines the number would fit")
        else:
            hints.append("too many lines: one prediction a line; does a text contain a line break?")
    else:
        returns = sum(text.count("\r") for text in texts)
        if returns and count + returns == wanted:
            hints.append(f"too few lines, but it has {returns:,} carriage returns: end the lines by line feeds")
        else:
            hints.append("too few lines: one for each input, an empty line where there is no text")
    sizes = [
        f"{name} {part}"
        for name, other in benchmark.tasks.items()
        for part in SPLITS
        if other.sizes["dev" if part == "dev" else "test"] == count and (name, part) != (task.name, split)
    ]
    if sizes:
        hints.append(f"{count:,} is the size of {' and '.join(sizes)}")
    if expected is None and not with_data:
        hints.append("for other data than the published give --data")
    return [
        Problem(
            "line-count",
            CODES["line-count"],
            message,
            file=file,
            task=task.name,
            places=places,
            hint="; ".join(hints) or None,
        )
    ]


def _separators(benchmark: Benchmark) -> list[str]:
    """Every separator that some side of some task uses."""
    sides = [side for task in benchmark.tasks.values() for side in (task.prediction, task.reference)]
    return sorted({side.separator.strip() for side in sides if side.separator})


def _loose(separator: str) -> re.Pattern[str]:
    """The separator in any case, with blanks anywhere inside: what a tokeniser makes of it."""
    return re.compile(r"[ ]*".join(map(re.escape, separator)), re.IGNORECASE)


def _loses_text(text: str, separators: Sequence[str], escaped: bool) -> bool:
    for separator in separators:
        text = text.replace(separator, " ")
    return any("<" in token and not (escaped and token == "<") for token in text.split())


def _count(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"
