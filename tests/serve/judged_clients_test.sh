#!/usr/bin/env bash
# Eight clients of a server with the real judge, and workers that are killed: see judged_clients.py.
exec python3 tests/serve/judged_clients.py "$EVOTILE"
