"""The files of pages: libraries of others are as published, and templates do not mark texts as safe."""

import hashlib
import re
import tomllib
from pathlib import Path
from typing import Any

import jinja2
import pytest

from stream_lsh.web.rendering import environment
from stream_lsh.web.static_files import FOLDER, address, static_files

TESTS = Path(__file__).resolve().parents[2]
TEMPLATES = FOLDER.parent / "templates"
VENDORS = [FOLDER / "vendor", TESTS / "browser" / "vendor"]
UNSAFE = re.compile(
    r"\|\s*safe\b|\bautoescape\b|\bMarkup\b|\sstyle=|\son\w+=|<style|<script(?! defer src=\"\{\{ static)"
)


@pytest.mark.parametrize("folder", VENDORS, ids=lambda folder: folder.parent.name)
def test_libraries_of_others_are_as_published(folder: Path) -> None:
    listed: list[dict[str, Any]] = tomllib.loads((folder / "vendor.toml").read_text())["library"]
    for one in listed:
        kept = folder / f"{one['name']}-{one['version']}"
        found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in kept.iterdir()}
        assert found == one["sha256"]
        assert "LICENSE" in found
        assert one["licence"]
        assert one["integrity"].startswith("sha512-")
    assert {path.name for path in folder.iterdir() if path.is_dir()} == {
        f"{one['name']}-{one['version']}" for one in listed
    }


def test_templates_escape_every_value() -> None:
    found = {path.name: UNSAFE.findall(path.read_text()) for path in TEMPLATES.glob("*.html")}
    assert len(found) >= 4
    assert {name: places for name, places in found.items() if places} == {}


def test_unsafe_templates_are_found() -> None:
    for source in ("{{ x |safe }}", '<b style="x">', '<a onclick="x">', "<script>", "{% autoescape false %}"):
        assert UNSAFE.search(source), source


def test_a_template_fails_on_a_variable_that_it_does_not_have() -> None:
    with pytest.raises(jinja2.UndefinedError):
        environment().from_string("{{ missing }}").render()


def test_the_address_of_a_file_has_its_digest() -> None:
    file = static_files()["style.css"]
    assert address("style.css") == f"/static/style.css?{hashlib.sha256(file.body).hexdigest()[:12]}"
    assert not [name for name in static_files() if "LICENSE" in name]
