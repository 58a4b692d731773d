"""Tests of the query API."""
