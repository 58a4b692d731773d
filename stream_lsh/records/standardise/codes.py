"""Codes that are written with and without what parts them: postcodes and identifiers."""

from stream_lsh.records.standardise.characters import solid


def postcode(text: str) -> str:
    """Letters and digits, nothing between them.

    Example:
        >>> postcode("TQ13 8DF"), postcode("92723-0000")
        ('tq138df', '927230000')
    """
    return solid(text, 32)


def identifier(text: str) -> str:
    """Letters and digits, nothing between them.

    Example:
        >>> identifier("294-66-9999"), identifier("GB 123.456")
        ('294669999', 'gb123456')
    """
    return solid(text, 128)
