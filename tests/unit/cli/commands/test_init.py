"""The command `init`: every template is a valid configuration, and so is every line that it comments out."""

import re
from pathlib import Path

import pytest

from stream_lsh.cli.commands.init import USES, run, template
from stream_lsh.config import load
from stream_lsh.errors import ConfigError


@pytest.mark.parametrize("use", USES)
def test_a_template_is_a_valid_configuration(use: str, tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(template(use), encoding="utf-8")
    (pipeline,) = load(str(path), {}).pipelines
    assert pipeline.name == use


@pytest.mark.parametrize("use", USES)
def test_a_default_that_a_template_shows_is_the_default(use: str, tmp_path: Path) -> None:
    text = template(use)
    security = text[text.index("# [kafka.security]") : text.index("[worker]")]
    text = text.replace(security, "")
    shown = re.sub(r"^# (?=\[|\w+ = )", "", text, flags=re.MULTILINE)
    assert shown.count("\n# ") < text.count("\n# ")
    plain, explicit = tmp_path / "plain.toml", tmp_path / "explicit.toml"
    plain.write_text(text, encoding="utf-8")
    explicit.write_text(shown, encoding="utf-8")
    assert load(str(explicit), {}) == load(str(plain), {})


def test_the_file_is_named_after_the_use_and_replaces_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["news"]) == 0
    assert (tmp_path / "news.toml").read_text(encoding="utf-8") == template("news")
    assert "stream-lsh worker --config news.toml" in capsys.readouterr().err
    with pytest.raises(ConfigError, match="exists already"):
        run(["news"])
    assert run(["news", "--output", "other.toml", "--quiet"]) == 0
    assert (tmp_path / "other.toml").exists()
