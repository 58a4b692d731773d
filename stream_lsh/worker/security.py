"""TLS and SASL: from the configuration to what the engine and aiokafka's clients take."""

import ssl
from typing import Any

import faust

from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.errors import ConfigError, DoubtError


def _tls(kafka: KafkaConfig) -> ssl.SSLContext | None:
    security = kafka.security
    if security is None or not security.uses_tls:
        return None
    context = ssl.create_default_context(cafile=security.ca_file and str(security.ca_file))
    if security.cert_file is not None:
        context.load_cert_chain(str(security.cert_file), security.key_file and str(security.key_file))
    return context


def engine_credentials(kafka: KafkaConfig) -> Any:
    """What the engine needs to reach the brokers; None where they ask for nothing."""
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
    found: dict[str, Any] = {"security_protocol": security.protocol, "ssl_context": _tls(kafka)}
    if security.uses_sasl and security.password is not None:
        found["sasl_mechanism"] = security.mechanism
        found["sasl_plain_username"] = security.username
        found["sasl_plain_password"] = security.password.reveal()
    return found


def unreachable(kafka: KafkaConfig, error: Exception) -> DoubtError:
    """What to tell the operator when no broker answers.

    No ConfigError, though the address may be wrong: after one, a supervisor need not start a worker again, and brokers
    that are away come back.
    """
    return DoubtError(
        f"kafka.brokers: got no answer from {', '.join(kafka.brokers)} ({error}): is the broker running, the address "
        "right, and does it ask for TLS or a password ([kafka.security])?"
    )
