/*
 * resource_budget: limits on one piece of work that this process does for a source that is not
 * trusted: a compilation.
 *
 *     const struct resource_budget budget = resource_budget_default();
 *     resource_budget_begin(&budget);
 *     // compile: memory beyond the budget is not there, CPU time beyond it is SIGXCPU
 *     resource_budget_end();
 *
 * Both are soft limits of the whole process (setrlimit(2): RLIMIT_DATA, RLIMIT_CPU), counted from
 * what it has used at the start, and lifted at the end. One budget at a time. Built with a
 * sanitizer, whose shadow memory has no bounds, the memory is not limited.
 */
#ifndef EVOTILE_BASE_RESOURCE_BUDGET_H
#define EVOTILE_BASE_RESOURCE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct resource_budget {
    int64_t memory_bytes; /* 0: no limit */
    int cpu_s;            /* of all threads together; 0: no limit */
};

/* A quarter of the memory of this process's machine or control group, at most 4 GB, and 60 s; or
   $EVOTILE_COMPILE_MB and $EVOTILE_COMPILE_SECONDS. */
struct resource_budget resource_budget_default(void);

void resource_budget_begin(const struct resource_budget *budget);
void resource_budget_end(void);

/* These may be called in a signal handler. */
bool resource_budget_is_active(void);
/* True if more than half of the budget's memory cannot be had any more. */
bool resource_budget_memory_is_spent(void);

#endif
