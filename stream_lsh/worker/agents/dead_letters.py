"""Dead letters: messages that cannot be used, as they came, with the reason and the place in the source.

Data that the topic would refuse is omitted: a value that is too large, which `error` reports, and a key that is longer
than any id.  The header `key` has the first bytes of the key, `key_sha256` and `key_bytes` its hash and its length.
"""

import logging
from collections.abc import Awaitable
from hashlib import sha256
from typing import Any

from stream_lsh.errors import InputError, StreamLSHError, UnusableDocument
from stream_lsh.wire.ids import MAX_ID_BYTES
from stream_lsh.wire.origin import Origin
from stream_lsh.worker.engine import EngineApp
from stream_lsh.worker.state.pipeline_state import PipelineState

_ROOM = 4_096
"""Bytes of the headers, and of a record without key and value, at most."""
_MOST_ERROR, _MOST_KEY = 2_000, 256
"""Bytes of the headers `error` and `key`."""
_SHOWN = 300  # characters of an unexpected error, which may quote the whole value

_log = logging.getLogger(__name__)


def is_rejected(error: Exception, state: PipelineState) -> bool:
    """Whether a message whose parser or scheme raised this is dead-lettered; if not, the worker halts.

    Parsers and schemes change nothing, so an unexpected exception is a bug that concerns this message alone, and
    `on_bug` decides.  State, configuration and memory concern the worker, and so do files: parsers and schemes open
    none but those of modules that load at the first use, which fails while the worker has too many open files.
    """
    if isinstance(error, StreamLSHError | MemoryError | OSError | ImportError):
        return isinstance(error, InputError)
    return state.config.on_bug == "dead-letter"


async def dead_letter(
    app: EngineApp, state: PipelineState, record: Any, error: Exception, origin: Origin | None = None
) -> Awaitable[Any]:
    """Send a message to the dead letters and count it; a bug is logged with its traceback.

    Args:
        app: sends the message.
        state: of the pipeline.
        record: the message.
        error: the exception of the parser or the scheme.
        origin: the place of the message in the source, if the record is a copy.

    Returns:
        its delivery.

    Raises:
        Exception: `error` itself, unless `is_rejected`.
    """
    if not is_rejected(error, state):
        raise error
    place = origin or record
    if not isinstance(error, InputError):
        where = place.topic, place.partition, place.offset
        _log.error("bug: %s[%d] offset %d goes to the dead letters; please report it", *where, exc_info=error)
        error = UnusableDocument("bug", f"got {ascii(error)[:_SHOWN]}; this is a bug, please report it")
    counts = state.counts.dead_letters
    counts[error.reason] = counts.get(error.reason, 0) + 1
    key, value, long_key, note = record.key, record.value, {}, b""
    if key is not None and len(key) > MAX_ID_BYTES:
        long_key = {
            "key": key[:_MOST_KEY],
            "key_sha256": sha256(key).hexdigest().encode(),
            "key_bytes": str(len(key)).encode(),
        }
        key = None
    if value is not None and len(key or b"") + len(value) > state.max_message_bytes - _ROOM:
        note, value = b"; the value is left out here, the source has it", b""
    if key is None and value is None:
        value = b""  # the client sends nothing that has neither key nor value
    headers = {
        "error": _cut(str(error), _MOST_ERROR - len(note)) + note,
        "reason": error.reason.encode(),
        "topic": place.topic.encode(),
        "partition": str(place.partition).encode(),
        "offset": str(place.offset).encode(),
        **long_key,
    }
    return await app.produce(state.config.dead_letters_topic, key, value, headers=headers)


def _cut(text: str, most: int) -> bytes:
    """The first bytes of a text as UTF-8, cut between characters."""
    return text.encode("utf-8", "backslashreplace")[:most].decode("utf-8", "ignore").encode()
