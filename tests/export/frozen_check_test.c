/* The check of an exported folder accepts the kernel that was exported; and it refuses that kernel
   with the faults that the inputs are there for. */
#include "export/frozen.h"

static void a_pattern_made_by_setup(void **state) {
    (void)state;
    export_template("csr_product", "{ \"ROWS\": 70, \"COLS\": 50, \"PER_ROW\": 12 }");
    accepts("csr_product");
    accepts_shape("csr_product", "ROWS=300 COLS=3 PER_ROW=21");
    refuses("csr_product", "SORTED_COLUMNS");
    refuses("csr_product", "SKIPS_FIRST");
}

static void a_page_table_made_by_setup(void **state) {
    (void)state;
    export_template("paged_gather", "{ \"SEQUENCES\": 7, \"PAGES\": 6, \"WIDTH\": 20 }");
    accepts("paged_gather");
    accepts_shape("paged_gather", "SEQUENCES=30 PAGES=9 WIDTH=3");
    refuses("paged_gather", "PAGES_IN_ORDER");
    refuses("paged_gather", "WHOLE_PAGES");
}

static void fills_files_and_scalars(void **state) {
    (void)state;
    export_template("weighted_pick", "{ \"ROWS\": 70, \"COLS\": 50 }");
    accepts("weighted_pick");
    accepts_shape("weighted_pick", "ROWS=200 COLS=3");
    refuses("weighted_pick", "IDENTITY");
    refuses("weighted_pick", "UNIFORM_WEIGHTS");
    refuses("weighted_pick", "FIRST_SHIFT");
    refuses("weighted_pick", "NO_GAIN");
    refuses("weighted_pick", "EVEN_BOUNDS");
}

/* A file of another template's would be found by a check that reads the wrong bytes. */
static void a_changed_file_is_read(void **state) {
    (void)state;
    sh("cd %s/weighted_pick/template/weighted_pick && rm table.npy", folder);
    assert_int_equal(run_check("weighted_pick", NULL, NULL), 1);
}

static void magnitudes_of_a_mean(void **state) {
    (void)state;
    export_template("mean_loss", "{ \"SAMPLES\": 64 }");
    accepts("mean_loss");
}

/* The header of a variant changed as sed does, which makes one shape wrong and leaves the other. */
static void refuses_variant(const char *name, int variant, const char *change, const char *wrong,
                            const char *right) {
    sh("cd %s/%s && cp variant_%d.h right && sed -i '%s' variant_%d.h && ! cmp -s right "
       "variant_%d.h",
       folder, name, variant, change, variant, variant);
    assert_int_equal(run_check(name, NULL, NULL), 1);
    sh("cd %s/%s && grep -q '^WRONG %s ' ../out && grep -q '^ok    %s ' ../out && "
       "mv right variant_%d.h",
       folder, name, wrong, right, variant);
}

/* A launcher of two solutions, whose kernels have one name and other arguments: each case runs that
   of its own. */
static void two_solutions(void **state) {
    (void)state;
    export_config("tests/templates", "axpy",
                  "\"objective\": \"per_case\", \"solutions\": \"all\", \"genes\": { "
                  "\"loop\": { \"THREADS\": [32], \"BLOCKS\": [32] }, "
                  "\"vector\": { \"THREADS\": [64], \"VECTORS\": [1], \"STAGED\": [0] } }, "
                  "\"cases\": [ { \"N\": 20000 }, { \"N\": 1003 } ]",
                  "");
    sh("jq -r .units[].solution %s/axpy/manifest.json | tr '\n' ' ' | grep -q 'vector loop'",
       folder);
    accepts("axpy");
    accepts_shape("axpy", "N=777 ALPHA=-3");
    refuses_variant("axpy", 1, "s/THREADS 64/THREADS 128/", "N=20000", "N=1003");
    refuses_variant("axpy", 2, "s/THREADS 32/THREADS 64/", "N=1003", "N=20000");
}

/* One that takes tensor maps, and another that needs a workspace: in one launcher each gets its
   own. */
static void maps_and_workspaces(void **state) {
    (void)state;
    export_config("templates", "attention_fwd",
                  "\"objective\": \"per_case\", \"solutions\": [\"mma\", \"hopper\"], "
                  "\"genes\": { \"mma\": { \"KV_SPLITS\": [2], \"COMBINE\": [\"last\"] }, "
                  "\"hopper\": { \"BLOCK_M\": [64], \"BLOCK_N\": [32] } }, "
                  "\"cases\": [ { \"B\": 1, \"H\": 2, \"S\": 64, \"D\": 64 }, "
                  "{ \"B\": 1, \"H\": 2, \"S\": 100, \"D\": 64, \"CAUSAL\": 1 } ]",
                  "--trial $(sqlite3 run_attention_fwd/run.db 'SELECT max(trial) FROM champions "
                  "WHERE goal = 2')");
    sh("jq -r .units[].solution %s/attention_fwd/manifest.json | tr '\n' ' ' | grep -q "
       "'hopper mma'",
       folder);
    int status = run_check("attention_fwd", NULL, NULL);
    if (status != 0)
        sh("cat %s/out >&2; exit 1", folder);
    refuses_variant("attention_fwd", 1, "s/CAUSAL 0/CAUSAL 1/", "B=1,H=2,S=64,D=64",
                    "B=1,H=2,S=100,D=64,CAUSAL=1");
    refuses_variant("attention_fwd", 2, "s/CAUSAL 1/CAUSAL 0/", "B=1,H=2,S=100,D=64,CAUSAL=1",
                    "B=1,H=2,S=64,D=64");
}

/* Kernel, reference and setup are launched by the names that the compiler gave to them. */
static void kernels_that_are_templates(void **state) {
    (void)state;
    export_some("vector_copy", "{ \"N\": 701 }",
                "\"VECTOR\": [4], \"TAIL\": [\"same\"], \"FAULT\": [\"none\"]");
    accepts("vector_copy");
    accepts_shape("vector_copy", "N=67 A=0.25");
    refuses("vector_copy", "NO_TAIL");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_made_by_setup), cmocka_unit_test(a_page_table_made_by_setup),
        cmocka_unit_test(fills_files_and_scalars), cmocka_unit_test(a_changed_file_is_read),
        cmocka_unit_test(magnitudes_of_a_mean),    cmocka_unit_test(two_solutions),
        cmocka_unit_test(maps_and_workspaces),     cmocka_unit_test(kernels_that_are_templates),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
