# A manual for each verb, which --help prints too: what it is for, with examples, then its options.
for verb in $("$EVOTILE" help | awk '/^  [a-z]/ { print $1 }'); do
    "$EVOTILE" help $verb >manual || echo "help $verb: status $?"
    head -n 1 manual
    "$EVOTILE" $verb --help | cmp - manual || echo "$verb --help says something else"
    grep -q "^  .*evotile $verb" manual || echo "$verb: no example"
    tail -n 1 manual | grep -q '^  --help ' || echo "$verb: does not end with its options"
    awk -v verb=$verb 'length > 120 { print verb ": too wide: " $0 }' manual
done
