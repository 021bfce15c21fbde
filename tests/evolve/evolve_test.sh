#!/usr/bin/env bash
# Sources evolve on the emulated device: what a scripted proposer answers, what is decided, what is refused and why.
exec python3 tests/evolve/evolve.py "$BUILD/evotile" decisions any_parent costs refusals schema processes strategies
