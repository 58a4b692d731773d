"""Tests of the worker's checks."""
