"""Mutation testing of ``ledger/`` and ``projections/``: what would the tests not notice?

`mutmut <https://mutmut.readthedocs.io>`_ writes the mutants (one small change in one function, all in a copy below
``mutants/``) and shows them (``mutmut show NAME``). Running them is done here (``runner``): its own way collects the
tests anew for each mutant, which takes longer than the tests. Here one process collects them once, learns which test
reaches which function, then forks for each mutant and runs the tests that reach it, the fastest first, until one fails.
"""
