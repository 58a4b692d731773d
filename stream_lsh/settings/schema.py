"""The keys of a table of the file: the fields of its dataclass, with the valid values and the meaning of each."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any

from stream_lsh.ledger.clusters.guards.choice import Guards
from stream_lsh.settings.value_types import FIELD_NAME, FLAG, LEAST_SHARE, ValueType, whole
from stream_lsh.wire.field_names import FieldNames

_META = "key"


@dataclass(frozen=True, slots=True)
class Key:
    """One key, or a table within the table.

    Attributes:
        name: in the file.
        field: of the dataclass; differs where the file has a span and the dataclass milliseconds.
        description: its meaning, for the documentation.
        value_type: of its value; None for a table.
        table: the dataclass of a table; None for a key.
        default: None too for a table that may be absent.
        required: it has no default.
        only: of a table, the keys that are legal where it stands; None: all.
    """

    name: str
    field: str
    description: str
    value_type: ValueType | None
    table: type | None
    default: Any
    required: bool
    only: AbstractSet[str] | None = None

    def inner(self) -> "Mapping[str, Key]":
        """Of a table, the keys that are legal in it."""
        keys = {} if self.table is None else keys_of(self.table)
        return {name: key for name, key in keys.items() if self.only is None or name in self.only}


def key(value_type: ValueType, description: str, name: str | None = None) -> Mapping[str, Any]:
    """The metadata of a field that is a key of the file."""
    return {_META: (value_type, None, description, name)}


def table(cls: type, description: str) -> Mapping[str, Any]:
    """The metadata of a field that is a table of the file."""
    return {_META: (None, cls, description, None)}


@cache
def keys_of(cls: type) -> Mapping[str, Key]:
    """The keys of a table by their names, in the order in which the dataclass has them."""
    if cls in _PLAIN:
        return {
            field.name: Key(field.name, field.name, description, value_type, None, field.default, required=False)
            for field, (value_type, description) in zip(fields(cls), _PLAIN[cls], strict=True)
        }
    keys = {}
    for field in fields(cls):
        if _META not in field.metadata:
            continue
        value_type, inner, description, name = field.metadata[_META]
        required = field.default is MISSING
        name = name or field.name
        keys[name] = Key(
            name, field.name, description, value_type, inner, None if required else field.default, required
        )
    return keys


_PLAIN: Mapping[type, Sequence[tuple[ValueType, str]]] = {
    FieldNames: (
        (FIELD_NAME, "the field with the id; without `rekey` the message's key is the id too, and both must be equal"),
        (FIELD_NAME, "the field with the text that is compared"),
        (FIELD_NAME, "the field with the event time: ISO 8601, RFC 2822, or a number since 1970 (`time_unit`)"),
        (FIELD_NAME, "the field that is `true` in a message that deletes its document"),
        (FIELD_NAME, "with `stories`, the field with the title; without one the first line of the text counts"),
        (FIELD_NAME, "with `stories`, the field with the outlet; without one the host of the URL counts"),
        (FIELD_NAME, "with `stories`, the field with the URL"),
        (FIELD_NAME, "of sets, the field with the items: a list of strings and integers"),
        (
            FIELD_NAME,
            "of vectors, the field with the vector: a list of numbers, or base64 of float32, little-endian; with "
            "`hamming` also a string of 0 and 1, or hexadecimal digits",
        ),
    ),
    Guards: (
        (FLAG, "a single pair does not connect two groups of two or more documents"),
        (
            LEAST_SHARE,
            "the similarity from which a single pair connects such groups; for records, `bridge` of the profile; 0: "
            "any pair does",
        ),
        (LEAST_SHARE, "the minimum similarity of each member to the representative; 0: none"),
        (whole(0, 1_000), "the maximum number of pairs from any member to any other, 2 or more; 0: no limit"),
        (whole(0), "the maximum number of documents in a cluster, 2 or more; 0: no limit"),
        (
            FLAG,
            "no cluster has two documents of one source; documents without a source do not count",
        ),
    ),
}
"""Tables that are independent of a file: the valid values and the meaning of each field."""
