"""The line -> line rules that tasks ask for by name, as the benchmark's published scripts apply them.

A rule takes one line and gives one line; sentences inside it are separated by a newline once a
`sentences-at-…` rule has run. `tasks/*.yaml` lists the rules of each side in order. Where a script
does something odd, the oddity is kept and named at the line that does it.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Sequence

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
# The tokens at which fix-tokens does more than copy, beside the renamed ones.
_ACTIVE = frozenset("\"',.-")


def fix_tokens(text: str, names: dict[str, str]) -> str:
    """Undo the word-piece tokeniser's splitting of quotes, contractions, numbers and hyphens.

    `names` renames whole tokens first (brackets, entities). One pass from left to right; quotes open
    and close by turns; the result is joined by single blanks.

    >>> fix_tokens('he said " it isn \\' t 1 , 000 " ( yet )', _NAMES_UPPER)
    "he said `` it is n't 1,000 '' -LRB- yet -RRB-"
    >>> fix_tokens("a well - known u - turn -", _NAMES_LOWER)
    'a well-known u-turn -'
    >>> fix_tokens("", _NAMES_LOWER)
    ''
    """
    tokens = text.split()
    if not any(token in _ACTIVE or token in names for token in tokens):
        return " ".join(tokens)
    count = len(tokens)
    out: list[str] = []
    double_open = single_open = False
    dash_before = False
    position = 0
    while position < count:
        token = tokens[position]
        after_dash, dash_before = dash_before, False
        if token in names:
            out.append(names[token])
            position += 1
        elif token in _ACTIVE:
            following = tokens[position + 1] if position + 1 < count else ""
            last = out[-1] if out else ""
            step = 1
            if token == '"':
                out.append("''" if double_open else "``")
                double_open = not double_open
            elif token == "'":
                if last.endswith("n") and following == "t":
                    out[-1] = last[:-1]
                    out.append("n't")
                    step = 2
                elif following in ("s", "d", "ll"):
                    out.append("'" + following)
                    step = 2
                else:
                    out.append("'" if single_open else "`")
                    single_open = not single_open
            elif token == ".":
                if following == "." and tokens[position + 2 : position + 3] == ["."]:
                    out.append("...")
                    step = 3
                elif last.isdigit() and following.isdigit():
                    out[-1] = f"{last}.{following}"
                    step = 2
                elif _is_initial(last) and _is_initial_at(tokens, position + 1):
                    out[-1] = last + "".join(tokens[position : _end_of_initials(tokens, position)])
                    step = 2  # the script steps over the first letter only: what was joined is read again
                else:
                    out.append(token)
            elif token == ",":
                if _is_number(last) and _is_number(following):
                    out[-1] = f"{last},{following}"
                    step = 2
                else:
                    out.append(token)
            elif following == "-":
                out.append("--")
                step = 2
            elif position in (0, count - 1):
                out.append(token)
            # A whole token is looked for inside the punctuation string, as the script does.
            elif last not in _PUNCTUATION and following[0] not in _PUNCTUATION:
                out[-1] = last + "-"
                dash_before = True
            else:
                out.append(token)
            position += step
        else:
            if after_dash and token[0] not in _PUNCTUATION:
                out[-1] += token
            else:
                out.append(token)
            position += 1
    return " ".join(out)


def _is_number(token: str) -> bool:
    """Digits and commas only, at least one character."""
    return bool(token) and all(char.isdigit() or char == "," for char in token)


def _is_initial(token: str) -> bool:
    return len(token) == 1 and token.isupper()


def _is_initial_at(tokens: Sequence[str], position: int) -> bool:
    return position + 1 < len(tokens) and _is_initial(tokens[position]) and tokens[position + 1] == "."


def _end_of_initials(tokens: Sequence[str], position: int) -> int:
    # The script looks for further initials one token late, so "U . S . A ." joins as "U.S." only.
    end = position + 3
    while _is_initial_at(tokens, end + 1):
        end += 2
    return end


def fix_tokens_upper(text: str) -> str:
    """fix-tokens sentence by sentence, brackets as -LRB- (cnndm).

    >>> fix_tokens_upper("it ( almost ) works")
    'it -LRB- almost -RRB- works'
    """
    return "\n".join(fix_tokens(sentence, _NAMES_UPPER) for sentence in text.split("\n"))


def fix_tokens_lower(text: str) -> str:
    """fix-tokens, brackets as -lrb-, entities escaped, [UNK] as UNK (gigaword, squadqg).

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
