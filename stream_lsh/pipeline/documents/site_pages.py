"""How many live pages each site has in one table of documents, and what of it settle has not been told.

Counts follow the table: they are what its live versions say, whatever came and went.  What was told is known of one
owner only, so the next one tells all of it (`ledger.sites.page_counts`).
"""

from collections import Counter

import numpy as np

from stream_lsh.arrays import I64
from stream_lsh.ledger.sites.page_counts import AsOf, PageCounts
from stream_lsh.model import Abouts, in_full
from stream_lsh.pipeline.changelog.records import DocumentsRecord


class SitePages:
    """The sites of the live versions of a table, by row; those without one count nowhere.

    Cost:
        8 bytes a row, and some 200 for each site; O(1) for a version that comes or goes.
    """

    def __init__(self) -> None:
        self._sites: list[str] = []
        self._names: dict[str, str] = {}
        self._pages = Counter[str]()
        self._untold = set[str]()
        self._told_in: int | None = None

    def put(self, rows: I64, record: DocumentsRecord) -> None:
        """The versions of a record are in these rows now, -1 for one that is not kept."""
        abouts = in_full(record.abouts, len(record))
        for row, live, about in zip(rows.tolist(), record.live.tolist(), abouts, strict=True):
            if row >= 0:
                self._set(row, about.source if live else "")

    def restore(self, rows: I64, abouts: Abouts) -> None:
        """These rows hold live versions."""
        for row, about in zip(rows.tolist(), in_full(abouts, rows.size), strict=True):
            self._set(row, about.source)

    def expire(self, rows: I64) -> None:
        """The versions in these rows are not live any more."""
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
        # Before the first word, which is of all sites, nothing is kept: a standby may not come to it for long.
        if self._told_in is not None:
            self._untold.add(site)

    def owes_all(self, generation: int) -> bool:
        """Whether nothing was told in this generation, so that everything is next."""
        return self._told_in != generation

    def tell(self, partition: int, as_of: AsOf) -> PageCounts | None:
        """What settle is to be told now: everything, the first time in a generation; None if nothing has changed."""
        is_first = self.owes_all(as_of.generation)
        told = sorted(self._pages if is_first else self._untold)
        self._told_in = as_of.generation
        self._untold.clear()
        if not (told or is_first):
            return None
        counts = np.array([self._pages[site] for site in told], np.uint32)
        return PageCounts(partition, as_of, told, counts, begins=is_first, ends=is_first)
