"""Tests of intervals, verdicts and alarms."""
