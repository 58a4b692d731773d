"""The requests of the query API, one function for each."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, TypeVar, Unpack

import msgspec

from stream_lsh.client import answers
from stream_lsh.client.exchange import Call, path_of
from stream_lsh.errors import ConfigError, UnknownId

Vector = Sequence[float] | str
"""A vector as in the source: numbers, or a text that contains bits or packed numbers."""
_PIPELINES = "pipelines"
T = TypeVar("T")


class LookUp(TypedDict, total=False):
    """With `stale`, standbys, which may be behind, answer for owners that do not."""

    stale: bool


class Page(LookUp, total=False):
    """A page of a list: at most `limit` rows after `after`, which is the `next` of the previous page."""

    limit: int
    after: str


class MemberPage(LookUp, total=False):
    """A page of members: at most `limit` from number `start` on, which is the `next` of the previous page."""

    limit: int
    start: int


class MirrorList(MemberPage, total=False):
    """Pairs of mirror sites: all, or those of one `site`."""

    site: str


class ReviewList(Page, total=False):
    """The order of reviews: `closest` or `newest`."""

    sort: str


class DeadLetterList(TypedDict, total=False):
    """A page, as of `Page`: only rows with this `reason`, so it may be empty while `next` leads to more."""

    limit: int
    after: str
    reason: str


class ClusterList(Page, total=False):
    """Clusters or entities with at least `least_size` members and `least_sources` outlets, in the order of `sort`.

    The newest member is not older than `since`, and the id or the headline contains `text`.
    """

    sort: str
    least_size: int
    least_sources: int
    since: int
    text: str


class SimilarOptions(TypedDict, total=False):
    """A value other than a text, and how `similar` compares.

    `record` has the fields of a record, `source` its origin; `items` is a set; `vector` is as in the source.  `time` is
    the event time, as in the source; by default, all stored documents are compared.  `limit` is the maximum number of
    matches, 1 to 1,000 and 20 by default.  `threshold` is the least similarity or probability; by default, and at
    least, the pipeline's threshold.  With `partial`, partitions may be missing from the answer.  With `stale`,
    standbys, which may be behind, answer for owners that do not.
    """

    record: Mapping[str, Any]
    source: str
    items: Sequence[str | int]
    vector: Vector
    time: str | float | None
    limit: int
    threshold: float | None
    partial: bool
    stale: bool


def service() -> Call[answers.ServiceDescription]:
    """A description of the worker, and whether its application is complete."""
    return Call("GET", path_of(), answers.ServiceDescription)


def similar(pipeline: str, text: str | None = None, **options: Unpack[SimilarOptions]) -> Call[answers.Similar]:
    """The stored documents that are similar to one that is not stored.

    Args:
        pipeline: its name.
        text: for a pipeline of texts.
        options: another value, and how it is compared.

    Raises:
        ConfigError: none, or several, of text, record, items and vector.
    """
    record, source = options.get("record"), options.get("source")
    whole_record = None if record is None else {"fields": record, **({"source": source} if source else {})}
    values = {"text": text, "record": whole_record, "items": options.get("items"), "vector": options.get("vector")}
    given = {name: value for name, value in values.items() if value is not None}
    if len(given) != 1:
        raise ConfigError(
            f"similar: got {' and '.join(given) or 'no value'}, expected one of text, record, items and vector"
        )
    body: dict[str, Any] = {**given, "limit": options.get("limit", 20)}
    body |= {name: value for name in ("time", "threshold") if (value := options.get(name)) is not None}
    body |= {name: "allow" for name in ("partial", "stale") if options.get(name)}
    return Call("POST", path_of(_PIPELINES, pipeline, "similar"), answers.Similar, _json(body))


def document(pipeline: str, id: str, **page: Unpack[Page]) -> Call[answers.StoredDocument]:
    """A document, its cluster or entity, and a page of its matches."""
    return _get(answers.StoredDocument, pipeline, "documents", id, options=page)


def cluster(pipeline: str, id: str, **page: Unpack[MemberPage]) -> Call[answers.ClusterPage]:
    """A cluster, and a page of its members."""
    return _get(answers.ClusterPage, pipeline, "clusters", id, options=page)


def clusters(pipeline: str, **chosen: Unpack[ClusterList]) -> Call[answers.Clusters]:
    """A page of clusters."""
    return _get(answers.Clusters, pipeline, "clusters", options=chosen)


def entity(pipeline: str, id: str, **page: Unpack[MemberPage]) -> Call[answers.EntityPage]:
    """An entity with its golden record, and a page of its records."""
    return _get(answers.EntityPage, pipeline, "entities", id, options=page)


def entities(pipeline: str, **chosen: Unpack[ClusterList]) -> Call[answers.Entities]:
    """A page of entities."""
    return _get(answers.Entities, pipeline, "entities", options=chosen)


def reviews(pipeline: str, **chosen: Unpack[ReviewList]) -> Call[answers.Reviews]:
    """A page of pairs of records for review."""
    return _get(answers.Reviews, pipeline, "reviews", options=chosen)


def mirrors(pipeline: str, **chosen: Unpack[MirrorList]) -> Call[answers.Mirrors]:
    """A page of sites that mirror each other."""
    return _get(answers.Mirrors, pipeline, "mirrors", options=chosen)


def dead_letters(pipeline: str, **chosen: Unpack[DeadLetterList]) -> Call[answers.DeadLetters]:
    """A page of messages that could not be used, newest first."""
    return _get(answers.DeadLetters, pipeline, "dead-letters", options=chosen)


def pair(pipeline: str, left: str, right: str, **options: Unpack[LookUp]) -> Call[answers.PairExplanation]:
    """The reason why two documents are, or are not, in the same cluster or entity."""
    return _get(answers.PairExplanation, pipeline, "pairs", left, right, options=options)


class DecisionNotes(TypedDict, total=False):
    """The author of a decision, a note, and the seconds to wait until it is in effect."""

    by: str
    note: str
    wait: float


def decide(
    pipeline: str, left: str, right: str, decision: str | None, **notes: Unpack[DecisionNotes]
) -> Call[answers.Decided]:
    """A decision on two records: `same`, `different`, or None to withdraw an earlier one."""
    wait = notes.pop("wait", 0.0)
    headers = {"Prefer": f"wait={math.ceil(wait)}"} if wait else {}  # a whole number (RFC 7240)
    body = _json({"left": left, "right": right, "decision": decision, **notes})
    return Call("POST", path_of(_PIPELINES, pipeline, "decisions"), answers.Decided, body, headers)


def _get(answer: type[T], pipeline: str, *segments: str, options: Mapping[str, Any]) -> Call[T]:
    for segment in segments:
        if not isinstance(segment, str):
            raise ConfigError(f"{segments[0]}: got the id {segment!r:.60}, expected a string")
    if "" in segments:
        raise UnknownId(f"{segments[0]}: got an empty id, which no document, cluster or entity has")
    values = {**options, "stale": "allow" if options.get("stale") else None}
    return Call("GET", path_of(_PIPELINES, pipeline, *segments, **values), answer)


def events(pipeline: str, types: Sequence[str] = (), after: str = "") -> Call[None]:
    """The changes of results, as a stream.

    Args:
        pipeline: its name.
        types: of the events, such as `matches`; all by default.
        after: the id of an event; the stream begins after it, by default now.
    """
    headers = {"Accept": "text/event-stream", **({"Last-Event-ID": after} if after else {})}
    path = path_of(_PIPELINES, pipeline, "events", types=",".join(types) or None)
    return Call("GET", path, type(None), headers=headers)


def _json(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except (TypeError, ValueError, UnicodeEncodeError) as error:
        raise ConfigError(f"got a value that JSON cannot represent ({error}), expected texts and numbers") from None
