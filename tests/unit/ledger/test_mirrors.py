"""Sites: the counts that are kept are those of a slow count over the pages and pairs that are in."""

import random
from collections.abc import Iterable

import pytest

from stream_lsh.ledger.sites.mirrors import PagePair, SitePair, Sites

SITES = ["", "a.org", "b.org", "c.org"]


def slow(pages: dict[int, str], pairs: Iterable[PagePair]) -> list[SitePair]:
    """The definition: for every two sites that a pair connects, the pages that are found in the other one."""
    pairs = [pair for pair in pairs if pair.left_site and pair.right_site and pair.left_site != pair.right_site]
    found = []
    for left, right in sorted({tuple(sorted((pair.left_site, pair.right_site))) for pair in pairs}):
        inside: dict[str, set[object]] = {left: set(), right: set()}
        for pair in pairs:
            if {pair.left_site, pair.right_site} == {left, right}:
                if pair.left_in_right:
                    inside[pair.left_site].add(pair.left)
                if pair.right_in_left:
                    inside[pair.right_site].add(pair.right)
        counts = [sum(site == one for site in pages.values()) for one in (left, right)]
        found.append(SitePair(left, right, counts[0], counts[1], len(inside[left]), len(inside[right])))
    return found


@pytest.mark.parametrize("seed", range(60))
def test_counts_are_those_of_the_definition_through_all_changes(seed: int) -> None:
    rng, sites = random.Random(seed), Sites()
    pages: dict[int, str] = {}
    pairs: dict[tuple[int, int], PagePair] = {}
    for step in range(120):
        what = rng.random()
        if what < 0.35 or len(pages) < 2:
            pages[step] = rng.choice(SITES)
            sites.add_pages(pages[step], 1)
        elif what < 0.45:
            page = rng.choice([*pages])
            for key in [key for key in pairs if page in key]:
                sites.remove(pairs.pop(key))
            sites.add_pages(pages.pop(page), -1)
        elif what < 0.85:
            left, right = sorted(rng.sample([*pages], 2))
            if (left, right) in pairs:
                continue
            either = rng.choice([(True, True), (True, False), (False, True)])
            pairs[left, right] = PagePair(left, right, pages[left], pages[right], *either)
            sites.add(pairs[left, right])
        elif pairs:
            sites.remove(pairs.pop(rng.choice([*pairs])))
        assert [*sites] == slow(pages, pairs.values())
    assert all(sites.pages.values())


def test_an_excerpt_is_in_the_full_page_and_not_the_other_way_round() -> None:
    sites = Sites()
    for site in ("full.org", "full.org", "short.org"):
        sites.add_pages(site, 1)
    sites.add(PagePair("x", "y", "short.org", "full.org", True, False))
    (found,) = sites
    assert found == SitePair("full.org", "short.org", 2, 1, 0, 1)
    assert (found.left_share, found.right_share) == (0.0, 1.0)
