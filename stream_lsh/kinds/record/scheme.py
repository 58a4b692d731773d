"""The scheme of a pipeline of records: its signatures are blocking keys, which are also its buckets.

The text of a document is a record's standardised values and its id (`records.model.as_text`).  The signature has the
record's keys, two slots each, those of the first blocks first, then zeros.  The digest covers the values and the id, so
no two records have equal digests: the profile defines what equal values contribute to a score.
"""

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
from mmh3 import hash64

from stream_lsh.arrays import U64
from stream_lsh.kinds.record.comparer import RecordPairs
from stream_lsh.kinds.record.frequencies import RecordCounts
from stream_lsh.pipeline.batches import Signatures
from stream_lsh.pipeline.compare import Criteria
from stream_lsh.pipeline.scheme import SchemeDefaults
from stream_lsh.records.block.blocker import block_of, blocker_of
from stream_lsh.records.model import values_of
from stream_lsh.records.profile import Profile
from stream_lsh.records.score import Scorer
from stream_lsh.text.normalise import UNICODE_VERSION

MOST_KEYS = 64
"""Keys of one record: they take as many bytes as the default signature of a text."""
_VERSION = 1
_SEED = 0x5245C0


class RecordScheme(SchemeDefaults):
    """The scheme of a pipeline of records.

    Args:
        profile: a valid profile.

    Attributes:
        blocks: the names of the blocks, in order.
        width: the most keys of one record.
        counted: a scorer with the frequencies of all records, if they are known before the first comparison.

    Raises:
        ConfigError: invalid rules or bands.
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._blocker = blocker_of(profile)
        self.blocks = self._blocker.names
        self._fields = len(profile.fields)
        self.counted: Scorer | None = None
        self.width = min(MOST_KEYS, self._blocker.owners.size)

    @property
    def slots(self) -> int:
        """The length of a signature."""
        return 2 * self.width

    @property
    def settings(self) -> dict[str, str | int | float]:
        """The settings that values, keys and scores depend on: the profile, without the names of columns."""
        profile = self.profile
        fields = ((field.name, field.type, field.order, field.of, field.part) for field in profile.fields)
        comparisons = (
            # Without `given` the settings are those of versions that do not have it.
            tuple(value for key, value in asdict(comparison).items() if value or not key.startswith("given"))
            for comparison in profile.comparisons
        )
        libraries = [block.library for block in self._blocker.lsh]
        return {
            "kind": "record",
            "records_version": _VERSION,
            "unicode": UNICODE_VERSION,
            "fields": _shown(fields),
            "comparisons": _shown(comparisons),
            "rules": "; ".join(profile.rules),
            "lsh": _shown(tuple(asdict(blocking).values()) for blocking in profile.lsh),
            **({"lsh_libraries": _shown(libraries)} if any(libraries) else {}),
            "link": profile.link,
            "prior": "none" if profile.prior is None else profile.prior,
            "missing": ", ".join(profile.missing),
            "smoothing": profile.smoothing,
            "match": profile.match,
        }

    def sign(self, texts: Sequence[str]) -> Signatures:
        """The keys and the digest of each record; some 60 us for a person with twenty rules."""
        records = [values_of(text, self._fields) for text in texts]
        keys = self._blocker.keys(records)
        packed = np.take_along_axis(keys, np.argsort(keys == 0, axis=1, kind="stable"), axis=1)[:, : self.width]
        digests = np.array([_digest(text) for text in texts], np.uint64)
        digests[packed[:, 0] == 0] = 0
        return Signatures(np.ascontiguousarray(packed).view(np.uint32), digests)

    def buckets(self, signatures: Signatures) -> U64:
        """The keys of each record: uint64[n, width], 0 for none."""
        keys = np.ascontiguousarray(signatures.values).view(np.uint64)
        return np.where(signatures.digests[:, None] == 0, np.uint64(0), keys)

    def comparer(self) -> RecordPairs:
        """The comparer, with which verify scores pairs."""
        return RecordPairs(self.profile)

    def criteria(self, threshold: float, retention_ms: int | None) -> Criteria:
        """The criteria of a match: blocking keys do not estimate a similarity, so every candidate is scored."""
        return Criteria(threshold, retention_ms=retention_ms)

    def block(self, bucket: int) -> str:
        """The rule of a key."""
        return self.blocks[block_of(bucket)]

    def counts(self) -> RecordCounts:
        """The frequencies of values."""
        return RecordCounts(self.profile, self.counted)


def _digest(text: str) -> int:
    return hash64(text.encode("utf-8", "surrogatepass"), _SEED, signed=False)[0] or 1


def _shown(rows: object) -> str:
    return "; ".join(map(repr, rows))  # type: ignore[call-overload]
