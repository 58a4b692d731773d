"""The advisor for k on mails: its advice for one half agrees with measurements on pairs of the other."""

import math
import random
from pathlib import Path

import numpy as np
import pytest

from stream_lsh.measure.jaccard import sorted_unique
from stream_lsh.text.advice import accidental_shares, advise
from stream_lsh.text.catalog import shingler
from tests.corpora.documents import sample

pytestmark = pytest.mark.corpus

HALF = 200


@pytest.fixture(scope="module")
def halves(data_dir: Path) -> tuple[dict[str, str], dict[str, str]]:
    rng = random.Random(20)
    documents = sample(data_dir, "newsgroups20", 2 * HALF, rng)
    rng.shuffle(documents)
    both = [{one.id: one.text or "" for one in part} for part in (documents[:HALF], documents[HALF:])]
    return both[0], both[1]


def measured(documents: dict[str, str], spec: str) -> tuple[float, float]:
    """The mean share of the shingles of a document that one of another newsgroup has, and its standard error."""
    made = shingler(spec)
    sets = {id: sorted_unique(made([text]).hashes) for id, text in documents.items()}
    sets = {id: one for id, one in sets.items() if one.size}
    shares = np.full((len(sets), len(sets)), np.nan)
    for i, (left, one) in enumerate(sets.items()):
        for j, (right, other) in enumerate(sets.items()):
            if left.split("/")[0] != right.split("/")[0]:
                shares[i, j] = np.isin(one, other, assume_unique=True, kind="sort").mean()
    # A mean over pairs of n documents (a U-statistic): its variance is that of what each document brings, times 4 / n.
    brings = (np.nanmean(shares, axis=0) + np.nanmean(shares, axis=1)) / 2
    return float(np.nanmean(shares)), 2 * float(brings.std()) / math.sqrt(len(sets))


@pytest.mark.parametrize("spec", ["char:4", "char:5", "char:7", "word:1", "word:2"])
def test_the_expected_share_is_near_the_measured_one(halves: tuple[dict[str, str], dict[str, str]], spec: str) -> None:
    expected = float(accidental_shares([*halves[0].values()], shingler(spec)).mean())
    share, error = measured(halves[1], spec)
    # Both come from samples of the same size: the error of their difference is that of one, times the root of 2.
    assert abs(expected - share) <= 4 * math.sqrt(2) * error
    assert error < 0.15 * share, "the test is precise enough"


def test_the_share_of_longer_documents_is_near_the_measured_one(halves: tuple[dict[str, str], dict[str, str]]) -> None:
    made, texts = shingler("char:5"), [*halves[1].values()]
    expected = float(accidental_shares([*halves[0].values()], made, times=4).mean())
    shares = []
    for start in range(0, len(texts) - 4, 5):
        one, *others = (sorted_unique(made([text]).hashes) for text in texts[start : start + 5])
        shares.append(float(np.isin(one, np.concatenate(others)).mean()))
    assert abs(expected - np.mean(shares)) <= 5 * np.std(shares) / math.sqrt(len(shares))


def test_the_advice_is_that_of_the_field(halves: tuple[dict[str, str], dict[str, str]]) -> None:
    mails = [*halves[0].values()]
    assert advise(mails).k == 5, "mails"
    assert 8 <= advise(mails, times=50).k <= 10, "long documents"
    assert advise(mails, "word").k == 2
