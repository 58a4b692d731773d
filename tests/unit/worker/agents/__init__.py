"""Tests of the worker's agents."""
