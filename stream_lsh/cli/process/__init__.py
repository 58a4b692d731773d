"""The process of a command: signals and garbage collection."""
