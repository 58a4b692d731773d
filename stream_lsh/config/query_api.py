"""Checks of the keys of the query API and of the web pages: addresses and tokens."""

import re
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_address

from stream_lsh.config.worker import WorkerConfig, host_and_port
from stream_lsh.settings.problems import Problems
from stream_lsh.settings.value_types import Secret

_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
_LEAST_TOKEN = 16
_EXPECTED = f"one or two tokens of {_LEAST_TOKEN} or more of the characters A-Z a-z 0-9 - . _ ~ + /"


def with_tokens(worker: WorkerConfig, problems: Problems) -> WorkerConfig:
    """The same settings, with the tokens read from `ask_token_file`."""
    path = ("worker", "ask_token_file")
    if worker.ask_token_file is None:
        return worker
    if worker.ask_token is not None:
        problems.add(path, "got a file and `ask_token` as well, expected one of them")
        return worker
    try:
        text = worker.ask_token_file.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        problems.add(path, "got a file that cannot be read as UTF-8, expected one or two lines with a token each")
        return worker
    if not _are_tokens(text):
        problems.add(path, f"got a file with other contents, expected {_EXPECTED}")
        return worker
    return replace(worker, ask_token=Secret(text))


def check_query_api(worker: WorkerConfig, problems: Problems) -> None:
    """Report settings that contradict each other, and an address that is public without a token."""
    if worker.ask_token is not None and worker.ask_token_file is None and not _are_tokens(worker.ask_token.reveal()):
        problems.add(
            ("worker", "ask_token"), f"got invalid characters or a short token (not shown), expected {_EXPECTED}"
        )
    compared = [("worker", name) for name in ("ask", "ui", "ask_token", "ask_token_file")]
    if not problems.is_valid(*compared):
        return
    issues = [(name, problem) for name, problem in _contradictions(worker) if problems.is_valid(("worker", name))]
    for name, problem in issues:  # several keys, or one of them several times
        problems.add(("worker", name), problem)


def _contradictions(worker: WorkerConfig) -> Iterator[tuple[str, str]]:
    address, advertised = worker.ask_address, host_and_port(worker.ask_advertised)
    if address is None:
        for name, value in (("ask_advertised", worker.ask_advertised), ("ui", worker.ui)):
            if value:
                yield name, "got one, expected none without `ask`, the address of the query API"
        return
    yield from _contradictions_of_pages(worker)
    if not is_loopback(address[0]) and worker.ask_token is None:
        yield (
            "ask",
            f"got {worker.ask!r} without a token, expected `ask_token` or `ask_token_file`: only a loopback address, "
            "such as 127.0.0.1:6067, needs none",
        )
    if _overlap(worker.ask, worker.web):
        yield "ask", _shared_with(worker, "ask", "web")
    if _is_unspecified(address[0]) and advertised is None:
        yield (
            "ask",
            f"got {worker.ask!r}, which other workers cannot reach, expected also `ask_advertised`, the address of "
            "this worker",
        )
    if advertised is not None and _is_unspecified(advertised[0]):
        yield "ask_advertised", f"got {worker.ask_advertised!r}, expected an address that other workers can reach"


def _contradictions_of_pages(worker: WorkerConfig) -> Iterator[tuple[str, str]]:
    address = worker.ui_address
    if address is None:
        return
    for name in ("ask", "web"):
        if _overlap(worker.ui, getattr(worker, name)):
            yield "ui", _shared_with(worker, "ui", name)
    if not is_loopback(address[0]) and worker.ask_token is None:
        yield (
            "ui",
            f"got {worker.ui!r} without a token, expected `ask_token` or `ask_token_file`: only a loopback address, "
            "such as 127.0.0.1:6070, needs none",
        )


def _shared_with(worker: WorkerConfig, name: str, other: str) -> str:
    theirs = getattr(worker, other)
    return f"got {getattr(worker, name)!r}, which is also the address of `{other}`, {theirs!r}, expected another port"


def _overlap(one: str, other: str) -> bool:
    """Whether a process can listen on only one of two addresses; an empty one overlaps none."""
    ours, theirs = host_and_port(one), host_and_port(other)
    if ours is None or theirs is None or ours[1] != theirs[1]:
        return False
    hosts = {"127.0.0.1" if host == "localhost" else host for host in (ours[0], theirs[0])}
    return len(hosts) == 1 or any(map(_is_unspecified, hosts))


def is_loopback(host: str) -> bool:
    """Whether only programs on the same machine can reach a host.

    Example:
        >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
        (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _is_unspecified(host: str) -> bool:
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return False


def _are_tokens(text: str) -> bool:
    tokens = text.split()
    return len(tokens) in (1, 2) and all(_TOKEN.fullmatch(token) and len(token) >= _LEAST_TOKEN for token in tokens)
