"""Hostile requests to a query API: broken bytes, sizes, headers, tokens, bodies, and connections that stop.

python -m tests.unit.worker.query.hostile HOST:PORT COUNT [SEED]     to a running worker; prints the statuses
"""

import asyncio
import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

SIMILAR = b"/v1/pipelines/docs/similar"
ALLOWED = {100, 200, 400, 401, 404, 405, 409, 413, 415, 422, 429, 503, 504}
AT_ONCE = 8
_WAIT_SECONDS = 0.3


@dataclass
class Outcome:
    """The answers to hostile requests: their statuses, and those that no client may receive."""

    statuses: Counter[int] = field(default_factory=Counter)
    wrong: list[tuple[bytes, bytes]] = field(default_factory=list)


def request(path: bytes = b"/v1", body: bytes = b"", method: bytes = b"GET", headers: bytes = b"") -> bytes:
    length = b"Content-Length: %d\r\n" % len(body) if body else b""
    return b"%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s%sConnection: close\r\n\r\n%s" % (
        method, path, headers, length, body,
    )  # fmt: skip


def _bytes(rng: random.Random, most: int) -> bytes:
    return rng.randbytes(rng.randrange(1, most))


def _json(rng: random.Random, depth: int = 0) -> object:
    simple: list[object] = [None, True, 0, -1, 2**70, 1e308, "", "\x00", "\ud800", "text " * 50, [], {}]
    if depth > 3 or rng.random() < 0.5:
        return rng.choice(simple)
    if rng.random() < 0.5:
        return [_json(rng, depth + 1) for _ in range(rng.randrange(4))]
    names = ["text", "record", "items", "vector", "limit", "threshold", "time", "partial", "stale", "fields", "x"]
    return {rng.choice(names): _json(rng, depth + 1) for _ in range(rng.randrange(4))}


def _query(rng: random.Random) -> bytes:
    body: object = _json(rng)
    if rng.random() < 0.7:
        text = rng.choice(["a text", "", "\ud800", 7, None, "x" * 5_000])
        body = {"text": text, rng.choice(["limit", "threshold", "time", "partial", "x"]): _json(rng)}
    headers = b"Content-Type: application/json\r\n"
    return request(SIMILAR, json.dumps(body).encode(), b"POST", headers)


def _nested(rng: random.Random) -> bytes:
    depth = rng.randrange(10, 20_000)
    body = rng.choice([b"[" * depth, b'{"text":' * depth, b'{"text":"a","x":' + b"[" * depth + b"]" * depth + b"}"])
    return request(SIMILAR, body, b"POST", b"Content-Type: application/json\r\n")


def _path(rng: random.Random) -> bytes:
    parts = [b"v1", b"pipelines", b"docs", b"similar", b"events", b"internal", b"%2e%2e", b"%00", b"%ff", b"..", b"%2f"]
    path = b"/" + b"/".join(rng.choice(parts) for _ in range(rng.randrange(1, 6)))
    query = rng.choice([b"", b"?", b"?types=%ff", b"?types=x&types=y", b"?limit=" + b"9" * 50, b"?a=b;c"])
    return request(path + query, method=rng.choice([b"GET", b"POST", b"PUT", b"HEAD", b"OPTIONS", b"TRACE", b"FOO"]))


def _headers(rng: random.Random) -> bytes:
    values = [b"\xff", b"a" * 9_000, b"Bearer \xc3\xa9", b"Basic eDp5", b"-1", b"99999999999999", b"chunked", b"gzip"]
    names = [b"Authorization", b"Content-Length", b"Transfer-Encoding", b"Content-Encoding", b"Host", b"Expect"]
    names += [b"Last-Event-ID", b"Stream-LSH-Deadline", b"Upgrade", b"X" * 9_000]
    chosen = b"".join(b"%s: %s\r\n" % (rng.choice(names), rng.choice(values)) for _ in range(rng.randrange(1, 4)))
    return request(rng.choice([b"/v1", SIMILAR]), method=rng.choice([b"GET", b"POST"]), headers=chosen)


def _large(rng: random.Random) -> bytes:
    body = b'{"text": "' + b"a" * rng.randrange(600_000, 900_000) + b'"}'
    return request(SIMILAR, body, b"POST", b"Content-Type: application/json\r\n")


def _chunks(rng: random.Random) -> bytes:
    chunks = rng.choice([b"5\r\nhello\r\n0\r\n\r\n", b"-5\r\n", b"fffffffffff\r\nx", b"5;x=y\r\nhel", b"zz\r\n\r\n"])
    return request(SIMILAR, method=b"POST", headers=b"Transfer-Encoding: chunked\r\n") + chunks


def _cut(rng: random.Random) -> bytes:
    whole = _query(rng)
    return whole[: rng.randrange(1, len(whole))]


KINDS: tuple[tuple[Callable[[random.Random], bytes], float], ...] = (
    (lambda rng: _bytes(rng, 300), 2),
    (lambda rng: b"GET /v1 HTTP/1.1\r\n" + _bytes(rng, 300) + b"\r\n\r\n", 2),
    (_query, 6),
    (_nested, 0.5),
    (_path, 4),
    (_headers, 4),
    (_large, 0.3),
    (_chunks, 2),
    (_cut, 0.5),
)


async def _sent(address: str, data: bytes, rng: random.Random) -> bytes:
    """The beginning of the answer; empty for none within a short time, after which the connection is dropped."""
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        if rng.random() < 0.02:  # in two parts, the second one late
            writer.write(data[: len(data) // 2])
            await asyncio.sleep(0.02)
            data = data[len(data) // 2 :]
        writer.write(data)
        async with asyncio.timeout(_WAIT_SECONDS if rng.random() < 0.1 else 10 * _WAIT_SECONDS):
            return await reader.read(1_000)
    except (ConnectionError, TimeoutError):
        return b""
    finally:
        writer.transport.abort()


async def run_hostile(address: str, count: int, seed: int) -> Outcome:
    """Send hostile requests, some at a time."""
    rng, outcome = random.Random(seed), Outcome()
    makers, weights = zip(*KINDS, strict=True)

    async def send_some(share: int) -> None:
        for _ in range(share):
            data = rng.choices(makers, weights)[0](rng)
            head = await _sent(address, data, rng)
            if not head:
                outcome.statuses[0] += 1
                continue
            status = int(head[9:12]) if head.startswith(b"HTTP/1.") and head[9:12].isdigit() else -1
            outcome.statuses[status] += 1
            if status not in ALLOWED:
                outcome.wrong.append((data[:300], head))

    await asyncio.gather(*(send_some(count // AT_ONCE) for _ in range(AT_ONCE)))
    return outcome


if __name__ == "__main__":
    result = asyncio.run(run_hostile(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0))
    print(dict(result.statuses), result.wrong[:5])
    sys.exit(bool(result.wrong))
