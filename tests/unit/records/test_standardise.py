"""Standard forms: known ones, and properties of the form of any text."""

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.errors import MalformedMessage
from stream_lsh.records.model import SEVERAL, Record
from stream_lsh.records.profile import Field, Profile
from stream_lsh.records.reading import LONGEST_RECORD, Reader
from stream_lsh.records.standardise.catalog import LONGEST_TEXT, TYPES, standard_value, standardiser
from stream_lsh.records.standardise.date import date, exists

ANY_TEXT = (
    st.text(st.characters(codec=None), max_size=60)
    | st.text("0123456789-/. :,aprmay@+T", max_size=30)
    | st.text("01239.,' -/x:½$€¢kgmlsr'\"", max_size=30)
)


@pytest.mark.parametrize("type", TYPES)
@given(text=ANY_TEXT)
def test_a_standard_form_is_the_standard_form_of_itself(type: str, text: str) -> None:
    once = standardiser(type)(text)
    assert standardiser(type)(once) == once


@pytest.mark.parametrize("type", TYPES)
@given(text=ANY_TEXT)
def test_a_standard_form_has_no_control_characters_and_can_be_stored(type: str, text: str) -> None:
    found = standardiser(type)(text)
    assert not {unicodedata.category(character) for character in found} & {"Cc", "Cs"}
    assert found == found.strip()
    assert found.encode().decode() == found


@pytest.mark.parametrize("type", ["date", "identifier", "number", "phone", "postcode"])
@pytest.mark.parametrize("text", ["7029191300", "19781112", "1978", "92723", "17"])
def test_whole_numbers_of_a_column_with_gaps_are_those_of_one_without(type: str, text: str) -> None:
    assert standardiser(type)(f"{text}.0") == standardiser(type)(f" {text}.0 ") == standardiser(type)(text)


@pytest.mark.parametrize(
    ("type", "text", "expected"),
    [
        ("date", "1.2.0", "1-2-0"),
        ("identifier", "1.0.0", "100"),
        ("identifier", "v1.0", "v10"),
        ("phone", "702.919.1300", "7029191300"),
    ],
)
def test_a_zero_after_other_points_stays(type: str, text: str, expected: str) -> None:
    assert standardiser(type)(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("40.7 N, 74.0 W", "40.7,-74.0"),
        ("40.7°N 74.0°W", "40.7,-74.0"),
        ("n40.7 w74.0", "40.7,-74.0"),
        ("N 40.7, W 74", "40.7,-74.0"),
        ("33.9 south, 151.2 east", "-33.9,151.2"),
        ("74.0 W, 40.7 N", "40.7,-74.0"),
        ("40.7, 74 W", "40.7,-74.0"),
        ("40.7 N, -74 W", "40.7,-74.0"),
        ("0 S, 0 W", "0.0,0.0"),
        ("lat 40.7 lon -74", "40.7,-74.0"),
        ("40.7 N, 74 N", "40.7 n, 74 n"),
        ("40.7 W, 74 E", "40.7 w, 74 e"),
        ("95 N, 12 W", "95 n, 12 w"),
    ],
)
def test_a_hemisphere_gives_coordinates_their_sign_and_their_order(text: str, expected: str) -> None:
    assert standardiser("location")(text) == expected


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("text", ["x" * 10_000, "\u0301" * 10_000, "ﷺ" * 10_000, "1" * 10_000, "a b " * 2_500])
def test_a_value_of_ten_thousand_characters_is_cut(type: str, text: str) -> None:
    assert len(standardiser(type)(text)) <= LONGEST_TEXT


@pytest.mark.parametrize(
    "type", sorted(TYPES.keys() - {"number", "price", "measure", "codes", "location", "date", "phone"})
)
@pytest.mark.parametrize("text", ["王杰", "ВАСИЛЬЕВ", "គឹម តារា", "فيصل صديقي", "Ångström"])
def test_scripts_other_than_latin_are_kept(type: str, text: str) -> None:
    found = standardiser(type)(text)
    assert sum(unicodedata.category(character)[0] == "L" for character in found) >= len(text.split(maxsplit=1)[0]) / 2


