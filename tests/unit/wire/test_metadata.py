"""The metadata of a document for stories: read from its message, or derived from its text and its URL."""

import json
from typing import Any

import pytest
from hypothesis import given

from stream_lsh.errors import ConfigError, MalformedMessage
from stream_lsh.kinds.text.messages import parse_document, parse_lines
from stream_lsh.model import NO_ABOUT, About, Document
from stream_lsh.wire.arguments import validate_document
from stream_lsh.wire.field_names import FieldNames
from stream_lsh.wire.message import ParseRules
from stream_lsh.wire.metadata import about_of
from tests.unit.wire.strategies import STRINGS


def about(value: Any) -> About:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return parse_document(data, b"k", fallback_time_ms=0, stories=True).about


@pytest.mark.parametrize(
    ("text", "title", "expected"),
    [
        ("First line\nsecond", "", "First line"),
        ("\r\n  \n Spaces \t in it \r\nsecond", "", "Spaces in it"),
        ("text", "  A \n title ", "A title"),
        ("text", " \t", "text"),
        ("", "", ""),
        (" \n ", "", ""),
        ("x" * 500, "", "x" * 200),
        ("a " * 300, "", ("a " * 100).rstrip()),
        ("word", "é" * 199 + " tail", "é" * 199),
        ("\ud800 half", "", "\ud800 half"),
        ("😀" * 201, "", "😀" * 200),
    ],
)
def test_the_title_is_given_or_the_first_line_that_is_not_blank(text: str, title: str, expected: str) -> None:
    assert about_of(text, title).title == expected


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://www.Example.ORG:8443/a?b#c", "example.org"),
        ("http://user:secret@news.example.org/", "news.example.org"),
        ("//example.org/a", "example.org"),
        ("http://[2001:db8::1]:80/", "2001:db8::1"),
        ("http://www.www.org", "www.org"),
        ("http://bücher.example/", "bücher.example"),
        ("example.org/a", "example.org"),
        ("www.example.org", "example.org"),
        ("/a", ""),
        ("http://[broken", ""),
        ("http://a\u2100b/", ""),
        ("http://\ud800/", "\ud800"),
        ("http://" + "a" * 300, "a" * 100),
        ("mailto:a@example.org", ""),
        ("", ""),
    ],
)
def test_the_outlet_is_the_host_of_the_url_where_none_is_given(url: str, host: str) -> None:
    assert about_of("text", url=url).source == host
    assert about_of("text", source=" The  Wire ", url=url).source == "The Wire"


@given(text=STRINGS, title=STRINGS, source=STRINGS, url=STRINGS.map("http://".__add__) | STRINGS)
def test_any_metadata_are_cut_to_bounds_once_and_for_all(text: str, title: str, source: str, url: str) -> None:
    metadata = about_of(text, title, source, url)
    assert (len(metadata.title) <= 200, len(metadata.source) <= 100, metadata.length) == (True, True, len(text))
    assert about_of(text, metadata.title, metadata.source) == metadata


def test_a_document_has_metadata_only_if_stories_are_on() -> None:
    value = {"text": "Words", "title": "Title", "source": "Wire", "url": 5}
    assert parse_document(json.dumps(value).encode(), b"k", fallback_time_ms=0).about is NO_ABOUT
    lines = [json.dumps({"id": "a", "text": "Words", "title": 7}).encode()]
    assert parse_lines(lines, ParseRules(keyed=False))[0] == [Document("a", "Words", 0)]


def test_the_fast_and_the_slow_parser_read_the_same_metadata() -> None:
    value = {"id": "k", "text": "Words", "title": "Title", "source": None, "url": "http://example.org"}
    fast, slow = json.dumps(value).encode(), b"\xef\xbb\xbf" + json.dumps(value).encode()
    assert about(fast) == about(slow) == About("Title", "example.org", 5)
    assert about(json.dumps(value | {"title": "\ud800"}).encode()).title == "\ud800"
    metadata = [document.about for document in parse_lines([fast, slow], ParseRules(keyed=False), stories=True)[0]]
    assert metadata == [About("Title", "example.org", 5)] * 2


@pytest.mark.parametrize("field", ["title", "source", "url"])
def test_metadata_of_another_type_are_rejected_with_a_reason(field: str) -> None:
    wrongs: tuple[object, ...] = (1.5 if field == "source" else 5, ["a"], {}, True)
    for wrong in wrongs:
        with pytest.raises(MalformedMessage) as caught:
            about({"text": "Words", field: wrong})
        assert caught.value.reason == field
        line = json.dumps({"id": "a", "text": "w", field: wrong}).encode()
        assert parse_lines([line], ParseRules(keyed=False), stories=True)[1]
    assert about({"deleted": True, field: 5}) is NO_ABOUT


def test_fields_are_named_otherwise_and_one_may_serve_for_two() -> None:
    rules = ParseRules(names=FieldNames(id="url", text="body", title="body", source="site"))
    value = {"url": "http://example.org/a", "body": "Words", "site": None}
    data = json.dumps(value).encode()
    for content in (data, b"\xef\xbb\xbf" + data):
        key = b"http://example.org/a"
        document = parse_document(content, key, rules, fallback_time_ms=0, stories=True)
        assert document.about == About("Words", "example.org", 5)
    with pytest.raises(MalformedMessage, match="got a number 5 as `url`") as caught:
        parse_document(b'{"url": 5, "body": "w"}', b"5", rules, fallback_time_ms=0, stories=True)
    assert caught.value.reason == "url"


def test_metadata_of_a_library_call_count_with_stories_only() -> None:
    document = Document("a", "Words\nmore", 0, About("", " Wire ", 99))
    assert validate_document(document, stories=True).about == About("Words", "Wire", 10)
    assert validate_document(Document("a", None, 0, About("x")), stories=True, removable=True).about == NO_ABOUT
    with pytest.raises(ConfigError, match="stories=True"):
        validate_document(document)
    with pytest.raises(MalformedMessage, match="got int as the source"):
        validate_document(Document("a", "Words", 0, About("", 5)), stories=True)  # type: ignore[arg-type]


def test_an_outlet_may_be_a_number_as_ids_may_and_a_title_may_not() -> None:
    rules = ParseRules(names=FieldNames(source="version"))
    found = parse_document(b'{"text": "Words", "version": 13}', b"a", rules, fallback_time_ms=0, stories=True)
    assert found.about.source == "13"
    for value in (
        b'{"text": "Words", "title": 13}',
        b'{"text": "Words", "version": 1.5}',
        b'{"text": "a", "version": true}',
    ):
        with pytest.raises(MalformedMessage):
            parse_document(value, b"a", rules, fallback_time_ms=0, stories=True)
