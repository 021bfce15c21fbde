/*
 * A program that launches whatever kernel a wisdom file has for its device and shape: the softmax
 * of each row of a matrix. Build it once; every better file makes it faster.
 *
 *     cc example.c evotile_wisdom.c -I/usr/local/cuda/include -lcuda -ldl -lm -lpthread -o example
 *     ./example app.wisdom 64 1000
 */
#include "evotile_wisdom.h"

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

/* What the program calls its dimensions and tensors; the order is its own. */
static const char *const dimensions[] = {"ROWS", "COLS", NULL};
static const char *const tensors[] = {"x", "y", NULL};
static const struct evotile_wisdom_names softmax = {"softmax_rows", dimensions, tensors, NULL};

static void check(int status, const char *what) {
    if (status == 0)
        return;
    fprintf(stderr, "example: %s: %s\n", what, evotile_wisdom_status_text(status));
    exit(1);
}

/* A program that has kernels of its own would fall back to them where this exits. */
static struct evotile_wisdom_kernel *open_kernel(const char *path, struct evotile_wisdom **wisdom) {
    struct evotile_wisdom_device device;
    struct evotile_wisdom_kernel *kernel;
    struct evotile_wisdom_message message;
    if (evotile_wisdom_load(wisdom, path, &message) != 0 ||
        evotile_wisdom_this_device(&device, &message) != 0 ||
        evotile_wisdom_open(&kernel, *wisdom, &softmax, &device, &message) != 0) {
        fprintf(stderr, "example: %s\n", message.text);
        exit(1);
    }
    if (message.text[0] != '\0') /* kernels of another device: they run, and may be slower */
        fprintf(stderr, "example: %s\n", message.text);
    return kernel;
}

static void run_softmax(const struct evotile_wisdom_kernel *kernel, int64_t rows, int64_t columns) {
    struct evotile_wisdom_choice choice;
    char text[512];
    CUdeviceptr x, y, workspace = 0;
    const size_t bytes = (size_t)rows * (size_t)columns * 2; /* f16 */
    check(evotile_wisdom_pick(kernel, (int64_t[]){rows, columns}, 0, &choice), "no kernel");
    evotile_wisdom_describe(&choice, text, sizeof text);
    printf("%s\n", text);
    const int64_t needed = evotile_wisdom_workspace(&choice);
    check((int)cuMemAlloc(&x, bytes), "x");
    check((int)cuMemAlloc(&y, bytes), "y");
    if (needed > 0)
        check((int)cuMemAlloc(&workspace, (size_t)needed), "workspace");
    check((int)cuMemsetD8(x, 0, bytes), "clear");
    void *addresses[] = {(void *)(uintptr_t)x, (void *)(uintptr_t)y};
    const struct evotile_wisdom_call call = {.tensors = addresses,
                                             .workspace = (void *)(uintptr_t)workspace,
                                             .workspace_bytes = needed,
                                             .stream = NULL};
    check(evotile_wisdom_launch(&choice, &call), "launch");
    check((int)cuCtxSynchronize(), "run");
    cuMemFree(x);
    cuMemFree(y);
    if (needed > 0)
        cuMemFree(workspace);
}

int main(int argc, char **argv) {
    struct evotile_wisdom *wisdom;
    CUdevice device;
    CUcontext context;
    if (argc != 4) {
        fprintf(stderr, "usage: example FILE ROWS COLS\n");
        return 2;
    }
    check((int)cuInit(0), "CUDA");
    check((int)cuDeviceGet(&device, 0), "device");
    check((int)cuDevicePrimaryCtxRetain(&context, device), "context");
    check((int)cuCtxSetCurrent(context), "context");
    struct evotile_wisdom_kernel *kernel = open_kernel(argv[1], &wisdom);
    run_softmax(kernel, atoll(argv[2]), atoll(argv[3]));
    evotile_wisdom_close(kernel);
    evotile_wisdom_free(wisdom);
    cuDevicePrimaryCtxRelease(device);
    return 0;
}
