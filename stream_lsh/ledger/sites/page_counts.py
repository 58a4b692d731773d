"""Page counts of sites: the owner of each source partition reports them, and this table adds them up.

The owner of a partition reports changed counts from time to time, and all counts when it becomes the owner: a *full
report*, in several messages if it is long.  Counts are absolute, so a repeated report changes nothing, and a site that
a full report omits has no pages left.  Late reports of a previous owner are ignored.  Page counts are known once every
partition has completed a full report, and stay known: a count is valid until the next report of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stream_lsh.arrays import U32
from stream_lsh.ledger.changes import LedgerChanges, SiteCountState, SiteOriginState


class AsOf(NamedTuple):
    """The state of the table of documents that a report refers to: the last offset of its changelog, and its owner.

    The generation of the consumer group identifies the owner.  A new owner has read the changelog to its end, so its
    reports never refer to an earlier state.
    """

    offset: int
    generation: int


@dataclass(frozen=True, slots=True)
class PageCounts:
    """A report of the live pages by site, of one source partition.

    Attributes:
        partition: of the source.
        as_of: the counted state of the table.
        sites, counts: n sites, uint32[n].
        begins: the first message of a full report; ends: the last one.
    """

    partition: int
    as_of: AsOf
    sites: Sequence[str]
    counts: U32
    begins: bool = False
    ends: bool = False


class _Origin:
    """The reports for one partition: the count of each site, and the offset of its report."""

    __slots__ = ("as_of", "began", "counts", "ended")

    def __init__(self) -> None:
        self.as_of = AsOf(-1, -1)
        self.began = self.ended = -1
        self.counts: dict[str, tuple[int, int]] = {}


class PageTable:
    """The page counts of all partitions.

    Args:
        partitions: the number of source partitions.

    Cost: some 200 bytes for each site and partition.
    """

    def __init__(self, partitions: int) -> None:
        self._origins: dict[int, _Origin] = {}
        self._awaited = {*range(partitions)}

    @property
    def is_known(self) -> bool:
        """Whether every partition has completed a full report."""
        return not self._awaited

    def begin(self, generation: int) -> None:
        """Set the generation of the consumer group: reports of a later one belong to a group that Kafka has forgotten.

        Their counts stay valid until any new report replaces them.
        """
        for origin in self._origins.values():
            if origin.as_of.generation > generation:
                origin.as_of = AsOf(-1, -1)

    def take(self, report: PageCounts, offset: int) -> list[SiteCountState]:
        """The rows that a report changes, with 0 for a site without pages.

        Args:
            report: a page report.
            offset: the edges offset of the report; ascending.
        """
        origin = self._origins.setdefault(report.partition, _Origin())
        if report.as_of < origin.as_of:
            return []
        origin.as_of = report.as_of
        if report.begins:
            origin.began = offset
        rows = [
            SiteCountState(report.partition, site, count, offset)
            for site, count in zip(report.sites, report.counts.tolist(), strict=True)
        ]
        if report.ends:
            self._end(report.partition, offset)
            named = {*report.sites}
            rows += [
                SiteCountState(report.partition, site, 0, offset)
                for site, (_, last) in origin.counts.items()
                if last < origin.began and site not in named
            ]
        return rows

    def put(self, row: SiteCountState) -> int:
        """Store a count; returns its difference from the previous one."""
        counts = self._origins.setdefault(row.partition, _Origin()).counts
        before, _ = counts.pop(row.site, (0, 0))
        if row.pages:
            counts[row.site] = row.pages, row.reported_at
        return row.pages - before

    def origin(self, partition: int) -> SiteOriginState:
        """The changelog row for the last report of a partition."""
        origin = self._origins[partition]
        return SiteOriginState(partition, *origin.as_of, origin.began, origin.ended)

    def put_origin(self, row: SiteOriginState) -> None:
        """Restore a row during recovery."""
        origin = self._origins.setdefault(row.partition, _Origin())
        origin.as_of, origin.began = AsOf(row.offset, row.generation), row.began
        if row.ended >= 0:
            self._end(row.partition, row.ended)

    def changes(self) -> LedgerChanges:
        """All rows, in ascending order of keys."""
        counts = [
            SiteCountState(partition, site, *count)
            for partition, origin in sorted(self._origins.items())
            for site, count in sorted(origin.counts.items())
        ]
        return LedgerChanges(
            site_counts=counts, site_origins=[self.origin(partition) for partition in sorted(self._origins)]
        )

    def _end(self, partition: int, offset: int) -> None:
        self._origins[partition].ended = offset
        self._awaited.discard(partition)
