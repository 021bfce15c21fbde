/* The exported folder builds with nvcc alone; its check finds a wrong kernel. */
#include "export/example.h"

/* Runs make with these arguments: it prints nothing. */
static void make(const char *folder, const char *name, const char *arguments) {
    assert_runs(
        "make -s -j2 -C %s/%s NVCC=%s/bin/nvcc %s >%s/log 2>&1 || { cat %s/log >&2; exit 1; }",
        folder, name, cuda_home(), arguments, folder, folder);
    assert_runs("cat %s/log >&2; test ! -s %s/log && rm %s/log", folder, folder, folder);
}

/* True if the linked program contains these bytes of machine code. */
static bool program_contains(const char *program, const void *code, size_t size) {
    struct error error = {0};
    size_t whole;
    char *bytes = path_read_file(program, 64 << 20, &whole, &error);
    must(bytes != NULL ? 0 : -1, &error);
    bool found = memmem(bytes, whole, code, size) != NULL;
    free(bytes);
    return found;
}

/* check.c as a program for a machine without a GPU: FOLDER/proof. */
static void build_stand_in(const char *folder, const char *name) {
    assert_runs("gcc -std=gnu11 -O2 -w -no-pie -I%s/include -I%s/%s -o %s/proof "
                "tests/export/check_stand_in.c %s/%s/%s.c %s/%s/reference.c "
                "-Wl,-z,lazy,--unresolved-symbols=ignore-all -lm",
                cuda_home(), folder, name, folder, folder, name, name, folder, name);
}

/* check.c accepts a correct kernel for every shape, and rejects a wrong one. */
static void verify_with_stand_in(const char *folder, const char *name) {
    build_stand_in(folder, name);
    assert_runs("%s/proof >%s/log || { cat %s/log >&2; exit 1; }", folder, folder, folder);
    assert_runs("! WRONG=1 %s/proof >%s/log", folder, folder);
    assert_runs("grep -q WRONG %s/log && ! grep -q '^ok' %s/log", folder, folder);
    assert_runs("rm %s/proof %s/log", folder, folder);
}

/* Compiles the launcher and check.c without warnings; then links everything from the exported
   machine code, from the source with `source`, and from the machine code again. Needs no GPU. */
static void build_from(const struct example *example, const char *folder, const char *name,
                       const char *source) {
    char program[PATH_SIZE];
    snprintf(program, sizeof program, "%s/%s/check.bin", folder, name);
    assert_runs("cd %s/%s && gcc -std=c11 -Wall -Wextra -Werror -I%s/include -c -o /dev/null %s.c",
                folder, name, cuda_home(), name);
    assert_runs("cd %s/%s && gcc -std=gnu11 -Wall -Wextra -Werror -I%s/include -c -o /dev/null "
                "check.c",
                folder, name, cuda_home());
    const char *const make_arguments[] = {"", source, ""};
    for (int round = 0; round < 3; round++) {
        make(folder, name, make_arguments[round]);
        for (int variant = 0; variant < example->request.variant_count; variant++) {
            const struct export_variant *exported = &example->request.variants[variant];
            char compiled[PATH_SIZE];
            size_t size;
            struct error error = {0};
            assert_int_equal(program_contains(program, exported->cubin, exported->cubin_bytes),
                             round != 1);
            if (round == 0)
                continue;
            snprintf(compiled, sizeof compiled, "%s/%s/source/variant_%d.cubin", folder, name,
                     variant + 1);
            char *code = path_read_file(compiled, 16 << 20, &size, &error);
            must(code != NULL ? 0 : -1, &error);
            assert_memory_equal(code, "\177ELF", 4);
            assert_int_equal(program_contains(program, code, size), round == 1);
            free(code);
        }
    }
    assert_runs("cd %s/%s/source && gcc -std=gnu11 -Wall -Wextra -Werror -I%s/include -c -o "
                "/dev/null ../reference_launch.c",
                folder, name, cuda_home());
    assert_runs("! make -s -C %s/%s ARCH=sm_89 2>%s/log && grep -q SOURCE=1 %s/log", folder, name,
                folder, folder);
}

