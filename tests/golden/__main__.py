"""Writes the golden files again: `python -m tests.golden`."""

import dataclasses
from pathlib import Path

from stream_lsh.pipeline.batches import VerificationsFrame
from stream_lsh.wire.frames import encode
from stream_lsh.wire.layout import FORMAT_VERSION
from tests.golden.samples import COMPRESSED_TEXT, FINGERPRINT, SAMPLES, VERIFICATIONS


def regenerate(folder: Path = Path(__file__).parent) -> None:
    """Every sample as hexadecimal, 32 bytes a line."""
    for name, (_, data, _) in SAMPLES.items():
        _write(folder / f"v{FORMAT_VERSION}_{name}.hex", data)
    compressed = VerificationsFrame(dataclasses.replace(VERIFICATIONS, texts=[COMPRESSED_TEXT]))
    _write(folder / f"v{FORMAT_VERSION}_compressed.hex", encode(compressed, FINGERPRINT))


def _write(path: Path, data: bytes) -> None:
    lines = [data[start : start + 32].hex() for start in range(0, len(data), 32)]
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    regenerate()
