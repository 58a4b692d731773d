"""A fifth kind of data, as small as a kind can be: numbers within a distance."""
