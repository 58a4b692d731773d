"""The programs of docs/guides/consuming.md end on Ctrl-C without a traceback."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from stream_lsh.worker.brokers import EmbeddedBroker
from tests.patience import PATIENCE
from tests.test_docs import ROOT, blocks

_PROGRAMS = [
    block.text
    for block in blocks((ROOT / "docs" / "guides" / "consuming.md").read_text(encoding="utf-8"))
    if block.language == "python" and "__main__" in block.text
]
_TOPICS = ("news-clusters", "news-members", "documents")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with EmbeddedBroker(dict.fromkeys(_TOPICS, 1)) as broker:
        yield broker.address


@pytest.mark.parametrize("number", range(len(_PROGRAMS)))
def test_a_program_ends_on_an_interrupt_without_a_traceback(number: int, address: str, tmp_path: Path) -> None:
    imports = _PROGRAMS[0].partition("async def")[0]
    definitions, main = (imports + _PROGRAMS[number]).split('if __name__ == "__main__":\n')
    started, path = tmp_path / "started", tmp_path / "program.py"
    # A process of a shell in the background ignores interrupts, and its children do.
    heard = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    begun = f"import pathlib\npathlib.Path({str(started)!r}).touch()\n"
    text = f'{definitions}{heard}{begun}if __name__ == "__main__":\n{main}'
    path.write_text(text.replace("localhost:9092", address))
    with subprocess.Popen([sys.executable, str(path)], stderr=subprocess.PIPE) as process:  # noqa: S603 - our own
        while not started.exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        time.sleep(1.0)  # it reads
        process.send_signal(signal.SIGINT)
        try:
            _, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert b"Traceback" not in err
    assert process.returncode == 0