/* The source is compiled for another GPU. */
static void build(const struct example *example, const char *folder, const char *name) {
    build_from(example, folder, name, "SOURCE=1 ARCH=sm_89");
}

static void test_one_unit(void **state) {
    struct error error = {0};
    struct example *example = example_new("softmax_rows", one_case);
    must(export_write(&example->request, within(*state, "rows"), &error), &error);
    const char *header = within(*state, "rows/variant_1.h");
    assert_true(file_contains(header, "THREADS=128"));
    assert_true(file_contains(header, "#define THREADS 128\n"));
    assert_true(file_contains(header, "p50 8.25 us"));
    const char *kernel = within(*state, "rows/kernel.cu");
    assert_true(file_contains(kernel, "replay: evotile replay kernels/example"));
    assert_false(file_contains(kernel, "#include \"lib/"));
    verify_with_stand_in(*state, "rows");
    build(example, *state, "rows");
    example_free(example);
}

/* A sum that is judged by its magnitudes, which both references write; next to no error bound. */
static void test_magnitudes(void **state) {
    struct error error = {0};
    struct example *example = example_new("../tests/templates/sum_two_pass", "[{\"N\": 1000}]");
    must(export_write(&example->request, within(*state, "sum"), &error), &error);
    const char *cases = within(*state, "sum/cases.h");
    assert_true(file_contains(cases, "{BOUND, {1, 0, 3.8"));
    assert_true(file_contains(cases, "then magnitudes, as doubles"));
    assert_true(
        file_contains(within(*state, "sum/reference_launch.c"), "{.pointer = magnitudes[0]}"));
    assert_false(file_contains(within(*state, "sum/sum.h"), "magnitude"));
    verify_with_stand_in(*state, "sum");
    build(example, *state, "sum");
    example_free(example);
}

/* The last case has another genome, which needs a workspace; the others do not. */
static void test_several_units(void **state) {
    struct error error = {0};
    struct example *example = example_new("attention_fwd", three_cases);
    must(genome_parse(&example->genomes[2], example->template->space, "KV_SPLITS=4,PERSISTENT=2",
                      &error),
         &error);
    example_request(example);
    assert_int_equal(example->request.variant_count, 2);
    assert_int_equal(example->cases[1].variant, 0);
    assert_int_equal(example->cases[2].variant, 1);
    must(export_write(&example->request, within(*state, "attention"), &error), &error);
    verify_with_stand_in(*state, "attention");
    if (getenv("EVOTILE_LONG") != NULL) // else test_two_solutions builds another such folder
        build(example, *state, "attention");
    example_free(example);
}

/* The second case has a genome of another solution, which is compiled for another architecture and
   needs no workspace, as the third one does. */
static void test_two_solutions(void **state) {
    struct error error = {0};
    struct example *example = example_new("attention_fwd", three_cases);
    example_load_other(example, "hopper");
    example->of_other[1] = true;
    example->genomes[1] = genome_default(example->other->space);
    must(genome_parse(&example->genomes[2], example->template->space, "KV_SPLITS=4,PERSISTENT=2",
                      &error),
         &error);
    example_request(example);
    assert_int_equal(example->request.variant_count, 3);
    must(export_write(&example->request, within(*state, "attention"), &error), &error);
    const char *header = within(*state, "attention/attention.h");
    assert_true(file_contains(header, " 9.25 us, hopper\n"));
    assert_true(file_contains(header, "FlashAttention forward, half or bf16"));
    const char *makefile = within(*state, "attention/Makefile");
    assert_true(file_contains(makefile, "source/variant_2.cubin: kernel_hopper.cu\n"));
    assert_true(file_contains(makefile, "source/variant_2.cubin: tuned_arch := sm_90a\n"));
    assert_true(file_contains(makefile, "source/variant_3.cubin: tuned_arch := sm_90\n"));
    assert_true(file_contains(makefile, "TUNED_ARCH := sm_90a\n"));
    verify_with_stand_in(*state, "attention");
    build_from(example, *state, "attention", "SOURCE=1");
    assert_true(program_contains(within(*state, "attention/source/variant_2.cubin"),
                                 "attention_fwd_hopper", 20));
    example_free(example);
}

