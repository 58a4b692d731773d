"""Texts that kernels get wrong: every script, lone surrogates, NULs, letters that change their length, repetitions."""

from hypothesis import strategies as st

any_character = st.characters(exclude_categories=())
few_characters = st.sampled_from("aabAB _,\n\0é\u0301ßİKΣσ日本\ud800\udfff😀\U0010ffff")
texts = st.one_of(
    st.just(""),
    st.text(any_character, max_size=12),
    st.text(few_characters, max_size=80),
    st.text(st.sampled_from("ab "), max_size=80),
)
batches = st.lists(texts, max_size=8)

AWKWARD = (
    "",
    " ",
    "a",
    "ab cd",
    "Zürich naïve ΑΒΓ 日本語のテキスト 😀 İß",
    "один два три четыре",
    "x" * 150_000,
    "q" * 65_536,
    "q" * 65_537 + " z",
    "a b " * 40_000,
    "\0\ud800a b" * 9_000,
    "İ" * 40_000,
    "ab " * 30_000 + "é",
    "日本語 テキスト" * 12_000,
)
"""Long ones among them: beyond a block and beyond a group, cut within a token, one token only."""
