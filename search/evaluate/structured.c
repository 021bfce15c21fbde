#include "evaluate/structured.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "ptx/half.h"
#include "template/fills.h.in"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SETUP_DEADLINE_S = 120, DESCRIBED_BYTES_MAX = 16 << 20 };

_Static_assert((int)FILLED_UNIFORM == (int)FILL_UNIFORM && (int)FILLED_SPARSE == (int)FILL_SPARSE &&
                   (int)FILLED_SETUP == (int)FILL_SETUP,
               "fills.h.in numbers the fills as fill.h does");

/* ---- on the host ---- */

/* As to_f8 of compare.cu. */
static uint8_t float_to_f8(float value, int fraction, float scale, float largest) {
    const uint32_t sign = float_bits(value) >> 24 & 0x80;
    const uint32_t bits = float_bits(fminf(fabsf(value), largest) * scale);
    const int shift = 23 - fraction;
    return (uint8_t)(sign | (bits + (1u << (shift - 1)) - 1 + (bits >> shift & 1)) >> shift);
}

/* Stores a number as an element: a whole one as an integer, else rounded to a float, then to the
   dtype. */
static void store_number(enum dtype dtype, double number, void *to) {
    const float single = (float)number;
    const int64_t whole = dtype_rounding(dtype) == 0 ? (int64_t)number : 0;
    const uint16_t half = dtype == DTYPE_BF16 ? float_to_bfloat(single) : float_to_half(single);
    const uint8_t byte = dtype == DTYPE_E4M3 ? float_to_f8(single, 3, 0x1p-120f, 448)
                                             : float_to_f8(single, 2, 0x1p-112f, 57344);
    const void *from = dtype == DTYPE_F64                           ? (const void *)&number
                       : dtype == DTYPE_F32                         ? (const void *)&single
                       : dtype == DTYPE_F16 || dtype == DTYPE_BF16  ? (const void *)&half
                       : dtype == DTYPE_E4M3 || dtype == DTYPE_E5M2 ? (const void *)&byte
                                                                    : (const void *)&whole;
    memcpy(to, from, (size_t)dtype_bytes(dtype)); /* little-endian */
}

bool host_fills(const struct tensor_fill *fill) {
    return fill->fill >= FILL_UNIFORM && fill->fill <= FILL_PROBABILITIES;
}

void host_fill(const struct planned_tensor *tensor, uint64_t seed, void *to) {
    const struct tensor_fill *fill = &tensor->fill;
    char *bytes = to;
    for (int64_t i = 0; i < tensor->elements; i++, bytes += dtype_bytes(tensor->dtype))
        store_number(tensor->dtype,
                     fill_number((int)fill->fill, fill->value, fill->most, seed, (uint64_t)i,
                                 (uint64_t)tensor->row),
                     bytes);
}

void draw_scalars(struct buffers *buffers, int set, uint64_t seed) {
    for (int s = 0; s < buffers->template->scalar_count && !buffers->scalars_held; s++) {
        const struct planned_tensor one = {.dtype = buffers->template->scalars[s].dtype,
                                           .fill = buffers->plan->scalars[s],
                                           .elements = 1,
                                           .row = 1};
        buffers->scalars[set][s] = 0;
        host_fill(&one, fill_hash(seed + (uint64_t)s), &buffers->scalars[set][s]);
    }
}

int fill_from_file(struct device *device, const struct template *template, int tensor,
                   const struct planned_tensor *planned, uint64_t address, struct error *error) {
    char path[PATH_SIZE];
    if (template_fill_path(template, tensor, path, error) < 0)
        return -1;
    uint8_t *elements = data_file_read(path, &template->tensors[tensor].fill.data, error);
    if (elements == NULL)
        return -1;
    int64_t wrong = planned->dtype == DTYPE_BOOL ? 0 : planned->bytes;
    while (wrong < planned->bytes && elements[wrong] <= 1)
        wrong++;
    int status =
        planned->dtype == DTYPE_BOOL && wrong < planned->bytes
            ? error_input(error, "%s: byte %lld is %d: a bool is 0 or 1", path, (long long)wrong,
                          elements[wrong])
            : device->backend->write(device, address, elements, (size_t)planned->bytes, error);
    free(elements);
    return status;
}

int fill_from_host(struct buffers *buffers, int set, int tensor, struct error *error) {
    const struct planned_tensor *planned = &buffers->plan->tensors[tensor];
    const uint64_t address = buffers->tensors[set][tensor];
    if (planned->fill.fill == FILL_FILE)
        return fill_from_file(buffers->device, buffers->template, tensor, planned, address, error);
    char *elements = xcalloc((size_t)planned->bytes, 1);
    if (host_fills(&planned->fill))
        host_fill(planned, (uint64_t)tensor, elements);
    for (int64_t i = 0; planned->fill.fill == FILL_SPARSE && i < planned->elements; i++)
        if (fill_is_present(planned->fill.value, (uint64_t)tensor, (uint64_t)i))
            store_number(planned->dtype,
                         dtype_rounding(planned->dtype) == 0
                             ? 1
                             : 2 * fill_fraction(fill_hash((uint64_t)i)) - 1,
                         elements + i * dtype_bytes(planned->dtype));
    int status = buffers->device->backend->write(buffers->device, address, elements,
                                                 (size_t)planned->bytes, error);
    free(elements);
    return status;
}

/* ---- setup ---- */

