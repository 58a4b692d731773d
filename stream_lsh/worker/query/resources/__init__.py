"""The resources of the query API: each answers a group of routes."""
