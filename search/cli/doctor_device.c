/* doctor_device: the device checks of `doctor`. */
#include "cli/doctor.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "device/cuda.h"
#include "device/device.h"
#include "device/nvml.h"

#include <string.h>

enum { GPUS_MAX = 64, PROCESSES_SHOWN = 8 };

/* ---- a test kernel: compile, run, compare ---- */

enum { TEST_THREADS = 64 };

static const char test_kernel_source[] = "extern \"C\" __global__ void proof(unsigned *out) {\n"
                                         "    out[threadIdx.x] = 3u * threadIdx.x + 1u;\n"
                                         "}\n";

/* Loads and runs the compiled kernel and checks its result. -1 with `reason` filled. */
static int run_test_kernel(struct device *device, const struct device_image *image, char *reason) {
    const struct device_backend *backend = device->backend;
    struct error error = {0};
    struct device_module *module = NULL;
    uint64_t address = 0;
    unsigned out[TEST_THREADS] = {0};
    int status = -1;
    if (backend->memory_new(device, "out", sizeof out, &address, &error) < 0)
        goto failed;
    if (backend->module_load(device, image, &module, &error) < 0)
        goto failed;
    struct device_sequence sequence = {
        .count = 1,
        .launches = {{.module = module,
                      .kernel = "proof",
                      .grid = {1, 1, 1},
                      .block = {TEST_THREADS, 1, 1},
                      .argument_count = 1,
                      .arguments = {{.size = 8}}}},
    };
    memcpy(sequence.launches[0].arguments[0].bytes, &address, sizeof address);
    if (backend->run(device, &sequence, 10, reason) != VERDICT_OK)
        goto done;
    if (backend->read(device, address, out, sizeof out, &error) < 0)
        goto failed;
    status = 0;
    for (unsigned i = 0; i < TEST_THREADS; i++)
        if (out[i] != 3 * i + 1)
            status = -1;
    if (status < 0)
        snprintf(reason, REASON_SIZE, "a test kernel gave wrong results");
    goto done;
failed:
    snprintf(reason, REASON_SIZE, "%.*s", REASON_SIZE - 1, error.text);
done:
    if (module != NULL)
        backend->module_unload(device, module);
    if (address != 0)
        backend->memory_free(device, address);
    return status;
}

/* Compiles and runs a kernel on the device, which tests the whole tool chain. */
static void check_test_kernel(struct doctor *doctor, struct device *device) {
    char architecture[64];
    char check[96];
    char reason[REASON_SIZE] = "";
    struct error error = {0};
    struct device_image image = {0};
    const struct device_info *info = &device->info;
    snprintf(check, sizeof check, "%s kernel", info->spec);
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d",
             info->compute_capability);
    if (doctor->nvrtc == NULL)
        return;
    if (!nvrtc_supports(doctor->nvrtc, info->compute_capability)) {
        doctor_add(doctor, DOCTOR_WARNING, check, "install a newer CUDA Toolkit",
                   "NVRTC %s cannot compile for sm_%d", nvrtc_version(doctor->nvrtc),
                   info->compute_capability);
        return;
    }
    double start = clock_seconds();
    int status = nvrtc_compile(doctor->nvrtc, "proof.cu", test_kernel_source,
                               (const char *const[]){architecture}, 1, &image, reason, &error);
    double compiled = clock_seconds();
    if (status == 0)
        status = run_test_kernel(device, &image, reason);
    if (status == 0) {
        doctor_add(doctor, DOCTOR_OK, check, NULL,
                   "compiled for sm_%d in %.0f ms, ran, result correct", info->compute_capability,
                   1e3 * (compiled - start));
        if (doctor->device[0] == '\0')
            snprintf(doctor->device, sizeof doctor->device, "%s", info->spec);
    } else {
        doctor_add(doctor, DOCTOR_WARNING, check, "use another --device", "%s",
                   *reason != '\0' ? reason : error.text);
    }
    nvrtc_image_release(&image);
}

/* ---- GPUs ---- */

static void check_state(struct doctor *doctor, const char *spec, const struct nvml_state *state) {
    char line[DOCTOR_LINE_SIZE];
    char check[96];
    char slowdowns[NVML_SLOWDOWN_SIZE];
    snprintf(check, sizeof check, "%s clocks", spec);
    nvml_print_state(state, 0, "degrees Celsius", line, sizeof line);
    if (*nvml_slowdowns(state->slowdowns, slowdowns) != '\0')
        doctor_add(doctor, DOCTOR_WARNING, check,
                   "timings vary meanwhile; cool the GPU, raise its limits, or wait",
                   "%s; reduced by %s", line, slowdowns);
    else
        doctor_add(doctor, *line != '\0' ? DOCTOR_OK : DOCTOR_WARNING, check, NULL, "%s",
                   *line != '\0' ? line : "unknown: the driver does not report them");
}

/* The NVML state of a GPU, read before any GPU is opened: afterwards this process would be listed
   among its processes. */
