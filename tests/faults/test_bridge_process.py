"""The bridge as a process: its end, its signals, and what must not come out of it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.events import MemoryRequested
from tests.support.bridge import ROOT, Child, environment, events_of, init, line_of, said, system

REMEMBER = "Remember: use integer cents for money"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder to work in."""
    (tmp_path / "w").mkdir()
    return tmp_path / "w"


def _requests(tmp_path: Path, root: Path) -> int:
    return sum(isinstance(event, MemoryRequested) for event in events_of(tmp_path / "home", root))


def _run(tmp_path: Path, root: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    """A command of a person in the same project."""
    command = [sys.executable, "-m", "memfold", *arguments]
    where = environment(tmp_path / "home", PYTHONPATH=ROOT, **more)
    return subprocess.run(command, cwd=root, env=where, capture_output=True, check=False)


def test_each_answer_comes_at_once(tmp_path: Path, root: Path) -> None:
    """An answer doesn't wait for the next line, and the end of the input ends the process with 0."""
    with Child(tmp_path / "home") as child:
        assert child.ask(init(root)) == {"id": 1}
        assert "part" in child.ask(said(REMEMBER))
        assert child.ask(system("T"))["system"][0].endswith("- use integer cents for money")
        assert child.end() == b""


def test_any_code_page(tmp_path: Path, root: Path) -> None:
    """Under another code page the stored text is exact, and what is printed is UTF-8 (ENC-08)."""
    words = "金额一律用整数分 – naïve, Žluťoučký, 👩‍👧"
    page = {"LC_ALL": "C", "LANG": "de_DE.ISO-8859-1", "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    with Child(tmp_path / "home", command=None, **page) as child:
        child.ask(init(root))
        raw = {**said(f"Remember: {words}"), "id": 2}
        child.stdin.write(json.dumps(raw, ensure_ascii=False).encode() + b"\n")
        child.stdin.flush()
        assert words in child.receive()["notice"]
        child.end()
    (event,) = (one for one in events_of(tmp_path / "home", root) if isinstance(one, MemoryRequested))
    assert event.data.text == f"Remember: {words}"
    ran = _run(tmp_path, root, "list", "--state", "pending", **page)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert words in ran.stdout.decode("utf-8")


def test_a_payload_with_backslashes_as_they_are(tmp_path: Path, root: Path) -> None:
    """It is read at a second try; what can't be is answered, noted and told by doctor, and the end is 0 (FSP-09)."""
    line = line_of(said(r"Remember: sources are in C:@work@src on that machine"), 2).replace(b"@", b"\\")
    with Child(tmp_path / "home") as child:
        child.ask(init(root))
        child.stdin.write(line + b'{"id": 3, "hook": "chat.message", "input": {"a": "\\q\n')
        taken, broken = child.end().splitlines()[-2:]
    assert "Noted" in json.loads(taken)["notice"]
    assert json.loads(broken)["refused"].startswith("unreadable: ")
    (event,) = (one for one in events_of(tmp_path / "home", root) if isinstance(one, MemoryRequested))
    assert event.data.text == r"Remember: sources are in C:\work\src on that machine"
    for command, told in (("status", b"1 candidate"), ("doctor", b"bridge: unreadable: the line is no JSON")):
        assert told in _run(tmp_path, root, command).stdout


@pytest.mark.parametrize("way", ["eof", "signal"])
def test_the_end_is_bounded(tmp_path: Path, root: Path, way: str) -> None:
    """Whatever the process is busy with, it ends some time after its client, with 0: it may be reading gigabytes."""
    program = (
        "import time\n"
        "from memfold.bridge import process\n"
        "process.LAST_SECONDS = 0.1\n"
        "def busy(self):\n"
        "    while True: time.sleep(0.01)\n"
        "process.Bridge.settle = busy\n"
        "process.run_process()\n"
    )
    with Child(tmp_path / "home", command=[sys.executable, "-c", program]) as child:
        assert child.ask(init(root)) == {"id": 1}
        if way == "eof":
            child.stdin.close()
        else:
            child.process.send_signal(signal.SIGTERM)
        assert child.process.wait(60) == 0


def test_a_client_that_dies(tmp_path: Path, root: Path) -> None:
    """What stood in the pipe when the client was killed is read and written, its last line without line feed too."""
    with Child(tmp_path / "home") as child:
        child.stdin.write(line_of(init(root), 1) + line_of(said(REMEMBER), 2))
        child.stdin.write(line_of(said("Remember: use tabs", message="m2"), 3)[:-1])
        child.stdout.close()
        child.stdin.close()
        assert child.process.wait(20) == 0
        assert child.stderr.read() == b""
    assert _requests(tmp_path, root) == 2


def test_a_client_that_dies_in_the_middle_of_a_line(tmp_path: Path, root: Path) -> None:
    """Half a line is no request."""
    with Child(tmp_path / "home") as child:
        child.stdin.write(line_of(init(root), 1) + line_of(said(REMEMBER), 2)[:-9])
        first, second = child.end().splitlines()
    assert json.loads(first) == {"id": 1}
    assert json.loads(second)["refused"].startswith("unreadable: ")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_signals_of_the_terminal_end_nothing(tmp_path: Path, root: Path, number: signal.Signals) -> None:
    """Ctrl-C and a closed terminal reach the whole group; the client's end is what counts."""
    with Child(tmp_path / "home") as child:
        child.ask(init(root))
        child.process.send_signal(number)
        assert "part" in child.ask(said(REMEMBER))
        child.end()


def test_sigterm_ends_orderly(tmp_path: Path, root: Path) -> None:
    """A process that is told to end does so with 0, though its input is open."""
    with Child(tmp_path / "home") as child:
        child.ask(init(root))
        child.process.terminate()
        assert child.process.wait(20) == 0
        assert child.stderr.read() == b""


def test_garbage_is_answered_and_passed_over(tmp_path: Path, root: Path) -> None:
    """Whatever stands between two requests, both are served, and nothing comes on stderr."""
    garbage = [b"", b"nonsense", b"\xff\xfe\x00", b"null", b"[" * 200_000, b'{"id": 9}', b'{"id":3,"hook":"x"}']
    with Child(tmp_path / "home") as child:
        child.stdin.write(line_of(init(root), 1))
        child.stdin.write(b"".join(line + b"\n" for line in garbage))
        child.stdin.write(line_of(said(REMEMBER), 2))
        answers = [json.loads(line) for line in child.end().splitlines()]
    assert [answer["id"] for answer in answers] == [1, None, None, None, None, None, 9, 3, 2]
    assert all("refused" in answer for answer in answers[1:-1])
    assert "part" in answers[-1]


def test_a_line_of_many_megabytes(tmp_path: Path, root: Path) -> None:
    """A line over the limit is refused, and the next one is answered."""
    with Child(tmp_path / "home") as child:
        child.ask(init(root))
        for _ in range(17):
            child.stdin.write(b"x" * 1024 * 1024)
        child.stdin.write(b"\n")
        child.stdin.flush()
        assert child.receive()["refused"].startswith("too long: ")
        assert "part" in child.ask(said(REMEMBER))
        child.end()


def test_no_stray_print_gets_into_the_protocol(tmp_path: Path, root: Path) -> None:
    """What anything else in the process prints is no line of the protocol."""
    program = (
        "import memfold.bridge.bridge as bridge, memfold.bridge.process as process\n"
        "take = bridge.Bridge.answer\n"
        "def answer(self, line):\n"
        "    print('stray', flush=True)\n"
        "    return take(self, line)\n"
        "bridge.Bridge.answer = answer\n"
        "process.run_process()\n"
    )
    with Child(tmp_path / "home", command=[sys.executable, "-c", program]) as child:
        assert child.ask(init(root)) == {"id": 1}
        assert child.end() == b""


def test_the_mark_of_hooks_does_not_stop_it(tmp_path: Path, root: Path) -> None:
    """The plugin marks the child's environment, so that a client inside starts no memory of its own (SPEC 3.3)."""
    with Child(tmp_path / "home", MEMFOLD_IN_HOOK="1") as child:
        child.ask(init(root))
        assert "part" in child.ask(said(REMEMBER))
        child.end()


def test_two_clients_of_one_workspace_see_each_other(tmp_path: Path, root: Path) -> None:
    """What one client's user asks for is in the other's next session at once, and the log stays whole."""
    home = tmp_path / "home"
    with Child(home) as one, Child(home) as two:
        one.ask(init(root, instance="one"))
        two.ask(init(root, instance="two"))
        for number in range(10):
            first, second = f"first{number}", f"second{number}"
            one.ask(said(f"Remember: use colour number {number} for headings", first, f"a{number}"))
            (block,) = two.ask(system(second))["system"]
            assert f"colour number {number} for headings" in block
            two.ask(said(f"Remember: use font number {number} for headings", second, f"b{number}"))
            (block,) = one.ask(system(f"third{number}"))["system"]
            assert f"font number {number} for headings" in block
        one.end()
        two.end()
    events = events_of(home, root)
    assert [event.seq for event in events] == list(range(len(events)))
    assert sum(isinstance(event, MemoryRequested) for event in events) == 20


def test_nothing_is_written_while_memory_is_off(tmp_path: Path, root: Path) -> None:
    """With MEMFOLD=off the process serves and leaves no trace."""
    with Child(tmp_path / "home", MEMFOLD="off") as child:
        child.ask(init(root))
        assert child.ask(said(REMEMBER)) == {"id": 2}
        assert child.ask(system()) == {"id": 3, "system": []}
        child.end()
    assert list((tmp_path / "home").iterdir()) == []
