"""``python -m memfold`` is the command ``memfold``."""

import sys

from memfold._console import main

if __name__ == "__main__":
    sys.exit(main())
