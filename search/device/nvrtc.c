#include "device/nvrtc.h"

#include "base/memory.h"
#include "base/path.h"
#include "base/strbuf.h"

#include <dlfcn.h>
#include <nvrtc.h>
#include <stdlib.h>
#include <string.h>

/* Every NVRTC function in use; the list generates the table and the lookup. */
#define NVRTC_FUNCTIONS(X)                                                                         \
    X(nvrtcVersion)                                                                                \
    X(nvrtcGetErrorString)                                                                         \
    X(nvrtcCreateProgram)                                                                          \
    X(nvrtcDestroyProgram)                                                                         \
    X(nvrtcAddNameExpression)                                                                      \
    X(nvrtcCompileProgram)                                                                         \
    X(nvrtcGetLoweredName)                                                                         \
    X(nvrtcGetProgramLogSize)                                                                      \
    X(nvrtcGetProgramLog)                                                                          \
    X(nvrtcGetCUBINSize)                                                                           \
    X(nvrtcGetCUBIN)                                                                               \
    X(nvrtcGetPTXSize)                                                                             \
    X(nvrtcGetPTX)                                                                                 \
    X(nvrtcGetNumSupportedArchs)                                                                   \
    X(nvrtcGetSupportedArchs)

enum { INCLUDES_MAX = 2, COMPILE_OPTIONS_MAX = 64, IMAGE_BYTES_MAX = 32 << 20 };

struct nvrtc {
    void *library;
    char version[16];
    int include_count;
    char includes[INCLUDES_MAX][PATH_SIZE]; /* include options for the toolkit's headers */
    struct image_cache cache;
    struct resource_budget budget;
#define X(name) __typeof__(&name) name;
    NVRTC_FUNCTIONS(X)
#undef X
};

#ifndef EVOTILE_CUDA_HOME
#define EVOTILE_CUDA_HOME "/usr/local/cuda"
#endif

enum { TOOLKITS = 3 };

/* Possible toolkit folders; some are NULL or empty. */
static void find_toolkits(const char *folders[TOOLKITS]) {
    folders[0] = getenv("CUDA_HOME");
    folders[1] = EVOTILE_CUDA_HOME;
    folders[2] = "/usr/local/cuda";
}

static void *open_library(void) {
    const char *folders[TOOLKITS];
    char path[4096];
    find_toolkits(folders);
    for (int i = 0; i < TOOLKITS; i++) {
        if (folders[i] == NULL || *folders[i] == '\0')
            continue;
        snprintf(path, sizeof path, "%s/lib64/libnvrtc.so", folders[i]);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library == NULL)
            continue;
        /* NVRTC opens libnvrtc-builtins by name alone, which outside the loader's path succeeds
           only if it is already loaded. */
        snprintf(path, sizeof path, "%s/lib64/libnvrtc-builtins.so", folders[i]);
        dlopen(path, RTLD_NOW | RTLD_LOCAL);
        return library;
    }
    const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library != NULL)
            return library;
    }
    return NULL;
}

/* NVRTC has no default include path. */
static void find_headers(struct nvrtc *nvrtc) {
    static const char *const places[INCLUDES_MAX] = {"include", "include/cccl"};
    const char *folders[TOOLKITS];
    find_toolkits(folders);
    for (int i = 0; i < TOOLKITS && nvrtc->include_count == 0; i++)
        for (int p = 0; p < INCLUDES_MAX && folders[i] != NULL && *folders[i] != '\0'; p++) {
            char *option = nvrtc->includes[nvrtc->include_count];
            int length = snprintf(option, PATH_SIZE, "-I%s/%s", folders[i], places[p]);
            nvrtc->include_count += length < PATH_SIZE && path_is_dir(option + strlen("-I"));
        }
}

