/* doctor: checks whether this machine can run a search, and suggests improvements. */
#include "cli/doctor.h"

#include "base/clock.h"
#include "base/path.h"
#include "base/process.h"
#include "base/sandbox.h"
#include "cli/cli.h"

#include <poll.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const struct table_column columns[] = {
    {.name = "status", .heading = ""},
    {.name = "check", .heading = ""},
    {.name = "finding"},
    {.name = "remedy"},
    {.heading = "", .wrap = true},
};

void doctor_add(struct doctor *doctor, enum doctor_state state, const char *check,
                const char *remedy, const char *format, ...) {
    static const char *const state_names[] = {
        [DOCTOR_OK] = "ok", [DOCTOR_WARNING] = "warning", [DOCTOR_MISSING] = "missing"};
    char finding[2 * DOCTOR_LINE_SIZE];
    char message[4 * DOCTOR_LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding, sizeof finding, format, arguments);
    va_end(arguments);
    snprintf(message, sizeof message, "%s%s%s", finding, remedy != NULL ? ": " : "",
             remedy != NULL ? remedy : "");
    table_add(doctor->table, "%s %s %s %s %s", state_names[state], check, finding, remedy, message);
}

/* ---- the host ---- */

/* Finds the CUDA Toolkit in the same places as the Makefile. False if there is none. */
static bool find_toolkit(char home[PATH_SIZE]) {
    struct error error = {0};
    char path[PATH_SIZE];
    char target[PATH_SIZE];
    const char *variable = getenv("CUDA_HOME");
    if (variable != NULL && *variable != '\0')
        return path_join(home, "", variable, &error) == 0 && path_is_dir(home);
    if (process_find("nvcc", path) && realpath(path, target) != NULL)
        return path_parent(path, target, &error) == 0 && path_parent(home, path, &error) == 0;
    return path_join(home, "", "/usr/local/cuda", &error) == 0 && path_is_dir(home);
}

static void check_toolkit(struct doctor *doctor) {
    char home[PATH_SIZE];
    struct error error = {0};
    if (find_toolkit(home))
        doctor_add(doctor, DOCTOR_OK, "CUDA Toolkit", NULL, "%s", home);
    else
        doctor_add(
            doctor, DOCTOR_MISSING, "CUDA Toolkit",
            "install version 12.4 or later, or set CUDA_HOME to its folder; without it NVRTC must "
            "be in the dynamic loader's search path",
            "not found");
    doctor->nvrtc = nvrtc_open(&error);
    if (doctor->nvrtc == NULL)
        doctor_add(doctor, DOCTOR_MISSING, "NVRTC", NULL, "%s", error.text);
    else if (strtod(nvrtc_version(doctor->nvrtc), NULL) < 12.4)
        doctor_add(doctor, DOCTOR_WARNING, "NVRTC", "install the CUDA Toolkit 12.4 or later",
                   "%s is older than the 12.4 that evotile needs", nvrtc_version(doctor->nvrtc));
    else
        doctor_add(doctor, DOCTOR_OK, "NVRTC", NULL, "%s", nvrtc_version(doctor->nvrtc));
}

/* Reads the version of torch, in a child process: the import takes seconds and may hang. */
static void read_torch_version(char version[64]) {
    enum { LIMIT_S = 30 };
    static const char script[] = "try:\n import torch\n print(torch.__version__, flush=True)\n"
                                 "except Exception:\n print('', flush=True)\n";
    char python[PATH_SIZE];
    struct process child;
    struct error error = {0};
    char *line = NULL;
    if (!process_find("python3", python) ||
        process_start(&child, (const char *const[]){python, "-c", script, NULL}, &error) < 0)
        return;
    double deadline = clock_seconds() + LIMIT_S;
    while ((line = process_next_line(&child)) == NULL && !child.ended &&
           clock_seconds() < deadline) {
        struct pollfd ready = {.fd = child.from, .events = POLLIN};
        if (poll(&ready, 1, 100) > 0)
            process_read_output(&child);
    }
    if (line != NULL)
        snprintf(version, 64, "%s", line);
    process_stop(&child, 0, NULL);
}

static void check_tools(struct doctor *doctor) {
    static const struct {
        const char *name, *remedy;
    } tools[] = {
        {"nvcc", "to build exported kernels, install the CUDA Toolkit"},
        {"ncu", "to profile kernels, install Nsight Compute"},
        {"compute-sanitizer", "to check kernels on a GPU, install the CUDA Toolkit"},
        {"nats-server", "to search on several hosts, install the package nats-server"},
    };
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        char path[PATH_SIZE];
        if (process_find(tools[i].name, path))
            doctor_add(doctor, DOCTOR_OK, tools[i].name, NULL, "%.400s", path);
        else
            doctor_add(doctor, DOCTOR_MISSING, tools[i].name, tools[i].remedy, "optional");
    }
    if (doctor->torch[0] != '\0')
        doctor_add(doctor, DOCTOR_OK, "torch", NULL, "%s, for python3", doctor->torch);
    else
        doctor_add(doctor, DOCTOR_MISSING, "torch",
                   "to time PyTorch as a baseline, install torch for python3", "optional");
}

