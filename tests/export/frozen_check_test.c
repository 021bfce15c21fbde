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

/* Searches a template and exports the champions to FOLDER/NAME. Beside it, in FOLDER/code, is what
   stands for its machine code; the folder's check is FOLDER/NAME/check.so. `templates`: where the
   template is; `options`: of the export. */
static void export_config(const char *templates, const char *name, const char *keys,
                          const char *options) {
    const char *cuda = getenv("CUDA_HOME") != NULL ? getenv("CUDA_HOME") : "/usr/local/cuda";
    sh("cd %s && echo '{ \"template\": \"%s\", %s, \"device\": \"emulated:sm_90\", "
       "\"budget\": { \"trials\": 6 } }' >%s.json",
       folder, name, keys, name);
    sh("cd %s && EVOTILE_TEMPLATES=$ROOT/%s && export EVOTILE_TEMPLATES && "
       "{ $EVOTILE run %s.json --out run_%s && $EVOTILE export run_%s --out %s %s; } >log 2>&1 || "
       "{ cat log >&2; exit 1; }",
       folder, templates, name, name, name, name, options);
    sh("mkdir -p %s/code && cd %s/code && printf 'reference.cu\\0' >reference.cubin && "
       "printf 'setup.cu\\0' >setup.cubin && for v in $(seq $(ls ../%s/variant_*.h | wc -l)); do "
       "printf '%%s %%s\\0' $(jq -r .units[$v-1].source ../%s/manifest.json) $v >variant_$v.cubin; "
       "done",
       folder, folder, name, name);
    sh("cd %s/code && gcc -std=gnu11 -O1 -w -fPIC -shared -Dmain=check_main -I%s/include "
       "-o ../%s/check.so ../%s/check.c ../%s/%s.c ../%s/reference.c ../%s/*_launch.c -lm",
       folder, cuda, name, name, name, name, name, name);
}

/* The same of one case. */
static void export_template(const char *name, const char *shape) {
    char keys[512];
    snprintf(keys, sizeof keys, "\"cases\": [ %s ]", shape);
    export_config("tests/templates", name, keys, "");
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
        cmocka_unit_test(magnitudes_of_a_mean),    cmocka_unit_test(two_solutions),
        cmocka_unit_test(maps_and_workspaces),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
