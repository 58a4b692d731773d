"""Where keys stand in a file, and the units that values have."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.settings.toml import key_lines, line_of
from stream_lsh.settings.units import size_bytes, span_ms, span_text


@given(ms=st.integers(0, 10**14))
def test_a_span_comes_back_from_its_text(ms: int) -> None:
    assert span_ms(span_text(ms)) == ms


@pytest.mark.parametrize("text", ["", "3", "d", "3dd", "-3d", "1e3s", "3 d ", "٣d", "infd", "0.0001s", f"{'9' * 19}d"])
def test_invalid_spans_are_rejected(text: str) -> None:
    assert span_ms(text) is None
    assert size_bytes(f"{text}x") is None


def test_the_lines_of_keys_in_every_form_that_toml_has() -> None:
    text = "\n".join(
        [
            "# [not.a.table]",
            "a.'b c'.d = '''",
            "[no.table]",
            "e = 1",
            "'''",
            "",
            '  [ "x.y" . z ]  # a table',
            "list = [",
            "  # one",
            "  1, {k = 2},",
            "]",
            "[[t]]",
            'k = """\\',
            '  [[t]]"""',
            "[t.u]",
            "k = {m.n = 1, o = []}",
            "[[t]]",
            "[[t.v]]",
            "[[t.v]]",
            "k = 1979-05-27T07:32:00Z",
        ]
    )
    lines = key_lines(text)
    assert {path: line for path, line in lines.items() if not any(other[:-1] == path for other in lines)} == {
        ("a", "b c", "d"): 2,
        ("x.y", "z", "list", 0): 8,
        ("x.y", "z", "list", 1, "k"): 8,
        ("t", 0, "k"): 13,
        ("t", 0, "u", "k", "m", "n"): 16,
        ("t", 0, "u", "k", "o"): 16,
        ("t", 1, "v", 0): 18,
        ("t", 1, "v", 1, "k"): 20,
    }
    assert (lines[("t", 0)], lines[("t", 1)], lines[("t", 1, "v", 1)], lines[("x.y", "z")]) == (12, 17, 19, 7)


def test_a_key_that_is_not_there_stands_where_its_table_does() -> None:
    lines = key_lines("\n[a]\nb = 1")
    assert [line_of(path, lines) for path in (("a", "b"), ("a", "c"), ("a", "c", "d"), ("e",), ())] == [3, 2, 2, 1, 1]
