"""The tables of docs/reference/profiles.md match the keys of profiles, and its examples are profiles.

python -m tests.unit.records.test_docs      writes the tables again
"""

import re
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from stream_lsh.kinds.record.profile_keys import PROFILE, TABLES, TYPES, Keys
from stream_lsh.kinds.record.profiles import parse_profile
from stream_lsh.records.compare.catalog import COMPARATORS
from stream_lsh.records.profile import Profile

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "profiles.md"
SECTIONS: dict[str, tuple[type, Keys]] = {"profile": (Profile, PROFILE), **TABLES}


def table(cls: Any, keys: Keys) -> str:
    """The keys of a table as Markdown."""
    defaults = {field.name: field.default for field in fields(cls)}
    rows = []
    for name, key in keys.items():
        default = "must be given" if key.required else shown(defaults[name])
        row = f"| `{name}` | {default} | {key.value_type.expected} | {key.description} |"
        rows.append(re.sub(r"(`[^`]*`)|<", lambda found: found[1] or "&lt;", row))  # Markdown shows code as it is
    return "\n".join(["| key | default | values | meaning |", "|---|---|---|---|", *rows])


def shown(default: object) -> str:
    """A default for people."""
    if isinstance(default, tuple):
        return ", ".join(f"`{one}`" for one in default) or "none"
    if default is None or default == "":
        return "none"
    if isinstance(default, bool):
        return "`true`" if default else "`false`"
    return f"`{default:g}`" if isinstance(default, float) else f"`{default}`"


def written(page: str) -> str:
    """The page with generated tables."""
    for name, (cls, keys) in SECTIONS.items():
        mark = f"<!-- keys of {name} -->\n"
        assert page.count(mark) == 1, mark
        start = page.index(mark) + len(mark)
        rest = re.sub(r"\A\n(\|[^\n]*\n)*", "", page[start:])
        page = f"{page[:start]}\n{table(cls, keys)}\n\n{rest.lstrip()}"
    return page.rstrip() + "\n"


def test_the_tables_of_the_page_are_those_of_the_profile() -> None:
    page = PAGE.read_text()
    assert page == written(page), "write them again: python -m tests.unit.records.test_docs"


def test_the_page_names_every_type_and_every_comparator() -> None:
    page = PAGE.read_text()
    types = page.partition("\n## Types\n")[2].partition("\n#")[0]
    comparators = page.partition("\n## Comparators\n")[2].partition("\n#")[0]
    assert sorted(re.findall(r"^\| `([a-z]+)` \|", types, re.MULTILINE)) == sorted(TYPES)
    assert sorted(re.findall(r"`([a-z-]+)`(?=[^|]*\|[^|]*\|[^|]*\|$)", comparators, re.MULTILINE)) == sorted(
        COMPARATORS
    )


def test_the_example_is_a_profile() -> None:
    (example,) = re.findall(r"```text\n(name = .*?)```", PAGE.read_text(), re.DOTALL)
    profile = parse_profile(example, "example.toml")
    assert not profile.learned
    assert len(profile.comparisons) > 1


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
    sys.exit()
