"""Profiles proposed from values: types, missing values, sources, related columns, answers and blocking."""

import random
from collections.abc import Callable, Mapping

import pytest

from stream_lsh.kinds.record.in_memory import RecordLinker
from stream_lsh.kinds.record.profiles import parse_profile, profile_text
from stream_lsh.records.check import problems
from stream_lsh.records.infer import Inferred, inferred
from stream_lsh.records.infer.types import kind_of
from stream_lsh.records.model import Record
from stream_lsh.records.reading import Reader

Rows = list[dict[str, str]]

SYLLABLES = (
    "ba co di fu ga hel jo ka lu mi nor pe qui ra so ter ul ve wex yor zan bri cla dro fle gri plo sta tri".split()
)


def word(chance: random.Random, syllables: int = 2) -> str:
    return "".join(chance.choices(SYLLABLES, k=syllables))


def words(chance: random.Random, count: int) -> str:
    return " ".join(word(chance, chance.choice((1, 2, 3))) for _ in range(count))


def with_typo(chance: random.Random, text: str) -> str:
    at = chance.randrange(max(1, len(text) - 1))
    return text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]


def changed(chance: random.Random, row: Mapping[str, str], columns: list[str]) -> dict[str, str]:
    """The row with an error in one of some columns."""
    column = chance.choice(columns)
    return {**row, column: with_typo(chance, row[column])}


def companies(agencies: int = 0) -> Rows:
    """Companies, a quarter of them twice; the columns of an agency are the same for all of its companies."""
    chance = random.Random(1)
    of_agency = [
        {"agency": words(chance, 3), "director": words(chance, 2).title(), "website": f"www.{word(chance, 3)}.org",
         "programme": words(chance, 2)}
        for _ in range(agencies)
    ]  # fmt: skip
    rows: Rows = []
    for number in range(400):
        row = {
            "name": f"{words(chance, 2).title()} {chance.choice(('Inc', 'LLC', 'Corp', 'School', 'Group'))}",
            "address": f"{chance.randrange(1, 999)} {word(chance).title()} {chance.choice(('St', 'Ave', 'Road'))}",
            "city": chance.choice(("Leeds", "York", "Hull", "Bath", "Ely", "Ripon")),
            "phone": f"{chance.randrange(200, 999)}-{chance.randrange(100, 999)}-{chance.randrange(1000, 9999)}",
        }
        row |= (
            chance.choice(of_agency)
            if of_agency and chance.random() < 0.6
            else dict.fromkeys(("agency", "director", "website", "programme") if of_agency else (), "")
        )
        row["phone"] = "N/A" if chance.random() < 0.2 else row["phone"]
        rows += [row, changed(chance, row, ["name", "address"])][: 1 + (number % 4 == 0)]
    return rows


def places() -> Rows:
    """Places with coordinates, which are 0.0 where they are unknown."""
    chance = random.Random(2)
    rows: Rows = []
    for number in range(300):
        row = {"place": words(chance, 3), "latitude": f"{chance.uniform(45, 55):.6f}",
               "longitude": f"{chance.uniform(-3, 9):.6f}"}  # fmt: skip
        if chance.random() < 0.3:
            row |= {"latitude": "0.0", "longitude": "0.0"}
        rows += [row, changed(chance, row, ["place"])][: 1 + (number % 4 == 0)]
    return rows


def music() -> Rows:
    """Recordings with the number of their cluster."""
    chance = random.Random(3)
    rows: Rows = []
    for cluster in range(1, 300):
        row = {
            "CID": str(cluster), "title": words(chance, 3), "artist": words(chance, 2), "album": words(chance, 3),
            "year": str(chance.randrange(1960, 2020)), "length": f"{chance.randrange(1, 9)}:{chance.randrange(10, 60)}",
        }  # fmt: skip
        rows += [row, *(changed(chance, row, ["title", "artist"]) for _ in range(cluster % 3))]
    chance.shuffle(rows)
    return [{"TID": str(number), **row} for number, row in enumerate(rows, 1)]


def shops() -> list[Record]:
    """Products of two shops, which list each product once in other words; one shop has the brand as a column."""
    chance = random.Random(4)
    brands = [word(chance).title() for _ in range(12)]
    records = []
    for number in range(400):
        brand, model = chance.choice(brands), f"{word(chance).upper()}{chance.randrange(100, 9999)}"
        name = f"{brand} {words(chance, 3).title()}"
        price = f"${chance.randrange(10, 2000):,}.{chance.randrange(10, 99)}"
        details = f"{name} {words(chance, 8)} {chance.randrange(2, 99)} watts"
        left = {"name": f"{name} {model}", "description": details, "price": price}
        right = {
            "name": f"{name} - {model}",
            "description": f"{model} {words(chance, 3)}",
            "price": price,
            "brand": brand,
        }
        records += [Record(f"a{number}", left, "a"), Record(f"b{number}", right, "b")][: 2 if number % 3 else 1]
    return records


