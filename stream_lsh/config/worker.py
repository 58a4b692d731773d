"""The configuration of a worker: its application, its state on disk, its sessions, its query API."""

from dataclasses import dataclass, field
from pathlib import Path

from stream_lsh.settings import value_types
from stream_lsh.settings.schema import key
from stream_lsh.settings.value_types import Secret, span, whole

DEFAULT_APP_ID = "stream-lsh"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig:
    """The worker process, and its application: all workers with the same `app_id`."""

    app_id: str = field(
        default=DEFAULT_APP_ID,
        metadata=key(value_types.TOPIC, "the application: its consumer group, and the prefix of its internal topics"),
    )
    data_dir: Path | None = field(
        default=Path("state"),
        metadata=key(value_types.FOLDER, "the folder for a copy of the state; without one, all state is in memory"),
    )
    standbys: int = field(
        default=0,
        metadata=key(
            whole(0, 100),
            "the number of other workers that follow each partition and take it over without reading its state; all "
            "others, if there are fewer",
        ),
    )
    web: str = field(
        default="127.0.0.1:6066",
        metadata=key(value_types.WEB, "the address of the pages for metrics and health, which have no password"),
    )
    session_timeout_ms: int = field(
        default=6_000,
        metadata=key(
            span(least="1s", most="1d"),
            "the silence after which other workers take over; brokers refuse less than their "
            "`group.min.session.timeout.ms`, 6s",
            "session_timeout",
        ),
    )
    commit_interval_ms: int = field(
        default=500,
        metadata=key(
            span(least="50ms", most="1h"),
            "the time between two commits of offsets: a crash repeats at most the work since the last one",
            "commit_interval",
        ),
    )

    ask: str = field(
        default="",
        metadata=key(
            value_types.WEB,
            "the address of the query API; it needs a token unless it is a loopback address",
        ),
    )
    ask_advertised: str = field(
        default="",
        metadata=key(
            value_types.WEB,
            "the address at which the other workers reach the query API of this one; by default `ask`",
        ),
    )
    ask_token: Secret | None = field(
        default=None,
        metadata=key(
            value_types.SECRET,
            "the bearer token of the query API, the same for all workers; during a rotation two tokens, separated by a "
            "blank: workers accept both and send the first; better kept in a file or a variable",
        ),
    )
    ask_token_file: Path | None = field(
        default=None,
        metadata=key(value_types.FILE, "the file that contains the token, or two on two lines, instead of `ask_token`"),
    )
    ui: str = field(
        default="",
        metadata=key(
            value_types.WEB,
            "the address of the web pages of this worker (extra `web`), which use its query API; readers sign in with "
            "the token unless it is a loopback address",
        ),
    )
    ask_concurrency: int = field(
        default=16,
        metadata=key(whole(1, 10_000), "the number of queries that a worker runs at a time; it rejects others"),
    )
    ask_timeout_ms: int = field(
        default=2_000,
        metadata=key(span(least="50ms", most="1h"), "the time after which a query times out", "ask_timeout"),
    )

    @property
    def web_address(self) -> tuple[str, int] | None:
        """Host and port; None without a web server."""
        return host_and_port(self.web)

    @property
    def ask_address(self) -> tuple[str, int] | None:
        """Host and port of the query API; None without one."""
        return host_and_port(self.ask)

    @property
    def ui_address(self) -> tuple[str, int] | None:
        """Host and port of the web pages; None without any."""
        return host_and_port(self.ui)

    @property
    def ask_tokens(self) -> tuple[str, ...]:
        """The accepted tokens, the one that workers send first; empty without authentication."""
        return () if self.ask_token is None else tuple(self.ask_token.reveal().split())


def host_and_port(address: str) -> tuple[str, int] | None:
    """The two parts of an address; None for an empty one.

    Example:
        >>> host_and_port("[::1]:6067"), host_and_port("")
        (('::1', 6067), None)
    """
    host, _, port = address.rpartition(":")
    return (host.strip("[]"), int(port)) if address else None
