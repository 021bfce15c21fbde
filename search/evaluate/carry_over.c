#include "evaluate/carry_over.h"

#include "base/memory.h"
#include "base/statistics.h"
#include "evaluate/prepare_call.h"

#include <stdlib.h>

enum { CHANGE_BLOCKS = 32, CHANGE_DEADLINE_S = 60, PAIRS = 5 };

/* The same graph of an honest kernel differs by a few percent between replays; a kernel gains
   from what it keeps only if it avoids most of the work. */
static const double slower_margin = 1.25;

enum change { CHANGE_MIXED, CHANGE_EVERY_ROW, CHANGE_NOTHING };

/* Both as in compare.cu. */
struct changed_tensor {
    uint64_t address;
    int64_t elements, row, bytes;
    int32_t dtype, role;
    uint64_t set;
    int32_t fill, unused;
    double value, most;
};
struct change_control {
    uint64_t seed, generation, change;
};

struct carry_over {
    struct buffers *buffers;
    struct device *device;
    int tensor_count;                /* over all sets */
    uint64_t table;                  /* on the device: struct changed_tensor [tensor_count] */
    uint64_t on_device;              /* struct change_control */
    struct change_control control;   /* as last written */
    struct device_sequence *chained; /* of the graph; owned */
    struct device_graph *chain;      /* NULL: none */
};

/* An input whose elements depend on each other, or on those of another tensor, stays as it is. */
static bool may_change(const struct template *template, int t, const struct tensor_fill *fill) {
    return template->tensors[t].role != ROLE_INPUT ||
           (!template->of_setup[t] && (fill->fill == FILL_NORMAL || fill->fill == FILL_UNIFORM ||
                                       fill->fill == FILL_INTEGERS || fill->fill == FILL_SPARSE));
}

static int collect_tensors(const struct buffers *buffers, struct changed_tensor *table) {
    int count = 0;
    for (int s = 0; s < buffers->set_count; s++)
        for (int t = 0; t < buffers->template->tensor_count; t++) {
            const struct planned_tensor *planned = &buffers->plan->tensors[t];
            if (!buffers_owns(buffers, s, t) || !may_change(buffers->template, t, &planned->fill) ||
                (buffers->template->tensors[t].role == ROLE_INPUT &&
                 buffers->template->reference_kind == REFERENCE_ANSWERS)) /* none for others */
                continue;
            table[count++] =
                (struct changed_tensor){.address = buffers->tensors[s][t],
                                        .elements = planned->elements,
                                        .row = planned->row,
                                        .bytes = planned->bytes,
                                        .dtype = (int32_t)planned->dtype,
                                        .role = (int32_t)buffers->template->tensors[t].role,
                                        .set = (uint64_t)s,
                                        .fill = (int32_t)planned->fill.fill,
                                        .value = planned->fill.value,
                                        .most = planned->fill.most};
        }
    return count;
}

struct carry_over *carry_over_new(struct buffers *buffers, uint64_t seed, struct error *error) {
    const struct device_backend *backend = buffers->device->backend;
    struct changed_tensor *table = xcalloc(SETS_MAX * TENSORS_MAX, sizeof *table);
    struct carry_over *it = xcalloc(1, sizeof *it);
    it->buffers = buffers;
    it->device = buffers->device;
    it->control.seed = seed;
    it->tensor_count = collect_tensors(buffers, table);
    size_t bytes = (size_t)it->tensor_count * sizeof *table;
    int status = backend->memory_new(it->device, "the table of changes", bytes, &it->table, error);
    if (status == 0)
        status = backend->memory_new(it->device, "the control of changes", sizeof it->control,
                                     &it->on_device, error);
    if (status == 0)
        status = backend->write(it->device, it->table, table, bytes, error);
    free(table);
    if (status == 0)
        return it;
    carry_over_free(it);
    return NULL;
}

void carry_over_free(struct carry_over *it) {
    if (it == NULL)
        return;
    const struct device_backend *backend = it->device->backend;
    if (it->chain != NULL)
        backend->graph_free(it->device, it->chain);
    if (it->table != 0)
        backend->memory_free(it->device, it->table);
    if (it->on_device != 0)
        backend->memory_free(it->device, it->on_device);
    free(it->chained);
    free(it);
}

/* ---- changes ---- */

/* Chooses what the next launches change, and that it differs from all before. */
static int set_control(struct carry_over *it, enum change change, struct error *error) {
    it->control.change = (uint64_t)change;
    it->control.generation++;
    return it->device->backend->write(it->device, it->on_device, &it->control, sizeof it->control,
                                      error);
}

static struct device_launch change_launch(const struct carry_over *it, uint64_t round) {
    struct device_launch launch =
        comparator_launch(it->buffers->comparator, "evotile_change", CHANGE_BLOCKS);
    launch.grid[1] = (unsigned)it->tensor_count;
    launch_add_argument(&launch, &it->table, 8);
    launch_add_argument(&launch, &it->on_device, 8);
    launch_add_argument(&launch, &round, 8);
    return launch;
}

