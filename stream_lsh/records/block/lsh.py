"""LSH blocking: finds records with similar q-grams or words in several fields.

Each shingle is tagged with its field, so that a given name does not match a surname; the signature and the bands are
those of texts.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from stream_lsh.arrays import U64
from stream_lsh.hashing import fmix64, odd_constants
from stream_lsh.lsh.banding import Bands
from stream_lsh.lsh.solver import choose_banding
from stream_lsh.records.model import SEVERAL, Values
from stream_lsh.records.profile import LshBlocking
from stream_lsh.sketch.catalog import scheme
from stream_lsh.text.catalog import first_version, shingler
from stream_lsh.text.shingles import Shingles, offsets_of


class LshBlock:
    """The bands of the shingles of some fields.

    Args:
        places: the indices of the fields among a record's values.
        shingles: such as `char:3` or `word:1`.
        threshold: Jaccard similarity of the shingles of all fields together.
        recall: the probability that a pair at the threshold shares a band.
        slots: the length of a signature.
        seed: of all hash functions.

    Attributes:
        library: the optional library that defines the units of the shingles, with its version, or "".

    Raises:
        ConfigError: unknown shingles, or no bands with this recall.

    Example:
        >>> block = LshBlock((0, 1), "char:3", threshold=0.5)
        >>> keys = block.keys([("jonathan", "smithson"), ("jonathan", "smithsen"), ("", "")])
        >>> bool((keys[0] == keys[1]).any()), bool(keys[2].any()), keys.shape == (3, block.width)
        (True, False, True)
    """

    def __init__(
        self,
        places: Sequence[int],
        shingles: str,
        *,
        threshold: float,
        recall: float = 0.95,
        slots: int = 64,
        seed: int = 1,
    ) -> None:
        self.banding = choose_banding(threshold, recall, slots)
        self.width = self.banding.bands
        self._places = tuple(places)
        # The settings of a state do not state a version of the shingles, so its keys keep the first one.
        self._shingler = shingler(first_version(shingles), seed)
        self.library = self._shingler.library
        self._sketch = scheme("fast", slots, seed)
        self._bands = Bands(self.banding.bands, self.banding.rows, seed)
        self._tags = odd_constants(len(self._places), 17 * seed + 5)
        tag = (self._shingler.spec, *map(str, self._places))
        self._salt = odd_constants(1, 19 * seed + sum(map(ord, "".join(tag))))

    def keys(self, records: Sequence[Values]) -> U64:
        """The keys of each record: uint64[n, width], all 0 without values."""
        parts = [self._tagged(records, field) for field in range(len(self._places))]
        counts = sum((part.counts for part in parts), np.zeros(len(records), np.int64))
        rows = np.concatenate([np.repeat(np.arange(len(records)), part.counts) for part in parts])
        order = np.argsort(rows, kind="stable")
        shingles = Shingles(np.concatenate([part.hashes for part in parts])[order], offsets_of(counts))
        keys = fmix64(self._bands(self._sketch(shingles)) ^ self._salt) & ~np.uint64(1)
        keys[counts == 0] = 0
        return keys

    def _tagged(self, records: Sequence[Values], field: int) -> Shingles:
        place = self._places[field]
        shingles = self._shingler([values[place].replace(SEVERAL, " ") for values in records])
        return Shingles(fmix64(shingles.hashes ^ self._tags[field]), shingles.offsets)


def lsh_block(lsh: LshBlocking, places: Mapping[str, int]) -> LshBlock:
    """The block of a profile; `places` are the indices of its fields."""
    fields = [places[name] for name in lsh.fields]
    return LshBlock(fields, lsh.shingles, threshold=lsh.threshold, recall=lsh.recall)
