#include "evaluate/long_blocks.h"

#include "base/memory.h"
#include "device/emulated.h"
#include "evaluate/structured.h"
#include "ptx/half.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Warp instructions of a block, 30 million of which take about a second
   (docs/measurements/emulator.md); a reference's block that sums 64 rows of two products of 4096
   x 128 needs 4 million. EMPTY_BLOCKS_MAX: so many blocks in a row that write nothing
   condemn a candidate; if half of an honest one's blocks have no work, 1 in 65,000 is. */
enum { INSTRUCTIONS_MAX = 8000000, EMPTY_BLOCKS_MAX = 16 };

struct planned_buffers *long_buffers(const struct long_case *it, enum run run) {
    return run == CANDIDATE   ? it->candidate
           : run == REFERENCE ? &it->references->reference
                              : &it->references->plain;
}

/* Nearly N(0, 1): the sum of four uniform numbers. The comparator's kernel, which fills the inputs
   of shorter cases, would be interpreted: for a tensor of this size that takes too long. */
static float random_normal(struct random *random) {
    uint64_t bits = random_next(random);
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (double)(bits >> 16 * i & 0xffff) / 65536;
    return (float)((sum - 2) * sqrt(3));
}

/* As to_f8 of compare.cu. Whether a tie is rounded to even does not matter here. */
static uint8_t float_to_f8(float value, int fraction, float scale) {
    const uint32_t bits = float_bits(fabsf(value) * scale), sign = float_bits(value) >> 24 & 0x80;
    return (uint8_t)(sign | (bits + (1u << (22 - fraction))) >> (23 - fraction));
}

static void fill_randomly(struct random *random, const struct planned_tensor *tensor, void *to) {
    uint16_t *halves = to;
    float *floats = to;
    double *doubles = to;
    uint8_t *bytes = to;
    for (int64_t i = 0; i < tensor->elements; i++)
        switch (tensor->dtype) {
        case DTYPE_F16:
            halves[i] = float_to_half(random_normal(random));
            break;
        case DTYPE_BF16:
            halves[i] = float_to_bfloat(random_normal(random));
            break;
        case DTYPE_F32:
            floats[i] = random_normal(random);
            break;
        case DTYPE_F64:
            doubles[i] = random_normal(random);
            break;
        case DTYPE_E4M3:
            bytes[i] = float_to_f8(random_normal(random), 3, 0x1p-120f);
            break;
        case DTYPE_E5M2:
            bytes[i] = float_to_f8(random_normal(random), 2, 0x1p-112f);
            break;
        case DTYPE_BOOL:
            bytes[i] = random_next(random) & 1;
            break;
        default: {
            const uint64_t bits = random_next(random);
            const size_t size = (size_t)dtype_bytes(tensor->dtype);
            memcpy(bytes + (size_t)i * size, &bits, size); /* little-endian */
        }
        }
}

/* Byte i of an output before a block runs. */
static unsigned char poison_byte(const struct long_case *it, int64_t i) {
    return (unsigned char)(i % 2 == 0 ? it->poison : it->poison >> 8);
}

/* Whether a tensor has a role, or is written as outputs are. */
static bool has_role(const struct template *template, int t, enum role role) {
    return template->tensors[t].role == role ||
           (role == ROLE_OUTPUT && template->tensors[t].role == ROLE_MAGNITUDE);
}

/* Writes the inputs, or poisons the outputs, of buffers. */
static int write_tensors(struct long_case *it, struct planned_buffers *run, enum role role,
                         struct error *error) {
    const struct template *template = it->one.template;
    for (int t = 0; t < template->tensor_count; t++) {
        const struct planned_tensor *tensor = &run->plan.tensors[t];
        if (run->buffers.tensors[0][t] == 0 || !has_role(template, t, role))
            continue;
        if (role == ROLE_INPUT && tensor->fill.fill != FILL_NORMAL) {
            if (fill_from_host(&run->buffers, 0, t, error) < 0)
                return -1;
            continue;
        }
        unsigned char *host = xmalloc((size_t)tensor->bytes);
        if (role == ROLE_INPUT)
            fill_randomly(&it->random, tensor, host);
        for (int64_t i = 0; role == ROLE_OUTPUT && i < tensor->bytes; i++)
            host[i] = poison_byte(it, i);
        int status = it->one.device->backend->write(it->one.device, run->buffers.tensors[0][t],
                                                    host, (size_t)tensor->bytes, error);
        free(host);
        if (status < 0)
            return -1;
    }
    return 0;
}

int long_fill_inputs(struct long_case *it, struct error *error) {
    draw_scalars(&it->candidate->buffers, 0, random_next(&it->random));
    return write_tensors(it, it->candidate, ROLE_INPUT, error);
}

bool long_is_written(const struct long_case *it, enum run run, int t, int64_t element) {
    const int64_t bytes = dtype_bytes(long_buffers(it, run)->plan.tensors[t].dtype);
    const unsigned char *outputs = it->outputs[run][t];
    for (int64_t i = element * bytes; i < (element + 1) * bytes; i++)
        if (outputs[i] != poison_byte(it, i))
            return true;
    return false;
}

