"""The configuration of the cluster: `[kafka]`, and `[kafka.security]` for TLS and SASL."""

import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from stream_lsh.errors import ConfigError
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


def tls_context(security: SecurityConfig) -> ssl.SSLContext:
    """The TLS settings of a client, with its certificates.

    Raises:
        ConfigError: all files that hold something else; each problem begins with the key of the file.
    """
    problems = list[str]()
    try:
        context = ssl.create_default_context(cafile=security.ca_file and str(security.ca_file))
    except (ssl.SSLError, OSError) as error:
        context = ssl.create_default_context()
        problems.append(
            f"ca_file: got {security.ca_file}, which holds no certificate in PEM form ({_reason(error)}), expected "
            "those of the authority that signed the brokers' certificates"
        )
    if security.cert_file is not None:
        problems += _identify(context, security.cert_file, security.key_file or security.cert_file)
    if problems:
        raise ConfigError(problems)
    return context


def _identify(context: ssl.SSLContext, cert_file: Path, key_file: Path) -> Iterator[str]:
    """Show the brokers a certificate of the client; yields the problem of its files, if there is one."""

    def no_passphrase() -> str:
        raise ConfigError(
            f"key_file: got {key_file}, which is encrypted with a passphrase, expected a key without one: "
            "openssl pkey -in KEY -out PLAIN_KEY"
        )

    try:
        # Checked alone first: the remaining error of both files together is that they do not belong to each other.
        ssl.create_default_context().load_verify_locations(cafile=str(cert_file))
    except (ssl.SSLError, OSError) as error:
        yield (
            f"cert_file: got {cert_file}, which holds no certificate in PEM form ({_reason(error)}), expected that of "
            "the client"
        )
        return
    try:
        context.load_cert_chain(str(cert_file), str(key_file), no_passphrase)
    except ConfigError as error:
        yield str(error)
    except (ssl.SSLError, OSError) as error:
        yield (
            f"key_file: got {key_file}, which does not hold the private key of {cert_file} in PEM form "
            f"({_reason(error)}), expected that key, there or in cert_file"
        )


def _reason(error: OSError) -> str:
    """The reason as given by OpenSSL or the system."""
    if isinstance(error, ssl.SSLError):
        return (error.reason or "unreadable").lower().replace("_", " ")
    return (error.strerror or str(error)).lower()
