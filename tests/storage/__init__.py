"""State on disk, against the state in memory, a killed process and damaged files."""
