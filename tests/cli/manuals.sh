# The list of verbs, and a manual for each of them.
"$EVOTILE" help
for verb in doctor space run resume board try replay export; do
    "$EVOTILE" help $verb >manual || echo "help $verb: status $?"
    head -n 1 manual
    "$EVOTILE" $verb --help | cmp - manual || echo "$verb --help says something else"
done