/* Runs the stand-in with these arguments: its exit status, and its output in FOLDER/log. */
static void expect_run(const char *folder, int status, const char *environment,
                       const char *arguments, const char *expected) {
    assert_runs("%s %s/proof %s >%s/log 2>&1; test $? = %d || { cat %s/log >&2; exit 1; }",
                environment, folder, arguments, folder, status, folder);
    if (!file_contains(within(folder, "log"), expected))
        fail_msg("%s prints no \"%s\" but: %s", arguments, expected,
                 read_text(within(folder, "log")));
}

/* A shape of the user's is verified, small ones against the CPU reference and large ones against
   that on the GPU, which a third comparison proves; a bad shape is refused in one line. */
static void test_shape(void **state) {
    static const struct {
        const char *shape, *refusal;
    } refused[] = {
        {"B=1 H=2 S=64", "--shape: D is missing: give 64 or 32 or 96 or 128 or 192 or 256"},
        {"B=1 H=2 S=64 D=48", "--shape: D=48: give 64 or 32 or 96 or 128 or 192 or 256"},
        {"B=0 H=2 S=64 D=64", "--shape: B=0: give 1 to 65535"},
        {"B=two H=2 S=64 D=64", "--shape: B=two: give 1 to 65535"},
        {"B=1 H=2 S=64 D=64 SCALE=-1", "--shape: SCALE=-1: give at least 0"},
        {"B=1 H=2 S=64 D=64 X=1", "--shape: there is no dimension X: give some of B, H, H_KV, S,"},
        {"B=1 B=1", "--shape: B is given twice"},
        {"B", "--shape: \"B\" gives no number: write NAME=NUMBER"},
        {"B=1 H=2 S=64 D=128",
         "--shape: no kernel takes B=1,H=2,S=64,D=128: there are kernels for D=64,CAUSAL=0,BF16=0,"
         "DV=64,WINDOW=0,SOFT_CAP=0,SINKS=0,VARLEN=0 (verified: B 1 to 4, H 1 to 24, "},
        {"B=1 H=3 H_KV=2 S=64 D=64", "--shape: no kernel takes B=1,H=3,H_KV=2,S=64,D=64: there"},
    };
    struct error error = {0};
    struct example *example = example_new("attention_fwd", three_cases);
    for (int c = 0; c < 3; c++)
        example->outcomes[c].bound = (struct errors){1e-3, 2e-3, 0};
    must(export_write(&example->request, within(*state, "attention"), &error), &error);
    build_stand_in(*state, "attention");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char arguments[NAME_SIZE * 2];
        snprintf(arguments, sizeof arguments, "--shape '%s'", refused[i].shape);
        expect_run(*state, 2, "", arguments, refused[i].refusal);
        assert_runs("test $(wc -l <%s/log) = 1", (char *)*state);
    }
    const char *small = "--shape 'B=1,H=2 S=40 D=64 SCALE=0.25'";
    expect_run(*state, 0, "", small, "ok    B=1,H=2,S=40,D=64,SCALE=0.25 ");
    expect_run(*state, 0, "", small, " CPU\nthe shape is correct\n");
    expect_run(*state, 1, "WRONG=1", small, "WRONG B=1,H=2,S=40,D=64");
    expect_run(*state, 0, "WRONG_REFERENCE=1", small, "the shape is correct");
    const char *large = "--shape 'B=1 H=1 S=1024 D=64 LSE=1'";
    expect_run(*state, 0, "", large,
               " GPU  outside the verified ranges\nreference.cu, on the "
               "GPU, agrees with reference.c at ");
    expect_run(*state, 1, "WRONG=1", large, "1 of 1 shapes are WRONG");
    expect_run(*state, 1, "WRONG_REFERENCE=1", large, "reference.cu, on the GPU, is WRONG");
    expect_run(*state, 1, "WRONG_REFERENCE=1", large, "WRONG B=1,H=1,S=1024,D=64,LSE=1 ");
    expect_run(*state, 0, "", "--json --shape 'B=1 H=1 S=1024 D=64'",
               "\"reference\": \"gpu\", \"verified_range\": false");
    assert_runs("python3 -m json.tool <%s/log >/dev/null", (char *)*state);
    expect_run(*state, 0, "", "--json --shape 'B=1 H=8 S=512 D=64'",
               "{\"name\": \"B=1,H=8,S=512,D=64\", \"ok\": true");
    example_free(example);
}

