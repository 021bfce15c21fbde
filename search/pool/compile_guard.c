#include "pool/compile_guard.h"

#include "base/memory.h"
#include "pool/protocol.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Marks the answers; no other gate has this name. */
static const char gate_name[] = "compiler";

enum answer { ANSWER_CPU, ANSWER_MEMORY, ANSWER_COUNT };

static struct {
    int to;
    char *lines[ANSWER_COUNT]; /* owned; each ends with a line end */
    size_t lengths[ANSWER_COUNT];
} guard;

static void send_answer(enum answer answer) {
    const char *at = guard.lines[answer];
    for (size_t left = guard.lengths[answer]; left > 0;) {
        ssize_t sent = write(guard.to, at, left);
        if (sent <= 0)
            break;
        at += sent;
        left -= (size_t)sent;
    }
    _exit(EXIT_FAILURE);
}

/* A segmentation fault can be a null pointer that the compiler got instead of memory. */
static void handle_signal(int signal_number) {
    if (resource_budget_is_active() && guard.lines[ANSWER_CPU] != NULL) {
        if (signal_number == SIGXCPU)
            send_answer(ANSWER_CPU);
        if (signal_number == SIGABRT || resource_budget_memory_is_spent())
            send_answer(ANSWER_MEMORY);
    }
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void compile_guard_install(void) {
    signal(SIGXCPU, handle_signal);
#if !defined(__SANITIZE_ADDRESS__) /* it reports these itself */
    signal(SIGABRT, handle_signal);
    signal(SIGSEGV, handle_signal);
#endif
}

static void prepare_answer(enum answer answer, const struct trial_request *request,
                           const char *worker, const char *reason) {
    struct trial_result *result = xcalloc(1, sizeof *result);
    trial_result_init(result, request);
    snprintf(result->worker, sizeof result->worker, "%s", worker);
    trial_add_gate(result, gate_name, false, 0, "%.150s", reason);
    trial_set_verdict(result, VERDICT_COMPILE_FAILED, reason);
    char *line = protocol_print_result(result);
    size_t length = strlen(line);
    free(guard.lines[answer]);
    guard.lines[answer] = xrealloc(line, length + 2);
    strcpy(guard.lines[answer] + length, "\n");
    guard.lengths[answer] = length + 1;
    trial_result_release(result);
    free(result);
}

bool compile_guard_ended_worker(const struct trial_result *result) {
    for (int g = 0; g < result->gate_count; g++)
        if (strcmp(result->gates[g].name, gate_name) == 0)
            return true;
    return false;
}

void compile_guard_prepare(int to, const struct trial_request *request, const char *worker,
                           const struct resource_budget *budget) {
    char reason[REASON_SIZE];
    guard.to = to;
    snprintf(reason, sizeof reason,
             "the compiler was stopped after %d s of CPU time, the limit of a compilation",
             budget->cpu_s);
    prepare_answer(ANSWER_CPU, request, worker, reason);
    snprintf(reason, sizeof reason,
             "the compiler aborted, as it does without memory: the limit of a compilation is "
             "%lld MB",
             (long long)(budget->memory_bytes >> 20));
    prepare_answer(ANSWER_MEMORY, request, worker, reason);
}
