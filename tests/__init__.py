"""Tests of memfold; README.md says where one goes."""
