#include "evaluate/diagnostics.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct diagnostics *diagnostics_new(void) {
    return xcalloc(1, sizeof(struct diagnostics));
}

void diagnostics_free(struct diagnostics *diagnostics) {
    if (diagnostics == NULL)
        return;
    free(diagnostics->log);
    free(diagnostics);
}

void diagnostics_set_log(struct diagnostics *diagnostics, const char *log) {
    static const char cut[] = "\n... the rest of the log is left out\n";
    if (diagnostics == NULL || log == NULL)
        return;
    size_t length = strlen(log);
    bool is_cut = length > LOG_BYTES_MAX;
    length = is_cut ? LOG_BYTES_MAX : length;
    free(diagnostics->log);
    diagnostics->log = xmalloc(length + sizeof cut);
    memcpy(diagnostics->log, log, length);
    strcpy(diagnostics->log + length, is_cut ? cut : "");
    for (char *at = diagnostics->log; *at != '\0'; at++)
        if (((unsigned char)*at < ' ' && *at != '\n' && *at != '\t') || *at == 127)
            *at = ' ';
}

void diagnostics_add_fault(struct diagnostics *diagnostics, const struct diagnostic_fault *fault) {
    if (diagnostics != NULL && diagnostics->fault_count < DIAGNOSED_FAULTS_MAX)
        diagnostics->faults[diagnostics->fault_count++] = *fault;
}

void diagnostics_add_cost(struct diagnostics *diagnostics, const struct diagnostic_cost *cost) {
    if (diagnostics != NULL && diagnostics->cost_count < DIAGNOSED_COSTS_MAX)
        diagnostics->costs[diagnostics->cost_count++] = *cost;
}

void diagnostics_keep_log(struct diagnostics *to, const struct diagnostics *compiled) {
    if (to != NULL && to->log == NULL && compiled != NULL)
        diagnostics_set_log(to, compiled->log);
}