@pytest.mark.parametrize(
    ("text", "order", "expected"),
    [
        ("19560409", "mdy", "1956-04-09"),
        ("1956-04-09T10:11:12Z", "mdy", "1956-04-09"),
        ("1956-04-09 00:00:00 UTC", "mdy", "1956-04-09"),
        ("4/9/1956 12:00:00 AM", "mdy", "1956-04-09"),
        ("9 Apr 1956 3:30pm", "mdy", "1956-04-09"),
        ("Mon, 09 Apr 1956 00:00:00 GMT", "mdy", "1956-04-09"),
        ("Monday, April 9, 1956", "mdy", "1956-04-09"),
        ("1956/4/9", "mdy", "1956-04-09"),
        ("3/1/70", "mdy", "1970-03-01"),
        ("3/1/70", "dmy", "1970-01-03"),
        ("20/8/1991", "mdy", "1991-08-20"),
        ("8/20/1991", "dmy", "1991-08-20"),
        ("15-Mar-92", "mdy", "1992-03-15"),
        ("March 15th, 1992", "mdy", "1992-03-15"),
        ("09041956", "dmy", "1956-04-09"),
        ("Nov 1978", "mdy", "1978-11"),
        ("11/1978", "mdy", "1978-11"),
        ("1978", "mdy", "1978"),
        ("2000-02-29", "mdy", "2000-02-29"),
        ("1900-02-29", "mdy", "1900-02-29"),
        ("31.02.1990", "dmy", "31-02-1990"),
        ("1990-13-32", "mdy", "1990-13-32"),
        ("19451332", "mdy", "19451332"),
        ("about 1900", "mdy", "about-1900"),
        ("0000-00-00", "mdy", "0000-00-00"),
    ],
)
def test_dates_in_the_usual_orders_and_those_that_do_not_exist(text: str, order: str, expected: str) -> None:
    assert date(text, order) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$399.00", "399 $"),
        ("399,00 EUR", "399 eur"),
        ("EUR 1.234", "1234 eur"),
        ("1.234,5 €", "1234.5 eur"),
        ("US$ 1,234.56", "1234.56 usd"),
        ("$1,234,567", "1234567 $"),
        ("Rs. 1,23,456.00", "123456 inr"),
        ("12 345,60 Kč", "12345.6 czk"),
        ("CHF 1'299.-", "1299 chf"),
        ("399,- kr", "399 kr"),
        ("£3.5m", "3500000 gbp"),
        ("79p", "0.79 gbp"),
        ("0.125 $", "0.1250 $"),
        ("-5.00 USD", "-5 usd"),
        ("iPhone 5, $649", "649 $"),
        ("$10 - $20", "10 $"),
        ("$.99", "0.99 $"),
        ("-.50 EUR", "-0.5 eur"),
        ("Rs.99", "99 inr"),
        (".125", "0.1250"),
        ("2,20 EUR/kg", "2.2 eur per kg"),
        ("24.99", "24.99"),
        ("call us", "call us"),
        ("9" * 60, "9" * 60),
    ],
)
def test_prices_have_an_amount_and_a_currency(text: str, expected: str) -> None:
    assert TYPES["price"](text) == expected


