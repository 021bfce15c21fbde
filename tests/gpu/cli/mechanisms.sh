# The templates of tests/templates on a GPU, one for each mechanism of docs/templates.md: the default genome is
# accepted, each fault is refused, a short search runs, and its export checks itself, from the machine code and from
# the source. DEVICE=emulated:sm_90 tries the script without a GPU and leaves out the exports' checks.
. "$ROOT/tests/cli/tell"
device=${DEVICE:-cuda:0}
[[ $device == emulated:* ]] || nvidia-smi -L >/dev/null 2>&1 || { echo "there is no GPU" >&2; exit 77; }
export EVOTILE_TEMPLATES=$ROOT/tests/templates device

# template | cases | genomes with a fault
list='axpy/loop | { "N": 20000 } |
axpy/vector | { "N": 20000 } |
constant_filter | { "H": 60, "W": 200 } | FAULT=transposed FAULT=too_small FAULT=other_name FAULT=writes_taps,TAPS=global FAULT=keeps_taps
csr_product | { "ROWS": 700, "COLS": 500, "PER_ROW": 30 } | FAULT=sorted_columns FAULT=skips_first FAULT=beyond
gather_rows | { "N": 200, "ROWS": 90, "COLS": 300 } | FAULT=next_row FAULT=rounded_key FAULT=true_is_two
heat_steps | { "ROWS": 8, "COLS": 1000, "STEPS": 60 } |
histogram | { "N": 200000 } | FAULT=once FAULT=drops_last
histogram_add | { "N": 200000 } | FAULT=overwrites,BLOCKS=1 FAULT=once FAULT=drops_last
int8_product | { "M": 70, "N": 90, "K": 256 } | FAULT=off_by_one
mean_loss | { "SAMPLES": 4096, "CLASSES": 10 } |
mean_of_sines | { "N": 4000 } | FAULT=fewer FAULT=last,POINTS=48
newton_root | { "N": 20000 } | STOP=0.25
paged_gather | { "SEQUENCES": 70, "PAGES": 12, "WIDTH": 100 } | FAULT=pages_in_order FAULT=whole_pages FAULT=unused_page
residual_inplace | { "ROWS": 30, "COLS": 700 } | FAULT=adds_nothing FAULT=once FAULT=half_a_call FAULT=in_turns
rms_rows | { "ROWS": 40, "COLS": 300 } | FAULT=column FAULT=weights FAULT=bias
running_sums | { "ROWS": 20, "COLS": 330 } | FAULT=element FAULT=last
scale_fp8 | { "ROWS": 60, "COLS": 300 }, { "ROWS": 60, "COLS": 300, "E5M2": 1 } | CONVERT=integer,FAULT=bias FAULT=wide_load
scaled_add | { "ROWS": 40, "COLS": 500, "BIAS": 1 } |
smooth_rows | { "ROWS": 20, "COLS": 130 }, { "ROWS": 2, "COLS": 77, "WRAP": 1 } | FAULT=last FAULT=row
sum_two_pass | { "N": 100000 } |
take_columns | { "ROWS": 6, "COLS": 40, "TAKEN": 9 } | FAULT=next FAULT=row
two_pass_max | { "N": 100000 } | FAULT=other_threads
vector_copy | { "N": 30000 } | FAULT=no_tail FAULT=one_item
weighted_pick | { "ROWS": 70, "COLS": 50 } | FAULT=identity FAULT=uniform_weights FAULT=first_shift FAULT=no_gain FAULT=even_bounds'

# Says in one line what became possible with a template: "NAME: try 3 faults run export check source".
one() {
    local name=${1// /} cases=$2 faults=$3 folder=${1//[ \/]/_} refused=0 genes=
    mkdir "$folder" && cd "$folder" || return
    case $name in
    axpy/* | heat_steps | mean_loss | scaled_add | sum_two_pass | newton_root) ;;
    *) genes='"genes": { "FAULT": ["none"] },' ;;
    esac
    echo "{ \"template\": \"$name\", $genes \"cases\": [$cases], \"device\": \"$device\", \"budget\": { \"trials\": 6 } }" >right.json
    echo "{ \"template\": \"$name\", \"cases\": [$cases], \"device\": \"$device\" }" >any.json
    local line="$name:"
    step() { # a word for the line, and the command
        local word=$1 && shift
        "$@" >"$word.log" 2>&1 && line+=" $word" || { line+=" NO-$word"; { echo "$name: $*"; tail -n 20 "$word.log"; } >&2; return 1; }
    }
    step try "$EVOTILE" try right.json
    for genome in $faults; do
        local status=0
        "$EVOTILE" try any.json --genome "$genome" >fault.log 2>&1 || status=$?
        if ((status == 3)); then refused=$((refused + 1)); else { echo "$name $genome: status $status"; tail -n 5 fault.log; } >&2; fi
    done
    [[ -z $faults ]] || line+=" $refused-faults"
    if step run "$EVOTILE" run right.json --out run && step export "$EVOTILE" export run --out exported &&
        [[ $device != emulated:* ]]; then
        step check make -C exported check
        step source make -C exported clean check SOURCE=1
    fi
    echo "$line"
}
export -f one

xargs -P "${JOBS:-8}" -d '\n' -I{} bash -c 'IFS="|" read -r name cases faults <<<"$1"; one "$name" "$cases" "$faults"' _ {} <<<"$list" | sort
