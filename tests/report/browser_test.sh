#!/usr/bin/env bash
# The report in a real browser, from disk and without a network: nothing is loaded, nothing is printed to the
# console; tables sort, the scatter plot draws the chosen axis and shows tooltips, goals unfold on demand and
# for printing; dark and light differ. Skipped without Chromium.
set -eu
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "no chromium here: apt-get install chromium"
    exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >config.json <<'JSON'
{
  "template": "softmax_rows", "objective": "per_case",
  "cases": [ { "ROWS": 4, "COLS": 40 }, { "ROWS": 8, "COLS": 500 } ],
  "search": { "strategy": "evolve", "initial": 12 }, "budget": { "trials": 40 }, "device": "emulated:sm_89"
}
JSON
"$EVOTILE" run config.json --out run 2>/dev/null
"$EVOTILE" report run -o page.html 2>/dev/null

# A script before the page's own keeps what was written; one at the end performs a reader's actions and reports
# the results.
cat >script.html <<'JS'
<script>
addEventListener("load", () => {
    const said = [];
    const check = (what, holds) => said.push(`${holds ? "ok" : "FAILED"} ${what}`);
    const column = (table, at) => [...table.tBodies[0].rows].map((row) => Number(row.cells[at].textContent));
    const rising = (numbers) => numbers.every((n, i) => i === 0 || numbers[i - 1] <= n);
    const goals = document.querySelectorAll("details.goal");
    const board = goals[0].querySelector("table");
    const heading = [...board.tHead.rows[0].cells].find((cell) => cell.textContent === "trial");
    heading.click();
    check("a click sorts", rising(column(board, heading.cellIndex)) && heading.getAttribute("aria-sort") === "ascending");
    heading.click();
    check("a second turns it", rising(column(board, heading.cellIndex).reverse()) && heading.getAttribute("aria-sort") === "descending");
    const scatter = goals[0].querySelector(".scatter");
    const data = JSON.parse(document.getElementById(scatter.dataset.from).textContent).goals[0];
    const dots = (where = scatter) => [...where.querySelectorAll("path[data-name^=dots]")].map((path) => path.getAttribute("d")).join("");
    const points = (path) => [...path.matchAll(/M([\d.]+),([\d.]+)h0/g)].flatMap((match) => [Number(match[1]), Number(match[2])]);
    check("a dot for each valid trial", data.dots.n.length > 0 && dots().split("M").length - 1 === data.dots.n.length);
    const first = new DOMParser().parseFromString(page_as_written, "text/html").querySelector(".scatter");
    const written = points(dots(first)), placed = points(dots());
    check("the script puts every dot where it was drawn", written.length === placed.length && written.every((at, i) => Math.abs(at - placed[i]) < 0.2));
    const select = scatter.querySelector("select");
    const shown = () => [...scatter.querySelectorAll("svg g[data-name]")].filter((axis) => axis.getBoundingClientRect().width > 0);
    const texts = new Set();
    let axes = 0;
    for (const option of select.options) {
        select.value = option.value;
        select.dispatchEvent(new Event("change"));
        texts.add(dots());
        if (shown().length === 1 && shown()[0].dataset.name === option.value && shown()[0].textContent.includes(option.text)) axes++;
    }
    check("every axis has a picture of its own", select.options.length >= 6 && texts.size === select.options.length && !dots().includes("NaN"));
    check("one axis is shown, the chosen one", axes === select.options.length);
    const svg = scatter.querySelector("svg"), box = svg.getBoundingClientRect();
    const [x, y] = dots().slice(1).split("h")[0].split(",").map(Number);
    svg.dispatchEvent(new PointerEvent("pointermove", {clientX: box.left + x * box.width / 1100, clientY: box.top + y * box.width / 1100}));
    const tip = document.getElementById("tip");
    check("a dot says what it is", !tip.hidden && /^trial \d+: [\d.]+ predicted us\nTHREADS=\d+ /.test(tip.textContent));
    check("only the first goal is unfolded", goals[0].open && !goals[1].open);
    dispatchEvent(new Event("beforeprint"));
    check("all are for printing", goals[1].open && goals[1].querySelector(".scatter svg").getBoundingClientRect().height > 100);
    dispatchEvent(new Event("afterprint"));
    check("and folded again", !goals[1].open);
    location.hash = goals[1].id;
    check("nothing is loaded", performance.getEntriesByType("resource").length === 0);
    check("nothing sticks out", document.documentElement.scrollWidth <= innerWidth);
    setTimeout(() => {
        check("a link unfolds its goal", goals[1].open);
        said.push(`paper ${getComputedStyle(document.body).backgroundColor}`);
        const verdict = document.createElement("pre");
        verdict.id = "verdict";
        verdict.textContent = `\n${said.join("\n")}\n`;
        document.body.append(verdict);
    }, 100);
});
</script>
JS
sed -e '/^<div id="tip"/i <script>const page_as_written = document.documentElement.outerHTML;</script>' -e '/<\/body>/{
r script.html
N
}' page.html >tried.html

# Usage: browse SCHEME FILE: 0 dark, 1 light
browse() {
    timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$folder/$1" \
        --host-resolver-rules='MAP * ~NOTFOUND' --blink-settings=preferredColorScheme="$1" --window-size=1200,900 \
        --virtual-time-budget=20000 --enable-logging=stderr --dump-dom "file://$folder/$2" 2>"$1.log" |
        sed -n '/<pre id="verdict">/,/<\/pre>/p' | grep -E '^(ok|FAILED|paper) '
}
browse 1 tried.html >light
browse 0 tried.html >dark
cat light
status=0
[ "$(grep -c '^ok ' light)" = 13 ] && [ "$(grep -c '^ok ' dark)" = 13 ] || status=1
! grep -h CONSOLE ./*.log || status=1
paper_light=$(grep paper light) paper_dark=$(grep paper dark)
[ "$paper_light" != "$paper_dark" ] || { echo "dark is as light: $paper_dark"; status=1; }
exit $status
