"""Blocking rules: parts of fields that two records must have in common.

    surname:soundex + date_of_birth:year      both parts equal
    given_name|surname + postcode             either of the fields, so that swapped names share a key
    title:token                               any of the longest words

A record without a value for one of the parts has no key by the rule.
"""

from collections.abc import Mapping, Sequence
from itertools import islice, product

from mmh3 import hash64

from stream_lsh.errors import ConfigError
from stream_lsh.records.block.transforms import EXPLODING, MOST_TOKENS, Transform, transform
from stream_lsh.records.model import SEVERAL, Values
from stream_lsh.spelling import suggestion

MOST_KEYS = 12
"""The most keys of one record by one rule: the first ones in the order of their parts."""
_SEVERAL_VALUES = 4
"""The least number of keys of a rule, as a field may have several values."""
_MASK = 0xFFFFFFFFFFFFFFFE
_BETWEEN = "\x1d"


class Rule:
    """One blocking rule.

    Args:
        text: as above.
        places: the indices of the fields, by their names.

    Guarantees:
        the keys depend on the rule and on the record's values alone; two keys of different rules are equal with a
        probability of 2^-63.

    Raises:
        ConfigError: an unknown field or transform, or no part at all.

    Example:
        >>> rule = Rule("given|surname:first3 + born:year", {"given": 0, "surname": 1, "born": 2})
        >>> one, swapped = rule.keys(("ann", "leeds", "1978-11-12")), rule.keys(("leeds", "ann", "1978-01-01"))
        >>> one == swapped, rule.width, rule.keys(("ann", "leeds", ""))
        (True, 4, [])
    """

    def __init__(self, text: str, places: Mapping[str, int]) -> None:
        self.text = text
        self._parts: list[tuple[list[int], Transform]] = []
        exploding = 1
        for part in text.split("+"):
            names, _, called = (piece.strip() for piece in part.partition(":"))
            fields = [name.strip() for name in names.split("|")]
            self._parts.append(([_place(name, places) for name in fields], transform(called)))
            exploding *= len(fields) * (MOST_TOKENS if called in EXPLODING else 1)
        self.width = min(max(exploding, _SEVERAL_VALUES), MOST_KEYS)
        self._seed = hash64(text.encode())[0] & 0xFFFFFFFF

    def keys(self, values: Values) -> list[int]:
        """The distinct keys of a record, at most `width`; none if a part is missing."""
        keys: list[Sequence[str]] = []
        for places, transformed in self._parts:
            parts = _parts_of(values, places, transformed)
            if not parts:
                return []
            keys.append(parts)
        if all(len(parts) == 1 for parts in keys):
            return [self._key(_BETWEEN.join([parts[0] for parts in keys]))]
        return [self._key(_BETWEEN.join(chosen)) for chosen in islice(product(*keys), self.width)]

    def _key(self, text: str) -> int:
        return (hash64(text.encode("utf-8", "surrogatepass"), self._seed, signed=False)[0] & _MASK) or 2


def _parts_of(values: Values, places: Sequence[int], transformed: Transform) -> Sequence[str]:
    """The distinct parts of all values of all fields, in order."""
    if len(places) == 1:
        value = values[places[0]]
        if not value:
            return ()
        if SEVERAL not in value:
            return transformed(value)
    parts = {part for place in places for value in values[place].split(SEVERAL) if value for part in transformed(value)}
    return sorted(parts - {""})


def _place(name: str, places: Mapping[str, int]) -> int:
    if name not in places:
        raise ConfigError(f"got the field {name!r}, expected one of the profile{suggestion(name, places)}")
    return places[name]
