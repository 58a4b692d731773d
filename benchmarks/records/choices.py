"""Constants of learning, judged on sets that did not choose them: `python -m benchmarks.records.choices --data DIR`.

Every constant is tried with other values.  For each set, the value with the greatest mean F1 on all other sets
is chosen, and the F1 of the set under that value is printed beside the one under the value of the package.  If the two
are alike for all sets, the value of the package owes nothing to the set.  Of equally good values that of the package is
chosen.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

from stream_lsh.ledger.clusters.guards import mean
from stream_lsh.records.train import discount, expectation, threshold
from tests.evaluation.linking import groups_of, linked, measured_within, profile_for
from tests.evaluation.record_corpora import CORPORA, Corpus

SETS = ("leipzig_abt_buy", "cora", "rldata10000", "splink_fake_1000", "leipzig_dblp_acm", "febrl1")
CHOICES: Mapping[tuple[ModuleType, str], Sequence[float]] = {
    (discount, "CORRELATION"): (0.0, 0.1, 0.5),
    (mean, "_ABSENT"): (-2.0, -1.0, 0.0),
    (threshold, "MOST_IMPLIED"): (1.2, 2.0, 4.0),
    (threshold, "MOST_DIVIDED"): (300.0, 3000.0),
    (expectation, "BEFORE"): (5.0, 80.0),
}
"""The constants, with other values than their own."""


def f1(corpus: Corpus, kind: str) -> float:
    """F1 within entities of a set, as it comes."""
    return measured_within(groups_of(linked(profile_for(corpus, kind), corpus.records)), corpus.truth)["f1"]


def _best_for_others(at: Mapping[float, Mapping[str, float]], left_out: str) -> float:
    """The value with the greatest sum of F1 on all sets but one."""
    return max(at, key=lambda value: sum(each for name, each in at[value].items() if name != left_out))


def main(argv: Sequence[str]) -> int:
    """Measure and print; with --out also write the figures as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.records.choices", description="Constants across sets.")
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--out", type=Path, help="file for the figures")
    parser.add_argument("--only", nargs="*", choices=SETS, default=SETS, help="these sets")
    options = parser.parse_args(argv)
    corpora = {name: (CORPORA[name][0](options.data), CORPORA[name][1]) for name in options.only}
    own = {name: f1(*corpus) for name, corpus in corpora.items()}
    print("as it is      " + "".join(f"{name:>18} {own[name]:.4f}" for name in own), flush=True)
    result: dict[str, object] = {"own": own}
    for (module, constant), others in CHOICES.items():
        value = getattr(module, constant)
        at = {value: own}
        for other in others:
            setattr(module, constant, other)
            at[other] = {name: f1(*corpus) for name, corpus in corpora.items()}
            print(f"{constant} {other:g}: " + " ".join(f"{name} {at[other][name]:.4f}" for name in own), flush=True)
        setattr(module, constant, value)
        chosen = {name: _best_for_others(at, name) for name in own}
        result[constant] = {
            "value": value,
            "f1": {f"{one:g}": each for one, each in at.items()},
            "chosen_by_others": chosen,
            "f1_of_chosen": {name: at[chosen[name]][name] for name in own},
        }
        print(f"{constant}, chosen by the others: " + " ".join(f"{name} {chosen[name]:g}" for name in own), flush=True)
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
