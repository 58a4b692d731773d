"""What sign makes of versions: columns that every kind of data has."""

from dataclasses import dataclass

from stream_lsh.arrays import U32, U64


@dataclass(frozen=True, slots=True)
class Signatures:
    """Of n versions: uint32[n, slots] `values` and uint64[n] `digests`, 0 for one that can match nothing."""

    values: U32
    digests: U64

    def __len__(self) -> int:
        return self.digests.size
