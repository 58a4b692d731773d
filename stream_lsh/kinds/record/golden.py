"""Golden records as published with entities: JSON, computed from the JSON of the members."""

from collections.abc import Iterable
from dataclasses import asdict, replace

import msgspec

from stream_lsh.ledger.clusters.entities import Entities
from stream_lsh.ledger.clusters.guards.choice import EntityGuards, Guards
from stream_lsh.pipeline.limits import Limits
from stream_lsh.records.evidence import evidence_of
from stream_lsh.records.profile import Profile
from stream_lsh.records.survivorship import GoldenRecords, Member

MemberText = tuple[str, str, int, str]
"""Id, source, time in ms, and the fields as JSON, by the names of the profile."""

_NEARLY_CERTAIN = 1 - 2**-30
"""Pairs from this probability on have 30 bits or more, which is greater than any probability below."""

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class RecordGuards(EntityGuards):
    """The guards of a pipeline of records, whose evidence orders pairs that are nearly certain.

    Example:
        >>> guards = RecordGuards()
        >>> guards.strength(0.9, "3.170;3.170;0"), guards.strength(1.0, "61.500;61.500;0")
        (0.9, 61.5)
    """

    def strength(self, similarity: float, evidence: str) -> float:
        """The probability; of nearly certain pairs the bits, because their probabilities round to 1."""
        return similarity if similarity < _NEARLY_CERTAIN or not evidence else evidence_of(evidence).total


def limits_of_records(limits: Limits, profile: Profile, describer: Entities | None = None) -> Limits:
    """The limits of a pipeline, extended by the settings of its profile."""
    guards: Guards = RecordGuards(**asdict(limits.guards))
    if profile.one_to_one:
        guards = replace(guards, one_per_source=True)
    if profile.bridge > profile.match and not (guards.strong_links or guards.bridge_similarity):
        guards = replace(guards, bridge_similarity=profile.bridge)
    return replace(limits, guards=guards, link_from=profile.match, describer=describer or entities_of(profile))


def entities_of(profile: Profile) -> Entities:
    """Describes entities by their golden records, by the `keep` rules of the profile, and the origins of the values."""
    records = GoldenRecords(profile)

    def golden(members: Iterable[MemberText]) -> str:
        return _encode(records.of(_members(members))).decode()

    def origins(members: Iterable[MemberText]) -> dict[str, str]:
        return {name: member.id for name, member in records.origins(_members(members)).items()}

    return Entities(golden, origins)


def _members(members: Iterable[MemberText]) -> list[Member]:
    return [Member(id, source, time_ms, _decode(fields or "{}")) for id, source, time_ms, fields in members]
