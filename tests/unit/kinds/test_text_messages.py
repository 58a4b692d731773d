"""Messages of texts: everything that is fine, and a name for everything that is not; more is in `test_messages`."""

import json
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from stream_lsh.errors import ConfigError, InputError, MalformedMessage, UnusableDocument
from stream_lsh.kinds.text.messages import RAW, parse_document, parse_lines
from stream_lsh.model import NO_ABOUT, About, Document
from stream_lsh.wire.field_names import FieldNames
from stream_lsh.wire.ids import MAX_ID_BYTES
from stream_lsh.wire.message import ParseRules
from tests.unit.wire.strategies import STRINGS

NOW = 1_714_564_800_000  # 2024-05-01T12:00:00Z

LINES_OF_A_FILE = ParseRules(max_ahead_ms=None, keyed=False)


def parse(value: bytes | None, key: bytes | None = b"a", **options: Any) -> Document:
    return parse_document(value, key, ParseRules(**options), fallback_time_ms=NOW)


def unkeyed(value: bytes) -> Document:
    return parse(value, None, keyed=False)


# --- valid messages -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b'{"text": "words"}', "words"),
        (b'{"id": "a", "text": "words"}', "words"),
        (b'{"id": null, "text": "words", "time": null, "deleted": null}', "words"),
        (b'{"text": "words", "deleted": false}', "words"),
        (b' \n{"text": "words"}\r\n', "words"),
        (b'\xef\xbb\xbf{"text": "words"}', "words"),
        (b'{"text": ""}', ""),
        (b'{"text": "x"}', "x"),
        (b'{"text": "null \\u0000 byte"}', "null \0 byte"),
        (b'{"text": "lone \\ud800"}', "lone \ud800"),
        (b'{"text": "pair \\ud83d\\ude00"}', "pair \U0001f600"),
        ('{"text": "größe 日本"}'.encode(), "größe 日本"),
        (b'{"text": "words", "more": {"deep": [1, {"er": null}]}, "": 5}', "words"),
        (b'{"text": "first", "text": "last"}', "last"),
        (b'{"text": "words \\ud800", "more": 5}', "words \ud800"),
        (None, None),
        (b'{"deleted": true}', None),
        (b'{"deleted": true, "id": "a", "text": "gone"}', None),
        (b'{"deleted": true, "x": "\\udfff"}', None),
    ],
)
def test_messages_that_are_fine(value: bytes | None, text: str | None) -> None:
    assert parse(value) == Document("a", text, NOW)


