"""Duplicate code in the standard library of the running Python, with copies planted in it: found, and found rightly.

A copy is a function of the library, renamed from head to foot (its name, arguments and variables), without comments, in
another layout, with other literals; in the edited ones some of the statements are gone or new.  A pair that is found is
right if it was planted, or if an oracle that shares no code with the package calls the two alike: tokens of Python's
own tokeniser, names and literals by their class, at least `ALIKE` in common by difflib.

    python -m benchmarks.documents.duplicate_code
"""

import argparse
import random

from tests.evaluation.duplicate_code import library, measured, plant


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", type=int, help="number of random files of the library (default: all)")
    options = parser.parse_args()
    sources = library(options.files, random.Random(options.seed))
    print(f"{len(sources):,} files, {sum(map(len, sources.values())) / 1e6:.1f} million characters")
    print("| statements changed | planted copies found | pairs reported | right | s |\n|---|---|---|---|---|")
    for edits in (0.0, 0.05, 0.1):
        planted = plant(sources, random.Random(options.seed), edits)
        quality = measured(planted)
        print(
            f"| {edits:.0%} | {quality.found} of {quality.planted}, {quality.found / quality.planted:.3f} "
            f"| {quality.reported:,} | {quality.right / quality.reported:.4f} | {quality.seconds:.0f} |"
        )


if __name__ == "__main__":
    main()
