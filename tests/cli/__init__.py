"""Tests of the commands, in process wherever that is possible."""
