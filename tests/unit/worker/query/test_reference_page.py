"""The page docs/reference/query-api.md is generated from docs/openapi.yaml.

python -m tests.unit.worker.query.test_reference_page      writes the page again
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.openapi import DOCUMENT, operations, resolved

PAGE = Path(__file__).resolve().parents[4] / "docs" / "reference" / "query-api.md"
_INTRODUCTION = """# Query API

This page lists the requests of the query API. It is generated from `docs/openapi.yaml`, an OpenAPI 3.1 document that
contains all schemas. The [guide](../guides/querying.md) shows how to use the API from a shell and from Python.

Workers and `stream-lsh serve` answer at the address `ask` of their [configuration](configuration.md). If it has tokens,
each request needs the header `Authorization: Bearer TOKEN`. Percent-encode each segment of a path: a slash in an id is
`%2F`.
"""
_WIDTH = 150


def page() -> str:
    return "\n".join([_INTRODUCTION, *_problems(), *(line for one in operations() for line in _operation(*one))]) + "\n"


def _problems() -> Iterator[str]:
    """Every error that an answer can have."""
    kinds = resolved(DOCUMENT["components"]["schemas"]["Problem"])["properties"]["type"]["enum"]
    names = ", ".join(f"`{kind.rpartition(':')[2]}`" for kind in kinds)
    yield f"Every error is a problem (RFC 9457) of the type `urn:stream-lsh:problem:NAME`. The names are {names}.\n"


def _operation(method: str, path: str, described: dict[str, Any]) -> Iterator[str]:
    yield f"## {described['summary']}\n"
    yield f"`{method} {path}`\n"
    if "description" in described:
        yield f"{described['description'].strip()}\n"
    parameters = [one for one in described["parameters"] if one["in"] != "path"]
    if parameters:
        yield "| parameter | default | meaning |\n|---|---|---|"
        for one in parameters:
            schema = one["schema"]
            values = f" ({', '.join(schema['enum'])})" if "enum" in schema else ""
            default = f"`{schema['default']}`" if schema.get("default") not in (None, "") else ""
            yield f"| `{one['name']}` | {default} | {one.get('description', '')}{values} |"
        yield ""
    body = described.get("requestBody")
    if body is not None:
        yield "Request:\n"
        yield from _examples(body["content"])
    for status, response in described["responses"].items():
        if status != "default":
            yield f"Answer {status}: {response['description']}\n"
            yield from _examples(response["content"])


def _examples(content: dict[str, Any]) -> Iterator[str]:
    """The first example."""
    for kind, described in content.items():
        value = next(iter(described["examples"].values()))["value"]
        text = value.rstrip() if isinstance(value, str) else "\n".join(_lines(value))
        yield f"```{'json' if kind == 'application/json' else 'text'}\n{text}\n```\n"


def _lines(value: Any, indent: str = "", before: str = "") -> Iterator[str]:
    """JSON with as many values on a line as fit."""
    whole = f"{indent}{before}{json.dumps(value, ensure_ascii=False)}"
    if len(whole) <= _WIDTH or not isinstance(value, dict | list) or not value:
        yield whole
        return
    rows = [*value.items()] if isinstance(value, dict) else [(None, one) for one in value]
    yield f"{indent}{before}{'{' if isinstance(value, dict) else '['}"
    packed = ""
    for number, (name, one) in enumerate(rows, 1):
        *lines, last = _lines(one, f"{indent}  ", "" if name is None else f"{json.dumps(name)}: ")
        last += "," if number < len(rows) else ""
        if packed and (lines or len(packed) + len(last.lstrip()) >= _WIDTH):
            yield packed
            packed = ""
        yield from lines
        packed = f"{packed} {last.lstrip()}" if packed else last
    yield packed
    yield f"{indent}{'}' if isinstance(value, dict) else ']'}"


def test_the_page_is_that_of_the_document() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "write it again: python -m " + str(__spec__.name)


def test_every_example_of_the_page_is_the_value_of_the_document() -> None:
    for _, _, described in operations():
        for response in described["responses"].values():
            for kind, content in response["content"].items():
                value = next(iter(content["examples"].values()))["value"]
                assert kind == "text/event-stream" or json.loads("\n".join(_lines(value))) == value


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.exit()
