"""Profiles: files are read as a whole, every mistake with its line, and written as they were read."""

import re
import sys
from dataclasses import replace

import pytest

from stream_lsh.errors import ConfigError, InputError
from stream_lsh.kinds.record.profile_keys import PROFILE, TABLES
from stream_lsh.kinds.record.profile_keys import TYPES as READ_TYPES
from stream_lsh.kinds.record.profiles import BUNDLED, bundled, load_profile, parse_profile, profile_text
from stream_lsh.records.check import checked, problems
from stream_lsh.records.compare.catalog import comparator
from stream_lsh.records.infer import infer
from stream_lsh.records.model import Record
from stream_lsh.records.profile import Field, Profile, column_of
from stream_lsh.records.standardise.catalog import TYPES

GOOD = """\
name = "people"
rules = ["surname:soundex"]
match = 0.9

[[field]]
name = "surname"
type = "name"

[[comparison]]
field = "surname"
comparator = "jaro-winkler"
levels = [0.9]
"""


def problems_of(text: str) -> list[str]:
    with pytest.raises(ConfigError) as raised:
        parse_profile(text, "p.toml")
    return list(raised.value.problems)


@pytest.mark.parametrize(
    ("good", "bad", "line", "message"),
    [
        ('name = "people"\n', "", 1, "name: got none, expected the name of the profile"),
        ("match = 0.9", "match = 1.5", 3, "match: got 1.5, expected a number above 0 and below 1"),
        ("match = 0.9", "match = 0.01", 1, "review: got 0.1, expected at most `match`, 0.01"),
        ("match = 0.9", "mach = 0.9", 3, "mach: got an unknown key; did you mean 'match'?"),
        ("match = 0.9", "link = 'linked'", 3, "link: got 'linked', expected dedupe, link or both; did you"),
        ("match = 0.9", "prior = 0.01", 3, "prior: got a prior without `m` and `u`"),
        ('["surname:soundex"]', '["sirname"]', 2, "rules: got the field 'sirname', expected one of the profile; did"),
        ('["surname:soundex"]', '["surname:sound"]', 2, "rules: transform: got 'sound'"),
        ('["surname:soundex"]', "[]", 2, "rules: got none and no [[lsh]], expected blocking"),
        ('type = "name"', 'type = "names"', 7, "field.type: got 'names', expected name, company, date, "),
        ('type = "name"', 'of = ["x"]', 7, "field.of: got the field 'x', expected one of the profile"),
        ('type = "name"', 'part = "last"', 7, "field.part: got one, expected `of` beside it"),
        ('type = "name"', 'keep = "newest"', 7, "field.keep: got 'newest', expected most-frequent, most-recent, "),
        ('type = "name"', 'keep = "source-priority"', 7, "field.keep: got 'source-priority' without `source_pr"),
        ("match = 0.9", "source_priority = 'crm'", 3, "source_priority: got 'crm', expected a list of texts"),
        ("match = 0.9", "source_priority = ['crm', 'CRM']", 3, "source_priority: got 'CRM' a second time"),
        ('name = "surname"', 'name = "Sur Name"', 6, "field.name: got 'Sur Name', expected a name of a-z, 0-9 and _"),
        ('field = "surname"', 'field = "sir"', 10, "comparison.field: got the field 'sir'"),
        ('"jaro-winkler"', '"jaro"', 11, "comparison.comparator: got 'jaro', expected one of"),
        ("levels = [0.9]", "levels = [0.8, 0.9]", 12, "comparison.levels: jaro-winkler: got the levels 0.8, 0.9"),
        ("levels = [0.9]", "levels = ['a']", 12, "comparison.levels: got a list, expected a list of numbers above 0"),
        ("levels = [0.9]", "m = [0.5, 0.5]\nu = [0.5, 0.5]", 12, "comparison.m: got 2 probabilities, expected 4"),
        ("levels = [0.9]", "m = [1, 1, 1, 1]", 9, "comparison.u: got none, expected both `m` and `u`"),
        ("[[comparison]]", "[[lsh]]\nfields = ['born']\n[[comparison]]", 10, "lsh.fields: got the field 'born'"),
        ("[[comparison]]", "[[lsh]]\nfields = []\n[[comparison]]", 10, "lsh.fields: got none, expected one or more"),
        ("[[comparison]]", "[[field]]\nname = 'surname'\n[[comparison]]", 10, "field.name: got 'surname' a second"),
        ("[[comparison]]", "match = 1\n[[comparison]]", 9, "field.match: got an unknown key; see docs/"),
        ("[[comparison]]", "m = [1]\n[[comparison]]", 9, "field.m: got an unknown key; it belongs in [[comparison]]"),
        ("[[field]]", "[field]", 5, "field: got a table, expected [[field]]"),
        ("match = 0.9", "match = ", 3, "not TOML"),
    ],
)  # fmt: skip
def test_a_mistake_is_reported_with_its_line(good: str, bad: str, line: int, message: str) -> None:
    assert good in GOOD
    found = problems_of(GOOD.replace(good, bad, 1))
    assert any(problem.startswith(f"p.toml:{line}: {message}") for problem in found), found


def test_all_mistakes_are_reported_at_once_in_the_order_of_the_file() -> None:
    text = GOOD.replace("0.9", "9", 1).replace('"name"', '"nam"').replace('"surname:soundex"', '"x"')
    lines = [int(re.match(r"p\.toml:(\d+)", problem)[1]) for problem in problems_of(text)]  # type: ignore[index]
    assert len(lines) >= 3
    assert lines == sorted(lines)


