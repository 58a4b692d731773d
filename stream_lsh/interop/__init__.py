"""Signatures of other libraries: read, indexed and asked about; no pipeline uses them."""
