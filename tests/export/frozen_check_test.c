/* The check of an exported folder, on the emulated device: the launcher, both references, setup,
   files and scalars, all as a user builds them. It accepts the kernel that was exported; and it
   refuses that kernel with the faults that the inputs are there for. */
#include "export/emulated_runtime.h"

#include <dlfcn.h>
#include <sys/wait.h>

static char folder[] = "/tmp/evotile-frozen-XXXXXX";

static void sh(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void sh(const char *format, ...) {
    char command[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    if (system(command) != 0)
        fail_msg("this failed: %s", command);
}

/* Searches some genes of a template on one case and exports the champion to FOLDER/NAME. Beside it,
   in FOLDER/code, is what stands for its machine code; the folder's check is FOLDER/NAME/check.so.
 */
static void export_some(const char *name, const char *shape, const char *genes) {
    const char *cuda = getenv("CUDA_HOME") != NULL ? getenv("CUDA_HOME") : "/usr/local/cuda";
    sh("cd %s && echo '{ \"template\": \"%s\", \"cases\": [ %s ], \"device\": \"emulated:sm_90\", "
       "\"budget\": { \"trials\": 6 }, \"genes\": { %s } }' >%s.json",
       folder, name, shape, genes, name);
    sh("cd %s && EVOTILE_TEMPLATES=$ROOT/tests/templates && export EVOTILE_TEMPLATES && "
       "{ $EVOTILE run %s.json --out run_%s && $EVOTILE export run_%s --out %s; } >log 2>&1 || "
       "{ cat log >&2; exit 1; }",
       folder, name, name, name, name);
    sh("mkdir -p %s/code && cd %s/code && printf 'reference.cu\\0' >reference.cubin && "
       "printf 'setup.cu\\0' >setup.cubin && printf 'kernel.cu 1\\0' >variant_1.cubin",
       folder, folder);
    sh("cd %s/code && gcc -std=gnu11 -O1 -w -fPIC -shared -Dmain=check_main -I%s/include "
       "-o ../%s/check.so ../%s/check.c ../%s/%s.c ../%s/reference.c ../%s/*_launch.c -lm",
       folder, cuda, name, name, name, name, name, name);
}

static void export_template(const char *name, const char *shape) {
    export_some(name, shape, "");
}

/* Runs the check in a process of its own. Returns its exit status; its output is in FOLDER/out. */
static int run_check(const char *name, const char *argument, const char *value) {
    char path[PATH_SIZE];
    pid_t child = fork();
    int status;
    if (child == 0) {
        snprintf(path, sizeof path, "%s/%s", folder, name);
        setenv("EVOTILE_DEVICES", "configs/devices", 0);
        char *devices = realpath(getenv("EVOTILE_DEVICES"), NULL);
        setenv("EVOTILE_DEVICES", devices, 1);
        if (chdir(path) < 0 || freopen("../out", "w", stdout) == NULL)
            _exit(9);
        emulated_folder = ".";
        void *program = dlopen("./check.so", RTLD_LAZY);
        int (*check_main)(int, char **) =
            program != NULL ? (int (*)(int, char **))dlsym(program, "check_main") : NULL;
        if (check_main == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            _exit(9);
        }
        char *arguments[] = {"check", (char *)argument, (char *)value, NULL};
        status = check_main(argument == NULL ? 1 : value == NULL ? 2 : 3, arguments);
        fflush(stdout);
        _exit(status);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void accepts(const char *name) {
    static const char *const seeds[] = {NULL, "--seed=2", "--seed=77"};
    for (int i = 0; i < 3; i++) {
        int status = run_check(name, seeds[i], NULL);
        if (status != 0) {
            sh("cat %s/out >&2", folder);
            fail_msg("%s: status %d", name, status);
        }
        sh("grep -q '^all . shapes are correct$' %s/out", folder);
    }
}

/* A shape that cases.h does not list: its fills are computed from its dimensions. */
static void accepts_shape(const char *name, const char *shape) {
    int status = run_check(name, "--shape", shape);
    if (status != 0) {
        sh("cat %s/out >&2", folder);
        fail_msg("%s at %s: status %d", name, shape, status);
    }
    sh("grep -q '^the shape is correct$' %s/out", folder);
}

/* The kernel with a fault instead of none. */
static void refuses(const char *name, const char *fault) {
    sh("cd %s/%s && cp variant_1.h right && sed -i 's/define FAULT FAULT_NONE/define FAULT "
       "FAULT_%s/' variant_1.h && ! cmp -s right variant_1.h",
       folder, name, fault);
    int status = run_check(name, NULL, NULL);
    if (status != 1) {
        sh("cat %s/out >&2", folder);
        fail_msg("%s with the fault %s: status %d", name, fault, status);
    }
    sh("cd %s/%s && grep -q '^WRONG' ../out && mv right variant_1.h", folder, name);
}

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

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state) {
    (void)state;
    struct error error = {0};
    return path_remove_tree(folder, &error);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_made_by_setup), cmocka_unit_test(a_page_table_made_by_setup),
        cmocka_unit_test(fills_files_and_scalars), cmocka_unit_test(a_changed_file_is_read),
        cmocka_unit_test(magnitudes_of_a_mean),    cmocka_unit_test(kernels_that_are_templates),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
