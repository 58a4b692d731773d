"""Contact data and codes: e-mail addresses, telephone numbers, postcodes and identifiers."""

import re

from stream_lsh.records.standardise.characters import fold, solid, whole

_ADDRESS = re.compile(r"[^\s<>,;:\"()]+@[^\s<>,;:\"()]+")
_FEWEST = 5


def email(text: str) -> str:
    """The first address of a text, in lower case; the cleaned text if it has none.

    Example:
        >>> email('"Jay Jones" <JJones@fmail.com>'), email("unknown")
        ('jjones@fmail.com', 'unknown')
    """
    folded = fold(text, 320)
    match = _ADDRESS.search(folded)
    return match[0].strip(".") if match else folded


def phone(text: str) -> str:
    """The digits; a text with fewer than five is kept.

    Example:
        >>> phone("+1 (702) 919-1300"), phone("0044 20 7946 0018"), phone("7029191300.0"), phone("n. a.")
        ('17029191300', '442079460018', '7029191300', 'n. a.')
    """
    folded = whole(fold(text, 64))
    digits = "".join(filter(_is_digit, folded))
    if len(digits) < _FEWEST:
        return folded
    return digits.removeprefix("00") if digits.startswith("00") and not digits.startswith("000") else digits


def _is_digit(character: str) -> bool:
    return "0" <= character <= "9"


def postcode(text: str) -> str:
    """The letters and digits, without separators.

    Example:
        >>> postcode("TQ13 8DF"), postcode("92723-0000"), postcode("92723.0")
        ('tq138df', '927230000', '92723')
    """
    return solid(whole(text.strip()), 32)


def identifier(text: str) -> str:
    """The letters and digits, without separators.

    Example:
        >>> identifier("294-66-9999"), identifier("GB 123.456"), identifier("294669999.0")
        ('294669999', 'gb123456', '294669999')
    """
    return solid(whole(text.strip()), 128)
