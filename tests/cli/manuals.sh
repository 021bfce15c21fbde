# The help of each verb, which --help prints too: a sentence, usage, options, examples and exit statuses. The file is
# the one in search that the verb's name says, so that no verb shows the text of another.
for verb in $("$EVOTILE" help | awk '/^  [a-z]/ { print $1 }'); do
    "$EVOTILE" help $verb >manual || echo "help $verb: status $?"
    grep -m 1 '^Usage: ' manual
    "$EVOTILE" $verb --help | cmp - manual || echo "$verb --help prints something else"
    head -n 1 manual | cmp - <(head -n 1 "$ROOT"/search/c*/help/$verb.txt.in) || echo "$verb: not its own help"
    head -n 1 manual | grep -q '^[A-Z].*\.$' || echo "$verb: does not start with a sentence"
    grep -q '{{' manual && echo "$verb: a placeholder is left"
    for section in Options: Examples: 'Exit status:'; do
        [ "$(grep -cx "$section" manual)" = 1 ] || echo "$verb: no section $section"
    done
    sed -n '/^Examples:/,/^Exit/p' manual | grep -q "^  .*evotile $verb" || echo "$verb: no example"
    grep -q '^  --help  *print this help and exit$' manual || echo "$verb: does not list --help"
    awk -v verb=$verb 'length > 82 { print verb ": too wide: " $0 }' manual
done
