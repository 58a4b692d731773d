"""Checks that every shingler, scheme, measure and family passes; discovered, not listed."""
