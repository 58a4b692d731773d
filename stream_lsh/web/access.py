"""Access to the pages: the host of a request, its origin, and sessions of readers who have signed in."""

import hashlib
import hmac
import secrets
import time
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from stream_lsh.config.query_api import is_loopback

COOKIE = "stream-lsh-session"
SESSION_S = 12 * 3_600
"""The length of a session in seconds."""


class Sessions:
    """Sessions of readers who know the token; a cookie contains the end of its session and a proof of the token.

    Args:
        tokens: of the query API; empty if readers need not sign in.
    """

    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens = [token.encode() for token in tokens]
        self._form_key = self._tokens[0] if tokens else secrets.token_bytes(32)

    @property
    def required(self) -> bool:
        """Whether readers must sign in."""
        return bool(self._tokens)

    def begin(self, token: str) -> str | None:
        """The cookie of a new session; None for a wrong token."""
        sent = token.strip().encode("utf-8", "surrogatepass")
        # All tokens are compared, so that the time does not show which one is right.
        if not any([hmac.compare_digest(sent, one) for one in self._tokens]):
            return None
        end = str(int(time.time()) + SESSION_S)
        return f"{end}.{_proof(sent, end)}"

    def accepts(self, cookie: str) -> bool:
        """Whether a cookie belongs to a session that has not ended."""
        end, _, proof = cookie.partition(".")
        if not (end.isascii() and end.isdecimal() and len(end) < 12 and int(end) > time.time()):
            return False
        sent = proof.encode("utf-8", "surrogatepass")
        return any([hmac.compare_digest(sent, _proof(one, end).encode()) for one in self._tokens])

    def form_token(self, cookie: str) -> str:
        """The token of the forms of a session, or without sessions of all forms; other sites cannot read it."""
        session = cookie if self.required else ""
        text = f"stream-lsh form of {session}".encode("utf-8", "surrogatepass")
        return hmac.new(self._form_key, text, hashlib.sha256).hexdigest()

    def accepts_form(self, cookie: str, token: str) -> bool:
        """Whether a form comes from a page of the session."""
        return hmac.compare_digest(self.form_token(cookie).encode(), token.encode("utf-8", "surrogatepass"))


def _proof(token: bytes, end: str) -> str:
    return hmac.new(token, f"stream-lsh session until {end}".encode(), hashlib.sha256).hexdigest()


def is_own_host(host: str, listens_at: str) -> bool:
    """Whether a request names the loopback address; an attacker can make any other name resolve to it.

    Args:
        host: of the request, with or without a port.
        listens_at: the host that the server listens at.

    Example:
        >>> is_own_host("localhost:6070", "127.0.0.1"), is_own_host("evil.example:6070", "127.0.0.1")
        (True, False)
    """
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    name = name.strip("[]")
    return is_loopback(name) or name == listens_at


def is_own_origin(headers: Mapping[str, str]) -> bool:
    """Whether a request that changes something or carries a text comes from these pages, not from another site.

    Example:
        >>> is_own_origin({"Host": "a:1", "Origin": "http://a:1"}), is_own_origin({"Host": "a:1", "Origin": "http://b"})
        (True, False)
    """
    site = headers.get("Sec-Fetch-Site")
    if site is not None:
        return site == "same-origin"
    origin = headers.get("Origin")
    return origin is None or urlsplit(origin).netloc == headers.get("Host")