@pytest.mark.parametrize(
    ("value_id", "expected"),
    [
        ('"b"', "b"),
        ("7", "7"),
        ("-7", "-7"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ('"null \\u0000"', "null \0"),
        ('"\\ud800"', "\ud800"),
        (json.dumps("x" * MAX_ID_BYTES), "x" * MAX_ID_BYTES),
        (json.dumps("é" * (MAX_ID_BYTES // 2)), "é" * (MAX_ID_BYTES // 2)),
    ],
)
def test_ids_that_are_fine(value_id: str, expected: str) -> None:
    value = f'{{"id": {value_id}, "text": "t"}}'.encode()
    assert unkeyed(value).id == expected
    assert parse_lines([value], LINES_OF_A_FILE)[0][0].id == expected
    if expected.isprintable():
        assert parse(value, expected.encode()).id == expected


def test_fields_can_have_other_names() -> None:
    names = FieldNames(id="uid", text="body", time="at", deleted="gone")
    value = b'{"uid": "a", "body": "b", "at": "1970-01-02", "text": 7, "id": []}'
    assert parse(value, names=names) == Document("a", "b", 86_400_000)
    assert parse(b'{"gone": true}', names=names).text is None
    with pytest.raises(MalformedMessage, match="got no `body`"):
        parse(b'{"text": "b"}', names=names)
    with pytest.raises(ConfigError, match="expected four that differ"):
        FieldNames(id="text")


# --- invalid messages -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "reason", "error", "message"),
    [
        (b'{"text": "\xff"}', "utf8", MalformedMessage, "not UTF-8 .*at byte 10"),
        (b'{"text": "\xed\xa0\x80"}', "utf8", MalformedMessage, "not UTF-8"),
        (b'{"text": "t\0"}', "json", MalformedMessage, "not JSON"),
        (b"{}", "text", MalformedMessage, "got no `text`, expected a string; to delete"),
        (b'{"text": null}', "text", MalformedMessage, "got no `text`"),
        (b'{"text": 5}', "text", MalformedMessage, "got a number 5 as `text`, expected a string"),
        (b'{"text": ["t"]}', "text", MalformedMessage, "got an array as `text`"),
        (b'{"text": true}', "text", MalformedMessage, "got a boolean True as `text`"),
        (b'{"text": {}}', "text", MalformedMessage, "got an object as `text`"),
        (b'{"text": "' + b"t" * 20_000_000 + b'"}', "size", UnusableDocument, "20000012 bytes, expected at most"),
    ],
)
def test_messages_that_are_not_fine(value: bytes, reason: str, error: type[InputError], message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        parse(value)
    assert raised.value.reason == reason
    assert type(raised.value) is error
    assert len(str(raised.value)) < 300


@given(st.binary(max_size=60), st.none() | st.binary(max_size=5))
def test_any_message_gives_a_document_or_an_input_error(value: bytes, key: bytes | None) -> None:
    for data in (
        value,
        b'{"text":' + value + b"}",
        b'{"text":"t","id":' + value + b"}",
        b'{"text":"t","time":' + value,
    ):
        reason = "none"
        try:
            parse(data, key, keyed=False)
        except InputError as error:
            reason = error.reason
        assert reason in {"none", "json", "utf8", "key", "id", "text", "time", "size"}


@given(STRINGS.filter(bool), STRINGS, st.integers(100_000_000_000, NOW), st.booleans())
def test_json_with_and_without_escapes_is_read(document_id: str, text: str, time: int, escape: bool) -> None:
    written = json.dumps({"id": document_id, "text": text, "time": time}, ensure_ascii=escape)
    value = written.encode("utf-8", "replace")
    expected = Document(document_id, text, time)
    if value == written.encode("utf-8", "surrogatepass"):
        # An escaped pair of surrogates is one character to JSON, as which it was not written.
        back = json.loads(written)
        expected = Document(back["id"], back["text"], time)
        assert unkeyed(value) == expected
        assert parse_lines([value], LINES_OF_A_FILE) == ([expected], [])


# --- files ----------------------------------------------------------------------------------------------------------

LINES = [
    b'{"id": "a", "text": "one"}\n',
    b"\n",
    b"   \r\n",
    b'{"id": 2, "text": "two"}\n',
    b'{"text": "no id"}\n',
    b'{"id": "c", "text": 5}\n',
    b"broken\n",
    b'{"id": "d", "text": "lone \\ud800"}\r\n',
    b'{"id": "e", "text": "in time", "time": "1970-01-01T00:00:05Z"}',
    b'{"id": "a", "text": "again"}',
    b'{"id": "", "text": "t"}',
    b'{"id": "a", "deleted": true}',
    b'{"id": "a", "text": "\xff"}',
    b'{"id": "f", "text": "' + b"x" * 200 + b'"}',
]


def test_lines_of_a_file_are_documents_or_errors_with_their_index() -> None:
    documents, errors = parse_lines(LINES, ParseRules(max_ahead_ms=None, keyed=False, max_bytes=200), 7)
    assert documents == [
        Document("a", "one", 7),
        Document("2", "two", 7),
        Document("d", "lone \ud800", 7),
        Document("e", "in time", 5000),
        Document("a", "again", 7),
        Document("a", None, 7),
    ]
    assert [(index, error.reason) for index, error in errors] == [
        (4, "id"), (5, "text"), (6, "json"), (10, "id"), (12, "utf8"), (13, "size"),
    ]  # fmt: skip


@given(st.lists(st.sampled_from(LINES)))
def test_lines_together_are_as_each_alone(lines: list[bytes]) -> None:
    documents: list[Document] = []
    errors: list[tuple[int, str]] = []
    for index, line in enumerate(lines):
        try:
            if line.strip():
                documents.append(parse_document(line, None, LINES_OF_A_FILE, fallback_time_ms=0))
        except InputError as error:
            errors.append((index, str(error)))
    got = parse_lines(lines, LINES_OF_A_FILE)
    assert got[0] == documents
    assert [(index, str(error)) for index, error in got[1]] == errors


PAGE = (
    '<html><head><title>Fire in the port</title><link rel="canonical" href="https://www.wire.example/1">'
    '<meta property="article:published_time" content="2026-03-01T08:00:00Z"></head>'
    "<body><nav>Home</nav><article><p>Two ships burn.</p></article></body></html>"
)
EIGHT_MS = 1_772_352_000_000


def read_page(html: str = "main", *, now_ms: int = EIGHT_MS, **fields: object) -> Document:
    value = json.dumps({"text": PAGE, **fields}).encode()
    return parse_document(value, b"a", fallback_time_ms=now_ms, stories=True, html=html)


def test_a_page_is_read_and_completes_the_message() -> None:
    assert read_page() == Document(
        "a", "Two ships burn.", EIGHT_MS, About("Fire in the port", "wire.example", len("Two ships burn."))
    )
    document = read_page(title="Ships on fire", source="Herald", time="1970-01-02")
    assert (document.time_ms, document.about[:2]) == (86_400_000, ("Ships on fire", "Herald"))
    assert read_page(url="http://post.example/").about.source == "post.example"
    assert read_page("page").text == "Home Two ships burn."


def test_a_page_with_a_time_in_the_future_has_the_current_time() -> None:
    assert read_page(now_ms=EIGHT_MS - 7_200_000).time_ms == EIGHT_MS - 7_200_000
    assert read_page(now_ms=EIGHT_MS - 1_800_000).time_ms == EIGHT_MS


def test_a_text_without_tags_stays_as_it_is_and_a_page_that_another_reads_too() -> None:
    value = json.dumps({"text": "1 < 2\n  and  so on"}).encode()
    assert parse_document(value, b"a", fallback_time_ms=0, html="main").text == "1 < 2\n  and  so on"
    raw = read_page(RAW)
    assert (raw.text, raw.about) == (PAGE, NO_ABOUT)


def test_a_page_whose_url_is_its_id_has_its_host_as_outlet() -> None:
    value = json.dumps({"url": "https://post.example/x", "text": PAGE}).encode()
    rules = ParseRules(names=FieldNames(id="url"), keyed=False)
    found = parse_document(value, None, rules, fallback_time_ms=0, stories=True, html="main")
    assert (found.id, found.about.source, found.about.title) == (
        "https://post.example/x",
        "post.example",
        "Fire in the port",
    )
