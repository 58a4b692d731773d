"""Messages of a kind of pipeline, from a seed: most are nearly right, so that what is odd gets far."""

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

from stream_lsh.config.model import PipelineConfig
from stream_lsh.kinds.kind import as_kind
from stream_lsh.kinds.record.kind import RecordKind
from stream_lsh.kinds.set.kind import SetKind
from stream_lsh.kinds.text.kind import TextKind
from stream_lsh.kinds.vector.kind import VectorKind
from tests.fuzz.tokens import anything, number, string

NOW_MS = 1_714_564_800_000
_TIMES = (-1, 0, 1, -(2**63), 2**63 - 1, 2**62, 253_402_300_799_999, 253_402_300_800_000, -62_135_596_800_001)
_WORDS = (
    "the quick brown fox jumps over a lazy dog while ann lee and bob ray of rome read news about ships on fire".split()
)
_IDS = 400
_HUGE = 0.002
"""Of all messages that many are as large as a message may be."""

Fields = list[tuple[str, str]]


class Message(NamedTuple):
    """A message of a source, or of the decisions."""

    key: bytes | None
    value: bytes | None
    timestamp_ms: int


def messages(config: PipelineConfig, seed: int, count: int, *, decisions: bool = False) -> Iterator[Message]:
    """`count` messages; equal ones for equal arguments.

    Args:
        config: of the pipeline that reads them.
        seed: any.
        count: how many.
        decisions: those of its topic of decisions, and not of its source.
    """
    rng = random.Random(f"{seed} {config.name} {config.kind.name}")
    make = _decision if decisions else _document
    for _ in range(count):
        yield make(config, rng)


def _document(config: PipelineConfig, rng: random.Random) -> Message:
    id = f"{rng.randrange(_IDS)}"
    fields = _MAKERS.get(config.kind.name, _text)(config, rng)
    fields += [("time", rng.choice((str(NOW_MS), '"2024-05-01T12:00:00Z"', str(NOW_MS - rng.randrange(10**10)))))]
    if rng.random() < 0.3:
        fields.append(("id", f'"{id}"'))
    if rng.random() < 0.03:
        fields.append(("deleted", rng.choice(("true", "true", "false", "1"))))
    return Message(_key(id, rng), _value(fields, rng), _timestamp(rng))


def _decision(config: PipelineConfig, rng: random.Random) -> Message:
    key = f'["{rng.randrange(_IDS)}","{rng.randrange(_IDS)}"]'
    if rng.random() < 0.3:
        key = rng.choice((f"[{anything(rng)},{anything(rng)}]", f"[{string(rng)},{string(rng)}]", anything(rng)))
    fields = [("decision", rng.choice(('"same"', '"different"', "null", '"same"', '"different"', anything(rng))))]
    return Message(_encoded(key), _value(fields, rng), NOW_MS)


def _timestamp(rng: random.Random) -> int:
    return rng.choice(_TIMES) if rng.random() < 0.05 else NOW_MS + rng.randrange(10**7)


def _key(id: str, rng: random.Random) -> bytes | None:
    if rng.random() < 0.9:
        return id.encode()
    forms: tuple[Callable[[], bytes | None], ...] = (
        lambda: None,
        lambda: b"",
        lambda: b"\xff\xfe" + id.encode(),
        lambda: b"\xed\xa0\x80",
        lambda: b"\0" * rng.randint(1, 4),
        lambda: id.encode() * rng.choice((100, 1_000, 200_000 if rng.random() < 20 * _HUGE else 2_000)),
        lambda: rng.randbytes(rng.randint(1, 40)),
        lambda: "\u202e".encode() * rng.choice((1, 341, 342)),
    )
    return rng.choice(forms)()


