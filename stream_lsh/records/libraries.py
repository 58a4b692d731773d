"""The libraries that comparators need: those of the extra `records`, loaded only by who compares records."""

from stream_lsh.errors import ConfigError


def require() -> None:
    """Nothing, if records can be compared.

    Raises:
        ConfigError: a library is missing -> install the extra.
    """
    try:
        import jellyfish  # noqa: F401, PLC0415 - optional
        import rapidfuzz  # noqa: F401, PLC0415 - optional
    except ImportError as error:
        name = str(error.name)
        raise ConfigError(f'comparing records needs {name}: pip install "stream_lsh[records]"') from None
