"""`python -m stream_lsh`, which is the command `stream-lsh`."""

import sys

from stream_lsh.cli.main import main

sys.exit(main())
