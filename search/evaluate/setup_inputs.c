#include "evaluate/setup_inputs.h"

#include "base/memory.h"
#include "evaluate/buffers.h"

#include <string.h>

static bool is_found(const struct template *template, const struct launch_plan *plan, int t) {
    const struct planned_tensor *tensor = &plan->tensors[t];
    const enum dtype dtype = tensor->dtype;
    return template->tensors[t].role == ROLE_INPUT && tensor->present &&
           tensor->fill.fill == FILL_SETUP && tensor->elements <= SETUP_INPUT_ELEMENTS &&
           (dtype == DTYPE_I32 || dtype == DTYPE_U32 || dtype == DTYPE_I64);
}

static double element(enum dtype dtype, const unsigned char *bytes, int64_t index) {
    uint32_t word;
    int64_t wide;
    if (dtype == DTYPE_I64) {
        memcpy(&wide, bytes + 8 * index, sizeof wide);
        return (double)wide;
    }
    memcpy(&word, bytes + 4 * index, sizeof word);
    return dtype == DTYPE_U32 ? (double)word : (double)(int32_t)word;
}

static int add_tensor(cJSON *set, const struct buffers *buffers, int t, struct error *error) {
    const struct planned_tensor *tensor = &buffers->plan->tensors[t];
    unsigned char *bytes = xmalloc((size_t)tensor->bytes);
    int status = buffers->device->backend->read(buffers->device, buffers->tensors[0][t], bytes,
                                                (size_t)tensor->bytes, error);
    if (status == 0) {
        cJSON *array = cJSON_AddArrayToObject(set, buffers->template->tensors[t].name);
        for (int64_t i = 0; i < tensor->elements; i++)
            cJSON_AddItemToArray(array, cJSON_CreateNumber(element(tensor->dtype, bytes, i)));
    }
    free(bytes);
    return status;
}

static int add_set(cJSON *sets, struct buffers *buffers, uint64_t seed, struct error *error) {
    cJSON *set = cJSON_CreateObject();
    cJSON_AddItemToArray(sets, set);
    int status = buffers_fill(buffers, 0, seed, error);
    for (int t = 0; t < buffers->template->tensor_count && status == 0; t++)
        if (is_found(buffers->template, buffers->plan, t) && buffers->tensors[0][t] != 0)
            status = add_tensor(set, buffers, t, error);
    return status;
}

static bool finds_any(const struct template *template, const struct launch_plan *plan) {
    for (int t = 0; t < template->tensor_count; t++)
        if (is_found(template, plan, t))
            return true;
    return false;
}

static int add_sets(cJSON *sets, const struct verify_case *one, const struct launch_plan *plan,
                    uint64_t seed, int count, struct error *error) {
    struct buffers *buffers = xmalloc(sizeof *buffers);
    int status = buffers_init(buffers, one->comparator, one->device, one->template, plan, 1, error);
    if (status == 0) {
        for (int s = 0; s < count && status == 0; s++)
            status = add_set(sets, buffers, seed + (uint64_t)s, error);
        buffers_release(buffers);
    }
    free(buffers);
    return status;
}

int setup_inputs(const struct verify_case *one, uint64_t seed, int sets, cJSON **found,
                 struct error *error) {
    struct launch_plan plan;
    *found = NULL;
    if (one->template->setup.count == 0)
        return 0;
    if (template_launch_plan(one->template, one->genome, one->case_index, &plan, error) < 0)
        return -1;
    if (!finds_any(one->template, &plan))
        return 0;
    *found = cJSON_CreateArray();
    int status = add_sets(*found, one, &plan, seed, sets, error);
    if (status < 0) {
        cJSON_Delete(*found);
        *found = NULL;
    }
    return status;
}
