"""Regimes: the random choices of a run, by seed.

A uniform regime looks clean and is not: how fast documents arrive, how often agents fall behind, crash and commit, how
event time advances: all is drawn again for each seed.
"""

import random
from dataclasses import dataclass, replace

from stream_lsh.measure.catalog import JACCARD
from stream_lsh.measure.containment import Containment
from tests.simulation.pipelines.entities import RECORDS_FROM, NamedRecords, draw_records
from tests.simulation.pipelines.intake import REKEY_FROM
from tests.simulation.pipelines.items import SETS_FROM, NamedItems
from tests.simulation.pipelines.scheme import ExactShingles, NamedShingles
from tests.simulation.pipelines.setup import LONG_MS, Setup

EXACT_FROM = 3_000_000
"""Seeds from here on have the buckets of the method `exact`."""
GROUPS_FROM = 5_000_000
"""Seeds from here on have workers that report all their partitions together, and groups that Kafka forgets."""
LOSSES_FROM = 6_000_000
"""Seeds from here on have an internal topic that loses messages."""
DISKS_FROM = 7_000_000
"""Seeds from here on have workers with copies on disk, partitions that stall, and crashes right behind a commit."""
MEASURES = (JACCARD, JACCARD, Containment(1.5), Containment(3.0))


@dataclass(frozen=True)
class Regime:
    """The random choices of a run.

    Attributes:
        messages: documents, updates and deletes that are produced.
        ids: distinct document ids.
        shingles: size of the universe that texts are drawn from; least_words to words of them make a text.
        pace_ms: event time between messages; disorder_ms: how far they are out of order.
        expires: event time is reported, so documents expire.
        mark_idle: partitions that were read to their end no longer hold event time back.
        final_watermark: the run ends with reports of all event times.
        weights of the next event: produce, step, commit, tick, crash, rebalance, pause, trim, copy, report, forget.
    """

    workers: int
    messages: int
    ids: int
    shingles: int
    words: int
    least_words: int
    delete_rate: float
    repeat_rate: float
    pace_ms: int
    disorder_ms: int
    expires: bool
    mark_idle: bool
    final_watermark: bool
    produce: float
    commit: float
    tick: float
    crash: float
    rebalance: float
    pause: float
    trim: float
    copy: float
    starve: float
    report: float
    forget: float


def draw(seed: int, rules_out: frozenset[str] = frozenset()) -> tuple[random.Random, Setup, Regime]:
    """The setup and the regime of a seed, and the generator that its schedule uses next."""
    rng = random.Random(seed)
    partitions = rng.choice((1, 2, 2, 2, 3))
    expires = rng.random() < 0.65
    setup = Setup(
        partitions=partitions,
        threshold=rng.choice((0.3, 0.5, 0.5, 0.75)),
        retention_ms=rng.choice((40, 80, 200)) if expires else rng.choice((40, 200, LONG_MS)),
        lateness_ms=rng.choice((0, 10, 40)),
        max_documents=rng.choice((0, 0, 0, 2, 3)) if expires else 0,
        batch=rng.choice((1, 2, 3, 5)),
        limit=rng.choice((150, 600, 256 * 1024)),
        together=random.Random(f"{seed} together").choice((1, 1, 2, 5)),
        rewrite_from=random.Random(f"{seed} passes").choice((None, None, 0, 3)),
        scheme=NamedShingles(random.Random(f"{seed} measure").choice(MEASURES)),
        stories=random.Random(f"{seed} front").random() < 0.25,
        rules_out=rules_out,
    )
    if setup.stories:
        setup = replace(setup, mirror_share=random.Random(f"{seed} sites").choice((0.0, 0.3, 0.6)))
    if not expires and rng.random() < 0.25:
        setup = replace(setup, retention_ms=LONG_MS, cap_postings=rng.choice((1, 1, 2)))
    rare, often = rng.choice((0.0, 0.002, 0.01)), rng.choice((0.0, 0.005, 0.02, 0.05))
    regime = Regime(
        workers=rng.choice((1, 2, 2, 3)),
        messages=rng.randint(10, 32),
        ids=rng.choice((3, 4, 4, 6, 9)),
        shingles=rng.choice((4, 5, 6)),
        words=rng.choice((3, 4, 5)),
        least_words=1,
        delete_rate=rng.choice((0.0, 0.1, 0.25)),
        repeat_rate=rng.choice((0.0, 0.15, 0.4)),
        pace_ms=rng.choice((1, 5, 15)),
        disorder_ms=rng.choice((0, 10, 60)),
        expires=expires,
        mark_idle=rng.random() < 0.5,
        final_watermark=rng.random() < 0.5,
        produce=rng.choice((0.02, 0.05, 0.2)),
        commit=rng.choice((0.002, 0.02, 0.2)),
        tick=rng.choice((0.01, 0.04, 0.1)) if expires else 0.0,
        crash=often,
        rebalance=rng.choice((0.0, 0.003, 0.02)),
        pause=rare,
        trim=rng.choice((0.0, 0.01)),
        copy=rng.choice((0.0, 0.01)),
        starve=rng.choice((0.0, 0.0, 0.01)),
        report=0.04 if setup.mirror_share else 0.0,
        forget=0.0,
    )
    if setup.cap_postings:
        # Copies that come and go, faster than they are compared.
        regime = replace(regime, delete_rate=0.25, repeat_rate=0.5, shingles=4, words=2, produce=0.2)
    aim = rng.random()
    if aim < 0.12:
        setup, regime = _always_matching(rng, setup, regime)
    elif aim < 0.2:
        setup, regime = _falling_behind(setup, regime)
    setup, regime = _without_retention(random.Random(f"{seed} no retention"), setup, regime)
    setup, regime = _of_family(seed, setup, regime, steady=aim < 0.12)
    candidates = random.Random(f"{seed} candidates").choice((0, 0, 1, 2))
    if setup.cap_postings and candidates:
        setup, regime = replace(setup, cap_candidates=candidates), replace(regime, words=3)
    return rng, setup, regime


