"""``memfold doctor``: one check after the other, none of which can end the others."""

from memfold.doctor.examine import CHECKS, examine
from memfold.doctor.model import Check, Scene

__all__ = ["CHECKS", "Check", "Scene", "examine"]
