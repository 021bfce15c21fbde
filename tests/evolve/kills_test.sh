#!/usr/bin/env bash
# Sources that evolve: what a killed run goes on with, crossovers, and a run that can hold no more solutions.
exec python3 tests/evolve/evolve.py "$BUILD/evotile" kills crossover full
