"""Real texts as sets of words and as vectors: the commands find what every two compared would find, as promised."""

import json
import math
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pytest

from stream_lsh import Document, NearestNeighbours
from tests.corpora.documents import sample
from tests.corpora.test_partial_copies import most_misses
from tests.evaluation.oracles import jaccard, tokens
from tests.unit.cli.runs import lines_of, stream_lsh

pytestmark = pytest.mark.corpus

_PLACES = 512
MISSED = 0.011
"""The probability with which a pair at the distance, or at the threshold, is missed; those on this side have less."""
Pairs = set[tuple[str, str]]


@pytest.fixture
def letters(data_dir: Path, seed: int) -> dict[str, str]:
    found: list[Document] = sample(data_dir, "newsgroups20", 360, random.Random(seed))
    return {one.id: one.text for one in sorted(found) if one.text and len(tokens(one.text)) >= 20}


def characters(texts: dict[str, str]) -> npt.NDArray[np.float32]:
    """How often each character is in a text."""
    at = {character: place for place, character in enumerate(sorted(set("".join(texts.values()))))}
    found = np.zeros((len(texts), len(at)), np.float32)
    for row, text in enumerate(texts.values()):
        for character, count in Counter(text).items():
            found[row, at[character]] = count
    return found


def weighted_words(texts: dict[str, str]) -> npt.NDArray[np.float32]:
    """How often each word is in a text, by how few texts have it; words are put into `_PLACES` places."""
    counts = [Counter(tokens(text)) for text in texts.values()]
    holders = Counter(word for count in counts for word in count)
    found = np.zeros((len(texts), _PLACES), np.float32)
    for row, count in enumerate(counts):
        for word, times in count.items():
            found[row, crc32(word.encode()) % _PLACES] += times * math.log(len(texts) / holders[word])
    return found


def angles(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Of every two: by the cosine, another way than that of the package."""
    rows = vectors.astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return np.degrees(np.arccos(np.clip(rows @ rows.T, -1, 1)))


def apart(pairs: Pairs) -> Pairs:
    """Some of the pairs, no two of which have a text in common."""
    chosen, used = Pairs(), set[str]()
    for left, right in sorted(pairs):
        if left not in used and right not in used:
            chosen.add((left, right))
            used |= {left, right}
    return chosen


@pytest.mark.parametrize(("vectors_of", "within"), [(characters, 20.0), (weighted_words, 45.0)])
def test_neighbours_among_letters_are_those_of_every_two(
    letters: dict[str, str], vectors_of: Callable[[dict[str, str]], npt.NDArray[np.float32]], within: float
) -> None:
    vectors = vectors_of(letters)
    ids = [*letters]
    between = angles(vectors)
    rows, columns = np.nonzero(np.triu(between <= within, 1))
    true = {(ids[row], ids[column]): between[row, column] for row, column in zip(rows, columns, strict=True)}
    surely = {pair for pair, angle in true.items() if angle < within - 1e-5}
    trials = apart(surely)
    assert len(trials) >= 25

    missed, seeds = 0, range(1, 4)
    for number in seeds:
        memory = NearestNeighbours(vectors.shape[1], within, seed=number)
        memory.add_many(zip(ids, vectors, strict=True))
        found = {(pair.left, pair.right): pair.distance for pair in memory.pairs()}
        assert all(abs(distance - true.get(pair, within)) < 1e-5 for pair, distance in found.items())
        assert max(found.values()) <= within
        # Pairs that share a text are no independent trials: of all pairs, twice as many may be missed.
        assert len(surely - found.keys()) <= 2 * MISSED * len(surely) + 6 * math.sqrt(2 * MISSED * len(surely))
        missed += len(trials - found.keys())
        if number == 1:
            lines = lines_of([{"id": id, "vector": row.tolist()} for id, row in zip(ids, vectors, strict=True)])
            run = stream_lsh("neighbours", "-", "--within", str(within), stdin=lines)
            assert {(one["left"], one["right"]): one["distance"] for one in run.out} == found
    assert missed <= most_misses(len(seeds) * len(trials), MISSED)


def test_letters_as_sets_of_words_match_as_every_two_compared(letters: dict[str, str], tmp_path: Path) -> None:
    sets = {id: sorted(set(tokens(text))) for id, text in letters.items()}
    true = {
        (left, right): found
        for left in sets
        for right in sets
        if left < right and (found := jaccard(sets[left], sets[right])) >= 0.4
    }
    assert len(true) >= 30
    rows = "".join(f"{id},{word}\n" for id, words in sets.items() for word in words)
    (tmp_path / "words.csv").write_text(f"letter,word\n{rows}")
    columns = ("--id-column", "letter", "--item-column", "word")
    groups = tmp_path / "groups"
    run = stream_lsh("sets", tmp_path / "words.csv", *columns, "--threshold", "0.4", "--clusters", groups)
    assert run.pairs.items() <= true.items()
    assert len(true.keys() - run.pairs.keys()) <= most_misses(len(true), MISSED)
    members = [one for line in groups.read_text().splitlines() for one in json.loads(line)["members"]]
    assert sorted(members) == sorted({id for pair in run.pairs for id in pair})
