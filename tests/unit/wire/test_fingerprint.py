"""Fingerprints: settings in, one number out, and a sentence when two differ."""

import hypothesis.strategies as st
from hypothesis import given

from stream_lsh.wire.fingerprint import Setting, differences, fingerprint

SETTINGS = st.dictionaries(
    st.text(max_size=4), st.text(max_size=4) | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)


def test_a_fingerprint_stays_what_it_was() -> None:
    settings: dict[str, Setting] = {
        "shingles": "word:3",
        "bands": 16,
        "rows": 8,
        "seed": 1,
        "ratio": 0.5,
        "name": "größe",
    }
    assert fingerprint(settings) == 0x4D3562FE24BF1EC8


@given(SETTINGS)
def test_order_does_not_count_and_the_number_is_64_bits(settings: dict[str, Setting]) -> None:
    value = fingerprint(settings)
    assert 0 <= value < 2**64
    assert fingerprint(dict(reversed(settings.items()))) == value


@given(SETTINGS, SETTINGS)
def test_different_settings_have_another_fingerprint_and_are_listed(
    ours: dict[str, Setting], theirs: dict[str, Setting]
) -> None:
    listed = differences(ours, theirs)
    assert (fingerprint(ours) == fingerprint(theirs)) == (not listed)
    assert len(listed) == sum(
        (name in ours, repr(ours.get(name))) != (name in theirs, repr(theirs.get(name))) for name in {*ours, *theirs}
    )


def test_type_counts() -> None:
    assert len({fingerprint({"k": value}) for value in (1, 1.0, "1")}) == 3


def test_differences_are_sentences_in_order_of_their_names() -> None:
    assert differences({"b": 1, "a": "x", "same": 1}, {"b": 2, "c": 0.5, "same": 1}) == [
        "a: ours 'x', theirs not set",
        "b: ours 1, theirs 2",
        "c: ours not set, theirs 0.5",
    ]
