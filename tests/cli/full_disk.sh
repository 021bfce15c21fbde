# A result that did not reach its file is no result.
$EVOTILE help >/dev/full