struct nvrtc *nvrtc_open(struct error *error) {
    void *library = open_library();
    if (library == NULL) {
        error_set(error, "NVRTC not found: install the CUDA Toolkit 12.4 or later, or set "
                         "CUDA_HOME to the folder that holds its lib64");
        return NULL;
    }
    struct nvrtc *nvrtc = xcalloc(1, sizeof *nvrtc);
    nvrtc->library = library;
    const char *missing = NULL;
#define X(name)                                                                                    \
    nvrtc->name = (__typeof__(&name))dlsym(library, #name);                                        \
    if (nvrtc->name == NULL)                                                                       \
        missing = #name;
    NVRTC_FUNCTIONS(X)
#undef X
    if (missing != NULL) {
        error_set(error, "this NVRTC lacks %s: install the CUDA Toolkit 12.4 or later", missing);
        nvrtc_close(nvrtc);
        return NULL;
    }
    int major = 0;
    int minor = 0;
    nvrtc->nvrtcVersion(&major, &minor);
    snprintf(nvrtc->version, sizeof nvrtc->version, "%d.%d", major, minor);
    find_headers(nvrtc);
    return nvrtc;
}

void nvrtc_close(struct nvrtc *nvrtc) {
    if (nvrtc == NULL)
        return;
    /* libnvrtc is not unloaded: it would leak what it allocated. */
    free(nvrtc);
}

void nvrtc_use_cache(struct nvrtc *nvrtc, const struct image_cache *cache) {
    nvrtc->cache = cache != NULL ? *cache : (struct image_cache){0};
}

void nvrtc_set_budget(struct nvrtc *nvrtc, const struct resource_budget *budget) {
    nvrtc->budget = *budget;
}

const struct image_cache *nvrtc_cache(const struct nvrtc *nvrtc) {
    return &nvrtc->cache;
}

int nvrtc_header_folders(const struct nvrtc *nvrtc, const char **folders, int limit) {
    int count = nvrtc->include_count < limit ? nvrtc->include_count : limit;
    for (int i = 0; i < count; i++)
        folders[i] = nvrtc->includes[i] + strlen("-I");
    return count;
}

const char *nvrtc_version(const struct nvrtc *nvrtc) {
    return nvrtc->version;
}

bool nvrtc_supports(const struct nvrtc *nvrtc, int compute_capability) {
    int count = 0;
    bool found = false;
    if (nvrtc->nvrtcGetNumSupportedArchs(&count) != NVRTC_SUCCESS || count <= 0)
        return false;
    int *supported = xcalloc((size_t)count, sizeof *supported);
    if (nvrtc->nvrtcGetSupportedArchs(supported) == NVRTC_SUCCESS)
        for (int i = 0; i < count; i++)
            found = found || supported[i] == compute_capability;
    free(supported);
    return found;
}

/* The limit of static shared memory. Beyond it ptxas fails with no message except in its report. */
enum { STATIC_SMEM_MAX = 48 << 10 };

static int declared_smem(const char *log) {
    int most = 0;
    for (const char *at = log; (at = strstr(at, " bytes smem")) != NULL; at++) {
        const char *digits = at;
        while (digits > log && digits[-1] >= '0' && digits[-1] <= '9')
            digits--;
        most = atoi(digits) > most ? atoi(digits) : most;
    }
    return most;
}

/* Extracts the first line of the log with an error; else reports excessive static shared memory;
   else copies the first line. */
static void extract_first_error(const char *log, char *reason) {
    static const char *const words[] = {"error", "ptxas fatal"};
    const char *at = NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words && at == NULL; i++)
        at = strstr(log, words[i]);
    while (at != NULL && at > log && at[-1] != '\n')
        at--;
    int smem_bytes = declared_smem(log);
    if (at == NULL && smem_bytes > STATIC_SMEM_MAX) {
        snprintf(reason, REASON_SIZE,
                 "a kernel declares %d bytes of shared memory; at most %d can be declared",
                 smem_bytes, STATIC_SMEM_MAX);
        return;
    }
    if (at == NULL)
        at = log;
    snprintf(reason, REASON_SIZE, "%.*s", (int)strcspn(at, "\n"), at);
}

/* The front end reports that it has no memory as an error of the source. */
static void name_memory_limit(const struct nvrtc *nvrtc, char *reason) {
    if (strstr(reason, "out of memory") != NULL && nvrtc->budget.memory_bytes > 0)
        snprintf(reason, REASON_SIZE,
                 "the compiler ran out of memory: the limit of a compilation is %lld MB",
                 (long long)(nvrtc->budget.memory_bytes >> 20));
}

typedef nvrtcResult (*size_function)(nvrtcProgram, size_t *);
typedef nvrtcResult (*text_function)(nvrtcProgram, char *);

