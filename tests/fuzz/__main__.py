"""Many messages: `python -m tests.fuzz --messages 1000000 [--broker memory|embedded|real] [--kinds text ...]`.

The messages are shared out among the kinds; of kinds with decisions a fifth as many of these come on top.  Ends with 1
at the first exception that is no `InputError`, at a worker that ends, and at a message that is not accounted for.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

from stream_lsh.config.model import PipelineConfig
from tests.fuzz.kinds import KINDS, config_of
from tests.fuzz.memory import process
from tests.fuzz.messages import Message, messages
from tests.fuzz.workers import broker_of, outlive, started

_AT_ONCE = 5_000
"""Messages of one run: a worker is started for so many, and the ledger of a kind does not grow without end."""


def decisions_of(pipeline: PipelineConfig, seed: int, count: int) -> list[Message]:
    """Decisions, where a pipeline reads these."""
    return [*messages(pipeline, seed, count // 5, decisions=True)] if pipeline.known is not None else []


def run_in_memory(kind: str, seed: int, count: int) -> str:
    """One run; what became of its messages."""
    config = config_of(kind)
    pipeline = config.pipelines[0]
    return str(dict(process(config, messages(pipeline, seed, count), decisions_of(pipeline, seed, count))))


def run_on_broker(kind: str, seed: int, count: int, broker: str, address: str) -> str:
    """One run of a worker; what became of its messages."""
    with started(kind, broker, address) as (config, on_embedded):
        pipeline = config.pipelines[0]
        some = [*messages(pipeline, seed, count)]
        return str(dict(asyncio.run(outlive(config, on_embedded, some, decisions_of(pipeline, seed, count)))))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--broker", choices=("memory", "embedded", "real"), default="memory")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=[*KINDS])
    parser.add_argument("--jobs", type=int, default=1, help="processes, in memory")
    chosen = parser.parse_args(arguments)
    each = -(-chosen.messages // len(chosen.kinds))
    starts = range(0, each, _AT_ONCE)
    runs = [(kind, chosen.seed + at // _AT_ONCE, min(_AT_ONCE, each - at)) for at in starts for kind in chosen.kinds]
    began = time.monotonic()
    if chosen.broker == "memory":
        with ProcessPoolExecutor(chosen.jobs) as pool:
            futures = [pool.submit(run_in_memory, *run) for run in runs]
            for run, future in zip(runs, futures, strict=True):
                print(*run, future.result(), flush=True)
    else:
        with broker_of(chosen.broker) as address:
            for run in runs:
                print(*run, run_on_broker(*run, chosen.broker, address), flush=True)
    total = sum(count for _, _, count in runs)
    seconds = time.monotonic() - began
    print(f"{total} messages of {len(chosen.kinds)} kinds, {chosen.broker}, {seconds:.0f} s: no exception")
    return 0


if __name__ == "__main__":
    sys.exit(main())
