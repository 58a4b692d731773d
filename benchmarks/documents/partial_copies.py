"""Sections of pages that were copied into other texts: which contenders find them.

A section of 20 to 50 % of a page's body is inserted into an unrelated letter, one and a half to four times as long as
the section; some of its words are replaced.  The expected result is the pair of letter and page.

Then answers of about 200 words to one question (`tests/evaluation/answers.py`): the share of each level of copying that
is reported with its source, on the threads that had no part in the choice of the defaults.

    python -m benchmarks.documents.partial_copies --data ../shared/data
"""

import argparse
import random
import statistics
from pathlib import Path

from tests.evaluation.answers import LEVELS, SHORT, TYPICAL, answers, questions, reported
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
    _print_answers(options.data, options.seed)


def _print_answers(data: Path, seed: int) -> None:
    asked = questions(data, part=1)
    print(f"\nanswers to {len(asked)} questions\n| bounds | words | {' | '.join(LEVELS)} |")
    print(f"|---|---|{'---|' * len(LEVELS)}")
    earlier = {"least_share": 0.2, "least_shared": 20}
    for lengths in (TYPICAL, SHORT):
        given = [answers(asked, random.Random(seed + number), lengths) for number in range(4)]
        for name, bounds in (("0.2, 20", earlier), ("default", {})):
            found = [reported(asked, one, bounds) for one in given]
            shares = [f"{statistics.mean(one[level] for one in found):.1%}" for level in LEVELS]
            print(f"| {name} | {lengths[0]} to {lengths[1]} | {' | '.join(shares)} |")


if __name__ == "__main__":
    main()
