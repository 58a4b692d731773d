"""Exact similarities and distances, and filters that exclude most pairs before the exact comparison."""
