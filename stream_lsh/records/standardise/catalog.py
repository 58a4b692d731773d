"""The types of fields, by name, and the standard form of a field's value."""

import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from stream_lsh.errors import MalformedMessage
from stream_lsh.records.model import SEVERAL
from stream_lsh.records.standardise.address import address
from stream_lsh.records.standardise.characters import LONGEST, fold, fold_words
from stream_lsh.records.standardise.codes import codes
from stream_lsh.records.standardise.company import company
from stream_lsh.records.standardise.contacts import email, identifier, phone, postcode
from stream_lsh.records.standardise.date import date
from stream_lsh.records.standardise.location import location
from stream_lsh.records.standardise.measure import measure
from stream_lsh.records.standardise.name import name
from stream_lsh.records.standardise.number import number
from stream_lsh.records.standardise.price import price

Standardise = Callable[[str], str]

MOST_VALUES = 8
"""The most values of one field: the first ones in the order of their standard form."""
MOST_LISTED = 256
"""The number of values of one field that are read: the first ones."""
LONGEST_TEXT = 4096
"""The most characters of a text, and of all values of one field together, of which the first is always kept."""

_MOST_WHOLE = 2**53
"""A float holds every whole number up to this one."""

TYPES: Mapping[str, Standardise] = {
    "name": name,
    "company": company,
    "date": date,
    "address": address,
    "phone": phone,
    "email": email,
    "postcode": postcode,
    "identifier": identifier,
    "codes": codes,
    "text": partial(fold_words, longest=LONGEST_TEXT),
    "number": number,
    "price": price,
    "measure": measure,
    "category": fold,
    "location": location,
    "source": fold,
}
"""The standardisers, by the name of the type in profiles."""

NOTHING = frozenset({"", "-", "--", "?", "n/a", "#n/a", "nan", "none", "null", "unknown"})
"""The default texts for a missing value, in lower case."""


def standardiser(type: str, order: str = "mdy") -> Standardise:
    """The standardiser of a type of field; `order` applies to dates."""
    return partial(date, order=order) if type == "date" else TYPES[type]


def standard_value(value: object, standardise: Standardise, missing: frozenset[str] = NOTHING) -> str:
    """The standard form of a field's value, of several values as one text; "" for a missing value.

    Args:
        value: a text, a number, a boolean, None, or a list of these.
        standardise: of the field's type.
        missing: texts for a missing value.

    Raises:
        MalformedMessage: a value of another type -> dead-letter the record.

    Example:
        >>> standard_value(["Bob", "Robert ", None, "bob"], name).split(SEVERAL), standard_value("N/A", name)
        (['bob', 'robert'], '')
    """
    if isinstance(value, str):
        return _one(value, standardise, missing)
    if isinstance(value, list | tuple):
        values = sorted({one for each in value[:MOST_LISTED] if (one := _one(text_of(each), standardise, missing))})
        return _together(values[:MOST_VALUES])
    return _one(text_of(value), standardise, missing)


def _together(values: list[str]) -> str:
    """The values that fit the limit: the cost of a comparison is the product of all their characters."""
    while len(values) > 1 and sum(map(len, values)) > LONGEST_TEXT:
        values = values[:-1]
    return SEVERAL.join(values)


def _one(text: str, standardise: Standardise, missing: frozenset[str]) -> str:
    if text[:LONGEST].strip().lower() in missing:
        return ""
    standard = standardise(text)
    return "" if standard in missing else standard


def text_of(value: object) -> str:
    """A single value as a text; "" for None, NaN and infinities."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int):
        try:
            return str(value).lower()
        except ValueError:  # it has more digits than Python converts
            problem = f"got an integer of {value.bit_length():,} bits as the value of a field, expected fewer digits"
            raise MalformedMessage("field", problem) from None
    if isinstance(value, float):
        if value.is_integer() and abs(value) <= _MOST_WHOLE:
            return str(int(value))
        return f"{value:.15g}" if math.isfinite(value) else ""
    if isinstance(value, np.bool_ | np.integer | np.float32):  # that of 64 bits is a float of Python
        return text_of(value.item())
    sort = "an object" if isinstance(value, dict) else f"a {type(value).__name__}"
    raise MalformedMessage("field", f"got {sort} as the value of a field, expected a text, a number or a list of them")
