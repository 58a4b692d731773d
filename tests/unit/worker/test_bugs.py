"""Unexpected exceptions: of a parser or a scheme they concern one message, behind the table of documents the worker."""

import asyncio
import errno
import json
import logging
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
from faust.types import TP

from stream_lsh.config import parse
from stream_lsh.errors import ConfigError, InvariantError
from stream_lsh.kinds.record import decisions
from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.kinds.text import messages
from stream_lsh.model import Document
from stream_lsh.pipeline import sign as sign_module
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.wire.frames import decode_edges
from stream_lsh.wire.origin import Origin, origin_header
from stream_lsh.worker.agents import pipeline_agents as agents_module
from stream_lsh.worker.agents.pipeline_agents import PipelineAgents
from stream_lsh.worker.engine import Batch
from stream_lsh.worker.state.pipeline_state import PipelineState
from tests.unit.pipeline.makers import plain

NOW_MS = 1_714_564_800_000
BAD = "wrong"  # letters that no address in a "<... at 0x7f1baded1150>" has
"""In the text, or the key, of a message that meets a bug."""


class Acker:
    """Confirms at once."""

    def __init__(self, *_: Any) -> None:
        self.batches = list[Batch]()

    async def add_batch(self, batch: Batch, deliveries: Sequence[Any]) -> None:
        await asyncio.gather(*deliveries)
        self.batches.append(batch)


class Worker:
    """The agents of one partition over an app that stores everything at once."""

    def __init__(self, keys: str = "", pipeline: str = 'source = "s"') -> None:
        text = f'[[pipeline]]\nname = "p"\n{pipeline}\n{keys}'
        self.config = parse(text, "test.toml", {}).pipelines[0]
        self.state = PipelineState(self.config, 1)
        self.state.documents.own(0)
        self.sent = list[tuple[str, bytes | None, bytes, dict[str, bytes]]]()
        app = SimpleNamespace(
            committed_offset=lambda tp: 0, consumer_generation_id=1, produce=self._produce, current=self._current
        )
        self.app = cast(Any, app)
        tables: Any = {"documents": SimpleNamespace(append=self._append)}
        self.agents = PipelineAgents(self.app, self.state, tables)

    async def _produce(
        self, topic: str, key: bytes | None, value: bytes, partition: int = 0, *, headers: Any = None
    ) -> Any:
        self.sent.append((topic, key, value, dict(headers or {})))
        return asyncio.sleep(0)

    async def _append(self, app: Any, partition: int, value: bytes, taken: Any) -> Any:
        return await self._produce("changelog", None, value)

    async def _current(self, stream: Any, guard: Any) -> Any:
        yield stream

    def topics(self) -> list[str]:
        """Where something was sent."""
        return [topic for topic, _, _, _ in self.sent]

    def letters(self) -> list[tuple[bytes, dict[str, bytes]]]:
        """Values and headers of the dead letters."""
        dead = self.config.dead_letters_topic
        return [(value, headers) for topic, _, value, headers in self.sent if topic == dead]

    def sign(self, *records: Any) -> None:
        """One batch of the documents topic."""
        batch = batch_of(self.config.documents_topic, records)
        asyncio.run(self.agents._sign(batch, Acker()))  # type: ignore[arg-type]


def record(offset: int, key: str, value: object, headers: Any = ()) -> Any:
    return SimpleNamespace(
        topic="s", partition=0, offset=offset, timestamp=NOW_MS, key=key.encode(), value=json.dumps(value).encode(),
        headers=headers,
    )  # fmt: skip


def batch_of(topic: str, records: Sequence[Any]) -> Batch:
    message = SimpleNamespace(tp=TP(topic, 0), generation_id=1, topic=topic)
    return Batch(SimpleNamespace(value=list(records), message=message))


def failing(function: Callable[..., Any], error: Exception) -> Callable[..., Any]:
    """The function, which raises where the bad document is in its arguments."""

    def fails(*args: Any, **options: Any) -> Any:
        if BAD in repr(args):
            raise error
        return function(*args, **options)

    return fails


def text(offset: int, name: str, headers: Any = ()) -> Any:
    return record(offset, name, {"text": f"some words of {name}"}, headers)


def a_bug(worker: Worker, caplog: pytest.LogCaptureFixture) -> bytes:
    """The value of the one dead letter, which is of a bug and comes with one traceback."""
    ((value, headers),) = worker.letters()
    assert headers["reason"] == b"bug"
    assert headers["error"] == b"got ZeroDivisionError('not thought of'); this is a bug, please report it"
    assert (headers["topic"], headers["partition"], headers["offset"]) == (b"s", b"0", b"1")
    assert worker.state.counts.dead_letters == {"bug": 1}
    (logged,) = [one for one in caplog.records if one.exc_info is not None]
    assert logged.levelno == logging.ERROR
    assert logged.getMessage() == "bug: s[0] offset 1 goes to the dead letters; please report it"
    return value


@pytest.mark.parametrize(("owner", "name"), [(messages, "_read"), (TextScheme, "sign")], ids=["parser", "scheme"])
def test_an_exception_of_parser_or_scheme_is_a_dead_letter_and_sign_continues(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, owner: Any, name: str
) -> None:
    monkeypatch.setattr(owner, name, failing(getattr(owner, name), ZeroDivisionError("not thought of")))
    worker = Worker()
    worker.sign(text(0, "a"), text(1, BAD), text(2, "b"))
    assert a_bug(worker, caplog) == text(1, BAD).value
    table = worker.state.documents[0].table
    assert [table.version(name) is not None for name in ("a", BAD, "b")] == [True, False, True]


