"""The Makefile: what a target prints while it installs, and that a failed installation stops it.

A script stands in for Python: it creates an environment that contains itself, and prints what pip prints.
"""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PIP = """\
Obtaining file:///somewhere/stream_lsh
  Installing build dependencies: started
  Installing build dependencies: finished with status 'done'
Collecting aiohttp<4,>=3.10 (from stream_lsh==0.1.0)
  Downloading aiohttp-3.14.5-cp311-cp311-manylinux2014_x86_64.whl (1.9 MB)
Collecting typing_extensions
  Using cached typing_extensions-4.16.0-py3-none-any.whl (45 kB)
Installing collected packages: typing_extensions, aiohttp, stream_lsh
Successfully installed aiohttp-3.14.5 stream_lsh-0.1.0 typing_extensions-4.16.0
"""
PYTHON = f"""\
#!/bin/sh
case "$*" in
    "-m venv .venv")
        mkdir -p .venv/bin
        cp "$0" .venv/bin/python
        printf '#!/bin/sh\\necho "$@"' > .venv/bin/stream-lsh
    ;;
    *"pip install"*) cat <<'END'
{PIP}END
    ;;
esac
chmod +x .venv/bin/*
[ -z "$PIP_FAILS" ]
"""
PRINTED = """\
Installing stream_lsh[embedded,web]:
  Python environment .venv
  build tools
  aiohttp
  typing_extensions
  copying the files
"""


def made(folder: Path, target: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Runs a target in a folder, with the script instead of Python."""
    if not (folder / "pyproject.toml").exists():
        (folder / "pyproject.toml").touch()
    (folder / "python").write_text(PYTHON, encoding="utf-8")
    (folder / "python").chmod(0o755)
    return subprocess.run(  # noqa: S603
        ["make", "-f", str(ROOT / "Makefile"), f"PYTHON={folder}/python", target],  # noqa: S607
        cwd=folder,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_demo_names_each_library_while_it_installs_and_installs_once(tmp_path: Path) -> None:
    first = made(tmp_path, "demo")
    assert (first.stdout, first.stderr, first.returncode) == (f"{PRINTED}demo\n", "", 0)
    assert made(tmp_path, "demo").stdout == "demo\n"


def test_a_failed_installation_stops_the_target_and_is_repeated(tmp_path: Path) -> None:
    failed = made(tmp_path, "demo", PIP_FAILS="1")
    assert failed.returncode != 0
    assert "demo\n" not in failed.stdout
    assert not (tmp_path / ".venv" / ".demo").exists()
    assert made(tmp_path, "demo").stdout == f"{PRINTED}demo\n"
