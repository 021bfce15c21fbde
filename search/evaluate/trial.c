#include "evaluate/trial.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_text(char **text) {
    free(*text);
    *text = NULL;
}

void trial_key_set_environment(struct key *key, const struct device_info *device,
                               const char *nvrtc) {
    key_set(key, KEY_DEVICE, device->name);
    key_set(key, KEY_DRIVER, device->driver[0] != '\0' ? device->driver : "none");
    key_set(key, KEY_NVRTC, nvrtc);
    key_set(key, KEY_METHOD, device->predicts ? "prediction 3" : TRIAL_METHOD);
}

void trial_request_release(struct trial_request *request) {
    for (int c = 0; c < CASES_MAX; c++) {
        free_text(&request->sources[c]);
        free_text(&request->opponent.sources[c]);
    }
    free_text(&request->opponent.config);
    free_text(&request->opponent.template_folder);
    free_text(&request->opponent.implementation);
    baseline_command_release(&request->opponent.baseline);
}

void trial_request_set_champion(struct trial_request *request,
                                const struct trial_champion *champion) {
    request->champion_us = champion->score_us;
    request->within_default_smem_us = champion->within_default_smem_us;
    request->opponent = (struct trial_opponent){.present = true,
                                                .trial = champion->trial,
                                                .goal = champion->goal,
                                                .genome = champion->genome};
}

void trial_result_release(struct trial_result *result) {
    key_release(&result->key);
    key_release(&result->opponent_key);
    result->has_key = false;
}

void trial_result_clear(struct trial_result *result) {
    memset(result, 0, offsetof(struct trial_result, outcome));
    outcome_clear(&result->outcome);
}

void trial_result_init(struct trial_result *result, const struct trial_request *request) {
    trial_result_clear(result);
    result->number = request->number;
    result->goal = request->goal;
    result->genome = request->genome;
    result->opponent = -1;
}

void trial_result_move(struct trial_result *to, struct trial_result *from) {
    memcpy(to, from, offsetof(struct trial_result, outcome));
    outcome_copy(&to->outcome, &from->outcome);
    from->key = from->opponent_key = (struct key){0};
    from->has_key = false;
}

void trial_add_gate(struct trial_result *result, const char *name, bool passed, double seconds,
                    const char *format, ...) {
    if (result->gate_count == GATES_MAX)
        result->gate_count--;
    struct trial_gate *gate = &result->gates[result->gate_count++];
    *gate = (struct trial_gate){.passed = passed, .seconds = seconds};
    snprintf(gate->name, sizeof gate->name, "%s", name);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(gate->text, sizeof gate->text, format, arguments);
    va_end(arguments);
}

void trial_set_verdict(struct trial_result *result, enum verdict verdict, const char *reason) {
    result->outcome.verdict = verdict;
    if (reason != NULL)
        snprintf(result->outcome.reason, sizeof result->outcome.reason, "%s", reason);
}
