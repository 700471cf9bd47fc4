"""Texts that property tests draw: few words so that things match, and everything odd."""

from __future__ import annotations

from hypothesis import strategies as st

WORDS = (
    "the a of cat cats sat sitting mat mats running ran studies studying happily tied dying played quickly "
    "agreement management yellow yes no 1 000 3.5 U.S. well-known don't café naïve Ω 日本 <unk> < > & ( ) \" "
    "' . , - -- ation ness ies generalizations oscillators"
).split(" ")

words = st.sampled_from(WORDS)
text = st.lists(words, max_size=14).map(" ".join)
document = st.lists(text, min_size=1, max_size=4).map("\n".join)
odd_line = st.one_of(
    text,
    st.text(alphabet=st.characters(exclude_characters="\n", exclude_categories=("Cs",)), max_size=40),
)
pairs = st.lists(st.tuples(odd_line, odd_line), min_size=1, max_size=8)
