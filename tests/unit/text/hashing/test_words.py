"""Words of all scripts, against the words of the Unicode standard, which another package finds."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from uniseg.wordbreak import words as unicode_words  # type: ignore[import-untyped]

from stream_lsh.text.catalog import first_version, shingler
from stream_lsh.text.hashing.groups import BLOCK
from stream_lsh.text.shinglers.mixed import UNSPACED
from stream_lsh.text.shinglers.word import WordShingler
from tests.evaluation.oracles import tokens
from tests.texts import texts

SENTENCES = {
    "Arabic, vocalised": "إِنَّ اللُّغَةَ الْعَرَبِيَّةَ جَمِيلَةٌ، وَكُلُّ حَرْفٍ لَهُ حَرَكَةٌ",
    "Bengali": "আমি বাংলায় গান গাই, আমি বাংলার গান গাই",
    "Burmese": "မြန်မာဘာသာစကား သည် တရားဝင်ဘာသာ ဖြစ်သည်",
    "Chinese": "我们昨天在北京的公园里看见了一只很大的熊猫。2020 年",
    "English": "The river rose by 3 metres overnight, and the ferries stay in port",
    "Greek": "Τι είναι αυτό; Μη μου τους κύκλους τάραττε",
    "Hebrew, vocalised": "בְּרֵאשִׁית בָּרָא אֱלֹהִים אֵת הַשָּׁמַיִם וְאֵת הָאָרֶץ",
    "Hindi": "हिन्दी भाषा बहुत सुन्दर है और करोड़ों लोग इसे बोलते हैं",
    "Khmer": "សួស្តី អ្នកសុខសប្បាយ ជាទេ",
    "Korean": "한국어 말은 띄어쓰기를 합니다",
    "Lao": "ສະບາຍດີ ປະເທດລາວ",
    "Malayalam": "മലയാളം ഒരു ദ്രാവിഡ ഭാഷയാണ്, അവന്‍ വന്നു",
    "Persian": "می‌خواهم کتاب‌ها را بخوانم",
    "Russian, with stress": "за́мок и замо́к",
    "Sinhala": "ශ්‍රී ලංකාව ලස්සන රටකි",
    "Tamil": "தமிழ் மொழி மிகவும் பழமையான மொழி",
    "Telugu": "తెలుగు భాష చాలా తీయనిది",
    "Thai": "ภาษาไทยไม่เว้นวรรคระหว่างคำ ที่นี่",
    "Tibetan": "བོད་སྐད་ནི་སྐད་ཡིག་གཅིག་ཡིན",
    "Vietnamese, decomposed": unicodedata.normalize("NFD", "Tiếng Việt là ngôn ngữ của người Việt"),
    "Several": "Version 2.0: हिन्दी与中文 and ไทย in one text, can't_stop",
}
JOINERS = "\u200c\u200d"


def is_part(character: str) -> bool:
    return bool(re.match(r"\w", character)) or is_mark(character)


def is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M" or character in JOINERS


def is_katakana(character: str) -> bool:
    return unicodedata.name(character, "").startswith(("KATAKANA", "HALFWIDTH KATAKANA"))


def expected_words(text: str) -> list[str]:
    """The words of the standard, with the documented differences.

    All characters but letters, digits, underscores, marks and joiners separate words, apostrophes and full stops
    within a word among them; each Katakana is a word.
    """
    found = list[str]()
    for segment in unicode_words(text.lower()):
        pieces = "".join(character if is_part(character) else "\n" for character in segment).split("\n")
        for piece in pieces:
            word = piece.lstrip("".join(filter(is_mark, piece)))  # a mark without a base
            is_new, after_katakana = True, False
            for character in word:
                if is_new or is_katakana(character) or (after_katakana and not is_mark(character)):
                    found.append(character)
                else:
                    found[-1] += character
                is_new, after_katakana = False, is_katakana(character) or (after_katakana and is_mark(character))
    return found


def distinct(spec: str, text: str) -> list[int]:
    """The tokens of a text as numbers, equal where the tokens are."""
    hashes = shingler(spec)([text]).hashes.tolist()
    return [hashes.index(one) for one in hashes]


def numbered(found: list[str]) -> list[int]:
    return [found.index(one) for one in found]


@pytest.mark.parametrize("language", SENTENCES)
def test_tokens_are_the_words_of_the_unicode_standard(language: str) -> None:
    text = SENTENCES[language]
    words = expected_words(text)
    starts, ends, _ = shingler("mixed:1").units(text)
    assert [text[a:b].lower() for a, b in zip(starts, ends, strict=True)] == words
    assert distinct("mixed:1", text) == numbered(words)


@pytest.mark.parametrize("language", SENTENCES)
def test_words_of_spaced_scripts_are_those_of_the_standard_too(language: str) -> None:
    text = "".join(" " if any(a <= ord(one) <= b for a, b in UNSPACED) else one for one in SENTENCES[language])
    words = expected_words(text)
    assert distinct("word:1", text) == numbered(words) == numbered(tokens(text))
    starts, ends, _ = shingler("word:1").units(text)
    assert [text[a:b].lower() for a, b in zip(starts, ends, strict=True)] == words


ALPHABET = "abZé1_ .,'\n\u0301\u200d\u200cहिन्दीক্ষিதமிאָבּعَرَびカ゛東京กำที่ລາວ한국ខ្មែរမြန်Σß๒۳"


@given(st.text(st.sampled_from(ALPHABET), max_size=30))
def test_any_text_of_several_scripts_has_the_words_of_the_standard(text: str) -> None:
    assert distinct("mixed:1", text) == numbered(expected_words(text))


@given(st.text(st.sampled_from(ALPHABET.replace("び", "").replace("カ", "").replace("東京", "")), max_size=30) | texts)
def test_words_and_their_places_are_those_of_the_slow_definition(text: str) -> None:
    assert distinct("word:1", text) == numbered(tokens(text))
    assert shingler("word:1").units(text).firsts.size == len(tokens(text))


@pytest.mark.parametrize("word", ["भाषा", "שָׁלוֹם", "می‌شود"])
@pytest.mark.parametrize("gap", range(6))
def test_a_word_with_marks_over_the_end_of_a_block_is_one(word: str, gap: int) -> None:
    (alone,) = WordShingler(1)([word]).hashes.tolist()
    text = "x" + " " * (BLOCK - gap - 1) + word + " y " + word
    assert WordShingler(1)([text]).hashes.tolist()[1::2] == [alone, alone]


# -- texts without marks keep their bytes

WORDS_OF_VERSION_2 = ["word:1", "word:3", "stopword:en", "capital:2", "stem:en:2", "bag:word:2/full/4"]


def without_marks(text: str) -> str:
    return "".join(one for one in text if not is_mark(one))


@pytest.mark.parametrize("spec", WORDS_OF_VERSION_2)
@given(batch=st.lists(texts.map(without_marks), max_size=4))
def test_a_text_without_marks_has_the_shingles_of_version_1(spec: str, batch: list[str]) -> None:
    now, before = shingler(spec)(batch), shingler(first_version(spec))(batch)
    assert now.hashes.tolist() == before.hashes.tolist()
    assert now.offsets.tolist() == before.offsets.tolist()
    for text in batch:
        places, same = shingler(spec).units(text), shingler(first_version(spec)).units(text)
        assert all((a == b).all() for a, b in zip(places, same, strict=True))


@given(st.lists(texts, max_size=4))
def test_version_1_of_words_ends_them_at_marks(batch: list[str]) -> None:
    found = shingler("word:1/v1")(batch)
    assert found.counts.tolist() == [len(re.findall(r"\w+", text.lower())) for text in batch]


@given(st.text(st.sampled_from("ab ก日\u0301\u0e35é"), max_size=30))
def test_version_1_of_mixed_shingles_differs_in_joiners_only(text: str) -> None:
    assert shingler("mixed:2/v1")([text]).hashes.tolist() == shingler("mixed:2")([text]).hashes.tolist()
    assert len(set(shingler("mixed:1/v1")(["a\u200cb", "a b"]).hashes.tolist())) == 2
    assert shingler("mixed:1")(["a\u200cb"]).counts.tolist() == [1]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("हिन्दी भाषा सीखना", "कमान फाइल सूची"),
        ("আমি বাংলায় গান", "সে বিদেশে যাবে"),
        ("தமிழ் மொழி பழமை", "வணிகம் செய்ய விரும்பு"),
        ("جَمِيلَةٌ كَبِيرَةٌ", "قَلَمٌ وَكِتَابٌ"),
        ("שָׁלוֹם עֲלֵיכֶם", "בָּרוּךְ הַבָּא"),
    ],
)
def test_texts_without_a_common_word_share_no_word(left: str, right: str) -> None:
    for spec in ("word:1", "mixed:1", "capital:1", "stem:hi:1"):
        one, other = shingler(spec)([left]).hashes, shingler(spec)([right]).hashes
        assert not {*one.tolist()} & {*other.tolist()}
    assert WordShingler(1)([left]).counts[0] == len(left.split())
    assert shingler("stem:hi:1")([left]).counts[0] == len(left.split())
