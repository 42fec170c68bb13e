"""The JSON documents of ``--json``, one struct each; ``docs/reference/json.md`` is generated from them.

Keys are stable: one may be added, none is renamed or given another meaning without another number in ``schema``. The
document of ``why`` stands beside its command: what it is made of is dear to import. ``listed`` names them all.
"""
