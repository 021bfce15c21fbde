#!/usr/bin/env bash
# The short form of `make check-queue`: workers, server, network and coordinator fail for some seconds, and each trial
# must still have exactly one outcome.
export EVOTILE_INTERVALS=heartbeat=0.2,heartbeat_timeout=3,run_poll=0.2,describe=0.5,request_resend=0.5,result_resend=0.2
exec python3 tests/remote/chaos.py --seconds 8 --workers 3 --resume
