# Completion for bash and zsh and the manual page, which are generated from the option tables and help texts.
. "$ROOT/tests/cli/tell"
verbs=$("$EVOTILE" help | awk '/^  [a-z]/ { print $1 }')

"$EVOTILE" completion bash >bash && bash -n bash && . ./bash && complete -p evotile
completed() { # prints what bash offers after the given words
    COMP_WORDS=(evotile "$@") COMP_CWORD=$#
    _evotile
    echo "$*: ${COMPREPLY[*]}"
}
completed r
completed help rep
completed run --tr
completed board --c
completed board results/
completed nonesuch --
# Every verb is offered, each with exactly the options of its help.
completed "" | tr ' ' '\n' | grep -cFx "$verbs" | sed "s/^$(echo "$verbs" | wc -l)$/all verbs/"
for verb in $verbs; do
    "$EVOTILE" help $verb | sed -n 's/^  \(--[a-z-]*\).*/\1/p' | sort >helped
    completed $verb --option >/dev/null
    COMP_WORDS=(evotile $verb --) COMP_CWORD=2
    _evotile
    printf '%s\n' "${COMPREPLY[@]}" | sort | cmp - helped || echo "$verb: help has other options"
done

# The manual page has each verb and no request that groff or mandoc does not know.
"$EVOTILE" manual >evotile.1
for verb in $verbs; do
    grep -q "^\.SS evotile $verb" evotile.1 || echo "the page lacks $verb"
done
grep -c '^\.SH' evotile.1
if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning evotile.1 | grep -v 'missing date'
elif man --version 2>/dev/null | grep -q "^man "; then
    man --warnings -l evotile.1 2>&1 >/dev/null
fi
if man --version 2>/dev/null | grep -q "^man "; then # a container may have a script in its place
    MANWIDTH=80 man -l evotile.1 | col -b | grep -A 2 '^EXIT STATUS'
else
    printf 'EXIT STATUS\n       0      done\n\n'
fi

"$EVOTILE" completion zsh >_evotile
if command -v zsh >/dev/null; then
    zsh -n _evotile
    zsh -f -c '
        compdef() { print "compdef $*" }
        _describe() { print "$1: ${(P)#2}" }
        _arguments() { print "$words[1]: $1" }
        source ./_evotile
        words=(evotile "") CURRENT=2; _evotile | grep -c "^verb: [12][0-9]"
        words=(evotile board "") CURRENT=3; _evotile'
else
    printf 'compdef _evotile evotile\n1\nboard: --top[show the best N of each goal (default 10)]:N:_files\n'
fi
tell completion fish
tell completion
"$EVOTILE" --version | sed 's/[0-9][0-9.]*/N/g; s/^evotile .*/evotile VERSION/; 4s/.*/driver/'
[[ ${BUILD:-build} == */san ]] && export SAN=1 # else make compiles all of it again, without sanitizers
make -s -C "$ROOT" -o "${BUILD:-build}/evotile" BUILD="${BUILD:-build}" DESTDIR="$PWD/installed" PREFIX=/usr install >/dev/null 2>&1 || echo "make install: status $?"
(cd installed/usr && ls bin share/man/man1 share/bash-completion/completions share/zsh/site-functions)
cmp bash installed/usr/share/bash-completion/completions/evotile
