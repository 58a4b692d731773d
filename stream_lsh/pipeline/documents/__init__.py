"""The table of documents of a source partition."""
