"""Untrusted texts for terminals and pages: control characters become visible, and texts are truncated."""

import unicodedata

CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))} | {
    # characters that reverse the direction of writing, and surrogates, which cannot be encoded
    **{code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029)},
    **dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}"),
}
"""For `str.translate`: makes control characters visible, such as those that move the cursor."""

CONTROLS_IN_TEXT = {code: shown for code, shown in CONTROLS.items() if chr(code) not in "\n\t"}
"""The same for texts of several lines."""

_MOST_MARKS = 4
"""Combining marks that one character keeps: hundreds would cover the lines above and below."""
SHORT, LONG = 120, 64 << 10
"""The default lengths of one line and of a whole text, in characters."""


def one_line(text: object, most: int = SHORT) -> str:
    r"""An untrusted text as one line: visible, without effects on its surroundings, and truncated.

    Example:
        >>> one_line("a\nb" + chr(0x202E)), one_line("abcdef", 4), len(one_line("e" + chr(0x301) * 500))
        ('a\\x0ab\\u202e', 'abc…', 5)
        >>> one_line(chr(0x200B) * 2), one_line("a" + chr(0x200B)) == "a" + chr(0x200B)
        ('\\u200b\\u200b', True)
    """
    shown = _few_marks(str(text)[: 8 * most]).translate(CONTROLS)
    if shown and not any(map(str.isprintable, shown)):  # such as zero-width spaces: a link would have no text
        shown = ascii(shown)[1:-1]
    cut = len(shown) > most or len(str(text)) > 8 * most
    return f"{shown[: most - 1]}…" if cut else shown


def whole_text(text: str, most: int = LONG) -> str:
    """An untrusted text with its lines, truncated."""
    shown = _few_marks(text[:most].replace("\r\n", "\n")).translate(CONTROLS_IN_TEXT)
    return shown if len(text) <= most else f"{shown}…"


def _few_marks(text: str) -> str:
    if text.isascii():
        return text
    kept, marks = list[str](), 0
    for character in text:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= _MOST_MARKS:
            kept.append(character)
    return "".join(kept)
