"""A running application compares pairs again when the records of their partition have doubled."""

from pathlib import Path

from stream_lsh.kinds.record.profiles import profile_text
from stream_lsh.records.profile import Comparison, Field, Profile
from tests.embedded.applications import application, configured
from tests.unit.worker.query.client import in_loop

PROFILE = Profile(
    name="people",
    fields=(Field(name="name", type="name"), Field(name="town", type="name")),
    comparisons=(
        Comparison(field="name", comparator="exact", term_frequency=True, m=(0.9, 0.1), u=(0.1, 0.9)),
        Comparison(field="town", comparator="exact", m=(0.6, 0.4), u=(0.3, 0.7)),
    ),
    rules=("name",),
    prior=0.1,
    match=0.6,
    review=0.3,
    smoothing=10.0,
)
LEES = [(f"lee-{number}", {"name": "Ann Lee", "town": "Leeds"}) for number in range(4)]
OTHERS = [(f"other-{number}", {"name": f"Person {number}", "town": "York"}) for number in range(120)]
KNOWN = [(f"known-{number}", {"name": f"Known {number // 2}", "town": "Hull"}) for number in range(160)]


@in_loop
async def check_scores(profile: Path) -> None:
    async with application(configured(1, f"kind = 'record'\nprofile = '{profile}'")) as app:
        await app.send(LEES)
        assert dict(await app.read("matches")) == {}, "half of all records have this name"
        assert len(await app.read("reviews")) == 6
        await app.send(OTHERS)
        assert len(await app.read("reviews")) == 6, "settle has received no new edges"
        await app.send(KNOWN)
        matches = dict(await app.read("matches"))
        assert sum(key.startswith('["lee') for key in matches) == 6, "the name is rare now"
        assert await app.read("reviews") == []
        assert max(entity["size"] for _, entity in await app.read("entities")) == len(LEES)


def test_frequent_values_become_rare(tmp_path: Path) -> None:
    profile = tmp_path / "people.toml"
    profile.write_text(profile_text(PROFILE), encoding="utf-8")
    check_scores(profile)
