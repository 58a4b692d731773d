"""The process of a worker."""

import subprocess
import sys

import pytest

from stream_lsh.worker.process import OPEN_FILES

_LIMITS = """
import resource
from stream_lsh.worker.process import raise_open_files_limit
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
raise_open_files_limit()
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize(
    ("soft", "hard", "expected"), [(256, 20_000, OPEN_FILES), (256, 512, 512), (15_000, 20_000, 15_000)]
)
def test_a_worker_raises_its_limit_on_open_files(soft: int, hard: int, expected: int) -> None:
    program = _LIMITS.format(soft=soft, hard=hard)
    command = [sys.executable, "-c", program]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - ourselves
    assert answer.stdout.split() == [str(expected), str(hard)]
