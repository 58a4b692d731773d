"""Sections of pages that were copied into other texts: which contenders find them.

A section of 20 to 50 % of a page's body is inserted into an unrelated letter, one and a half to four times as long as
the section; some of its words are replaced.  The expected result is the pair of letter and page.

Then answers of about 200 words to one question (`tests/evaluation/answers.py`): the share of each level of copying that
is reported with its source, on the threads that had no part in the choice of the defaults.

`--part excerpts` adds 500 excerpts to each corpus, passages of 50 to 90 % of one text.  It compares them by Jaccard
similarity and by containment, with the candidates that each costs.

    python -m benchmarks.documents.partial_copies --data ../shared/data
    python -m benchmarks.documents.partial_copies --data ../shared/data --part excerpts
"""

import argparse
import random
import statistics
from collections.abc import Sequence
from pathlib import Path

from stream_lsh import Document, NearDuplicates
from tests.evaluation import corpora
from tests.evaluation.answers import LEVELS, SHORT, TYPICAL, answers, questions, reported
from tests.evaluation.partial_copies import REPLACED, measured, plant

_EXCERPTS, _LEAST_WORDS = 500, 40
_TEXTS = {"newsgroups20": 3_000, "llvm_docs_pages": 600}
_MEASURES = {
    "Jaccard": ("jaccard", None),
    "containment, 1.5": ("containment", 1.5),
    "containment, 2": ("containment", 2.0),
    "containment, 4": ("containment", 4.0),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", choices=["planted", "excerpts"], default="planted")
    options = parser.parse_args()
    if options.part == "excerpts":
        _print_excerpts(options.data, options.seed)
        return
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


def _print_excerpts(data: Path, seed: int) -> None:
    for name, texts in _TEXTS.items():
        rng = random.Random(seed)
        whole = corpora.newsgroups(data) if name == "newsgroups20" else corpora.llvm_pages(data)
        long = [one for one in whole.documents if len((one.text or "").split()) >= _LEAST_WORDS]
        chosen = rng.sample(long, texts)
        excerpts = [_excerpt(one, rng) for one in rng.sample(chosen, _EXCERPTS)]
        print(f"\n{name}: {len(chosen)} texts, {len(excerpts)} excerpts")
        print("| measure | excerpts found | pairs of texts | candidates |\n|---|---|---|---|")
        for title, (measure, ratio) in _MEASURES.items():
            found, others, candidates = _found(chosen, excerpts, measure, ratio)
            print(f"| {title} | {found} | {others:,} | {candidates:,} |")


def _excerpt(document: Document, rng: random.Random) -> Document:
    words = (document.text or "").split()
    length = round(len(words) * rng.uniform(0.5, 0.9))
    start = rng.randrange(len(words) - length)
    return Document(f"{document.id} excerpt", " ".join(words[start : start + length]))


def _found(
    texts: Sequence[Document], excerpts: Sequence[Document], measure: str, ratio: float | None
) -> tuple[int, int, int]:
    """The excerpts that match their text, the pairs of two texts, and the candidates."""
    near = NearDuplicates(0.8, "word:3", measure=measure, size_ratio=ratio, max_candidates=0)
    pairs = {frozenset((one.left, one.right)) for one in near.add_many([*texts, *excerpts])}
    planted = {frozenset((one.id, one.id.removesuffix(" excerpt"))) for one in excerpts}
    between_texts = sum(not any(id.endswith(" excerpt") for id in pair) for pair in pairs)
    return len(pairs & planted), between_texts, near.counts.candidates


if __name__ == "__main__":
    main()
