"""The candidates of a query as bytes, between the workers that answer it; no topic has such a message.

message   sections
HITS      HITS: u32 n, u32 capped | old u64[n] | bands u32[n] | identical u8[n]
"""

from stream_lsh.pipeline.similar import Found
from stream_lsh.wire.layout import U8, U32, U64, Message, Section, Writer, damaged, expect_no_more, open_message
from stream_lsh.wire.tables import COUNTS


def encode_hits(found: Found, fingerprint: int) -> bytes:
    """The bytes of candidates, under the scheme of `fingerprint`."""
    writer, n = Writer(), len(found)
    writer.begin(Section.HITS, COUNTS.pack(n, found.capped))
    writer.numbers(found.old, U64, n)
    writer.numbers(found.bands, U32, n)
    writer.numbers(found.identical, U8, n)
    return writer.message(Message.HITS, fingerprint)


def decode_hits(data: bytes | None, fingerprint: int) -> Found:
    """The candidates; raises as `wire.frames.decode_bands`."""
    sections = open_message(data, Message.HITS, fingerprint)
    reader = sections.pop(Section.HITS, None)
    if reader is None:
        raise damaged("got no candidates", "a faulty program wrote it")
    n, capped = reader.fields(COUNTS)
    found = Found(reader.numbers(U64, n), reader.numbers(U32, n), reader.flags(n), bool(capped))
    reader.finish()
    expect_no_more(sections)
    return found
