"""The format of an output, from its file extension."""

import zlib
from importlib import import_module
from typing import Any

from stream_lsh.errors import ConfigError

STDOUT = "-"
PARQUET = "parquet"
_ENDINGS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": PARQUET,
    ".pq": PARQUET,
}
_COMPRESSED = (".gz", ".zst")


def format_of(path: str) -> str:
    """The format of a table; "" if the extension has none, and for standard output.

    Raises:
        ConfigError: compressed Parquet.

    Example:
        >>> format_of("clean.parquet"), format_of("clean.CSV.gz"), format_of("clean.txt")
        ('parquet', 'csv', '')
    """
    name = path.lower()
    plain = name.removesuffix(compression_of(path))
    format = next((format for ending, format in _ENDINGS.items() if plain.endswith(ending)), "")
    if format == PARQUET and plain != name:
        raise ConfigError(f"{path}: Parquet has its own compression, expected a name without {compression_of(path)}")
    return format


def table_format(path: str, option: str) -> str:
    """The format of an output that has rows; standard output gets JSON lines.

    Raises:
        ConfigError: no format has this extension; `option` is the option that names the path.

    Example:
        >>> table_format("clean.parquet", "--output"), table_format("-", "--output")
        ('parquet', 'jsonl')
    """
    format = format_of(path)
    if path == STDOUT or (not format and path.startswith("/dev/")):
        return "jsonl"
    if not format:
        raise ConfigError(
            f"{option}: got {path}, expected a name that ends in {', '.join(_ENDINGS)}, and if it is not Parquet "
            "optionally in .gz or .zst"
        )
    return format


def compression_of(path: str) -> str:
    """The extension of a compressed output; "" for others."""
    return next((ending for ending in _COMPRESSED if path.lower().endswith(ending)), "")


def compressor_of(path: str) -> Any:
    """A compressor for an output, with the methods `compress` and `flush`; None for one without compression."""
    ending = compression_of(path)
    if ending == ".gz":
        return zlib.compressobj(wbits=31)
    return import_module("zstandard").ZstdCompressor().compressobj() if ending else None
