"""Figures: numbers to pictures, one drawing a file.  Needs the extra `plots`, which is loaded by the first drawing."""
