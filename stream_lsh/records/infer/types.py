"""The type of a column: what its values are, with a hint from its name where the values leave it open.

A name alone seldom decides: a column `name` with names of products is a text.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from stream_lsh.records.profile import folded
from stream_lsh.records.standardise.catalog import standardiser
from stream_lsh.records.standardise.characters import whole
from stream_lsh.records.standardise.company import without_form
from stream_lsh.records.standardise.date import exists
from stream_lsh.records.standardise.number import as_number, number

MOST = 0.8
"""The share of values that determines a type."""
LONG_WORDS = 20.0
"""A text with more words on average is long."""

_SOME, _FEW = 0.5, 0.05
"""Shares of values that support a type, and that do not exclude one."""
_NAME_WORDS = 3.5
"""Names of people have no more words on average."""
_FEW_VALUES = 60
_HINTS = (
    ("email", "email|mail"),
    ("phone", "phone|^tel(no|nr|number)?$|(home|work|cell|mobile)tel|mobile|fax"),
    ("postcode", "postcode|postal|zip"),
    ("date", "date|dob|birth|born"),
    ("address", "address|street|addr|suburb|city|town|road"),
    ("name", "name|forename|surname|author|creator"),
    ("identifier", "ssn|socsec|passport|license|licence|taxid|isbn|ean|gtin|sku|model|number"),
)
_PRICE = r"(?:[a-z]{3}|rs\.?)?\s?[$€£¥]?\s?[0-9][0-9., ]*\s?(?:[$€£¥]|[a-z]{3})?"
_CURRENCY = re.compile(r"[$€£¥]|\b(?:usd|eur|gbp|chf|jpy|cad|aud|inr|rs)\b")
_PRICED = "price|cost|amount|msrp"
_NUMBER = r"[-+]?[0-9]+(?:[.,][0-9]+)*"
_MEASURE = rf"(?:{_NUMBER}\s?(?:[a-z]{{1,3}}|[a-z]{{3,8}}s?|[\"'%°])\.?\s?){{1,2}}|[0-9]{{1,3}}(?::[0-9]{{2}}){{1,2}}"
_DEGREES = r"[0-9]+(?:\s?°?\s?[NSEWnsew])?"
_YEAR = r"(?:1[5-9]|20)[0-9]{2}"
_STREETS = frozenset(
    "st ave rd blvd dr ln ct pl sq cir cres cl ter pde hwy pkwy way route rte strasse str platz weg rue via calle "
    "box".split()
)
_NO_PERSON = frozenset(
    "inc llc ltd corp corporation co company plc gmbh ag sa bv limited group holdings bank school academy center "
    "centre university college hospital hotel restaurant cafe church association foundation institute services service "
    "systems solutions international the of and for with in on".split()
)
_FORMED = 0.2
"""The least share of names of companies that end with a legal form."""
_PUNCTUATION = " \t.,;:'\"()[]"


class Kind(NamedTuple):
    """The type of a column.

    Attributes:
        type: of the field.
        form: the sort of values within the type: `year`, `latitude`, `longitude`, `long`, `person`;
            "" for none of them.
        why: the reason, for the user.
    """

    type: str
    form: str
    why: str


def kind_of(column: str, values: Sequence[str]) -> Kind:
    """The type of a column, from the values that are not missing.

    Example:
        >>> kind_of("name", ["Sony DVD Player DVPNS57", "Bose 161 Speakers", "LG 42 Inch TV 42PC5D"])[:2]
        ('text', '')
        >>> kind_of("name", ["Ann Smith", "Bob Jones"])[:2], kind_of("x", ["$399.00", "$1,049.99"])[:2]
        (('name', 'person'), ('price', ''))
    """
    name = folded(column)
    hint = next((type for type, names in _HINTS if re.search(names, name)), "")
    bare = [whole(value.strip(_PUNCTUATION).lower()) for value in values]
    return (
        _of_form(values)
        or _of_numbers(name, hint, bare)
        or _of_digits(hint, values, bare)
        or _of_words(hint, [value.lower() for value in values])
    )


def share(values: Sequence[str], pattern: str) -> float:
    """The share of values that match a pattern from beginning to end."""
    compiled = re.compile(pattern)
    return sum(compiled.fullmatch(value) is not None for value in values) / max(1, len(values))


def _of_form(values: Sequence[str]) -> Kind | None:
    """The type of values that is determined by their form alone; None if it is not."""
    if share(values, r"[^\s@]+@[^\s@]+") >= MOST:
        return Kind("email", "", "most values are words around an @")
    if share(values, rf"[-+]?[0-9]{{1,2}}\.{_DEGREES}\s?[,;]?\s?[-+]?[0-9]{{1,3}}\.{_DEGREES}") >= MOST:
        return Kind("location", "", "most values are pairs of coordinates")
    days = sum(exists(standardiser("date")(value)) for value in values)
    return Kind("date", "", "most values can be read as dates") if days >= MOST * max(1, len(values)) else None


def _of_numbers(name: str, hint: str, bare: Sequence[str]) -> Kind | None:
    """Prices, coordinates and measures."""
    prices = share(bare, _PRICE)
    if prices >= MOST and _matched(bare, _CURRENCY) >= _SOME:
        return Kind("price", "", "most values are amounts of a currency")
    numbers = share(bare, _NUMBER)
    if numbers >= MOST and re.search(_PRICED, name):
        return Kind("price", "", "its name, and most values are numbers")
    if numbers >= MOST and (axis := re.search("^lat|latitude$|^lon|^lng|longitude$", name)):
        most = 90 if axis[0].startswith("lat") else 180
        within = sum(abs(as_number(number(value)) or 0.0) <= most for value in bare)
        if within >= MOST * len(bare) and share(bare, r"[-+]?[0-9]+\.[0-9]+") >= _SOME:
            return Kind("number", "latitude" if most == 90 else "longitude", "its name, and most values are degrees")
    if hint not in ("phone", "postcode", "identifier", "address") and numbers < MOST:
        measures = share(bare, _MEASURE)
        if measures + numbers >= MOST and measures >= 0.2:
            return Kind("measure", "", "most values are numbers with a unit")
    return None


def _matched(values: Sequence[str], pattern: re.Pattern[str]) -> float:
    return sum(pattern.search(value) is not None for value in values) / max(1, len(values))


def _of_digits(hint: str, values: Sequence[str], bare: Sequence[str]) -> Kind | None:
    """Telephone numbers, postcodes, codes, years and plain numbers."""
    if hint in ("phone", "postcode", "identifier") and share(values, "(?s:.*[0-9].*)") >= MOST:
        return Kind(hint, "", "its name, and most values have digits")
    if share(values, r"\+?[0-9(][0-9 ()./-]{6,}[0-9]") >= MOST and share(values, r".*[0-9][ ()./-]+[0-9].*") >= MOST:
        digits = [sum(map(str.isdigit, value)) for value in values]
        if sum(7 <= count <= 15 for count in digits) >= MOST * len(values):
            return Kind("phone", "", "most values are groups of 7 to 15 digits")
    if share(bare, _NUMBER) >= MOST:
        return _of_plain_digits(bare)
    if share(bare, r"(?=.*[0-9])[a-z0-9-]{4,32}") >= MOST:
        return Kind("identifier", "", "most values are one word with digits")
    return None


def _of_plain_digits(bare: Sequence[str]) -> Kind:
    """The type of digits: numbers vary in length, and codes have one length."""
    if share(bare, _YEAR) >= MOST:
        return Kind("number", "year", "most values can be read as years")
    lengths = {len(value) for value in bare}
    if len(lengths) <= 2 and max(lengths) >= 5 and share(bare, "[0-9]+") == 1:
        return Kind("identifier", "", "most values are digits of one length")
    if lengths == {4}:
        return Kind("postcode", "", "most values are four digits")
    return Kind("number", "", "most values are numbers")


def _of_words(hint: str, lower: Sequence[str]) -> Kind:
    """Addresses, names of people, categories and texts."""
    words = [re.findall(r"[^\W_]+", value) for value in lower]
    mean = sum(map(len, words)) / max(1, len(words))
    numbered = share(lower, r"(?s:.*[0-9].*)")
    streets = _with_any([standardiser("address")(value).split() for value in lower], _STREETS)
    kind = Kind("text", "", "no other type fits")
    if share(lower, r"(?:https?://|www\.)\S+") >= MOST:
        kind = Kind("text", "", "most values are web addresses")
    elif mean > LONG_WORDS:
        kind = Kind("text", "long", f"texts of {mean:.0f} words on average")
    elif _ended_by_form(words) >= _FORMED and mean <= _NAME_WORDS + 4:
        kind = Kind("company", "", "many values end with a legal form, such as Ltd or GmbH")
    elif streets >= _SOME and numbered >= _SOME:
        kind = Kind("address", "", "most values are numbers and streets")
    elif hint == "address":
        kind = Kind("address", "", "its name")
    elif hint == "name" and mean <= _NAME_WORDS and max(numbered, _with_any(words, _NO_PERSON)) < _FEW:
        kind = Kind("name", "person", "its name, and few words without digits")
    elif (distinct := len(set(lower))) <= _FEW_VALUES and distinct * 10 <= len(lower):
        kind = Kind("category", "", "a few values repeat often")
    return kind


def _ended_by_form(values: Sequence[list[str]]) -> float:
    return sum(bool(without_form(value)) for value in values) / max(1, len(values))


def _with_any(values: Sequence[Sequence[str]], words: frozenset[str]) -> float:
    return sum(not words.isdisjoint(value) for value in values) / max(1, len(values))
