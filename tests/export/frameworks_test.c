/*
 * What an export holds for frameworks. Every generated source compiles without warnings against
 * stand-ins of PyTorch's stable ABI and XLA's foreign function interface (frameworks/), and the
 * operators and the ctypes module call a launcher that stands in for the kernel. With the real
 * packages: frameworks_real_test.sh.
 */
#include "export/example.h"

#define HERE "tests/export/frameworks"

static const char flags[] = "-O0 -Wall -Wextra -Wno-missing-field-initializers -Werror";

/* Exports a template for all frameworks to FOLDER/att. */
static void export_all(const char *folder, const char *template, const char *cases) {
    struct error error = {0};
    struct example *example = example_new(template, cases);
    example->request.with = EXPORT_WITH_CTYPES | EXPORT_WITH_TORCH | EXPORT_WITH_JAX;
    must(export_write(&example->request, within(folder, "att"), &error), &error);
    example_free(example);
}

/* Compiles every source that does not belong to the launcher, and every module. */
static void compiles(const char *folder) {
    const bool more = getenv("EVOTILE_LONG") != NULL; /* as tests of the real JAX compile it */
    assert_runs("gcc -std=c11 -pedantic %s -I%s/include -c -o %s/call.o %s/att/att_call.c", flags,
                cuda_home(), folder, folder);
    assert_runs("g++ -std=c++17 %s -fsyntax-only -I" HERE "/torch_stand_in -isystem %s/include "
                "%s/att/att_torch.cpp",
                flags, cuda_home(), folder);
    for (int host = 0; host <= more; host++)
        assert_runs("g++ -std=c++17 %s %s -fsyntax-only -I" HERE
                    "/xla_stand_in -isystem %s/include "
                    "%s/att/att_jax.cpp",
                    flags, host ? "-DATT_ON_HOST" : "", cuda_home(), folder);
    assert_runs("cd %s && PYTHONPYCACHEPREFIX=. python3 -W error -m py_compile att/att*.py",
                folder);
}

static const char attention[] = "[{\"B\": 1, \"H\": 1, \"S\": 64, \"D\": 64}]";

static void test_attention(void **state) {
    const char *folder = *state;
    export_all(folder, "attention_fwd", attention);
    compiles(folder);
    assert_runs("gcc -std=gnu11 -fPIC %s -DNAME=att -DHEADER=att.h -I%s/include -I%s/att -c -o "
                "%s/stand_in.o " HERE "/attention_stand_in.c",
                flags, cuda_home(), folder, folder);
    assert_runs(
        "g++ -std=c++17 %s -DNAME=att '-DNAME_TORCH_CPP=\"att_torch.cpp\"' -I" HERE
        "/torch_stand_in -isystem %s/include -I%s/att -o %s/driver " HERE
        "/torch_driver.cpp %s/stand_in.o %s/call.o -lm && %s/driver >%s/log || { cat %s/log "
        ">&2; exit 1; }",
        flags, cuda_home(), folder, folder, folder, folder, folder, folder, folder);
    assert_runs(
        "gcc -shared -fPIC -I%s/include -o %s/att/libatt.so %s/stand_in.o %s/att/att_call.c "
        "-lm && PYTHONPYCACHEPREFIX=%s python3 " HERE "/ctypes_program.py %s/att att >/dev/null",
        cuda_home(), folder, folder, folder, folder, folder);
}

/* A tensor that is written in place, and one that is added to; scalars; tensors that are there only
   sometimes; dimensions that other dimensions determine. */
static void test_others(void **state) {
    static const struct {
        const char *template, *cases, *words; /* words: of NAME.py */
    } others[] = {
        {"../tests/templates/residual_inplace", "[{\"ROWS\": 4, \"COLS\": 64}]",
         "\"forward(Tensor(a!) x, Tensor update, Tensor weight, *, bool fall_back=False) -> "
         "Tensor\""},
        {"attention_decode", "[{\"B\": 2, \"H\": 8, \"S_KV\": 128, \"D\": 64}]",
         "\"forward(Tensor q, Tensor lengths, Tensor? k=None, Tensor? v=None, "},
        {"../tests/templates/histogram", "[{\"N\": 100, \"BINS\": 16}]", " -> Tensor\""},
        {"../tests/templates/weighted_pick", "[{\"ROWS\": 7, \"COLS\": 50}]", "forward("},
    };
    const size_t count = getenv("EVOTILE_LONG") != NULL ? sizeof others / sizeof *others : 2;
    for (size_t i = 0; i < count; i++) {
        struct error error = {0};
        export_all(*state, others[i].template, others[i].cases);
        compiles(*state);
        char *module = path_read_file(within(*state, "att/att.py"), 1 << 20, NULL, &error);
        assert_non_null(module);
        if (strstr(module, others[i].words) == NULL)
            fail_msg("%s: no %s in %s", others[i].template, others[i].words, module);
        free(module);
        must(path_remove_tree(within(*state, "att"), &error), &error);
    }
}

