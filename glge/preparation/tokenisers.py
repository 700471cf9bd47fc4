"""Raw text -> tokens with single blanks between them, for raw files that are not tokenised.

`punctuation` sets every punctuation mark apart and keeps everything else, as the basic tokeniser of BERT does before
word pieces. `ptb` gives Penn Treebank tokens (-LRB-, ``, '', n't, 's), one paragraph at a time. It is written for
this project and near to, not the same as, Stanford's PTBTokenizer; what is in such tokens already stays as it is, but
for abbreviations it does not know. For text tokenised elsewhere there is `as-is`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache

Tokeniser = Callable[[str], str]

_SIGN = re.compile(r"[^\w\s]|_")


def punctuation(text: str) -> str:
    """Every punctuation mark a token: ASCII's, and those that Unicode calls so (not currency or mathematics).

    >>> punctuation("Who sang Beyoncé's \\"Halo\\"? (6½ €)")
    'Who sang Beyoncé \\' s " Halo " ? ( 6½ € )'
    >>> punctuation("")
    ''
    """
    return " ".join(_SIGN.sub(_apart, text).split())


def _apart(match: re.Match[str]) -> str:
    sign = match[0]
    return f" {sign} " if sign.isascii() or unicodedata.category(sign).startswith("P") else sign


_BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
_PLAIN = str.maketrans(
    {"\u201c": "``", "\u201d": "''", "\u2018": "`", "\u2019": "'", "\u2026": "...", "\u2013": "--", "\u2014": "--"}
)
_CLOSING = frozenset({"''", "'", "-RRB-", "-RSB-", "-RCB-"})
_OPENING = frozenset({"``", "`", '"', "-LRB-", "-LSB-", "-LCB-"})
_ABBREVIATIONS = frozenset(
    (
        "mr mrs ms dr prof rev gen col lt sgt capt cmdr maj adm gov sen rep pres hon supt messrs st mt ft jr sr bros "
        "inc co corp ltd llc plc vs etc no nos fig vol pp ed est dept univ assn ave blvd rd jan feb mar apr jun jul "
        "aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun ala ariz ark calif colo conn del fla ga ill "
        "ind kan ky la md mass mich minn miss mo mont neb nev okla ore pa tenn tex va vt wash wis wyo"
    ).split()
)
_LOWER_CASE = frozenset({"vs", "etc", "pp", "vol"})  # the others are abbreviations only with a capital
# These end a sentence as often as not; before a capital the full stop is taken for the sentence's.
_SPLIT_BEFORE_CAPITAL = frozenset(
    "no nos etc est ed mar sun sat fri mon ill del miss mo pa la va ind mass wash".split()
)

_TOKEN = re.compile(
    r"""
      -(?:LRB|RRB|LSB|RSB|LCB|RCB)-
    | (?:https?://|www\.)[^\s<>"`]*[^\s<>"`.,;:!?'()\[\]{}]
    | [\w.+-]*\w@\w[\w-]*(?:\.[\w-]+)*\w
    | [#@]\w+
    | ``|''
    | \.\.+ | --+ | [!?]{2,}
    | '(?:s|S|m|M|d|D|ll|LL|re|RE|ve|VE|em|til|tis|twas|cause|n|\d\ds?)(?!\w)
    | (?:[^\W\d_]\.){2,}                                   # U.S.
    | \d+(?:[.,:/]\d+)*(?:[^\W\d_]+)?(?:-\w+)*             # 1,000.5  10:30  1990s  4-3
    | \.\d+
    | LETTER+(?:[-&'./_*]LETTER+)*                         # well-known  O'Neill  AT&T
    | \S
    """.replace("LETTER", r"(?:[^\W_]|[\u0300-\u036f\u00ad\u200b-\u200d])"),
    re.VERBOSE,
)
_CONTRACTION = re.compile(r"(?i)(.*\w)(n't|'(?:s|m|d|ll|re|ve))")
_TWO_WORDS = {
    "cannot": 3, "gonna": 3, "gotta": 3, "wanna": 3, "gimme": 3, "lemme": 3,
}  # fmt: skip


def ptb(text: str) -> str:
    """Penn Treebank tokens of one paragraph.

    >>> ptb('He said: "It isn\\'t Mr. Low\\'s (yet)." Then 1,000.5% left for the U.S. at 10:30.')
    "He said : `` It is n't Mr. Low 's -LRB- yet -RRB- . '' Then 1,000.5 % left for the U.S. at 10:30 ."
    >>> ptb("`` It is n't Mr. Low 's -LRB- yet -RRB- . ''")
    "`` It is n't Mr. Low 's -LRB- yet -RRB- . ''"
    >>> ptb("")
    ''
    """
    chunks = (text if text.isascii() else text.translate(_PLAIN)).split()
    out: list[str] = []
    quote_open = False
    for place, chunk in enumerate(chunks):
        tokens, depends = _tokens(chunk)
        if not depends:
            out += tokens
            continue
        for inner, token in enumerate(tokens):
            if token == '"':
                opens, closes = inner == 0, inner == len(tokens) - 1
                quote_open = opens if opens != closes else not quote_open
                out.append("``" if quote_open else "''")
            elif token == "." and inner and _belongs(tokens[inner - 1], tokens[inner + 1 :], chunks, place):
                out[-1] += "."
            else:
                out.append(token)
    return " ".join(out)


@lru_cache(maxsize=1 << 17)
def _tokens(chunk: str) -> tuple[tuple[str, ...], bool]:
    """The tokens of a text without blanks, and whether what stands around it can change them."""
    tokens: list[str] = []
    found = _TOKEN.findall(chunk)
    for place, token in enumerate(found):
        if token == "'" and place == 0 and len(found) > 1:
            tokens.append("`")
        else:
            tokens += _words(_BRACKETS.get(token, token))
    depends = any(
        token == '"' or (token == "." and place > 0 and _may_end_in_a_full_stop(tokens[place - 1]))
        for place, token in enumerate(tokens)
    )
    return tuple(tokens), depends


def _may_end_in_a_full_stop(word: str) -> bool:
    if len(word) == 1 and word.isalpha():
        return word.isupper() and word != "I"
    return word.lower() in _ABBREVIATIONS and (word[0].isupper() or word in _LOWER_CASE)


def _belongs(word: str, rest: tuple[str, ...], chunks: list[str], place: int) -> bool:
    """Whether the full stop right after `word` is a part of it: never at the end of a text."""
    if not _may_end_in_a_full_stop(word):
        return False
    following = next((token for token in rest if token not in _CLOSING and token != '"'), None)
    while following is None:
        place += 1
        if place == len(chunks):
            return False
        tokens = _tokens(chunks[place])[0]
        closes = (token in _CLOSING or (token == '"' and inner > 0) for inner, token in enumerate(tokens))
        following = next((token for token, closed in zip(tokens, closes, strict=True) if not closed), None)
    new_sentence = following[0].isupper() or following in _OPENING
    return not (new_sentence and word.lower() in _SPLIT_BEFORE_CAPITAL)


def _words(token: str) -> list[str]:
    if "'" in token and (match := _CONTRACTION.fullmatch(token)):
        return [*_words(match[1]), match[2]]
    cut = _TWO_WORDS.get(token.lower())
    return [token[:cut], token[cut:]] if cut else [token]


TOKENISERS: Mapping[str, Tokeniser | None] = {"as-is": None, "punctuation": punctuation, "ptb": ptb}
