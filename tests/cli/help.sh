# Help is printed on stdout with exit status 0 and explains a verb with its usage, options, examples and statuses.
$EVOTILE help | head -3
$EVOTILE help board | sed -n '1p;3p'
$EVOTILE board --help | grep -c -- --markdown
$EVOTILE space --help | tail -1
$EVOTILE help manual
