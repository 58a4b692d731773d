"""Drawings of the documentation."""
