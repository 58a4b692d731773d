"""The configuration of a worker: its application, its state on disk, its sessions."""

from dataclasses import dataclass, field
from pathlib import Path

from stream_lsh.settings import value_types
from stream_lsh.settings.schema import key
from stream_lsh.settings.value_types import span, whole

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
            span(least="1s"),
            "the silence after which other workers take over; brokers refuse less than their "
            "`group.min.session.timeout.ms`, 6s",
            "session_timeout",
        ),
    )
    commit_interval_ms: int = field(
        default=500,
        metadata=key(
            span(least="50ms"),
            "the time between two commits of offsets: a crash repeats at most the work since the last one",
            "commit_interval",
        ),
    )

    @property
    def web_address(self) -> tuple[str, int] | None:
        """Host and port; None without a web server."""
        host, _, port = self.web.rpartition(":")
        return (host.strip("[]"), int(port)) if self.web else None
