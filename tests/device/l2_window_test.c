/* The calls of a driver around launches with an access policy window. The driver is a fake, which
 * records them. */
#include "device/cuda_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

static char calls[4096];
static CUresult event_status = CUDA_SUCCESS, launch_status = CUDA_SUCCESS;

static void record(const char *call) {
    const size_t used = strlen(calls);
    snprintf(calls + used, sizeof calls - used, "%s ", call);
}

static CUresult set_limit(CUlimit limit, size_t value) {
    char text[32];
    assert_int_equal(limit, CU_LIMIT_PERSISTING_L2_CACHE_SIZE);
    snprintf(text, sizeof text, "limit=%zu", value);
    record(text);
    return CUDA_SUCCESS;
}

static CUresult launch(const CUlaunchConfig *config, CUfunction function, void **arguments,
                       void **extra) {
    (void)function, (void)arguments, (void)extra;
    char text[64] = "launch";
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUaccessPolicyWindow *window = &config->attrs[i].value.accessPolicyWindow;
        if (config->attrs[i].id != CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW)
            continue;
        assert_int_equal(window->hitProp, CU_ACCESS_PROPERTY_PERSISTING);
        snprintf(text, sizeof text, "launch[%zx+%zu,%.2f]", (size_t)window->base_ptr,
                 window->num_bytes, (double)window->hitRatio);
    }
    record(text);
    return launch_status;
}

static CUresult find(CUfunction *function, CUmodule module, const char *name) {
    (void)module, (void)name;
    *function = NULL;
    return CUDA_SUCCESS;
}
static CUresult get_attribute(int *value, CUfunction_attribute which, CUfunction function) {
    (void)which, (void)function;
    *value = 0;
    return CUDA_SUCCESS;
}
static CUresult set_attribute(CUfunction function, CUfunction_attribute which, int value) {
    (void)function, (void)which, (void)value;
    return CUDA_SUCCESS;
}
static CUresult record_event(CUevent event, CUstream stream) {
    (void)event, (void)stream;
    return CUDA_SUCCESS;
}
static CUresult query(CUevent event) {
    (void)event;
    record("wait");
    return event_status;
}
static CUresult elapsed(float *milliseconds, CUevent start, CUevent end) {
    (void)start, (void)end;
    *milliseconds = 1;
    return CUDA_SUCCESS;
}
static CUresult begin_capture(CUstream stream, CUstreamCaptureMode mode) {
    (void)stream, (void)mode;
    return CUDA_SUCCESS;
}
static CUresult end_capture(CUstream stream, CUgraph *graph) {
    (void)stream;
    *graph = NULL;
    return CUDA_SUCCESS;
}
static CUresult instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
    (void)graph, (void)flags;
    *exec = NULL;
    return CUDA_SUCCESS;
}
static CUresult replay(CUgraphExec exec, CUstream stream) {
    (void)exec, (void)stream;
    record("replay");
    return CUDA_SUCCESS;
}
static CUresult flush(CUdeviceptr to, unsigned word, size_t count, CUstream stream) {
    (void)to, (void)word, (void)count, (void)stream;
    record("flush");
    return CUDA_SUCCESS;
}
static CUresult error_name(CUresult status, const char **name) {
    (void)status;
    *name = "an error";
    return CUDA_SUCCESS;
}

static struct cuda_device *fake_device(void) {
    struct cuda_device *self = calloc(1, sizeof *self);
    self->driver.cuCtxSetLimit = set_limit;
    self->driver.cuLaunchKernelEx = launch;
    self->driver.cuModuleGetFunction = find;
    self->driver.cuFuncGetAttribute = get_attribute;
    self->driver.cuFuncSetAttribute = set_attribute;
    self->driver.cuEventRecord = record_event;
    self->driver.cuEventQuery = query;
    self->driver.cuEventElapsedTime = elapsed;
    self->driver.cuStreamBeginCapture = begin_capture;
    self->driver.cuStreamEndCapture = end_capture;
    self->driver.cuGraphInstantiateWithFlags = instantiate;
    self->driver.cuGraphLaunch = replay;
    self->driver.cuMemsetD32Async = flush;
    self->driver.cuGetErrorName = error_name;
    self->persisting_bytes_max = 1000;
    self->window_bytes_max = 500;
    self->flush = 1;
    event_status = launch_status = CUDA_SUCCESS;
    calls[0] = '\0';
    return self;
}

