"""TLS files that are wrong: one message with the file and the likely cause, exit code 2, whatever the command."""

from pathlib import Path
from typing import Any

import pytest

from stream_lsh.config import parse
from stream_lsh.config.kafka import KafkaConfig, SecurityConfig
from stream_lsh.errors import ConfigError
from stream_lsh.worker.brokers import EmbeddedBroker
from stream_lsh.worker.security import client_security, unreachable
from tests.unit.cli.runs import ran

CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIBcjCCARmgAwIBAgIUGdt2Ql8QAjMzgFaj7+FEtMcJOu8wCgYIKoZIzj0EAwIw
DjEMMAoGA1UEAwwDb25lMCAXDTI2MTEyMzA5MjkwOVoYDzIxMjYxMDMwMDkyOTA5
WjAOMQwwCgYDVQQDDANvbmUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASL9zBp
R7lFQC1r2c7in0coiBm8mnVMF/IMCnSe5zuidKBZAitbUA2jydfeESyLg6DP8jbF
yUUBFKOcL7Ly/B1/o1MwUTAdBgNVHQ4EFgQU3stC0xGhzjiOyYBW5AgpnQxWBoow
HwYDVR0jBBgwFoAU3stC0xGhzjiOyYBW5AgpnQxWBoowDwYDVR0TAQH/BAUwAwEB
/zAKBggqhkjOPQQDAgNHADBEAiBPp03f+9o/Bu3qQ3t/drnbhdjUJMVk62Qrn08w
LmtJugIgIHzFEKR5wCBpV3WcOVUED54xXL1RzOLWDQLqSpCqoi8=
-----END CERTIFICATE-----
"""
KEY = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgf/eCRxFL8347gndg
gvBlsbe5nZVJZM1o8AX66bm9qvChRANCAASL9zBpR7lFQC1r2c7in0coiBm8mnVM
F/IMCnSe5zuidKBZAitbUA2jydfeESyLg6DP8jbFyUUBFKOcL7Ly/B1/
-----END PRIVATE KEY-----
"""
FOREIGN_KEY = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLOgUzNR6hml1AM26
sZgCvdxIh2Mqrz8MLrhlvWtSXcuhRANCAAQEJ7hL+/Xb+lWcOwUO+zY+4HRs/hRW
jm/2KIzp7IdZH0yq3R2HpBM1FF6wWhAZy7kg7+u014mJRCgQwnYNIviH
-----END PRIVATE KEY-----
"""
ENCRYPTED_KEY = """\
-----BEGIN EC PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-256-CBC,DE648CB1D3288729B1F7F8A9E2E79BE8

LUwf3M3i8DUfGOQNRTtV32JAa0EyfQFnErQ49LYqW4yYgse9N11y8GbQZPDG/zGl
2l7clNo2m2r6yk//zyabGe2eopKUHT746F9MYYi6PcwEbfs3kHEpXkl+U1dNMYDL
92evSsuEzTXff9Y3zvJnXp1UJ14lsAlLC8I5vQ2m9Po=
-----END EC PRIVATE KEY-----
"""
"""Made for these tests, and of use nowhere else."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in {
        "good.crt": CERTIFICATE,
        "good.key": KEY,
        "both.pem": CERTIFICATE + KEY,
        "foreign.key": FOREIGN_KEY,
        "locked.key": ENCRYPTED_KEY,
        "notes.txt": "no certificate",
    }.items():
        (tmp_path / name).write_text(content)
    return tmp_path


WRONG = [
    ({"ca_file": "notes.txt"}, "kafka.security.ca_file: got {}/notes.txt, which holds no certificate in PEM form"),
    ({"ca_file": "good.key"}, "kafka.security.ca_file: got {}/good.key, which holds no certificate in PEM form"),
    (
        {"cert_file": "good.crt"},
        "kafka.security.key_file: got {0}/good.crt, which does not hold the private key of {0}",
    ),
    ({"cert_file": "notes.txt"}, "kafka.security.cert_file: got {}/notes.txt, which holds no certificate in PEM form"),
    (
        {"cert_file": "good.crt", "key_file": "foreign.key"},
        "got {0}/foreign.key, which does not hold the private key of {0}/good.crt in PEM form (key values mismatch)",
    ),
    ({"cert_file": "good.crt", "key_file": "locked.key"}, "got {}/locked.key, which is encrypted with a passphrase"),
]


