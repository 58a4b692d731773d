"""TLS and SASL: converts the configuration to the arguments of the engine and of aiokafka's clients."""

import ssl
from typing import Any

import faust

from stream_lsh.config.kafka import KafkaConfig, tls_context
from stream_lsh.errors import ConfigError, DoubtError


def _tls(kafka: KafkaConfig) -> ssl.SSLContext | None:
    security = kafka.security
    if security is None or not security.uses_tls:
        return None
    try:
        return tls_context(security)
    except ConfigError as error:  # a file that has changed since the configuration was read
        raise ConfigError([f"kafka.security.{problem}" for problem in error.problems]) from None


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
        user = f", and accept this user and password with {kafka.security.mechanism}" * kafka.security.uses_sasl
        hint = f"does this port speak {kafka.security.protocol}{tls}{user} ([kafka.security])"
    reason = str(error).rstrip(": ") or type(error).__name__
    # The client's message repeats the addresses as Python objects; its log states the cause for each of them.
    shown = "" if "Unable to bootstrap from" in reason else f" ({reason})"
    return DoubtError(
        f"kafka.brokers: got no answer from {', '.join(kafka.brokers)}{shown}: is the broker running, the address "
        f"right, and {hint}?"
    )