/* Allocates and fills the tensors of setup's own; the inputs are those of the set. */
static int place_tensors(struct buffers *own, const struct buffers *inputs,
                         const struct launch_plan *plan, struct launch_plan *allocated,
                         const struct stress *stress, uint64_t seed, struct error *error) {
    const struct template *template = inputs->template;
    *allocated = *plan;
    for (int t = 0; t < template->tensor_count; t++)
        allocated->tensors[t].present =
            plan->tensors[t].present && template->tensors[t].role == ROLE_SETUP;
    return buffers_init(own, inputs->comparator, inputs->device, template, allocated, 1, error) < 0
               ? -1
               : buffers_fill_role(own, 0, ROLE_SETUP, stress, seed, error);
}

static int launch_setup(struct buffers *own, const struct buffers *inputs, int set,
                        const struct launch_plan *plan, struct error *error) {
    const struct template *template = inputs->template;
    struct device *device = inputs->device;
    struct device_sequence *sequence = xmalloc(sizeof *sequence);
    uint64_t tensors[TENSORS_MAX];
    char reason[REASON_SIZE];
    memcpy(tensors, own->tensors[0], sizeof tensors);
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].role == ROLE_INPUT)
            own->tensors[0][t] = inputs->tensors[set][t];
    memcpy(own->scalars[0], inputs->scalars[set], sizeof own->scalars[0]);
    own->plan = plan;
    buffers_sequence(own, 0, comparator_setup(inputs->comparator), sequence);
    memcpy(own->tensors[0], tensors, sizeof tensors);
    enum verdict verdict = device->backend->run(device, sequence, SETUP_DEADLINE_S, reason);
    if (verdict == VERDICT_OK && device->backend->check_red_zones != NULL)
        verdict = device->backend->check_red_zones(device, false, reason);
    free(sequence);
    return verdict == VERDICT_OK ? 0
                                 : error_input(error, "%s/%s failed: %s", template->folder,
                                               template->setup_source, reason);
}

int run_setup(struct buffers *inputs, int set, const struct stress *stress, uint64_t seed,
              struct error *error) {
    struct launch_plan *plan = xmalloc(sizeof *plan), *allocated = xmalloc(sizeof *allocated);
    struct buffers *own = xcalloc(1, sizeof *own);
    if (comparator_setup(inputs->comparator) == NULL)
        BUG("the setup of %s was not loaded", inputs->template->name);
    int status =
        template_setup_launch_plan(inputs->template, inputs->plan->case_index, plan, error);
    if (status == 0) {
        status = place_tensors(own, inputs, plan, allocated, stress, seed, error);
        if (status == 0)
            status = comparator_finish(inputs->comparator, error);
        if (status == 0)
            status = launch_setup(own, inputs, set, plan, error);
        if (own->device != NULL)
            buffers_release(own);
    }
    free(own);
    free(allocated);
    free(plan);
    return status;
}

/* ---- what integers an index may have come from ---- */

static bool is_integer(enum dtype dtype) {
    return dtype_rounding(dtype) == 0 && dtype != DTYPE_BOOL;
}

static int64_t integer_at(const void *elements, enum dtype dtype, int64_t i) {
    switch (dtype) {
    case DTYPE_I8:
        return ((const int8_t *)elements)[i];
    case DTYPE_U8:
        return ((const uint8_t *)elements)[i];
    case DTYPE_I16:
        return ((const int16_t *)elements)[i];
    case DTYPE_U32:
        return ((const uint32_t *)elements)[i];
    case DTYPE_I64:
        return ((const int64_t *)elements)[i];
    default:
        return ((const int32_t *)elements)[i];
    }
}

/* Finds the least and the largest element; false if they are not known. */
static bool find_range(const struct buffers *buffers, int set, int t, int64_t *least,
                       int64_t *most) {
    const struct planned_tensor *tensor = &buffers->plan->tensors[t];
    struct error ignored;
    if (tensor->bytes > DESCRIBED_BYTES_MAX)
        return false;
    void *elements = xmalloc((size_t)tensor->bytes);
    const bool known =
        buffers->device->backend->read(buffers->device, buffers->tensors[set][t], elements,
                                       (size_t)tensor->bytes, &ignored) == 0;
    *least = INT64_MAX;
    *most = INT64_MIN;
    for (int64_t i = 0; known && i < tensor->elements; i++) {
        const int64_t one = integer_at(elements, tensor->dtype, i);
        *least = one < *least ? one : *least;
        *most = one > *most ? one : *most;
    }
    free(elements);
    return known;
}

void describe_integers(const struct buffers *buffers, int set, bool read, char *text, size_t size) {
    const char *separator = "; integer inputs: ";
    for (int t = 0; t < buffers->template->tensor_count; t++) {
        const struct planned_tensor *tensor = &buffers->plan->tensors[t];
        const struct tensor *declared = &buffers->template->tensors[t];
        char fill[FILL_TEXT_SIZE];
        int64_t least, most;
        if (buffers->tensors[set][t] == 0 || declared->role != ROLE_INPUT ||
            !is_integer(tensor->dtype))
            continue;
        text_append(text, size, "%s%s, filled by %s", separator, declared->name,
                    template_fill_text(&tensor->fill, tensor->dtype, fill));
        if (read && find_range(buffers, set, t, &least, &most))
            text_append(text, size, ", holds %lld to %lld", (long long)least, (long long)most);
        separator = "; ";
    }
}
