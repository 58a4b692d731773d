"""Signatures of other libraries: reading, indexing and querying; no pipeline uses them."""
