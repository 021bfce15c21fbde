#!/usr/bin/env bash
# Sources evolve on the emulated device: what a scripted proposer answers, what is decided, what is refused and why.
exec python3 tests/evolve/evolve.py "$BUILD/evotile" decisions any_parent mixed costs refusals symbols schema processes strategies log scores
