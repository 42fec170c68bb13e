"""``python -m tests.mutants``: try mutants, or print what was found (``--results``)."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

from mutmut.__main__ import create_mutants
from mutmut.mutation.data import SourceFileMutationData
from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.stats import status_by_exit_code
from mutmut.utils.file_utils import copy_also_copy_files, copy_src_dir

from tests.mutants.typed import refuse

_PLACE = Path("mutants")
_EXPLAINED = Path(__file__).parent / "explained.txt"
"""Survivors that no test can tell from the code: function, the line as the mutant has it, why; tabs between."""
_TESTS = (
    "tests/units",
    "tests/conformance",
    "tests/laws",
    "tests/models",
    "tests/golden/test_ledgers.py",
    "tests/e2e",
    "tests/faults",
)
_LEFT_OUT = (
    # They start processes or threads, which a fork of a fork shouldn't, or time things.
    "tests/e2e/test_cli_install.py",
    "tests/e2e/test_cli_process.py",
    "tests/e2e/test_cli_doctor.py",
    "tests/e2e/test_demo.py",
    "tests/e2e/test_no_network.py",
    "tests/e2e/test_docs.py",
    "tests/faults/test_bridge_*.py",
    "tests/faults/test_every_call_*.py",
    "tests/faults/test_field_*.py",
    "tests/faults/test_hook.py",
    "tests/faults/test_host_safety.py",
    "tests/faults/test_long_lines.py",
    "tests/faults/test_memory_file_*.py",
    "tests/faults/test_nothing_left.py",
    "tests/faults/test_processes.py",
    "tests/faults/test_*_kills.py",
    "tests/faults/test_spool.py",
    "tests/faults/test_tools_parallel.py",
    "tests/faults/test_torture.py",
    "tests/units/test_bridge_*.py",
    "tests/units/test_config.py",
    "tests/units/test_doctor.py",
    "tests/units/test_install.py",
    "tests/units/test_paths.py",
    "tests/units/test_trust.py",
    "tests/units/test_memory_file_keeper.py",
    "tests/units/test_bench_*.py",
    "tests/conformance/test_runner.py",
    "tests/laws/test_bridge_protocol.py",
    "tests/laws/test_hook*.py",
    "tests/laws/test_live.py",
    "tests/laws/test_corpus.py",
    "tests/laws/test_table_of_laws.py",
    "tests/models/test_memory_file_machine.py",
)


def main() -> int:
    """Write mutants of what has changed, try those without a verdict, and print the table."""
    options = _options()
    if not options.results:
        if options.fresh:
            shutil.rmtree(_PLACE, ignore_errors=True)
        _write()
        code = _try(options)
        if code:
            return code
    return _table(options.survivors)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of the names of mutants to try: all")
    parser.add_argument("--share", default="1/1", help="try this part of them: 2/5 is the second fifth (1/1)")
    parser.add_argument("--seconds", type=float, default=10.0, help="of tests for one mutant, at most (10)")
    parser.add_argument("--again", action="store_true", help="try those again that survived")
    parser.add_argument("--fresh", action="store_true", help="forget all verdicts")
    parser.add_argument("--results", action="store_true", help="only print what was found")
    parser.add_argument("--survivors", action="store_true", help="print their names as well")
    return parser.parse_args()


def _write() -> None:
    """Copy the project to ``mutants/`` and change the copy; mutmut leaves alone what has not changed since."""
    _PLACE.mkdir(exist_ok=True)
    set_mutant_under_test("mutant_generation")
    copy_src_dir()
    copy_also_copy_files()
    made = create_mutants(os.cpu_count() or 1)
    print(f"{made.mutated} files written, {made.unmodified} as they were", flush=True)
    if made.mutated:
        print(f"{refuse(_PLACE):,} mutants refused by mypy", flush=True)


def _try(options: argparse.Namespace) -> int:
    command = [sys.executable, "-m", "pytest", "-p", "tests.mutants.runner", *_TESTS]
    command += [word for path in _LEFT_OUT for word in ("--ignore-glob", path)]
    command += ["-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov", "-q", "--no-header"]
    command += ["-o", "tmp_path_retention_policy=none"]
    command += ["--deselect", "tests/units/test_file_log.py::test_import_is_cheap"]
    command += ["--deselect", "tests/laws/test_reach.py::test_histories_reach_every_state_and_reason"]
    command += ["--mutant-share", options.share, "--mutant-seconds", str(options.seconds)]
    command += ["--mutant-names", ",".join(options.names)] + ["--mutant-again"] * options.again
    environment = os.environ | {"MEMFOLD_HYPOTHESIS": "small", "PYTHONPATH": ".", "PYTHONHASHSEED": "0"}
    environment.pop("MUTANT_UNDER_TEST", None)
    return subprocess.run(command, cwd=_PLACE, env=environment, check=False).returncode


def _row(counts: Counter[str]) -> str:
    """The figures of a package; what is killed of those that mypy lets through is taken from those that were tried."""
    numbers = [counts[word] for word in ("killed", "timeout", "explained", "survived", "no tests")]
    refused, whole, tried = counts["caught by type check"], counts.total(), sum(numbers)
    left = (whole - refused) * sum(numbers[:2]) / tried if tried else 0.0
    share = f"{(refused + left) / whole:.1%}" if tried and whole else "-"
    return " | ".join(f"{number:,}" for number in (whole, refused, tried, *numbers)) + f" | {share}"


def _table(survivors: bool) -> int:
    explained = {tuple(line.split("\t")[:2]) for line in _EXPLAINED.read_text().splitlines()}
    by_package: dict[str, Counter[str]] = defaultdict(Counter)
    for meta in sorted(_PLACE.glob("*/**/*.meta")):
        path = meta.with_suffix("").relative_to(_PLACE)
        data = SourceFileMutationData(path=path)
        data.load()
        counts = by_package[str(path.parent)]
        for name, code in data.exit_code_by_key.items():
            status = status_by_exit_code[code]
            if status in {"survived", "no tests"}:
                lines = get_diff_for_mutant(name, path=path).splitlines()
                changed = [line for line in lines if line[:1] in "+-" and line[:3] not in {"---", "+++"}]
                new = " ".join(line[1:].strip() for line in changed if line[0] == "+")
                if (name.partition("__mutmut_")[0], new) in explained:
                    status = "explained"
                elif survivors:
                    print("\n".join([f"## {name}: {status}", *changed]))
            counts[status] += 1
    print(
        "| | mutants | refused by mypy | tried | failed a test | hung | explained | survived | not reached | killed |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    everything: Counter[str] = Counter()
    for package, counts in [*sorted(by_package.items()), ("**all**", everything)]:
        if counts is not everything:
            everything.update(counts)
        print(f"| {package} | {_row(counts)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
