"""The origin and the settings of the state of a pipeline: one record, written before all others, never again.

    format       1
    pipeline     its name
    documents    the topic that sign reads: refs are its offsets
    sources      the users' topics, each with its id in Kafka; null where the broker does not report it
    partitions   of the topic that sign reads: refs, keys and all topics depend on it
    own          the pipeline's own topics, each with its id in Kafka; absent in older ones, and where the broker does
                 not report ids
    topics       the public ones, with the results so far
    threshold    of the pairs in the ledger
    settings     of the scheme, by name
    guards       of the clusters, those that are set, by name; older ones lack it, and had none
    stories      true where clusters have stories; absent otherwise
    fingerprint  of the settings, as frames and records of changelogs carry it: sixteen hexadecimal digits

The value is one JSON object.  A later version may add fields; a change of their meaning is another format.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from stream_lsh.errors import ConfigError, DamagedBytes, FutureFormat, StateError, StreamLSHError
from stream_lsh.wire.fingerprint import Setting, differences, fingerprint

FORMAT = 1

LOST = "`A topic that was deleted or truncated` in docs/operations/errors.md"
"""The section of the manual about a topic that has lost messages."""

AGAIN = "start over under another `app_id`"
"""The advice for state that another configuration cannot use."""
_DEFAULTS: Mapping[str, Any] = {"guards": {}, "stories": False, "mirror_share": 0.0, "own": {}}


@dataclass(frozen=True, slots=True)
class Manifest:
    """The origin and the settings of the state of a pipeline."""

    pipeline: str
    documents: str
    sources: Mapping[str, str | None]
    partitions: int
    topics: Mapping[str, str]
    threshold: float
    settings: Mapping[str, Setting]
    guards: Mapping[str, Setting] = field(default_factory=dict)
    stories: bool = False
    mirror_share: float = 0.0
    own: Mapping[str, str] = field(default_factory=dict)


def encode_manifest(manifest: Manifest) -> bytes:
    """The value of the record."""
    fields = {"format": FORMAT, **asdict(manifest), "fingerprint": f"{fingerprint(manifest.settings):016x}"}
    for name in ("stories", "mirror_share", "own"):
        if not fields[name]:
            del fields[name]
    return json.dumps(fields, ensure_ascii=False).encode()


def decode_manifest(value: bytes | None, topic: str) -> Manifest:
    """The manifest in a record of `topic`.

    Raises:
        FutureFormat: a newer version wrote it -> start that one.
        DamagedBytes: it is not a manifest, or was altered -> start over.
    """
    try:
        fields: dict[str, Any] = {**_DEFAULTS, **json.loads(value or b"")}
        if fields["format"] != FORMAT:
            raise FutureFormat(
                f"{topic}: got format {fields['format']!r:.20}, expected {FORMAT}: another version of stream_lsh wrote "
                f"it; start that version, or {AGAIN}"
            )
        manifest = Manifest(**{name: fields[name] for name in Manifest.__slots__})
        for name in ("settings", "guards", "own"):
            if not isinstance(fields[name], dict):
                raise TypeError(f"`{name}` is not an object")
        if not isinstance(manifest.stories, bool):
            raise TypeError("`stories` is neither true nor false")
        if not isinstance(manifest.mirror_share, float):
            raise TypeError("`mirror_share` is not a fraction")
        if fields["fingerprint"] != f"{fingerprint(manifest.settings):016x}":
            raise ValueError("its fingerprint is not that of its settings")
    except (KeyError, TypeError, ValueError) as error:
        reason = f"it has no field {error}" if isinstance(error, KeyError) else str(error)
        raise DamagedBytes(
            f"{topic}: got a first record that is not a manifest ({reason}), expected the settings of a pipeline: "
            f"another program writes to this topic; find it, then {AGAIN}"
        ) from None
    return manifest


def disagreements(ours: Manifest, theirs: Manifest) -> list[StreamLSHError]:
    """The reasons why a worker with our settings cannot use the state of theirs; each with a remedy.

    Example:
        >>> ours = Manifest("news", "documents", {"documents": None}, 4, {}, 0.8, {"shingles": "word:3"})
        >>> theirs = Manifest("news", "documents", {"documents": "b5J"}, 4, {}, 0.7, {"shingles": "word:3"})
        >>> for found in disagreements(ours, theirs):
        ...     print(found)
        news: its state was built under other settings (threshold: ours 0.8, theirs 0.7): restore them, or start over \
under another `app_id`
    """
    name = ours.pipeline
    if ours.documents != theirs.documents:
        return [
            ConfigError(
                f"{name}: its state was built from {theirs.documents}, not from {ours.documents}: restore "
                f"`source` and `rekey`, or {AGAIN}"
            )
        ]
    errors: list[StreamLSHError] = []
    unlike = differences(_all_settings(ours), _all_settings(theirs))
    if unlike:
        problem = f"{name}: its state was built under other settings ({'; '.join(unlike)}): restore them, or {AGAIN}"
        errors.append(ConfigError(problem))
    moved = differences(ours.topics, theirs.topics)
    if moved:
        problem = f"{name}: its results were written to other topics ({'; '.join(moved)}), and new ones would be"
        errors.append(ConfigError(f"{problem} incomplete: restore the names, or {AGAIN}"))
    recreated = _recreated(ours, theirs)
    errors += recreated
    if ours.partitions != theirs.partitions and not recreated:
        problem = f"{ours.documents}: has {ours.partitions} partitions, and the state of {name} was built from"
        errors.append(ConfigError(f"{problem} {theirs.partitions}; keys have moved between them: {AGAIN}"))
    return errors


def _all_settings(manifest: Manifest) -> dict[str, Setting]:
    guards = {f"guards.{name}": value for name, value in manifest.guards.items()}
    stories = {"stories": True} if manifest.stories else {}
    mirrors = {"mirror_share": manifest.mirror_share} if manifest.mirror_share else {}
    return {**manifest.settings, "threshold": manifest.threshold, **guards, **stories, **mirrors}


def _recreated(ours: Manifest, theirs: Manifest) -> list[StreamLSHError]:
    """Topics that were deleted and recreated; one whose id is not known is not judged."""
    recreated: list[StreamLSHError] = [
        StateError(
            f"{topic}: was deleted and recreated: its id is {ours.own[topic]}, expected {before}: its messages "
            f"are lost, and new ones reuse the offsets that the state of {ours.pipeline} refers to; see {LOST}"
        )
        for topic, before in theirs.own.items()
        if ours.own.get(topic, before) != before
    ]
    return recreated + [
        StateError(
            f"{source}: was deleted and recreated: its id is {ours.sources[source]}, and the state of "
            f"{ours.pipeline} was built from {before}, whose offsets are reused: {AGAIN}"
        )
        for source, before in theirs.sources.items()
        if before is not None and ours.sources.get(source) not in (None, before)
    ]
