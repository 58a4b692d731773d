"""Input files: which there are, their bytes, lines, rows and chunks."""
