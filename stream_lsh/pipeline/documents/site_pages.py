"""The number of live pages of each site in one table of documents, and the counts that settle does not have yet.

The counts follow from the live versions of the table, whatever its history.  Only the owner of the partition knows
its reports, so the next owner reports all counts (`ledger.sites.page_counts`).
"""

from collections import Counter

import numpy as np

from stream_lsh.arrays import I64
from stream_lsh.ledger.sites.page_counts import AsOf, PageCounts
from stream_lsh.model import Abouts, in_full
from stream_lsh.pipeline.changelog.records import DocumentsRecord


class SitePages:
    """The sites of the live versions of a table, by row; those without one are not counted.

    Cost:
        8 bytes a row, and some 200 for each site; O(1) for each change of a version.
    """

    def __init__(self) -> None:
        self._sites: list[str] = []
        self._names: dict[str, str] = {}
        self._pages = Counter[str]()
        self._unreported = set[str]()
        self._reported_in: int | None = None

    def put(self, rows: I64, record: DocumentsRecord) -> None:
        """Count the versions of a record, which are in these rows now, -1 for one that is not kept."""
        abouts = in_full(record.abouts, len(record))
        for row, live, about in zip(rows.tolist(), record.live.tolist(), abouts, strict=True):
            if row >= 0:
                self._set(row, about.source if live else "")

    def restore(self, rows: I64, abouts: Abouts) -> None:
        """Count the live versions in these rows."""
        for row, about in zip(rows.tolist(), in_full(abouts, rows.size), strict=True):
            self._set(row, about.source)

    def expire(self, rows: I64) -> None:
        """Discount the versions in these rows, which are no longer live."""
        for row in rows.tolist():
            self._set(row, "")

    def _set(self, row: int, site: str) -> None:
        sites, pages = self._sites, self._pages
        if row >= len(sites):
            sites += [""] * (row + 1 - len(sites))
        before = sites[row]
        if before == site:
            return
        sites[row] = site and self._names.setdefault(site, site)
        if before:
            pages[before] -= 1
            self._changed(before)
            if not pages[before]:
                del pages[before], self._names[before]
        if site:
            pages[site] += 1
            self._changed(site)

    def _changed(self, site: str) -> None:
        # The first report has all sites, so nothing is kept before it: a standby may not report for a long time.
        if self._reported_in is not None:
            self._unreported.add(site)

    def needs_full_report(self, generation: int) -> bool:
        """Whether there was no report in this generation, so that the next one has all counts."""
        return self._reported_in != generation

    def report(self, partition: int, as_of: AsOf) -> PageCounts | None:
        """The counts that changed since the last report, all in the first one of a generation; None for none."""
        is_first = self.needs_full_report(as_of.generation)
        sites = sorted(self._pages if is_first else self._unreported)
        self._reported_in = as_of.generation
        self._unreported.clear()
        if not (sites or is_first):
            return None
        counts = np.array([self._pages[site] for site in sites], np.uint32)
        return PageCounts(partition, as_of, sites, counts, begins=is_first, ends=is_first)
