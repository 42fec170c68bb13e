"""``python -m tests.conformance FILE...``."""

from __future__ import annotations

import sys

from tests.conformance.runner import main

sys.exit(main(sys.argv[1:]))
