import pytest

from stream_lsh.errors import ConfigError
from stream_lsh.spelling import nearest
from stream_lsh.text.catalog import FIRST, KINDS, SPECS, as_stored, first_version, name_in, shingler

NAMES = ["char:1", "char:5", "char:64", "word:1", "word:3", "word:64", "stopword:en", "stopword:pt"]


@pytest.mark.parametrize("spec", NAMES)
def test_a_shingler_has_the_spec_that_it_was_made_from(spec: str) -> None:
    assert shingler(spec).spec == spec
    assert shingler(spec).version == (1 if spec.startswith("char") else 2)


@pytest.mark.parametrize("spec", [*NAMES, "mixed:3", "capital:2", "stem:hi:3", "bag:word:3/full/4", "space:3"])
def test_stored_settings_lead_to_the_version_that_they_state(spec: str) -> None:
    made = shingler(spec)
    assert name_in({"shingles": made.spec, "shingler_version": made.version}) == spec
    assert name_in({"shingles": made.spec, "shingler_version": made.version + 1}) is None
    assert name_in({"shingler_version": 1}) is None
    assert name_in({"shingles": "nonsense", "shingler_version": 1}) is None
    if made.version == 1:
        assert first_version(spec) == spec
        return
    first = shingler(f"{spec}{FIRST}")
    assert (first.spec, first.version, first.k) == (spec, 1, made.k)
    stored: dict[str, str | int | float] = {"shingles": spec, "shingler_version": 1}
    assert first_version(spec) == first_version(f"{spec}{FIRST}") == name_in(stored) == as_stored(spec, stored)
    assert as_stored(f"{spec}{FIRST}", stored | {"shingler_version": 2}) == f"{spec}{FIRST}", "what is named stays"
    assert as_stored("char:9", stored) == "char:9"


@pytest.mark.parametrize(
    ("spec", "suggest"),
    [
        ("chars:5", "char:5"),
        ("char5", "char:5"),
        ("char:0", "char:1"),
        ("char:65", "char:64"),
        ("char:99999999999999999999", "char:64"),
        ("char:-3", "char:3"),
        ("char:5 ", "char:5"),
        ("char:05", "char:5"),
        ("char:٥", "char:5"),
        ("Word:3", "word:3"),
        ("words", "word:3"),
        ("w-shingle:2", "word:2"),
        ("", "char:5"),
        ("char:5\n", "char:5"),
        ("stopword", "stopword:en"),
        ("stopwords:de", "stopword:de"),
        ("stopword:eng", "stopword:en"),
        ("stopword:3", "stopword:en"),
        ("stopword:german", "stopword:en"),
        ("stem", "stem:en:3"),
        ("stem:english:2", "stem:en:2"),
        ("stem:en", "stem:en:3"),
        ("stem:3", "stem:en:3"),
        ("code:python", "code:python:5"),
        ("code:python:0", "code:python:1"),
        ("code:c++:5:rename", "code:c++:5:renamed"),
        ("code::5", "code:python:5"),
        ("code:5", "code:python:5"),
        ("code5", "code:python:5"),
        ("code/4", "code:python:5/4"),
        ("bag:code/8", "bag:code:python:5"),
        ("/4", "char:5/4"),
        ("mixd:2", "mixed:2"),
        ("spaces", "space:3"),
        ("capitals:2", "capital:2"),
        ("bag", "bag:char:5"),
        ("bag:words:2", "bag:word:2"),
        ("bag:bag:char:3", "bag:char:3"),
        ("word:3:4", "word:3"),
        ("char:9/4/8", "char:9/4"),
        ("char:9/full/full", "char:9/full"),
        ("char:9/3", "char:9"),
        ("capital:3/full", "capital:3"),
        ("char:3/v1", "char:3"),
        ("word:3/v1/v1", "word:3/v1"),
        ("word:3/v2", "word:3"),
        ("stopword:en/full/4", "stopword:en/4"),
    ],
)
def test_anything_else_is_refused_with_the_nearest_spec(spec: str, suggest: str) -> None:
    with pytest.raises(ConfigError) as caught:
        shingler(spec)
    message = str(caught.value)
    assert repr(spec) in message
    assert f"expected {SPECS}" in message
    kind = suggest.removeprefix("bag:").partition(":")[0]
    assert f"; of {kind}, {KINDS[kind].arguments[0].expected}" in message
    assert f"did you mean {suggest!r}?" in message
    assert shingler(suggest)


@pytest.mark.parametrize(
    ("spec", "canonical"),
    [
        ("char:9/8", "char:9"),
        ("char:9/4/full", "char:9/full/4"),
        ("bag:stem:en:2/full/4", "bag:stem:en:2/full/4"),
        ("code:red/system:3/4", "code:red/system:3/4"),
        ("word:3/v1/full/4", "word:3/full/4"),
        ("code:c++:5:renamed", "code:c++:5:renamed"),
    ],
)
def test_ends_have_one_order_and_the_default_is_omitted(spec: str, canonical: str) -> None:
    assert shingler(spec).spec == canonical
    assert shingler(canonical).spec == canonical


def test_the_seed_reaches_the_shingler() -> None:
    assert shingler("char:5", seed=2)(["some text"]).hashes[0] != shingler("char:5")(["some text"]).hashes[0]


def test_the_nearest_name_is_always_a_valid_one() -> None:
    assert nearest("\0", ["one", "two"]) in {"one", "two"}
