"""The digests of short texts, without the library that ``hashlib`` loads for them: a start hashes less than that costs.

Both are those of ``hashlib``. Where an interpreter doesn't have them by themselves, they come from there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["blake2b", "sha256"]

if TYPE_CHECKING:
    from hashlib import blake2b, sha256
else:
    try:
        from _blake2 import blake2b

        try:
            from _sha2 import sha256  # Python 3.12 and later
        except ImportError:
            from _sha256 import sha256
    except ImportError:
        from hashlib import blake2b, sha256
