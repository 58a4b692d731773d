"""Compares telephone numbers; one of them may lack the codes of country and area."""

from rapidfuzz.distance import OSA

from stream_lsh.records.compare.comparator import OneByOne

_LOCAL = 7


class Phones(OneByOne):
    """Levels of two numbers in the form of `standardise.phone`.

    Example:
        >>> phones = Phones()
        >>> [phones.levels[phones.level("7029191300", other)] for other in ("17029191300", "7029191301", "123")]
        ['without its codes', 'one digit', 'else']
    """

    spec = "phone"
    levels = ("equal", "without its codes", "one digit", "else")

    def level(self, left: str, right: str) -> int:
        """The level of two values."""
        left_digits, right_digits = left.lstrip("0"), right.lstrip("0")
        shorter, longer = (
            (left_digits, right_digits) if len(left_digits) <= len(right_digits) else (right_digits, left_digits)
        )
        if len(shorter) >= _LOCAL and longer.endswith(shorter):
            return 1
        return 2 if len(shorter) >= _LOCAL and OSA.distance(left, right, score_cutoff=1) <= 1 else 3
