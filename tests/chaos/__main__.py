"""Runs with faults: `python -m tests.chaos --seed 7 --documents 40000`.

--profile NAME      input and pipelines; the first profile without it, `all` for each in turn
--seed N            decides the documents' edits and every fault; printed if it was not given
--runs N            number of runs, with the seeds from `--seed` on
--documents N       number of documents, beside updates and deletes
--minutes M         duration of the input and of the faults
--only KIND ...     these kinds of faults only
--down SECONDS      how long all brokers are down at once
--keep              keep the logs of runs in which nothing was wrong, too

Exit code 1 if anything was wrong in any run.
"""

import argparse
import asyncio
import functools
import os
import random
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from tests.chaos.faults import FAULTS
from tests.chaos.profiles import PROFILES
from tests.chaos.run import Settings, remove, run


def main(argv: Sequence[str]) -> int:
    """The command; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description="Faults on three real brokers.")
    parser.add_argument("--profile", choices=[*PROFILES, "all"], default="texts")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--documents", type=int, default=40_000)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--only", nargs="+", choices=[fault.kind for fault in FAULTS], metavar="KIND")
    parser.add_argument("--down", type=float, default=60.0)
    parser.add_argument("--keep", action="store_true")
    default = os.environ.get("STREAM_LSH_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    parser.add_argument("--data", type=Path, default=default)
    options = parser.parse_args(argv)
    first = random.SystemRandom().randrange(1_000_000) if options.seed is None else options.seed
    unclean = list[tuple[str, int]]()
    profiles = list(PROFILES) if options.profile == "all" else [options.profile]
    for seed, profile in product(range(first, first + options.runs), profiles):
        settings = Settings(
            seed=seed,
            profile=profile,
            documents=options.documents,
            seconds=60 * options.minutes,
            data_dir=options.data,
            faults=[fault for fault in FAULTS if not options.only or fault.kind in options.only],
            down_s=options.down,
        )
        outcome = asyncio.run(run(settings, functools.partial(print, flush=True)))
        if not outcome.is_clean:
            unclean.append((profile, seed))
        elif not options.keep:
            remove(outcome)
    print(f"{options.runs} runs of {', '.join(profiles)} from seed {first} on, {len(unclean)} with faults: {unclean}")
    return 1 if unclean else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
