#!/usr/bin/env bash
# The short form of `make check-queue`: workers, server, network and coordinator fail for some seconds, and each trial
# must still have exactly one outcome.
exec python3 tests/remote/chaos.py --seconds 12 --workers 3 --resume
