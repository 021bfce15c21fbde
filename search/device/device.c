#include "device/device.h"

#include "device/cuda.h"
#include "device/device_db.h"
#include "device/emulated.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The device of `auto` on a machine without a GPU. */
static const char default_spec[] = "emulated:sm_89";

static int describe_emulated(const char *spec, struct device_info *info, struct error *error) {
    int compute_capability;
    char rest;
    if (sscanf(spec, "emulated:sm_%3d%c", &compute_capability, &rest) != 1)
        return error_input(error, "\"%s\" has no architecture: use %s", spec, default_spec);
    if (device_db_find(compute_capability, info, error) < 0)
        return -1;
    /* Marks the name, so that a figure of this device is never taken for one of the real card. */
    size_t length = strlen(info->name);
    snprintf(info->name + length, sizeof info->name - length, ", emulated");
    return 0;
}

static struct device *open_cuda(const char *spec, struct error *error) {
    return cuda_backend.open(spec, error);
}

static struct device *open_emulated(const char *spec, struct error *error) {
    struct device_info info;
    return describe_emulated(spec, &info, error) == 0 ? emulated_open_with(&info, error) : NULL;
}

/* Nothing is known of a recorded space's device, and nothing can run on it. */
static int describe_recorded(const char *spec, struct device_info *info, struct error *error) {
    (void)spec;
    (void)error;
    *info = (struct device_info){
        .spec = RECORDED_DEVICE, .name = "a recorded device", .driver = "none"};
    return 0;
}

static struct device *open_recorded(const char *spec, struct error *error) {
    error_input(error,
                "\"%s\" has recorded measurements and runs no kernels: search them with `evotile "
                "run recorded:FILE`",
                spec);
    return NULL;
}

static const struct scheme {
    const char *prefix;
    int (*describe)(const char *spec, struct device_info *info, struct error *error);
    struct device *(*open)(const char *spec, struct error *error);
    bool driver; /* describing it starts the driver */
} schemes[] = {
    {"cuda:", cuda_describe, open_cuda, true},
    {"emulated:", describe_emulated, open_emulated, false},
    {RECORDED_DEVICE, describe_recorded, open_recorded, false},
};

/* Finds the scheme of a spec; replaces `auto` by the spec that it selects. */
static const struct scheme *find_scheme(const char **spec, struct error *error) {
    if (strcmp(*spec, "auto") == 0)
        *spec = cuda_device_count(&(struct error){0}) > 0 ? "cuda:0" : default_spec;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncmp(*spec, schemes[i].prefix, strlen(schemes[i].prefix)) == 0)
            return &schemes[i];
    error_input(error, "there is no device \"%s\": use auto, cuda:0 or %s", *spec, default_spec);
    return NULL;
}

struct device *device_open(const char *spec, struct error *error) {
    const struct scheme *scheme = find_scheme(&spec, error);
    return scheme != NULL ? scheme->open(spec, error) : NULL;
}

void device_close(struct device *device) {
    if (device != NULL)
        device->backend->close(device);
}

/* ---- querying the driver in a child process, so that this process never initialises it ---- */

struct driver_reply {
    int result;
    struct device_info info; /* of the spec */
    int count;               /* number of GPUs */
    struct error error;
};

static void describe(const char *spec, struct driver_reply *reply) {
    const struct scheme *scheme = find_scheme(&spec, &reply->error);
    reply->result = scheme != NULL ? scheme->describe(spec, &reply->info, &reply->error) : -1;
}

static void count_gpus(const char *spec, struct driver_reply *reply) {
    (void)spec;
    reply->count = cuda_device_count(&reply->error);
    reply->result = reply->error.kind == ERROR_NONE ? 0 : -1;
}

/* Runs `ask` in a child process that then exits. */
static int run_in_child(void (*query)(const char *spec, struct driver_reply *reply),
                        const char *spec, struct driver_reply *reply, struct error *error) {
    int ends[2];
    if (pipe(ends) < 0)
        return error_set(error, "cannot query the driver: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0) {
        query(spec, reply);
        ssize_t written = write(ends[1], reply, sizeof *reply);
        _exit(written == (ssize_t)sizeof *reply ? 0 : 1);
    }
    close(ends[1]);
    size_t received = 0;
    while (child > 0 && received < sizeof *reply) {
        ssize_t count = read(ends[0], (char *)reply + received, sizeof *reply - received);
        if (count > 0)
            received += (size_t)count;
        else if (count == 0 || errno != EINTR)
            break;
    }
    close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    return received == sizeof *reply
               ? 0
               : error_set(error, "the driver crashed during a query about %s: check nvidia-smi",
                           spec);
}

