"""The names of the columns that the commands for documents read."""

COLUMNS = {
    "id": "id",
    "text": "text",
    "time": "time",
    "title": "title, for stories",
    "source": "outlet, for stories",
    "url": "URL, for stories",
}
"""What each column has, by its default name."""
AS_NAMED = {f"{name}_column": name for name in COLUMNS}
"""The default names, by option."""
