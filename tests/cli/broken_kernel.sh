# A template that compiles with no genome, and one with an error in its files.
. "$ROOT/tests/cli/tell"
small c.json
mkdir mine
cp -r "$EVOTILE_TEMPLATES/softmax_rows" "$EVOTILE_TEMPLATES/lib" mine/
echo 'this is no CUDA;' >>mine/softmax_rows/kernel.cu
"$EVOTILE" run c.json --templates mine --out run 2>/dev/null
echo "status $?"
tell board run
tell try c.json --templates mine | sed -n "s/^compile_failed: kernel.cu($(wc -l <mine/softmax_rows/kernel.cu)):/named where it is:/p"
tell export run --out frozen
sed -i 's/"THREADS % ROW_THREADS == 0"/"THREADS % ROW_THREAD == 0"/' mine/softmax_rows/template.json
tell run c.json --templates mine --out other
ls
