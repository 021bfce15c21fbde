/* The check of an exported folder compares with what the search compared with, whether a source in
   `real`, Python or recorded answers say what is correct, of tensors that are read and written, of
   inputs that are variables, and of inputs that setup makes. */
#include "export/frozen.h"

/* One of the faults is right, and may be faster. */
static const char without_fault[] = "\"FAULT\": [\"none\"]";

static void setup_and_python(void **state) {
    (void)state;
    export_template("csr_python", "{ \"ROWS\": 70, \"COLS\": 50, \"PER_ROW\": 12 }");
    accepts("csr_python");
    accepts_shape("csr_python", "ROWS=30 COLS=3 PER_ROW=21");
    refuses("csr_python", "SKIPS_FIRST");
}

static void read_and_written_in_real(void **state) {
    (void)state;
    export_some("residual_real", "{ \"ROWS\": 5, \"COLS\": 133 }", without_fault);
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
    export_some("residual_python", "{ \"ROWS\": 5, \"COLS\": 133 }", without_fault);
    accepts("residual_python");
    accepts_shape("residual_python", "ROWS=2 COLS=9");
    refuses("residual_python", "ADDS_NOTHING");
}

static void read_and_written_with_answers(void **state) {
    (void)state;
    export_some("residual_answers", "{ \"ROWS\": 5, \"COLS\": 133 }", without_fault);
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
    };
    return cmocka_run_group_tests(tests, make_templates, remove_folder);
}
