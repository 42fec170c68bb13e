"""The present head, and what is kept of it: never a reason for another head, and never trusted by a verification."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ledger.events import Draft, LedgerSealed, LedgerSealedData
from ledger.log import FileLog
from memfold.sealing import SEAL_EVERY, Sealer
from projections.merkle import EMPTY, Frontier, MerkleTree
from replay.claims import origin_in
from replay.heads import TREE_NAME, present_head
from replay.proofs import prove, proven_event, proven_line
from replay.tlog import Head, Proof, head_text, origin_of, parse_head, parse_proof, proof_text
from replay.verify import verify
from tests.support.logs import draft, new_log

_ROOT = bytes(range(32))


def _whole(log: FileLog) -> Frontier:
    lines = Path(log.path).read_bytes().splitlines()
    return MerkleTree().run(EMPTY, lines)


@pytest.fixture
def log(tmp_path: Path) -> FileLog:
    """A ledger of eleven events."""
    log = new_log(tmp_path / "ledger")
    log.append([draft(f"m{number}") for number in range(10)])
    return log


def test_the_head_is_kept_and_goes_on(log: FileLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second time only what is new is hashed."""
    assert present_head(log) == _whole(log)
    log.append([draft("new")])
    taken: list[int] = []
    run = MerkleTree.run

    def counted(tree: MerkleTree, state: Frontier, lines: object) -> Frontier:
        after = run(tree, state, lines)  # type: ignore[arg-type]  # handed on as it is
        taken.append(after.size - state.size)
        return after

    monkeypatch.setattr(MerkleTree, "run", counted)
    head = present_head(log)
    assert taken == [1]
    monkeypatch.undo()
    assert head == _whole(log)


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b'{"cursor":{"byte":7},"before":"","size":3,"roots":["00"]}'])
def test_what_is_kept_may_be_anything(content: bytes, log: FileLog) -> None:
    """Damaged, of another log, missing: the head is the same."""
    present_head(log)
    path = Path(log.directory, "derived", TREE_NAME)
    path.write_bytes(content)
    assert present_head(log) == _whole(log)


def test_a_log_that_was_replaced_is_read_anew(log: FileLog) -> None:
    """A shorter log, or one with other lines before the place, as after a repair, a purge or a restore."""
    present_head(log)
    lines = Path(log.path).read_bytes().splitlines(keepends=True)
    Path(log.path).write_bytes(b"".join(lines[:5]))
    assert present_head(log) == _whole(log)
    Path(log.path).write_bytes(b"".join((*lines[:4], lines[7], *lines[8:])))
    assert present_head(log) == _whole(log)


def test_as_much_is_read_as_may_be(log: FileLog) -> None:
    """Where somebody waits, a long log is left for later; what is kept counts as read."""
    assert present_head(log, most=100) is None
    assert present_head(log, most=100_000) is not None
    log.append([draft("new")])
    assert present_head(log, most=1_000) == _whole(log)


def test_a_place_that_cannot_be_written_keeps_nothing(log: FileLog) -> None:
    """The head is told all the same."""
    Path(log.directory, "derived").write_text("a file in the way")
    assert present_head(log) == _whole(log)


def _sealed(log: FileLog) -> list[int]:
    return [event.data.size for event in log.read() if isinstance(event, LedgerSealed)]


def test_a_head_is_due_every_thousand_events(log: FileLog) -> None:
    """Once for a batch that passes the mark, and not again before the next mark."""
    sealer = Sealer(log)
    sealer.note(log.append([draft("a")]))
    sealer.seal()
    assert _sealed(log) == []
    sealer.note(log.append([draft("m") for _ in range(SEAL_EVERY)]))
    sealer.seal()
    sealer.seal()
    assert _sealed(log) == [SEAL_EVERY + 12]
    assert verify(log).heads == 1


