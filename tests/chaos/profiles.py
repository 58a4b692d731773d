"""The input, the pipelines and the checks of a run: one profile each."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from stream_lsh.config.model import PipelineConfig
from stream_lsh.kinds.text.messages import message
from stream_lsh.model import About, Document
from tests.chaos import records
from tests.chaos.checker import Checker
from tests.chaos.expiry import ExpiryChecker
from tests.chaos.stories import StoryChecker
from tests.kafka.pipelines import edits

RETENTION_MS, _RETENTION_SECONDS = 6 * 3_600_000, 40.0
_SOURCES = {"chaos-crawl": 3, "chaos-partners": 2}


class Sent(NamedTuple):
    """A message of a source; a partition of -1 is that of its key."""

    topic: str
    key: bytes | None
    value: bytes | None
    partition: int = -1


class Part(NamedTuple):
    """One pipeline of a profile.

    Attributes:
        settings: of the pipeline, beside those that all have.
        stream: the documents, edited by a seed for a run of a number of seconds: the input of the checker.
        messages: their messages, in the same order.
        checker: the checks in the end.
    """

    settings: Mapping[str, Any]
    stream: Callable[[Sequence[Document], int, float], list[Any]]
    messages: Callable[[Sequence[Any], PipelineConfig, int], list[Sent]]
    checker: type[Checker]


@dataclass(frozen=True)
class Profile:
    """The pipelines of a run, and the topics that exist before it, with their partitions."""

    parts: tuple[Part, ...]
    topics: Mapping[str, int] = field(default_factory=dict)


def _edited(documents: Sequence[Document], seed: int, seconds: float) -> list[Document]:
    return edits(list(documents), seed)


def _keyed(stream: Sequence[Document], pipeline: PipelineConfig, seed: int) -> list[Sent]:
    return [Sent(pipeline.source, *message(document, pipeline.fields)) for document in stream]


def _scattered(stream: Sequence[Document], pipeline: PipelineConfig, seed: int) -> list[Sent]:
    """Without a key; the messages of an id stay on one partition, as only there they have an order."""
    rng, homes, sent = random.Random(seed), dict[str, tuple[str, int]](), list[Sent]()
    for one in stream:
        if one.id not in homes:
            topic = rng.choice(list(_SOURCES))
            homes[one.id] = topic, rng.randrange(_SOURCES[topic])
        topic, partition = homes[one.id]
        content = {"deleted": True} if one.text is None else {"text": one.text, "time": one.time_ms}
        sent.append(Sent(topic, None, json.dumps({"id": one.id, **content}).encode(), partition))
    return sent


def _with_stories(documents: Sequence[Document], seed: int, seconds: float) -> list[Document]:
    """With titles and outlets; some updates change nothing else."""
    rng, stories = random.Random(seed), list[Document]()
    for one in _edited(documents, seed, seconds):
        about = About(f"title {rng.randrange(9)}", rng.choice(("herald", "wire", "post", "")))
        stories.append(one if one.text is None else one._replace(about=about))
        if one.text is not None and rng.random() < 0.05:
            stories.append(stories[-1]._replace(about=About("another title", about.source)))
    return stories


def _through_time(documents: Sequence[Document], seed: int, seconds: float) -> list[Document]:
    """Event time passes many retentions; copies and updates come within one of them, in order of time.

    A retention takes longer than any fault that keeps a worker from some of its partitions and not from the others.
    """
    rng, passes = random.Random(seed), seconds / _RETENTION_SECONDS
    pace_ms = int(passes * RETENTION_MS / len(documents)) + 1
    stream, recent = list[Document](), list[Document]()
    for number, document in enumerate(documents):
        time_ms = _BEGIN_MS + number * pace_ms
        fresh = document._replace(time_ms=time_ms)
        stream.append(fresh)
        recent = [one for one in recent if one.time_ms > time_ms - RETENTION_MS // 2] + [fresh]
        drawn, old = rng.random(), rng.choice(recent)
        words = (old.text or "").split()
        cut = " ".join(words[: max(1, int(len(words) * rng.choice((0.5, 0.9, 1.0))))])
        if drawn < 0.3:
            copy = Document(f"{old.id}/copy {number}", f"{cut} copied", time_ms)
            stream.append(copy)
            recent.append(copy)
        elif drawn < 0.4:
            stream.append(Document(old.id, f"{cut} corrected", time_ms))
        elif drawn < 0.45:
            stream.append(Document(old.id, None, time_ms))
    return stream


def _people(documents: Sequence[Document], seed: int, seconds: float) -> list[records.Change]:
    """As many records as there would be documents."""
    return records.people(len(documents), seed)


def _of_people(stream: Sequence[records.Change], pipeline: PipelineConfig, seed: int) -> list[Sent]:
    return [Sent(*message) for message in records.messages(stream, pipeline)]


_BEGIN_MS = 1_700_000_000_000
_TEXTS = Part({"retention": 0, "threshold": 0.5}, _edited, _keyed, Checker)

PROFILES = {
    "texts": Profile((_TEXTS,)),
    "retention": Profile(
        (Part({"retention": "6h", "lateness": "6h", "threshold": 0.5}, _through_time, _keyed, ExpiryChecker),),
        {"documents-0": 4},
    ),
    "stories": Profile(
        (Part({"retention": 0, "stories": True, "threshold": 0.5}, _with_stories, _keyed, StoryChecker),)
    ),
    "records": Profile(
        (
            Part(
                {"retention": 0, "kind": "record", "profile": str(records.PROFILE_FILE)},
                _people,
                _of_people,
                records.RecordChecker,
            ),
        )
    ),
    "rekey": Profile(
        (
            Part(
                {"retention": 0, "rekey": True, "source": list(_SOURCES), "threshold": 0.5},
                _edited,
                _scattered,
                Checker,
            ),
        ),
        _SOURCES,
    ),
    "two-pipelines": Profile((_TEXTS, Part({"retention": 0, "threshold": 0.7}, _edited, _keyed, Checker))),
}
