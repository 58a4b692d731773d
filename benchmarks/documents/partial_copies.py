"""Sections of pages that were copied into other texts: which contenders find them.

A section of 20 to 50 % of a page's body is inserted into an unrelated letter, one and a half to four times as long as
the section; some of its words are replaced.  The expected result is the pair of letter and page.

    python -m benchmarks.documents.partial_copies --data ../shared/data
"""

import argparse
import random
import statistics
from pathlib import Path

from tests.evaluation.partial_copies import REPLACED, measured, plant


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for replaced in REPLACED:
        planted = plant(options.data, replaced, random.Random(options.seed))
        words = statistics.median(len((one.text or "").split()) for one in planted.letters)
        print(f"\n{len(planted.pages)} pages, {len(planted.letters)} letters of {words:.0f} words (median); "
              f"{replaced:.0%} of the words of a section replaced")  # fmt: skip
        print("| way | planted pairs found | other pairs with a letter |\n|---|---|---|")
        for name, found, others in measured(planted):
            print(f"| {name} | {found} of {len(planted.letters)} | {others} |")


if __name__ == "__main__":
    main()
