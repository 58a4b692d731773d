"""Applications of the library: partial copies, duplicate code."""