@pytest.mark.parametrize(
    ("type", "text", "expected"),
    [
        ("number", ".5", "0.5"),
        ("number", "-.25 m", "-0.25"),
        ("number", "No.5", "5"),
        ("number", "...5", "5"),
        ("location", "51.5,-.1246", "51.5,-0.1246"),
        ("location", "(.5 -.25)", "0.5,-0.25"),
    ],
)
def test_a_number_may_begin_with_its_decimal_point(type: str, text: str, expected: str) -> None:
    assert TYPES[type](text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sony Turntable - PSLX350H", "pslx350h"),
        ("Windows 98 2nd Edition, version 2.0", "0 2 2nd 98"),
        ("Photoshop Elements VI", "6"),
        ("I, Robot X", ""),
        ("vol. 007", "7"),
        ("Office", ""),
    ],
)
def test_codes_are_the_tokens_with_a_digit(text: str, expected: str) -> None:
    assert TYPES["codes"](text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("33-1/3 RPM", "33.3333333 rpm"),
        ("33⅓ rpm", "33.3333333 rpm"),
        ("2GB", "2 gb"),
        ("512 MB", "0.512 gb"),
        ("1,5 l", "1.5 l"),
        ("1,500 ml", "1.5 l"),
        ("16 fl. oz.", "0.473176473 l"),
        ("2-1/2'", "0.762 m"),
        ("5'3\"", "1.6002 m"),
        ("1 lb 4 oz", "0.566990463 kg"),
        ("10cm x 20cm", "0.1 x 0.2 m"),
        ("30 x 20 x 10 mm", "0.03 x 0.02 x 0.01 m"),
        ("3:45", "225 s"),
        ("01:03:45", "3825 s"),
        ("3m 45sec", "225 s"),
        ("PT3M45S", "225 s"),
        ("4 m", "4 m"),
        ("5400 RPM, 500 GB", "5400 rpm"),
        ("Model 5 with 500 GB", "500 gb"),
        ("12 pack", "12 pcs"),
        ("225706", "225706"),
        ("1e-05", "0.00001"),
        ("large", "large"),
    ],
)
def test_measures_are_converted_to_one_unit(text: str, expected: str) -> None:
    assert TYPES["measure"](text) == expected


@given(st.dates())
def test_every_day_exists_and_is_read_from_its_own_form(day: object) -> None:
    text = str(day)
    assert exists(text)
    assert date(text) == date(text.replace("-", "")) == text


@pytest.mark.parametrize("value", [None, "", "  ", "N/A", "nan", "NULL", "unknown", "-", float("nan"), [], [None, ""]])
def test_a_missing_value_is_empty(value: object) -> None:
    assert standard_value(value, TYPES["name"]) == ""


@pytest.mark.parametrize("value", [{"first": "ann"}, b"ann", object()])
def test_the_error_about_a_value_of_another_type_names_the_expected_one(value: object) -> None:
    with pytest.raises(MalformedMessage, match="expected a text, a number or a list of them") as raised:
        standard_value(value, TYPES["name"])
    assert raised.value.reason == "field"


def test_numbers_are_texts_of_themselves_and_lists_are_sets() -> None:
    assert standard_value(2119, TYPES["postcode"]) == "2119"
    assert standard_value(2119.0, TYPES["number"]) == "2119"
    assert standard_value(["b", "a", "B "], TYPES["name"]) == f"a{SEVERAL}b"


@pytest.mark.parametrize("number", [0, -7, 7029191300, 4929123456789012, 2**53])
@pytest.mark.parametrize("type", ["identifier", "number", "phone", "text"])
def test_a_whole_float_is_the_whole_number(type: str, number: int) -> None:
    assert standard_value(float(number), TYPES[type]) == standard_value(number, TYPES[type])
    assert standard_value(-0.0, TYPES[type]) == standard_value(0, TYPES[type])


def test_of_very_many_or_very_long_values_as_many_count_as_can_be_compared() -> None:
    lengths = [len(one) for one in standard_value(["b" * 9_000, "a" * 9_000], TYPES["text"]).split(SEVERAL)]
    assert lengths == [4_096]
    assert len(standard_value([f"{letter}" * 600 for letter in "abcdefghij"], TYPES["name"]).split(SEVERAL)) == 8
    assert len(standard_value([f"{letter}" * 600 for letter in "abcdefghij"], TYPES["text"]).split(SEVERAL)) == 6
    assert standard_value([""] * 200 + ["ann"] + [str(n) for n in range(100_000)], TYPES["text"]).startswith(
        "0\x1f1\x1f10"
    )
    assert standard_value([*["ann"] * 256, "bob"], TYPES["name"]) == "ann"


