"""The contents of a manifest, and the disagreements of two of them."""

import json
from dataclasses import replace
from typing import Any

import pytest

from stream_lsh.errors import ConfigError, DamagedBytes, StateError
from stream_lsh.wire.fingerprint import fingerprint
from stream_lsh.wire.manifest import Manifest, decode_manifest, disagreements, encode_manifest

SETTINGS: dict[str, str | int | float] = {"shingles": "word:3", "seed": 1}
ONE = Manifest("news", "wire", {"wire": "id-1"}, 4, {"matches": "pairs"}, 0.8, SETTINGS)
OWN = replace(ONE, own={"news-edges": "id-2", "news-bands": "id-3"})


def test_a_topic_of_the_pipeline_that_was_recreated_is_noticed_where_its_id_is_known() -> None:
    """An earlier version did not store the ids, and not every broker reports them."""
    (found,) = disagreements(replace(OWN, own={**OWN.own, "news-edges": "id-9"}), OWN)
    assert isinstance(found, StateError)
    assert str(found).startswith("news-edges: was deleted and recreated: its id is id-9, expected id-2")
    assert disagreements(OWN, ONE) == disagreements(ONE, OWN) == disagreements(OWN, OWN) == []


def test_a_manifest_comes_back_with_its_fingerprint_in_it() -> None:
    value = encode_manifest(ONE)
    assert decode_manifest(value, "topic") == ONE
    assert json.loads(value)["fingerprint"] == f"{fingerprint(SETTINGS):016x}"
    assert decode_manifest(json.dumps(json.loads(value) | {"later": 1}).encode(), "topic") == ONE
    guarded = replace(ONE, guards={"max_size": 9})
    assert decode_manifest(encode_manifest(guarded), "topic") == guarded
    with_stories = replace(ONE, stories=True)
    assert decode_manifest(encode_manifest(with_stories), "topic") == with_stories
    watching = replace(ONE, stories=True, mirror_share=0.1)
    assert decode_manifest(encode_manifest(watching), "topic") == watching
    assert decode_manifest(encode_manifest(OWN), "topic") == OWN
    assert not any(name in encode_manifest(ONE) for name in (b"stories", b'"own"'))
    assert b"mirror_share" not in encode_manifest(ONE)


def test_a_manifest_from_before_there_were_guards_has_none() -> None:
    before = {name: value for name, value in json.loads(encode_manifest(ONE)).items() if name != "guards"}
    assert decode_manifest(json.dumps(before).encode(), "topic") == ONE


@pytest.mark.parametrize(
    "altered",
    [
        {"settings": {"seed": 2}},
        {"fingerprint": "0"},
        {"settings": 5},
        {"guards": 5},
        {"stories": 1},
        {"mirror_share": "1"},
        {"own": ["edges"]},
    ],
)
def test_an_altered_manifest_is_damaged(altered: dict[str, Any]) -> None:
    value = json.dumps(json.loads(encode_manifest(ONE)) | altered).encode()
    with pytest.raises(DamagedBytes, match=r"^topic: got a first record that is not a manifest"):
        decode_manifest(value, "topic")


def test_a_record_without_a_field_is_not_a_manifest() -> None:
    with pytest.raises(DamagedBytes, match=r"not a manifest \(it has no field 'documents'\)"):
        decode_manifest(b'{"format": 1, "pipeline": "p"}', "topic")


@pytest.mark.parametrize(
    ("ours", "kind", "message"),
    [
        ({"documents": "other"}, ConfigError, "built from wire, not from other"),
        ({"settings": SETTINGS | {"seed": 2}}, ConfigError, "(seed: ours 2, theirs 1)"),
        ({"threshold": 0.9}, ConfigError, "(threshold: ours 0.9, theirs 0.8)"),
        ({"guards": {"max_size": 9}}, ConfigError, "(guards.max_size: ours 9, theirs not set)"),
        ({"stories": True}, ConfigError, "(stories: ours True, theirs not set)"),
        ({"mirror_share": 0.2}, ConfigError, "(mirror_share: ours 0.2, theirs not set)"),
        ({"topics": {"matches": "new"}}, ConfigError, "(matches: ours 'new', theirs 'pairs')"),
        ({"partitions": 5}, ConfigError, "has 5 partitions"),
        ({"sources": {"wire": "id-2"}}, StateError, "its id is id-2, and the state of news was built from id-1"),
    ],
)
def test_the_message_of_each_disagreement_names_a_remedy(
    ours: dict[str, Any], kind: type[Exception], message: str
) -> None:
    (error,) = disagreements(replace(ONE, **ours), ONE)
    assert type(error) is kind
    assert message in str(error)
    assert str(error).endswith("start over under another `app_id`")


@pytest.mark.parametrize("ours", [{}, {"sources": {"wire": None}}, {"sources": {"wire": "id-1", "more": "id-9"}}])
def test_unknown_and_new_entries_are_no_disagreement(ours: dict[str, Any]) -> None:
    assert disagreements(replace(ONE, **ours), ONE) == []
    unknown = replace(ONE, sources={"wire": None})
    assert disagreements(replace(ONE, **ours), unknown) == []
