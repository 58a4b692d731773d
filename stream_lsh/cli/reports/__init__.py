"""Results as text, JSON, SVG and HTML."""
