"""The tables of examples in docs/scale.md and docs/operations/deployment.md are what `stream-lsh plan` prints.

python -m tests.unit.sizing.test_sizing_tables      writes the tables
"""

import json
import re
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from stream_lsh.cli.commands.plan import run
from stream_lsh.settings.units import count_text, size_text

DOCS = Path(__file__).resolve().parents[3] / "docs"
STREAMS = {
    "newsroom: articles of 3 KB in stories, three days": (
        "--rate 5 --peak 5 --size 3KB --preset news --near-duplicates 0.4 --matches 2 --replication 3"
    ),
    "crawler: pages of 6 KB, one day": (
        "--rate 200 --peak 2 --size 6KB --near-duplicates 0.3 --matches 1.5 --candidates 2 "
        "--retention 1d --replication 3"
    ),
    "platform team: 10 million records of people": (
        "--kind record --profile people --rate 20 --peak 5 --size 150 --near-duplicates 0.3 --matches 0.5 "
        "--candidates 20 --documents 10000000 --replication 3"
    ),
    "large crawler: 2,000 pages a second, six hours": (
        "--rate 2000 --peak 2 --size 3KB --near-duplicates 0.3 --matches 1.5 --candidates 2 "
        "--retention 6h --replication 3"
    ),
}
"""The options of `stream-lsh plan` for each stream."""
_HEAD = (
    "stream", "a second, at the peak", "kept", "workers", "partitions", "memory of a worker", "disk of a worker",
    "disk of all brokers", "written to brokers", "ceiling of settle used",
)  # fmt: skip
_SIZING = "sizing: python -m tests.unit.sizing.test_sizing_tables"


def planned(options: str) -> dict[str, Any]:
    """The plan of a stream."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "plan.json"
        assert run([*shlex.split(options), "--format", "json", "-o", str(target)]) == 0
        found: dict[str, Any] = json.loads(target.read_text(encoding="utf-8"))
    return found


def sizing_table() -> str:
    """The table of all streams."""
    rows = [_HEAD, ("---",) * len(_HEAD)]
    for name, options in STREAMS.items():
        plan = planned(options)
        topics = plan["topics"].values()
        rows.append(
            (
                name,
                count_text(plan["peak"]),
                count_text(plan["documents"]),
                str(plan["workers"]),
                str(plan["partitions"]),
                size_text(plan["memory"]),
                size_text(plan["disk"]),
                size_text(sum(topic["disk"] for topic in topics)),
                f"{size_text(sum(topic['written'] for topic in topics))}/s",
                f"{plan['ceiling']['used']:.0%}",
            )
        )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def commands() -> str:
    """The commands of the table."""
    lines = [f"stream-lsh plan {options}" for options in STREAMS.values()]
    return "\n".join(["```sh", *lines, "```"])


def with_parts(text: str) -> str:
    """A page with its tables and commands."""
    for mark, content in ((_SIZING, sizing_table), ("commands", commands)):
        opened = f"<!-- {mark} -->"
        if opened in text:
            pattern = rf"{re.escape(opened)}.*?<!-- end -->"
            text = re.sub(pattern, f"{opened}\n\n{content()}\n\n<!-- end -->", text, count=1, flags=re.DOTALL)
    return text


PAGES = (DOCS / "scale.md", DOCS / "operations" / "deployment.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_tables_of_sizes_are_what_the_command_computes(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert _SIZING in text
    assert text == with_parts(text), "write it again: python -m tests.unit.sizing.test_sizing_tables"


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(with_parts(page.read_text(encoding="utf-8")), encoding="utf-8")
    sys.exit()
