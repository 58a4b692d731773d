"""The headers of every answer: only own files, no frames, no referrer elsewhere, and no HTML from text in scripts."""

from collections.abc import Mapping

_CONTENT = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types pages",
)

# With `no-referrer`, the Origin of a form is null, and without TLS nothing else shows that these pages sent it.
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "; ".join(_CONTENT),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

NOT_STORED = "no-store"
"""`Cache-Control` of pages: they contain texts that only signed-in readers may see."""
KEPT = "private, max-age=31536000, immutable"
"""`Cache-Control` of files whose address changes with their contents."""
