"""The records of the changelogs of `documents` and `ledger`; the changelog of `buckets` holds its input unchanged.

A record carries the horizon of its writer, so that recovery drops what the live state had dropped.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from stream_lsh.arrays import I64, U32, U64, Bools
from stream_lsh.ledger.changes import LedgerChanges
from stream_lsh.model import Abouts
from stream_lsh.pipeline.batches import Pass, Watermarks
from stream_lsh.retention import Horizon


@dataclass(frozen=True, slots=True)
class DocumentsRecord:
    """Versions that sign stored: each replaces the lower refs of its id, and never a higher one.

    Attributes:
        ids: n document ids, each once.
        refs: uint64[n], all of one source partition.
        times: int64[n], event time in ms.
        keep_until: int64[n], ms: the newest event time among this version and all that it replaced.
        digests: uint64[n].
        live: bool[n], false for tombstones and for versions that had expired on arrival.
        texts: n texts as the user sent them, empty where not live.
        signatures: uint32[n, slots], all EMPTY_SLOT where not live.
        retired_rows: int64[m], the row that retired a version, ascending.
        retired_refs: uint64[m], the version that was retired.
        retired_buckets: uint64[m, bands + 1], its buckets; all 0 for one without shingles.
        horizon: as known to sign.
        abouts: the metadata of each, for stories.
        acknowledged: versions below this offset of the source will not be read again.
        blocks: the texts as the changelog stores them (`wire.text_blocks`); empty: not compressed yet.
    """

    ids: Sequence[str]
    refs: U64
    times: I64
    keep_until: I64
    digests: U64
    live: Bools
    texts: Sequence[str]
    signatures: U32
    retired_rows: I64
    retired_refs: U64
    retired_buckets: U64
    horizon: Horizon
    abouts: Abouts = ()
    acknowledged: int = 0
    blocks: Sequence[bytes] = field(default=(), repr=False, compare=False)

    def __len__(self) -> int:
        return self.refs.size


@dataclass(frozen=True, slots=True)
class LedgerRecord:
    """The changes by the message at `offset` of `edges`: applied once, in ascending order of offsets.

    `watermarks` are the rows of the watermark table that the message changed; in a snapshot all of them.
    """

    offset: int
    changes: LedgerChanges
    watermarks: tuple[Watermarks, ...]


@dataclass(frozen=True, slots=True)
class LedgerSlice:
    """Some rows of the ledger, copied to the end of its changelog (`ledger_rewrite`).

    Attributes:
        copied: the pass that it belongs to.
        number: slices are numbered from 0, and the last one has ended the pass.
        record: the rows as they were when the message at its `offset` had been settled; the first slice has only
            the horizon and the watermark table.
    """

    copied: Pass
    number: int
    record: LedgerRecord
