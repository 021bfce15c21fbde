#include "strategy/start.h"

#include "strategy/design.h"
#include "strategy/strategy.h"

bool start_add(struct evolution *evolution, const struct genome *genome, enum operator_kind kind) {
    for (int i = 0; i < evolution->start_count; i++)
        if (genome_equal(&evolution->starts[i].genome, genome))
            return false;
    struct proposal *start = &evolution->starts[evolution->start_count++];
    *start = strategy_proposal(kind, NULL, NULL);
    start->genome = *genome;
    return true;
}

void start_spread(struct evolution *evolution, int count) {
    struct design *design = design_new(evolution->space, evolution->seed, evolution->stream);
    struct genome genome;
    for (int i = 0; i < evolution->start_count; i++)
        design_add(design, &evolution->starts[i].genome);
    for (int i = 0; i < count && design_next(design, &genome); i++) {
        start_add(evolution, &genome, OPERATOR_START);
        design_add(design, &genome);
    }
    design_free(design);
}
