# Output that cannot be written is a failure.
$EVOTILE help >/dev/full
