"""TLS and SASL: converts the configuration to the arguments of the engine and of aiokafka's clients."""

import ssl
from pathlib import Path
from typing import Any

import faust

from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.errors import ConfigError, DoubtError


def _tls(kafka: KafkaConfig) -> ssl.SSLContext | None:
    security = kafka.security
    if security is None or not security.uses_tls:
        return None
    try:
        context = ssl.create_default_context(cafile=security.ca_file and str(security.ca_file))
    except (ssl.SSLError, OSError) as error:
        raise ConfigError(
            f"kafka.security.ca_file: got {security.ca_file}, which holds no certificate in PEM form "
            f"({_reason(error)}), expected those of the authority that signed the brokers' certificates"
        ) from None
    if security.cert_file is not None:
        _identify(context, security.cert_file, security.key_file or security.cert_file)
    return context


def _identify(context: ssl.SSLContext, cert_file: Path, key_file: Path) -> None:
    """Show the brokers a certificate of the client."""

    def no_passphrase() -> str:
        raise ConfigError(
            f"kafka.security.key_file: got {key_file}, which is encrypted with a passphrase, expected a key "
            "without one: openssl pkey -in KEY -out PLAIN_KEY"
        )

    try:
        # Checked alone first: the remaining error of both files together is that they do not belong to each other.
        ssl.create_default_context().load_verify_locations(cafile=str(cert_file))
    except (ssl.SSLError, OSError) as error:
        raise ConfigError(
            f"kafka.security.cert_file: got {cert_file}, which holds no certificate in PEM form ({_reason(error)}), "
            "expected that of the client"
        ) from None
    try:
        context.load_cert_chain(str(cert_file), str(key_file), no_passphrase)
    except (ssl.SSLError, OSError) as error:
        raise ConfigError(
            f"kafka.security.key_file: got {key_file}, which does not hold the private key of {cert_file} in PEM form "
            f"({_reason(error)}), expected that key, there or in cert_file"
        ) from None


def _reason(error: OSError) -> str:
    """The reason as given by OpenSSL or the system."""
    if isinstance(error, ssl.SSLError):
        return (error.reason or "unreadable").lower().replace("_", " ")
    return (error.strerror or str(error)).lower()


def engine_credentials(kafka: KafkaConfig) -> Any:
    """The credentials of the engine for the brokers; None where they need none."""
    security = kafka.security
    if security is None:
        return None
    if not security.uses_sasl:
        return faust.SSLCredentials(context=_tls(kafka))
    if security.password is None:
        raise ConfigError("kafka.security.password: got none, expected the password of the user")
    return faust.SASLCredentials(
        username=security.username,
        password=security.password.reveal(),
        mechanism=security.mechanism,
        ssl_context=_tls(kafka),
    )


def client_security(kafka: KafkaConfig) -> dict[str, Any]:
    """The same for aiokafka's own clients, as keyword arguments."""
    security = kafka.security
    if security is None:
        return {}
    settings: dict[str, Any] = {"security_protocol": security.protocol, "ssl_context": _tls(kafka)}
    if security.uses_sasl and security.password is not None:
        settings["sasl_mechanism"] = security.mechanism
        settings["sasl_plain_username"] = security.username
        settings["sasl_plain_password"] = security.password.reveal()
    return settings


def unreachable(kafka: KafkaConfig, error: Exception) -> DoubtError:
    """The error to report to the operator when no broker answers.

    This is no ConfigError, though the address may be wrong: a supervisor need not restart a worker after
    a ConfigError, but unavailable brokers come back.
    """
    hint = "does it ask for TLS or a password ([kafka.security])"
    if kafka.security is not None:
        tls = ", with a certificate that ca_file vouches for" if kafka.security.uses_tls else " without TLS"
        hint = f"does this port speak {kafka.security.protocol}{tls} ([kafka.security])"
    reason = str(error).rstrip(": ") or type(error).__name__
    # The client's message repeats the addresses as Python objects; its log states the cause for each of them.
    shown = "" if "Unable to bootstrap from" in reason else f" ({reason})"
    return DoubtError(
        f"kafka.brokers: got no answer from {', '.join(kafka.brokers)}{shown}: is the broker running, the address "
        f"right, and {hint}?"
    )
