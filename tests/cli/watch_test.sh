#!/usr/bin/env bash
# watch on a terminal, provided by tmux: it shows a running search, reacts to keys and to a new size, and
# exits on request. Exit status 77 if there is no tmux, or no terminal available.
set -u
command -v tmux >/dev/null || { echo "no tmux here: apt-get install tmux"; exit 77; }
. "$ROOT/tests/cli/tell"
export ASAN_OPTIONS=detect_leaks=0
cd "$TMPDIR" || exit 1
socket=$TMPDIR/tmux
terminal() { tmux -S "$socket" -f /dev/null "$@"; }
screen() { terminal capture-pane -p -t view 2>/dev/null; }
run=0
trap '((run)) && kill $run 2>/dev/null; terminal kill-server 2>/dev/null' EXIT
refused=$(terminal new-session -d -s probe true 2>&1) || { echo "tmux opens no terminal here ($refused): mount /dev/pts"; exit 77; }

# Waits until a line of the screen matches, for minutes: a loaded machine takes 10 s for a trial.
expect() {
    local tries
    for ((tries = 0; tries < 2400; tries++)); do
        screen | grep -qE -- "$1" && return
        sleep 0.1
    done
    printf 'never on the screen: %s\n--- the screen\n' "$1"
    screen
    exit 1
}
refuse() {
    screen | grep -qE -- "$1" || return 0
    printf 'on the screen: %s\n--- the screen\n' "$1"
    screen
    exit 1
}

cat >two.json <<'JSON'
{ "template": "softmax_rows", "objective": "per_case", "device": "emulated:sm_89",
  "cases": [ { "ROWS": 4, "COLS": 40 }, { "ROWS": 8, "COLS": 33 } ], "budget": { "time": "10m" } }
JSON
"$EVOTILE" run two.json --out run >/dev/null 2>said &
run=$!
wait_for run
terminal new-session -d -s view -x 80 -y 24 "LC_ALL=C.UTF-8 '$EVOTILE' watch run; echo left with status \$?; cat"

expect '^run on .*, searching'
expect '^time +0:0[0-9]:[0-9]+ of 0:10:00, 0:0[0-9]:[0-9]+ left; [0-9]+ trials, [0-9.]+/s'
time=$(screen | grep '^time')
adds_up <<<"$time" || { echo "what has passed and what is left do not add up: $time"; exit 1; }
expect '^verdicts [0-9]+ ok'
expect '^GPU +none: emulated device'
expect '^workers .*(evaluates|compiles) [0-9]+ [0-9.]+ s'
expect 'tried as +trials +ok champions'
expect '⠉|⠒|⠤|⣀'
expect '^ +1 +[0-9]+ +[0-9.]+ '
# The view is refreshed without a key press.
before=$(screen | grep '^time')
for ((tries = 0; tries < 2400; tries++)); do
    [ "$(screen | grep '^time')" != "$before" ] && break
    sleep 0.1
done
((tries < 2400)) || { echo "the view does not refresh"; exit 1; }

# Keys: another goal and back, and the curve over trials.
goal=$(screen | grep -o 'goal [01] of 0 to 1')
terminal send-keys -t view Right
expect "goal $((1 - $(echo "$goal" | cut -c 6))) of 0 to 1"
terminal send-keys -t view Left
expect "$goal"
refuse '[0-9] trials$'
terminal send-keys -t view t
expect '[0-9] trials( |$)'
expect '^q: quit   t: by time'

# A larger terminal, and one that is too small for the whole view.
terminal resize-window -t view -x 130 -y 40
expect '^.{100,}'
expect '^  10 '
terminal resize-window -t view -x 30 -y 8
expect '^q: quit'
terminal resize-window -t view -x 80 -y 24
expect '^GPU '

# The run ends: the view says so and stays.
kill -INT $run
wait $run || { echo "the run ended with status $?"; cat said; exit 1; }
expect '^run on .*, interrupted'
terminal send-keys -t view q
expect '^left with status 0'

# An unknown terminal type gets plain lines.
terminal respawn-pane -k -t view "TERM=nonesuch '$EVOTILE' watch run; echo left with status \$?; cat"
expect 'TERM=nonesuch.* is unknown'
expect 'interrupted; 0:'
expect '^left with status 0'