def test_an_exception_of_the_parser_is_a_dead_letter_and_intake_continues(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(messages, "_read", failing(messages._read, ZeroDivisionError("not thought of")))
    monkeypatch.setattr(agents_module, "OrderedAcker", Acker)
    worker = Worker("rekey = true")
    batch = batch_of("s", [text(0, "a"), text(1, BAD), text(2, "b")])
    asyncio.run(worker.agents.copy(batch))
    assert a_bug(worker, caplog) == text(1, BAD).value
    copies = [(key, headers["origin"]) for topic, key, _, headers in worker.sent if "origin" in headers]
    assert copies == [(b"a", b"s/0/0/%d/1" % NOW_MS), (b"b", b"s/0/2/%d/1" % NOW_MS)]


def test_a_copy_that_meets_a_bug_names_its_place_in_the_source(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(messages, "_read", failing(messages._read, ZeroDivisionError("not thought of")))
    worker = Worker("rekey = true")
    headers = origin_header(Origin("s", 0, 1, NOW_MS, 1)).items()
    worker.sign(text(77, BAD, headers))
    assert a_bug(worker, caplog) == text(77, BAD).value


def test_an_exception_of_the_parser_is_a_dead_letter_and_decisions_continue(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(decisions, "_pair", failing(decisions._pair, ZeroDivisionError("not thought of")))
    monkeypatch.setattr(agents_module, "OrderedAcker", Acker)
    worker = Worker(pipeline='source = "s"\nkind = "record"\nprofile = "people"')
    messages = [
        record(offset, json.dumps([name, "z"]), {"decision": "same"}) for offset, name in enumerate(("a", BAD, "b"))
    ]
    asyncio.run(worker.agents.decide(batch_of(worker.config.decisions_topic, messages)))
    assert a_bug(worker, caplog) == messages[1].value
    (edges,) = [value for topic, _, value, _ in worker.sent if topic == worker.config.internal_topic("edges")]
    assert [one.left for one in decode_edges(edges, worker.state.fingerprint).decisions] == ["a", "b"]


@pytest.mark.parametrize("place", ["parser", "scheme"])
@pytest.mark.parametrize(
    ("keys", "error"),
    [
        ('on_bug = "halt"', ZeroDivisionError()),
        ("", MemoryError()),
        ("", OSError(errno.EMFILE, "Too many open files")),
        ("", ImportError("libx.so: cannot open shared object file: Too many open files")),
        ("", ConfigError("a library is not installed")),
        ("", InvariantError("no message alone brings this about")),
    ],
)
def test_other_errors_and_bugs_halt_the_worker_if_so_configured(
    monkeypatch: pytest.MonkeyPatch, place: str, keys: str, error: Exception
) -> None:
    if place == "parser":
        monkeypatch.setattr(messages, "_read", failing(messages._read, error))
    else:
        monkeypatch.setattr(TextScheme, "sign", failing(TextScheme.sign, error))
    worker = Worker(keys)
    with pytest.raises(type(error)):
        worker.sign(text(0, "a"), text(1, BAD), text(2, "b"))
    assert worker.sent == []


@pytest.mark.parametrize("place", ["in apply", "behind apply"])
def test_an_exception_behind_the_scheme_halts_the_worker_and_nothing_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    worker = Worker('on_bug = "dead-letter"')
    worker.sign(text(0, "a"))
    worker.sent.clear()
    apply, applied = DocumentTable.apply, list[int]()

    def counted(table: DocumentTable, found: Any) -> Any:
        result = apply(table, found)
        applied.append(len(found))
        if place == "in apply" and len(applied) == 1:
            raise ZeroDivisionError
        return result

    postings, made = sign_module._postings, list[int]()

    def failing_once(*args: Any) -> Any:
        made.append(1)
        if len(made) == 1:
            raise ZeroDivisionError
        return postings(*args)

    monkeypatch.setattr(DocumentTable, "apply", counted)
    if place == "behind apply":
        monkeypatch.setattr(sign_module, "_postings", failing_once)
    with pytest.raises(ZeroDivisionError):
        worker.sign(text(1, "b"), text(2, "c"))
    assert applied == [2]
    assert worker.sent == [], "bands of versions that no changelog has"
    assert worker.state.documents[0].is_ahead, "or the table would be saved on disk"


def test_the_message_of_a_bug_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "_read", failing(messages._read, ZeroDivisionError("\U0001f4a5" * 100_000)))
    worker = Worker()
    worker.sign(text(1, BAD))
    ((_, headers),) = worker.letters()
    assert len(headers["error"]) < 400


def test_a_batch_that_is_prepared_changes_nothing_before_it_is_stored() -> None:
    scheme, table = TextScheme(0.5), DocumentTable(128)
    stored = sign_module.Arrivals(0, [0], [Document("a", "some words", 5)])
    sign_module.prepare(stored, table, scheme, table.horizon).store(table)
    before = table.snapshot(scheme.width)
    arrivals = sign_module.Arrivals(0, [1, 2], [Document("a", "other words", 5), Document("b", "words", 5)])
    first = sign_module.prepare(arrivals, table, scheme, table.horizon)
    prepared = sign_module.prepare(arrivals, table, scheme, table.horizon)
    assert plain(table.snapshot(scheme.width)) == plain(before)
    assert first.record is not None
    assert prepared.record is not None
    assert plain(prepared.record) == plain(first.record)
    assert prepared.store(table).counts == first.plan.counts
    assert sorted(table.snapshot(scheme.width).ids) == ["a", "b"]
