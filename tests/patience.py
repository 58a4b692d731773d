"""How long a test waits for what has to happen."""

PATIENCE = 240.0
"""Seconds until a test gives up: many times what it needs, for machines that are slow or stand still for a while."""
