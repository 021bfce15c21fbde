#!/usr/bin/env bash
# Every mutant of tests/mutants.list still fits the sources (`make mutants` tries them).
exec tests/mutants --check
