"""Conformance rows and the runner that feeds them to memfold."""
