"""Tests of the worker's state."""
