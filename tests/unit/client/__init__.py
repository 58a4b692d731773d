"""Tests of the clients of the query API."""