def records_of(rows: Rows) -> list[Record]:
    return [Record(str(number), row) for number, row in enumerate(rows)]


def types_of(found: Inferred) -> dict[str, str]:
    return {one.columns[0]: one.type for one in found.profile.fields if one.columns}


def comparators_of(found: Inferred) -> dict[str, str]:
    return {one.field: one.comparator for one in found.profile.comparisons}


@pytest.mark.parametrize(
    ("column", "values", "type"),
    [
        ("name", ["Sony Turntable - PSLX350H", "Bose 161 Speakers", "LG 42 Inch Plasma 42PC5D"], "text"),
        ("name", ["Acme Tools Inc", "Leeds Trading Company", "Bright Horizons School"], "company"),
        ("x", ["Müller & Söhne GmbH", "Acme, L.L.C.", "Orion Foods", "Nord AG"], "company"),
        ("name", ["Ann Smith", "Bob O'Neill", "Smith, Carl"], "name"),
        ("price", ["$399.00", "$1,049.99", "$9.50"], "price"),
        ("x", ["EUR 12.50", "13 EUR", "1.299,00 EUR"], "price"),
        ("cost", ["399.00", "12", "9.5"], "price"),
        ("length", ["3:45", "4:02", "12:10"], "measure"),
        ("size", ["500 ml", "1.5 l", "750ml"], "measure"),
        ("published", ["1995,", "1993.", "(2001)"], "number"),
        ("x", ["10483.0", "20977.0", "31500.0"], "identifier"),
        ("x", ["4.0", "20977.0", "315.0"], "number"),
        ("x", ["19781112.0", "19800102.0", "19900304.0"], "date"),
        ("x", ["(702) 919-1300", "702-919-1300", "+44 20 7946 0018"], "phone"),
        ("where", ["12 Main Street", "7 Kent Rd", "54 Hill Avenue, Apt 3"], "address"),
        ("where", ["51.5007, -0.1246", "48.85,2.35", "52.52;13.405"], "location"),
        ("where", ["51.5007° N, 0.1246° W", "48.85N 2.35E", "52.52 N; 13.405 E"], "location"),
        ("latitude", ["51.5007", "-0.1246", "48.85"], "number"),
        ("hotel", ["Grand Hotel 5", "Ritz 22", "Plaza 9"], "text"),
    ],
)  # fmt: skip
def test_the_type_comes_from_the_values(column: str, values: list[str], type: str) -> None:
    assert kind_of(column, values).type == type


def test_texts_of_several_words_are_compared_by_their_letters() -> None:
    found = inferred(records_of(companies()))
    assert types_of(found) == {"name": "company", "address": "address", "city": "address", "phone": "phone"}
    assert comparators_of(found)["name"] == "qgram-cosine"


def test_placeholders_are_missing_values() -> None:
    rows = places()
    found = inferred(records_of(rows))
    assert found.profile.missing == ("0.0",)
    unknown = sum(row["latitude"] == "0.0" for row in rows)
    assert f"latitude: missing values are written as '0.0' {unknown} times" in found.notes
    assert comparators_of(found)["location"] == "distance"
    assert {"latitude", "longitude"}.isdisjoint(comparators_of(found))


def test_a_frequent_value_that_is_content_elsewhere_is_no_placeholder() -> None:
    rows = [
        {"name": f"thing {n}", "lat": "0.0" if n % 3 else f"4{n % 7}.{n}", "level": f"{n % 5}.0"} for n in range(300)
    ]
    assert inferred(records_of(rows)).profile.missing == ()


def test_columns_of_an_agency_are_compared_as_one() -> None:
    found = inferred(records_of(companies(agencies=25)))
    (joint,) = [one for one in found.profile.fields if one.of]
    assert set(joint.of) == {"agency", "director", "website", "programme"}
    assert set(joint.of).isdisjoint(comparators_of(found))
    assert any(note.startswith("agency, director, website, programme: compared as one") for note in found.notes)


