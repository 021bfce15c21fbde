#include "pool/concurrency.h"

#include <math.h>
#include <stdbool.h>

enum { AVERAGE_WINDOW = 32, QUEUED_PER_DEVICE = 2 };

/* Ratio of compile time to evaluation time before either was measured: on an H200 it was 2 while
   new champions were frequent, and 11 later. */
static const double default_ratio = 4;

void concurrency_record(struct stage_time *stage, double seconds) {
    if (stage->count < AVERAGE_WINDOW)
        stage->count++;
    stage->mean_s += (seconds - stage->mean_s) / stage->count;
}

int concurrency_limit(const struct concurrency *concurrency, int devices, int compilers) {
    bool has_means = concurrency->compile.count > 0 && concurrency->evaluate.count > 0 &&
                     concurrency->evaluate.mean_s > 0;
    double ratio =
        has_means ? concurrency->compile.mean_s / concurrency->evaluate.mean_s : default_ratio;
    double compiling = devices * ratio;
    double compile_slots = ceil(compiling + 2 * sqrt(compiling));
    return (compile_slots < compilers ? (int)compile_slots : compilers) +
           (1 + QUEUED_PER_DEVICE) * devices;
}
