# A manual for each verb; --help prints the same.
for verb in doctor space run resume watch board summary try replay duel gate export baseline ablate sanitize; do
    "$EVOTILE" help $verb >manual || echo "help $verb: status $?"
    head -n 1 manual
    "$EVOTILE" $verb --help | cmp - manual || echo "$verb --help says something else"
done
