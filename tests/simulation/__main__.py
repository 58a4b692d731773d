"""Many schedules, or one: `python -m tests.simulation --seeds 12000`.

--seeds N --start S --jobs J    run seeds S to S + N - 1 and print those that break an invariant; exit 1 if any does
--seed S                        run one seed and print its setup, regime, source and violations
--records                       seeds of schedules with records: those from RECORDS_FROM + S on
--sets                          seeds of schedules with the scheme of sets: those from SETS_FROM + S on
--exact                         seeds of schedules with the method `exact`: those from EXACT_FROM + S on
--rekey                         seeds of schedules with an intake: those from REKEY_FROM + S on
--groups                        seeds of schedules in which Kafka forgets the group: those from GROUPS_FROM + S on
--losses                        seeds of schedules in which a topic loses messages: those from LOSSES_FROM + S on
--disks                         seeds of schedules with copies on disk: those from DISKS_FROM + S on
--rule NAME                     remove a rule (see `rules`) and print the seeds that detect it
"""

import argparse
import multiprocessing
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from unittest.mock import patch

from stream_lsh.errors import StreamLSHError
from tests.simulation.oracles.invariants import violations
from tests.simulation.pipelines.entities import RECORDS_FROM
from tests.simulation.pipelines.intake import REKEY_FROM
from tests.simulation.pipelines.items import SETS_FROM
from tests.simulation.rules import RULES, taken_out
from tests.simulation.schedules.losses import LossyRun
from tests.simulation.schedules.regime import DISKS_FROM, EXACT_FROM, GROUPS_FROM, LOSSES_FROM
from tests.simulation.schedules.schedule import Run


class BrokenMutant(Exception):
    """The replacement of a rule raised an error that is not of the package: it proves nothing about the rule."""


def run(seed: int, rule: str | None = None) -> tuple[int, list[str]]:
    """A seed and its violations, without one rule or with all of them.

    Raises:
        BrokenMutant: the replacement does not fit its caller -> repair it in `rules`.
    """
    if rule is None:
        return seed, _violations(seed)
    with taken_out(rule) as rules_out:
        try:
            return seed, _violations(seed, rules_out)
        except (StreamLSHError, AssertionError) as error:
            return seed, [f"{type(error).__name__}: {error}"]
        except Exception as error:
            raise BrokenMutant(f"{rule}, seed {seed}: {type(error).__name__}: {error}") from error


def _violations(seed: int, rules_out: frozenset[str] = frozenset()) -> list[str]:
    with slices_of_one_call():
        schedule = new_run(seed, rules_out)
        schedule.go()
        return found_in(schedule)


def new_run(seed: int, rules_out: frozenset[str] = frozenset()) -> Run:
    """The schedule of a seed."""
    return LossyRun(seed, rules_out) if LOSSES_FROM <= seed < DISKS_FROM else Run(seed, rules_out)


def found_in(schedule: Run) -> list[str]:
    """The violations of a finished schedule: none if a worker has ended as it must."""
    if not isinstance(schedule, LossyRun):
        return violations(schedule)
    return [] if schedule.ended_by is not None else [*schedule.silence(), *violations(schedule)]


@contextmanager
def slices_of_one_call() -> Iterator[None]:
    """Band-bucket tables are copied in the smallest slices."""
    with (
        patch("stream_lsh.index.segment.BORDER", 1),
        patch("stream_lsh.index.incremental_snapshot._LEAST_DOCUMENTS", 1),
    ):
        yield


def show(seed: int) -> int:
    """Print everything about one seed."""
    with slices_of_one_call():
        return _show(new_run(seed))


def _show(schedule: Run) -> int:
    print(schedule.setup, schedule.regime, sep="\n")
    schedule.go()
    for partition in schedule.broker.partitions("source"):
        for message in schedule.broker.read("source", partition):
            print(f"source {partition}:{message.offset} {message.value}")
    for partition in schedule.broker.partitions("intake"):
        for message in schedule.broker.read("intake", partition):
            print(f"intake {partition}:{message.offset} {message.value}")
    if isinstance(schedule, LossyRun):
        print(schedule.loss, schedule.ended_by, sep="\n")
    found = found_in(schedule)
    print("\n".join(found) or "no violation")
    return 1 if found else 0


def main(argv: Sequence[str]) -> int:
    """The command; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description="Random schedules of the protocol.")
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--records", action="store_true")
    parser.add_argument("--sets", action="store_true")
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--rekey", action="store_true")
    parser.add_argument("--groups", action="store_true")
    parser.add_argument("--losses", action="store_true")
    parser.add_argument("--disks", action="store_true")
    parser.add_argument("--rule", choices=sorted(RULES))
    options = parser.parse_args(argv)
    if options.seed is not None:
        return show(options.seed)
    began, failed = time.monotonic(), []
    of = {"records": RECORDS_FROM, "sets": SETS_FROM, "exact": EXACT_FROM, "rekey": REKEY_FROM, "groups": GROUPS_FROM}
    of |= {"losses": LOSSES_FROM, "disks": DISKS_FROM}
    start = options.start + sum(first for kind, first in of.items() if getattr(options, kind))
    seeds = range(start, start + options.seeds)
    with multiprocessing.Pool(options.jobs) as pool:
        for done, (seed, found) in enumerate(pool.imap_unordered(partial(run, rule=options.rule), seeds, 8), 1):
            if found:
                failed.append(seed)
                print(f"seed {seed}: {len(found)} violations, the first: {found[0][:400]}", flush=True)
            if done % 1000 == 0:
                print(f"{done} of {len(seeds)} schedules, {time.monotonic() - began:.0f} s", flush=True)
    print(f"{len(seeds)} schedules from seed {start} on, {len(failed)} with violations: {sorted(failed)}")
    return 1 if failed and options.rule is None else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
