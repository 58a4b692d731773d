"""Detailed comparison of two documents by their sets of shingles, for `explain`."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from stream_lsh.arrays import U64
from stream_lsh.kinds.comparison import Comparison, Explained
from stream_lsh.measure.catalog import Measure
from stream_lsh.pipeline.batches import Signatures
from stream_lsh.pipeline.compare import SignatureAgreement
from stream_lsh.text.passages.shared import Passage


class Shingling(Protocol):
    """The methods of a scheme of shingle sets that a detailed comparison needs."""

    measure: Measure

    def shingle_sets(self, texts: Sequence[str]) -> list[U64]:
        """The distinct shingles of each text, ascending: uint64[m] each."""

    def sign(self, texts: Sequence[str]) -> Signatures:
        """One signature and one digest for each text."""

    def passages(self, text: str, shared: U64) -> list[Passage]:
        """The passages of a text that these shingles cover, and the gaps between them."""

    def agreement(self, signatures: Signatures, shared: int, union: int) -> SignatureAgreement:
        """The agreement of the signatures of two documents, given their shared and united shingles."""


def explain_shingles(scheme: Shingling, left_text: str | None, right_text: str | None) -> Explained:
    """Compare two documents by their shingles.

    Args:
        scheme: computes the shingles and the signatures.
        left_text: the text of the left document; None if unknown.
        right_text: the text of the right document; None if unknown.
    """
    left, right = scheme.shingle_sets([left_text or "", right_text or ""])
    shared = np.intersect1d(left, right, assume_unique=True)
    passages = [[] if text is None else scheme.passages(text, shared) for text in (left_text, right_text)]
    comparison = None
    if left_text is not None and right_text is not None:
        comparison = _compare(scheme, (left_text, right_text), left.size, right.size, shared.size)
    return Explained(comparison, (left.size, right.size), (passages[0], passages[1]))


def _compare(scheme: Shingling, texts: tuple[str, str], size: int, other_size: int, shared: int) -> Comparison:
    signatures = scheme.sign(texts)
    union = size + other_size - shared
    counts = np.array([[shared], [size], [other_size]])
    empty = bool((signatures.digests == 0).any())
    same = bool((signatures.values[0] == signatures.values[1]).all())
    matching, slots, met, bands, probability = scheme.agreement(signatures, shared, union)
    return Comparison(
        similarity=float(scheme.measure.similarity(*counts)[0]),
        shared=shared,
        union=union,
        near_in_size=bool(scheme.measure.sizes_allow(counts[1], counts[2], 0.0)[0]),
        matching=matching,
        slots=slots,
        met=met,
        bands=bands,
        probability=probability,
        identical=not empty and bool(signatures.digests[0] == signatures.digests[1]) and same,
    )