static void check_folder(struct doctor *doctor, const char *check, const char *folder,
                         const char *remedy) {
    char path[PATH_SIZE];
    struct error error = {0};
    struct statvfs space;
    if (path_join(path, "", folder, &error) < 0)
        return;
    /* If the folder does not exist yet, check the nearest parent that does. */
    while (!path_exists(path) && strcmp(path, "/") != 0 && strcmp(path, ".") != 0)
        if (path_parent(path, path, &error) < 0)
            return;
    if (statvfs(path, &space) < 0)
        return;
    double free_gib = (double)space.f_bavail * (double)space.f_frsize / (1 << 30);
    if (access(path, W_OK) < 0)
        doctor_add(doctor, DOCTOR_WARNING, check, remedy, "%.400s cannot be written", path);
    else if (free_gib < 1)
        doctor_add(doctor, DOCTOR_WARNING, check, remedy, "only %.2f GiB free in %.400s", free_gib,
                   folder);
    else if (path_network_filesystem(path) != NULL)
        doctor_add(doctor, DOCTOR_WARNING, check, remedy,
                   "%.400s is on %s, where writes are slower", folder,
                   path_network_filesystem(path));
    else
        doctor_add(doctor, DOCTOR_OK, check, NULL, "%.400s, %.1f GiB free", folder, free_gib);
}

static void check_folders(struct doctor *doctor) {
    char cache[PATH_SIZE];
    struct error error = {0};
    const char *variable = getenv("EVOTILE_CACHE");
    const char *base = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    check_folder(doctor, "results", "results",
                 "free space there, or choose a local folder with `run --out`");
    if (variable != NULL && *variable != '\0')
        check_folder(doctor, "kernel cache", variable, "set EVOTILE_CACHE to another folder");
    else if ((base != NULL && *base != '\0' && path_join(cache, base, "evotile", &error) == 0) ||
             (home != NULL && *home != '\0' &&
              path_join(cache, home, ".cache/evotile", &error) == 0))
        check_folder(doctor, "kernel cache", cache, "set EVOTILE_CACHE to another folder");
    else
        doctor_add(doctor, DOCTOR_WARNING, "kernel cache", "set EVOTILE_CACHE to a folder",
                   "neither EVOTILE_CACHE nor HOME is set");
}

/* What confines the workers that compile; a container's own filter may forbid Landlock. */
static void check_sandbox(struct doctor *doctor) {
    int parts = sandbox_available();
    bool calls = (parts & SANDBOX_CALLS) != 0, files = (parts & SANDBOX_FILES) != 0;
    doctor_add(doctor, calls && files ? DOCTOR_OK : DOCTOR_WARNING, "sandbox",
               calls && files
                   ? NULL
                   : "before strangers' kernels are compiled here, use a kernel with both enabled",
               "seccomp (network, programs) %s, Landlock (writing files) %s", calls ? "on" : "off",
               files ? "on" : "off");
}

/* ---- the verb ---- */

static int doctor_run(const struct verb *verb, int argc, char **argv) {
    bool json = false;
    const struct option_row rows[] = {
        OPTION("json", NULL, "print JSON: {\"ready\": ..., \"device\": ..., \"checks\": [...]}",
               &json),
        {0},
    };
    if (options_parse(verb, rows, argc, argv, 0, 0) < 0)
        return STATUS_USAGE;
    struct doctor doctor = {.table = table_new(columns, sizeof columns / sizeof *columns)};
    /* Before CUDA is initialised: after that a process must not fork. */
    read_torch_version(doctor.torch);
    check_toolkit(&doctor);
    doctor_check_gpus(&doctor);
    doctor_check_emulated(&doctor);
    check_folders(&doctor);
    check_sandbox(&doctor);
    check_tools(&doctor);
    bool ready = doctor.device[0] != '\0';
    if (json) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddBoolToObject(object, "ready", ready);
        cJSON_AddItemToObject(object, "device",
                              ready ? cJSON_CreateString(doctor.device) : cJSON_CreateNull());
        cJSON_AddItemToObject(object, "checks", table_json(doctor.table));
        table_print_json(object, stdout);
    } else {
        table_print(doctor.table, TABLE_TEXT, stdout);
        if (ready)
            printf("\nready: --device auto is %s\n", doctor.device);
        else
            printf("\nnot ready: no device can compile and run a kernel; fix the problems listed "
                   "above\n");
    }
    table_free(doctor.table);
    nvrtc_close(doctor.nvrtc);
    return ready ? STATUS_DONE : STATUS_FAILED;
}

const struct verb verb_doctor = {
    .name = "doctor",
    .arguments = "[options]",
    .summary = "check whether this machine can run a search",
    VERB_HELP(doctor),
    .run = doctor_run,
};
