"""Checks of topics and state: at the start, for lost messages, for topics that cannot be trimmed."""