@pytest.mark.parametrize("command", ["worker", "check", "feed", "tail"])
@pytest.mark.parametrize(("files", "words"), WRONG)
def test_a_wrong_file_ends_every_command_with_2(folder: Path, command: str, files: dict[str, str], words: str) -> None:
    lines = "".join(f"{key} = '{folder / name}'\n" for key, name in files.items())
    config = folder / "news.toml"
    config.write_text(f"[kafka.security]\nprotocol = 'SSL'\n{lines}[pipeline]\nsource = 'in'\n")
    extra = {"tail": ["matches"], "feed": [str(folder / "news.jsonl")]}.get(command, [])
    (folder / "news.jsonl").write_text("")
    done = ran(command, *extra, "--config", config)
    printed = (done.stderr + done.stdout).decode()
    assert words.format(folder) in printed
    assert done.returncode == 2
    assert "_ssl.c" not in printed


def test_wrong_files_are_reported_together_with_other_mistakes_and_their_lines(folder: Path) -> None:
    lines = ["protocol = 'SSL'", f"ca_file = '{folder / 'notes.txt'}'", f"cert_file = '{folder / 'good.key'}'"]
    text = "\n".join(("[kafka.security]", *lines, "[pipeline]", "source = 'in'", "threshold = 3"))
    with pytest.raises(ConfigError) as caught:
        parse(text, "news.toml", {})
    keys = [problem.partition(": got")[0] for problem in caught.value.problems]
    security = ["news.toml:3: kafka.security.ca_file", "news.toml:4: kafka.security.cert_file"]
    assert keys == [*security, "news.toml:7: pipeline.threshold"]


@pytest.mark.parametrize("files", [{"cert_file": "both.pem"}, {"cert_file": "good.crt", "key_file": "good.key"}])
def test_files_that_belong_together_are_taken(folder: Path, files: dict[str, str]) -> None:
    paths: dict[str, Any] = {key: folder / name for key, name in files.items()}
    security = SecurityConfig(protocol="SSL", ca_file=folder / "good.crt", **paths)
    assert client_security(KafkaConfig(security=security))["ssl_context"] is not None


@pytest.mark.parametrize(
    ("security", "hint"),
    [
        (None, "does it ask for TLS or a password ([kafka.security])?"),
        (
            SecurityConfig(protocol="SSL"),
            "port speak SSL, with a certificate that ca_file vouches for ([kafka.security])",
        ),
        (
            SecurityConfig(protocol="SASL_PLAINTEXT", mechanism="PLAIN"),
            "port speak SASL_PLAINTEXT without TLS, and accept this user and password with PLAIN ([kafka.security])?",
        ),
    ],
)
def test_the_advice_fits_the_protocol_and_names_a_reason(security: SecurityConfig | None, hint: str) -> None:
    message = str(
        unreachable(
            KafkaConfig(brokers=("here:1",), security=security), ConnectionError('Unable connect to "here:1": ')
        )
    )
    assert hint in message
    assert 'from here:1 (Unable connect to "here:1"): is' in message


def test_tls_to_a_listener_without_tls_is_reported(tmp_path: Path) -> None:
    config = tmp_path / "news.toml"
    with EmbeddedBroker({"in": 1}) as broker:
        config.write_text(
            f"[kafka]\nbrokers = '{broker.address}'\n[kafka.security]\nprotocol = 'SSL'\n[pipeline]\nsource = 'in'\n"
        )
        done = ran("check", "--config", config)
    assert done.returncode == 2
    assert b"does this port speak SSL" in done.stdout
