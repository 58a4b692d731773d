"""Messages of sets and vectors: any bytes are read or rejected, and written values are read again."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.errors import InputError
from stream_lsh.kinds.set.messages import ItemsForm
from stream_lsh.kinds.single_field import Form, parse_valued, parse_valued_lines, valued_message
from stream_lsh.kinds.vector.messages import VectorForm
from stream_lsh.model import Document
from stream_lsh.wire.field_names import FieldNames
from stream_lsh.wire.message import ParseRules

FORMS = [
    ItemsForm(), ItemsForm(bag=True), ItemsForm(squares=9),
    VectorForm(3, "cosine"), VectorForm(3, "euclidean", 1e9), VectorForm(8, "hamming"),
]  # fmt: skip
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=6,
)
NAMES = FieldNames(id="key", items="basket", vector="at", time="when")


@pytest.mark.parametrize("form", FORMS, ids=repr)
@given(st.data())
def test_a_message_of_any_values_is_read_or_rejected(form: Form, data: st.DataObject) -> None:
    fields = {name: data.draw(ANYTHING) for name in (form.field, *data.draw(st.sets(st.sampled_from(["id", "time"]))))}
    value = data.draw(st.binary(max_size=20) | st.just(json.dumps(fields).encode()))
    key = data.draw(st.none() | st.binary(max_size=4))
    try:
        document = parse_valued(value, key, form, ParseRules(keyed=data.draw(st.booleans())), fallback_time_ms=5)
    except InputError:
        return
    assert document.text is not None
    assert form.text(form.value(document.text), "again") == document.text


@pytest.mark.parametrize("form", FORMS, ids=repr)
def test_a_fed_message_is_read_again(form: Form) -> None:
    values: Any = [1, 0, 1] if form.field == "items" else [1.5, -2, 0]
    if isinstance(form, VectorForm) and form.measure == "hamming":
        values = [1, 0, 1, 0, 0, 0, 0, 1]
    document = Document("x", form.text(values, "value"), 7)
    key, value = valued_message(document, form, NAMES)
    assert parse_valued(value, key, form, ParseRules(names=NAMES), fallback_time_ms=0) == document
    assert valued_message(Document("x", None), form, NAMES) == (b"x", None)


def test_lines_are_read_one_by_one_and_what_is_wrong_is_named() -> None:
    lines = [b'{"id": 1, "items": ["a"]}', b"  ", b"{", b'{"items": ["a"]}', b'{"id": 2, "deleted": true}']
    documents, errors = parse_valued_lines(lines, ItemsForm(), ParseRules(keyed=False), 3)
    assert documents == [Document("1", "a\n", 3), Document("2", None, 3)]
    assert [(at, error.reason) for at, error in errors] == [(2, "json"), (3, "id")]


@pytest.mark.parametrize(
    ("form", "cell", "value"),
    [
        (ItemsForm(), "a|b c|", ["a", "b c", ""]),
        (ItemsForm(), "", []),
        (ItemsForm(), ' ["a|b", 7]', ["a|b", 7]),
        (ItemsForm(squares=9), "1 2|3", [1, 2, 3]),
        (VectorForm(2, "cosine"), "1 2.5", [1.0, 2.5]),
        (VectorForm(2, "cosine"), "[1, 2.5]", [1, 2.5]),
        (VectorForm(2, "cosine"), " AACAPwAAAAA= ", "AACAPwAAAAA="),
        (VectorForm(8, "hamming"), "a1", "a1"),
        (VectorForm(4, "hamming"), "0 1 1 0", [0, 1, 1, 0]),
    ],
)
def test_cells_of_tables_are_read(form: Form, cell: str, value: Any) -> None:
    assert form.of_cell(cell) == value
    text = form.text(value, "cell")
    assert form.text(form.value(text), "cell") == text


@pytest.mark.parametrize(
    ("form", "cell"),
    [
        (ItemsForm(), "[a"),
        (ItemsForm(squares=9), "one"),
        (VectorForm(2, "cosine"), "[1"),
        (VectorForm(2, "cosine"), "a b"),
    ],
)
def test_unreadable_cells_are_rejected(form: Form, cell: str) -> None:
    with pytest.raises(InputError) as caught:
        form.of_cell(cell)
    assert caught.value.reason == form.field


def test_vectors_are_kept_as_float32_and_a_negative_zero_as_zero() -> None:
    form = VectorForm(2, "euclidean", 1e9)
    assert form.value(form.text([0.1, -0.0], "vector")) == [float(np.float32(0.1)), 0.0]
    assert form.text([0.1, -0.0], "vector") == form.text([0.1, 0.0], "vector")
