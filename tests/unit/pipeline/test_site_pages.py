"""The pages of sites are those of the live versions of a table, whatever came and went."""

import random
from collections import Counter

import numpy as np
import pytest

from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.ledger.sites.page_counts import AsOf
from stream_lsh.model import About, Document
from stream_lsh.pipeline.documents.site_pages import SitePages
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.sign import Arrivals
from stream_lsh.retention import Horizon
from tests.unit.pipeline.signing import sign

SCHEME = TextScheme(0.5, slots=16)


def live_pages(table: DocumentTable) -> dict[str, int]:
    """The live pages of each site, counted from the table."""
    record = table.snapshot(SCHEME.banding.bands)
    sites = [about.source for about, live in zip(record.abouts, record.live.tolist(), strict=False) if live]
    return dict(Counter(site for site in sites if site))


@pytest.mark.parametrize("seed", range(20))
def test_the_reported_changes_add_up_to_the_live_pages(seed: int) -> None:
    rng, reported, offset = random.Random(seed), dict[str, int](), 0
    pages = SitePages()
    table = DocumentTable(SCHEME.slots, pages=pages)
    generation = 1
    for step in range(60):
        documents = []
        for _ in range(rng.randrange(4)):
            text = None if rng.random() < 0.2 else rng.choice("xyz")
            about = About("", rng.choice(("", "a", "b", "c")), 1)
            documents.append(Document(f"d{rng.randrange(8)}", text, step * 10 - rng.randrange(30), about))
        sign(Arrivals(0, range(offset, offset + len(documents)), documents), table, SCHEME, table.horizon)
        offset += len(documents)
        if rng.random() < 0.2:
            table.expire(Horizon(step * 10 - 100))
        if rng.random() < 0.1:
            generation += 1
        report = pages.report(0, AsOf(offset, generation)) if rng.random() < 0.5 or step == 59 else None
        if report is not None:
            reported = {} if report.begins else reported
            reported |= dict(zip(report.sites, report.counts.tolist(), strict=True))
            assert {site: count for site, count in reported.items() if count} == live_pages(table)
            assert report.begins == report.ends


def test_a_generation_reports_all_sites_once_and_then_the_changes() -> None:
    pages = SitePages()
    table = DocumentTable(SCHEME.slots, pages=pages)
    documents = [Document("1", "x", 5, About("", "a", 1)), Document("2", "y", 5, About("", "b", 1))]
    sign(Arrivals(3, range(2), documents), table, SCHEME, table.horizon)
    assert pages.needs_full_report(7)
    first = pages.report(3, AsOf(1, 7))
    assert first is not None
    assert (pages.needs_full_report(7), pages.needs_full_report(8)) == (False, True)
    assert (first.partition, first.as_of, first.sites, first.counts.tolist()) == (3, (1, 7), ["a", "b"], [1, 1])
    assert (first.begins, first.ends) == (True, True)
    assert pages.report(3, AsOf(1, 7)) is None
    sign(Arrivals(3, [2], [Document("1", None, 6)]), table, SCHEME, table.horizon)
    changed = pages.report(3, AsOf(2, 7))
    assert changed is not None
    assert (changed.sites, changed.counts.tolist(), changed.begins, changed.ends) == (["a"], [0], False, False)
    again = pages.report(3, AsOf(2, 8))
    assert again is not None
    assert (again.sites, again.begins) == (["b"], True)


def test_an_empty_report_is_a_statement_too() -> None:
    report = SitePages().report(0, AsOf(-1, 1))
    assert report is not None
    assert (report.sites, report.counts.tolist(), report.ends) == ([], [], True)


def test_a_table_without_a_report_forgets_sites_without_pages() -> None:
    pages = SitePages()
    table = DocumentTable(SCHEME.slots, pages=pages)
    for number in range(50):
        documents = [Document("1", "x", number, About("", f"site{number}", 1))]
        sign(Arrivals(0, [number], documents), table, SCHEME, table.horizon)
    held = {name for kept in vars(pages).values() if isinstance(kept, dict | set | list) for name in kept}
    assert held == {"site49"}
    report = pages.report(0, AsOf(50, 1))
    assert report is not None
    assert (report.sites, report.counts.tolist()) == (["site49"], [1])


def test_a_table_that_was_restored_has_the_pages_of_its_versions() -> None:
    pages = SitePages()
    table = DocumentTable(SCHEME.slots, pages=pages)
    documents = [Document(str(number), "x", 5, About("", "ab"[number % 2], 1)) for number in range(5)]
    sign(Arrivals(0, range(5), documents), table, SCHEME, table.horizon)
    again = SitePages()
    DocumentTable.restored(SCHEME.slots, table._contents, table.versions(), again)
    report, other = pages.report(0, AsOf(0, 1)), again.report(0, AsOf(0, 1))
    assert report is not None
    assert other is not None
    assert (report.sites, report.counts.tolist()) == (other.sites, other.counts.tolist()) == (["a", "b"], [3, 2])
    assert np.array_equal(report.counts, other.counts)
