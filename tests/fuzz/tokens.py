"""JSON that is odd: each token is the text of one value, which `json.dumps` might not write."""

import random
from collections.abc import Callable

_TEXTS = (
    "",
    " ",
    "\\u0000",
    "\\ud800",
    "\\udc00",
    "\\udfff\\ud800",
    "\\ud83d\\ude00",
    "\\ufeff",
    "\\u202e",
    "\\u0130",
    "\\ufdfa",
    "e\\u0301",
    "\\u001f",
    "\\u001e",
    "\\u2028",
    "\\\\",
    '\\"',
    "\\/",
    "\\b\\f\\n\\r\\t",
    "null",
    "N/A",
    "-1",
    "1e400",
    "\\ufffe",
    "<p>",
    "</",
    "&#99999999999;",
    "&#xD800;",
    "<![CDATA[",
    "<script>",
    "<html><title>a</title><p>b",
    "a@b",
    "@",
    "+1 (555) 010-9999",
    "12 Main St, Apt 4, NY 10001",
    "51.5,-0.1",
    "999,999",
    "nan,inf",
    "1234567890123",
    "AAAA",
    "AABAQAAAgEA=",
    "0101",
    "ff",
    "|",
)
_DATES = (
    "2024-05-01",
    "2024-05-01T12:00:00Z",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59.999999-23:59",
    "0000-00-00",
    "2024-02-30",
    "2024-01-01T24:00:00",
    "9999-12-31T24:00:00",
    "2024-W01-1",
    "2024-W53-7",
    "20240501T120000",
    "24-5-1",
    "2024-01-01T00:00:00+25:00",
    "2024-01-01T00:00:00.1234567890123456789Z",
    "-0044-03-15",
    "+12024-01-01",
    "1e9",
    "Wed, 01 May 2024 12:00:00 GMT",
    "Wed, 01 May 2024 12:00:00 +9999",
    "1 Jan 0001 00:00:00 -2359",
    "31 Dec 9999 23:59:60 GMT",
    "Thu, 99 Foo 99999 99:99:99 ZZZ",
    "1 Jan 00 00:00 EST",
    "1714564800",
    "1714564800000",
    "1/2/3",
    "31.12.1999",
    "May 1",
    "2024\\u00a0-05-01",
    "\\u0662\\u0660\\u0662\\u0664-01-01",
    "2024-05-01T12:00:00\\u0000Z",
    "2024-01-01T00:00:00+00:00:00.000001",
)
_NUMBERS = (
    "0",
    "-0",
    "-0.0",
    "1",
    "-1",
    "0.1",
    "1e400",
    "-1e400",
    "1e-400",
    "1E+999999999",
    "9007199254740993",
    "2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "253402300799999",
    "253402300800000",
    "-62135596800000",
    "-62135596800001",
    "1714564800",
    "1714564800.5",
    "NaN",
    "Infinity",
    "-Infinity",
    "01",
    "1.",
    ".5",
    "+1",
    "0x10",
    "1_000",
    "3.4028236e38",
    "1e308",
    "-1e308",
    "5e-324",
)
_DIGITS = (40, 308, 309, 310, 400, 1_000, 4_299, 4_300, 4_301, 5_000)
_TENS = ("9" * 10, "1234567890", "0" * 10)
_DEPTHS = (3, 60, 900, 1_100, 100_000)


def number(rng: random.Random) -> str:
    """A number, as long as it may be, or none."""

    def digits() -> str:
        return "".join(rng.choices(_TENS, k=rng.choice(_DIGITS) // 10 + 1))

    def small() -> str:
        tail = digits()
        return f"1{tail}e-{len(tail)}"

    forms: tuple[Callable[[], str], ...] = (
        lambda: rng.choice(_NUMBERS),
        lambda: rng.choice(_NUMBERS),
        lambda: rng.choice(("", "-")) + "1" + digits()[: rng.choice(_DIGITS)],
        lambda: f"0.{digits()}",
        small,
        lambda: str(rng.randint(-(2**70), 2**70)),
        lambda: repr(rng.uniform(-1e20, 1e20)),
    )
    return rng.choice(forms)()


def string(rng: random.Random, longest: int = 300) -> str:
    """A string, with its quotes."""
    forms: tuple[Callable[[], str], ...] = (
        lambda: rng.choice(_TEXTS),
        lambda: rng.choice(_DATES),
        lambda: "".join(rng.choices(_TEXTS, k=rng.randint(2, 12))),
        lambda: rng.choice(_DATES)[: rng.randint(0, 30)].rstrip("\\").rpartition("\\")[2] + rng.choice(_TEXTS),
        lambda: "9" * rng.choice(_DIGITS),
        lambda: rng.choice(("x", "ab ", "\\ud800", "é", "字", "\U0001f600", "<p>", "0")) * rng.randint(1, longest),
        lambda: " ".join(rng.choices("the of fox dog king queen river night".split(), k=rng.randint(1, 40))),
    )
    return f'"{rng.choice(forms)()}"'


def nested(rng: random.Random) -> str:
    """Arrays or objects in each other, closed or not."""
    depth = rng.choices(_DEPTHS, (20, 10, 2, 2, 1))[0]
    begin, end, inside = rng.choice((("[", "]", ""), ('{"a":', "}", "1"), ('[{"a":', "}]", "null"), ("[", "", "")))
    return begin * depth + inside + end * depth


def anything(rng: random.Random) -> str:
    """Any value."""
    form = rng.choices((number, string, nested, _array, _object, _literal), (30, 40, 2, 12, 6, 10))[0]
    return form(rng)


def _literal(rng: random.Random) -> str:
    return rng.choice(("null", "true", "false", "nul", "True", "undefined", ""))


def _array(rng: random.Random) -> str:
    one, most = rng.choice(((number, 300), (string, 300), (_literal, 9), (anything, 3)))
    return f"[{','.join(one(rng) for _ in range(rng.choice((0, 1, 2, most))))}]"


def _object(rng: random.Random) -> str:
    return f"{{{','.join(f'{string(rng, 3)}:{anything(rng)}' for _ in range(rng.randint(0, 2)))}}}"
