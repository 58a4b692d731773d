"""The command `completion`: the script of each shell has every command and its options."""

import shutil
import subprocess
from pathlib import Path

import pytest

from stream_lsh.cli.commands.catalog import COMMANDS
from stream_lsh.cli.commands.completion import SHELLS, run


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_names_every_command_and_its_options(shell: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run([shell]) == 0
    script = capfd.readouterr().out
    assert [name for name in COMMANDS if name not in script] == []
    assert "clusters" in script
    assert "max-candidates" in script


def test_bash_completes_commands_and_options(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    bash = shutil.which("bash")
    assert bash is not None, "the scripts of the project need bash"
    assert run(["bash"]) == 0
    script = tmp_path / "completion.bash"
    script.write_text(capfd.readouterr().out, encoding="utf-8")

    def completed(*words: str) -> list[str]:
        line = " ".join(words)
        code = (
            f'source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; COMP_LINE="{line}"; '
            f'$(complete -p stream-lsh | sed -E "s/.*-F ([^ ]+).*/\\1/") stream-lsh; printf "%s\\n" "${{COMPREPLY[@]}}"'
        )
        done = subprocess.run([bash, "-c", code], capture_output=True, check=True, text=True)  # noqa: S603
        return done.stdout.split()

    assert completed("stream-lsh", "ded") == ["dedup"]
    assert completed("stream-lsh", "dedup", "--thr") == ["--threshold"]
    assert completed("stream-lsh", "tail", "clus") == ["clusters"]