/* In a build of one's own: from any directory, by both compilers, called from C++. */
static void test_own_build(void **state) {
    static const char *const compilers[] = {"gcc", "clang"};
    struct error error = {0};
    struct example *example = example_new("softmax_rows", one_case);
    const char *folder = within(*state, "my kernels/rows");
    must(export_write(&example->request, folder, &error), &error);
    for (int i = 0; i < 2; i++) {
        const char *library = within(*state, compilers[i]);
        assert_runs(
            "cd / && %s -std=c11 -O2 -Wall -Wextra -Wno-unused-function -Werror -fPIC -shared "
            "-I'%s' -I%s/include -o %s '%s/rows.c'",
            compilers[i], folder, cuda_home(), library, folder);
        assert_true(
            program_contains(library, example->cubins[0], example->variants[0].cubin_bytes));
    }
    assert_runs("echo 'int main() { return rows_launch(nullptr, nullptr, nullptr, 0, nullptr) != "
                "ROWS_NO_ARGUMENT; }' >'%s/caller.cpp'",
                folder);
    for (int standard = 11; standard <= 20; standard += 9)
        assert_runs("cd '%s' && for compiler in g++ clang++; do $compiler -std=c++%d -Wall -Wextra "
                    "-pedantic -Wshadow -Wold-style-cast -Werror -fsyntax-only -isystem "
                    "%s/include -include ./rows.h caller.cpp || exit 1; done",
                    folder, standard, cuda_home());
    assert_runs("cd / && make -s -C '%s' NVCC=%s/bin/nvcc && cd '%s' && g++ -I%s/include -include "
                "rows.h -o caller caller.cpp librows.a -Wl,--unresolved-symbols=ignore-all "
                "-Wl,-z,lazy -no-pie && ./caller",
                folder, cuda_home(), folder, cuda_home());
    example_free(example);
}

static const char caller[] =
    "#include <rows.h>\n"
    "int main(void) { return rows_launch(0, 0, 0, 0, 0) != ROWS_NO_ARGUMENT; }\n";

/* As a shared library, installed, and found by pkg-config there and in the folder. */
static void test_shared(void **state) {
    struct error error = {0};
    const char *folder = *state;
    struct example *example = example_new("softmax_rows", one_case);
    must(export_write(&example->request, within(folder, "rows"), &error), &error);
    must(path_write_file(within(folder, "caller.c"), caller, strlen(caller), &error), &error);
    make(folder, "rows", "shared");
    make(folder, "rows", "install DESTDIR=../root prefix=/opt/my");
    assert_true(program_contains(within(folder, "rows/librows.so"), example->cubins[0],
                                 example->variants[0].cubin_bytes));
    assert_runs("cd %s && nm -D --defined-only rows/librows.so | sed 's/.* //' | tr '\\n' ' ' | "
                "grep -qx 'rows_error_string rows_launch rows_launch_unverified "
                "rows_workspace_bytes '",
                folder);
    /* What was installed below DESTDIR says where it will be. */
    assert_runs("cd %s && sed -i 's|^prefix=/opt/my$|prefix=root/opt/my|' "
                "root/opt/my/lib/pkgconfig/rows.pc && for where in rows root/opt/my/lib/pkgconfig; "
                "do gcc -o called caller.c $(PKG_CONFIG_PATH=$where pkg-config "
                "--define-variable=cuda=%s --cflags --libs rows) "
                "-Wl,--unresolved-symbols=ignore-all -Wl,-z,lazy && readelf -d called | "
                "grep -q 'NEEDED.*librows.so' && rm called || exit 1; done",
                folder, cuda_home());
    example_free(example);
}

