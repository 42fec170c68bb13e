"""Hot session state: files, errors and decisions of one session (SPEC 13)."""
