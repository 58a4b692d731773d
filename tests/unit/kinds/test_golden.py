"""The bytes of format version 1, held still."""

import dataclasses
from pathlib import Path

import pytest

from stream_lsh.pipeline.batches import VerificationsFrame
from stream_lsh.wire.frames import decode_verifications
from tests import golden
from tests.golden.__main__ import regenerate
from tests.golden.samples import COMPRESSED_TEXT, FINGERPRINT, SAMPLES, VERIFICATIONS
from tests.unit.wire.strategies import same

FOLDER = Path(golden.__file__).parent


def golden_bytes(name: str) -> bytes:
    return bytes.fromhex((FOLDER / f"{name}.hex").read_text())


@pytest.mark.parametrize("kind", SAMPLES)
def test_today_s_code_writes_the_committed_bytes(kind: str) -> None:
    assert SAMPLES[kind][1] == golden_bytes(f"v1_{kind}")


@pytest.mark.parametrize("kind", SAMPLES)
def test_the_committed_bytes_can_be_read(kind: str) -> None:
    value, _, decode = SAMPLES[kind]
    assert same(decode(golden_bytes(f"v1_{kind}"), FINGERPRINT), value)


@pytest.mark.parametrize("kind", ["documents", "told_documents"])
def test_documents_of_earlier_versions_can_be_read(kind: str) -> None:
    value, data, decode = SAMPLES[kind]
    earlier = golden_bytes(f"earlier_{kind}")
    assert earlier != data
    assert same(decode(earlier, FINGERPRINT), value)


def test_committed_compressed_texts_can_be_read() -> None:
    frame = VerificationsFrame(dataclasses.replace(VERIFICATIONS, texts=[COMPRESSED_TEXT]))
    data = golden_bytes("v1_compressed")
    assert same(decode_verifications(data, FINGERPRINT), frame)
    assert len(data) < len(COMPRESSED_TEXT)


def test_regenerating_writes_every_file_that_is_committed(tmp_path: Path) -> None:
    regenerate(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in FOLDER.glob("v1_*.hex")}
