"""The headers of every answer: only own files, no frames, no referrer, and no HTML from text in scripts."""

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

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "; ".join(_CONTENT),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

NOT_STORED = "no-store"
"""`Cache-Control` of pages: they contain texts that only signed-in readers may see."""
KEPT = "private, max-age=31536000, immutable"
"""`Cache-Control` of files whose address changes with their contents."""
