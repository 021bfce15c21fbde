# With or without a GPU the emulated device can run a search.
# NVRTC leaks memory when it is unloaded.
export ASAN_OPTIONS=detect_leaks=0
$EVOTILE doctor >text
echo "exit $?"
grep -o 'ok  *emulated:sm_89 kernel  *compiled for sm_89' text | tr -s ' '
tail -1 text
$EVOTILE doctor --json | tr -d ' \t' | grep '^"ready"'
