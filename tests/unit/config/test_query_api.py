"""The keys of the query API: addresses and tokens."""

from pathlib import Path

import pytest

from stream_lsh.config import parse
from stream_lsh.config.worker import WorkerConfig
from stream_lsh.errors import ConfigError

TOKEN, OTHER = "0123456789abcdef", "fedcba9876543210"


def worker(keys: dict[str, str | int]) -> WorkerConfig:
    lines = [f"{key} = {value!r}" for key, value in keys.items()]
    return parse("\n".join(("pipeline.source = 'news'", "[worker]", *lines)), "news.toml", {}).worker


def test_the_query_api_is_off() -> None:
    assert (worker({}).ask_address, worker({}).ask_tokens) == (None, ())


def test_a_loopback_address_needs_no_token() -> None:
    for address in ("127.0.0.1:6067", "127.3.2.1:6067", "[::1]:6067", "localhost:6067"):
        assert worker({"ask": address}).ask_tokens == ()
    assert worker({"ask": "[::1]:6067"}).ask_address == ("::1", 6067)


def test_pages_on_a_loopback_address_need_no_token() -> None:
    assert worker({"ask": "127.0.0.1:6067"}).ui_address is None
    assert worker({"ask": "127.0.0.1:6067", "ui": "127.0.0.1:6070"}).ui_address == ("127.0.0.1", 6070)
    given = {"ask": "127.0.0.1:6067", "ask_token": TOKEN, "ui": "0.0.0.0:6070"}
    assert worker({**given}).ui_address == ("0.0.0.0", 6070)  # noqa: S104 - not opened


def test_tokens_are_read_from_a_key_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text(f"{TOKEN}\n{OTHER}\n")
    for keys in ({"ask_token": f"{TOKEN} {OTHER}"}, {"ask_token_file": str(tmp_path / "tokens")}):
        assert worker({"ask": "10.0.0.1:6067", **keys}).ask_tokens == (TOKEN, OTHER)
    assert TOKEN not in repr(worker({"ask": "10.0.0.1:6067", "ask_token": TOKEN}))


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"ask": "10.0.0.1:6067"}, "worker.ask: got '10.0.0.1:6067' without a token, expected `ask_token`"),
        ({"ask": "worker-1:6067"}, "worker.ask: got 'worker-1:6067' without a token"),
        ({"ask": "0.0.0.0:6067", "ask_token": TOKEN}, "other workers cannot reach, expected also `ask_advertised`"),
        ({"ask": "[::]:6067", "ask_token": TOKEN}, "other workers cannot reach, expected also `ask_advertised`"),
        ({"ask_advertised": "10.0.0.1:6067"}, "worker.ask_advertised: got one, expected none without `ask`"),
        (
            {"ask": "0.0.0.0:6067", "ask_advertised": "0.0.0.0:6067", "ask_token": TOKEN},
            "worker.ask_advertised: got '0.0.0.0:6067', expected an address that other workers can reach",
        ),
        ({"ui": "127.0.0.1:6070"}, "worker.ui: got one, expected none without `ask`"),
        (
            {"ask": "127.0.0.1:6067", "ui": "10.0.0.1:6070"},
            "worker.ui: got '10.0.0.1:6070' without a token, expected `ask_token`",
        ),
        ({"ask": "127.0.0.1:6067", "ui": "127.0.0.1:6067"}, "which is also the address of `ask`"),
        ({"ask": "127.0.0.1:6067", "ui": "127.0.0.1:6066"}, "which is also the address of `web`"),
        ({"ask": "127.0.0.1:6067", "ui": "6070"}, "worker.ui: got '6070', expected host:port"),
        ({"ask": "127.0.0.1:6066"}, "worker.ask: got '127.0.0.1:6066', which is also the address of `web`"),
        ({"ask": "localhost:6066"}, "worker.ask: got 'localhost:6066', which is also the address of `web`, '127.0.0.1"),
        (
            {"ask": "0.0.0.0:6066", "ask_advertised": "10.0.0.1:6066", "ask_token": TOKEN},
            "worker.ask: got '0.0.0.0:6066', which is also the address of `web`, '127.0.0.1:6066', expected another",
        ),
        ({"ask": "127.0.0.1"}, "worker.ask: got '127.0.0.1', expected host:port"),
        ({"ask_token": "hunter2"}, "worker.ask_token: got invalid characters or a short token (not shown)"),
        ({"ask_token": f"{TOKEN} {TOKEN} {TOKEN}"}, "expected one or two tokens of 16 or more"),
        ({"ask_token": TOKEN, "ask_token_file": "FILE"}, "ask_token_file: got a file and `ask_token` as well"),
        ({"ask_token_file": "FILE"}, "ask_token_file: got a file with other contents, expected one or two tokens"),
        ({"ask_token_file": "BYTES"}, "ask_token_file: got a file that cannot be read as UTF-8"),
        ({"ask_concurrency": 0}, "worker.ask_concurrency: got 0, expected a whole number from 1"),
        ({"ask_timeout": "1ms"}, "worker.ask_timeout: got '1ms', expected a span"),
    ],
)
def test_a_mistake_is_reported(keys: dict[str, str | int], problem: str, tmp_path: Path) -> None:
    for name, content in {"FILE": b"hunter2 hunter2", "BYTES": b"\xff"}.items():
        (tmp_path / name).write_bytes(content)
    given = {key: str(tmp_path / str(value)) if key == "ask_token_file" else value for key, value in keys.items()}
    with pytest.raises(ConfigError) as caught:
        worker(given)
    (message,) = str(caught.value).splitlines()
    assert problem in message
    assert "hunter2" not in message


def test_an_address_that_all_share_is_reported_for_each_pair() -> None:
    address = "127.0.0.1:6067"
    with pytest.raises(ConfigError) as caught:
        worker({"ask": address, "ui": address, "web": address})
    shared = f"got '{address}', which is also the address of `{{}}`, '{address}', expected another port"
    assert [*caught.value.problems] == [
        f"news.toml:3: worker.ask: {shared.format('web')}",
        f"news.toml:4: worker.ui: {shared.format('ask')}",
        f"news.toml:4: worker.ui: {shared.format('web')}",
    ]
