"""The candidates of a query: merged over partitions, and found without a trace."""

from collections import defaultdict

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from stream_lsh.arrays import U64
from stream_lsh.index.table import BandTable
from stream_lsh.pipeline.similar import Found, merged, probe
from stream_lsh.wire.route import bucket_partitions

PARTS = st.lists(
    st.dictionaries(st.integers(0, 30), st.tuples(st.integers(1, 5), st.booleans()), max_size=12),
    min_size=1,
    max_size=4,
)
Row = tuple[int, int, bool]


def found_of(part: dict[int, tuple[int, bool]]) -> Found:
    """The candidates of one partition, ranked."""
    ranked = sorted(part, key=lambda ref: (part[ref][1], part[ref][0], ref), reverse=True)
    bands, identical = [part[ref][0] for ref in ranked], [part[ref][1] for ref in ranked]
    return Found(np.array(ranked, np.uint64), np.array(bands, np.uint32), np.array(identical, np.bool_))


def rows_of(found: Found) -> list[Row]:
    return [*zip(found.old.tolist(), found.bands.tolist(), found.identical.tolist(), strict=True)]


def oracle(parts: list[dict[int, tuple[int, bool]]], cap: int) -> tuple[list[Row], bool]:
    bands, identical = defaultdict[int, int](int), defaultdict[int, bool](bool)
    for part in parts:
        for ref, (shared, same) in part.items():
            bands[ref] += shared
            identical[ref] |= same
    ranked = sorted(bands, key=lambda ref: (identical[ref], bands[ref], ref), reverse=True)
    kept = [ref for place, ref in enumerate(ranked) if not cap or place < cap or identical[ref]]
    return [(ref, bands[ref], identical[ref]) for ref in kept], len(kept) < len(ranked)


@given(PARTS, st.integers(0, 8))
def test_candidates_are_merged_ranked_and_capped(parts: list[dict[int, tuple[int, bool]]], cap: int) -> None:
    found = merged([found_of(part) for part in parts], cap)
    if len(parts) > 1:
        assert (rows_of(found), found.capped) == oracle(parts, cap)
    else:  # its partition has ranked and capped it
        assert rows_of(found) == rows_of(found_of(parts[0]))


def test_a_capped_part_makes_the_whole_capped() -> None:
    part = found_of({1: (1, False)})
    assert merged([part, Found(part.old, part.bands, part.identical, capped=True)], 0).capped
    none = Found(part.old[:0], part.bands[:0], part.identical[:0], capped=True)
    assert merged([none, none], 0).capped


def test_several_partitions_find_what_one_finds() -> None:
    rng = np.random.default_rng(3)
    refs = np.arange(400, dtype=np.uint64)
    values, bands = rng.integers(0, 60, (400, 8), dtype=np.uint64), np.arange(8, dtype=np.uint64)
    buckets: U64 = values << np.uint64(27) | bands << np.uint64(40)
    rows, flat = np.repeat(np.arange(400), 8), buckets.ravel()
    whole = BandTable(cap_postings=0, cap_candidates=0)
    whole.insert(refs, np.zeros(400, np.int64), rows, flat)
    parts = [BandTable(cap_postings=0, cap_candidates=0) for _ in range(4)]
    for partition, table in enumerate(parts):
        at = bucket_partitions(flat, 4) == partition
        table.insert(refs, np.zeros(400, np.int64), rows[at], flat[at])
    for query in buckets[::20]:
        places = bucket_partitions(query, 4)
        several = merged([probe(table, query[places == one]) for one, table in enumerate(parts)], 0)
        assert len(set(places.tolist())) > 1
        assert rows_of(several) == rows_of(probe(whole, query))


def test_a_probe_leaves_no_count() -> None:
    table, everyone = BandTable(cap_postings=2, cap_candidates=2), np.arange(50, dtype=np.uint64)
    table.insert(
        everyone, np.zeros(50, np.int64), np.repeat(np.arange(50), 2), np.tile(np.array([2, 4], np.uint64), 50)
    )
    omitted, before = table.prober.omitted, (table.visited, table.prober.omitted.pairs)
    found = probe(table, np.array([2, 4], np.uint64))
    assert found.capped
    assert len(found) == 2
    assert table.prober.omitted is omitted
    assert (table.visited, omitted.pairs) == before
