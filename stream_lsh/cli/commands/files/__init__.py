"""The commands on files."""
