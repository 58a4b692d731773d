"""Excerpts planted among real texts: containment finds them as often as promised, and nothing else."""

import math
import random
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import pytest

from stream_lsh import Document
from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.measure.catalog import JACCARD, Measure
from stream_lsh.measure.containment import Containment
from stream_lsh.pipeline.local import LocalPipeline
from tests.corpora.documents import sample
from tests.evaluation.oracles import containment, word_windows
from tests.streamed import UNCAPPED

pytestmark = pytest.mark.corpus

RATIO, THRESHOLD = 2.0, 0.8
WORDS = 40
"""Fewer are no text to cut something out of."""


def excerpt(text: str, rng: random.Random) -> str:
    """A passage of half of a text to three quarters of it, between words of the text in any order."""
    words = text.split()
    length = round(len(words) * rng.uniform(0.5, 0.75))
    start = rng.randrange(len(words) - length)
    frame = rng.sample(words, rng.randrange(1, length // 6))
    return " ".join([*frame, *words[start : start + length]])


def true_pairs(texts: dict[str, str]) -> dict[tuple[str, str], tuple[float, int, int]]:
    """All pairs by Python sets: the containment, and how many shingles each has; by posting lists, as few share any."""
    sets = {id: frozenset(word_windows(text, 3)) for id, text in texts.items()}
    holders = defaultdict(list)
    for id in sorted(sets):
        for shingle in sets[id]:
            holders[shingle].append(id)
    sharing = Counter(pair for ids in holders.values() for pair in combinations(ids, 2))
    found = {pair: containment(sets[pair[0]], sets[pair[1]], RATIO) for pair in sharing}
    return {
        (left, right): (similarity, len(sets[left]), len(sets[right]))
        for (left, right), similarity in found.items()
        if similarity >= THRESHOLD
    }


def pairs_found(documents: list[Document], measure: Measure) -> dict[tuple[str, str], tuple[float, int, int]]:
    pipeline = LocalPipeline(TextScheme(THRESHOLD, measure=measure), THRESHOLD, UNCAPPED)
    for start in range(0, len(documents), 50):
        pipeline.process(documents[start : start + 50])
    pairs = pipeline.settler.ledger.snapshot().pairs
    return {(pair.left, pair.right): (pair.similarity, pair.left_shingles, pair.right_shingles) for pair in pairs}


def most_misses(trials: int, chance: float, doubt: float = 1e-6) -> int:
    """The number of misses that is exceeded with a probability of at most `doubt`."""
    beyond = 1.0
    for missed in range(trials):
        beyond -= math.comb(trials, missed) * chance**missed * (1 - chance) ** (trials - missed)
        if beyond < doubt:
            return missed
    return trials


def test_excerpts_are_found_with_the_recall_that_was_asked_for_and_exactly(data_dir: Path, seed: int) -> None:
    rng = random.Random(seed)
    originals = [one for one in sample(data_dir, "newsgroups20", 400, rng) if len((one.text or "").split()) >= WORDS]
    documents = [*originals, *(Document(f"{one.id} excerpt", excerpt(one.text or "", rng)) for one in originals)]
    rng.shuffle(documents)
    wanted = true_pairs({one.id: one.text or "" for one in documents})
    planted = wanted.keys() & {(one.id, f"{one.id} excerpt") for one in originals}
    assert len(planted) >= 100

    found = pairs_found(documents, Containment(RATIO))
    assert found.items() <= wanted.items(), "each is true, to the last digit, and with the sizes of its sets"
    # Missed by the bands 0.01, where the slots do not suffice 0.001, by the estimate 0.0001; pairs of other texts are
    # no independent trials.
    assert len(planted - found.keys()) <= most_misses(len(planted), 0.0111)
    assert len(planted & pairs_found(documents, JACCARD).keys()) < 0.05 * len(planted)