def _value(fields: Fields, rng: random.Random) -> bytes | None:
    """The object of these fields, with something odd about it or not."""
    if rng.random() < 0.01:
        return None
    for _ in range(rng.choices((0, 1, 2, 3), (40, 40, 15, 5))[0]):
        place = rng.randrange(len(fields))
        name, before = fields[place]
        forms: tuple[Callable[[], object], ...] = (
            lambda place=place, name=name: fields.__setitem__(place, (name, anything(rng))),  # type: ignore[misc]
            lambda place=place, name=name: fields.__setitem__(place, (name, anything(rng))),  # type: ignore[misc]
            lambda place=place, name=name: fields.__setitem__(place, (name, number(rng))),  # type: ignore[misc]
            lambda place=place, name=name: fields.__setitem__(place, (name, string(rng))),  # type: ignore[misc]
            lambda name=name: fields.append((name, anything(rng))),  # type: ignore[misc]
            lambda place=place: fields.pop(place) if len(fields) > 1 else None,  # type: ignore[misc]
            lambda: fields.append((string(rng)[1:-1], anything(rng))),
            lambda name=name, before=before: fields.append((name.upper(), before)),  # type: ignore[misc]
        )
        rng.choice(forms)()
    if rng.random() < _HUGE:
        filler = rng.choice(("x", "ab ", "字", "\\u0000", "<b>", '","'))
        fields[0] = fields[0][0], '"' + filler * (rng.choice((60_000, 130_000, 510_000)) // len(filler)) + '"'
    text = "{" + ",".join(f'"{name}":{value}' for name, value in fields) + "}"
    return _spoiled(_encoded(text), rng) if rng.random() < 0.1 else _encoded(text)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _spoiled(value: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(value) + 1)
    forms: tuple[Callable[[], bytes], ...] = (
        lambda: value[:at],
        lambda: value[:at] + rng.randbytes(rng.randint(1, 4)) + value[at:],
        lambda: value[:at] + value[at + 1 :],
        lambda: b"\xef\xbb\xbf" + value,
        lambda: value.decode("utf-8", "replace").encode("utf-16"),
        lambda: b"[" + value + b"]",
        lambda: value + rng.choice((b" ", b"\n", b"\0", b"x", value)),
        lambda: rng.randbytes(rng.randint(0, 60)),
        lambda: rng.choice((b"", b" ", b"null", b"[]", b"1", b'""', b"\xef\xbb\xbf")),
        lambda: b"[" * 100_000,
        lambda: b"9" * 5_000,
    )
    return rng.choice(forms)()


# -- what is right


def _words(rng: random.Random, most: int) -> str:
    """A stretch of the words, so that many are alike."""
    start, length = rng.randrange(4), rng.randint(1, most)
    words = [_WORDS[(start + place) % len(_WORDS)] for place in range(length)]
    if rng.random() < 0.5:
        words[rng.randrange(length)] = rng.choice(_WORDS)
    return " ".join(words)


def _text(config: PipelineConfig, rng: random.Random) -> Fields:
    text = _words(rng, 60)
    kind = as_kind(config.kind, TextKind)
    if kind.html != "off":
        head = f"<head><title>{_words(rng, 5)}</title></head>"
        text = f"<html>{head}<body><p>{text}</p><p>{_words(rng, 60)}</p></body></html>"
    fields = [("text", f'"{text}"')]
    if kind.stories:
        fields += [
            ("title", f'"{_words(rng, 8)}"'),
            ("source", rng.choice(('"a.org"', '"b.org"'))),
            ("url", '"http://a.org/x"'),
        ]
    return fields


def _record(config: PipelineConfig, rng: random.Random) -> Fields:
    fields = [("source", rng.choice(('"crm"', '"shop"', '"x"')))]
    for field in as_kind(config.kind, RecordKind).loaded_profile.fields:
        if field.of or rng.random() < 0.3:
            continue
        name = rng.choice((*field.columns, field.name))
        value = f'"{_words(rng, 3)}"' if rng.random() < 0.7 else string(rng)
        if rng.random() < 0.1:
            value = f"[{','.join(string(rng) for _ in range(rng.randint(0, 12)))}]"
        fields.append((name, value))
    return fields


def _set(config: PipelineConfig, rng: random.Random) -> Fields:
    if as_kind(config.kind, SetKind).family == "grid":
        items = [str(rng.randrange(40)) for _ in range(rng.randint(0, 20))]
    else:
        items = [f'"{word}"' for word in _words(rng, 30).split()] + [str(rng.randrange(9)) for _ in range(3)]
    if rng.random() < 0.1:
        items.append(anything(rng))
    return [("items", f"[{','.join(items)}]")]


def _vector(config: PipelineConfig, rng: random.Random) -> Fields:
    kind = as_kind(config.kind, VectorKind)
    values = [
        rng.choice(("0", "1")) if kind.measure == "hamming" else str(rng.randint(-2, 2)) for _ in range(kind.dimension)
    ]
    if rng.random() < 0.1:
        values[rng.randrange(len(values))] = number(rng)
    return [("vector", f"[{','.join(values)}]")]


_MAKERS: dict[str, Callable[[PipelineConfig, random.Random], Fields]] = {
    "text": _text,
    "record": _record,
    "set": _set,
    "vector": _vector,
}
