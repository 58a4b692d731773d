"""docs/openapi.yaml and the routes are the same, in both directions."""

from typing import Any

import pytest

from stream_lsh.config import parse
from stream_lsh.worker.query.http.routes import ROUTES, Route
from stream_lsh.worker.topology import build_app
from tests.openapi import DOCUMENT, operations, problems, resolved

PUBLIC = [route for route in ROUTES if not route.internal]


def described_query(operation: dict[str, Any]) -> dict[str, Any]:
    return {one["name"]: one for one in operation["parameters"] if one["in"] == "query"}


def test_every_route_is_described_and_every_operation_exists() -> None:
    described = {(method, path): operation["operationId"] for method, path, operation in operations()}
    assert described == {(route.method, route.template): route.name for route in PUBLIC}


@pytest.mark.parametrize("route", PUBLIC, ids=lambda route: route.name)
def test_the_parameters_are_those_of_the_code(route: Route) -> None:
    (operation,) = [one for method, path, one in operations() if (method, path) == (route.method, route.template)]
    in_path = {one["name"] for one in operation["parameters"] if one["in"] == "path"}
    assert in_path == {part.strip("{}") for part in route.template.split("/") if part.startswith("{")}
    query = described_query(operation)
    assert query.keys() == route.parameters.keys()
    for name, parameter in route.parameters.items():
        schema = query[name]["schema"]
        assert schema.get("default") == parameter.default, name
        assert (schema.get("minimum"), schema.get("maximum")) == (parameter.least, parameter.most), name
        assert tuple(schema.get("enum", ())) == parameter.options, name
    body = operation.get("requestBody")
    assert (body is None) == (not route.takes)
    if body is not None:
        assert list(body["content"]) == [route.takes]


def test_every_route_has_a_handler() -> None:
    config = parse("pipeline = {source = 'news', name = 'news'}", "news.toml", {})
    app = build_app(config, {"news": 1}, embedded=True)
    assert app.query_api.handlers().keys() == {route.name for route in ROUTES}


@pytest.mark.parametrize(("method", "path", "operation"), [*operations()], ids=lambda one: str(one)[:40])
def test_the_examples_are_of_their_schemas(method: str, path: str, operation: dict[str, Any]) -> None:
    contents = [response.get("content", {}) for response in operation["responses"].values()]
    contents.append(operation.get("requestBody", {}).get("content", {}))
    found = 0
    for content in contents:
        for kind, described in content.items():
            for example in described.get("examples", {}).values():
                found += 1
                if kind != "text/event-stream":
                    assert problems(described["schema"], example["value"]) == []
    assert found, f"{method} {path} has no example"


def test_the_document_has_no_part_without_a_use() -> None:
    text = str(DOCUMENT)
    for place, parts in DOCUMENT["components"].items():
        for name in parts if place != "securitySchemes" else ():
            assert f"#/components/{place}/{name}'" in text, name
    assert resolved(DOCUMENT["components"])