def test_separators_in_a_value_do_not_part_it() -> None:
    found = [standardise(f"ann{SEVERAL}lee") for standardise in TYPES.values()]
    assert {"ann lee", "annlee"} <= set(found)
    assert not any(SEVERAL in one for one in found)


FIELDS = (
    Field(name="given", type="name", columns=("first name",), of=("full",), part="first"),
    Field(name="surname", type="name", of=("full",), part="last"),
    Field(name="full", type="name", of=("given", "surname")),
)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"FIRST-NAME": "Ann", "surname": "Lee"}, ("ann", "lee", "ann lee")),
        ({"full": "Ann Maria Lee"}, ("ann maria", "lee", "ann maria lee")),
        ({"full": "Lee, Ann"}, ("ann", "lee", "ann lee")),
        ({"full": "Lee"}, ("", "lee", "lee")),
        ({"full": "Ben Lee, Jr."}, ("ben jr", "lee", "ben lee jr")),
        ({"full": "Ben Lee III"}, ("ben iii", "lee", "ben lee iii")),
        ({"full": "Lee, I."}, ("i", "lee", "i lee")),
        ({"full": "Ben Senior"}, ("ben", "senior", "ben senior")),
        ({"shoes": "9"}, ("", "", "")),
        ({}, ("", "", "")),
        ({"First Name": "", "given": "Bo"}, ("bo", "", "bo")),
    ],
)
def test_columns_are_found_by_their_names_and_fields_stand_in_for_each_other(
    fields: dict[str, str], expected: tuple[str, ...]
) -> None:
    reader = Reader(Profile(name="people", fields=FIELDS, comparisons=()))
    assert reader.values(Record("1", fields)) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"FIRST-NAME": " Ann ", "surname": "O'Lee", "shoes": {"size": 9}}, {"given": " Ann ", "surname": "O'Lee"}),
        ({"full": "Ann Lee"}, {"full": "Ann Lee"}),  # the fields that it replaces were not given
        ({"First Name": "N/A", "given": ["Bo", None]}, {"given": ["Bo", None]}),
        ({"first name": "...", "given": ""}, {}),
        ({"surname": 7}, {"surname": 7}),
        ({}, {}),
    ],
)
def test_values_are_kept_as_given(fields: dict[str, object], expected: dict[str, object]) -> None:
    reader = Reader(Profile(name="people", fields=FIELDS, comparisons=()))
    record = Record("1", fields)
    assert reader.raw_values(record) == expected
    assert reader.read(fields) == (reader.values(record), expected)


@given(st.dictionaries(st.sampled_from(["First Name", "given", "surname", "full", "x"]), ANY_TEXT | st.just("?")))
def test_a_value_as_given_has_the_standard_form_that_is_compared(fields: dict[str, str]) -> None:
    reader = Reader(Profile(name="people", fields=FIELDS, comparisons=()))
    values, raw = reader.read(fields)
    for field, value in zip(FIELDS, values, strict=True):
        if field.name in raw:
            assert value == standardiser(field.type)(str(raw[field.name])) != ""
            assert raw[field.name] in fields.values()


@pytest.mark.parametrize(("one", "other"), [("पिता", "पता"), ("%", "#")])  # father, address
def test_columns_that_differ_in_marks_or_signs_alone_are_two(one: str, other: str) -> None:
    fields = (Field(name="a", columns=(one,)), Field(name="b", columns=(other,)))
    reader = Reader(Profile(name="signs", fields=fields, comparisons=()))
    assert reader.values(Record("1", {other: "x", one: "y"})) == ("y", "x")


