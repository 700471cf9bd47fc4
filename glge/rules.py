"""The line -> line rules that tasks ask for by name, as the benchmark's published scripts apply them.

A rule takes one line and gives one line; sentences inside it are separated by a newline once a
`sentences-at-…` rule has run. `tasks/*.yaml` lists the rules of each side in order. Where a script
does something odd, the oddity is kept and named at the line that does it.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Sequence

from glge.lines import split_at_ascii_blanks

Rule = Callable[[str], str]

_BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
_NAMES_UPPER = dict(_BRACKETS)
_NAMES_LOWER = {
    **{bracket: name.lower() for bracket, name in _BRACKETS.items()},
    "[UNK]": "UNK",
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
}
_PUNCTUATION = string.punctuation
_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
# The tokens at which fix-tokens does more than copy, beside the renamed ones.
_ACTIVE = frozenset("\"',.-")
_SPECIAL_UPPER = _ACTIVE.union(_NAMES_UPPER)
_SPECIAL_LOWER = _ACTIVE.union(_NAMES_LOWER)


def fix_tokens(text: str, names: dict[str, str], *, as_bytes: bool = False) -> str:
    """Undo the word-piece tokeniser's splitting of quotes, contractions, numbers and hyphens.

    `names` renames whole tokens first (brackets, entities). One pass from left to right; quotes open
    and close by turns; the result is joined by single blanks. With `as_bytes` blanks, digits and capitals
    are those of ASCII alone, as in a Python 2 script that reads bytes.

    >>> fix_tokens('he said " it isn \\' t 1 , 000 " ( yet )', _NAMES_UPPER)
    "he said `` it is n't 1,000 '' -LRB- yet -RRB-"
    >>> fix_tokens("a well - known u - turn -", _NAMES_LOWER)
    'a well-known u-turn -'
    >>> fix_tokens("", _NAMES_LOWER)
    ''
    """
    tokens = split_at_ascii_blanks(text) if as_bytes else text.split()
    count = len(tokens)
    special = _SPECIAL_UPPER if names is _NAMES_UPPER else _SPECIAL_LOWER
    active = [place for place, token in enumerate(tokens) if token in special]
    # A full stop at the end is only copied: most sentences have no other active token.
    if not active or (active[0] == count - 1 and tokens[-1] == "."):
        return " ".join(tokens)
    out: list[str] = []
    double_open = single_open = False
    done = 0  # tokens before this one are dealt with
    for position in active:
        if position < done:
            continue  # consumed by the token before
        out += tokens[done:position]
        token = tokens[position]
        done = position + 1
        if token in names:
            out.append(names[token])
            continue
        following = tokens[position + 1] if done < count else ""
        last = out[-1] if out else ""
        if token == '"':
            out.append("''" if double_open else "``")
            double_open = not double_open
        elif token == "'":
            if last.endswith("n") and following == "t":
                out[-1] = last[:-1]
                out.append("n't")
                done += 1
            elif following in ("s", "d", "ll"):
                out.append("'" + following)
                done += 1
            else:
                out.append("'" if single_open else "`")
                single_open = not single_open
        elif token == ".":
            if following == "." and tokens[position + 2 : position + 3] == ["."]:
                out.append("...")
                done += 2
            elif _is_digits(last, as_bytes) and _is_digits(following, as_bytes):
                out[-1] = f"{last}.{following}"
                done += 1
            elif _is_initial(last, as_bytes) and _is_initial_at(tokens, position + 1, as_bytes):
                out[-1] = last + "".join(tokens[position : _end_of_initials(tokens, position, as_bytes)])
                done += 1  # the script steps over the first letter only: what was joined is read again
            else:
                out.append(token)
        elif token == ",":
            if _is_number(last, as_bytes) and _is_number(following, as_bytes):
                out[-1] = f"{last},{following}"
                done += 1
            else:
                out.append(token)
        elif following == "-":
            out.append("--")
            done += 1
        elif position in (0, count - 1):
            out.append(token)
        # A whole token is looked for inside the punctuation string, as the script does.
        elif last not in _PUNCTUATION and following[0] not in _PUNCTUATION:
            out[-1] = last + "-"
            # The dash stays glued to the next token too, unless the script has another rule for that one.
            if following not in special:
                out[-1] += following
                done += 1
        else:
            out.append(token)
    out += tokens[done:]
    return " ".join(out)


def _is_digits(token: str, as_bytes: bool) -> bool:
    return token.isdigit() and (token.isascii() or not as_bytes)


def _is_number(token: str, as_bytes: bool) -> bool:
    """Digits and commas only, at least one character."""
    return bool(token) and all(char == "," or _is_digits(char, as_bytes) for char in token)


def _is_initial(token: str, as_bytes: bool) -> bool:
    return len(token) == 1 and token.isupper() and (token.isascii() or not as_bytes)


def _is_initial_at(tokens: Sequence[str], position: int, as_bytes: bool) -> bool:
    return position + 1 < len(tokens) and _is_initial(tokens[position], as_bytes) and tokens[position + 1] == "."


def _end_of_initials(tokens: Sequence[str], position: int, as_bytes: bool) -> int:
    # The script looks for further initials one token late, so "U . S . A ." joins as "U.S." only.
    end = position + 3
    while _is_initial_at(tokens, end + 1, as_bytes):
        end += 2
    return end


def fix_tokens_upper(text: str) -> str:
    """fix-tokens sentence by sentence, brackets as -LRB- (cnndm).

    >>> fix_tokens_upper("it ( almost ) works")
    'it -LRB- almost -RRB- works'
    """
    return "\n".join(fix_tokens(sentence, _NAMES_UPPER) for sentence in text.split("\n"))


def fix_tokens_lower_ascii(text: str) -> str:
    """The same as fix-tokens-lower in Python 2 on bytes: only ASCII blanks and digits count (squadqg).

    >>> fix_tokens_lower_ascii("[UNK] & co 1 , 000")
    'UNK &amp; co 1,000'
    """
    return fix_tokens(text, _NAMES_LOWER, as_bytes=True)


def fix_tokens_lower(text: str) -> str:
    """fix-tokens, brackets as -lrb-, entities escaped, [UNK] as UNK (gigaword).

    >>> fix_tokens_lower("[UNK] & co ( inc )")
    'UNK &amp; co -lrb- inc -rrb-'
    """
    return fix_tokens(text, _NAMES_LOWER)


def strip(text: str) -> str:
    """Take white space (Unicode) off both ends.

    >>> strip("  a b ")
    'a b'
    """
    return text.strip()


def lower(text: str) -> str:
    """Lower-case, Unicode.

    >>> lower("Ärger IN Oslo")
    'ärger in oslo'
    """
    return text.lower()


def strip_ascii(text: str) -> str:
    """Take ASCII white space off both ends: the question-generation scripts are Python 2 on bytes.

    >>> strip_ascii(" a\\xa0 ")
    'a\\xa0'
    """
    return text.strip(" \t\n\r\x0b\x0c")


def lower_ascii(text: str) -> str:
    """Lower-case A to Z only: the question-generation scripts are Python 2 on bytes.

    >>> lower_ascii("Où est l'École ?")
    "où est l'École ?"
    """
    return text.lower() if text.isascii() else text.translate(_ASCII_LOWER)


def ones_to_hashes(text: str) -> str:
    """Every digit 1 becomes # (models of gigaword write 1 for the masked digit).

    >>> ones_to_hashes("rises 1.1 percent in 2011")
    'rises #.# percent in 20##'
    """
    return text.replace("1", "#")


_NAMES_BACK = (
    ("-lrb-", "("),
    ("-rrb-", ")"),
    ("-lcb-", "{"),
    ("-rcb-", "}"),
    ("-lsb-", "["),
    ("-rsb-", "]"),
    ("``", '"'),
    ("''", '"'),
)


def names_back(text: str) -> str:
    """Lower-case, then bracket and quote names become the characters again, anywhere in the text.

    >>> names_back("`` Yes '' -LRB- he said -RRB-")
    '" yes " ( he said )'
    """
    text = text.lower()
    if "-" in text or "`" in text or "'" in text:
        for name, character in _NAMES_BACK:
            text = text.replace(name, character)
    return text


def sentences_at_x_sep(text: str) -> str:
    """Sentences of a prediction end at [X_SEP].

    >>> sentences_at_x_sep("a b . [X_SEP] c d .")
    'a b . \\n c d .'
    """
    return text.replace("[X_SEP]", "\n")


def sentences_at_s_sep(text: str) -> str:
    """Sentences of a reference are joined by " <S_SEP> ".

    >>> sentences_at_s_sep("a b . <S_SEP> c d .")
    'a b .\\nc d .'
    """
    return text.replace(" <S_SEP> ", "\n")


def sentences_at_full_stop(text: str) -> str:
    """A new sentence begins after every " .", also inside a number or an abbreviation.

    >>> sentences_at_full_stop("a b . c .5 d .")
    'a b .\\n c .\\n5 d .\\n'
    """
    return text.replace(" .", " .\n")


def drop_short_sentences(text: str) -> str:
    """Sentences of 4 tokens or fewer are dropped (cnndm).

    >>> drop_short_sentences("one two three four\\nfive six seven eight nine")
    'five six seven eight nine'
    """
    return "\n".join(sentence for sentence in text.split("\n") if len(sentence.split()) > 4)


def drop_repeated_sentences(text: str) -> str:
    """A sentence goes when over 70 % of its distinct words were in earlier sentences, kept or not (cnndm).

    >>> drop_repeated_sentences("a b c d e\\na b c d x\\na b y z w")
    'a b c d e\\na b y z w'
    """
    kept: list[str] = []
    seen: set[str] = set()
    for sentence in text.split("\n"):
        words = set(sentence.lower().split())
        if words and len(words & seen) / len(words) <= 0.7:
            kept.append(sentence)
        seen |= words
    return "\n".join(kept)


RULES: dict[str, Rule] = {
    "strip": strip,
    "lower": lower,
    "fix-tokens-upper": fix_tokens_upper,
    "fix-tokens-lower": fix_tokens_lower,
    "strip-ascii": strip_ascii,
    "lower-ascii": lower_ascii,
    "fix-tokens-lower-ascii": fix_tokens_lower_ascii,
    "ones-to-hashes": ones_to_hashes,
    "names-back": names_back,
    "sentences-at-x-sep": sentences_at_x_sep,
    "sentences-at-s-sep": sentences_at_s_sep,
    "sentences-at-full-stop": sentences_at_full_stop,
    "drop-short-sentences": drop_short_sentences,
    "drop-repeated-sentences": drop_repeated_sentences,
}


def apply_rules(names: Iterable[str], lines: Sequence[str]) -> list[str]:
    """All lines through the named rules, in order.

    A carriage return inside a line is read as a blank on every side (it can be no line end, and no
    script has a number for it).

    >>> apply_rules(["strip", "lower"], [" A ", "", "b\\rC"])
    ['a', '', 'b c']
    """
    result = [line.replace("\r", " ") if "\r" in line else line for line in lines]
    for name in names:
        result = list(map(RULES[name], result))
    return result
