"""The passages that texts share, with their places in the original texts."""
