#!/usr/bin/env bash
# Paths, status codes, limits, tokens and TLS of the server over HTTP.
exec python3 tests/serve/http_cases.py "$BUILD/tests/serve/scripted_server"
