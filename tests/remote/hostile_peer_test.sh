#!/usr/bin/env bash
# Messages that no correct evotile publishes: damaged files, another protocol version, a candidate that crashes its workers.
exec python3 tests/remote/hostile_peer.py
