"""What a document is as a message."""

import pytest

from stream_lsh.errors import UnusableDocument
from stream_lsh.model import About, Document
from stream_lsh.wire.source import FieldNames, parse_document
from stream_lsh.worker.feeding import message


@pytest.mark.parametrize("text", ["plain", "", "\x00", "half a pair \ud800", "\U0001f600", None])
def test_a_message_reads_as_the_document_that_it_was_made_of(text: str | None) -> None:
    names = FieldNames(id="guid", text="body", time="at", deleted="gone")
    document = Document("\u00fc", text, -5)
    key, value = message(document, names)
    assert parse_document(value, key, fallback_time_ms=-5, names=names) == document


def test_what_stories_tell_of_a_document_comes_again() -> None:
    names = FieldNames(title="head", source="site")
    document = Document("a", "Words", 0, About("Title \ud800", "Wire", 5))
    key, value = message(document, names)
    assert parse_document(value, key, fallback_time_ms=0, names=names, stories=True) == document


def test_an_id_that_cannot_be_a_key_is_told() -> None:
    with pytest.raises(UnusableDocument, match="expected UTF-8"):
        message(Document("\ud800", "text", 0), FieldNames())