/* The folder has what is asked for, and its manifest lists it. */
static void test_files(void **state) {
    static const struct {
        unsigned with;
        const char *files;
    } rows[] = {
        {0, ""},
        {EXPORT_WITH_CTYPES, "att_call.c att_call.h att_ctypes.py "},
        {EXPORT_WITH_TORCH | EXPORT_WITH_CTYPES,
         "att.py att_call.c att_call.h att_ctypes.py att_torch.cpp "},
        {EXPORT_WITH_JAX | EXPORT_WITH_CTYPES,
         "att_call.c att_call.h att_ctypes.py att_jax.cpp att_jax.py "},
    };
    struct example *example = example_new("softmax_rows", "[{\"ROWS\": 64, \"COLS\": 512}]");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = {0};
        example->request.with = rows[i].with;
        example->request.force = i > 0;
        must(export_write(&example->request, within(*state, "att"), &error), &error);
        assert_runs(
            "cd %s/att && test \"$(ls | grep -E '^att(_|[.]py)' | LC_ALL=C sort | tr '\\n' ' "
            "')\" = '%s' && for file in %s; do jq -e \".files[\\\"$file\\\"]\" manifest.json "
            ">/dev/null || exit 1; done",
            (char *)*state, rows[i].files, rows[i].files);
    }
    example_free(example);
}

/* Names that the generated code has for other things. */
static void test_names(void **state) {
    struct example *example = example_new("softmax_rows", "[{\"ROWS\": 64, \"COLS\": 512}]");
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"in", "call", "lambda"};
        struct error error = {0};
        strcpy(example->template->tensors[0].name, names[i]);
        example->request.with = EXPORT_WITH_CTYPES;
        assert_int_equal(export_write(&example->request, within(*state, "att"), &error), -1);
        assert_non_null(strstr(error.text, "has another meaning in the code for frameworks"));
    }
    struct error error = {0};
    strcpy(example->template->tensors[0].name, "x");
    assert_int_equal(export_write(&example->request, within(*state, "torch"), &error), -1);
    assert_non_null(strstr(error.text, "would take the place of that Python module"));
    example->request.with = 0;
    must(export_write(&example->request, within(*state, "torch"), &error), &error);
    example_free(example);
}

/* calls.json of a copy of the template with a mistake. */
static void test_mistakes(void **state) {
    static const struct {
        const char *change, *message; /* change: of sed */
    } rows[] = {
        {"s/Tensor? attn_mask=None, //", NULL},
        {"s/float dropout_p/double dropout_p/", "the type \"double\" of dropout_p: give Tensor"},
        {"s/float dropout_p/float dropout/", "\"arguments\" does not describe dropout"},
        {"s/ -> Tensor\"/ -> (Tensor, Tensor)\"/", "give it as \"(Tensor x, ...) -> Tensor\""},
        {"s/\"tensor\": \"k\"/\"tensor\": \"o\"/", "o is no tensor that a call gives"},
        {"s/\"tensor\": \"k\"/\"tensor\": \"q\"/", "the tensor q has another shape"},
        {"s/\"tensor\": \"k\",//", "no argument is the tensor k"},
        {"s/\"returns\": \"o\"/\"returns\": \"q\"/", "q is no tensor that a call returns"},
        {"s/\"returns\": \"o\",//", "the key \"returns\" is missing"},
        {"s/aten::scaled/scaled/", "is NAMESPACE::NAME"},
        {"s/S == S_KV\"/S == Q_ROW\"/", "Q_ROW is no dimension"},
        {"s/S == S_KV\"/S == \"/", "expected"},
    };
    assert_runs(
        "mkdir %s/t && cp -r templates/attention_fwd %s/t && ln -s $PWD/templates/lib %s/t/lib",
        (char *)*state, (char *)*state, (char *)*state);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = {0};
        char path[PATH_SIZE];
        assert_runs("sed '%s' templates/attention_fwd/calls.json >%s/t/attention_fwd/calls.json",
                    rows[i].change, (char *)*state);
        snprintf(path, sizeof path, "../../../../../../../../../..%s/t/attention_fwd",
                 (char *)*state);
        struct example *example = example_new(path, attention);
        example->request.with = EXPORT_WITH_TORCH | EXPORT_WITH_CTYPES;
        example->request.force = true;
        int status = export_write(&example->request, within(*state, "att"), &error);
        assert_int_equal(status, rows[i].message == NULL ? 0 : -1);
        if (rows[i].message != NULL && strstr(error.text, rows[i].message) == NULL)
            fail_msg("%s: %s", rows[i].change, error.text);
        example_free(example);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_attention, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_others, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_files, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_names, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_mistakes, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