static bool needs_driver(const char *spec) {
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncmp(spec, schemes[i].prefix, strlen(schemes[i].prefix)) == 0)
            return schemes[i].driver;
    return true; /* auto */
}

int device_describe(const char *spec, struct device_info *info, struct error *error) {
    struct driver_reply reply = {0};
    if (!needs_driver(spec))
        describe(spec, &reply);
    else if (run_in_child(describe, spec, &reply, error) < 0)
        return -1;
    if (reply.result == 0)
        *info = reply.info;
    else
        *error = reply.error;
    return reply.result;
}

/* ---- device lists ---- */

static int add_spec(struct device_list *list, const char *spec, struct error *error) {
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->specs[i], spec) == 0 && strncmp(spec, "emulated:", 9) != 0)
            return error_input(error, "%s is listed twice: a GPU has one timing worker", spec);
    if (list->count == DEVICES_MAX)
        return error_input(error, "more than %d devices", DEVICES_MAX);
    snprintf(list->specs[list->count++], sizeof list->specs[0], "%s", spec);
    return 0;
}

static int add_all_gpus(struct device_list *list, struct error *error) {
    struct driver_reply reply = {0};
    char spec[32];
    if (run_in_child(count_gpus, "the GPUs", &reply, error) < 0)
        return -1;
    if (reply.result < 0) {
        *error = reply.error;
        return -1;
    }
    if (reply.count == 0)
        return error_set(error,
                         "the driver reports no GPU: check nvidia-smi and CUDA_VISIBLE_DEVICES");
    for (int i = 0; i < reply.count; i++) {
        snprintf(spec, sizeof spec, "cuda:%d", i);
        if (add_spec(list, spec, error) < 0)
            return -1;
    }
    return 0;
}

int device_list_read(struct device_list *list, const char *text, struct error *error) {
    list->count = 0;
    for (const char *from = text;; from++) {
        char spec[sizeof list->specs[0]];
        size_t length = strcspn(from, ",");
        if (length == 0 || length >= sizeof spec)
            return error_input(
                error, "\"%.200s\" is not a list of devices: use cuda:0,cuda:2 or cuda:all", text);
        snprintf(spec, sizeof spec, "%.*s", (int)length, from);
        if ((strcmp(spec, "cuda:all") == 0 ? add_all_gpus(list, error)
                                           : add_spec(list, spec, error)) < 0)
            return -1;
        from += length;
        if (*from == '\0')
            return 0;
    }
}

int device_list_describe(const struct device_list *list, struct device_info *first,
                         struct error *error) {
    char uuids[DEVICES_MAX][sizeof first->uuid];
    for (int i = 0; i < list->count; i++) {
        struct device_info info;
        if (device_describe(list->specs[i], &info, error) < 0)
            return -1;
        if (i == 0)
            *first = info;
        if (!device_same_model(first, &info))
            return error_input(error,
                               "%s is %s and %s is %s: times of two models do not mix; give "
                               "--device a list of one model",
                               list->specs[0], first->name, list->specs[i], info.name);
        for (int k = 0; k < i && info.uuid[0] != '\0'; k++) /* auto may be cuda:0 */
            if (strcmp(uuids[k], info.uuid) == 0)
                return error_input(error, "%s and %s are one GPU, which has one timing worker",
                                   list->specs[k], list->specs[i]);
        memcpy(uuids[i], info.uuid, sizeof info.uuid);
    }
    return 0;
}

void device_list_name(const struct device_list *list, const struct device_info *first,
                      char name[DEVICE_LIST_NAME_SIZE]) {
    if (list->count == 1)
        snprintf(name, DEVICE_LIST_NAME_SIZE, "%s", list->specs[0]);
    else
        snprintf(name, DEVICE_LIST_NAME_SIZE, "%d x %s", list->count, first->name);
}

int device_list_error(const struct device_list *list, int device, struct error *error) {
    return list->count > 1 ? error_prefix(error, "%s", list->specs[device]) : -1;
}

int device_smem_limit(const struct device_info *device, int limit) {
    int most = device != NULL ? device->smem_per_block_optin : 0;
    return most > 0 && most < limit ? most : limit;
}

bool device_same_model(const struct device_info *a, const struct device_info *b) {
    return strcmp(a->name, b->name) == 0 && a->compute_capability == b->compute_capability &&
           a->sm_count == b->sm_count && a->smem_per_block_optin == b->smem_per_block_optin;
}
