# A manual for each verb; --help prints the same.
for verb in $("$EVOTILE" help | awk '/^  [a-z]/ { print $1 }'); do
    "$EVOTILE" help $verb >manual || echo "help $verb: status $?"
    head -n 1 manual
    "$EVOTILE" $verb --help | cmp - manual || echo "$verb --help says something else"
done
