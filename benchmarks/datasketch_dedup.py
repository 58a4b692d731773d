"""What `stream-lsh dedup` is measured against: the same work written with datasketch, as its documentation suggests.

MinHash with its defaults and 128 permutations, MinHashLSH at the threshold with its default weights, every candidate
verified with Python's sets.  `python -m benchmarks.datasketch_dedup IN.jsonl.gz OUT.jsonl THRESHOLD`
"""

import gzip
import json
import re
import sys
from importlib import import_module
from typing import Any

peer: Any = import_module("datasketch")  # of the extra `bench`: not there where only the tests run

SLOTS = 128


def main(source: str, target: str, threshold: float) -> None:
    """Write the matches of a file of JSON lines."""
    index = peer.MinHashLSH(threshold=threshold, num_perm=SLOTS)
    sets: dict[str, set[str]] = {}
    with gzip.open(source, "rt", encoding="utf-8") as lines, open(target, "w", encoding="utf-8") as matches:
        for line in lines:
            document = json.loads(line)
            words = re.findall(r"\w+", document["text"].lower())
            if not words:
                continue
            shingles = {" ".join(words[at : at + 3]) for at in range(max(1, len(words) - 2))}
            signature = peer.MinHash(num_perm=SLOTS)
            signature.update_batch([shingle.encode() for shingle in shingles])
            for other in index.query(signature):
                shared = len(shingles & sets[other])
                similarity = shared / (len(shingles) + len(sets[other]) - shared)
                if similarity >= threshold:
                    left, right = sorted((other, document["id"]))
                    matches.write(json.dumps({"left": left, "right": right, "similarity": similarity}) + "\n")
            index.insert(document["id"], signature)
            sets[document["id"]] = shingles


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
