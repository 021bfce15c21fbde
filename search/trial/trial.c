#include "trial/trial.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void release_text(char **text) {
    free(*text);
    *text = NULL;
}

void trial_request_release(struct trial_request *request) {
    for (int c = 0; c < CASES_MAX; c++) {
        release_text(&request->sources[c]);
        release_text(&request->rival.sources[c]);
    }
    release_text(&request->rival.config);
    release_text(&request->rival.template_folder);
}

void trial_result_release(struct trial_result *result) {
    key_release(&result->key);
    key_release(&result->rival_key);
    result->has_key = false;
}

void trial_gate(struct trial_result *result, const char *name, bool passed, double seconds,
                const char *format, ...) {
    if (result->gate_count == GATES_MAX)
        result->gate_count--;
    struct gate *gate = &result->gates[result->gate_count++];
    *gate = (struct gate){.passed = passed, .seconds = seconds};
    snprintf(gate->name, sizeof gate->name, "%s", name);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(gate->text, sizeof gate->text, format, arguments);
    va_end(arguments);
}

void trial_end(struct trial_result *result, enum verdict verdict, const char *reason) {
    result->outcome.verdict = verdict;
    if (reason != NULL)
        snprintf(result->outcome.reason, sizeof result->outcome.reason, "%s", reason);
}
