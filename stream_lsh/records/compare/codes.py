"""Compares sets of identifying tokens: model numbers, versions, sizes; a shared model number counts most."""

from functools import lru_cache

from stream_lsh.records.compare.comparator import OneByOne

_SHORTEST = 3


class Codes(OneByOne):
    """Levels of two sets of tokens in the form of `standardise.codes`.

    A token with letters and digits agrees with its beginning or its end, if this has three characters or more: shops
    write `AM53` for `AM53BK`, and `LX350H` for `PSLX350H`.

    Example:
        >>> codes = Codes()
        >>> pairs = ("3 am53bk", "am53"), ("2 750", "750"), ("2 750", "3 750"), ("2", "3")
        >>> [codes.levels[codes.level(*pair)] for pair in pairs]
        ['model number and all others of one', 'all of one', 'some', 'else']
    """

    spec = "codes"
    levels = ("equal", "model number and all others of one", "model number", "all of one", "some", "else")

    def level(self, left: str, right: str) -> int:
        """The level of two values."""
        fewer, more = sorted((_parted(left), _parted(right)), key=len)
        level = self._level(fewer, more)
        # Of two sets of one size either may be the one whose tokens all agree.
        return level if len(fewer) < len(more) else min(level, self._level(more, fewer))

    def _level(self, fewer: frozenset[str], more: frozenset[str]) -> int:
        shared = fewer & more
        rest = [one for one in fewer - shared if len(one) >= _SHORTEST]
        others_left = [one for one in more - shared if len(one) >= _SHORTEST] if rest else []
        agreeing = sum(any(_agree(one, other) for other in others_left) for one in rest)
        complete = len(shared) + agreeing == len(fewer)
        if agreeing or any(map(_is_model, shared)):
            return 1 if complete else 2
        return 3 if complete else 4 if shared else 5


@lru_cache(maxsize=1 << 15)
def _parted(value: str) -> frozenset[str]:
    return frozenset(value.split())


@lru_cache(maxsize=1 << 15)
def _is_model(token: str) -> bool:
    return len(token) >= _SHORTEST and not token.isdecimal()


def _agree(one: str, other: str) -> bool:
    shorter, longer = (one, other) if len(one) <= len(other) else (other, one)
    return (longer.startswith(shorter) or longer.endswith(shorter)) and _is_model(longer)
