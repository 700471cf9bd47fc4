"""From a line to the words METEOR counts: what `-norm -l en` of METEOR 1.5 makes of a text.

Equals the jar's normaliser (English, punctuation kept), its lower-casing and its splitting, and, before
them, what a line goes through on its way to the jar: the clean-up of the wrapper in `pycocoevalcap`,
and the trimming that belongs to the jar's line protocol. Every replacement below is one pass from
left to right without overlaps, because the jar's are; that is why `a-b-c` keeps its second hyphen.

Only the lower-casing depends on the host: a capital that Unicode has had since version 14 or later (Vithkuqi,
Garay, a few Latin, Cyrillic and Glagolitic letters: 67 by version 16) is lower-cased by those Pythons, and by
those Javas, that know it. Java 17 knows version 13, Python 3.11 version 14, Java 25 version 16.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# What Java's String.trim takes off: everything up to and including the space.
_TRIMMED = "".join(map(chr, range(0x21)))

_LINE_BREAKERS = str.maketrans("\r\n\t", "   ")

_LETTER = "A-Za-zŠŽšžŸÀ-ÖØ-öø-ž\u0400-\u04ff\u0500-\u0527\ua640-\ua66e\ua67e-\ua697\u1d00-\u1d7f"
_BLANK = " \t\n\x0b\f\r"

_SYMBOL = re.compile(f"[^0-9{_LETTER}{_BLANK}.'`,\\-‘’]")
_DOTS = re.compile(r"\.(\.+)")
_LAST_DOT = re.compile(r"DOTMULTI\.([^.])")
_COMMAS = (
    re.compile(r"([^0-9]),([^0-9])"),
    re.compile(r"([0-9]),([^0-9])"),
    re.compile(r"([^0-9]),([0-9])"),
)
_HYPHEN = re.compile(f"([0-9{_LETTER}.])-([0-9{_LETTER}])")
_APOSTROPHES = (
    (re.compile(f"([^{_LETTER}])'([^{_LETTER}])"), r"\1 ' \2"),
    (re.compile(f"([^{_LETTER}0-9])'([{_LETTER}])"), r"\1 ' \2"),
    (re.compile(f"([{_LETTER}])'([^{_LETTER}])"), r"\1 ' \2"),
    (re.compile(f"([{_LETTER}])'([{_LETTER}])"), r"\1 '\2"),
    (re.compile("([0-9])'(s)"), r"\1 '\2"),
)
_HAS_LETTER = re.compile(f"[{_LETTER}]")
_WIDE_SPACES = re.compile("[ \u2000-\u200a\u202f\u205f\u3000\u00a0]+")
_WORD = re.compile(r"[^ \t\n\r\f]+")

# A line is plain when none of the rules with a memory can act on it: ASCII, and each of . , ' ` - stands
# alone between spaces. Then all that happens is that other symbols are set apart.
_NOT_PLAIN = re.compile(r"""[^0-9A-Za-z .,'`\-?!:;()\[\]"$%&*+/<=>@^_{|}~#\\]|[.,'`\-][^ ]|[^ ][.,'`\-]|MULTI""")
_PLAIN_SYMBOL = re.compile(r"[^0-9A-Za-z .,'`\-]")


def clean_prediction(text: str) -> str:
    r"""A prediction as the wrapper sends it to the jar, on one line.

    CR, LF and tab act as a space (the first two would break the jar's line protocol). Then the wrapper's own
    clean-up, `replace("|||", "").replace("  ", " ")`: a `|||` in a prediction is **deleted**, which joins
    what stood on both sides of it, because that is what the published scripts do.

    >>> clean_prediction("who\tran |||away ?\r")
    'who ran away ? '
    >>> clean_prediction("")
    ''
    >>> clean_prediction("a|||b |")
    'ab |'
    """
    return text.translate(_LINE_BREAKERS).replace("|||", "").replace("  ", " ")


def clean_reference(text: str) -> str:
    r"""A reference as it is sent to the jar, on one line: CR, LF and tab act as a space.

    A `|||` stays, as text. (The wrapper lets it cut the reference in two.)

    >>> clean_reference("a ||| b\n")
    'a ||| b '
    """
    return text.translate(_LINE_BREAKERS)


def parse_prefixes(text: str) -> dict[str, bool]:
    r"""The jar's list of abbreviations: prefix -> True when its dot only stays before a number.

    >>> parse_prefixes("#titles\n\nMr\nNo #NUMERIC_ONLY#\n")
    {'Mr': False, 'No': True}
    """
    found: dict[str, bool] = {}
    for line in text.split("\n"):
        parts = line.split()
        if parts and not parts[0].startswith("#"):
            found[parts[0]] = len(parts) > 1 and parts[1] == "#NUMERIC_ONLY#"
    return found


def words(line: str, prefixes: Mapping[str, bool]) -> list[str]:
    """The normalised, lower-cased words of one line, in order.

    `prefixes` is what `parse_prefixes` read; without it the dots of abbreviations are split off.
    Definition: METEOR 1.5 with `-norm` and `-l en`.

    >>> words("Isn't well-known, i.e. 1,000 U.S. dollars...", {"i.e": False})
    ['isn', "'t", 'well', 'known', ',', 'ie', '1,000', 'us', 'dollars', '...']
    >>> words("", {})
    []
    >>> words("a-b-c 日本", {})
    ['a', 'b-c', '日', '本']
    """
    if not _NOT_PLAIN.search(line):
        return _PLAIN_SYMBOL.sub(r" \g<0> ", line.replace("`", "'")).lower().split()
    return _WORD.findall(_normalised(line.strip(_TRIMMED), prefixes).lower())


def _normalised(line: str, prefixes: Mapping[str, bool]) -> str:
    text = _SYMBOL.sub(r" \g<0> ", f" {line} ")
    dotted = ".." in text or "MULTI" in text
    if dotted:
        text = _hide_dots(text)
    if "," in text:
        for pattern in _COMMAS:
            text = pattern.sub(r"\1 , \2", text)
    text = _one_kind_of_quote(text)
    text = text.replace("\u2013", "-").replace("--", "-")
    if "-" in text:
        text = _HYPHEN.sub(r"\1 \2", text)
    if "'" in text:
        for pattern, replacement in _APOSTROPHES:
            text = pattern.sub(replacement, text)
    if "." in text:
        text = _split_final_dots(text, prefixes)
    if dotted:
        text = _show_dots(text)
    return _WIDE_SPACES.sub(" ", text).strip(_TRIMMED)


def _hide_dots(text: str) -> str:
    """Runs of dots become a name, so that no later rule takes them for full stops."""
    text = _DOTS.sub(r" DOTMULTI\1", text)
    while "DOTMULTI." in text:
        text = _LAST_DOT.sub(r"DOTDOTMULTI \1", text).replace("DOTMULTI.", "DOTDOTMULTI")
    return text


def _show_dots(text: str) -> str:
    while "DOTDOTMULTI" in text:
        text = text.replace("DOTDOTMULTI", "DOTMULTI.")
    return text.replace("DOTMULTI", ".")


def _one_kind_of_quote(text: str) -> str:
    for quote in "`‘’":
        text = text.replace(quote, "'")
    for quotes in ("“", "”", "''"):
        text = text.replace(quotes, ' " ')
    return text


def _split_final_dots(text: str, prefixes: Mapping[str, bool]) -> str:
    tokens = _WORD.findall(text)
    last = len(tokens) - 1
    kept = []
    for position, token in enumerate(tokens):
        if len(token) < 2 or not token.endswith("."):
            kept.append(token)
            continue
        stem = token[:-1]
        following = tokens[position + 1][0] if position < last else ""
        numeric = prefixes.get(stem)
        if "." in stem and _HAS_LETTER.search(stem):
            kept.append(token.replace(".", ""))
        elif numeric is False or "a" <= following <= "z" or (numeric and "0" <= following <= "9"):
            kept.append(token)
        else:
            kept.append(f"{stem} .")
    return " ".join(kept)
