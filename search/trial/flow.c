#include "trial/flow.h"

#include <math.h>
#include <stdbool.h>

enum { REMEMBERED = 32, WAITING = 2 };

/* Ratio of compile time to evaluation time before either was measured: on an H200 it was 2 while
   new champions were frequent, and 11 later. */
static const double usual_ratio = 4;

void flow_note(struct flow_stage *stage, double seconds) {
    if (stage->count < REMEMBERED)
        stage->count++;
    stage->mean_s += (seconds - stage->mean_s) / stage->count;
}

int flow_capacity(const struct flow *flow, int devices, int compilers) {
    bool known = flow->compile.count > 0 && flow->judge.count > 0 && flow->judge.mean_s > 0;
    double ratio = known ? flow->compile.mean_s / flow->judge.mean_s : usual_ratio;
    double compiling = devices * ratio;
    double wanted = ceil(compiling + 2 * sqrt(compiling));
    return (wanted < compilers ? (int)wanted : compilers) + (1 + WAITING) * devices;
}
