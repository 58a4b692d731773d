"""Many messages: `python -m tests.fuzz --messages 1000000 [--broker memory|embedded|real] [--kinds text ...]`.

With `--requests 100000`, hostile requests to the query API of a worker in place of messages.

The messages are shared out among the kinds; of kinds with decisions a fifth as many of these come on top.  On a broker
one worker has a pipeline of each kind.  Ends with 1 at the first exception that is no `InputError`, at a worker that
ends, and at a message that is not accounted for.
"""

import argparse
import asyncio
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor

from stream_lsh.config.model import PipelineConfig
from tests.fuzz.kinds import KINDS, config_of
from tests.fuzz.memory import process
from tests.fuzz.messages import Message, messages
from tests.fuzz.requests import bombard
from tests.fuzz.workers import broker_of, outlive, started

_AT_ONCE = 5_000
"""Messages of a kind in one run: a worker is started for each run, so no ledger grows without end."""

Found = Mapping[str, Counter[str]]
"""The outcomes of messages, by pipeline."""


def decisions_of(pipeline: PipelineConfig, seed: int, count: int) -> list[Message]:
    """Decisions, where a pipeline reads these."""
    return [*messages(pipeline, seed, count // 5, decisions=True)] if pipeline.kind.takes_decisions else []


def run_in_memory(kind: str, seed: int, count: int) -> Found:
    """One run; what became of its messages."""
    config = config_of(kind)
    pipeline = config.pipelines[0]
    return {kind: process(config, messages(pipeline, seed, count), decisions_of(pipeline, seed, count))}


def run_on_broker(kinds: Sequence[str], seed: int, count: int, broker: str, address: str) -> Found:
    """One run of a worker with a pipeline of each kind; what became of their messages."""
    with started(kinds, broker, address) as (config, on_embedded):
        sent: dict[str, list[Message]] = {}
        for kind, pipeline in zip(kinds, config.pipelines, strict=True):
            source = config_of(kind).pipelines[0]  # equal messages in memory and on brokers
            sent[pipeline.source] = [*messages(source, seed, count)]
            sent[pipeline.decisions_topic] = decisions_of(source, seed, count)
        return asyncio.run(outlive(config, on_embedded, {topic: some for topic, some in sent.items() if some}))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--broker", choices=("memory", "embedded", "real"), default="memory")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=[*KINDS])
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--requests", type=int, default=0, help="to the query API of a worker, in place of messages")
    chosen = parser.parse_args(arguments)
    if chosen.requests:
        print(dict(bombard(chosen.requests, chosen.seed)))
        return 0
    each = -(-chosen.messages // len(chosen.kinds))
    rounds = [(chosen.seed + at // _AT_ONCE, min(_AT_ONCE, each - at)) for at in range(0, each, _AT_ONCE)]
    began = time.monotonic()
    with broker_of(chosen.broker) as address, ProcessPoolExecutor(chosen.jobs) as pool:
        if chosen.broker == "memory":
            futures = [(one, pool.submit(run_in_memory, kind, *one)) for one in rounds for kind in chosen.kinds]
        else:
            on = chosen.broker, address
            futures = [(one, pool.submit(run_on_broker, chosen.kinds, *one, *on)) for one in rounds]
        for (seed, count), future in futures:
            for name, found in future.result().items():
                print(name, seed, count, dict(found), flush=True)
    total = sum(count for _, count in rounds) * len(chosen.kinds)
    seconds = time.monotonic() - began
    print(f"{total} messages of {len(chosen.kinds)} kinds, {chosen.broker}, {seconds:.0f} s: no exception")
    return 0


if __name__ == "__main__":
    sys.exit(main())
