#include "serve/judge.h"

void judge_free(struct judge *judge) {
    if (judge != NULL)
        judge->operations->free(judge);
}

int judge_descriptors(const struct judge *judge, struct pollfd *polled, int limit) {
    return judge->operations->descriptors(judge, polled, limit);
}

int judge_step(struct judge *judge, struct tasks *tasks, struct error *error) {
    return judge->operations->step(judge, tasks, error);
}

cJSON *judge_definitions(const struct judge *judge) {
    return judge->operations->definitions(judge);
}

void judge_add_metrics(const struct judge *judge, cJSON *metrics) {
    judge->operations->add_metrics(judge, metrics);
}
