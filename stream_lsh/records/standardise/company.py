"""Names of companies: words, without the legal form at the end."""

from stream_lsh.records.standardise.characters import fold_words

LEGAL_FORMS = frozenset(
    "ab ag aktiengesellschaft as asa bv bvba co company corp corporation cv gesellschaft gmbh inc incorporated kft kg "
    "kk limited limitada llc llp lp ltd ltda lte mbh nv ohg oy oyj plc pte pty sa sarl sas se sl spa srl ug "
    "unlimited".split()
)
"""Words that name a legal form, as they are written without dots."""
_SPELLED = (("l", "l", "c"), ("l", "l", "p"), ("p", "l", "c"), ("s", "a", "r", "l"), ("s", "r", "l"), ("s", "p", "a"),
            ("s", "a", "s"), ("s", "a"), ("b", "v"), ("n", "v"), ("a", "g"), ("s", "l"))  # fmt: skip
_BETWEEN = frozenset({"and", "und", "et"})


def company(text: str) -> str:
    """The words of the name in lower case; a name that consists of a legal form keeps it.

    Example:
        >>> company("Müller & Co. KG"), company("ACME Widgets, L.L.C."), company("Limited")
        ('muller', 'acme widgets', 'limited')
    """
    words = fold_words(text).split()
    while rest := without_form(words):
        words = rest
    return " ".join(words)


def without_form(words: list[str]) -> list[str]:
    """The words before a legal form at the end; none if there is no form, or nothing before it.

    Example:
        >>> without_form(["smith", "and", "co"]), without_form(["smith"])
        (['smith'], [])
    """
    spelled = next((len(form) for form in _SPELLED if tuple(words[-len(form) :]) == form), 0)
    rest = words[:-spelled] if spelled else words[:-1] if words and words[-1] in LEGAL_FORMS else []
    while rest and rest[-1] in _BETWEEN:
        rest = rest[:-1]
    return rest
