"""The page of dead letters: reasons as documented, and requests."""

import re
from pathlib import Path

from stream_lsh.web.pages.dead_letters import REASONS, ask
from stream_lsh.web.pages.page import PipelineName

DOCUMENTED = Path(__file__).resolve().parents[3] / "docs" / "operations" / "dead-letters.md"


def test_the_page_explains_every_documented_reason() -> None:
    documented = re.findall(r"^\| `(\w+)` \|", DOCUMENTED.read_text(encoding="utf-8"), re.MULTILINE)
    assert [*REASONS] == documented


def test_the_reason_of_a_wrong_flag_of_deletion_names_the_flag() -> None:
    """A message with `"deleted": "yes"` has the reason `json`."""
    assert "`deleted`" in REASONS["json"]
    assert re.search(r"^\| `json` \|.*`deleted`", DOCUMENTED.read_text(encoding="utf-8"), re.MULTILINE)


def test_filters_become_parameters_of_the_request() -> None:
    news = PipelineName("news", "text")
    assert ask(news, {}).path == "/pipelines/news/dead-letters?limit=20"
    assert ask(news, {"reason": "a b", "after": "x", "view": "hex"}).path.endswith("?limit=20&reason=a+b&after=x")
