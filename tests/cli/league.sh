# A template whose references and kernel agree in small cases; reference.c alone is right beyond 1200 columns.
. "$ROOT/tests/cli/tell"
small c.json
sed -i 's/"COLS": 40/"COLS": 3000/' c.json
cp -r "$EVOTILE_TEMPLATES" mine
sed -i 's/column < COLS/column < (COLS > 1200 ? 1200 : COLS)/' mine/softmax_rows/reference.cu mine/softmax_rows/plain.cu
tell try c.json --templates mine | sed 's/[^ ]*mine/mine/g; s/element .* by/element ... by/'
"$EVOTILE" run c.json --templates mine --out run >/dev/null 2>&1
echo "status $?"
"$EVOTILE" try c.json >/dev/null && echo "the template as it is passes"
