"""The Porter stemmer of ROUGE-1.5.5.pl, word for word (sub MorphStem without its exception table).

It is Porter's 1980 algorithm with his later departures (bli -> ble, logi -> log), a measure that reads
`y` as a vowel after a consonant and digits as consonants, an initial `y` that is always a consonant,
and one change of the program's author in step 4: after the first group of suffixes, `-ment` is tried on
the result, and then `-ent`. Stemmers of other packages (NLTK's, rouge-score's, Snowball's) differ on
real words, which is worth 0.2 to 0.4 ROUGE points.
"""

from __future__ import annotations

import re

_CONSONANTS = "[^aeiou][^aeiouy]*"
_VOWELS = "[aeiouy][aeiou]*"
_MEASURE_OVER_0 = re.compile(f"(?:{_CONSONANTS})?{_VOWELS}{_CONSONANTS}").match
_MEASURE_1 = re.compile(f"(?:{_CONSONANTS})?{_VOWELS}{_CONSONANTS}(?:{_VOWELS})?$").match
_MEASURE_OVER_1 = re.compile(f"(?:{_CONSONANTS})?{_VOWELS}{_CONSONANTS}{_VOWELS}{_CONSONANTS}").match
_HAS_VOWEL = re.compile(f"(?:{_CONSONANTS})?[aeiouy]").match
_SHORT_SYLLABLE = re.compile(f"{_CONSONANTS}[aeiouy][^aeiouwxy]$").match
_DOUBLE = re.compile(r"([^aeiouylsz])\1$").search

# Suffix -> replacement, by the last letter so that most words are tried against nothing.
_STEP_2 = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "bli": "ble",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
    "logi": "log",
}
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = dict.fromkeys(
    "al ance ence er ic able ible ant ement ou ism ate iti ous ive ize".split(),
    "",
)


def _by_ending(table: dict[str, str]) -> dict[str, list[tuple[str, str]]]:
    """Suffixes grouped by their last two letters, longest first."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for suffix in sorted(table, key=len, reverse=True):
        groups.setdefault(suffix[-2:], []).append((suffix, table[suffix]))
    return groups


_ENDINGS_2, _ENDINGS_3, _ENDINGS_4 = _by_ending(_STEP_2), _by_ending(_STEP_3), _by_ending(_STEP_4)


def stem(word: str) -> str:
    """The stem of a lower-case word of [a-z0-9]; words under 3 letters come back as they are.

    >>> [stem(word) for word in ("studies", "dying", "yellowing", "replacement", "at")]
    ['studi', 'dy', 'yellow', 'replac', 'at']
    """
    if len(word) < 3:
        return word
    initial_y = word[0] == "y"
    if initial_y:
        word = "Y" + word[1:]
    # Plurals and participles.
    if word[-1] == "s":
        if word.endswith(("sses", "ies")):
            word = word[:-2]
        elif word[-2] != "s":
            word = word[:-1]
    last = word[-1:]
    if last in "dg" and last:
        word = _step_1b(word)
        last = word[-1:]
    if last == "y" and _HAS_VOWEL(word[:-1]):
        word = word[:-1] + "i"
    # Derivational suffixes: the longest that fits is the only one tried.
    word = _replace(word, _ENDINGS_2, _MEASURE_OVER_0)
    word = _replace(word, _ENDINGS_3, _MEASURE_OVER_0)
    word = _replace(word, _ENDINGS_4, _MEASURE_OVER_1)
    if word[-1:] in ("t", "n"):
        if word.endswith("ment") and _MEASURE_OVER_1(word[:-4]):
            word = word[:-4]
        if word.endswith("ent"):
            if _MEASURE_OVER_1(word[:-3]):
                word = word[:-3]
        elif word.endswith(("sion", "tion")) and _MEASURE_OVER_1(word[:-3]):
            word = word[:-3]
    # Final e and double l.
    if word[-1:] == "e":
        rest = word[:-1]
        if _MEASURE_OVER_1(rest) or (_MEASURE_1(rest) and not _SHORT_SYLLABLE(rest)):
            word = rest
    if word[-2:] == "ll" and _MEASURE_OVER_1(word):
        word = word[:-1]
    return "y" + word[1:] if initial_y else word


def _step_1b(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _MEASURE_OVER_0(word[:-3]) else word
    if word.endswith("ed"):
        rest = word[:-2]
    elif word.endswith("ing"):
        rest = word[:-3]
    else:
        return word
    if not _HAS_VOWEL(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _DOUBLE(rest):
        return rest[:-1]
    if _SHORT_SYLLABLE(rest):
        return rest + "e"
    return rest


def _replace(word: str, endings: dict[str, list[tuple[str, str]]], fits: object) -> str:
    for suffix, replacement in endings.get(word[-2:], ()):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest + replacement if fits(rest) else word  # type: ignore[operator]
    return word