bool long_is_output(const struct long_case *it, int t) {
    return it->outputs[CANDIDATE][t] != NULL;
}

/* The first written element from `start` on, cyclically; -1: none. */
static int64_t find_written(const struct long_case *it, enum run run, int t, int64_t start) {
    const int64_t count = long_buffers(it, run)->plan.tensors[t].elements;
    for (int64_t i = 0; i < count; i++)
        if (long_is_written(it, run, t, (start + i) % count))
            return (start + i) % count;
    return -1;
}

static int read_outputs(struct long_case *it, enum run run, struct error *error) {
    const struct template *template = it->one.template;
    const struct planned_buffers *from = long_buffers(it, run);
    for (int t = 0; t < template->tensor_count; t++) {
        size_t bytes = (size_t)from->plan.tensors[t].bytes;
        if (from->buffers.tensors[0][t] == 0 || !has_role(template, t, ROLE_OUTPUT))
            continue;
        if (it->outputs[run][t] == NULL)
            it->outputs[run][t] = xmalloc(bytes);
        if (it->one.device->backend->read(it->one.device, from->buffers.tensors[0][t],
                                          it->outputs[run][t], bytes, error) < 0)
            return -1;
        it->written[run][t] = it->written[run][t] || find_written(it, run, t, 0) >= 0;
    }
    return 0;
}

/* An element's index in the order of the tensor's dimensions, from its index in memory: a grid is
   more likely to have that order. */
static int64_t logical_index(const struct planned_tensor *tensor, int64_t element) {
    int64_t index = 0;
    for (int d = 0; d < tensor->rank; d++) {
        int64_t stride = tensor->strides[d], period = INT64_MAX;
        for (int other = 0; other < tensor->rank; other++)
            if (tensor->extents[other] > 1 && tensor->strides[other] > stride &&
                tensor->strides[other] < period)
                period = tensor->strides[other];
        int64_t at = stride > 0 ? element % period / stride % tensor->extents[d] : 0;
        index = index * tensor->extents[d] + at;
    }
    return index;
}

/* Finds an element that the candidate's last block wrote, at random; its position is its share of
   the tensor. */
static bool find_position(struct long_case *it, double *position) {
    for (int t = 0; t < it->one.template->tensor_count; t++) {
        const struct planned_tensor *tensor = &it->candidate->plan.tensors[t];
        if (!long_is_output(it, t))
            continue;
        const int64_t start = (int64_t)random_below(&it->random, (uint64_t)tensor->elements);
        const int64_t found = find_written(it, CANDIDATE, t, start);
        if (found < 0)
            continue;
        *position = ((double)logical_index(tensor, found) + 0.5) / (double)tensor->elements;
        return true;
    }
    return false;
}

/* A timeout is no failure of the block: it may wait for one that does not run. */
int long_run_block(struct long_case *it, enum run run, double position, struct failure *failure,
                   struct error *error) {
    if (write_tensors(it, long_buffers(it, run), ROLE_OUTPUT, error) < 0)
        return -1;
    failure->verdict = emulated_run_cluster(it->one.device, it->sequences[run], position,
                                            INSTRUCTIONS_MAX, failure->reason);
    if (failure->verdict == VERDICT_OK)
        return read_outputs(it, run, error);
    if (failure->verdict != VERDICT_TIMEOUT && run == CANDIDATE)
        return 1;
    snprintf(it->reason, sizeof it->reason, "%s: %.400s",
             run == CANDIDATE ? "a block" : "the reference's block", failure->reason);
    return LONG_UNKNOWN;
}

static int fail_empty(struct failure *failure, const char *output) {
    failure->verdict = VERDICT_WRONG;
    snprintf(failure->reason, sizeof failure->reason,
             "%d blocks, most of them at random, do not write %s", EMPTY_BLOCKS_MAX, output);
    return 1;
}

int long_run_candidate(struct long_case *it, double *position, struct failure *failure,
                       struct error *error) {
    for (int i = 0; i < EMPTY_BLOCKS_MAX; i++) {
        int status = long_run_block(it, CANDIDATE, *position, failure, error);
        if (status != 0 || find_position(it, position))
            return status;
        *position = random_uniform(&it->random);
    }
    return fail_empty(failure, "any output");
}

static int64_t grid_blocks(const struct launch_plan *plan) {
    const struct planned_launch launch = planned_launch(plan, 0);
    return (int64_t)launch.grid[0] * launch.grid[1] * launch.grid[2];
}

int long_check_outputs(struct long_case *it, struct failure *failure, struct error *error) {
    for (int t = 0; t < it->one.template->tensor_count; t++) {
        if (!it->written[REFERENCE][t] || !it->written[PLAIN][t] ||
            it->candidate->plan.tensors[t].elements < grid_blocks(&it->candidate->plan))
            continue;
        for (int i = 0; i < EMPTY_BLOCKS_MAX && !it->written[CANDIDATE][t]; i++) {
            const double position = i == 0 ? 0 : random_uniform(&it->random);
            int status = long_run_block(it, CANDIDATE, position, failure, error);
            if (status != 0)
                return status;
        }
        if (!it->written[CANDIDATE][t])
            return fail_empty(failure, it->one.template->tensors[t].name);
    }
    return 0;
}
