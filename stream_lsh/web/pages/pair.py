"""A pair: why two documents or records are, or are not, together, with both texts side by side."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from stream_lsh.controls import LONG, one_line, whole_text
from stream_lsh.web.asks import Answer, Ask
from stream_lsh.web.pages.compared_fields import compared_fields, is_in_bits
from stream_lsh.web.pages.page import Page, PipelineName
from stream_lsh.web.sections import has_clusters

_REASONS = {
    "match": "They match.",
    "chain": "They do not match each other, but other members connect them.",
    "past": "Documents that have expired connected them.",
    "absent": "The text of one of them is no longer stored.",
    "deleted": "One of them was deleted.",
    "empty": "One of them has no shingles, so it matches nothing.",
    "expired": "One of them has expired, or had expired when the other one arrived.",
    "guard": "Matches connect them, but not as closely as the guards require.",
    "unsettled": "Messages that may connect them are still being processed.",
    "apart": "Their times differ by more than the retention.",
    "sizes": "Their sizes differ by more than the measure allows.",
    "below": "Their similarity is below the threshold.",
    "estimate": "Their signatures differ too much, so their texts were not compared.",
    "no-band": "They share no band, so they were not compared.",
    "capped": "They share bands, but a cap of the pipeline omitted the pair.",
}
"""A sentence for each reason of the query API."""
_NO_PAIR = "They are neither a match nor a pair to review."


class Piece(NamedTuple):
    """A part of a text, and whether the other text lacks it."""

    text: str
    only_here: bool


def ask(pipeline: PipelineName, query: Mapping[str, str]) -> Ask | None:
    """The request for the explanation."""
    left, right = query.get("left", ""), query.get("right", "")
    return Ask(("pipelines", pipeline.name, "pairs", left, right)) if left and right else None


def further(pipeline: PipelineName, query: Mapping[str, str], answer: Answer) -> Sequence[Ask]:
    """The requests for both records; texts are in the explanation."""
    if has_clusters(pipeline):
        return ()
    ids = [side["id"] for side in answer.value["documents"]]
    return [Ask(("pipelines", pipeline.name, "documents", id), {"limit": 1}) for id in ids]


def page(pipeline: PipelineName, query: Mapping[str, str], answer: Answer, *records: Answer) -> Page:
    """The explanation."""
    found: Mapping[str, Any] = answer.value
    left, right = found["documents"]
    pair = found["pair"] or {}
    sides = [{**side, "pieces": pieces(side.get("text"), side.get("passages", ()))} for side in (left, right)]
    return Page(
        "pair",
        one_line(f"{left['id']} and {right['id']}", 80),
        {
            "found": found,
            "group": "cluster" if has_clusters(pipeline) else "entity",
            "reason": _REASONS.get(found.get("reason", ""), "" if pair or "comparison" in found else _NO_PAIR),
            "comparison": found.get("comparison"),
            "path": found.get("path") or [],
            "pair": pair,
            "bits": is_in_bits(pair),
            "rows": compared_fields(pair.get("weights", {}), [one.value if one.ok else {} for one in records]),
            "sides": sides,
            "differs": any(piece.only_here for side in sides for piece in side["pieces"]),
        },
        ask(pipeline, query),
    )


def pieces(text: str | None, passages: Sequence[Mapping[str, Any]]) -> list[Piece]:
    """A text in parts that the other one has or lacks, cut to a length that a browser lays out quickly.

    Example:
        >>> pieces("a b c", [{"start": 0, "end": 3, "shared": True}, {"start": 4, "end": 5, "shared": False}])
        [Piece(text='a b', only_here=False), Piece(text=' ', only_here=False), Piece(text='c', only_here=True)]
    """
    if not text:
        return []
    found, at = list[Piece](), 0
    for passage in passages:
        start, end = min(passage["start"], LONG), min(passage["end"], LONG)
        if at < start:
            found.append(Piece(whole_text(text[at:start]), only_here=False))
        if start < end:
            found.append(Piece(whole_text(text[start:end]), not passage["shared"]))
        at = max(at, end)
    if at < len(text):
        found.append(Piece(whole_text(text[at:], LONG - at) if at < LONG else "…", only_here=False))
    return found