@pytest.mark.parametrize("by_entity", [False, True])
def test_a_full_name_beside_its_parts_is_not_compared(by_entity: bool) -> None:
    chance, rows = random.Random(4), []
    for number in range(200):
        given, surname = word(chance).title(), word(chance, 3).title()
        row = {"full_name": f"{given} {word(chance).title()} {surname}", "given": given, "surname": surname}
        row |= {"dob": f"{1940 + number % 60}-{1 + number % 12:02}-{1 + number % 28:02}"}
        rows += [row] * (1 + number % 3)
    if not by_entity:
        chance.shuffle(rows)
    found = inferred(records_of(rows))
    assert {*comparators_of(found)} == {"given", "surname", "dob"}
    assert "full_name: not compared, its words are those of given, surname" in found.notes
    sparse = inferred(records_of([{**row, "surname": row["surname"] if at % 2 else ""} for at, row in enumerate(rows)]))
    assert "full_name" in comparators_of(sparse)


def test_columns_of_duplicates_are_not_related() -> None:
    assert not [one for one in inferred(records_of(companies())).profile.fields if one.of]


def test_a_column_with_the_answer_is_named_and_not_compared() -> None:
    found = inferred(records_of(music()))
    assert found.left_out["CID"].startswith("it seems to hold the answer: ")
    assert found.left_out["TID"] == "it numbers the records"
    assert types_of(found) == {
        "title": "text", "artist": "text", "album": "text", "year": "number", "length": "measure",
    }  # fmt: skip


def test_sources_whose_columns_differ_in_case_and_separators_have_the_same_fields() -> None:
    rows = [{"Company Name": row["name"], "PHONE": row["phone"]} for row in companies()]
    others = [{"company_name": row["name"], "phone": row["phone"]} for row in companies()]
    found = inferred([Record(f"{at}", row, f"{at % 2}") for at, row in enumerate(rows + others)])
    assert types_of(found) == {"Company Name": "company", "PHONE": "phone"}
    assert set(comparators_of(found)) == {"company_name", "phone"}
    assert not found.left_out


def test_of_two_columns_with_one_name_in_a_record_the_one_that_is_read_is_a_field() -> None:
    rows = [{"Name": row["name"], "phone": row["phone"], "NAME": row["address"]} for row in companies()]
    found = inferred(records_of(rows))
    assert types_of(found) == {"Name": "company", "phone": "phone"}
    assert found.left_out == {"NAME": "Name is read: case and separators do not distinguish columns"}
    reader = Reader(found.profile)
    assert reader.raw_values(Record("1", rows[0])) == {"name": rows[0]["Name"], "phone": rows[0]["phone"]}


def test_a_column_without_a_name_is_left_out() -> None:
    rows = [{"": row["address"], **row} for row in companies()]
    found = inferred(records_of(rows))
    assert found.left_out["''"] == "it has no name"
    assert parse_profile(profile_text(found.profile, found.why), "x.toml") == found.profile
    assert types_of(found) == types_of(inferred(records_of(companies())))


def test_columns_with_the_name_of_an_id_or_a_source_are_left_out_and_named() -> None:
    rows = [
        {"Record-ID": word(random.Random(at), 4), "source": f"s{at % 2}", **row} for at, row in enumerate(companies())
    ]
    found = inferred(records_of(rows))
    assert found.left_out["Record-ID"] == "its name is that of the id of a record"
    assert found.left_out["source"] == "its name is that of the source of a record"
    assert types_of(found) == types_of(inferred(records_of(companies())))


def test_no_field_reads_the_column_of_another_one_or_one_that_is_left_out() -> None:
    chance, rows = random.Random(1), places()
    for row in rows:
        row |= {"location": "Leeds", "Über": chance.choice(("", word(chance, 3))), "ber": word(chance, 3)}
    found = inferred(records_of(rows))
    assert found.left_out["location"] == "one value only"
    reader, names = Reader(found.profile), found.profile.names
    for row in rows:
        values = dict(zip(names, reader.values(Record("1", row)), strict=True))
        assert "leeds" not in values.values()
        assert values["ber"] == row["ber"]
        assert values["ber_2"] == row["Über"]


def test_a_code_without_consecutive_numbers_is_content() -> None:
    rows = [{**row, "CID": f"{int(row['CID']) * 7919 % 1_000_003}"} for row in music()]
    renamed = [{("passport" if name == "CID" else name): value for name, value in row.items()} for row in rows]
    assert types_of(inferred(records_of(renamed)))["passport"] == "identifier"


