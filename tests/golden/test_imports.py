"""Start-up is the product: what a prompt imports is written down, and a change of it is a difference to review."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.log import FileLog
from memfold.paths import ledger_dir, workspace_key
from replay.live import Live
from tests.golden.test_ledgers import compare
from tests.support.cli import ROOT, make_ledger
from tests.support.golden import IMPORTS
from tests.support.hook import repository

_OURS = ("ledger", "projections", "replay", "memfold")
_PRINT = "import sys; print('\\n'.join(sys.modules))"
_MSGSPEC = f"import sys; sys.modules['typing_extensions'] = None; import msgspec; {_PRINT}"
_RUN = """if True:
    import os, sys
    def end(code):
        print('\\n'.join(sys.modules), file=sys.stderr)
        sys.exit(code)
    os._exit = end
    sys.argv[1:] = {arguments!r}
    from memfold._console import main
    main()
"""


def _modules(home: Path, code: str, folder: Path) -> set[str]:
    environ = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    ran = subprocess.run([sys.executable, "-c", code], cwd=folder, env=environ, capture_output=True, check=True)
    return set((ran.stderr or ran.stdout).decode().split())


def _listed(modules: set[str], bare: set[str]) -> str:
    """Ours, and the packages and public modules of Python that msgspec doesn't import anyway.

    What those import themselves differs from one Python to the next.
    """
    ours = {name for name in modules if name.partition(".")[0] in _OURS}
    rest = {name.partition(".")[0] for name in modules - ours - bare}
    return "".join(f"{name}\n" for name in sorted(ours | {name for name in rest if not name.startswith("_")}))


@pytest.mark.parametrize("case", ["prompt", "prompt-checkpoint", "prompt-here"])
def test_a_prompt_imports_what_is_written_down(case: str, tmp_path: Path, *, update: bool) -> None:
    """A prompt of a ledger without and with a checkpoint, and of the workspace that it is asked for in."""
    home, root = tmp_path / "home", repository(tmp_path / "w")
    ledger = Path(ledger_dir(str(home / ".local/share/memfold"), workspace_key(str(root.resolve()))))
    make_ledger(ledger)
    if case == "prompt-checkpoint":
        live = Live(FileLog.open(ledger))
        live.world()
        live.keep(every=0)
    arguments = ["prompt"] if case == "prompt-here" else ["prompt", "--ledger", str(ledger)]
    bare = _modules(home, _MSGSPEC, root)
    found = _modules(home, _RUN.format(arguments=arguments), root)
    compare(IMPORTS / f"{case}.txt", _listed(found, bare).encode(), update=update)
