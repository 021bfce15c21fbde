#include "evaluate/buffers.h"
#include "evaluate/recorded_answers.h"

#include "base/memory.h"
#include "base/random.h"
#include "evaluate/structured.h"

#include <stdlib.h>
#include <string.h>

enum { PATTERN_WORDS = 4096, PATTERN_SEED = 1 };
_Static_assert((int)ARGUMENTS_MAX <= (int)DEVICE_ARGUMENTS_MAX,
               "a device takes every planned launch");

/* A tensor that promises little alignment gets no more of it, where the device allows a choice; the
   reference's outputs have wider elements. */
static int allocate_tensor(struct device *device, const struct tensor *tensor,
                           const struct planned_tensor *planned, enum placement placement,
                           uint64_t *address, struct error *error) {
    const struct device_backend *backend = device->backend;
    const size_t bytes = (size_t)planned->bytes;
    const int element = dtype_bytes(planned->dtype);
    const size_t alignment = (size_t)(tensor->alignment > element ? tensor->alignment : element);
    if (placement != PLACED_ANYWHERE && backend->memory_new_flush != NULL)
        return backend->memory_new_flush(device, tensor->name, bytes,
                                         placement == PLACED_AT_END ? alignment : 0, address,
                                         error);
    if (alignment < ALIGNMENT_DEFAULT && backend->memory_new_aligned != NULL)
        return backend->memory_new_aligned(device, tensor->name, bytes, alignment, address, error);
    return backend->memory_new(device, tensor->name, bytes, address, error);
}

int buffers_init_placed(struct buffers *buffers, struct comparator *comparator,
                        struct device *device, const struct template *template,
                        const struct launch_plan *plan, int set_count, enum placement placement,
                        struct error *error) {
    *buffers = (struct buffers){.comparator = comparator,
                                .device = device,
                                .template = template,
                                .plan = plan,
                                .set_count = set_count};
    for (int s = 0; s < set_count; s++)
        for (int t = 0; t < template->tensor_count; t++)
            if (s > 0 && template_is_symbol(template, t))
                buffers->tensors[s][t] = buffers->tensors[0][t];
            else if (plan->tensors[t].present &&
                     allocate_tensor(device, &template->tensors[t], &plan->tensors[t], placement,
                                     &buffers->tensors[s][t], error) < 0) {
                buffers_release(buffers);
                return -1;
            }
    return 0;
}

int buffers_init(struct buffers *buffers, struct comparator *comparator, struct device *device,
                 const struct template *template, const struct launch_plan *plan, int set_count,
                 struct error *error) {
    return buffers_init_placed(buffers, comparator, device, template, plan, set_count,
                               PLACED_ANYWHERE, error);
}

bool buffers_owns(const struct buffers *buffers, int set, int tensor) {
    return buffers->tensors[set][tensor] != 0 &&
           (set == 0 || !template_is_symbol(buffers->template, tensor));
}

void buffers_release(struct buffers *buffers) {
    for (int s = 0; s < buffers->set_count; s++)
        for (int t = 0; t < buffers->template->tensor_count; t++)
            if (buffers_owns(buffers, s, t))
                buffers->device->backend->memory_free(buffers->device, buffers->tensors[s][t]);
    for (int s = 0; s < buffers->set_count; s++) {
        free(buffers->more[s]);
        buffers->more[s] = NULL;
    }
    buffers->set_count = 0;
}

int buffers_record(struct buffers *buffers, int set, struct error *error) {
    buffers->filled[set] = true;
    return buffers_checksum(buffers, set, ROLE_INPUT, &buffers->inputs[set], error);
}

int buffers_fill_role(struct buffers *buffers, int set, enum role role, const struct stress *stress,
                      uint64_t seed, struct error *error) {
    for (int t = 0; t < buffers->template->tensor_count; t++) {
        const struct planned_tensor *tensor = &buffers->plan->tensors[t];
        const uint64_t address = buffers->tensors[set][t];
        const bool variable = template_is_symbol(buffers->template, t);
        /* One of several sets is not to be filled by the recipe of another. */
        const bool ordinary = stress == NULL || tensor->fill.fill != FILL_NORMAL ||
                              (variable && buffers->set_count > 1);
        int status = 0;
        if (!tensor->present || buffers->template->tensors[t].role != role ||
            !buffers_owns(buffers, set, t))
            continue;
        if (tensor->fill.fill == FILL_FILE)
            status = fill_from_file(buffers->device, buffers->template, t, tensor, address, error);
        else
            status = comparator_fill(
                buffers->comparator, address, tensor, ordinary ? &tensor->fill : &stress->fills[t],
                seed + (uint64_t)t * UINT64_C(0x9e3779b97f4a7c15), seed, error);
        if (status < 0)
            return -1;
    }
    return 0;
}

