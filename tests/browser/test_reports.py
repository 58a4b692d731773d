"""The pages of `--report` in a real browser: narrow and wide, light and dark, and on paper."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.browser.window import NARROW, WIDE, window
from tests.unit.cli.commands.files.test_reports import hostile_documents, hostile_records
from tests.unit.cli.runs import lines_of, stream_lsh


@pytest.fixture
def reports(tmp_path: Path) -> dict[str, Path]:
    """A report of each command, over texts that try to act and to break out of their places."""
    made = {}
    for command in ("dedup", "news", "plagiarism", "link"):
        made[command] = tmp_path / f"{command}.html"
        options: Sequence[str] = ("--profile", "people", "--threshold", "0.5") if command == "link" else ()
        lines = lines_of(hostile_records() if command == "link" else hostile_documents())
        run = stream_lsh(command, "-", *options, "--output", "/dev/null", "--report", made[command], stdin=lines)
        assert run.code == 0, run.err
    return made


def test_a_report_is_silent_accessible_and_fits(browser: Any, reports: dict[str, Path]) -> None:
    for command, path in reports.items():
        for width in (NARROW, WIDE):
            for scheme in ("light", "dark"):
                with window(browser, path.parent.as_uri(), width, scheme) as one:
                    one.has_scripts = False  # of its own; those of the test run
                    one.page.goto(path.as_uri())
                    assert not one.scrolls_sideways(), (command, width, scheme)
                    assert one.page.evaluate("document.scripts.length") == 0
                    assert one.violations() == [], (command, width, scheme)
                    assert one.messages == []


def test_paper_is_white_and_wide_enough(browser: Any, reports: dict[str, Path]) -> None:
    for command, path in reports.items():
        with window(browser, path.parent.as_uri(), 794, "dark") as one:  # A4 in pixels of CSS
            one.page.goto(path.as_uri())
            one.page.emulate_media(media="print", color_scheme="dark")
            ground = one.page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (command, ground) == (command, "rgb(255, 255, 255)")
            assert not one.scrolls_sideways(), command
            assert one.page.pdf()[:5] == b"%PDF-"
