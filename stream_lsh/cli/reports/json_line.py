"""A report as one line of JSON."""

import json


def json_line(value: object) -> str:
    """One line of compact JSON; escaped where a text has half of a surrogate pair.

    Example:
        >>> json_line({"name": "Zoë", "size": 3})
        '{"name":"Zoë","size":3}'
    """
    line = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        line.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return line
