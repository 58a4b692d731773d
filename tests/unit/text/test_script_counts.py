"""Scripts of texts, and the shingles proposed for them."""

import pytest

from stream_lsh.text.scripts import ScriptCounts, shown, suitable_shingles


def shares(*texts: str) -> dict[str, float]:
    counts = ScriptCounts()
    counts.take(texts)
    return counts.shares()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The café, in 2020!", {"Latin": 1.0}),
        ("Ｆｕｌｌ ｶﾀ", {"Latin": 0.667, "Katakana": 0.333}),
        ("हिन्दी भाषा", {"Devanagari": 1.0}),
        ("ภาษาไทย", {"Thai": 1.0}),
        ("中文abcd", {"Latin": 0.667, "Han": 0.333}),
        ("한국어 מילים", {"Hebrew": 0.625, "Hangul": 0.375}),
        ("ꦲ ℵ", {"other": 1.0}),
        ("123 ... \ud800\0", {}),
        ("", {}),
    ],
)
def test_letters_are_counted_by_script(text: str, expected: dict[str, float]) -> None:
    assert shares(text) == expected


def test_rare_scripts_and_the_ends_of_long_texts_are_left_out() -> None:
    assert shares("a" * 199 + "ж") == {"Latin": 0.995}
    assert shares("a" * 500 + "ж" * 500) == {"Latin": 1.0}
    assert shown(shares("aaa", "ж")) == "Latin 75 %, Cyrillic 25 %"


@pytest.mark.parametrize(
    ("name", "text", "proposed"),
    [
        ("word:3", "我们昨天在公园", "mixed:3"),
        ("word:2/full", "ภาษาไทยไม่เว้นวรรค", "mixed:2"),
        ("bag:word:4", "こんにちは", "mixed:4"),
        ("stem:en:2", "သည်မြန်မာ", "mixed:2"),
        ("stopword:en", "हिन्दी भाषा बहुत", "mixed:3"),
        ("capital:3", "שלום עליכם", "mixed:3"),
        ("word:3", "हिन्दी भाषा बहुत", None),
        ("word:3", "the river rose", None),
        ("stopword:en", "the river rose", None),
        ("mixed:3", "我们昨天在公园", None),
        ("char:5", "我们昨天在公园", None),
        ("word:3", "the river rose by three metres in 京", None),
        ("word:3", "", None),
    ],
)
def test_shingles_are_proposed_where_the_given_ones_do_not_suit(name: str, text: str, proposed: str | None) -> None:
    found = suitable_shingles(name, shares(text))
    assert (found and found[0]) == proposed
    assert found is None or found[1].startswith(name)
