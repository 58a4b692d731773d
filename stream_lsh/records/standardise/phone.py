"""Telephone numbers: their digits, without an international prefix of zeros."""

from stream_lsh.records.standardise.characters import fold

_FEWEST = 5


def phone(text: str) -> str:
    """The digits; what has fewer than five is kept as a text.

    Example:
        >>> phone("+1 (702) 919-1300"), phone("0044 20 7946 0018"), phone("n. a.")
        ('17029191300', '442079460018', 'n. a.')
    """
    folded = fold(text, 64)
    digits = "".join(filter(_is_digit, folded))
    if len(digits) < _FEWEST:
        return folded
    return digits.removeprefix("00") if digits.startswith("00") and not digits.startswith("000") else digits


def _is_digit(character: str) -> bool:
    return "0" <= character <= "9"
