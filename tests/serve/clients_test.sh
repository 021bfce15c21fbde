#!/usr/bin/env bash
# Eight clients over HTTP, beside others that send garbage and vanish, and eight on pipes.
exec python3 tests/serve/clients.py --requests "$([ "${EVOTILE_LONG:-0}" = 1 ] && echo 2000 || echo 200)" "$BUILD/tests/serve/scripted_server" config.json
