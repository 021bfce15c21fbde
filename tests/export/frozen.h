/*
 * frozen: the check of an exported folder, on the emulated device: the launcher, the references,
 * setup, files and scalars, all as a user builds them.
 *
 *     export_template("csr_product", "{ \"ROWS\": 70, \"COLS\": 50, \"PER_ROW\": 12 }");
 *     accepts("csr_product");
 *     accepts_shape("csr_product", "ROWS=300 COLS=3 PER_ROW=21");
 *     refuses("csr_product", "SKIPS_FIRST");
 *
 * A template is one of FOLDER/templates, or of tests/templates.
 */
#ifndef EVOTILE_TESTS_EXPORT_FROZEN_H
#define EVOTILE_TESTS_EXPORT_FROZEN_H

#include "export/emulated_runtime.h"

#include <dlfcn.h>
#include <sys/wait.h>

static char folder[] = "/tmp/evotile-frozen-XXXXXX";

static inline void sh(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void sh(const char *format, ...) {
    char command[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    if (system(command) != 0)
        fail_msg("this failed: %s", command);
}

/* Compiles the check of FOLDER/EXPORT, whose launcher is NAME.c. */
static inline void build_check(const char *export, const char *name) {
    const char *cuda = getenv("CUDA_HOME") != NULL ? getenv("CUDA_HOME") : "/usr/local/cuda";
    sh("cd %s/code && rm -f cpu.o && flags='-O1 -w -fPIC -I%s/include' && cd ../%s && "
       "if [ -e reference.cpp ]; then g++ -std=c++17 $flags -c -o ../code/cpu.o reference.cpp; "
       "elif [ -e reference.c ]; then gcc -std=gnu11 $flags -c -o ../code/cpu.o reference.c; fi && "
       "launch=$(ls *_launch.c 2>/dev/null | sed 's|^|../%s/|'); cd ../code && "
       "gcc -std=gnu11 $flags -shared -Dmain=check_main -o ../%s/check.so ../%s/check.c ../%s/%s.c "
       "$launch $(ls cpu.o 2>/dev/null) -lm -lstdc++",
       folder, cuda, export, export, export, export, export, name);
}

/* Searches a template and exports the champions to FOLDER/NAME. Beside it, in FOLDER/code, is what
   stands for its machine code; the folder's check is FOLDER/NAME/check.so. `templates`: where the
   template is if not in FOLDER/templates; `keys`: of the config; `options`: of the export. */
static inline void export_config(const char *templates, const char *name, const char *keys,
                                 const char *options) {
    sh("cd %s && echo '{ \"template\": \"%s\", %s, \"device\": \"emulated:sm_90\", "
       "\"budget\": { \"trials\": 6 } }' >%s.json",
       folder, name, keys, name);
    sh("cd %s && EVOTILE_TEMPLATES=$ROOT/%s && export EVOTILE_TEMPLATES && "
       "{ $EVOTILE run %s.json --templates templates --out run_%s && $EVOTILE export run_%s --out "
       "%s %s; } >log 2>&1 || { cat log >&2; exit 1; }",
       folder, templates, name, name, name, name, options);
    sh("mkdir -p %s/code && cd %s/code && printf 'reference.cu\\0' >reference.cubin && "
       "printf 'setup.cu\\0' >setup.cubin && for v in $(seq $(ls ../%s/variant_*.h | wc -l)); do "
       "printf '%%s %%s\\0' $(jq -r \"(.units + (.reference_units // []))[$v-1].source\" "
       "../%s/manifest.json) $v >variant_$v.cubin; done",
       folder, folder, name, name);
    build_check(name, name);
}

/* The same of one case, and of some values of genes. */
static inline void export_some(const char *name, const char *shape, const char *genes) {
    char keys[1024];
    snprintf(keys, sizeof keys, "\"cases\": [ %s ], \"genes\": { %s }", shape, genes);
    export_config("tests/templates", name, keys, "");
}

/* Copies an export to FOLDER/COPY, whose check compares every shape with the reference on the GPU,
   and one with both references. */
static inline void copy_for_gpu_reference(const char *name, const char *copy) {
    sh("cd %s && cp -r %s %s && sed -i 's/CPU_OPERATIONS = [0-9]*/CPU_OPERATIONS = 0/' %s/verify.h",
       folder, name, copy, copy);
    build_check(copy, name);
}

static inline void export_template(const char *name, const char *shape) {
    export_some(name, shape, "");
}

/* Runs the check in a process of its own. Returns its exit status; its output is in FOLDER/out. */
static inline int run_check(const char *name, const char *argument, const char *value) {
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

static inline void accepts_saying(const char *name, const char *words) {
    static const char *const seeds[] = {NULL, "--seed=2", "--seed=77"};
    for (int i = 0; i < 3; i++) {
        int status = run_check(name, seeds[i], NULL);
        if (status != 0) {
            sh("cat %s/out >&2", folder);
            fail_msg("%s: status %d", name, status);
        }
        sh("grep -q '^all . shapes %s$' %s/out", words, folder);
    }
}

static inline void accepts(const char *name) {
    accepts_saying(name, "are correct");
}

/* A shape that cases.h does not list: its fills are computed from its dimensions. */
static inline void accepts_shape(const char *name, const char *shape) {
    int status = run_check(name, "--shape", shape);
    if (status != 0) {
        sh("cat %s/out >&2", folder);
        fail_msg("%s at %s: status %d", name, shape, status);
    }
    sh("grep -q '^the shape is correct$' %s/out", folder);
}

/* The kernel with a fault instead of none. */
static inline void refuses(const char *name, const char *fault) {
    sh("cd %s/%s && cp variant_1.h right && sed -i 's/define FAULT FAULT_NONE/define FAULT "
       "FAULT_%s/' variant_1.h && ! cmp -s right variant_1.h",
       folder, name, fault);
    int status = run_check(name, NULL, NULL);
    if (status != 1) {
        sh("cat %s/out >&2", folder);
        fail_msg("%s with the fault %s: status %d", name, fault, status);
    }
    sh("cd %s/%s && grep -Eq '^(WRONG|DIFFERS) ' ../out && mv right variant_1.h", folder, name);
}

static inline int make_folder(void **state) {
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    sh("mkdir %s/templates", folder);
    return 0;
}

/* Also makes templates with other references than their own. */
static inline int make_templates(void **state) {
    if (make_folder(state) != 0)
        return -1;
    sh("tests/export/frozen_templates %s/templates >&2", folder);
    return 0;
}

static inline int remove_folder(void **state) {
    (void)state;
    struct error error = {0};
    return path_remove_tree(folder, &error);
}

#endif