def test_an_invalid_value_is_reported_with_its_column() -> None:
    reader = Reader(Profile(name="people", fields=FIELDS, comparisons=()))
    with pytest.raises(
        MalformedMessage, match="'SurName': got an object as the value of a field, expected a text"
    ) as it:
        reader.read({"SurName": {"x": 1}})
    assert it.value.reason == "field"


@pytest.mark.parametrize("name", [1, None, b"surname"])
def test_a_name_of_a_field_that_is_no_text_is_reported(name: Any) -> None:
    reader = Reader(Profile(name="people", fields=FIELDS, comparisons=()))
    with pytest.raises(MalformedMessage, match="as the name of a field, expected a text"):
        reader.values(Record("1", {"surname": "Lee", name: "x"}))


def test_records_without_a_common_form_do_not_fill_the_memory() -> None:
    reader = Reader(Profile(name="people", fields=FIELDS, comparisons=()))
    for n in range(1_000):
        assert reader.read({f"x{n}": "", "surname": "Lee"})[1] == {"surname": "Lee"}
    reader.read({f"{n}": "" for n in range(5_000)})
    assert len(reader._plans) <= 256
    assert max(map(len, reader._plans)) < 5_000


LENGTHS = st.lists(st.sampled_from([0, 1, 40, 600, 2_000, 4_096]), min_size=1, max_size=30)


@given(lengths=LENGTHS)
def test_of_a_large_record_the_longest_values_are_cut_to_one_length(lengths: list[int]) -> None:
    fields = tuple(Field(name=f"f{number}", type="text") for number in range(len(lengths)))
    reader = Reader(Profile(name="wide", fields=fields, comparisons=()))
    values = ["x" * length for length in lengths]
    found = reader.values(Record("a", {field.name: value for field, value in zip(fields, values, strict=True)}))
    assert sum(map(len, found)) <= LONGEST_RECORD
    cut = {len(one) for one, value in zip(found, values, strict=True) if one != value}
    assert bool(cut) == (sum(lengths) > LONGEST_RECORD)
    for most in cut:
        assert all(len(one) == min(most, length) for one, length in zip(found, lengths, strict=True))
        assert sum(map(len, found)) > LONGEST_RECORD - len(lengths), "no more than necessary"


def test_of_several_values_of_a_large_record_those_are_left_that_are_whole() -> None:
    fields = tuple(Field(name=f"f{number}", type="text") for number in range(8))
    reader = Reader(Profile(name="wide", fields=fields, comparisons=()))
    several = [letter * 900 for letter in "abcd"]
    found = reader.values(Record("a", {field.name: several for field in fields}))
    assert found == (SEVERAL.join(several[:2]),) * 8
    one = reader.values(Record("a", {field.name: "word " * 800 for field in fields}))
    assert {len(value) for value in one} == {2_048}


@pytest.mark.parametrize(
    ("text", "standard"),
    [
        ("Acme Widgets Ltd", "acme widgets"),
        ("ACME WIDGETS LIMITED", "acme widgets"),
        ("Acme Widgets, L.L.C.", "acme widgets"),
        ("Brasserie du Nord S.A.R.L.", "brasserie du nord"),
        ("Müller & Söhne GmbH & Co. KG", "muller sohne"),
        ("Co-op Group", "co op group"),
        ("Smith and Company", "smith"),
        ("SE", "se"),
        ("Ltd. Edition Prints", "ltd edition prints"),
    ],
)
def test_a_company_loses_the_legal_form_at_its_end_only(text: str, standard: str) -> None:
    assert standardiser("company")(text) == standard


@pytest.mark.parametrize(("text", "standard"), [("0100", "100"), ("HP 100", "100"), ("AM1005", "am1005"), ("007", "7")])
def test_codes_lose_the_zeros_at_their_beginning_only(text: str, standard: str) -> None:
    assert standardiser("codes")(text) == standard
