"""docs/openapi.yaml, to compare the answers of workers with it."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import jsonschema  # type: ignore[import-untyped]
import yaml  # type: ignore[import-untyped]

DOCUMENT: dict[str, Any] = yaml.load(
    (Path(__file__).resolve().parents[1] / "docs" / "openapi.yaml").read_text(encoding="utf-8"),
    getattr(yaml, "CSafeLoader", yaml.SafeLoader),  # noqa: S506 - both are safe; the parser in C is ten times faster
)
METHODS = ("get", "post", "put", "delete", "patch")


def resolved(part: Any) -> Any:
    """A part of the document with the targets of its references in their place."""
    if isinstance(part, list):
        return [resolved(one) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        found: Any = DOCUMENT
        for name in part["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        return resolved({**found, **{name: one for name, one in part.items() if name != "$ref"}})
    return {name: resolved(one) for name, one in part.items()}


PATHS: dict[str, Any] = resolved(DOCUMENT["paths"])


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Method, path and description of every operation."""
    for path, methods in PATHS.items():
        for method in METHODS:
            if method in methods:
                shared = methods.get("parameters", [])
                operation = methods[method]
                yield (
                    method.upper(),
                    path,
                    {**operation, "parameters": [*shared, *operation.get("parameters", [])]},
                )


def operation(method: str, path: str) -> dict[str, Any] | None:
    """The operation of a request; None if the document has none."""
    segments = [unquote(segment) for segment in urlsplit(path).path.strip("/").split("/")]
    for known, template, found in operations():
        parts = template.strip("/").split("/")
        same = len(parts) == len(segments) and all(
            part.startswith("{") or part == segment for part, segment in zip(parts, segments, strict=True)
        )
        if known == method and same:
            return found
    return None


def problems(schema: Any, value: Any) -> list[str]:
    """The violations of a schema by a value."""
    validator = jsonschema.Draft202012Validator(schema)
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]


def check_answer(method: str, path: str, status: int, headers: Mapping[str, str], body: bytes) -> Any:
    """The value of an answer, which must be as the document describes it."""
    kind = headers["Content-Type"].partition(";")[0]
    described = operation(method, path)
    if described is None:
        assert status in (400, 401, 404, 405), (method, path, status)
        described = {"responses": {"default": resolved(DOCUMENT["components"]["responses"]["Problem"])}}
    responses = described["responses"]
    response = responses.get(str(status), responses["default"])
    assert (status < 400) == (str(status) in responses), (method, path, status)
    assert kind in response["content"], (method, path, status, kind)
    value = json.loads(body)
    assert problems(response["content"][kind]["schema"], value) == [], (method, path, value)
    if kind == "application/problem+json":
        assert value["status"] == status
    return value
