# For an unknown verb or option the error names the nearest one; bad usage has exit status 2.
. "$ROOT/tests/cli/tell"
tell rnu
tell help rnu
tell run
tell run a.json --trails 5
tell run a.json --trials many
tell run a.json --time soon
tell board
tell board a b
tell export run
tell worker
