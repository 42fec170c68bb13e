"""What the corpus is made of: values of high entropy, texts with a secret, texts without one."""

from __future__ import annotations

import random
from typing import NamedTuple

__all__ = ["LEAK", "Chance", "Innocent", "Secret", "leaks"]

LEAK = 5
"""So many characters of a secret in a row are a leak (SPEC 24, I8)."""

# No vowel and no hex letter: no word, no digest and no id holds five of these in a row by chance.
_LETTERS = "GHJKLMNPQRSTVWXZghjkmnpqrstvwxz"
_DIGITS = "23456789"


class Secret(NamedTuple):
    """A text with a secret in it.

    Attributes:
        kind: a row of the table.
        text: as somebody would write it.
        values: what must not be written, the fixed prefix of its kind aside.
        counted: whether a rule promises to find it; else it is only reported.
    """

    kind: str
    text: str
    values: tuple[str, ...]
    counted: bool = True

    @property
    def pieces(self) -> frozenset[str]:
        """What is a leak wherever it stands: five characters in a row; of a few digits, all of them."""
        return frozenset(
            value[at : at + LEAK]
            for value in self.values
            if not value.isdecimal()
            for at in range(len(value) - LEAK + 1)
        ).union(value for value in self.values if value.isdecimal())


class Innocent(NamedTuple):
    """A text without a secret.

    Attributes:
        kind: a row of the table.
        text: as somebody would write it.
        counted: False where it means no secret, but SPEC 7 hides it all the same.
    """

    kind: str
    text: str
    counted: bool = True


class Chance(random.Random):
    """A row of choices that a seed decides: the same corpus in every process."""

    def value(self, length: int = 0) -> str:
        """A value of high entropy with letters and digits, never more than two digits in a row."""
        length = length or self.randrange(24, 44)
        signs: list[str] = ["K", "7", "w"]
        while len(signs) < length:
            tail = "".join(signs[-2:])
            signs.append(self.choice(_LETTERS if tail.isdecimal() or self.random() < 0.7 else _DIGITS))
        return "".join(signs)

    def digits(self, length: int) -> str:
        """A number without a row that counts up or repeats, as a date or a counter would."""
        return "".join(self.sample("123456789" + "024568", length))

    def hex(self, length: int) -> str:
        """Hex digits, as digests and commits have them."""
        return "".join(self.choices("0123456789abcdef", k=length))


def leaks(secret: Secret, written: str) -> list[str]:
    """The pieces of a secret that stand in a text, in alphabetical order."""
    return sorted(piece for piece in secret.pieces if piece in written)
