"""The live link to a client: one child process, hook records in, answers out (``docs/explanation/live.md``)."""