static int record_inputs(struct carry_over *it, struct error *error) {
    for (int s = 0; s < it->buffers->set_count; s++)
        if (buffers_record(it->buffers, s, error) < 0)
            return -1;
    return 0;
}

int carry_over_change(struct carry_over *it, struct error *error) {
    char reason[REASON_SIZE];
    struct device_sequence sequence = {.count = 1, .launches = {change_launch(it, 0)}};
    if (set_control(it, CHANGE_MIXED, error) < 0)
        return -1;
    if (it->device->backend->run(it->device, &sequence, CHANGE_DEADLINE_S, reason) != VERDICT_OK)
        return error_set(error, "evotile's own kernels failed, evotile_change first: %s", reason);
    return record_inputs(it, error);
}

/* ---- the chain ---- */

/* What comes before the calls of a round: the variables, then the outputs. */
static int add_before(struct carry_over *it, const struct timed_calls *calls,
                      const struct device_sequence *variables, int count) {
    if (variables->count > 0)
        it->chained[count++] = *variables;
    for (int s = 0; calls->before != NULL && s < it->buffers->set_count; s++)
        it->chained[count++] = calls->before[s];
    return count;
}

/* The calls of all sets, then a change and the calls again, and so on; at the end the generation
   of the changes is raised, so that the next replay's differ. */
static int chain_sequences(struct carry_over *it, const struct timed_calls *calls,
                           const struct device_sequence *variables, int rounds) {
    int sets = it->buffers->set_count, count = 0;
    struct device_launch next =
        comparator_launch(it->buffers->comparator, "evotile_next_change", 1);
    next.block[0] = 1;
    launch_add_argument(&next, &it->on_device, 8);
    it->chained = xcalloc((size_t)(rounds * (2 * sets + 2)), sizeof *it->chained);
    for (int r = 0; r < rounds; r++) {
        if (r > 0)
            it->chained[count++] =
                (struct device_sequence){.count = 1, .launches = {change_launch(it, (uint64_t)r)}};
        count = add_before(it, calls, variables, count);
        for (int s = 0; s < sets; s++)
            it->chained[count++] = calls->calls[s];
    }
    it->chained[count++] = (struct device_sequence){.count = 1, .launches = {next}};
    return count;
}

/* Replays the chain twice and times the second. */
static int sample_chain(struct carry_over *it, enum change change, double *sample_us,
                        struct failure *failure, struct error *error) {
    if (set_control(it, change, error) < 0)
        return -1;
    failure->verdict =
        it->device->backend->graph_sample(it->device, it->chain, 1, sample_us, failure->reason);
    it->control.generation += 2;
    return failure->verdict != VERDICT_OK;
}

int carry_over_chain(struct carry_over *it, const struct timed_calls *calls, int rounds,
                     double deadline_s, struct failure *failure, struct error *error) {
    struct device_sequence variables;
    if (variables_sequence(it->buffers, calls->module, &variables, failure->reason) != 0) {
        failure->verdict = VERDICT_LAUNCH_FAILED;
        return 1;
    }
    int count = chain_sequences(it, calls, &variables, rounds);
    const struct device_timing timing = {.launches = count, .deadline_s = deadline_s * count};
    double sample_us;
    failure->verdict = it->device->backend->graph_new(it->device, it->chained, count, &timing,
                                                      &it->chain, failure->reason);
    if (failure->verdict != VERDICT_OK)
        return 1;
    int status = sample_chain(it, CHANGE_MIXED, &sample_us, failure, error);
    return status == 0 ? record_inputs(it, error) : status;
}

bool carry_over_is_slower(const double *changed_us, const double *unchanged_us, int pairs,
                          double *ratio) {
    double ratios[PAIRS];
    bool every = true;
    for (int i = 0; i < pairs; i++) {
        ratios[i] = changed_us[i] / unchanged_us[i];
        every = every && ratios[i] > slower_margin;
    }
    *ratio = statistics_percentile(ratios, pairs, 50);
    return every;
}

int carry_over_time(struct carry_over *it, struct failure *failure, struct error *error) {
    double changed_us[PAIRS];
    double unchanged_us[PAIRS];
    double ratio;
    for (int i = 0; i < PAIRS; i++) {
        int status = sample_chain(it, CHANGE_NOTHING, &unchanged_us[i], failure, error);
        if (status == 0)
            status = sample_chain(it, CHANGE_EVERY_ROW, &changed_us[i], failure, error);
        if (status != 0)
            return status;
    }
    if (!carry_over_is_slower(changed_us, unchanged_us, PAIRS, &ratio))
        return record_inputs(it, error);
    failure->verdict = VERDICT_WRONG;
    snprintf(failure->reason, sizeof failure->reason,
             "%.2f times as slow when its inputs change as when they stay: it keeps results "
             "between calls",
             ratio);
    return 1;
}
