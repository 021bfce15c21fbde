# Reports of one and of two runs as HTML, Markdown and CSV; and errors.
. "$ROOT/tests/cli/tell"
small joint.json '"search": { "strategy": "evolve" }'
sed -i 's/{ "ROWS": 4, "COLS": 40 }/{ "ROWS": 4, "COLS": 40 }, { "ROWS": 8, "COLS": 500 }/' joint.json
sed 's/"budget"/"objective": "per_case", "budget"/' joint.json >apart.json
"$EVOTILE" run joint.json --trials 30 --out joint >/dev/null 2>&1
"$EVOTILE" run apart.json --trials 12 --out apart >/dev/null 2>&1
tell report joint
tell report joint apart -o both.html
# Predictions are labelled; the HTML file loads nothing from elsewhere.
grep -o 'Every latency on this page is a prediction of the emulated device, not a measurement.' joint/report.html
grep -oE '(src|href)="[^#d][^"]*"' joint/report.html both.html
"$EVOTILE" report apart --markdown | grep -E '^#|^\*\*|champion predicted us|, by predicted'
"$EVOTILE" report joint --markdown --out joint.md 2>&1
head -n 1 joint.md
"$EVOTILE" report apart --json | tr -d '\t' | grep -E '^"(title|predicted_note|runs|goals|board|scatter|style)":' | sort | uniq -c | tr -s ' '
"$EVOTILE" report joint apart --csv >both.csv
head -n 1 both.csv
cut -d, -f1 both.csv | sort | uniq -c
tell report
tell report joint --markdown --csv
tell report nowhere -o page.html
tell report joint -o /nowhere/page.html
