"""The same log under another policy: what would have been decided (DESIGN 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from ledger.events import AnyEvent, LedgerCreated, PolicySet, PolicySetData
from ledger.runs import Run
from projections.policy import DEFAULT_POLICY, Policy, policy_digest, policy_document, policy_from_document

__all__ = ["under_policy"]


def under_policy(events: Iterable[AnyEvent | Run], change: Callable[[Policy], Policy]) -> Iterator[AnyEvent | Run]:
    """The events with every policy in force replaced by ``change`` of it; nothing else differs.

    A log that records no policy begins under the default one, so its first event is followed by the changed one.
    """
    for event in events:
        if isinstance(event, PolicySet):
            data = _data(change(policy_from_document(event.data.policy)))
            yield msgspec.structs.replace(event, data=data)
            continue
        yield event
        if isinstance(event, LedgerCreated):
            yield PolicySet(
                specversion="1.0",
                id=f"{event.id}/what-if",
                source=event.source,
                time=event.time,
                seq=event.seq,
                data=_data(change(DEFAULT_POLICY)),
            )


def _data(policy: Policy) -> PolicySetData:
    return PolicySetData(digest=policy_digest(policy), policy=policy_document(policy))
