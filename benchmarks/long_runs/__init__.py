"""Streams that run for minutes or hours: growth, floods, and a stream that is too dense."""
