#include "evaluate/checks.h"

#include "base/strbuf.h"

#include <inttypes.h>
#include <string.h>

/* The gates that check a result, and what the line calls them. */
static const struct {
    const char *gate, *words;
} measures[] = {
    {"probe cases", "probe cases"},
    {"cases", "cases"},
    {"timing", "timed outputs"},
    {"edge shapes", "edge shapes"},
    {"thin shapes", "thin shapes"},
    {"hard inputs", "hard inputs"},
    {"held out", "held-out cases"},
    {"flush memory", "work carried over in flush memory"},
    {"long cases", "blocks of long cases"},
    {"race checker", "race checker"},
};

/* Of the final checks: it runs on every device. */
static const char last_gate[] = "race checker";

static const char *measure_of(const struct trial_gate *gate) {
    for (size_t m = 0; m < sizeof measures / sizeof *measures; m++)
        if (gate->passed && strcmp(gate->name, measures[m].gate) == 0)
            return measures[m].words;
    return NULL;
}

/* Appends " (3 of 3)" of "3 of 3 correct on ...", " (not checked: ...)", and nothing of the timing
   gates, which count no cases. */
static void append_count(char checks[CHECKS_SIZE], const char *text) {
    const char *end = strstr(text, " correct");
    if (end == NULL)
        end = strstr(text, " agree"); /* with the default genome */
    if (end == NULL)
        end = strstr(text, " without findings");
    if (end == NULL && strncmp(text, "not checked", strlen("not checked")) == 0)
        end = text + strlen(text);
    if (end != NULL)
        text_append(checks, CHECKS_SIZE, " (%.*s)", (int)(end - text), text);
}

void checks_record(struct trial_result *result, int inputs, uint64_t seed,
                   const struct device_info *device, enum regime regime) {
    char *checks = result->outcome.checks;
    bool final = false, agrees = false;
    checks[0] = '\0';
    for (int g = 0; g < result->gate_count; g++) {
        const struct trial_gate *gate = &result->gates[g];
        const char *words = measure_of(gate);
        if (words == NULL)
            continue;
        text_append(checks, CHECKS_SIZE, "%s%s", checks[0] != '\0' ? ", " : "", words);
        append_count(checks, gate->text);
        agrees = agrees || strstr(gate->text, " agree") != NULL;
        final = final || strcmp(gate->name, last_gate) == 0;
    }
    if (!final || result->outcome.verdict != VERDICT_OK)
        checks[0] = '\0';
    else
        text_append(checks, CHECKS_SIZE, "%s; %d inputs of seed %" PRIu64 "; %s; %s",
                    agrees ? "; agrees with the default genome" : "", inputs, seed, device->name,
                    trial_method(device, regime));
}
