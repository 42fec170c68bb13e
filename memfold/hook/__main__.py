"""The fast way in: ``python -I -S …/memfold/hook/__main__.py``, with folders of packages behind it if they are apart.

Kept short, as Python compiles the file that it is started with each time.
"""

import sys

sys.path += [__file__[: -len("/memfold/hook/__main__.py")], *sys.argv[1:]]
try:
    from memfold.hook.run import main
except ImportError:  # a system that can't run it at all: its host goes on without
    raise SystemExit(0) from None

main()
