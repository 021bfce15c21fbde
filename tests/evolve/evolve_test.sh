#!/usr/bin/env bash
# Sources evolve on the emulated device: what a scripted proposer answers, what is refused and why, and what a killed run
# goes on with.
exec python3 tests/evolve/evolve.py "$BUILD/evotile"
