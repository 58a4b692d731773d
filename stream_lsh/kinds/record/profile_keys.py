"""The keys of a profile's file: the type, the description and the attribute in `records.profile` of each."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stream_lsh.records.profile import KEEPS, LINKS, ORDERS, PARTS, Comparison, Field, LshBlocking
from stream_lsh.settings.value_types import FLAG, LEAST_SHARE, SHARE, SHINGLES, InvalidValue, ValueType, choice

TYPES = (
    "name", "company", "date", "address", "phone", "email", "postcode", "identifier", "codes", "text", "number",
    "price", "measure", "category", "location", "source",
)  # fmt: skip
"""Types of fields; a test compares them with `records.standardise.catalog`, which needs optional libraries."""


@dataclass(frozen=True, slots=True)
class ProfileKey:
    """One key of a table; a `required` key has no default."""

    value_type: ValueType
    description: str
    required: bool = False


def _listed(value: object, convert_one: Callable[[object], Any]) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise InvalidValue
    return tuple(map(convert_one, value))


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidValue
    return value


def _name(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", value):
        proposal = re.sub(r"[^a-z0-9]+", "_", value.lower()).strip("_") if isinstance(value, str) else ""
        raise InvalidValue(proposal if re.match("[a-z]", proposal) else None)
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise InvalidValue
    return float(value)


TEXT = ValueType("a text", _text)
TEXTS = ValueType("a list of texts", lambda value: _listed(value, _text))
NAME = ValueType("a name of a-z, 0-9 and _", _name)
NAMES = ValueType("a list of fields' names", lambda value: _listed(value, _name))
NUMBER = ValueType("a number above 0", _number)
NUMBERS = ValueType("a list of numbers above 0", lambda value: _listed(value, _number))

Keys = Mapping[str, ProfileKey]

PROFILE: Keys = {
    "name": ProfileKey(TEXT, "the name of the profile", required=True),
    "link": ProfileKey(choice(LINKS), "which pairs are compared: `link` only those of different sources"),
    "one_to_one": ProfileKey(FLAG, "sources have no duplicates: of the matches with a source, only the best counts"),
    "match": ProfileKey(SHARE, "the minimum probability of a match"),
    "review": ProfileKey(LEAST_SHARE, "the minimum probability of a pair to review"),
    "bridge": ProfileKey(
        LEAST_SHARE, "the minimum probability of a pair that alone connects two groups of two or more; 0: any match"
    ),
    "prior": ProfileKey(SHARE, "the probability that two random records are a match; trained"),
    "id_columns": ProfileKey(TEXTS, "the names of the id in files"),
    "source_columns": ProfileKey(TEXTS, "the names of the source in files"),
    "source_priority": ProfileKey(TEXTS, 'sources, best first, for fields with `keep = "source-priority"`'),
    "smoothing": ProfileKey(NUMBER, "the weight of the expected frequency of a value, in records"),
    "missing": ProfileKey(TEXTS, "texts that stand for a missing value, in addition to the default ones"),
    "doubts": ProfileKey(TEXTS, "the doubts about the weights, which programs report; written by `train`"),
    "rules": ProfileKey(TEXTS, "blocking rules, such as `surname:soundex + date_of_birth:year`"),
}
"""The top-level keys."""

TABLES: Mapping[str, tuple[type, Keys]] = {
    "field": (
        Field,
        {
            "name": ProfileKey(NAME, "the name of the field in comparisons and rules", required=True),
            "type": ProfileKey(choice(TYPES), "the type of its values, which determines their standard form"),
            "columns": ProfileKey(TEXTS, "other names of the field in files"),
            "order": ProfileKey(choice(ORDERS), "the order of ambiguous dates"),
            "of": ProfileKey(NAMES, "fields whose joined values replace a missing value"),
            "part": ProfileKey(choice(PARTS), "with `of`: only the last word (before `jr`, `iii`), or all others"),
            "keep": ProfileKey(choice(KEEPS), "the rule by which golden records keep a value"),
        },
    ),
    "comparison": (
        Comparison,
        {
            "field": ProfileKey(NAME, "the field", required=True),
            "comparator": ProfileKey(TEXT, "the comparator of two values", required=True),
            "levels": ProfileKey(NUMBERS, "the thresholds of the comparator"),
            "term_frequency": ProfileKey(FLAG, "rare values weigh more than frequent ones"),
            "weight": ProfileKey(NUMBER, "the weight of the field without trained weights"),
            "m": ProfileKey(NUMBERS, "the probability of each level among matches; trained"),
            "u": ProfileKey(NUMBERS, "the probability of each level among other pairs; trained"),
            "given": ProfileKey(
                TEXTS, "the comparisons whose equal values predict an equal value of this one; trained"
            ),
            "given_u": ProfileKey(
                NUMBERS, "for each of these, the probability of an equal value among other pairs beside it; trained"
            ),
        },
    ),
    "lsh": (
        LshBlocking,
        {
            "fields": ProfileKey(NAMES, "the fields whose shingles form one set", required=True),
            "shingles": ProfileKey(SHINGLES, "the shingles of the signature"),
            "threshold": ProfileKey(SHARE, "the minimum Jaccard similarity of a pair to find"),
            "recall": ProfileKey(SHARE, "the probability that a pair at the threshold is found"),
        },
    ),
}
"""The arrays of tables: the class of their values, and their keys."""
