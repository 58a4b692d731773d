"""The latest events of a cluster or entity, in words."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from stream_lsh.settings.units import counted

_MOST_NAMED = 10
"""The merged clusters that an event names."""


class Event(NamedTuple):
    """An event: its time, its description, and the clusters that it names."""

    time: int
    text: str
    named: Sequence[str] = ()


def events_of(history: Mapping[str, Any], member: str) -> list[Event]:
    """The events, newest first.

    Args:
        history: as in the answer.
        member: the word for a member.

    Example:
        >>> events_of({"events": [{"time": 7, "event": "joined", "size": 5, "changes": 2}]}, "document")
        [Event(time=7, text='2 documents joined: 5 documents', named=())]
    """
    return [_event(one, member) for one in history["events"]]


def _event(event: Mapping[str, Any], member: str) -> Event:
    time, size, changes = event["time"], counted(event["size"], member), event["changes"]
    named: Iterable[str] = event.get("merged_from") or ([event["split_from"]] if event.get("split_from") else [])
    shown = tuple(named)[:_MOST_NAMED]
    texts = {
        "created": f"created: {size}",
        "joined": f"{counted(changes, member) if changes > 1 else f'a {member}'} joined: {size}",
        "merged": f"merged: {size}, including those of",
        "split": f"split off: {size}, from" if shown else f"other {member}s were split off: {size} remain",
        "left": f"{member}s left: {size} remain",
        "changed": f"a {member} changed: {size}",
    }
    return Event(time, texts[event["event"]], shown)
