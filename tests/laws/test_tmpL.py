from hypothesis import given, settings
from tests.support.streams import *
from tests.support.watch import *
from ledger.source import make_source
@settings(max_examples=300)
@given(histories(max_size=30))
def test_x(h):
    from projections.world import World as W
    ev=events_of(h)
    w=watched(ev)
    for s in SESSIONS: assert_block_keeps_limits(w, make_source("test", s))
