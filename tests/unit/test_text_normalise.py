import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.errors import ConfigError
from stream_lsh.text.normalise import FORMS, UNICODE_VERSION, Normaliser
from tests.texts import texts


@given(texts, st.lists(st.sampled_from(sorted(FORMS)), max_size=3))
def test_the_short_way_for_ascii_gives_what_the_forms_give(text: str, forms: list[str]) -> None:
    want = text
    for name in forms:
        want = FORMS[name](want)
    assert Normaliser(forms)(text) == want


def test_the_default_joins_letters_and_their_accents() -> None:
    assert Normaliser()("e\u0301") == "é"


def test_each_form_does_what_its_name_says() -> None:
    assert Normaliser(("nfkc",))("ﬁ①") == "fi1"
    assert Normaliser(("casefold",))("Straße") == "strasse"
    assert Normaliser(("space",))("  a\u00a0 b\n\tc ") == "a b c"
    assert Normaliser(("accents",))("Zürich café") == "Zurich cafe"
    assert Normaliser(())("e\u0301 ") == "e\u0301 "


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
