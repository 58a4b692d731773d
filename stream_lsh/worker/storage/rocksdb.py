"""RocksDB as documents need it: short keys in sorted files, contents in blob files.

See docs/internals/adr/0050-contents-in-blob-files.md.
"""

import resource
from pathlib import Path

from rocksdict import BlockBasedOptions, Cache, DBCompressionType, Options, Rdict

_BUFFER_BYTES, _CACHE_BYTES = 4 << 20, 16 << 20
_BLOB_BYTES = 256
"""Values from this length on are in blob files: blocks of texts, and most signatures."""
_OLDEST_SHARE, _GARBAGE_SHARE = 0.1, 0.5
"""The oldest tenth of the blob files is rewritten when half of it is deleted, or when a compaction reaches its keys."""
_COMPACT_AT = 16
"""Files of new keys at which they are merged with the others."""
_LEVEL_BYTES, _KEY_FILE_BYTES = 1 << 20, 512 << 10
"""Keys are in a second level from this size on, in files of this size, so that a compaction rewrites few of them."""
_LEAST_OPEN_FILES, _MOST_OPEN_FILES = 64, 256
"""Of a database.  A read that has to open a file first takes 2 to 8 us more."""

_cache = Cache(_CACHE_BYTES)  # of all partitions; the page cache of the system is behind it


def open_files_per_database(databases: int) -> int:
    """The files that each of some databases may keep open: together a quarter of the limit of the process.

    At least 64 and at most 256.

    Example:
        >>> open_files_per_database(1_000_000)
        64
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return _MOST_OPEN_FILES
    return max(_LEAST_OPEN_FILES, min(limit // (4 * databases), _MOST_OPEN_FILES))


def open_rocksdb(place: Path, databases: int = 1) -> Rdict:
    """The database in a folder, which is created if it is missing.  Keys and values are bytes.

    Args:
        place: the folder.
        databases: that the process may have open, this one included.

    Raises:
        Exception: the files are damaged, or the disk does not work; rocksdict has no class for it.
    """
    options = Options(raw_mode=True)
    blocks = BlockBasedOptions()
    blocks.set_block_cache(_cache)
    blocks.set_bloom_filter(10, block_based=False)
    blocks.set_block_size(16 << 10)
    options.set_block_based_table_factory(blocks)
    options.set_compression_type(DBCompressionType.lz4())
    options.set_write_buffer_size(_BUFFER_BYTES)
    options.set_keep_log_file_num(2)
    options.set_max_open_files(open_files_per_database(databases))
    _separate_contents(options)
    # Given once, the options are not used for a database that exists: it keeps its own, and has a cache of its own.
    return Rdict(str(place), options, {"default": options})


def expect_end(db: Rdict, last: bytes) -> None:
    """Check that nothing follows a key, with which an iteration over a database has ended.

    Fault (rocksdict 0.3.29): an iteration ends at a damaged block as at the last key, without an error.

    Delete when: `Rdict.items` raises where the status of its iterator is an error.

    Raises:
        Exception: a block is damaged.
    """
    iterator = db.iter()
    try:
        iterator.seek(last)
        if iterator.valid():
            iterator.next()
        iterator.status()
    finally:
        del iterator  # which a traceback would keep, and with it the lock of the database


def _separate_contents(options: Options) -> None:
    """Keep contents in blob files, which compaction does not rewrite."""
    options.set_enable_blob_files(True)
    options.set_min_blob_size(_BLOB_BYTES)
    options.set_blob_compression_type(DBCompressionType.none())  # blocks of texts are compressed, signatures random
    options.set_enable_blob_gc(True)
    options.set_blob_gc_age_cutoff(_OLDEST_SHARE)
    options.set_blob_gc_force_threshold(_GARBAGE_SHARE)
    options.set_max_bytes_for_level_base(_LEVEL_BYTES)
    options.set_target_file_size_base(_KEY_FILE_BYTES)
    # New files of keys are small: fewer, larger compactions.
    options.set_level_zero_file_num_compaction_trigger(_COMPACT_AT)
    options.set_level_zero_slowdown_writes_trigger(3 * _COMPACT_AT)
    options.set_level_zero_stop_writes_trigger(4 * _COMPACT_AT)
