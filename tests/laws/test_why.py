"""What is told of a memory doesn't depend on how the log was read (law 8; SPEC 15.1, 22)."""

from __future__ import annotations

from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.blocks import BlockReader
from ledger.log import FileLog
from projections.protocol import fold
from projections.world import World
from replay.evidence import reason_lines
from replay.history import history_of
from replay.kept import KeptFacts, keep_all
from replay.live import Live
from replay.positions import events_until
from replay.why import why
from tests.laws.test_blocks import kept_of
from tests.support.effort import examples
from tests.support.streams import Stage, Step, histories


@settings(max_examples=examples(25))
@given(histories(max_size=20), st.data())
def test_outlines_and_facts_change_no_explanation(history: list[Step], data: st.DataObject) -> None:
    """Nor does a plain pass tell another history; all reasons have the words that they have in their own events."""
    with TemporaryDirectory() as folder:
        stage = Stage(folder)
        behind = data.draw(st.integers(0, len(history)))
        stage.feed(history[:behind])
        log = stage.workspace().log
        assert isinstance(log, FileLog)
        if behind and data.draw(st.booleans()):
            live = Live(FileLog.open(log.directory))
            live.world()
            live.keep(every=0)
        stage.feed(history[behind:])
        if data.draw(st.booleans()):
            keep_all(log.directory, log.read())
        kept, known = kept_of(log.path, 1000).get, KeptFacts(log.directory)

        def by_small_blocks() -> BlockReader:
            return BlockReader(log.path, kept, size=1000)

        world = fold(World(), log.read())
        last = world.memory.offset
        at = data.draw(st.one_of(st.none(), st.integers(0, last)))
        for ref, record in list(world.accounts.records.items())[:4]:
            query = record.proposal.text or "MEM-001"
            told = why(by_small_blocks, query, at, known=known, log=data.draw(st.sampled_from((None, log))))
            assert told == why(log.read, query, at)
            assert history_of(by_small_blocks(), ref, known) == history_of(log.read(), ref)
            now = fold(World(), events_until(log.read(), at))
            for story in told.stories:
                before = now.accounts.records[story.candidate]
                assert story.reasons == reason_lines(events_until(log.read(), at), story.candidate, before.reasons)
                shown = [
                    (epoch.offset, epoch.digest)
                    for epochs in now.prompts.epochs.values()
                    for epoch in epochs
                    if story.candidate in epoch.shown
                ]
                if story.id is not None:
                    assert [(one.offset, one.digest) for one in story.prompts] == sorted(shown)
