"""The commands on running pipelines, and on their broker."""