def _of_family(seed: int, setup: Setup, regime: Regime, *, steady: bool) -> tuple[Setup, Regime]:
    """The setup and the regime with the changes of the seed's family."""
    if seed >= DISKS_FROM:
        setup, regime = _with_disks(random.Random(f"{seed} disks"), setup, regime)
    elif seed >= LOSSES_FROM and seed % 3 == 0:
        setup, regime = _of_records(seed, setup, regime, steady=steady)
    elif seed >= LOSSES_FROM:
        setup = replace(setup, rekey=seed % 3 == 1)
    elif seed >= GROUPS_FROM:
        drawn = random.Random(f"{seed} forget")
        setup = replace(setup, rekey=drawn.random() < 0.3)
        regime = replace(regime, forget=drawn.choice((0.0, 0.004, 0.01)))
    elif seed >= REKEY_FROM:
        often = random.Random(f"{seed} pause").choice((0.0, 0.005, 0.02))
        setup, regime = replace(setup, rekey=True), replace(regime, pause=max(regime.pause, often))
    elif seed >= EXACT_FROM:
        setup = replace(setup, cap_postings=0, scheme=ExactShingles(setup.threshold, setup.scheme.measure))
    elif seed >= SETS_FROM:
        setup = replace(setup, cap_postings=0, scheme=NamedItems(setup.scheme.measure))
    elif seed >= RECORDS_FROM:
        setup, regime = _of_records(seed, setup, regime, steady=steady)
    return setup, regime


def _with_disks(rng: random.Random, setup: Setup, regime: Regime) -> tuple[Setup, Regime]:
    """Copies on disk that are soon due, and events that make their recovery differ from that of the whole log."""
    setup = replace(
        setup, save_from=rng.choice((0, 4, 16)), rewrite_from=rng.choice((None, 0, 3)), rekey=rng.random() < 0.2
    )
    frequent = replace(
        regime,
        messages=rng.randint(20, 48),
        commit=max(regime.commit, 0.02),
        crash=max(regime.crash, rng.choice((0.01, 0.03))),
        rebalance=max(regime.rebalance, 0.005),
        pause=rng.choice((0.0, 0.0, 0.01, 0.03)),
        starve=rng.choice((0.01, 0.03)),
        trim=max(regime.trim, rng.choice((0.0, 0.02))),
    )
    if rng.random() < 0.3:
        # Records of workers that lost their partition arrive after the records that they contradict were dropped.
        frequent = replace(frequent, ids=3, delete_rate=0.4, commit=0.2, crash=0.005, pause=0.04)
    return setup, frequent


def _without_retention(rng: random.Random, setup: Setup, regime: Regime) -> tuple[Setup, Regime]:
    """No retention, in a share of the runs in which nothing expires, or only by number."""
    if (setup.retention_ms == LONG_MS or setup.max_documents) and rng.random() < 0.4:
        return replace(setup, retention_ms=None), replace(regime, tick=regime.tick or rng.choice((0.0, 0.02)))
    return setup, regime


def _of_records(seed: int, setup: Setup, regime: Regime, steady: bool) -> tuple[Setup, Regime]:
    """The same with records: without caps and without stories."""
    threshold, records = draw_records(seed, steady)
    setup = replace(
        setup,
        threshold=threshold,
        cap_postings=0,
        stories=False,
        mirror_share=0.0,
        scheme=NamedRecords(records.drift),
        records=records,
    )
    return setup, replace(regime, report=0.0, pause=max(regime.pause, records.pause))


def _always_matching(rng: random.Random, setup: Setup, regime: Regime) -> tuple[Setup, Regime]:
    """Few documents with many updates, and every version matches every other: no pair may ever be withdrawn."""
    setup = replace(setup, threshold=0.3, retention_ms=LONG_MS, max_documents=0, cap_postings=0, partitions=2)
    steady = replace(
        regime,
        ids=rng.choice((2, 3)),
        shingles=4,
        words=4,
        least_words=3,
        delete_rate=0.0,
        repeat_rate=0.0,
        expires=False,
        tick=0.0,
        produce=rng.choice((0.05, 0.1)),
        starve=rng.choice((0.0, 0.02)),
    )
    return setup, steady


def _falling_behind(setup: Setup, regime: Regime) -> tuple[Setup, Regime]:
    """Event time runs, agents lag, and no document repeats: every pair that arrived in time must be published."""
    setup = replace(setup, threshold=0.3, retention_ms=40, lateness_ms=0, max_documents=0, cap_postings=0)
    lagging = replace(
        regime,
        ids=40,
        shingles=4,
        words=4,
        delete_rate=0.0,
        pace_ms=15,
        disorder_ms=0,
        expires=True,
        mark_idle=False,
        produce=0.1,
        tick=0.1,
        starve=0.02,
    )
    return setup, lagging
