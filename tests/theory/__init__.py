"""The worked examples of the theory, with the values that must come out."""
