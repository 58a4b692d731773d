"""HTTP of the query API: the listener, the routes, and problem details."""