/* `stress` NULL: as declared. */
static int fill_inputs(struct buffers *buffers, int set, const struct stress *stress, uint64_t seed,
                       struct error *error) {
    buffers->stress[set] = stress;
    buffers->seeds[set] = seed;
    draw_scalars(buffers, set, seed);
    if (buffers->template->reference_kind == REFERENCE_ANSWERS)
        return recorded_answers_fill(buffers, set, seed, error) < 0
                   ? -1
                   : buffers_record(buffers, set, error);
    if (buffers_fill_role(buffers, set, ROLE_INPUT, stress, seed, error) < 0 ||
        (buffers->template->setup.count > 0 && run_setup(buffers, set, stress, seed, error) < 0))
        return -1;
    return buffers_record(buffers, set, error);
}

int buffers_fill(struct buffers *buffers, int set, uint64_t seed, struct error *error) {
    return fill_inputs(buffers, set, NULL, seed, error);
}

int buffers_fill_stress(struct buffers *buffers, int set, const struct stress *stress,
                        uint64_t seed, struct error *error) {
    return fill_inputs(buffers, set, stress, seed, error);
}

/* A 32-bit word of a tensor: four bytes, two halves, a float, half a double. Integers are any, as
   comparator_fill draws them: what a kernel does may depend on them. */
static uint32_t pattern_word(enum dtype dtype, int index, uint32_t bits) {
    switch (dtype) {
    case DTYPE_F16:
        return 0x38003800u | (bits & 0x83ff83ffu);
    case DTYPE_BF16:
        return 0x3f003f00u | (bits & 0x807f807fu);
    case DTYPE_F32:
        return 0x3f000000u | (bits & 0x807fffffu);
    case DTYPE_E4M3:
        return 0x30303030u | (bits & 0x87878787u);
    case DTYPE_E5M2:
        return 0x38383838u | (bits & 0x83838383u);
    case DTYPE_F64:
        return index % 2 == 0 ? bits : 0x3fe00000u | (bits & 0x800fffffu);
    case DTYPE_BOOL:
        return bits & 0x01010101u;
    default:
        return bits;
    }
}

int buffers_fill_pattern(struct buffers *buffers, int set, struct error *error) {
    const struct device_backend *backend = buffers->device->backend;
    const size_t pattern_bytes = PATTERN_WORDS * sizeof(uint32_t);
    if (buffers->template->reference_kind == REFERENCE_ANSWERS) {
        draw_scalars(buffers, set, PATTERN_SEED);
        return recorded_answers_fill(buffers, set, PATTERN_SEED, error);
    }
    uint32_t *pattern = xmalloc(pattern_bytes);
    struct random random;
    int status = 0;
    random_seed(&random, PATTERN_SEED, 0);
    for (int t = 0; t < buffers->template->tensor_count && status == 0; t++) {
        const struct planned_tensor *tensor = &buffers->plan->tensors[t];
        if (!tensor->present || buffers->template->tensors[t].role != ROLE_INPUT)
            continue;
        if (tensor->fill.fill != FILL_NORMAL) {
            status = fill_from_host(buffers, set, t, error);
            continue;
        }
        for (int i = 0; i < PATTERN_WORDS; i++)
            pattern[i] = pattern_word(tensor->dtype, i, (uint32_t)random_next(&random));
        size_t total = (size_t)tensor->bytes;
        for (size_t at = 0; at < total && status == 0; at += pattern_bytes)
            status = backend->write(buffers->device, buffers->tensors[set][t] + at, pattern,
                                    total - at < pattern_bytes ? total - at : pattern_bytes, error);
    }
    free(pattern);
    draw_scalars(buffers, set, PATTERN_SEED);
    return status == 0 && buffers->comparator != NULL &&
                   comparator_setup(buffers->comparator) != NULL
               ? run_setup(buffers, set, NULL, PATTERN_SEED, error)
               : status;
}

int buffers_protect(struct buffers *buffers, int set, bool read_only, struct error *error) {
    const struct device_backend *backend = buffers->device->backend;
    int all = backend->protect != NULL;
    for (int t = 0; all >= 0 && backend->protect != NULL && t < buffers->template->tensor_count;
         t++) {
        if (buffers->tensors[set][t] == 0 || buffers->template->tensors[t].role != ROLE_INPUT)
            continue;
        int one = backend->protect(buffers->device, buffers->tensors[set][t], read_only, error);
        all = one < all ? one : all;
    }
    buffers->read_only = all == 1;
    return all;
}

int buffers_changed(struct buffers *buffers, int set, struct error *error) {
    uint64_t now;
    if (!buffers->filled[set])
        return 0;
    return buffers_checksum(buffers, set, ROLE_INPUT, &now, error) < 0
               ? -1
               : now != buffers->inputs[set];
}