/* As a part of a CMake build, and as an installed package. */
static void test_cmake(void **state) {
    static const char project[] = "cmake_minimum_required(VERSION 3.18)\nproject(p LANGUAGES C)\n"
                                  "if(FROM_FOLDER)\nadd_subdirectory(../rows rows)\nelse()\n"
                                  "find_package(rows REQUIRED)\nendif()\n"
                                  "add_executable(called ../caller.c)\n"
                                  "target_link_libraries(called rows::rows)\n";
    struct error error = {0};
    const char *folder = *state;
    if (getenv("EVOTILE_LONG") == NULL || system("command -v cmake >/dev/null") != 0)
        skip();
    struct example *example = example_new("softmax_rows", one_case);
    must(export_write(&example->request, within(folder, "rows"), &error), &error);
    must(path_make_folder(within(folder, "p"), &error), &error);
    must(path_write_file(within(folder, "caller.c"), caller, strlen(caller), &error), &error);
    must(path_write_file(within(folder, "p/CMakeLists.txt"), project, strlen(project), &error),
         &error);
    assert_runs("cd %s && export CUDAToolkit_ROOT=%s && { cmake -S p -B inside -DFROM_FOLDER=ON && "
                "cmake --build inside && cmake -S rows -B alone -DBUILD_SHARED_LIBS=ON && "
                "cmake --build alone && cmake --install alone --prefix $PWD/root && "
                "cmake -S p -B outside -Drows_ROOT=$PWD/root && cmake --build outside; } >log 2>&1 "
                "|| { cat log >&2; exit 1; }",
                folder, cuda_home());
    assert_true(program_contains(within(folder, "inside/called"), example->cubins[0],
                                 example->variants[0].cubin_bytes));
    assert_true(path_exists(within(folder, "outside/called")));
    example_free(example);
}

/* Without a GPU, with or without a driver, `make check` says so, runs the CPU reference and fails.
 */
static void test_no_gpu(void **state) {
    struct error error = {0};
    struct example *example = example_new("softmax_rows", one_case);
    must(export_write(&example->request, within(*state, "rows"), &error), &error);
    make(*state, "rows", "no_driver.bin");
    assert_runs("cd %s/rows && { CUDA_VISIBLE_DEVICES= ./no_driver.bin 2>../log; test $? = 3; } && "
                "! CUDA_VISIBLE_DEVICES= make -s NVCC=%s/bin/nvcc check 2>>../log && "
                "test $(grep -c '^check: .*libcuda.so.1.*; the CPU reference runs$' ../log) = 2",
                (const char *)*state, cuda_home());
    assert_runs("cd %s/rows && for target in check bench; do "
                "! CUDA_VISIBLE_DEVICES= make -s NVCC=%s/bin/nvcc $target SHAPE='ROWS=9 COLS=7' "
                "2>../log || exit 1; grep -q 'the kernel was not verified' ../log || exit 1; done; "
                "! make -s NVCC=%s/bin/nvcc check SHAPE='ROWS=9 COLS=7 F32=1' 2>../log && "
                "grep -q '^check: --shape: no kernel takes ROWS=9,COLS=7,F32=1: there are kernels "
                "for F32=0 (verified: ROWS ' ../log",
                (const char *)*state, cuda_home(), cuda_home());
    example_free(example);
}

int main(void) {
#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(test_one_unit),      FOLDER_TEST(test_magnitudes),
        FOLDER_TEST(test_several_units), FOLDER_TEST(test_two_solutions),
        FOLDER_TEST(test_shape),         FOLDER_TEST(test_own_build),
        FOLDER_TEST(test_shared),        FOLDER_TEST(test_cmake),
        FOLDER_TEST(test_no_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
