"""The baseline of `stream-lsh dedup`: the same work written with datasketch, as its documentation suggests.

MinHash with its defaults and 128 permutations, MinHashLSH at the threshold with its default weights, every candidate
verified with Python's sets.  `python -m benchmarks.documents.datasketch_dedup IN.jsonl.gz OUT.jsonl THRESHOLD`
"""

import gzip
import json
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

peer: Any = import_module("datasketch")  # of the extra `bench`: not there where only the tests run

SLOTS = 128


class Sketched(NamedTuple):
    """A document as it is indexed and compared."""

    signature: Any
    shingles: set[str]


def sketched(text: str) -> Sketched | None:
    """The MinHash and the set of a text, None if it has no words."""
    words = re.findall(r"\w+", text.lower())
    if not words:
        return None
    shingles = {" ".join(words[at : at + 3]) for at in range(max(1, len(words) - 2))}
    signature = peer.MinHash(num_perm=SLOTS)
    signature.update_batch([shingle.encode() for shingle in shingles])
    return Sketched(signature, shingles)


class Matcher:
    """Finds the matches of documents that come one by one.

    Args:
        threshold: least similarity of a match.
        storage: where the index keeps its buckets, datasketch's `storage_config`; None: in memory.
    """

    def __init__(self, threshold: float, storage: dict[str, Any] | None = None) -> None:
        self._threshold = threshold
        self._index = peer.MinHashLSH(threshold=threshold, num_perm=SLOTS, storage_config=storage)
        self._sets: dict[str, set[str]] = {}

    def take(self, id: str, text: str) -> Iterator[tuple[str, str, float]]:
        """Left, right and similarity of every match with a document that came before."""
        made = sketched(text)
        return iter(()) if made is None else self.take_sketched(id, made)

    def take_sketched(self, id: str, made: Sketched) -> Iterator[tuple[str, str, float]]:
        """The same of a document whose signature is there already."""
        signature, shingles = made
        for other in self._index.query(signature):
            shared = len(shingles & self._sets[other])
            similarity = shared / (len(shingles) + len(self._sets[other]) - shared)
            if similarity >= self._threshold:
                left, right = sorted((other, id))
                yield left, right, similarity
        self._index.insert(id, signature)
        self._sets[id] = shingles


def main(source: str, target: str, threshold: float) -> None:
    """Write the matches of a file of JSON lines."""
    matcher = Matcher(threshold)
    with gzip.open(source, "rt", encoding="utf-8") as lines, open(target, "w", encoding="utf-8") as matches:
        for line in lines:
            document = json.loads(line)
            for left, right, similarity in matcher.take(document["id"], document["text"]):
                matches.write(json.dumps({"left": left, "right": right, "similarity": similarity}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
