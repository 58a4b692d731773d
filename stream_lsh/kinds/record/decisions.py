"""Decisions about pairs of records: the messages of the topic `decisions`.

    key                   value                                             meaning
    ["left","right"]      {"decision": "same" or "different", ...}          the records are, or never are, one entity
    as compact JSON       null, or {"decision": null}                       the decision is withdrawn

The key is that of the topics `matches` and `reviews`, in either order.  The topic has one partition: with several, the
two orders of a key could be in different ones, and the latest decision about a pair would be unknown.  Other fields of
the value are for people.
"""

import json
from typing import Any

from stream_lsh.errors import MalformedMessage
from stream_lsh.ledger.decisions import DIFFERENT, SAME, Decision
from stream_lsh.wire.ids import checked_id


def parse_decision(key: bytes | None, value: bytes | None, ref: int) -> Decision:
    """The decision in a message.

    Args:
        key: of the message.
        value: of the message.
        ref: its offset in the topic: the latest decision about two records counts.

    Raises:
        MalformedMessage: key or value cannot be read (key, json, decision) -> dead-letter it.
        UnusableDocument: an id that is not a valid id.

    Example:
        >>> parse_decision(b'["b","a"]', b'{"decision": "same", "by": "ann"}', 7)
        Decision(left='a', right='b', verdict='same', ref=7)
        >>> parse_decision(b'["a","b"]', None, 8).verdict is None
        True
    """
    left, right = sorted(map(checked_id, _pair(key)))
    if left == right:
        raise MalformedMessage("key", f"got the id {ascii(left)[:60]} twice, expected two records")
    verdict = None if value is None else _verdict(value)
    return Decision(left, right, verdict, ref)


def _pair(key: bytes | None) -> tuple[str, str]:
    ids = _json(key or b"null", "key")
    if isinstance(ids, list) and len(ids) == 2 and all(isinstance(id, str) for id in ids):
        return ids[0], ids[1]
    raise MalformedMessage("key", 'got a key that is not two ids, expected JSON such as ["a","b"], as `reviews` has it')


def _verdict(value: bytes) -> str | None:
    fields = _json(value, "json")
    if not isinstance(fields, dict) or "decision" not in fields:
        raise MalformedMessage("decision", f'got no object with "decision", expected "{SAME}" or "{DIFFERENT}" in it')
    verdict = fields["decision"]
    if verdict is None or verdict in (SAME, DIFFERENT):
        return None if verdict is None else str(verdict)
    raise MalformedMessage("decision", f'got {ascii(verdict)[:60]}, expected "{SAME}", "{DIFFERENT}" or null')


def _json(data: bytes, reason: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise MalformedMessage(reason, f"got bytes that are not JSON ({error}), expected JSON in UTF-8") from None
