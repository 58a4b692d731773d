"""The command `stream-lsh`, and `python -m stream_lsh`."""

import signal
import sys

# Until `main` handles Ctrl-C, it ends the process as if Python did not catch it: an import shows no traceback.
signal.signal(signal.SIGINT, signal.SIG_DFL)

from stream_lsh.cli.main import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
