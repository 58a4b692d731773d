"""Ids of documents: in a message's key, and in its value."""

from stream_lsh.errors import MalformedMessage, UnusableDocument

MAX_ID_BYTES = 1024
"""The longest id: a key is compared, stored and sent with every pair of its document."""


def key_of(id: str) -> bytes:
    """The key of a document's message.

    Raises:
        UnusableDocument: half of a surrogate pair, which JSON can escape and a key cannot contain -> dead-letter.
    """
    try:
        return id.encode()
    except UnicodeEncodeError:
        raise UnusableDocument("id", f"got the id {ascii(id)[:60]}, expected UTF-8") from None


def key_id_of(key: bytes) -> str:
    """The id in a key; raises InputError if the key cannot be one."""
    if not 0 < len(key) <= MAX_ID_BYTES:
        raise UnusableDocument("key", f"got a key of {len(key)} bytes, expected 1 to {MAX_ID_BYTES}")
    try:
        return key.decode()
    except UnicodeDecodeError as error:
        raise MalformedMessage(
            "key", f"got a key that is not UTF-8 ({error.reason} at byte {error.start}), expected the document's id"
        ) from None


def checked_id(value_id: str) -> str:
    """The id in a value; raises UnusableDocument if it is empty or too long."""
    # 256 characters cannot exceed the limit, and almost every id is shorter.
    if 0 < len(value_id) <= MAX_ID_BYTES // 4:
        return value_id
    size = len(value_id.encode("utf-8", "surrogatepass"))
    if not 0 < size <= MAX_ID_BYTES:
        raise UnusableDocument("id", f"got an id of {size} bytes, expected 1 to {MAX_ID_BYTES}")
    return value_id
