"""`stream-lsh query` with wrong files, which it reports before it asks a worker."""

from pathlib import Path

import pytest

from tests.unit.cli.runs import ran


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.txt",), "none.txt: there is no such file or folder"),
        ((".",), ".: is a folder, expected a file"),
        (("latin.txt",), "latin.txt: got bytes that are not UTF-8, expected a text"),
        (("news.toml", "--value", "vector"), "news.toml: got invalid JSON ("),
        (("news.toml", "--token-file", "none"), "--token-file: none: there is no such file or folder"),
        (("news.toml", "--token-file", "."), "--token-file: got ., expected a file that contains the token"),
        (("news.toml", "--token-file", "latin.txt"), "--token-file: got latin.txt, expected a file that contains"),
    ],
)
def test_a_wrong_file_is_a_mistake_of_the_user(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    (tmp_path / "news.toml").write_text("[kafka]\n")
    run = ran("query", *arguments, "--url", "http://127.0.0.1:1", "--pipeline", "news", cwd=tmp_path)
    assert (run.returncode, run.stdout) == (2, b"")
    assert run.stderr.decode().startswith(f"stream-lsh: {message}")
