#!/usr/bin/env bash
exec tests/python/axpy_search.sh shinka
