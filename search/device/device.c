#include "device/device.h"

#include "device/cuda.h"
#include "device/emulated.h"
#include "device/published.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What `auto` takes on a machine without a GPU. */
static const char fallback[] = "emulated:sm_89";

static int describe_cuda(const char *spec, struct device_info *info, struct error *error) {
    struct device *device = cuda_backend.open(spec, error);
    if (device == NULL)
        return -1;
    *info = device->info;
    device_close(device);
    return 0;
}

static int describe_emulated(const char *spec, struct device_info *info, struct error *error) {
    int compute_capability;
    char rest;
    if (sscanf(spec, "emulated:sm_%3d%c", &compute_capability, &rest) != 1)
        return error_input(error, "\"%s\" names no architecture: say %s", spec, fallback);
    if (published_find(compute_capability, info, error) < 0)
        return -1;
    /* A figure of this device must never pass for one of the real card. */
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

/* What was measured elsewhere: nothing more is known of the device, and nothing runs on it. */
static int describe_recorded(const char *spec, struct device_info *info, struct error *error) {
    (void)spec;
    (void)error;
    *info = (struct device_info){.spec = "recorded", .name = "a recorded device", .driver = "none"};
    return 0;
}

static struct device *open_recorded(const char *spec, struct error *error) {
    error_input(error, "\"%s\" holds measurements and runs nothing: `evotile run %s` searches them",
                spec, spec);
    return NULL;
}

static const struct scheme {
    const char *prefix;
    int (*describe)(const char *spec, struct device_info *info, struct error *error);
    struct device *(*open)(const char *spec, struct error *error);
} schemes[] = {
    {"cuda:", describe_cuda, open_cuda},
    {"emulated:", describe_emulated, open_emulated},
    {"recorded", describe_recorded, open_recorded},
};

/* The scheme of a spec, which is exchanged for the one that `auto` comes to. */
static const struct scheme *find_scheme(const char **spec, struct error *error) {
    if (strcmp(*spec, "auto") == 0)
        *spec = cuda_device_count(&(struct error){0}) > 0 ? "cuda:0" : fallback;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncmp(*spec, schemes[i].prefix, strlen(schemes[i].prefix)) == 0)
            return &schemes[i];
    error_input(error, "there is no device \"%s\": say auto, cuda:0 or %s", *spec, fallback);
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

/* ---- describing, which leaves no driver behind in our process ---- */

struct description {
    int result;
    struct device_info info;
    struct error error;
};

static void describe(const char *spec, struct description *description) {
    const struct scheme *scheme = find_scheme(&spec, &description->error);
    description->result =
        scheme != NULL ? scheme->describe(spec, &description->info, &description->error) : -1;
}

/* In a child that exits at once; false when it could not tell. */
static bool describe_apart(const char *spec, struct description *description) {
    int ends[2];
    if (pipe(ends) < 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        describe(spec, description);
        ssize_t written = write(ends[1], description, sizeof *description);
        _exit(written == (ssize_t)sizeof *description ? 0 : 1);
    }
    close(ends[1]);
    size_t got = 0;
    while (child > 0 && got < sizeof *description) {
        ssize_t count = read(ends[0], (char *)description + got, sizeof *description - got);
        if (count > 0)
            got += (size_t)count;
        else if (count == 0 || errno != EINTR)
            break;
    }
    close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    return got == sizeof *description;
}

int device_describe(const char *spec, struct device_info *info, struct error *error) {
    struct description description = {0};
    if (strncmp(spec, "emulated:", strlen("emulated:")) == 0 ||
        strncmp(spec, "recorded", strlen("recorded")) == 0)
        describe(spec, &description);
    else if (!describe_apart(spec, &description))
        return error_set(
            error, "the driver died while it was asked about %s: see what nvidia-smi says", spec);
    if (description.result == 0)
        *info = description.info;
    else
        *error = description.error;
    return description.result;
}
