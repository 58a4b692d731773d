"""Tests of the worker's monitoring."""
