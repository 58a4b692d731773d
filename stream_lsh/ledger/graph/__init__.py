"""The graph of live documents and pairs."""
