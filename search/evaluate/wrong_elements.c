#include "evaluate/wrong_elements.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEARCHED_MAX = 1 << 24 };

/* Copies the first elements as doubles; NULL if the device fails. */
static double *copy_elements(const struct verify_case *one, uint64_t address, enum dtype dtype,
                             int64_t count) {
    const struct device_backend *backend = one->device->backend;
    struct error ignored = {0};
    uint64_t doubles;
    double *host = xcalloc((size_t)count, sizeof *host);
    if (backend->memory_new(one->device, "elements", (size_t)count * sizeof *host, &doubles,
                            &ignored) < 0) {
        free(host);
        return NULL;
    }
    int status =
        comparator_convert(one->comparator, address, dtype, doubles, DTYPE_F64, count, &ignored);
    if (status == 0)
        status = comparator_finish(one->comparator, &ignored);
    if (status == 0)
        status = backend->read(one->device, doubles, host, (size_t)count * sizeof *host, &ignored);
    backend->memory_free(one->device, doubles);
    if (status == 0)
        return host;
    free(host);
    return NULL;
}

/* By how much an element is off, as a multiple of what it may be; infinite if only one of both is a
   number. */
static double excess_of(double got, double wanted, const struct tolerance *tolerance,
                        const struct errors *bound) {
    double limit = tolerance->given && tolerance->of_magnitude == 0
                       ? tolerance->absolute + tolerance->relative * fabs(wanted)
                       : bound->max_absolute;
    double error = fabs(got - wanted);
    if (isfinite(got) != isfinite(wanted) || (isnan(got) != isnan(wanted)))
        return INFINITY;
    if (!isfinite(wanted) || error == 0)
        return got == wanted || error == 0 || isnan(wanted) ? 0 : INFINITY;
    return limit > 0 ? error / limit : INFINITY;
}

static void print_index(const struct planned_tensor *tensor, int64_t element, char *text,
                        size_t size) {
    int64_t rest = element, at[RANK_MAX];
    size_t used = 0;
    for (int d = tensor->rank - 1; d >= 0; d--) {
        at[d] = rest % tensor->extents[d];
        rest /= tensor->extents[d];
    }
    *text = '\0';
    for (int d = 0; d < tensor->rank && used < size; d++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", d > 0 ? "," : "",
                                 (long long)at[d]);
}

static void add_element(struct diagnostics *diagnostics, const char *name,
                        const struct planned_tensor *tensor, int64_t element, double got,
                        double wanted) {
    struct wrong_element *wrong = &diagnostics->wrong[diagnostics->wrong_count++];
    snprintf(wrong->tensor, sizeof wrong->tensor, "%s", name);
    print_index(tensor, element, wrong->index, sizeof wrong->index);
    wrong->got = got;
    wrong->wanted = wanted;
}

static void search_elements(struct diagnostics *diagnostics, const struct compared *compared,
                            const char *name, const struct errors *bound, const double *got,
                            const double *wanted, int64_t count) {
    int64_t worst = -1;
    double worst_excess = 0;
    for (int64_t i = 0; i < count && diagnostics->wrong_count < WRONG_ELEMENTS_MAX; i++) {
        if (compared->unwritten != 0 && memcmp(&wanted[i], &compared->unwritten, 8) == 0)
            continue;
        double excess = excess_of(got[i], wanted[i], &compared->tensor->tolerance, bound);
        if (excess > 1)
            add_element(diagnostics, name, compared->tensor, i, got[i], wanted[i]);
        if (excess > worst_excess) {
            worst = i;
            worst_excess = excess;
        }
    }
    if (diagnostics->wrong_count == 0 && worst >= 0)
        add_element(diagnostics, name, compared->tensor, worst, got[worst], wanted[worst]);
}

void list_wrong_elements(const struct verify_case *one, const struct compared *compared,
                         const char *name, const struct errors *bound) {
    struct diagnostics *diagnostics = one->diagnostics;
    const struct planned_tensor *tensor = compared->tensor;
    const int64_t count = tensor->elements < SEARCHED_MAX ? tensor->elements : SEARCHED_MAX;
    if (diagnostics == NULL || diagnostics->wrong_count > 0)
        return;
    double *got = copy_elements(one, compared->output, tensor->dtype, count);
    double *wanted = got == NULL
                         ? NULL
                         : copy_elements(one, compared->reference,
                                         tensor->dtype == DTYPE_I64 ? DTYPE_I64 : DTYPE_F64, count);
    if (wanted != NULL) {
        template_print_shape(one->template, &one->template->cases[one->case_index],
                             diagnostics->case_name);
        search_elements(diagnostics, compared, name, bound, got, wanted, count);
    }
    free(got);
    free(wanted);
}