def test_a_head_that_could_not_be_written_is_left_to_the_next(log: FileLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused write is no trouble of whoever appended, and a long log waits until there is time."""
    sealer = Sealer(log)
    sealer.note(log.append([draft("m") for _ in range(SEAL_EVERY)]))
    sealer.seal(most=100)
    assert _sealed(log) == []
    monkeypatch.setattr(os, "write", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
    sealer.seal()
    monkeypatch.undo()
    sealer.seal()
    assert _sealed(log) == []


def test_a_head_may_come_late(log: FileLog) -> None:
    """Others append between the reading and the writing: it says how many lines it covers."""
    tree = present_head(log)
    assert tree is not None
    log.append([draft("between")])
    data = LedgerSealedData(tree.size, tree.root.hex())
    log.append([Draft(source="memfold", time=None, data=data), Draft(source="memfold", time=None, data=data)])
    assert (verify(log).heads, verify(log).breaks) == (2, ())
    log.append([Draft(source="memfold", time=None, data=LedgerSealedData(99, tree.root.hex()))])
    (broken,) = verify(log).breaks
    assert (broken.size, broken.found, broken.after) == (99, "", 11)


def test_an_event_is_proven_by_its_line(log: FileLog) -> None:
    """As text and back; another ledger's proof, or one for a line that changed, proves nothing."""
    event = list(log.read())[4]
    found = prove(log, event.id)
    assert found is not None
    proof, line = found
    assert line == Path(log.path).read_bytes().splitlines()[4]
    assert parse_proof(proof_text(proof)) == proof
    log.append([draft("later")])
    assert [one.standing for one in verify(log, proof.head).given] == ["holds"]
    assert proven_event(log, proof) == event.id
    assert proven_line(line, proof) == event.id
    assert proven_line(line + b" ", proof) == proven_line(b"no event", proof) == ""
    assert proven_event(log, Proof(5, proof.hashes, proof.head)) == ""
    assert proven_event(log, Proof(50, proof.hashes, proof.head)) == ""
    assert prove(log, "another") is None


def test_a_head_of_another_ledger_does_not_hold(log: FileLog) -> None:
    """Though its lines were the same."""
    head = verify(log).head
    found = verify(log, Head(origin_of("another"), head.size, head.root), Head(head.origin, 0, EMPTY.root))
    assert [one.standing for one in found.given] == ["other", "holds"]
    assert found.breaks == ()


def test_a_ledger_that_lost_its_name_is_not_another(log: FileLog) -> None:
    """Damage of the first line is no reason to take a head for a foreign one: that line is what has changed."""
    head = verify(log).head
    lines = Path(log.path).read_bytes().splitlines(keepends=True)
    Path(log.path).write_bytes(b"".join((b"garbage\n", *lines[1:])))
    found = verify(log, head)
    assert [one.standing for one in found.given] == ["broken"]
    assert origin_in(log) == ""
    Path(log.path).write_bytes(b"")
    (broken,) = verify(log, head).breaks
    assert (broken.first_line, broken.last_line, broken.found) == (1, 1, "")


def test_a_head_that_contradicts_one_before_it(log: FileLog) -> None:
    """Where the lines of both are as the first one says, it is the line of the second that isn't right."""
    tree = present_head(log)
    assert tree is not None
    good, bad = LedgerSealedData(tree.size, tree.root.hex()), LedgerSealedData(tree.size, "0" * 64)
    log.append([Draft(source="memfold", time=None, data=data) for data in (good, bad)])
    (broken,) = verify(log).breaks
    assert (broken.first_line, broken.last_line, broken.size, broken.after) == (13, 13, 11, 11)


def test_a_line_of_several_events_is_one_line(log: FileLog) -> None:
    """Where two heads part within it, the range is that line, and doesn't end before it begins."""
    tree = present_head(log)
    assert tree is not None
    good, bad = LedgerSealedData(tree.size, tree.root.hex()), LedgerSealedData(tree.size + 1, "0" * 64)
    log.append([Draft(source="memfold", time=None, data=data) for data in (good, bad)])
    lines = Path(log.path).read_bytes().splitlines(keepends=True)
    lines[10:12] = [lines[10].rstrip(b"\n") + lines[11]]
    Path(log.path).write_bytes(b"".join(lines))
    (broken,) = verify(log).breaks
    assert (broken.first_line, broken.last_line) == (11, 11)


def test_heads_are_three_lines() -> None:
    """The form of C2SP tlog-checkpoint; what follows, such as a signature, is passed over."""
    head = Head("memfold/ledger/x", 7, _ROOT)
    assert head_text(head) == "memfold/ledger/x\n7\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n"
    assert parse_head(head_text(head) + "\n— x AAAA\n") == head


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "line 1"),
        (" x\n7\nAA==\n", "line 1"),
        ("x\n07\nAA==\n", "line 2"),
        ("x\n-1\nAA==\n", "line 2"),
        ("x\n" + "9" * 5000 + "\nAA==\n", "line 2"),
        ("x\n٣\nAA==\n", "line 2"),
        ("x\n7\nAA==\n", "line 3"),
        ("x\n0\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n", "line 3"),
        ("x\n7\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9=\n", "line 3"),
    ],
)
def test_what_is_no_head_is_named(text: str, word: str) -> None:
    """The line that is wrong is told."""
    with pytest.raises(ValueError, match=word):
        parse_head(text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "begin"),
        ("c2sp.org/tlog-proof@v1\n\nx\n7\n", "index"),
        ("c2sp.org/tlog-proof@v1\nindex x\n\nx\n7\n", "index"),
        ("c2sp.org/tlog-proof@v1\nindex 1\nAA==\n\nx\n7\n", "hash 1"),
        ("c2sp.org/tlog-proof@v1\nindex 1\n" + "x\n" * 70 + "\nx\n7\n", "70 hashes"),
        ("c2sp.org/tlog-proof@v1\nextra eA==\nindex 1\n\nx\n7\nAA==\n", "line 3"),
    ],
)
def test_what_is_no_proof_is_named(text: str, word: str) -> None:
    """What is wrong with it is told."""
    with pytest.raises(ValueError, match=word):
        parse_proof(text)
