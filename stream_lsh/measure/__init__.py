"""Exact similarities and distances, and the filters that spare most pairs the exact comparison."""
