#include "dispatch/cover.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { STEPS_MAX = 200000 };

/* A search for fewer kernels. Sets of kernels are masks. */
struct cover_search {
    int set_count;
    uint64_t *sets; /* for each case the kernels that serve it: of two where one contains the other
                       only the smaller */
    int best_count;
    uint64_t best;
    int steps;
};

static int bit_count(uint64_t set) {
    return __builtin_popcountll(set);
}

static int compare_sets(const void *left, const void *right) {
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return bit_count(a) != bit_count(b) ? bit_count(a) - bit_count(b) : (a > b) - (a < b);
}

/* The kernels that serve a case; none if no kernel fits it. */
static uint64_t serving_set(const struct kernel_times *times, int case_index, double within) {
    uint64_t set = 0;
    for (int k = 0; k < times->kernel_count; k++)
        if (kernel_times_ratio(times, case_index, k) <= 1 + within)
            set |= UINT64_C(1) << k;
    return set;
}

/* Fills the sets, smallest first. */
static void add_sets(struct cover_search *search, const struct kernel_times *times, double within) {
    int count = 0;
    for (int c = 0; c < times->case_count; c++) {
        search->sets[count] = serving_set(times, c, within);
        count += search->sets[count] != 0;
    }
    qsort(search->sets, (size_t)count, sizeof *search->sets, compare_sets);
    for (int i = 0; i < count; i++) {
        bool needed = true;
        for (int j = 0; j < search->set_count && needed; j++)
            needed = (search->sets[j] & ~search->sets[i]) != 0;
        if (needed)
            search->sets[search->set_count++] = search->sets[i];
    }
}

static uint64_t greedy_cover(const struct cover_search *search) {
    uint64_t chosen = 0;
    for (;;) {
        int served[DISPATCH_KERNELS_MAX] = {0}, most = 0;
        for (int i = 0; i < search->set_count; i++)
            for (int k = 0; k < DISPATCH_KERNELS_MAX && (search->sets[i] & chosen) == 0; k++)
                served[k] += (int)(search->sets[i] >> k & 1);
        for (int k = 1; k < DISPATCH_KERNELS_MAX; k++)
            if (served[k] > served[most])
                most = k;
        if (served[most] == 0)
            return chosen;
        chosen |= UINT64_C(1) << most;
    }
}

/* Cases that are left, no two of which a kernel serves: each needs a kernel of its own. */
static int least_more(const struct cover_search *search, uint64_t chosen, uint64_t excluded) {
    uint64_t used = 0;
    int count = 0;
    for (int i = 0; i < search->set_count; i++) {
        const uint64_t set = search->sets[i] & ~excluded;
        if ((search->sets[i] & chosen) != 0 || (set & used) != 0)
            continue;
        used |= set;
        count++;
    }
    return count;
}

/* The smallest set that is left; 0 if all are served. */
static uint64_t hardest_set(const struct cover_search *search, uint64_t chosen, uint64_t excluded) {
    uint64_t hardest = 0;
    for (int i = 0; i < search->set_count; i++) {
        const uint64_t set = search->sets[i] & ~excluded;
        if ((search->sets[i] & chosen) == 0 &&
            (hardest == 0 || bit_count(set) < bit_count(hardest)))
            hardest = set;
    }
    return hardest;
}

static bool any_left(const struct cover_search *search, uint64_t chosen) {
    for (int i = 0; i < search->set_count; i++)
        if ((search->sets[i] & chosen) == 0)
            return true;
    return false;
}

/* Tries each kernel that serves the hardest case; the later branches are without the earlier
   ones' kernels. */
static void branch(struct cover_search *search, uint64_t chosen, uint64_t excluded) {
    if (search->steps >= STEPS_MAX)
        return;
    search->steps++;
    if (!any_left(search, chosen)) {
        if (bit_count(chosen) < search->best_count) {
            search->best_count = bit_count(chosen);
            search->best = chosen;
        }
        return;
    }
    if (bit_count(chosen) + least_more(search, chosen, excluded) >= search->best_count)
        return;
    const uint64_t set = hardest_set(search, chosen, excluded);
    for (int k = 0; k < DISPATCH_KERNELS_MAX; k++) {
        const uint64_t kernel = UINT64_C(1) << k;
        if ((set & kernel) == 0)
            continue;
        branch(search, chosen | kernel, excluded);
        excluded |= kernel;
    }
}

void cover_find(const struct kernel_times *times, double within, struct cover *cover) {
    if (times->kernel_count < 1 || times->kernel_count > DISPATCH_KERNELS_MAX || !(within >= 0))
        BUG("a cover of %d kernels within %g", times->kernel_count, within);
    struct cover_search search = {.sets =
                                      xcalloc((size_t)times->case_count + 1, sizeof *search.sets)};
    *cover = (struct cover){0};
    add_sets(&search, times, within);
    search.best = greedy_cover(&search);
    search.best_count = bit_count(search.best);
    branch(&search, 0, 0);
    for (int k = 0; k < times->kernel_count; k++)
        if ((search.best >> k & 1) != 0)
            cover->kernels[cover->count++] = k;
    for (int c = 0; c < times->case_count; c++)
        cover->unserved += kernel_times_fastest(times, c) < 0;
    cover->exact = search.steps < STEPS_MAX;
    free(search.sets);
}

static int compare_doubles(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The fractions at which a case gets one more kernel, ascending. The caller frees them. */
static double *growing_fractions(const struct kernel_times *times, double within, int *count) {
    const size_t size = (size_t)times->case_count * (size_t)times->kernel_count;
    double *fractions = xmalloc((size + 1) * sizeof *fractions);
    *count = 0;
    for (int c = 0; c < times->case_count; c++)
        for (int k = 0; k < times->kernel_count; k++) {
            const double ratio = kernel_times_ratio(times, c, k);
            if (isfinite(ratio) && ratio > 1 + within)
                fractions[(*count)++] = ratio - 1; /* exact: 1 + (ratio - 1) is the ratio */
        }
    qsort(fractions, (size_t)*count, sizeof *fractions, compare_doubles);
    return fractions;
}

double cover_find_at_most(const struct kernel_times *times, double within, int most,
                          struct cover *cover) {
    int count;
    cover_find(times, within, cover);
    if (cover->count <= most)
        return within;
    double *fractions = growing_fractions(times, within, &count);
    if (count > 0)
        cover_find(times, fractions[count - 1], cover); /* every kernel that fits serves */
    if (most < cover->count)
        most = cover->count;
    int low = 0, high = count - 1;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        cover_find(times, fractions[middle], cover);
        if (cover->count <= most)
            high = middle;
        else
            low = middle + 1;
    }
    if (count > 0)
        within = fractions[low];
    free(fractions);
    cover_find(times, within, cover);
    return within;
}
