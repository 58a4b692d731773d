"""Entities and their records."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.browser.answers import FixedSource
from tests.browser.cases.case import START, Case
from tests.browser.hostile import HOSTILE

PERSON = {"given_name": "Catherine", "surname": "Marlowe", "born": "1969-09-25", "email": "cm@example.org"}


def _entity(id: str, golden: Mapping[str, Any], size: int = 2, growth: int = 0) -> dict[str, Any]:
    times = {"first_time": START, "last_time": START + 60_000 * size}
    return {"entity": id, "size": size, "golden": golden, **times, "grew": growth}


def _entities(*rows: Any, path: str = "limit=50", **changes: Any) -> Callable[[], FixedSource]:
    value = {"entities": list(rows), "total": len(rows), "next": None, "lag": 0, **changes}
    return lambda: FixedSource({f"/pipelines/people/entities?{path}": (200, value)})


def _record(id: str, fields: Mapping[str, Any], partner: str | None = "crm-3", source: str = "crm") -> dict[str, Any]:
    share = None if partner is None else 0.987
    return {"id": id, "time": START, "source": source, "fields": fields, "similarity": share, "partner": partner}


def _one_entity(golden: Mapping[str, Any], *members: Any, **changes: Any) -> Callable[[], FixedSource]:
    whole = {**_entity("crm-3", golden, len(members)), "members": list(members), "next": None, "lag": 0}
    origins = {name: members[0]["id"] for name in golden}
    value = {**whole, "origins": origins, "history": {"since": START, "events": []}, **changes}
    return lambda: FixedSource({"/pipelines/people/entities/crm-3?limit=100": (200, value)})


_CLOSED = {
    "type": "urn:stream-lsh:problem:closed",
    "title": "The cluster or entity is closed",
    "status": 410,
    "detail": "got an entity that was merged",
    "into": "crm-9",
}

_OUTSIDE = {"id": "shop-9", "partner": "crm-40", "cluster": "crm-40", "similarity": 0.91}

CASES = [
    Case(
        "entities",
        "/p/people/entities",
        _entities(_entity("crm-3", PERSON, 5, 2), _entity("shop-9", {"surname": ""}), total=1_040, next="older", lag=2),
        ("1,040 entities, newest first", "Catherine, Marlowe, 1969-09-25", "+2", "shop-9", "Next page"),
    ),
    Case("entities-none", "/p/people/entities", _entities(), ("There are no entities yet",)),
    Case(
        "entities-filtered",
        "/p/people/entities?text=crm&least_size=3&least_sources=7&sort=size&after=older",
        _entities(path="text=crm&least_size=3&sort=size&limit=50&after=older"),
        ("No entity matches these filters",),
    ),
    Case(
        "entities-hostile",
        "/p/people/entities",
        _entities(*(_entity(one, {one: [one, 7]}) for one in HOSTILE)),
        ("<script>window.owned=1</script>", "{{7*7}}", "\\u202e"),
    ),
    Case(
        "entity-long-value",
        "/p/people/entity?id=crm-3",
        _one_entity(
            {**PERSON, "address": "L" * 300}, _record("crm-3", {**PERSON, "address": "L" * 300}), _record("shop-9", {})
        ),
        ("given_name",),
    ),
    Case(
        "entity",
        "/p/people/entity?id=crm-3",
        _one_entity(
            PERSON,
            _record("crm-3", PERSON, "shop-9"),
            _record("shop-9", {**PERSON, "given_name": "Cath", "phone": ["1", "2"]}, source="shop"),
            _record("crm-8", {**PERSON, "born": "1969-09-52", "email": None}, None),
            lag=1,
            links={"inside": [[0, 1, 0.9871]], "outside": [_OUTSIDE]},
        ),
        (
            "Kept apart",
            "crm-40",
            "Catherine, Marlowe, 1969-09-25",
            "3 records: crm 2, shop 1",
            "2 of 3",
            "1969-09-52",
            "1, 2",
            "0.987",
        ),
    ),
    Case(
        "entity-hostile",
        "/p/people/entity?id=crm-3",
        _one_entity(
            {one: one for one in HOSTILE},
            _record("crm-3", {one: one * 2 for one in HOSTILE}),
            *(_record(one, {one: one}, source=one) for one in HOSTILE),
            golden_omitted=3,
            next=100,
        ),
        ("<script>window.owned=1</script>", "{{7*7}}", "3 fields are omitted"),
    ),
    Case(
        "entity-closed",
        "/p/people/entity?id=crm-3",
        lambda: FixedSource({"/pipelines/people/entities/crm-3?limit=100": (410, _CLOSED)}),
        ("This entity is closed", "Its documents are now in crm-9"),
        410,
    ),
    Case("entity-no-id", "/p/people/entity", lambda: FixedSource({}), ("Invalid request",), 400),
]
