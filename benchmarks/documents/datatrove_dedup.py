"""The four steps of datatrove's MinHash deduplication, on one file, in one process.

Buckets of its default configuration, shingles of three words.  It runs in the environment of the peers:
`python benchmarks/documents/datatrove_dedup.py IN.jsonl FOLDER`; the clean file is `FOLDER/clean/00000.jsonl.gz`.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def main(source: Path, folder: Path) -> None:
    """Write a clean file."""
    execution: Any = import_module("datatrove.executor")
    minhash: Any = import_module("datatrove.pipeline.dedup.minhash")
    readers: Any = import_module("datatrove.pipeline.readers")
    writers: Any = import_module("datatrove.pipeline.writers")
    config = minhash.MinhashConfig(n_grams=3)
    signatures, buckets, removed, clean = (str(folder / name) for name in ("signatures", "buckets", "removed", "clean"))

    def reader() -> Any:
        return readers.JsonlReader(str(source.parent), glob_pattern=source.name)

    def run(name: str, *steps: Any, tasks: int = 1) -> None:
        logs = str(folder / "logs" / name)
        execution.LocalPipelineExecutor(pipeline=[*steps], tasks=tasks, workers=1, logging_dir=logs).run()

    run("sign", reader(), minhash.MinhashDedupSignature(output_folder=signatures, config=config))
    bucketing = minhash.MinhashDedupBuckets(input_folder=signatures, output_folder=buckets, config=config)
    run("buckets", bucketing, tasks=config.num_buckets)
    run("clusters", minhash.MinhashDedupCluster(input_folder=buckets, output_folder=removed, config=config))
    filtering = minhash.MinhashDedupFilter(input_folder=removed)
    run("filter", reader(), filtering, writers.JsonlWriter(clean, output_filename="${rank}.jsonl.gz"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
