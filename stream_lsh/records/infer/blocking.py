"""Blocking rules and LSH, with the candidates that they will find and the share of near-equal pairs among them.

Rules of one field or two are chosen by the number of records that share their values.  Texts get LSH at the lowest
threshold with few candidates.  The candidates are counted in a sample and scaled to all records.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from stream_lsh.arrays import I64, U64, Bools
from stream_lsh.records.block.blocker import Blocker
from stream_lsh.records.block.lsh import lsh_block
from stream_lsh.records.block.pairs import candidate_pairs
from stream_lsh.records.block.rules import Rule
from stream_lsh.records.compare.phonetic import phonetic_code
from stream_lsh.records.infer.columns import Seen
from stream_lsh.records.profile import LshBlocking

COUNTED, _BLOCKED = 5_000, 2_000
"""The records in which the candidates of rules of whole values are counted, and those of all other blocks."""
_RULES, _FREE_OF_EACH = 16, 4
_PAIRS_A_RECORD = 3.0
_THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_LSH_PAIRS_A_RECORD = 20.0
_MOST_LSH, _TRIED = 3, 8
_TIMES_PARTNERS = 4.0
"""The candidates of LSH that are allowed for each near-equal record of a record, beside those for all records."""
_LEAST_GAIN = 0.01
"""A further LSH block finds at least this share of the near-equal pairs."""
_COUNTED_PAIRS = 1_000_000
_ENOUGH = 0.9
"""A predicted recall from which no further rules are added."""
_PARTS = {"name": ":soundex", "company": ":first5", "address": ":first5", "text": ":first5"}


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocking of a profile.

    Attributes:
        rules: blocking rules.
        lsh: LSH blocking.
        candidates: the predicted number of candidates of each block, by its name, without caps.
        left_out: texts that no LSH can block, each with the reason.
        recall: the share of the near-equal pairs that share a block; None without near-equal pairs.
        near: the number of near-equal pairs.
    """

    rules: tuple[str, ...]
    lsh: tuple[LshBlocking, ...]
    candidates: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    recall: float | None = None
    near: int = 0


