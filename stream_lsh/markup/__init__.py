"""Results as HTML and inline SVG, for reports and notebooks: pure functions, without templates and scripts.

Every function yields parts of HTML.  All untrusted texts pass through `texts`, which escapes them.
"""
