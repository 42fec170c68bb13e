"""The fast way in: ``python -I -S …/memfold/hook/__main__.py``, with folders of packages behind it if they are apart.

Kept short, as Python compiles the file that it is started with each time.
"""

import sys

sys.path += [__file__[: -len("/memfold/hook/__main__.py")], *sys.argv[1:]]
from memfold.hook.run import main

main()
