"""Control characters as visible text, for terminals and pages that show untrusted texts."""

CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))} | {
    # characters that reverse the direction of writing, and surrogates, which cannot be encoded
    **{code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029)},
    **dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}"),
}
"""For `str.translate`: makes control characters visible, such as those that move the cursor."""

CONTROLS_IN_TEXT = {code: shown for code, shown in CONTROLS.items() if chr(code) not in "\n\t"}
"""The same for texts of several lines."""
