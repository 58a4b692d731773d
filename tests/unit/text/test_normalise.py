import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.errors import ConfigError
from stream_lsh.text.normalise import FORMS, JOINER, MOST_MARKS, UNICODE_VERSION, Normaliser, moves, stream_safe
from tests.texts import texts


@given(texts, st.lists(st.sampled_from(sorted(FORMS)), max_size=3))
def test_the_short_way_for_ascii_gives_what_the_forms_give(text: str, forms: list[str]) -> None:
    want = text
    for name in forms:
        want = FORMS[name](want)
    assert Normaliser(forms)(text) == want


def test_the_default_joins_letters_and_their_accents() -> None:
    assert Normaliser()("e\u0301") == "é"


def test_each_form_is_applied_under_its_name() -> None:
    assert Normaliser(("nfkc",))("ﬁ①") == "fi1"
    assert Normaliser(("casefold",))("Straße") == "strasse"
    assert Normaliser(("space",))("  a\u00a0 b\n\tc ") == "a b c"
    assert Normaliser(("accents",))("Zürich café") == "Zurich cafe"
    assert Normaliser(())("e\u0301 ") == "e\u0301 "


def test_each_mark_of_punctuation_is_a_space_and_signs_stay() -> None:
    assert (
        Normaliser(("punctuation",))("don't: e-mail_x, „quoted“ 1+1=$2…日本、語")
        == "don t  e mail x   quoted  1+1=$2 日本 語"
    )
    assert Normaliser(("punctuation", "space"))("(a), [b].") == "a b"
    marks = "".join(map(chr, range(sys.maxunicode + 1)))
    made = Normaliser(("punctuation",))(marks)
    assert all(
        other == (" " if unicodedata.category(one).startswith("P") else one)
        for one, other in zip(marks, made, strict=True)
    )


def test_forms_are_applied_in_the_order_given() -> None:
    assert Normaliser(["nfkc", "casefold"])("K") == "k"
    assert Normaliser(("nfkc",)).forms == ("nfkc",)


def test_the_version_of_the_tables_is_known() -> None:
    assert unicodedata.unidata_version == UNICODE_VERSION


def test_every_unknown_form_is_named_with_the_nearest_valid_one() -> None:
    with pytest.raises(ConfigError) as caught:
        Normaliser(("NFC", "case-fold", "nfc"))
    assert len(caught.value.problems) == 2
    assert "'NFC'" in caught.value.problems[0]
    assert "'nfc'?" in caught.value.problems[0]
    assert "'casefold'?" in caught.value.problems[1]


MARK_CLASS = "\u0301\u0323\u0344\u05b0\u064b"
MARKS = st.sampled_from(MARK_CLASS)


@pytest.mark.parametrize("form", ["nfc", "nfkc", "accents"])
@given(text=st.lists(st.sampled_from(list("ae \u00e9\u034f")) | st.text(MARKS, min_size=1, max_size=80)).map("".join))
def test_marks_are_parted_after_thirty_and_nothing_else_changes(form: str, text: str) -> None:
    safe = stream_safe(text)
    assert stream_safe(safe) == safe
    assert FORMS[form](text) == FORMS[form](safe)
    runs = re.findall(f"[{MARK_CLASS}]+", safe)
    assert max(map(len, runs), default=0) <= MOST_MARKS
    if not re.search(f"[{MARK_CLASS}]{{{MOST_MARKS + 1}}}", text):
        assert safe == text


def test_no_run_of_marks_is_long_for_the_tables_however_long_it_is() -> None:
    text = "a" + "\u0301\u0323" * 100_000  # in one run it would take minutes
    assert FORMS["accents"](text) == "a"
    for form in ("nfc", "nfkc"):
        assert FORMS[form](text)[0] == "ạ"
    assert max(map(len, stream_safe(text).split(JOINER))) == MOST_MARKS + 1


def test_every_mark_is_seen_as_one() -> None:
    for number in range(sys.maxunicode + 1):
        character = chr(number)
        if moves(character):
            assert stream_safe(character * 40) != character * 40, hex(number)


def test_one_string_is_not_a_sequence_of_names() -> None:
    with pytest.raises(ConfigError, match=r"got 'nfc', expected a sequence of names, such as \['nfc'\]"):
        Normaliser("nfc")