def test_sources_without_duplicates_are_linked_one_to_one() -> None:
    found = inferred(shops())
    assert (found.profile.link, found.profile.one_to_one) == ("link", True)
    assert any(note.startswith("linked one to one: no source has duplicates: ") for note in found.notes)
    assert "brand" not in comparators_of(found)


def test_a_column_of_one_source_is_not_compared() -> None:
    records = [one._replace(fields={**one.fields, "stock": str(n % 90)}) if one.source == "a" else one
               for n, one in enumerate(shops())]  # fmt: skip
    found = inferred(records)
    assert "stock" not in comparators_of(found)
    assert "stock: not compared, it has values in one source only" in found.notes
    assert "stock" in found.profile.names  # golden records keep it


def test_sources_with_duplicates_are_not_linked_one_to_one() -> None:
    chance = random.Random(5)
    rows = [changed(chance, row, ["title", "album"]) for row in music() for _ in range(2)]
    records = [Record(str(number), {"title": row["title"], "artist": row["artist"], "album": row["album"]},
                      chance.choice("ab")) for number, row in enumerate(rows)]  # fmt: skip
    found = inferred(records)
    assert (found.profile.link, found.profile.one_to_one) == ("both", False)
    assert any(
        note.startswith("not linked one to one: the sources have duplicates of their own") for note in found.notes
    )


def test_long_texts_get_no_blocking_with_very_many_candidates() -> None:
    chance = random.Random(6)
    common = words(chance, 40)
    rows = [{"name": words(chance, 3), "about": f"{common} {words(chance, 3)}"} for _ in range(600)]
    rows += [changed(chance, row, ["name"]) for row in rows[:100]]
    found = inferred(records_of(rows))
    assert [one.fields for one in found.profile.lsh] == [("name",)]
    assert "about" in found.blocks.left_out
    assert sum(found.blocks.candidates.values()) < 20 * len(rows)
    assert found.blocks.recall is not None
    assert found.blocks.recall > 0.9


def test_predicted_candidates_are_those_of_the_pipeline() -> None:
    records = records_of(music())
    found = inferred(records)
    linker = RecordLinker.learned(found.profile, records, max_candidates=0)
    linker.add_many(records)
    assert max(found.blocks.candidates.values()) <= linker.counts.candidates <= sum(found.blocks.candidates.values())


@pytest.mark.parametrize("rows", [companies, lambda: companies(25), places, music])
def test_a_proposed_profile_is_valid(rows: Callable[[], Rows]) -> None:
    found = inferred(records_of(rows()))
    assert list(problems(found.profile)) == []
    assert parse_profile(profile_text(found.profile, found.why), "p.toml") == found.profile
    assert inferred(records_of(rows())) == found


def test_values_that_all_repeat_are_blocked_by_the_rarest_ones() -> None:
    rows = [{"town": ("Leeds", "York", "Hull")[at % 3], "size": ("small", "large")[at % 2]} for at in range(300)]
    for names in (("town",), ("town", "size")):
        found = inferred(records_of([{name: row[name] for name in names} for row in rows]))
        assert not [*problems(found.profile)]
        assert "town" in found.profile.rules[0]
        assert found.blocks.candidates[found.profile.rules[0]] > 1_000


def test_a_file_of_names_of_companies_only_matches_names_that_differ_in_their_legal_form() -> None:
    rng = random.Random(5)
    ends = ("Ltd", "Limited", "Inc.", "GmbH", "LLC", "& Co. KG", "S.A.")
    places = ("Leeds", "Bonn", "Lyon", "Cork", "Ghent", "Turin", "Porto", "Basel", "Gdansk", "Malmo")
    trades = ("Optics", "Motors", "Foods", "Timber", "Press", "Robotics", "Textiles", "Shipping", "Bakery", "Studios")
    names = [f"{first}line {trade} of {place}" for place in places for trade in trades for first in ("Star", "North")]
    repeated = set(rng.sample(range(len(names)), 60))
    records, true = list[Record](), set[tuple[str, str]]()
    for number, name in enumerate(names):
        for copy, end in enumerate(rng.sample(ends, 2 if number in repeated else 1)):
            records.append(Record(f"{number}.{copy}", {"company": f"{name} {end}"}))
        if number in repeated:
            true.add((f"{number}.0", f"{number}.1"))
    found = inferred(records)
    assert types_of(found) == {"company": "company"}
    linker = RecordLinker.learned(found.profile, records)
    linker.add_many(records)
    assert {tuple(sorted((match.left, match.right))) for match in linker.matches()} == true
    assert any("only compared field" in doubt for doubt in linker.profile.doubts)