/* Returns a NUL-terminated copy of one of the program's outputs, or NULL. */
static char *program_output(nvrtcProgram program, size_function size_of, text_function get,
                            size_t *bytes) {
    if (size_of(program, bytes) != NVRTC_SUCCESS)
        return NULL;
    char *copy = xcalloc(1, *bytes + 1);
    if (get(program, copy) == NVRTC_SUCCESS)
        return copy;
    free(copy);
    return NULL;
}

/* Writes the reason if an output is larger than any that is useful: a device array with an
   initialiser can have gigabytes. */
static bool is_too_large(const struct nvrtc *nvrtc, nvrtcProgram program, char *reason) {
    size_t cubin_bytes = 0, ptx_bytes = 0;
    if (nvrtc->nvrtcGetCUBINSize(program, &cubin_bytes) != NVRTC_SUCCESS ||
        nvrtc->nvrtcGetPTXSize(program, &ptx_bytes) != NVRTC_SUCCESS)
        return false;
    size_t bytes = cubin_bytes > ptx_bytes ? cubin_bytes : ptx_bytes;
    if (bytes <= IMAGE_BYTES_MAX)
        return false;
    snprintf(reason, REASON_SIZE, "the machine code or PTX has %zu MB: at most %d MB are taken",
             bytes >> 20, IMAGE_BYTES_MAX >> 20);
    return true;
}

static nvrtcResult compile_within_budget(struct nvrtc *nvrtc, nvrtcProgram handle,
                                         const struct nvrtc_program *program) {
    const char *options[COMPILE_OPTIONS_MAX];
    const int count = program->option_count + nvrtc->include_count;
    if (count > COMPILE_OPTIONS_MAX)
        BUG("%d options for NVRTC", count);
    for (int i = 0; i < count; i++)
        options[i] = i < program->option_count ? program->options[i]
                                               : nvrtc->includes[i - program->option_count];
    for (int i = 0; i < program->kernel_count; i++) {
        nvrtcResult status = nvrtc->nvrtcAddNameExpression(handle, program->kernels[i]);
        if (status != NVRTC_SUCCESS)
            return status;
    }
    if (nvrtc->budget.memory_bytes == 0 && nvrtc->budget.cpu_s == 0)
        return nvrtc->nvrtcCompileProgram(handle, count, options);
    resource_budget_begin(&nvrtc->budget);
    nvrtcResult status = nvrtc->nvrtcCompileProgram(handle, count, options);
    resource_budget_end();
    return status;
}

/* Each name expression and its name in the machine code, in two lines. NULL: a name is missing. */
static char *list_kernels(const struct nvrtc *nvrtc, nvrtcProgram handle,
                          const struct nvrtc_program *program) {
    struct strbuf text = {0};
    strbuf_add(&text, "", 0);
    for (int i = 0; i < program->kernel_count; i++) {
        const char *name;
        if (nvrtc->nvrtcGetLoweredName(handle, program->kernels[i], &name) != NVRTC_SUCCESS) {
            strbuf_release(&text);
            return NULL;
        }
        strbuf_print(&text, "%s\n%s\n", program->kernels[i], name);
    }
    return text.bytes;
}

/* NVRTC reports a wrong name expression as an error of a file that it makes of them, with its line:
   "__nv_name_map(2): error: WHY", then "  #pragma nv_mangled_name EXPRESSION". */
static void name_expression(const char *name, const char *log, char *reason) {
    static const char file[] = "__nv_name_map(",
                      mark[] = "): error: ", line[] = "#pragma nv_mangled_name ";
    char why[REASON_SIZE];
    const char *at = strstr(reason, mark), *quoted = log != NULL ? strstr(log, line) : NULL;
    if (strncmp(reason, file, sizeof file - 1) != 0 || at == NULL || quoted == NULL)
        return;
    strcpy(why, at + sizeof mark - 1);
    quoted += sizeof line - 1;
    snprintf(reason, REASON_SIZE, "%s has no kernel %.*s: %.250s", name, (int)strcspn(quoted, "\n"),
             quoted, why);
}

