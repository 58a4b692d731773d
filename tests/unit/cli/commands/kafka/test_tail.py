"""Options that `tail` rejects before it reads a topic."""

from pathlib import Path

import pytest

from stream_lsh.cli.commands.kafka.tail import run
from stream_lsh.errors import ConfigError


def test_mirror_sites_need_a_pipeline_that_compares_sites(tmp_path: Path) -> None:
    config = tmp_path / "news.toml"
    config.write_text('[kafka]\nbrokers = "localhost:1"\n[pipeline]\nname = "news"\nsource = "wire"\n')
    with pytest.raises(ConfigError, match=r"^news: publishes no mirror sites, expected `mirror_share` above 0"):
        run(["mirror-sites", "--config", str(config)])
