#!/usr/bin/env bash
# Clients of a server whose workers are on a queue: see queued_clients.py.
exec python3 tests/serve/queued_clients.py "$EVOTILE"