def test_an_unreadable_file_is_reported(tmp_path: object) -> None:
    with pytest.raises(ConfigError, match="got No such file"):
        load_profile(f"{tmp_path}/people.toml")
    with pytest.raises(ConfigError, match="did you mean 'people'"):
        bundled("peopel")


@pytest.mark.parametrize("library", ["rapidfuzz", "jellyfish"])
def test_a_profile_reports_a_missing_library_of_the_extra_with_what_to_install(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ConfigError, match=rf"needs {library}: pip install \"stream_lsh\[records\]\""):
        bundled("people")


@pytest.mark.parametrize("name", BUNDLED)
def test_profiles_of_the_package_fit_and_are_written_as_they_are_read(name: str) -> None:
    profile = bundled(name)
    assert profile.name == name
    assert list(problems(profile)) == []
    assert parse_profile(profile_text(profile), name) == profile


def test_learned_weights_are_written_and_read_again(tmp_path: object) -> None:
    profile = bundled("people")
    sizes = [len(comparator(one.comparator, one.levels).levels) for one in profile.comparisons]
    shares = [tuple((at + 1) / (size * (size + 1) / 2) for at in range(size)) for size in sizes]
    learned = replace(
        profile,
        prior=1.25e-5,
        missing=('a "b" \\ \x01 é',),
        comparisons=tuple(replace(one, m=m, u=m[::-1]) for one, m in zip(profile.comparisons, shares, strict=True)),
    )
    path = f"{tmp_path}/learned.toml"
    with open(path, "w", encoding="utf-8") as file:
        file.write(profile_text(learned))
    assert load_profile(path) == learned
    assert learned.learned
    assert not profile.learned


def test_the_rules_of_golden_records_are_read_and_written() -> None:
    text = GOOD.replace("match = 0.9", 'source_priority = ["crm", "web shop"]')
    profile = parse_profile(text.replace('type = "name"', 'keep = "source-priority"'), "p.toml")
    assert profile.source_priority == ("crm", "web shop")
    assert [field.keep for field in profile.fields] == ["source-priority"]
    assert parse_profile(profile_text(profile), "p.toml") == profile
    usual = parse_profile(GOOD, "p.toml")
    assert (usual.source_priority, usual.fields[0].keep) == ((), "most-frequent")


def test_the_newest_contact_data_of_people_and_companies_are_kept() -> None:
    for name in ("people", "companies"):
        keeps = {field.name: field.keep for field in bundled(name).fields}
        assert {keeps[field] for field in ("address", "postcode", "phone", "email")} == {"most-recent"}
    assert {field.keep for field in bundled("bibliography").fields} == {"most-frequent"}


def test_a_file_can_use_all_types_and_all_keys() -> None:
    assert set(READ_TYPES) == set(TYPES)
    for cls, keys in TABLES.values():
        assert set(cls.__slots__) == set(keys)  # type: ignore[attr-defined]
    assert set(Profile.__slots__) == {*PROFILE, "fields", "comparisons", "lsh"}


def test_a_profile_made_by_hand_is_checked_as_well() -> None:
    with pytest.raises(ConfigError, match="did you mean 'most-recent'"):
        checked(replace(bundled("people"), fields=(*bundled("people").fields, Field(name="x", keep="most-recently"))))
    with pytest.raises(ConfigError) as raised:
        checked(Profile(name="x", fields=(Field(name="a"), Field(name="a")), comparisons=()))
    assert len(raised.value.problems) == 3


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (["rec_id", "given_name", "soc_sec_id"], "rec_id"),
        (["RECORD ID", "name"], "RECORD ID"),
        (["unique_id"], "unique_id"),
        (["name"], None),
    ],
)
def test_the_column_of_the_id_is_found(columns: list[str], expected: str | None) -> None:
    assert column_of(bundled("people").id_columns, columns) == expected


def test_a_profile_is_proposed_from_the_values() -> None:
    rows = [
        {
            "ID": str(n), "Full Name": f"{'Ann Bob Carl Dora'.split()[n % 4]} Sur{chr(97 + n % 26)}{chr(97 + n // 26)}",
            "dob": f"19{10 + n % 80}-0{1 + n % 9}-1{n % 10}", "mail": f"user{n}@example.com", "sex": "mf"[n % 2],
            "Year": str(1950 + n % 50), "ref": f"AB-{1000 + n}", "empty": "", "same": "x",
            "note": f"some longer words about the thing number {n} here",
        }
        for n in range(200)
    ]  # fmt: skip
    profile = infer([Record(row["ID"], row) for row in rows])
    found = {field.columns[0]: field.type for field in profile.fields}
    assert found == {
        "Full Name": "name", "dob": "date", "mail": "email", "sex": "category", "Year": "number", "ref": "identifier",
        "note": "text",
    }  # fmt: skip
    assert list(problems(profile)) == []
    for name in profile.names:
        assert any(name not in rule for rule in profile.rules)
    assert parse_profile(profile_text(profile), "p.toml") == profile


def test_nothing_to_compare_is_no_profile() -> None:
    with pytest.raises(InputError, match="without two values"):
        infer([Record("1", {"id": "1", "a": ""}), Record("2", {"id": "2", "a": "x"})])
