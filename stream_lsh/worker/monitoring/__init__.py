"""Monitoring of a worker: its log, its metrics, its pages."""
