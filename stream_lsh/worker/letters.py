"""Dead letters: messages that cannot be used, as they came, with the reason and the place in the source."""

from collections.abc import Awaitable
from typing import Any

from stream_lsh.errors import InputError
from stream_lsh.wire.origin import Origin
from stream_lsh.worker.engine import EngineApp
from stream_lsh.worker.state import PipelineState

_ROOM = 4_096  # beside key and value


async def dead_letter(
    app: EngineApp, state: PipelineState, record: Any, error: InputError, origin: Origin | None = None
) -> Awaitable[Any]:
    """Put a message aside and count it.

    Args:
        app: sends it.
        state: of the pipeline.
        record: the message.
        error: why.
        origin: where the source has it, if the record is a copy.

    Returns:
        its delivery.
    """
    counts = state.counts.dead_letters
    counts[error.reason] = counts.get(error.reason, 0) + 1
    said, value = str(error), record.value
    largest = state.config.max_message_bytes - _ROOM
    if value is not None and len(record.key or b"") + len(value) > largest:
        said, value = f"{said}; the value is left out here, the source has it", b""
    if record.key is None and value is None:
        value = b""  # the client sends nothing that has neither key nor value
    place = origin or record
    headers = {
        "error": said.encode("utf-8", "backslashreplace"),
        "reason": error.reason.encode(),
        "topic": place.topic.encode(),
        "partition": str(place.partition).encode(),
        "offset": str(place.offset).encode(),
    }
    return await app.produce(state.config.dead_letters_topic, record.key, value, headers=headers)
