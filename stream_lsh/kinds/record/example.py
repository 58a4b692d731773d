"""Generated records for example messages."""

from collections.abc import Callable, Mapping

from stream_lsh.kinds.examples import TIME_MS, draws, example_id, words
from stream_lsh.records.model import Record
from stream_lsh.records.profile import Field, Profile

_LEAST_FIELDS = 4
"""A record with fewer fields lacks none of them."""


def example_record(profile: Profile, group: int, member: int, size: int) -> Record:
    """A record with values in the fields that blocking uses most; in a group, all but the first lack one of them.

    Args:
        profile: of the pipeline.
        group: 0 and up.
        member: 0 and up.
        size: bytes of the values, roughly, up to those of all fields; fields that are derived have none.

    Example:
        >>> profile = Profile(name="people", fields=(Field(name="email", type="email"),), comparisons=())
        >>> sorted(example_record(profile, 3, 1, 100).fields)
        ['email']
    """
    numbers = {field.name: at for at, field in enumerate(profile.fields)}
    own, filled = list[Field](), 0
    for field in sorted(profile.fields, key=lambda field: -sum(field.name in rule for rule in profile.rules)):
        if len(field.of) < 2 and (filled < size or len(own) < _LEAST_FIELDS):
            own.append(field)
            filled += len(_value(field, 0, numbers[field.name]))
    if member and len(own) >= _LEAST_FIELDS:
        del own[-1 - (member - 1) % (len(own) // 2)]
    fields = {field.name: _value(field, group, numbers[field.name]) for field in own}
    return Record(example_id(group, member), fields, f"source{member}", TIME_MS)


def _value(field: Field, group: int, number: int) -> str:
    """The value of a field; `number` distinguishes the fields of a record."""
    return _VALUES.get(field.type, _words)(group, number + 1)


def _words(group: int, number: int) -> str:
    return " ".join(words(group, number, 5))


def _name(group: int, number: int) -> str:
    return words(group, number, 1)[0]


def _digits(count: int) -> Callable[[int, int], str]:
    def digits(group: int, number: int) -> str:
        return f"{int(draws(group, number, 1)[0]) % 10**count:0{count}}"

    return digits


def _date(group: int, number: int) -> str:
    year, month, day = draws(group, number, 3).tolist()
    return f"{1940 + year % 60}-{1 + month % 12:02}-{1 + day % 28:02}"


def _address(group: int, number: int) -> str:
    return f"{_digits(2)(group, number)} {_name(group, number)} street"


def _email(group: int, number: int) -> str:
    first, last, host = words(group, number, 3)
    return f"{first}.{last}{_digits(2)(group, number)}@{host}.com"


def _location(group: int, number: int) -> str:
    latitude, longitude = draws(group, number, 2).tolist()
    return f"{latitude % 9_000 / 100},{longitude % 18_000 / 100}"


_VALUES: Mapping[str, Callable[[int, int], str]] = {
    "name": _name,
    "date": _date,
    "address": _address,
    "phone": _digits(10),
    "email": _email,
    "postcode": _digits(5),
    "identifier": _digits(8),
    "number": _digits(4),
    "category": _name,
    "location": _location,
}
"""The values by the type of the field; texts of words for all others."""
