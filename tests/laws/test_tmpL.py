from hypothesis import given, settings, Phase
from tests.support.streams import *
from tests.support.watch import *
from ledger.source import make_source
from projections.reasons import REASONS
from collections import Counter
R=Counter()
N=Counter()
@settings(max_examples=1000, phases=[Phase.explicit,Phase.generate])
@given(histories(max_size=30))
def test_x(h):
    ev=events_of(h)
    e=Watch()
    w=watched(ev,e)
    R.update(list(e.reached)); N[min(50,len(ev)//5*5)]+=1
    for s in SESSIONS: assert_block_keeps_limits(w, make_source("test", s))
def test_y():
    print(sorted(N.items()))
    print(R.most_common())
    print([c for c in REASONS if c not in R])
    assert 0
