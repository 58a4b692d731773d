"""Records: blocking, scores, and the libraries that are measured against."""
