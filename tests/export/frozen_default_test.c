/* The check of an exported folder whose reference is the default genome: it compares the kernel
   with that, finds faults, and says that they agree or differ, never that one is correct. */
#include "export/frozen.h"

static void default_genomes(void **state) {
    (void)state;
    static const char words[] = "agree with the default genome";
    export_some("smooth_rows",
                "{ \"ROWS\": 20, \"COLS\": 130 }, { \"ROWS\": 2, \"COLS\": 77, \"WRAP\": 1 }",
                "\"FAULT\": [\"none\"]");
    accepts_saying("smooth_rows", words);
    sh("! grep -iE 'correct|itself' %s/out", folder);
    assert_int_equal(run_check("smooth_rows", "--shape", "ROWS=3 COLS=9 WRAP=1"), 0);
    sh("grep -q '^the shape agrees with the default genome$' %s/out", folder);
    refuses("smooth_rows", "LAST");
    sh("grep -q '^3 of 6 shapes DIFFER from the default genome$' %s/out", folder);
    refuses("smooth_rows", "ROW");
    sh("! grep -i correct %s/smooth_rows/smooth_rows.h", folder);
}

static void default_genomes_of_prepared_tensors(void **state) {
    (void)state;
    static const struct {
        const char *name, *shape, *fault;
    } rows[] = {
        {"residual_default", "{ \"ROWS\": 5, \"COLS\": 133 }", "ADDS_NOTHING"},
        {"filter_default", "{ \"H\": 13, \"W\": 70 }", "TRANSPOSED"},
    };
    for (int i = 0; i < 2; i++) {
        export_some(rows[i].name, rows[i].shape, "\"FAULT\": [\"none\"]");
        accepts_saying(rows[i].name, "agree with the default genome");
        refuses(rows[i].name, rows[i].fault);
    }
}

static void the_default_genome_itself(void **state) {
    (void)state;
    export_some("smooth_itself", "{ \"ROWS\": 20, \"COLS\": 130 }",
                "\"FAULT\": [\"none\"], \"KEEP\": [\"workspace\"], \"ORDER\": [\"left\"], "
                "\"THREADS\": [64]");
    sh("grep -q 'its check compares it with itself' %s/log", folder);
    accepts_saying("smooth_itself", "agree with the default genome");
    sh("grep -q '^the kernel is the default genome itself: nothing but' %s/out", folder);
    sh("tr -d '*\\n' <%s/smooth_itself/smooth_itself.h | tr -s ' ' | grep -q 'says: the kernel is "
       "the default genome itself'",
       folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_genomes),
        cmocka_unit_test(default_genomes_of_prepared_tensors),
        cmocka_unit_test(the_default_genome_itself),
    };
    return cmocka_run_group_tests(tests, make_templates, remove_folder);
}