static struct device_module module;

static struct device_sequence sequence_with(int percent) {
    struct device_sequence sequence = {.count = 2};
    for (int i = 0; i < 2; i++)
        sequence.launches[i] = (struct device_launch){
            .module = &module, .kernel = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}};
    sequence.launches[1].window_address = 0x100;
    sequence.launches[1].window_bytes = 600;
    sequence.launches[1].window_percent = percent;
    return sequence;
}

static void a_call_gives_the_cache_back(void **state) {
    (void)state;
    char reason[REASON_SIZE];
    struct cuda_device *self = fake_device();
    struct device_sequence sequence = sequence_with(40), none = sequence_with(0);
    assert_int_equal(cuda_run(&self->device, &sequence, 1, reason), VERDICT_OK);
    assert_string_equal(calls, "limit=1000 launch launch[100+500,0.40] wait limit=0 ");
    calls[0] = '\0';
    assert_int_equal(cuda_run(&self->device, &none, 1, reason), VERDICT_OK);
    assert_string_equal(calls, "launch launch wait "); /* others never touch the limit */
    free(self);
}

/* A launch that is refused leaves the context alive, so that the next candidate would run with the
 * limit. */
static void so_does_one_that_fails(void **state) {
    (void)state;
    char reason[REASON_SIZE];
    struct cuda_device *self = fake_device();
    struct device_sequence sequence = sequence_with(40);
    launch_status = CUDA_ERROR_INVALID_VALUE;
    assert_int_equal(cuda_run(&self->device, &sequence, 1, reason), VERDICT_LAUNCH_FAILED);
    assert_string_equal(calls, "limit=1000 launch limit=0 ");
    assert_non_null(strstr(reason, "an error"));
    free(self);
}

static void every_sample_too(void **state) {
    (void)state;
    char reason[REASON_SIZE];
    double samples_us[2];
    struct device_graph *graph = NULL;
    struct cuda_device *self = fake_device();
    struct device_sequence sequence = sequence_with(100);
    struct device_timing timing = {.launches = 1, .deadline_s = 1};
    assert_int_equal(cuda_graph_new(&self->device, &sequence, 1, &timing, &graph, reason),
                     VERDICT_OK);
    assert_string_equal(calls, "launch launch[100+500,1.00] ");
    calls[0] = '\0';
    assert_int_equal(cuda_graph_sample(&self->device, graph, 2, samples_us, reason), VERDICT_OK);
    assert_string_equal(calls, "limit=1000 replay replay wait limit=0 "
                               "limit=1000 replay replay wait limit=0 ");
    cuda_graph_free(&self->device, graph);
    timing.cold = true; /* the flush must find no line of the sample before */
    calls[0] = '\0';
    assert_int_equal(cuda_graph_new(&self->device, &sequence, 1, &timing, &graph, reason),
                     VERDICT_OK);
    calls[0] = '\0';
    assert_int_equal(cuda_graph_sample(&self->device, graph, 2, samples_us, reason), VERDICT_OK);
    assert_string_equal(
        calls, "limit=1000 flush replay wait limit=0 limit=1000 flush replay wait limit=0 ");
    cuda_graph_free(&self->device, graph);
    free(self);
}

static void a_gpu_without_windows_gets_none(void **state) {
    (void)state;
    char reason[REASON_SIZE];
    struct cuda_device *self = fake_device();
    struct device_sequence sequence = sequence_with(40);
    self->window_bytes_max = self->persisting_bytes_max = 0;
    assert_int_equal(cuda_run(&self->device, &sequence, 1, reason), VERDICT_OK);
    assert_string_equal(calls, "launch launch wait ");
    free(self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_gives_the_cache_back),
        cmocka_unit_test(so_does_one_that_fails),
        cmocka_unit_test(every_sample_too),
        cmocka_unit_test(a_gpu_without_windows_gets_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
