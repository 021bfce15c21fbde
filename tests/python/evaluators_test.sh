#!/usr/bin/env bash
# The evaluators for other programs, with the standard library alone.
exec python3 tests/python/evaluators.py
