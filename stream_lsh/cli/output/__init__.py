"""Output of the commands: files, terminal, progress."""
