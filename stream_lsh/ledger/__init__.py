"""Current pairs and clusters: live pairs, components, retractions, cluster identity."""
