"""The names of the columns that the commands for documents read."""

from argparse import Namespace

from stream_lsh.errors import ConfigError

COLUMNS = {
    "id": "id",
    "text": "text",
    "time": "time",
    "title": "title, for stories",
    "source": "outlet, for stories",
    "url": "URL, for stories",
}
"""The meaning of each column, by its default name."""
AS_NAMED = {f"{name}_column": name for name in COLUMNS}
"""The default names, by option."""


def of_documents(options: Namespace) -> None:
    """Set the default names of columns; raises ConfigError for options that apply to records only."""
    problems = []
    if options.encoding != "utf-8":
        problems.append("--encoding: applies to records only; documents are in UTF-8")
    if problems:
        raise ConfigError(problems)
    for column, name in AS_NAMED.items():
        if getattr(options, column) is None:
            setattr(options, column, name)