struct gpu_state {
    struct nvml_gpu gpu;
    struct nvml_state state;
    int process_count;
    struct nvml_process processes[PROCESSES_SHOWN];
};

static void check_processes(struct doctor *doctor, const char *spec, const struct gpu_state *gpus) {
    char line[DOCTOR_LINE_SIZE];
    char check[96];
    snprintf(check, sizeof check, "%s processes", spec);
    if (gpus->process_count <= 0) {
        doctor_add(doctor, gpus->process_count < 0 ? DOCTOR_WARNING : DOCTOR_OK, check,
                   gpus->process_count < 0
                       ? "check with nvidia-smi that no other process computes on it"
                       : NULL,
                   "%s", gpus->process_count < 0 ? "unknown" : "no other process computes on it");
        return;
    }
    snprintf(line, sizeof line, "%d other%s:", gpus->process_count,
             gpus->process_count == 1 ? "" : "s");
    for (int i = 0; i < gpus->process_count && i < PROCESSES_SHOWN; i++)
        text_append(line, sizeof line, " pid %u%s", gpus->processes[i].pid,
                    i + 1 < gpus->process_count ? "," : "");
    doctor_add(doctor, DOCTOR_WARNING, check,
               "they disturb timings; stop them, wait, or use another GPU", "%s", line);
}

static void check_gpu(struct doctor *doctor, int index, const struct gpu_state *gpus,
                      int gpu_count) {
    char spec[32];
    char check[96];
    struct error error = {0};
    snprintf(spec, sizeof spec, "cuda:%d", index);
    struct device *device = device_open(spec, &error);
    if (device == NULL) {
        doctor_add(doctor, DOCTOR_WARNING, spec, "free it, or use another --device", "%s",
                   error.text);
        return;
    }
    const struct device_info *info = &device->info;
    bool is_supported = info->compute_capability >= 80;
    doctor_add(
        doctor, is_supported ? DOCTOR_OK : DOCTOR_WARNING, spec,
        is_supported
            ? NULL
            : "its tensor cores lack instructions that templates use; use a GPU of sm_80 or newer",
        "%s, sm_%d, %d multiprocessors, %.1f GiB, L2 of %.0f MiB", info->name,
        info->compute_capability, info->sm_count, (double)info->memory_bytes / (1 << 30),
        info->l2_bytes / 1048576.0);
    snprintf(check, sizeof check, "%s shared memory", spec);
    doctor_add(doctor, DOCTOR_OK, check, NULL,
               "%.0f KiB per block, %.0f with opt-in, %.0f per multiprocessor",
               info->smem_per_block / 1024.0, info->smem_per_block_optin / 1024.0,
               info->smem_per_sm / 1024.0);
    for (int i = 0; i < gpu_count; i++)
        if (*info->uuid != '\0' && strcmp(gpus[i].gpu.uuid, info->uuid) == 0) {
            check_state(doctor, spec, &gpus[i].state);
            check_processes(doctor, spec, &gpus[i]);
        }
    check_test_kernel(doctor, device);
    device_close(device);
}

void doctor_check_gpus(struct doctor *doctor) {
    struct error error = {0};
    struct gpu_state *gpus = xcalloc(GPUS_MAX, sizeof *gpus);
    int gpu_count = 0;
    struct nvml *nvml = nvml_open(&error);
    if (nvml != NULL) {
        for (int i = 0; i < nvml_count(nvml) && gpu_count < GPUS_MAX; i++) {
            struct gpu_state *gpu = &gpus[gpu_count];
            if (!nvml_at(nvml, i, &gpu->gpu))
                continue;
            nvml_read(nvml, &gpu->gpu, &gpu->state);
            gpu->process_count = nvml_processes(nvml, &gpu->gpu, gpu->processes, PROCESSES_SHOWN);
            gpu_count++;
        }
        doctor_add(doctor, DOCTOR_OK, "driver", NULL, "%s", nvml_driver(nvml));
    } else {
        doctor_add(doctor, DOCTOR_WARNING, "driver", NULL, "%s", error.text);
    }
    error = (struct error){0};
    int count = cuda_device_count(&error);
    if (count == 0)
        doctor_add(doctor, DOCTOR_WARNING, "GPU",
                   "install one and its driver (in a container, pass it through), or use --device "
                   "emulated:sm_89, where latency is predicted",
                   "none found");
    for (int i = 0; i < count; i++)
        check_gpu(doctor, i, gpus, gpu_count);
    nvml_close(nvml);
    free(gpus);
}

void doctor_check_emulated(struct doctor *doctor) {
    static const char *const specs[] = {"emulated:sm_89", "emulated:sm_90"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct error error = {0};
        struct device *device = device_open(specs[i], &error);
        if (device == NULL) {
            doctor_add(doctor, DOCTOR_WARNING, specs[i], NULL, "%s", error.text);
            continue;
        }
        check_test_kernel(doctor, device);
        device_close(device);
    }
}
