#!/usr/bin/env bash
# Proposals that people wrote, and what the judge says of them. Of each problem one strategy, all with EVOTILE_LONG=1.
exec python3 tests/evolve/proposals/proposals.py
