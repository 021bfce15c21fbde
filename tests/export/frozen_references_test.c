/* The check of an exported folder compares with what the search compared with, whether a source in
   `real`, Python or recorded answers say what is correct, of tensors that are read and written, of
   inputs that are variables, and of inputs that setup makes. */
#include "export/frozen.h"

static int make_templates(void **state) {
    if (make_folder(state) != 0)
        return -1;
    sh("tests/export/frozen_templates %s/templates >&2", folder);
    return 0;
}

static void setup_and_python(void **state) {
    (void)state;
    export_template("csr_python", "{ \"ROWS\": 70, \"COLS\": 50, \"PER_ROW\": 12 }");
    accepts("csr_python");
    accepts_shape("csr_python", "ROWS=30 COLS=3 PER_ROW=21");
    refuses("csr_python", "SKIPS_FIRST");
}

static void read_and_written_in_real(void **state) {
    (void)state;
    export_template("residual_real", "{ \"ROWS\": 5, \"COLS\": 133 }");
    accepts("residual_real");
    refuses("residual_real", "ADDS_NOTHING");
    copy_for_gpu_reference("residual_real", "residual_gpu");
    accepts("residual_gpu");
    refuses("residual_gpu", "ADDS_NOTHING");
}

static void added_to_in_real(void **state) {
    (void)state;
    export_template("rms_added", "{ \"ROWS\": 4, \"COLS\": 99 }");
    accepts("rms_added");
    copy_for_gpu_reference("rms_added", "rms_gpu");
    accepts("rms_gpu");
}

static void read_and_written_in_python(void **state) {
    (void)state;
    export_template("residual_python", "{ \"ROWS\": 5, \"COLS\": 133 }");
    accepts("residual_python");
    accepts_shape("residual_python", "ROWS=2 COLS=9");
    refuses("residual_python", "ADDS_NOTHING");
}

static void read_and_written_with_answers(void **state) {
    (void)state;
    export_template("residual_answers", "{ \"ROWS\": 5, \"COLS\": 133 }");
    accepts("residual_answers");
    refuses("residual_answers", "ADDS_NOTHING");
}

static void scalars(void **state) {
    (void)state;
    static const char *const names[] = {"pick_real", "pick_python"};
    for (int i = 0; i < 2; i++) {
        export_template(names[i], "{ \"ROWS\": 30, \"COLS\": 20 }");
        accepts(names[i]);
        refuses(names[i], "NO_GAIN");
        refuses(names[i], "FIRST_SHIFT");
    }
}

static void variables_and_python(void **state) {
    (void)state;
    export_template("filter_python", "{ \"H\": 13, \"W\": 70 }");
    accepts("filter_python");
    refuses("filter_python", "TRANSPOSED");
}

/* Nothing says that it is correct. */
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

static void variables_in_real(void **state) {
    (void)state;
    static const char *const names[] = {"filter_argument", "filter_variable"};
    for (int i = 0; i < 2; i++) {
        export_template(names[i], "{ \"H\": 13, \"W\": 70 }");
        accepts(names[i]);
        refuses(names[i], "TRANSPOSED");
        copy_for_gpu_reference(names[i], "filter_gpu");
        accepts("filter_gpu");
        sh("rm -r %s/filter_gpu", folder);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(setup_and_python),
        cmocka_unit_test(read_and_written_in_real),
        cmocka_unit_test(added_to_in_real),
        cmocka_unit_test(read_and_written_in_python),
        cmocka_unit_test(read_and_written_with_answers),
        cmocka_unit_test(variables_in_real),
        cmocka_unit_test(variables_and_python),
        cmocka_unit_test(scalars),
        cmocka_unit_test(default_genomes),
        cmocka_unit_test(default_genomes_of_prepared_tensors),
        cmocka_unit_test(the_default_genome_itself),
    };
    return cmocka_run_group_tests(tests, make_templates, remove_folder);
}
