#include "evaluate/prepare_call.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { BEFORE_DEADLINE_S = 60 };
_Static_assert((int)PREPARED_MAX <= (int)DEVICE_LAUNCHES_MAX, "a sequence holds them in place");

/* ---- outputs ---- */

void buffers_prepare_sequence(const struct buffers *buffers, int set,
                              struct device_sequence *sequence) {
    const struct template *template = buffers->template;
    const uint64_t *tensors = buffers->tensors[set];
    const bool of_kernel = buffers->plan->list == &template->launches;
    sequence->count = 0;
    sequence->more = NULL;
    for (int t = 0; t < template->tensor_count; t++) {
        const int before = template->tensors[t].before;
        const struct planned_tensor *tensor = &buffers->plan->tensors[t];
        if (tensors[t] == 0 || before == BEFORE_ANYTHING || (before > 0 && !of_kernel))
            continue;
        sequence->launches[sequence->count++] = (struct device_launch){
            .clear_address = tensors[t],
            .clear_bytes = (size_t)tensor->elements * (size_t)dtype_bytes(tensor->written),
            .copy_from = before > 0 ? tensors[before] : 0};
    }
}

/* ---- variables ---- */

static bool is_variable(const struct buffers *buffers, int t) {
    return buffers->tensors[0][t] != 0 &&
           template_symbol(buffers->template, buffers->plan->list, t) != NULL;
}

/* Finds the variable of a tensor. Returns 1, with the reason, if there is none that holds it. */
static int find_variable(const struct buffers *buffers, struct device_module *module, int t,
                         uint64_t *address, char *reason) {
    const struct tensor *tensor = &buffers->template->tensors[t];
    const char *symbol = template_symbol(buffers->template, buffers->plan->list, t);
    const long long needed = (long long)buffers->plan->tensors[t].bytes;
    size_t bytes = 0;
    if (!buffers->device->backend->global(buffers->device, module, symbol, address, &bytes)) {
        snprintf(
            reason, REASON_SIZE,
            "there is no variable %s, which holds the tensor %s: declare it as __constant__ or "
            "__device__ in no namespace, not static, and read it",
            symbol, tensor->name);
        return 1;
    }
    if ((long long)bytes >= needed)
        return 0;
    snprintf(reason, REASON_SIZE,
             "the variable %s has %lld bytes, and the tensor %s %lld: declare it as large", symbol,
             (long long)bytes, tensor->name, needed);
    return 1;
}

int variables_sequence(const struct buffers *buffers, struct device_module *module,
                       struct device_sequence *sequence, char *reason) {
    sequence->count = 0;
    sequence->more = NULL;
    for (int t = 0; t < buffers->template->tensor_count; t++) {
        uint64_t address;
        if (!is_variable(buffers, t))
            continue;
        if (find_variable(buffers, module, t, &address, reason) != 0)
            return 1;
        sequence->launches[sequence->count++] =
            (struct device_launch){.clear_address = address,
                                   .clear_bytes = (size_t)buffers->plan->tensors[t].bytes,
                                   .copy_from = buffers->tensors[0][t]};
    }
    return 0;
}

static int run(const struct buffers *buffers, const struct device_sequence *sequence,
               struct error *error) {
    char why[REASON_SIZE];
    struct device *device = buffers->device;
    if (sequence->count == 0 ||
        device->backend->run(device, sequence, BEFORE_DEADLINE_S, why) == VERDICT_OK)
        return 0;
    return error_set(error, "the tensors could not be prepared for a call: %s", why);
}

int variables_copy(const struct buffers *buffers, struct device_module *module, char *reason,
                   struct error *error) {
    if (!template_has_symbols(buffers->template))
        return 0;
    struct device_sequence *sequence = xmalloc(sizeof *sequence);
    int status = variables_sequence(buffers, module, sequence, reason);
    if (status == 0)
        status = run(buffers, sequence, error);
    free(sequence);
    return status;
}

/* Compares on the host: an address of constant memory is no argument of a kernel. */
static int differs(const struct buffers *buffers, uint64_t a, uint64_t b, size_t bytes,
                   struct error *error) {
    struct device *device = buffers->device;
    char *of_a = xmalloc(bytes), *of_b = xmalloc(bytes);
    int status = device->backend->read(device, a, of_a, bytes, error);
    if (status == 0)
        status = device->backend->read(device, b, of_b, bytes, error);
    if (status == 0)
        status = memcmp(of_a, of_b, bytes) != 0;
    free(of_a);
    free(of_b);
    return status;
}

int variables_changed(const struct buffers *buffers, struct device_module *module,
                      struct error *error) {
    int changed = 0;
    char reason[REASON_SIZE];
    for (int t = 0; t < buffers->template->tensor_count && changed == 0; t++) {
        uint64_t address;
        if (is_variable(buffers, t) && find_variable(buffers, module, t, &address, reason) == 0)
            changed = differs(buffers, address, buffers->tensors[0][t],
                              (size_t)buffers->plan->tensors[t].bytes, error);
    }
    return changed;
}

int buffers_prepare_call(const struct buffers *buffers, int set, struct device_module *module,
                         char *reason, struct error *error) {
    if (template_prepares_calls(buffers->template)) {
        struct device_sequence *sequence = xmalloc(sizeof *sequence);
        buffers_prepare_sequence(buffers, set, sequence);
        int status = run(buffers, sequence, error);
        free(sequence);
        if (status < 0)
            return -1;
    }
    return variables_copy(buffers, module, reason, error);
}
