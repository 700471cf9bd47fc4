"""The stem of an English word: the Snowball English (Porter2) stemmer as METEOR 1.5 carries it.

Equals the class in the jar on every word of its own synonym and paraphrase vocabulary. It is the
algorithm of the 2000s (http://snowball.tartarus.org/algorithms/english/stemmer.html, before Snowball
2.x): today's PyStemmer and snowballstemmer cut about one word in 850 differently (`-ologist`, doubled
letters of short words, more prefixes of region R1), so they cannot stand in for it.
"""

from __future__ import annotations

import re
from functools import lru_cache

_WHOLE_WORDS = {
    "skis": "ski",
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "idly": "idl",
    "gently": "gentl",
    "ugly": "ugli",
    "early": "earli",
    "only": "onli",
    "singly": "singl",
} | {word: word for word in ("sky", "news", "howe", "atlas", "cosmos", "bias", "andes")}

_UNTOUCHED_AFTER_1A = frozenset(
    ("inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"),
)

_VOWELS = frozenset("aeiouy")
_HAS_VOWEL = re.compile("[aeiouy]")
_REGION = re.compile("[aeiouy][^aeiouy]")
_R1_PREFIX = re.compile("gener|commun|arsen")
_Y_AFTER_VOWEL = re.compile("([aeiouy])y")
# A short syllable at the end: vowel between two other letters, the last not w, x or (consonant) Y; or
# a word of exactly a vowel and another letter.
_SHORT_SYLLABLE = re.compile("[^aeiouy][aeiouy][^aeiouywxY]$|^[aeiouy][^aeiouy]$")
_DOUBLES = ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")


def _longest_first(rules: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(rules.items(), key=lambda rule: -len(rule[0])))


# Suffix -> what takes its place, in region R1. `ogi` and `li` have a condition on the letter before.
_STEP_2 = _longest_first(
    {
        "tional": "tion",
        "enci": "ence",
        "anci": "ance",
        "abli": "able",
        "entli": "ent",
        "izer": "ize",
        "ization": "ize",
        "ational": "ate",
        "ation": "ate",
        "ator": "ate",
        "alism": "al",
        "aliti": "al",
        "alli": "al",
        "fulness": "ful",
        "ousli": "ous",
        "ousness": "ous",
        "iveness": "ive",
        "iviti": "ive",
        "biliti": "ble",
        "bli": "ble",
        "ogi": "og",
        "fulli": "ful",
        "lessli": "less",
        "li": "",
    }
)
_STEP_3 = _longest_first(
    {
        "tional": "tion",
        "ational": "ate",
        "alize": "al",
        "icate": "ic",
        "iciti": "ic",
        "ical": "ic",
        "ful": "",
        "ness": "",
        "ative": "",
    }
)
_STEP_4 = (
    "ement",
    "ance",
    "ence",
    "able",
    "ible",
    "ment",
    "ant",
    "ent",
    "ism",
    "ate",
    "iti",
    "ous",
    "ive",
    "ize",
    "ion",
    "al",
    "er",
    "ic",
)
_STEP_2_ENDS = tuple(suffix for suffix, _ in _STEP_2)
_STEP_3_ENDS = tuple(suffix for suffix, _ in _STEP_3)


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """The stem of a lower-case word.

    >>> [stem(word) for word in ("running", "generously", "skies", "biologist")]
    ['run', 'generous', 'sky', 'biologist']
    >>> stem("")
    ''
    >>> stem("'s")
    "'s"
    """
    if word in _WHOLE_WORDS:
        return _WHOLE_WORDS[word]
    if len(word) < 3:
        return word
    word = word.removeprefix("'")
    if "y" in word:
        if word[0] == "y":
            word = "Y" + word[1:]
        word = _Y_AFTER_VOWEL.sub(r"\1Y", word)
    r1, r2 = _regions(word)

    word = _step_1a(word)
    if word not in _UNTOUCHED_AFTER_1A:
        word = _step_1b(word, r1)
        if len(word) > 2 and word[-1] in "yY" and word[-2] not in _VOWELS:
            word = word[:-1] + "i"
        if word.endswith(_STEP_2_ENDS):
            word = _step_2(word, r1)
        if word.endswith(_STEP_3_ENDS):
            word = _step_3(word, r1, r2)
        if word.endswith(_STEP_4):
            word = _step_4(word, r2)
        word = _step_5(word, r1, r2)
    return word.replace("Y", "y")


def _regions(word: str) -> tuple[int, int]:
    """Where R1 and R2 begin, as positions in the word."""
    first = _R1_PREFIX.match(word) or _REGION.search(word)
    if first is None:
        return len(word), len(word)
    second = _REGION.search(word, first.end())
    return first.end(), second.end() if second else len(word)


def _step_1a(word: str) -> str:
    for suffix in ("'s'", "'s", "'"):
        if word.endswith(suffix):
            word = word[: -len(suffix)]
            break
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")) and _HAS_VOWEL.search(word[:-2]):
        return word[:-1]
    return word


def _step_1b(word: str, r1: int) -> str:
    for suffix in ("eedly", "eed"):
        if word.endswith(suffix):
            start = len(word) - len(suffix)
            return word[:start] + "ee" if start >= r1 else word
    for suffix in ("ingly", "edly", "ing", "ed"):
        if word.endswith(suffix):
            break
    else:
        return word
    rest = word[: -len(suffix)]
    if not _HAS_VOWEL.search(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if rest.endswith(_DOUBLES):
        return rest[:-1]
    if len(rest) == r1 and _SHORT_SYLLABLE.search(rest):
        return rest + "e"
    return rest


def _step_2(word: str, r1: int) -> str:
    for suffix, replacement in _STEP_2:
        if word.endswith(suffix):
            start = len(word) - len(suffix)
            before = word[start - 1 : start]
            if start < r1 or (suffix == "ogi" and before != "l"):
                return word
            if suffix == "li" and (not before or before not in "cdeghkmnrt"):
                return word
            return word[:start] + replacement
    return word


def _step_3(word: str, r1: int, r2: int) -> str:
    for suffix, replacement in _STEP_3:
        if word.endswith(suffix):
            start = len(word) - len(suffix)
            if start < r1 or (suffix == "ative" and start < r2):
                return word
            return word[:start] + replacement
    return word


def _step_4(word: str, r2: int) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            start = len(word) - len(suffix)
            if start < r2 or (suffix == "ion" and (start == 0 or word[start - 1] not in "st")):
                return word
            return word[:start]
    return word


def _step_5(word: str, r1: int, r2: int) -> str:
    start = len(word) - 1
    if word.endswith("e"):
        if start >= r2 or (start >= r1 and not _SHORT_SYLLABLE.search(word[:-1])):
            return word[:-1]
    elif word.endswith("ll") and start >= r2:
        return word[:-1]
    return word
