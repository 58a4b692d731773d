"""Exact similarity of shingle sets, and the filters that spare most pairs the exact comparison."""