class _Counter:
    """Counts the candidates of blocks in a part of the sample, and near-equal pairs in all of it."""

    def __init__(
        self, columns: Sequence[Seen], near: tuple[I64, I64], sources: I64, records: int, *, across: bool
    ) -> None:
        self.places = {one.name: place for place, one in enumerate(columns)}
        self._values = [*zip(*(one.values for one in columns), strict=True)]
        self.rows = np.unique(np.linspace(0, sources.size - 1, min(sources.size, COUNTED)).astype(np.int64))
        self._sources = sources[self.rows] if across else None
        self._near = near
        self.near = near[0].size
        self.factor = (records / max(1, self.rows.size)) ** 2
        self.records = records

    def pairs(self, keys: U64) -> float:
        """The number of pairs of all records that share a key, a code for each row: uint64[n]; 0 is no key."""
        known = keys != 0
        total = _pairs(keys[known])
        if self._sources is not None:
            codes = keys[known] * np.uint64(1 + int(self._sources.max())) + self._sources[known].astype(np.uint64)
            total -= _pairs(codes)
        return total * self.factor

    def counted(self, blocker: Blocker) -> float:
        """The number of candidates of a block; if there are very many, at least this many."""
        rows = self.rows[:: max(1, self.rows.size // _BLOCKED)]
        sources = None if self._sources is None else self._sources[:: max(1, self.rows.size // _BLOCKED)]
        factor = self.factor * (self.rows.size / rows.size) ** 2
        keys = blocker.keys([self._values[row] for row in rows.tolist()])
        most = max(_pairs(column[column != 0]) for column in keys.T)
        if sum(_pairs(column[column != 0]) for column in keys.T) > _COUNTED_PAIRS:
            return most * factor
        found = candidate_pairs(keys, np.zeros(keys.shape[1], np.int64))
        count = found.left.size
        if sources is not None:
            count = int((sources[found.left] != sources[found.right]).sum())
        return count * factor

    def found(self, blocker: Blocker) -> Bools:
        """Whether each near-equal pair shares a key."""
        left, right = ([self._values[row] for row in side.tolist()] for side in self._near)
        if not left:
            return np.zeros(0, np.bool_)
        ones, others = blocker.keys(left), blocker.keys(right)
        return np.array(
            [bool({*one} & {*other} - {0}) for one, other in zip(ones.tolist(), others.tolist(), strict=True)]
        )


def blocks_of(
    columns: Sequence[Seen],
    near: tuple[I64, I64],
    sources: I64,
    records: int,
    *,
    across: bool,
    partners: float = 0.0,
) -> Blocks:
    """The blocking of some columns.

    Args:
        columns: of the fields that are compared, with the values of a sample.
        near: rows of near-equal pairs.
        sources: a number for the source of each record of the sample, int64[n].
        records: the number of all records.
        across: whether only pairs of different sources are compared.
        partners: the mean number of near-equal records of a record.
    """
    counter = _Counter(columns, near, sources, records, across=across)
    lsh, left_out = _lsh(columns, counter, partners)
    rules = _rules(columns, counter) or ([] if lsh else [_fewest(columns, counter)])
    every = {rule: Blocker([Rule(rule, counter.places)]) for rule in rules}
    every |= {f"lsh {number}": Blocker([], [lsh_block(one, counter.places)]) for number, one in enumerate(lsh, 1)}
    found = np.zeros(near[0].size, np.bool_)
    candidates = {}
    for name, blocker in every.items():
        candidates[name] = round(counter.counted(blocker))
        found |= counter.found(blocker)
    for one in columns:
        rule = f"{one.name}:token"
        if found.size and found.mean() < _ENOUGH and one.is_text and len(rules) < _RULES + 4:
            blocker = Blocker([Rule(rule, counter.places)])
            count, more = counter.counted(blocker), found | counter.found(blocker)
            if count <= _LSH_PAIRS_A_RECORD * records and more.mean() >= found.mean() + 0.02:
                rules, candidates[rule], found = [*rules, rule], round(count), more
    return Blocks(
        tuple(rules), tuple(lsh), candidates, left_out, float(found.mean()) if found.size else None, found.size
    )


def _pairs(values: U64) -> float:
    counts = np.unique(values, return_counts=True)[1].astype(np.float64)
    return float((counts * (counts - 1) / 2).sum())


def _lsh(columns: Sequence[Seen], counter: _Counter, partners: float) -> tuple[list[LshBlocking], dict[str, str]]:
    """LSH for texts at the lowest threshold with few candidates; those that find most near-equal pairs."""
    most = (_LSH_PAIRS_A_RECORD + _TIMES_PARTNERS * partners) * counter.records
    masks, left_out = dict[str, tuple[LshBlocking, Bools]](), dict[str, str]()
    texts = [one for one in columns if one.is_text and one.kind.type != "address"]
    for one in sorted(texts, key=lambda one: -one.distinct)[:_TRIED]:
        lowest = 0.0
        for threshold in _THRESHOLDS:
            lsh = LshBlocking(fields=(one.name,), threshold=threshold, recall=0.9)
            blocker = Blocker([], [lsh_block(lsh, counter.places)])
            count = counter.counted(blocker)
            if count <= most:
                masks[one.name] = lsh, counter.found(blocker)
                break
            lowest = lowest or count
        if lowest:
            at = f", at {lsh.threshold:g} {count:,.0f}" if one.name not in masks else ""
            left_out[one.name] = f"LSH at {_THRESHOLDS[0]:g} would find {lowest:,.0f} candidates or more{at}"
    chosen = list[LshBlocking]()
    found = np.zeros(counter.near, np.bool_)
    while masks and len(chosen) < _MOST_LSH:
        name = max(masks, key=lambda name: int((masks[name][1] & ~found).sum()))
        lsh, mask = masks.pop(name)
        if chosen and (mask & ~found).sum() < _LEAST_GAIN * max(1, counter.near):
            break
        chosen.append(lsh)
        found |= mask
    return chosen, left_out


def _rules(columns: Sequence[Seen], counter: _Counter) -> list[str]:
    """Rules of one field, then rules of two fields, those with the most candidates first."""
    rows = counter.rows
    most = _PAIRS_A_RECORD * rows.size * counter.factor
    whole = [(one.name, one, _codes(one.values, rows)) for one in columns]
    rules = [name for name, one, codes in whole if one.kind.type != "category" and counter.pairs(codes) <= most]
    parts = [(f"{one.name}{_part(one)}", one, _codes(_cut(one), rows)) for one in columns]
    costs = []
    for (rule, left, codes), (other_rule, right, other_codes) in combinations(parts, 2):
        both = np.where((codes != 0) & (other_codes != 0), codes << np.uint64(32) | other_codes, np.uint64(0))
        cost = counter.pairs(both)
        if 0 < cost <= most or len(columns) == 2:
            costs.append((-cost, f"{rule} + {other_rule}", {left.name, right.name}))
    used: dict[str, int] = {}
    for _, rule, names in sorted(costs, key=lambda cost: (cost[0], cost[1])):
        if len(rules) < _RULES and all(used.get(name, 0) < _FREE_OF_EACH for name in names):
            rules.append(rule)
            used |= {name: used.get(name, 0) + 1 for name in names}
    return rules


def _fewest(columns: Sequence[Seen], counter: _Counter) -> str:
    """The field whose values find the fewest candidates, however many they are: a profile has a block."""
    return min(columns, key=lambda one: counter.pairs(_codes(one.values, counter.rows))).name


def _part(one: Seen) -> str:
    return ":first5" if one.kind.form in ("latitude", "longitude") else _PARTS.get(one.kind.type, "")


def _cut(one: Seen) -> list[str]:
    part = _part(one)
    if part == ":soundex":
        return [phonetic_code(value) for value in one.values]
    return [value[:5] for value in one.values] if part else one.values


def _codes(values: Sequence[str], rows: I64) -> U64:
    """A number for each value of some rows, 0 for a missing one: uint64[n]."""
    codes: dict[str, int] = {"": 0}
    return np.array([codes.setdefault(values[row], len(codes)) for row in rows.tolist()], np.uint64)
