"""Records of people, with updates, deletes and decisions; and what is published of them."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stream_lsh import Record, RecordLinker
from stream_lsh.config import Config
from stream_lsh.config.model import PipelineConfig
from stream_lsh.kinds.record.messages import record_message
from stream_lsh.kinds.record.profiles import find_profile
from tests.chaos.checker import Checker, Verdict

PROFILE_FILE = Path(__file__).with_name("people.toml")
_BEGIN_MS = 1_700_000_000_000
_FIRST = ("Ada", "Bea", "Cid", "Dora", "Emil", "Finn", "Gwen", "Hugo", "Ines", "Jon")
_LAST = ("Abbot", "Baker", "Cooper", "Dyer", "Eaton", "Fisher", "Glover", "Harper", "Ibbot", "Joiner", "Knight", "Lark")
_TOWNS = ("York", "Leeds", "Hull", "Bath", "Ely")
_IN_A_BUCKET = 10
"""About this many records share a name, or a town and a first letter, regardless of the total."""


class Decided(NamedTuple):
    """A decision about two ids; None withdraws it."""

    one: str
    other: str
    verdict: str | None


Change = Record | Decided | str
"""A version of a record, a decision, or the id of a record that is deleted."""


def people(count: int, seed: int) -> list[Change]:
    """`count` records, some about the same person, with updates, deletes and decisions between them.

    Records that a decision calls the same are never updated: the decision holds if their pair was scored at least once
    when both were known, and a worker may read an update before or after a decision.
    """
    rng, stream, known = random.Random(seed), list[Change](), list[Record]()
    last = _some(_LAST, count // _IN_A_BUCKET // len(_FIRST), rng)
    towns = ["", *_some(_TOWNS, count // _IN_A_BUCKET // len(_FIRST), rng)]
    updated, same = set[str](), set[str]()
    for number in range(count):
        if known and rng.random() < 0.35:
            fields = {**rng.choice(known).fields, **_changed(rng, towns)}
        else:
            name, born = f"{rng.choice(_FIRST)} {rng.choice(last)}", str(rng.randrange(1000, 9999))
            fields = {"name": name, "born": born, "town": rng.choice(towns)}
        record = Record(f"r{number}", fields, "", _BEGIN_MS + number)
        stream.append(record)
        known.append(record)
        drawn, place = rng.random(), rng.randrange(len(known))
        if drawn < 0.1 and known[place].id not in same:
            updated.add(known[place].id)
            known[place] = known[place]._replace(fields={**known[place].fields, **_changed(rng, towns)})
            stream.append(known[place])
        elif drawn < 0.13:
            stream.append(known[place].id)
        elif drawn < 0.2 and len(known) > 1:
            pair, verdict = _two_alike(rng, known), rng.choice(("same", "different", "different", None))
            if verdict != "same" or updated.isdisjoint(pair):
                stream.append(Decided(*pair, verdict))
                same.update(pair if verdict == "same" else ())
    return stream


def _some(names: Sequence[str], count: int, rng: random.Random) -> list[str]:
    """At least `count` names that begin with these."""
    ends = ["".join(rng.choice("aeiou") + rng.choice("dklmnrst") for _ in range(3)) for _ in range(count // len(names))]
    return [*names, *(name + end for name in names for end in ends)]


def _changed(rng: random.Random, towns: Sequence[str]) -> dict[str, object]:
    changes: tuple[dict[str, object], ...] = (
        {"town": rng.choice(towns)},
        {"born": ""},
        {"born": str(rng.randrange(1000, 9999))},
        {},
    )
    return rng.choice(changes)


def _two_alike(rng: random.Random, known: Sequence[Record]) -> tuple[str, str]:
    one = rng.choice(known)
    alike = [other.id for other in known if other.fields["name"] == one.fields["name"] and other.id != one.id]
    return one.id, rng.choice(alike or [other.id for other in known if other.id != one.id])


def messages(stream: Sequence[Change], pipeline: PipelineConfig) -> list[tuple[str, bytes, bytes | None]]:
    """Topic, key and value of each change."""
    profile, sent = find_profile(str(PROFILE_FILE)), list[tuple[str, bytes, bytes | None]]()
    for one in stream:
        if isinstance(one, Decided):
            value = None if one.verdict is None else json.dumps({"decision": one.verdict}).encode()
            sent.append((pipeline.decisions_topic, json.dumps(one[:2], separators=(",", ":")).encode(), value))
        elif isinstance(one, str):
            sent.append((pipeline.source, one.encode(), None))
        else:
            sent.append((pipeline.source, *record_message(one, profile, pipeline.fields)))
    return sent


class RecordChecker(Checker):
    """Matches, reviews and entities are those that a linker in memory has of the newest versions and decisions."""

    def __init__(self, config: Config, pipeline: PipelineConfig, stream: Sequence[Change]) -> None:
        super().__init__(config, pipeline, ())
        self._changes = stream

    async def _check(self) -> None:
        linker, pipeline, verdict = self._linker(), self._pipeline, self._verdict
        verdict.documents = len(linker)
        reviews = await self._of_pairs(pipeline.public_topics["reviews"])
        matches = await self._of_pairs(pipeline.public_topics["matches"])
        true = {(one.left, one.right): one.score for one in linker.matches()}
        _compare(verdict, matches, true, "match")
        _compare(verdict, reviews, {(one.left, one.right): one.score for one in linker.reviews()}, "review")
        entities = await self._compacted(pipeline.public_topics["entities"])
        groups = {frozenset(member["id"] for member in one["members"]): one["golden"] for one in entities.values()}
        wanted = {frozenset(one.members): dict(one.golden) for one in linker.entities()}
        self._say("entities are missing", [sorted(one) for one in wanted.keys() - groups.keys()])
        self._say("entities are wrong", [sorted(one) for one in groups.keys() - wanted.keys()])
        golden = [sorted(one) for one in wanted.keys() & groups.keys() if wanted[one] != groups[one]]
        self._say("golden records are wrong", golden)
        members = {
            key.decode(): value["entity"] for key, value in (await self._compacted(pipeline.members_topic)).items()
        }
        by_entity: dict[str, set[str]] = {}
        for id, entity in members.items():
            by_entity.setdefault(entity, set()).add(id)
        differing = {frozenset(one) for one in by_entity.values()} ^ groups.keys()
        self._say("entities differ between members and entities", [sorted(one) for one in differing])
        verdict.pairs, verdict.members = len(matches) + len(reviews), len(members)

    def _linker(self) -> RecordLinker:
        live, decided = dict[str, Record](), dict[tuple[str, str], str | None]()
        for one in self._changes:
            if isinstance(one, Decided):
                decided[min(one[:2]), max(one[:2])] = one.verdict
            else:
                live.pop(one if isinstance(one, str) else one.id, None)
                if isinstance(one, Record):
                    live[one.id] = one
        linker = RecordLinker(find_profile(str(PROFILE_FILE)), max_candidates=0)
        linker.add_many(live.values())
        for (left, right), verdict in decided.items():
            linker.decide(left, right, None if verdict is None else verdict == "same")
        return linker

    async def _of_pairs(self, topic: str) -> dict[tuple[str, str], float]:
        found = await self._compacted(topic)
        return {(*json.loads(key),): value["score"] for key, value in found.items()}


def _compare(verdict: Verdict, found: Mapping[Any, float], true: Mapping[Any, float], kind: str) -> None:
    verdict.missing += [f"{kind} {pair} {true[pair]}" for pair in sorted(true.keys() - found.keys())]
    verdict.wrong += [f"{kind} {pair} {found[pair]}" for pair in sorted(found.keys() - true.keys())]
    changed = [pair for pair in sorted(true.keys() & found.keys()) if true[pair] != found[pair]]
    verdict.stale += [f"{kind} {pair} {found[pair]}, not {true[pair]}" for pair in changed]
