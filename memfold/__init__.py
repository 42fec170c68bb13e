"""Hosts, command line, configuration, paths and clock: whatever touches a person or the environment."""
