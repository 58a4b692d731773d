"""What is true about pairs and clusters: live pairs, components, retractions, cluster identity."""
