"""Values that must never change within a version of a scheme: state and topics are full of them.

If one of these fails on purpose, raise the version of what changed; deployments then have to re-index.
"""

import hashlib

import numpy as np
import numpy.typing as npt
import pytest

from stream_lsh.lsh.banding import Bands, digest_buckets
from stream_lsh.sketch.catalog import scheme
from stream_lsh.text.catalog import shingler
from stream_lsh.text.digest import bag_digest

TEXTS = [
    "The quick brown fox jumps over the lazy dog",
    "Zürich, 日本語のテキスト 😀 İß \ud800\0",
    "to be or not to be",
    "a",
    "",
    " ".join(str(n) for n in range(3000)),
]


def fingerprint(array: npt.NDArray[np.generic]) -> str:
    return hashlib.sha256(array.astype(array.dtype.newbyteorder("<")).tobytes()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("spec", "seed", "first", "digest", "all_hashes"),
    [
        ("char:5", 1, 0x535E39FE835E315, 0x34346524755E65AB, "30915aefb7c9358a"),
        ("char:9", 1, 0x7A396893BE7510C2, 0xFDAE2CA843755AF, "65ba52b11a14f015"),
        ("word:3", 1, 0x1479A27D1F5D25A, 0x7AAF36C00C05DF3F, "7f424fb6fcda1dfb"),
        ("word:1", 7, 0xD1281FE5B74F523D, 0x13B5EE5DE20F5E24, "fe10a42633fbd770"),
    ],
)
def test_shingle_hashes_and_digests_stay(spec: str, seed: int, first: int, digest: int, all_hashes: str) -> None:
    shingles = shingler(spec, seed)(TEXTS)
    assert int(shingles.hashes[0]) == first
    assert int(bag_digest(shingles)[0]) == digest
    assert fingerprint(shingles.hashes) == all_hashes


@pytest.mark.parametrize(
    ("name", "slots", "seed", "first", "all_signatures"),
    [
        ("fast", 128, 1, [110079634, 3057021666, 1188346464, 1330729664], "50a8447fc0fba9fc"),
        ("fast", 256, 3, [1416798839, 110079634, 1775002696, 1625696000], "d6393e604b8c42b7"),
        ("classic", 128, 1, [113134815, 225983288, 454279422, 726034909], "762ac0d960429c0c"),
    ],
)
def test_signatures_stay(name: str, slots: int, seed: int, first: list[int], all_signatures: str) -> None:
    signatures = scheme(name, slots, seed)(shingler("word:3")(TEXTS))
    assert signatures[0, :4].tolist() == first
    assert fingerprint(signatures) == all_signatures


def test_buckets_stay() -> None:
    shingles = shingler("char:5")(TEXTS)
    keys = Bands(16, 6)(scheme()(shingles))
    assert keys[0, :3].tolist() == [15564559416718742990, 10115125775358389982, 13748837030089994774]
    assert fingerprint(keys) == "380a81aaf26a13f4"
    assert int(digest_buckets(bag_digest(shingles))[0]) == 3761742796023555499
