import pytest

from stream_lsh.errors import ConfigError
from stream_lsh.text.catalog import shingler
from stream_lsh.text.spelling import nearest

SPECS = ["char:1", "char:5", "char:64", "word:1", "word:3", "word:64", "stopword:en", "stopword:pt"]


@pytest.mark.parametrize("spec", SPECS)
def test_a_shingler_has_the_spec_that_it_was_made_from(spec: str) -> None:
    assert shingler(spec).spec == spec
    assert shingler(spec).version == 1


@pytest.mark.parametrize(
    ("spec", "meant"),
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
        ("stopword:3", "stopword:pt"),
    ],
)
def test_anything_else_is_refused_with_the_nearest_spec(spec: str, meant: str) -> None:
    with pytest.raises(ConfigError) as caught:
        shingler(spec)
    message = str(caught.value)
    assert repr(spec) in message
    assert "expected char:<k>, word:<k> or stopword:<language>, k from 1 to 64, a language out of de, en," in message
    assert f"did you mean {meant!r}?" in message


def test_the_seed_reaches_the_shingler() -> None:
    assert shingler("char:5", seed=2)(["some text"]).hashes[0] != shingler("char:5")(["some text"]).hashes[0]


def test_the_nearest_name_is_always_a_valid_one() -> None:
    assert nearest("\0", ["one", "two"]) in {"one", "two"}
