# Help goes to stdout and ends well; what a verb does is taught with examples.
$EVOTILE help | head -3
$EVOTILE help board | head -1
$EVOTILE board --help | grep -c -- --markdown
$EVOTILE space --help | tail -1