static int compile_program(struct nvrtc *nvrtc, const struct nvrtc_program *what,
                           struct device_image *image, char *reason, struct error *error) {
    nvrtcProgram program;
    size_t bytes = 0;
    int result = -1;
    nvrtcResult status =
        nvrtc->nvrtcCreateProgram(&program, what->source, what->name, 0, NULL, NULL);
    if (status != NVRTC_SUCCESS)
        return error_set(error, "NVRTC cannot start: %s", nvrtc->nvrtcGetErrorString(status));
    *image = (struct device_image){.name = what->name};
    status = compile_within_budget(nvrtc, program, what);
    image->log =
        program_output(program, nvrtc->nvrtcGetProgramLogSize, nvrtc->nvrtcGetProgramLog, &bytes);
    if (status == NVRTC_ERROR_COMPILATION || status == NVRTC_ERROR_INVALID_OPTION) {
        extract_first_error(image->log != NULL ? image->log : "no log", reason);
        name_expression(what->name, image->log, reason);
        name_memory_limit(nvrtc, reason);
        result = 1;
    } else if (status == NVRTC_ERROR_OUT_OF_MEMORY || status == NVRTC_ERROR_INTERNAL_ERROR) {
        /* of this source; the next one may compile */
        snprintf(reason, REASON_SIZE, "%s",
                 status == NVRTC_ERROR_OUT_OF_MEMORY ? "out of memory" : "the compiler failed");
        name_memory_limit(nvrtc, reason);
        result = 1;
    } else if (status == NVRTC_SUCCESS && is_too_large(nvrtc, program, reason)) {
        result = 1;
    } else if (status != NVRTC_SUCCESS) {
        error_set(error, "NVRTC failed: %s", nvrtc->nvrtcGetErrorString(status));
    } else {
        image->cubin = program_output(program, nvrtc->nvrtcGetCUBINSize, nvrtc->nvrtcGetCUBIN,
                                      &image->cubin_bytes);
        image->ptx = program_output(program, nvrtc->nvrtcGetPTXSize, nvrtc->nvrtcGetPTX, &bytes);
        image->kernels = list_kernels(nvrtc, program, what);
        if (image->cubin != NULL && image->ptx != NULL && image->log != NULL &&
            image->kernels != NULL)
            result = 0;
        else
            error_set(error, "NVRTC gave no machine code: name a real architecture (sm_XX)");
    }
    nvrtc->nvrtcDestroyProgram(&program);
    if (result == 1 && what->log != NULL) {
        *what->log = (char *)image->log;
        image->log = NULL;
    }
    if (result != 0)
        nvrtc_image_release(image);
    return result;
}

/* A strong one: the sources are strangers', and the machine code of one is not another's. */
static struct hash image_hash(const struct nvrtc *nvrtc, const struct nvrtc_program *program) {
    struct hasher *hasher = hasher_new_strong();
    hasher_add_text(hasher, nvrtc->version);
    for (int i = 0; i < program->option_count; i++)
        hasher_add_text(hasher, program->options[i]);
    hasher_add_text(hasher, program->name); /* fault messages and reports include the name */
    hasher_add_text(hasher, program->source);
    for (int i = 0; i < program->kernel_count; i++)
        hasher_add_text(hasher, program->kernels[i]);
    return hasher_finish(hasher);
}

int nvrtc_compile_program(struct nvrtc *nvrtc, const struct nvrtc_program *program, bool afresh,
                          struct device_image *image, char *reason, struct error *error) {
    const struct hash hash = image_hash(nvrtc, program);
    if (!afresh && nvrtc->cache.get != NULL &&
        nvrtc->cache.get(nvrtc->cache.context, hash, image)) {
        image->name = program->name;
        return 0;
    }
    int status = compile_program(nvrtc, program, image, reason, error);
    if (status == 0 && nvrtc->cache.put != NULL)
        nvrtc->cache.put(nvrtc->cache.context, hash, image);
    return status;
}

int nvrtc_compile(struct nvrtc *nvrtc, const char *name, const char *source,
                  const char *const *options, int option_count, struct device_image *image,
                  char *reason, struct error *error) {
    const struct nvrtc_program program = {
        .name = name, .source = source, .options = options, .option_count = option_count};
    return nvrtc_compile_program(nvrtc, &program, false, image, reason, error);
}

void nvrtc_image_release(struct device_image *image) {
    free((void *)image->cubin);
    free((void *)image->ptx);
    free((void *)image->log);
    free((void *)image->kernels);
    *image = (struct device_image){0};
}
