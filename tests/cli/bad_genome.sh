# Genomes outside the space, and invalid genomes.
. "$ROOT/tests/cli/tell"
small c.json
tell try c.json --genome THREAD=32
tell try c.json --genome THREADS=33
tell try c.json --genome THREADS=32,THREADS=64
tell try c.json --genome THREADS
tell try c.json --genome THREADS=32,ROW_THREADS=64
tell space c.json --genome THREADS=32,ROW_THREADS=64
