"""Parses prices: an amount, its currency, and the unit that it is for."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from stream_lsh.records.standardise.characters import fold
from stream_lsh.records.standardise.measure import unit_of

_LONGEST = 64
_MOST = 1e15
_CENTS = frozenset({"¢", "cent", "cents", "p", "pence"})
_CURRENCIES: Mapping[str, str] = {
    "$": "$", "dollar": "$", "dollars": "$", "¢": "$", "cent": "$", "cents": "$", "us$": "usd", "usdollar": "usd",
    "a$": "aud", "au$": "aud", "c$": "cad", "ca$": "cad", "nz$": "nzd", "hk$": "hkd", "s$": "sgd", "r$": "brl",
    "€": "eur", "euro": "eur", "euros": "eur", "£": "gbp", "p": "gbp", "pence": "gbp", "quid": "gbp", "pounds": "gbp",
    "¥": "¥", "yen": "jpy", "円": "jpy", "元": "cny", "yuan": "cny", "rmb": "cny", "₹": "inr", "rs": "inr",
    "rupees": "inr", "₽": "rub", "руб": "rub", "₩": "krw", "won": "krw", "zł": "pln", "zl": "pln", "kc": "czk",
    "kr": "kr", "₺": "try", "tl": "try", "₫": "vnd", "₪": "ils", "฿": "thb", "₴": "uah", "₱": "php", "fr": "chf",
    "sfr": "chf", "ft": "huf", "lei": "ron",
    **{code: code for code in (
        "usd aud cad nzd hkd sgd brl eur gbp jpy cny inr rub krw pln czk sek nok dkk isk try vnd ils thb uah php chf "
        "huf ron mxn zar twd idr myr aed sar clp cop ars bgn hrk egp ngn pkr"
    ).split()},
}  # fmt: skip
_SHARED: Mapping[str, frozenset[str]] = {
    "$": frozenset({"usd", "aud", "cad", "nzd", "hkd", "sgd", "twd", "mxn", "clp", "cop", "ars"}),
    "kr": frozenset({"sek", "nok", "dkk", "isk"}),
    "¥": frozenset({"jpy", "cny"}),
}
"""Signs of several currencies."""
_MAGNITUDES: Mapping[str, float] = {
    "k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9,
}  # fmt: skip

_WORD = r"(?:[a-z]{1,2}\$|[$€£¥¢₹₽₩₺₫₪฿₴₱円元]|[^\W\d_]+)"
_AMOUNT = r"(?:(?<![\w.])\.)?[0-9]+(?:[.,'’][0-9]+|\s[0-9]{3}(?![0-9]))*"
_PRICE = re.compile(
    rf"(?P<before>{_WORD})?(?:\s|(?<=[^\W\d_])\.){{0,2}}(?P<sign>-)?(?P<amount>{_AMOUNT})(?:[.,]-+)?\s?(?P<after>{_WORD})?"
)
_FOLLOWING = re.compile(rf"[\s.]?({_WORD})")
_PER = re.compile(r"\s?(?:/|\bper\s|\bpro\s|\bje\s)\s?(?:1\s?)?([a-z]+)")


class Price(NamedTuple):
    """A parsed price.

    Attributes:
        amount: in units of the currency.
        currency: its code in lower case, the sign of several currencies, or "" if it is not known.
        per: the unit that the price is for, "" for a price of the whole.
    """

    amount: float
    currency: str = ""
    per: str = ""


def price(text: str) -> str:
    """The amount with its currency; the cleaned text without a number.

    A last separator before three digits separates thousands, any other last one is decimal.  A price for a unit is
    converted to the unit that `measure` uses.

    Example:
        >>> price("$399.00"), price("399,00 EUR"), price("1.234,50 €"), price("CHF 1'299.-"), price("USD 1,234")
        ('399 $', '399 eur', '1234.5 eur', '1299 chf', '1234 usd')
        >>> price("99¢"), price("$1.2 million"), price("$2.50 per 1 ml"), price("24.99"), price("call us")
        ('0.99 $', '1200000 $', '2500 $ per l', '24.99', 'call us')
    """
    folded = fold(text, _LONGEST)
    found = _parsed(folded)
    if found is None or abs(found.amount) >= _MOST:
        return folded
    per = f"per {found.per}" if found.per else ""
    return " ".join(filter(None, (_written(found.amount), found.currency, per)))


@lru_cache(maxsize=1 << 15)
def as_price(value: str) -> Price | None:
    """A standardised value as a price; None for a text.

    Example:
        >>> as_price("399 usd"), as_price("6.6 $ per kg"), as_price("call us")
        (Price(amount=399.0, currency='usd', per=''), Price(amount=6.6, currency='$', per='kg'), None)
    """
    before, _, per = value.partition(" per ")
    amount, _, currency = before.partition(" ")
    try:
        return Price(float(amount), currency, per) if amount[-1:].isdigit() else None
    except ValueError:
        return None


def same_currency(left: str, right: str) -> bool:
    """Whether two currencies may be the same one; an unknown currency may be any.

    Example:
        >>> same_currency("usd", "eur"), same_currency("$", "aud"), same_currency("", "eur"), same_currency("$", "eur")
        (False, True, True, False)
    """
    if not left or not right or left == right:
        return True
    return right in _SHARED.get(left, ()) or left in _SHARED.get(right, ())


def _parsed(text: str) -> Price | None:
    every = [*_PRICE.finditer(text)]
    if not every:
        return None
    found = next((one for one in every if _currency(one["before"]) or _currency(one["after"])), every[0])
    amount = _amount(found["amount"])
    if found["sign"] or text.startswith("-"):
        amount = -amount
    currency, after, end = _currency(found["before"]), found["after"], found.end()
    if after in _MAGNITUDES and after not in _CURRENCIES:
        amount *= _MAGNITUDES[after]
        following = _FOLLOWING.match(text, end)
        after, end = (following[1], following.end()) if following else (None, end)
    if after in _CENTS:
        amount /= 100
    currency = currency or _currency(after)
    per = _PER.match(text, end if _currency(after) else found.end("amount"))
    unit = unit_of(per[1]) if per else None
    return Price(amount / unit[1], currency, unit[0]) if unit else Price(amount, currency)


def _currency(word: str | None) -> str:
    return _CURRENCIES.get(word or "", "")


def _amount(text: str) -> float:
    plain = re.sub(r"['’\s]", "", text)
    at = max(plain.rfind(","), plain.rfind("."))
    if at < 0:
        return float(plain)
    separator, other = plain[at], "," if plain[at] == "." else "."
    head, fraction = plain[:at], plain[at + 1 :]
    thousands = len(fraction) == 3 and other not in head and head.strip("0")
    if separator in head or thousands:
        return float(re.sub("[.,]", "", plain))
    return float(f"{re.sub('[.,]', '', head)}.{fraction}")


def _written(amount: float) -> str:
    """The amount without an exponent; three decimal digits would be thousands when they are parsed again."""
    text = f"{amount:.6f}".rstrip("0").rstrip(".")
    return f"{text}0" if len(text.partition(".")[2]) == 3 else text
