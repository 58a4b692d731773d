"""`POST /v1/pipelines/{pipeline}/decisions`: a decision on two records, sent to the topic of decisions.

With `Prefer: wait=SECONDS` the answer waits until the ledger has the decision, or a later one on the same records.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]
from aiokafka.errors import KafkaError, MessageSizeTooLargeError  # type: ignore[import-untyped]

from stream_lsh.errors import InputError
from stream_lsh.ledger.decisions import DIFFERENT, SAME
from stream_lsh.model import make_ref
from stream_lsh.wire.ids import checked_id
from stream_lsh.wire.message import object_of
from stream_lsh.wire.public import as_json
from stream_lsh.worker.query.distributed.peers import Asked
from stream_lsh.worker.query.distributed.steps import Part, Step, Steps
from stream_lsh.worker.query.http.problems import Problem
from stream_lsh.worker.query.http.server import Answer, Handler, Request
from stream_lsh.worker.query.resources.resource import Context, Resource
from stream_lsh.worker.security import client_security
from stream_lsh.worker.state.pipeline_state import PipelineState

_MEMBERS = ("left", "right", "decision", "by", "note")
_MOST_TEXT = 4_096
"""Characters of `by` and of `note`."""
_LOOK_SECONDS = 0.05
_ROOM_MS = 200
"""The part of a request's time that is left for its answer."""


class DecisionRequests(Resource):
    """Sends decisions."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._producer: Any = None
        self._starting = asyncio.Lock()

    def handlers(self) -> Mapping[str, Handler]:
        """The only one."""
        return {"decide": self.decide}

    def steps(self) -> Steps:
        """Whether the ledger has a decision."""
        return {"decision-ref": Step("ledger", self._decision_ref)}

    async def stop(self) -> None:
        """Close the connections to the brokers."""
        producer, self._producer = self._producer, None
        if producer is not None:
            await producer.stop()

    async def decide(self, request: Request) -> Answer:
        """Send a decision; 202, or 200 if the ledger has it."""
        state = self.context.pipeline(request)
        if not state.config.kind.takes_decisions:
            raise Problem(
                "wrong-kind", f"{state.config.name} accepts no decisions: its kind is {state.config.kind.name}"
            )
        wait = _wait_seconds(request.headers.get("Prefer", ""))
        left, right, message = _decision(request.body)
        sent = await self._send(state, as_json((left, right)), as_json(message))
        value = {"left": left, "right": right, "decision": message["decision"], "offset": sent.offset}
        ref = make_ref(sent.partition, sent.offset)
        if wait and await self._is_in_effect(state, request, (left, right), ref, wait):
            return Answer({**value, "in_effect": True})
        return Answer({**value, "in_effect": False}, status=202)

    async def _send(self, state: PipelineState, key: bytes, value: bytes) -> Any:
        try:
            producer = await self._started()
            return await (await producer.send(state.config.decisions_topic, value, key=key))
        except MessageSizeTooLargeError:
            raise Problem("too-large", "got a decision that is too large for the topic: shorten `note`") from None
        except KafkaError as error:
            raise Problem("not-now", f"the brokers did not accept the decision ({type(error).__name__})") from None

    async def _started(self) -> Any:
        async with self._starting:
            if self._producer is None:
                kafka = self.context.config.kafka
                producer = AIOKafkaProducer(bootstrap_servers=list(kafka.brokers), **client_security(kafka))
                try:
                    await producer.start()
                except BaseException:
                    await producer.stop()
                    raise
                self._producer = producer
            return self._producer

    async def _is_in_effect(
        self, state: PipelineState, request: Request, ids: tuple[str, str], ref: int, seconds: float
    ) -> bool:
        clock = asyncio.get_running_loop().time
        end = clock() + min(seconds, max(0, request.left_ms - _ROOM_MS) / 1_000)
        body = as_json(ids)
        asked = Asked(state, "decision-ref", (0,), lambda partitions: body, request)
        while clock() < end:
            try:
                gathered = await self.context.peers.gather(asked)
                if all(int(newest) >= ref for _, newest in gathered.answers):
                    return True
            except Problem:  # the decision is stored, even if the ledger does not answer
                pass
            await asyncio.sleep(_LOOK_SECONDS)
        return False

    # -- the process that has the ledger

    async def _decision_ref(self, part: Part) -> bytes:
        """The ref of the newest decision on two records, -1 for none."""
        (state,) = part.states().values()
        left, right = json.loads(part.body)
        decision = state.settler.ledger.decisions.of.get((left, right))
        return b"-1" if decision is None else b"%d" % decision.ref


def _decision(body: bytes) -> tuple[str, str, dict[str, Any]]:
    """The two ids in order and the value of the message; raises Problem."""
    try:
        found = object_of(body, "a decision", "a JSON object with `left`, `right` and `decision`")
        if other := [name for name in found if name not in _MEMBERS]:
            raise Problem("malformed", f"got the member {other[0]!a:.60}, expected {', '.join(_MEMBERS)}")
        if absent := [name for name in _MEMBERS[:3] if name not in found]:
            raise Problem("malformed", f"got no `{absent[0]}`, expected one")
        left, right = sorted(checked_id(_text(found, name)) for name in ("left", "right"))
    except InputError as error:
        raise Problem("malformed", str(error)) from None
    if left == right:
        raise Problem("malformed", "got one id twice, expected two records")
    verdict = found["decision"]
    if verdict is not None and verdict not in (SAME, DIFFERENT):
        raise Problem("malformed", f'decision: got {verdict!a:.60}, expected "{SAME}", "{DIFFERENT}" or null')
    notes = {name: _text(found, name) for name in ("by", "note") if found.get(name) is not None}
    if any(len(text) > _MOST_TEXT for text in notes.values()):
        raise Problem("malformed", f"got a longer text, expected `by` and `note` of at most {_MOST_TEXT} characters")
    return left, right, {"decision": verdict, **notes}


def _text(found: Mapping[str, Any], name: str) -> str:
    text = found[name]
    if not isinstance(text, str):
        raise Problem("malformed", f"{name}: got {text!a:.60}, expected a string")
    return text


def _wait_seconds(prefer: str) -> float:
    """The seconds of `wait` in the header `Prefer`, 0 if there is none; other preferences are ignored."""
    for preference in prefer.split(","):
        name, _, value = preference.strip().partition("=")
        seconds = value.partition(";")[0].strip()
        if name.strip().lower() == "wait" and seconds.isascii() and seconds.isdecimal() and len(seconds) < 6:
            return float(seconds)
    return 0.0
