#!/usr/bin/env bash
# What a queue may hold that no honest evotile put there: damaged files, another protocol, a candidate that its workers die of.
exec python3 tests/queue/strangers.py