int buffers_poison_role(struct buffers *buffers, int set, enum role role, enum poison poison,
                        uint64_t seed, struct error *error) {
    for (int t = 0; t < buffers->template->tensor_count; t++)
        if (buffers->tensors[set][t] != 0 && buffers->template->tensors[t].role == role &&
            comparator_poison(buffers->comparator, buffers->tensors[set][t],
                              &buffers->plan->tensors[t], poison,
                              seed + (uint64_t)t * UINT64_C(0x9e3779b97f4a7c15), error) < 0)
            return -1;
    return comparator_finish(buffers->comparator, error);
}

int buffers_poison(struct buffers *buffers, int set, enum poison poison, uint64_t seed,
                   struct error *error) {
    static const enum role written[] = {ROLE_OUTPUT, ROLE_WORKSPACE};
    for (size_t r = 0; r < sizeof written / sizeof *written; r++)
        if (buffers_poison_role(buffers, set, written[r], poison, seed, error) < 0)
            return -1;
    return 0;
}

int buffers_checksum(struct buffers *buffers, int set, enum role role, uint64_t *checksum,
                     struct error *error) {
    struct span spans[TENSORS_MAX];
    int count = 0;
    for (int t = 0; t < buffers->template->tensor_count; t++)
        if (buffers->tensors[set][t] != 0 && buffers->template->tensors[t].role == role)
            spans[count++] =
                (struct span){buffers->tensors[set][t], buffers->plan->tensors[t].bytes};
    return comparator_checksum(buffers->comparator, spans, count, checksum, error);
}

/* Set for each sequence, because tensors may have been replaced by shared ones since they were
   allocated. */
static void set_map_addresses(struct buffers *buffers, int set) {
    for (int m = 0; m < buffers->template->map_count; m++) {
        struct tensor_map *map = &buffers->maps[set][m];
        *map = buffers->plan->maps[m];
        if (map->rank > 0)
            map->address = buffers->tensors[set][buffers->template->maps[m].tensor];
    }
}

/* The next step of a set's sequence. */
static struct device_launch *add_step(struct buffers *buffers, int set,
                                      struct device_sequence *sequence) {
    const int room = buffers->plan->launch_count + TENSORS_MAX - DEVICE_LAUNCHES_MAX;
    int index = sequence->count++ - DEVICE_LAUNCHES_MAX;
    if (index < 0)
        return &sequence->launches[DEVICE_LAUNCHES_MAX + index];
    if (buffers->more[set] == NULL)
        buffers->more[set] = xcalloc((size_t)room, sizeof *buffers->more[set]);
    if (index >= room)
        BUG("a call has more steps than clears and launches");
    sequence->more = buffers->more[set];
    return &buffers->more[set][index];
}

void buffers_sequence(struct buffers *buffers, int set, struct device_module *module,
                      struct device_sequence *sequence) {
    const uint64_t *tensors = buffers->tensors[set];
    set_map_addresses(buffers, set);
    *sequence = (struct device_sequence){0};
    for (int t = 0; t < buffers->template->tensor_count; t++)
        if (tensors[t] != 0 && buffers->template->tensors[t].clear)
            *add_step(buffers, set, sequence) =
                (struct device_launch){.clear_address = tensors[t],
                                       .clear_bytes = (size_t)buffers->plan->tensors[t].bytes};
    for (int i = 0; i < buffers->plan->launch_count; i++) {
        const struct planned_launch planned = planned_launch(buffers->plan, i);
        struct device_launch *launch = add_step(buffers, set, sequence);
        *launch = (struct device_launch){.module = module,
                                         .kernel = planned.kernel,
                                         .smem_bytes = planned.smem_bytes,
                                         .early = planned.early,
                                         .cooperative = planned.cooperative,
                                         .argument_count = planned.argument_count};
        if (planned.window_tensor >= 0) {
            launch->window_address = tensors[planned.window_tensor];
            launch->window_bytes = (size_t)buffers->plan->tensors[planned.window_tensor].bytes;
            launch->window_percent = launch->window_address != 0 ? planned.window_percent : 0;
        }
        memcpy(launch->grid, planned.grid, sizeof launch->grid);
        memcpy(launch->block, planned.block, sizeof launch->block);
        for (int a = 0; a < planned.argument_count; a++) {
            const struct planned_argument *argument = &planned.arguments[a];
            struct device_argument *to = &launch->arguments[a];
            to->size = argument->size;
            if (argument->map >= 0)
                to->map = &buffers->maps[set][argument->map];
            else if (argument->scalar >= 0)
                memcpy(to->bytes, &buffers->scalars[set][argument->scalar], (size_t)to->size);
            else if (argument->tensor >= 0)
                memcpy(to->bytes, &tensors[argument->tensor], sizeof to->bytes);
            else /* little-endian: an i32 is the first half of an i64 */
                memcpy(to->bytes, &argument->value, (size_t)argument->size);
        }
    }
}
