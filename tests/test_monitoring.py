"""The alerts and the dashboard agree with the metrics of a worker and with their documentation.

Expressions are evaluated by Prometheus' own promtool, where it is installed.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from stream_lsh.config import parse
from stream_lsh.worker.monitoring.metrics import LagTimes, WorkerCollector
from stream_lsh.worker.topology import build_app
from tests.deployment import ROOT

RULES = ROOT / "deploy" / "prometheus-alerts.yml"
DASHBOARD = ROOT / "deploy" / "grafana-dashboard.json"
CASES = Path(__file__).parent / "alerts.yml"
ALERTS: list[Mapping[str, Any]] = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"][0]["rules"]
PANELS: list[Mapping[str, Any]] = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
CONFIG = parse('[[pipeline]]\nname = "p"\nsource = "s"\nshadow = 0.5\n', "test.toml", {})
NO_PROMTOOL = "no promtool: apt-get install prometheus"
OF_SERIES = {"instance", "job", "le"}
"""Labels that Prometheus adds, and that of the bins of a histogram."""


def exported() -> dict[str, set[str]]:
    """The labels of each series of a worker, by name."""
    return asyncio.run(_exported())


async def _exported() -> dict[str, set[str]]:
    """The same; the parts of the engine use the running loop, and make none that they would not close."""
    app = build_app(CONFIG, {"p": 1}, embedded=True)
    found = dict[str, set[str]]()
    for metric in WorkerCollector(app, app.pipelines, app.maintenance, {}, LagTimes()).collect():
        labels = set(metric._labelnames)  # type: ignore[attr-defined]
        endings = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count")}.get(metric.type, ("",))
        found |= {metric.name + ending: labels for ending in endings}
    return found


def expressions() -> Iterator[str]:
    yield from (alert["expr"] for alert in ALERTS)
    yield from (target["expr"] for panel in PANELS for target in panel["targets"])


def test_alerts_and_panels_use_series_and_labels_that_a_worker_exports() -> None:
    series = exported()
    for expression in expressions():
        names = set(re.findall(r"\bstream_lsh_\w+", expression))
        assert names <= series.keys(), expression
        grouped = re.findall(r"by \(([^)]*)\)", expression)
        matched = re.findall(r"(\w+)=~?\"", expression)
        labels = {label for group in grouped for label in group.split(", ")} | set(matched)
        assert labels <= OF_SERIES.union(*(series[name] for name in names)), expression


def test_all_metrics_are_documented_and_no_others() -> None:
    text = (ROOT / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")
    documented = set[str]()
    for row in re.findall(r"^\| (`stream_lsh_.*?`) \|", text, re.MULTILINE):
        names = re.findall(r"`(\w+)`", row)
        documented |= {name if name.startswith("stream_lsh_") else f"stream_lsh{name}" for name in names}
    assert documented == {re.sub("_(bucket|sum|count)$", "", name) for name in exported()}


def test_the_dashboard_shows_all_series_but_those_that_the_documentation_names() -> None:
    panels = [target["expr"] for panel in PANELS for target in panel["targets"]]
    shown = set(re.findall(r"\bstream_lsh_\w+", "\n".join(panels)))
    details = {name for name in exported() if name.startswith("stream_lsh_shadow_") and name.endswith("_total")}
    assert exported().keys() - shown - details == {
        "stream_lsh_failed_trims_total",
        "stream_lsh_step_latency_seconds_sum",
        "stream_lsh_step_latency_seconds_count",
    }
    text = (ROOT / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")
    assert "shows all metrics but `_failed_trims_total`\nand the `_total` metrics of `_shadow_`" in text
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["alert"])
def test_an_alert_has_its_heading_in_the_documentation(alert: Mapping[str, Any]) -> None:
    file, _, anchor = alert["annotations"]["runbook"].partition("#")
    assert anchor == alert["alert"].lower()
    assert f"\n### {alert['alert']}\n" in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.promtool
@pytest.mark.parametrize("command", [("check", "rules", RULES), ("test", "rules", CASES)], ids=lambda words: words[0])
def test_prometheus_accepts_the_alerts_and_fires_them(command: tuple[str | Path, ...]) -> None:
    program = shutil.which("promtool")
    if program is None:
        if os.environ.get("CI") == "true":
            pytest.fail(NO_PROMTOOL)
        pytest.skip(NO_PROMTOOL)
    done = subprocess.run([program, *command], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stdout + done.stderr
    tested = {
        case["alertname"] for test in yaml.safe_load(CASES.read_text())["tests"] for case in test["alert_rule_test"]
    }
    assert tested == {alert["alert"] for alert in ALERTS}
