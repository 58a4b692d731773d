"""Drawings: positions of their parts, which templates write as SVG."""
