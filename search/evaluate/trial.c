#include "evaluate/trial.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

static void free_text(char **text) {
    free(*text);
    *text = NULL;
}

void trial_key_set_environment(struct key *key, const struct device_info *device, const char *nvrtc,
                               enum regime regime) {
    key_set(key, KEY_DEVICE, device->name);
    key_set(key, KEY_DRIVER, device->driver[0] != '\0' ? device->driver : "none");
    key_set(key, KEY_NVRTC, nvrtc);
    key_set(key, KEY_METHOD, trial_method(device, regime));
}

const char *trial_method(const struct device_info *device, enum regime regime) {
    static const char *const methods[REGIME_COUNT] = {TRIAL_METHOD ", sustained",
                                                      TRIAL_METHOD ", boost"};
    return device->predicts ? "prediction 6" : methods[regime];
}

void trial_request_release(struct trial_request *request) {
    for (int c = 0; c < CASES_MAX; c++) {
        free_text(&request->sources[c]);
        free_text(&request->cubins[c]);
        free_text(&request->opponent.cubins[c]);
        free_text(&request->opponent.sources[c]);
    }
    free_text(&request->config);
    free_text(&request->template_folder);
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
    free(result->case_results);
    diagnostics_free(result->diagnostics);
    outcome_release(&result->outcome);
    *result = (struct trial_result){0};
}

void trial_result_init(struct trial_result *result, const struct trial_request *request) {
    *result = (struct trial_result){.number = request->number,
                                    .goal = request->goal,
                                    .genome = request->genome,
                                    .opponent = -1,
                                    .diagnostics = request->diagnosed ? diagnostics_new() : NULL};
}

void trial_result_move(struct trial_result *to, struct trial_result *from) {
    *to = *from;
    *from = (struct trial_result){0};
}

void trial_result_set_case_results(struct trial_result *result, int count) {
    free(result->case_results);
    result->case_result_count = count;
    result->case_results = count > 0 ? xcalloc((size_t)count, sizeof *result->case_results) : NULL;
}

/* A compiler's message quotes the candidate, which may contain a terminal's escape sequences. */
static void blank_controls(char *text) {
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = ' ';
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
    blank_controls(gate->text);
}

void trial_set_verdict(struct trial_result *result, enum verdict verdict, const char *reason) {
    result->outcome.verdict = verdict;
    if (reason != NULL)
        snprintf(result->outcome.reason, sizeof result->outcome.reason, "%s", reason);
    blank_controls(result->outcome.reason);
}
