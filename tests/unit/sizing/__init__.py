"""Tests of the model of `stream-lsh plan`."""
