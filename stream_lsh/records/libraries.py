"""The libraries of comparators, from the extra `records`; loaded only to compare records."""

from stream_lsh.errors import ConfigError


def require() -> None:
    """Check that the libraries of comparators are installed.

    Raises:
        ConfigError: a library is missing -> install the extra.
    """
    try:
        import jellyfish  # noqa: F401, PLC0415 - optional
        import rapidfuzz  # noqa: F401, PLC0415 - optional
    except ImportError as error:
        name = str(error.name)
        raise ConfigError(f'comparing records needs {name}: pip install "stream_lsh[records]"') from None
