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
        ("char:5", 1, 0x535E39FED00008A, 0xFB32164E6783091E, "42df6171c90cf958"),
        ("char:9", 1, 0x7A396893C44C7851, 0x465297AC42F4E42D, "92329eb2e6d696bc"),
        ("word:3", 1, 0x1479A27D0B2487D, 0xCB80240EBCBD617E, "9fe92fcb3c320415"),
        ("word:1", 7, 0xD1281FE566674DD8, 0x6A1B5EDE007B84DD, "add258b9c1ae15fd"),
        ("stopword:en", 1, 0x1479A27D0B2487D, 0x8F837F81EEA8CF60, "467836389ffe517f"),
        ("mixed:2", 1, 0xEFD80C515B528359, 0x3B9E49B633C39CDF, "3db63b50afdf1295"),
        ("space:3", 1, 0xB6734981DDB25838, 0xD28C837002CBE218, "7e4c5e67b0749c19"),
        ("capital:2", 1, 0xEFD80C515B528359, 0x41BF73714D730C49, "99eea756e382fb1b"),
        ("bag:word:1", 1, 0xA1332F3AA753F12A, 0xEF0BB9DFB2035952, "208446ff7d5f0ef9"),
        ("char:9/4", 1, 0xE6E59686134AB493, 0xDC646417EA5A294B, "c7c9e107f037871a"),
    ],
)
def test_shingle_hashes_and_digests_stay(spec: str, seed: int, first: int, digest: int, all_hashes: str) -> None:
    shingles = shingler(spec, seed)(TEXTS)
    assert int(shingles.hashes[0]) == first
    assert int(bag_digest(shingles)[0]) == digest
    assert fingerprint(shingles.hashes) == all_hashes


@pytest.mark.parametrize(
    ("spec", "first", "digest"),
    [
        ("stem:en:2", 0x75B3B6DA9FC278AB, 0xB38D6C69445CD3B6),
        ("code:python:3", 0xB52205D6E0F4D5E5, 0x42CC8E7A4BBC572E),
        ("code:python:1:renamed", 0x139D0E6D510CBCEB, 0x6FB91A5BA93B5E86),
    ],
)
def test_shingles_of_tokens_that_libraries_find_stay(spec: str, first: int, digest: int) -> None:
    shingles = shingler(spec)(["x = total + 1"])
    assert (int(shingles.hashes[0]), int(bag_digest(shingles)[0])) == (first, digest)


@pytest.mark.parametrize(
    ("name", "slots", "seed", "first", "all_signatures"),
    [
        ("fast", 128, 1, [109417027, 4024089853, 4064632007, 2960299567], "355e25f7bd8c8b15"),
        ("fast", 256, 3, [4038667654, 109417027, 2487211947, 1831229340], "ee35dd8b42614de1"),
        ("classic", 128, 1, [459699547, 555658978, 309330757, 548687656], "36bfb51bdcde66da"),
    ],
)
def test_signatures_stay(name: str, slots: int, seed: int, first: list[int], all_signatures: str) -> None:
    signatures = scheme(name, slots, seed)(shingler("word:3")(TEXTS))
    assert signatures[0, :4].tolist() == first
    assert fingerprint(signatures) == all_signatures


def test_buckets_stay() -> None:
    shingles = shingler("char:5")(TEXTS)
    keys = Bands(16, 6)(scheme()(shingles))
    assert keys[0, :3].tolist() == [17300141063929845150, 9424627146535462648, 13870231959003283498]
    assert fingerprint(keys) == "19a507b36cbeaf7f"
    assert int(digest_buckets(bag_digest(shingles))[0]) == 18100554378355345695
