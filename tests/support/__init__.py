"""Builders and harnesses that several kinds of tests share."""
