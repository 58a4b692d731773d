"""The configuration of the cluster: `[kafka]`, and `[kafka.security]` for TLS and SASL."""

from dataclasses import dataclass, field
from pathlib import Path

from stream_lsh.settings import value_types
from stream_lsh.settings.schema import key, table
from stream_lsh.settings.value_types import Secret, choice, whole

PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL = PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityConfig:
    """Settings for brokers with TLS or SASL; `password` is read from `password_file` if that is set."""

    protocol: str = field(
        default=SASL_SSL, metadata=key(choice(PROTOCOLS), "the protocol of the connections to the brokers")
    )
    mechanism: str = field(default="SCRAM-SHA-512", metadata=key(choice(MECHANISMS), "the SASL mechanism"))
    username: str = field(default="", metadata=key(value_types.ANY_TEXT, "the user, with SASL"))
    password: Secret | None = field(
        default=None, metadata=key(value_types.SECRET, "the user's password; better kept in a file or a variable")
    )
    password_file: Path | None = field(
        default=None, metadata=key(value_types.FILE, "the file with the password, instead of `password`")
    )
    ca_file: Path | None = field(
        default=None, metadata=key(value_types.FILE, "certificates to trust, with SSL; default: those of the system")
    )
    cert_file: Path | None = field(
        default=None,
        metadata=key(value_types.FILE, "the client's certificate, with SSL, if the brokers require one"),
    )
    key_file: Path | None = field(
        default=None, metadata=key(value_types.FILE, "the key of `cert_file`, if that file does not contain it")
    )

    @property
    def uses_tls(self) -> bool:
        """Whether the connection is encrypted."""
        return self.protocol in (SSL, SASL_SSL)

    @property
    def uses_sasl(self) -> bool:
        """Whether there are a user and a password."""
        return self.protocol in (SASL_PLAINTEXT, SASL_SSL)


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaConfig:
    """The Kafka cluster; `security` is None for brokers without TLS and SASL."""

    brokers: tuple[str, ...] = field(
        default=("localhost:9092",),
        metadata=key(value_types.BROKERS, "the bootstrap servers: any brokers of the cluster"),
    )
    replication: int = field(
        default=1,
        metadata=key(whole(1, 32_767), "the number of copies of each topic that the worker creates; 3 in production"),
    )
    min_insync_replicas: int = field(
        default=0,
        metadata=key(
            whole(0, 32_767),
            "copies that must have a message before it is acknowledged; 0: `replication` less one, at least 1",
        ),
    )
    security: SecurityConfig | None = field(default=None, metadata=table(SecurityConfig, "TLS and SASL"))

    @property
    def in_sync_replicas(self) -> int:
        """`min.insync.replicas` of the topics that are created."""
        return self.min_insync_replicas or max(1, self.replication - 1)
