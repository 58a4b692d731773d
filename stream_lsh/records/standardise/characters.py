"""The folding of characters, and the limit on the length of a value, for all types of fields.

A value is folded to one case, to the compatible forms of its characters and, in Latin, Greek and Cyrillic, to letters
without diacritics; marks of other scripts are part of their letters and stay.  Control characters separate words;
invisible characters (joiners, marks of direction, lone surrogates) are dropped.
"""

import unicodedata

from stream_lsh.text.normalise import stream_safe

LONGEST = 512
"""The most characters of a value; a longer one is cut, as the cost of a comparison is the product of the lengths."""

_CONTROLS = {code: " " for code in (*range(0x20), 0x7F)}
_PUNCTUATION = {code: " " for code in range(0x80) if not chr(code).isalnum()}
_DIACRITICS = dict.fromkeys(range(0x300, 0x370))
_ROUNDS = 4  # some compatible forms hide upper case, and some cases hide compatible forms


def fold(text: str, longest: int = LONGEST) -> str:
    r"""The value in one case and form, with words separated by one space.

    Example:
        >>> fold("  José\x00 ÅNGSTRÖM "), fold("ＡＢＣ"), fold("日本 太郎")
        ('jose angstrom', 'abc', '日本 太郎')
    """
    text = text[:longest]
    if text.isascii():
        return " ".join(text.lower().translate(_CONTROLS).split())
    for _ in range(_ROUNDS):
        before, text = text, _folded(text)[:longest]
        if text == before:
            break
    return text.strip()


def fold_words(text: str, longest: int = LONGEST) -> str:
    """The folded value with letters and digits only: all other characters separate words.

    Example:
        >>> fold_words("Smith-Jones, A.B."), fold_words("Müller & Söhne")
        ('smith jones a b', 'muller sohne')
    """
    text = fold(text, longest)
    if text.isascii():
        return " ".join(text.translate(_PUNCTUATION).split())
    return " ".join("".join(character if _is_letter(character) else " " for character in text).split())


def solid(text: str, longest: int = LONGEST) -> str:
    """The letters and digits of the folded value, without separators.

    Example:
        >>> solid("AB-12 34/x")
        'ab1234x'
    """
    return fold_words(text, longest).replace(" ", "")


def whole(text: str) -> str:
    """A whole number without the `.0` that pandas appends in a column with gaps; any other text as it is.

    Example:
        >>> whole("7029191300.0"), whole("1.0.0"), whole("12.50")
        ('7029191300', '1.0.0', '12.50')
    """
    digits = text.removesuffix(".0")
    return digits if digits.isascii() and digits.isdecimal() else text


def _folded(text: str) -> str:
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", stream_safe(text)).casefold())
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).translate(_DIACRITICS))
    return " ".join("".join(map(_visible, text)).split())


def _visible(character: str) -> str:
    category = unicodedata.category(character)
    if category[0] != "C":
        return character
    return " " if category == "Cc" else ""


def _is_letter(character: str) -> bool:
    return unicodedata.category(character)[0] in "LNM"
