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
        cmocka_unit_test(magnitudes_of_a_mean),    cmocka_unit_test(kernels_that_are_templates),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
