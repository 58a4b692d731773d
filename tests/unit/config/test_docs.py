"""The tables of docs/reference/configuration.md match the dataclasses, and its examples are configurations.

python -m tests.unit.config.test_docs      writes the tables again
"""

import re
import sys
from pathlib import Path

import pytest

from stream_lsh.config import KafkaConfig, PipelineConfig, SecurityConfig, TopicsConfig, WorkerConfig, parse
from stream_lsh.errors import ConfigError
from stream_lsh.kinds.record.settings import RecordSettings
from stream_lsh.kinds.set.settings import GridConfig, SetSettings
from stream_lsh.kinds.text.settings import TextSettings
from stream_lsh.kinds.vector.settings import VectorSettings
from stream_lsh.ledger.clusters.guards.choice import Guards
from stream_lsh.settings.schema import Key, keys_of
from stream_lsh.settings.units import SIZE_UNITS, SPAN_UNITS
from stream_lsh.wire.field_names import FieldNames

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "configuration.md"
TABLES = (
    KafkaConfig, SecurityConfig, WorkerConfig, PipelineConfig, TextSettings, RecordSettings, SetSettings,
    VectorSettings, FieldNames, GridConfig, Guards, TopicsConfig,
)  # fmt: skip


def table(cls: type) -> str:
    """The keys of a dataclass as Markdown; tables within it have sections of their own."""
    rows = [_row(key) for key in keys_of(cls).values() if key.value_type is not None]
    return "\n".join(["| key | default | values | meaning |", "|---|---|---|---|", *rows])


def _row(key: Key) -> str:
    assert key.value_type is not None
    default = "none" if key.required else f"`{key.value_type.shown(key.default)}`"
    row = f"| `{key.name}` | {default} | {key.value_type.expected} | {key.description} |"
    return re.sub(r"(`[^`]*`)|<", lambda found: found[1] or "&lt;", row)  # Markdown shows code as it is


def written(page: str) -> str:
    """The page with generated tables."""
    for cls in TABLES:
        mark = f"<!-- keys of {cls.__name__} -->\n"
        assert page.count(mark) == 1, mark
        start = page.index(mark) + len(mark)
        rest = re.sub(r"\A\n(\|[^\n]*\n)*", "", page[start:])
        page = f"{page[:start]}\n{table(cls)}\n\n{rest.lstrip()}"
    return page.rstrip() + "\n"


def test_the_tables_of_the_page_are_those_of_the_dataclasses() -> None:
    page = PAGE.read_text()
    assert page == written(page), "write them again: python -m tests.unit.config.test_docs"


def test_the_page_names_every_unit() -> None:
    page = PAGE.read_text()
    assert ", ".join(f"`{unit}`" for unit in SPAN_UNITS) in page
    assert ", ".join(f"`{unit}`" for unit in SIZE_UNITS) in page


@pytest.mark.parametrize("number", [0, 1])
def test_the_examples_are_configurations(number: int) -> None:
    examples = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(examples) == 2
    parse(examples[number], "example.toml", {})


def test_the_mistakes_of_the_page_are_reported_in_its_form() -> None:
    (block,) = re.findall(r"```text\n(news\.toml.*?)\n```", PAGE.read_text(), re.DOTALL)
    text = "[pipeline]\nsource = 's'\nname = 'news'\n\n\n\n\n\ntreshold = 1\n\n\nshingles = 'words:3'\n"
    with pytest.raises(ConfigError) as caught:
        parse(text, "news.toml", {"STREAM_LSH__PIPELINE__NEWS__RECALL": "2"})
    assert str(caught.value) == block


def test_the_variables_of_the_page_override_its_values() -> None:
    named = re.findall(r"`STREAM_LSH__([A-Z_]+)` \| `([a-z_]+)`", PAGE.read_text())
    assert len(named) == 5
    values = {"brokers": "a:1", "password": "p", "app_id": "a", "threshold": ".5", "text": "body"}
    environ = {f"STREAM_LSH__{variable}": values[key] for variable, key in named}
    text = "pipeline = {source = 's', name = 'news-en'}\nkafka.security.username = 'ann'"
    config = parse(text, "news.toml", environ)
    assert set(config.origins.values()) >= {f"environment {variable}" for variable in environ}


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
    sys.exit()
