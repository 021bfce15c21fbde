/* The printer and the reader of each message stand side by side, so that neither is changed
   alone; the file is long for that reason. */
#include "pool/protocol.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- fields of plain structs, listed once for printing and reading ---- */

enum field_kind { FIELD_INT, FIELD_INT64, FIELD_DOUBLE, FIELD_BOOL, FIELD_TEXT };

struct protocol_field {
    const char *name;
    enum field_kind kind;
    size_t offset, size;
};

#define FIELD(type, kind, required_member)                                                         \
    {                                                                                              \
#required_member, kind, offsetof(struct type, required_member),                            \
            sizeof(((struct type *)0)->required_member)                                            \
    }

static const struct protocol_field device_fields[] = {
    FIELD(device_info, FIELD_TEXT, spec),
    FIELD(device_info, FIELD_TEXT, name),
    FIELD(device_info, FIELD_TEXT, uuid),
    FIELD(device_info, FIELD_TEXT, driver),
    FIELD(device_info, FIELD_INT, compute_capability),
    FIELD(device_info, FIELD_INT, sm_count),
    FIELD(device_info, FIELD_INT, smem_per_block),
    FIELD(device_info, FIELD_INT, smem_per_block_optin),
    FIELD(device_info, FIELD_INT, smem_per_sm),
    FIELD(device_info, FIELD_INT, registers_per_sm),
    FIELD(device_info, FIELD_INT, threads_per_sm),
    FIELD(device_info, FIELD_INT, blocks_per_sm),
    FIELD(device_info, FIELD_INT64, memory_bytes),
    FIELD(device_info, FIELD_INT, l2_bytes),
    FIELD(device_info, FIELD_DOUBLE, clock_mhz),
    FIELD(device_info, FIELD_BOOL, predicts),
    FIELD(device_info, FIELD_DOUBLE, dram_gb_per_s),
    FIELD(device_info, FIELD_DOUBLE, l2_gb_per_s),
    FIELD(device_info, FIELD_DOUBLE, tensor_tflops),
    FIELD(device_info, FIELD_DOUBLE, fp32_tflops),
    FIELD(device_info, FIELD_DOUBLE, launch_us),
    FIELD(device_info, FIELD_DOUBLE, event_us),
    FIELD(device_info, FIELD_DOUBLE, duel_margin),
    {0},
};
static const struct protocol_field outcome_fields[] = {
    FIELD(outcome, FIELD_TEXT, reason),
    FIELD(outcome, FIELD_BOOL, predicted),
    FIELD(outcome, FIELD_BOOL, raced),
    FIELD(outcome, FIELD_BOOL, limited_range),
    FIELD(outcome, FIELD_INT, case_count),
    FIELD(outcome, FIELD_INT, resources.registers),
    FIELD(outcome, FIELD_INT, resources.smem_bytes),
    FIELD(outcome, FIELD_INT, resources.local_bytes),
    FIELD(outcome, FIELD_INT, resources.spill_bytes),
    FIELD(outcome, FIELD_INT, resources.ctas_per_sm),
    FIELD(outcome, FIELD_DOUBLE, resources.occupancy),
    FIELD(outcome, FIELD_DOUBLE, compile_s),
    FIELD(outcome, FIELD_DOUBLE, verify_s),
    FIELD(outcome, FIELD_DOUBLE, measure_s),
    FIELD(outcome, FIELD_DOUBLE, score_us),
    FIELD(outcome, FIELD_INT, duel.result),
    FIELD(outcome, FIELD_INT, duel.blocks),
    FIELD(outcome, FIELD_DOUBLE, duel.ratio),
    FIELD(outcome, FIELD_DOUBLE, duel.low),
    FIELD(outcome, FIELD_DOUBLE, duel.high),
    FIELD(outcome, FIELD_INT, conditions.sm_mhz_low),
    FIELD(outcome, FIELD_INT, conditions.sm_mhz_high),
    FIELD(outcome, FIELD_INT, conditions.memory_mhz),
    FIELD(outcome, FIELD_INT, conditions.temperature_c),
    FIELD(outcome, FIELD_DOUBLE, conditions.power_w),
    FIELD(outcome, FIELD_INT64, conditions.slowdowns),
    FIELD(outcome, FIELD_INT, conditions.discarded),
    {0},
};
static const struct protocol_field case_fields[] = {
    FIELD(case_outcome, FIELD_DOUBLE, errors.relative_l2),
    FIELD(case_outcome, FIELD_DOUBLE, errors.row_relative_l2),
    FIELD(case_outcome, FIELD_DOUBLE, errors.max_absolute),
    FIELD(case_outcome, FIELD_DOUBLE, bound.relative_l2),
    FIELD(case_outcome, FIELD_DOUBLE, bound.row_relative_l2),
    FIELD(case_outcome, FIELD_DOUBLE, bound.max_absolute),
    FIELD(case_outcome, FIELD_DOUBLE, warm.p10_us),
    FIELD(case_outcome, FIELD_DOUBLE, warm.p50_us),
    FIELD(case_outcome, FIELD_DOUBLE, warm.p90_us),
    FIELD(case_outcome, FIELD_INT, ctas),
    FIELD(case_outcome, FIELD_DOUBLE, tflops),
    FIELD(case_outcome, FIELD_DOUBLE, cold.p10_us),
    FIELD(case_outcome, FIELD_DOUBLE, cold.p50_us),
    FIELD(case_outcome, FIELD_DOUBLE, cold.p90_us),
    FIELD(case_outcome, FIELD_DOUBLE, gb_per_s),
    FIELD(case_outcome, FIELD_DOUBLE, ceiling),
    {0},
};
static const struct protocol_field gate_fields[] = {
    FIELD(trial_gate, FIELD_TEXT, name),
    FIELD(trial_gate, FIELD_BOOL, passed),
    FIELD(trial_gate, FIELD_DOUBLE, seconds),
    FIELD(trial_gate, FIELD_TEXT, text),
    {0},
};
static const struct protocol_field case_result_fields[] = {
    FIELD(case_result, FIELD_TEXT, against),
    FIELD(case_result, FIELD_DOUBLE, ratio),
    FIELD(case_result, FIELD_DOUBLE, low),
    FIELD(case_result, FIELD_DOUBLE, high),
    FIELD(case_result, FIELD_DOUBLE, p50_us),
    FIELD(case_result, FIELD_DOUBLE, p90_us),
    FIELD(case_result, FIELD_DOUBLE, rival_p50_us),
    FIELD(case_result, FIELD_DOUBLE, rival_p90_us),
    {0},
};

static void add_int64(cJSON *object, const char *name, int64_t value) {
    char digits[24]; /* a JSON number (a double) does not hold all 64 bits */
    snprintf(digits, sizeof digits, "%" PRId64, value);
    cJSON_AddStringToObject(object, name, digits);
}

/* cJSON may round a number when it prints it; this prints one that reads back exactly.
   Non-finite values become null. */
static cJSON *number_item(double value) {
    char digits[32];
    snprintf(digits, sizeof digits, "%.17g", value);
    return isfinite(value) ? cJSON_CreateRaw(digits) : cJSON_CreateNull();
}

static cJSON *print_fields(const struct protocol_field *fields, const void *from) {
    cJSON *object = cJSON_CreateObject();
    for (const struct protocol_field *field = fields; field->name != NULL; field++) {
        const void *at = (const char *)from + field->offset;
        switch (field->kind) {
        case FIELD_INT:
            cJSON_AddNumberToObject(object, field->name, *(const int *)at);
            break;
        case FIELD_INT64:
            add_int64(object, field->name, *(const int64_t *)at);
            break;
        case FIELD_DOUBLE:
            cJSON_AddItemToObject(object, field->name, number_item(*(const double *)at));
            break;
        case FIELD_BOOL:
            cJSON_AddBoolToObject(object, field->name, *(const bool *)at);
            break;
        case FIELD_TEXT:
            cJSON_AddStringToObject(object, field->name, at);
            break;
        }
    }
    return object;
}

/* Readers clear `ok` if a required member is missing or has the wrong type. */
static const cJSON *required_member(const cJSON *object, const char *name, bool *ok) {
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, name);
    *ok = *ok && found != NULL;
    return found;
}

static const cJSON *required_array(const cJSON *object, const char *name, int minimum, int maximum,
                                   bool *ok) {
    const cJSON *found = required_member(object, name, ok);
    int count = cJSON_GetArraySize(found);
    *ok = *ok && cJSON_IsArray(found) && count >= minimum && count <= maximum;
    return *ok ? found : NULL;
}

static int64_t read_int64(const cJSON *object, const char *name, bool *ok) {
    const cJSON *found = required_member(object, name, ok);
    const char *digits = cJSON_IsString(found) ? found->valuestring : "";
    char *end;
    errno = 0;
    int64_t value = strtoll(digits, &end, 10);
    *ok = *ok && end != digits && *end == '\0' && errno == 0;
    return *ok ? value : 0;
}

static int read_int(const cJSON *object, const char *name, int minimum, int maximum, bool *ok) {
    const cJSON *found = required_member(object, name, ok);
    *ok = *ok && cJSON_IsNumber(found) && found->valuedouble >= minimum &&
          found->valuedouble <= maximum && found->valuedouble == found->valueint;
    return *ok ? found->valueint : minimum;
}

static double read_double(const cJSON *value, bool *ok) {
    *ok = *ok && (cJSON_IsNull(value) || (cJSON_IsNumber(value) && isfinite(value->valuedouble)));
    return *ok && cJSON_IsNumber(value) ? value->valuedouble : 0.0;
}

static bool read_bool(const cJSON *object, const char *name, bool *ok) {
    const cJSON *found = required_member(object, name, ok);
    *ok = *ok && cJSON_IsBool(found);
    return cJSON_IsTrue(found);
}

static void read_text(const cJSON *object, const char *name, char *to, size_t size, bool *ok) {
    const cJSON *found = required_member(object, name, ok);
    *ok = *ok && cJSON_IsString(found);
    snprintf(to, size, "%s", *ok ? found->valuestring : "");
}

static void read_fields(const struct protocol_field *fields, const cJSON *object, void *to,
                        bool *ok) {
    for (const struct protocol_field *field = fields; field->name != NULL; field++) {
        void *at = (char *)to + field->offset;
        switch (field->kind) {
        case FIELD_INT:
            *(int *)at = read_int(object, field->name, INT32_MIN, INT32_MAX, ok);
            break;
        case FIELD_INT64:
            *(int64_t *)at = read_int64(object, field->name, ok);
            break;
        case FIELD_DOUBLE:
            *(double *)at = read_double(required_member(object, field->name, ok), ok);
            break;
        case FIELD_BOOL:
            *(bool *)at = read_bool(object, field->name, ok);
            break;
        case FIELD_TEXT:
            read_text(object, field->name, at, field->size, ok);
            break;
        }
    }
}

/* ---- genomes: two hexadecimal digits per gene ---- */

static void add_genome(cJSON *object, const struct genome *genome) {
    char digits[2 * GENES_MAX + 1] = "";
    for (int i = 0; i < GENES_MAX; i++) {
        digits[2 * i] = "0123456789abcdef"[genome->value[i] >> 4];
        digits[2 * i + 1] = "0123456789abcdef"[genome->value[i] & 15];
    }
    cJSON_AddStringToObject(object, "genome", digits);
}

static void read_genome(const cJSON *object, struct genome *genome, bool *ok) {
    const cJSON *found = required_member(object, "genome", ok);
    const char *digits = cJSON_IsString(found) ? found->valuestring : "";
    *genome = (struct genome){0};
    *ok = *ok && strlen(digits) == 2 * GENES_MAX &&
          strspn(digits, "0123456789abcdef") == 2 * GENES_MAX;
    for (int i = 0; i < GENES_MAX && *ok; i++) {
        const char byte[3] = {digits[2 * i], digits[2 * i + 1], '\0'};
        genome->value[i] = (uint8_t)strtoul(byte, NULL, 16);
    }
}

/* ---- messages ---- */

static const char *const kind_names[] = {
    [PROTOCOL_REQUEST] = "request",   [PROTOCOL_RESULT] = "result",   [PROTOCOL_DEVICE] = "device",
    [PROTOCOL_CHAMPION] = "champion", [PROTOCOL_FAILURE] = "failure",
};

static char *print_message(cJSON *object, enum protocol_message_kind kind) {
    cJSON_AddStringToObject(object, "kind", kind_names[kind]);
    char *line = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    if (line == NULL)
        BUG("out of memory");
    return line;
}

/* Prints the array up to its last entry that is not NULL. */
static void add_sources(cJSON *object, char *const sources[CASES_MAX]) {
    cJSON *list = cJSON_AddArrayToObject(object, "sources");
    int count = CASES_MAX;
    while (count > 0 && sources[count - 1] == NULL)
        count--;
    for (int c = 0; c < count; c++)
        cJSON_AddItemToArray(list, sources[c] != NULL ? cJSON_CreateString(sources[c])
                                                      : cJSON_CreateNull());
}

/* A NULL string becomes JSON null. */
static void add_text_or_null(cJSON *object, const char *name, const char *text) {
    cJSON_AddItemToObject(object, name,
                          text != NULL ? cJSON_CreateString(text) : cJSON_CreateNull());
}

static void add_baseline(cJSON *object, const struct trial_opponent *opponent) {
    cJSON *to = cJSON_AddObjectToObject(object, "baseline");
    cJSON *words = cJSON_AddArrayToObject(to, "words");
    for (int i = 0; i < opponent->baseline.count; i++)
        cJSON_AddItemToArray(words, cJSON_CreateString(opponent->baseline.words[i]));
    cJSON_AddItemToObject(to, "limit_s", number_item(opponent->baseline.limit_s));
    add_text_or_null(to, "implementation", opponent->implementation);
}

static void add_opponent(cJSON *object, const struct trial_opponent *opponent) {
    cJSON *to = cJSON_AddObjectToObject(object, "rival");
    if (opponent->baseline.count > 0)
        add_baseline(to, opponent);
    add_int64(to, "trial", opponent->trial);
    cJSON_AddNumberToObject(to, "goal", opponent->goal);
    add_genome(to, &opponent->genome);
    add_text_or_null(to, "config", opponent->config);
    add_text_or_null(to, "template", opponent->template_folder);
    add_sources(to, opponent->sources);
}

char *protocol_print_request(const struct trial_request *request) {
    cJSON *object = cJSON_CreateObject();
    add_int64(object, "number", request->number);
    add_int64(object, "seed", (int64_t)request->seed);
    cJSON_AddNumberToObject(object, "goal", request->goal);
    add_genome(object, &request->genome);
    cJSON_AddBoolToObject(object, "full", request->full);
    cJSON_AddBoolToObject(object, "promote", request->promote);
    cJSON_AddBoolToObject(object, "watched", request->under_tool);
    cJSON_AddBoolToObject(object, "profiled", request->profiled);
    cJSON_AddItemToObject(object, "champion_us", number_item(request->champion_us));
    cJSON_AddItemToObject(object, "unraised_us", number_item(request->within_default_smem_us));
    cJSON_AddNumberToObject(object, "duel_blocks", request->duel_blocks);
    add_sources(object, request->sources);
    if (request->opponent.present)
        add_opponent(object, &request->opponent);
    return print_message(object, PROTOCOL_REQUEST);
}

static void read_text_or_null(const cJSON *found, char **text, bool *ok) {
    *ok = *ok && (cJSON_IsNull(found) || cJSON_IsString(found));
    if (*ok && cJSON_IsString(found) && (*text = strdup(found->valuestring)) == NULL)
        BUG("out of memory");
}

static void read_sources(const cJSON *object, char *sources[CASES_MAX], bool *ok) {
    const cJSON *list = required_array(object, "sources", 0, CASES_MAX, ok);
    const cJSON *source;
    cJSON_ArrayForEach(source, list) read_text_or_null(source, sources++, ok);
}

static void read_baseline(const cJSON *object, struct trial_opponent *opponent, bool *ok) {
    struct baseline_command *command = &opponent->baseline;
    const cJSON *words = required_array(object, "words", 1, COMMAND_WORDS_MAX, ok);
    const cJSON *word;
    command->limit_s = read_double(required_member(object, "limit_s", ok), ok);
    cJSON_ArrayForEach(word, words) {
        *ok = *ok && cJSON_IsString(word);
        if (*ok)
            read_text_or_null(word, &command->words[command->count++], ok);
    }
    read_text_or_null(required_member(object, "implementation", ok), &opponent->implementation, ok);
}

static void read_opponent(const cJSON *object, struct trial_opponent *opponent, bool *ok) {
    const cJSON *baseline = cJSON_GetObjectItemCaseSensitive(object, "baseline");
    opponent->present = true;
    if (baseline != NULL)
        read_baseline(baseline, opponent, ok);
    opponent->trial = read_int64(object, "trial", ok);
    opponent->goal = read_int(object, "goal", 0, CASES_MAX - 1, ok);
    read_genome(object, &opponent->genome, ok);
    read_text_or_null(required_member(object, "config", ok), &opponent->config, ok);
    read_text_or_null(required_member(object, "template", ok), &opponent->template_folder, ok);
    read_sources(object, opponent->sources, ok);
}

static void read_request(const cJSON *object, struct trial_request *request, bool *ok) {
    const cJSON *opponent = cJSON_GetObjectItemCaseSensitive(object, "rival");
    request->number = read_int64(object, "number", ok);
    request->seed = (uint64_t)read_int64(object, "seed", ok);
    request->goal = read_int(object, "goal", 0, CASES_MAX - 1, ok);
    read_genome(object, &request->genome, ok);
    request->full = read_bool(object, "full", ok);
    request->promote = read_bool(object, "promote", ok);
    request->under_tool = read_bool(object, "watched", ok);
    request->profiled = read_bool(object, "profiled", ok);
    request->champion_us = read_double(required_member(object, "champion_us", ok), ok);
    request->within_default_smem_us = read_double(required_member(object, "unraised_us", ok), ok);
    request->duel_blocks = read_int(object, "duel_blocks", 0, INT32_MAX, ok);
    read_sources(object, request->sources, ok);
    if (opponent != NULL)
        read_opponent(opponent, &request->opponent, ok);
}

static void add_samples(cJSON *object, const char *name, const struct latency *latency) {
    cJSON *samples = cJSON_AddArrayToObject(object, name);
    for (int i = 0; i < latency->sample_count; i++)
        cJSON_AddItemToArray(samples, number_item(latency->samples_us[i]));
}

static void add_key(cJSON *object, const char *name, const struct key *key) {
    cJSON *parts = cJSON_AddObjectToObject(object, name);
    for (int part = 0; part < KEY_PART_COUNT; part++)
        cJSON_AddStringToObject(parts, key_part_name(part), key->parts[part]);
}

char *protocol_print_result(const struct trial_result *result) {
    const struct outcome *outcome = &result->outcome;
    cJSON *object = cJSON_CreateObject();
    add_int64(object, "number", result->number);
    cJSON_AddNumberToObject(object, "goal", result->goal);
    add_genome(object, &result->genome);
    cJSON_AddStringToObject(object, "worker", result->worker);
    cJSON_AddStringToObject(object, "verdict", verdict_name(outcome->verdict));
    cJSON_AddItemToObject(object, "outcome", print_fields(outcome_fields, outcome));
    cJSON *cases = cJSON_AddArrayToObject(object, "cases");
    for (int c = 0; c < outcome->case_count; c++) {
        cJSON *one = print_fields(case_fields, &outcome->cases[c]);
        add_samples(one, "samples", &outcome->cases[c].warm);
        add_samples(one, "cold_samples", &outcome->cases[c].cold);
        cJSON_AddItemToArray(cases, one);
    }
    cJSON *gates = cJSON_AddArrayToObject(object, "gates");
    for (int g = 0; g < result->gate_count; g++)
        cJSON_AddItemToArray(gates, print_fields(gate_fields, &result->gates[g]));
    cJSON_AddStringToObject(object, "baseline", result->baseline);
    cJSON *case_results = cJSON_AddArrayToObject(object, "bouts");
    for (int b = 0; b < result->case_result_count; b++)
        cJSON_AddItemToArray(case_results,
                             print_fields(case_result_fields, &result->case_results[b]));
    add_int64(object, "rival", result->opponent);
    if (result->has_key)
        add_key(object, "key", &result->key);
    if (result->opponent_key.parts[0] != NULL)
        add_key(object, "rival_key", &result->opponent_key);
    return print_message(object, PROTOCOL_RESULT);
}

static void read_samples(const cJSON *object, const char *name, struct latency *latency, bool *ok) {
    const cJSON *samples = required_array(object, name, 0, SAMPLES_MAX, ok);
    const cJSON *sample;
    cJSON_ArrayForEach(sample, samples) latency->samples_us[latency->sample_count++] =
        read_double(sample, ok);
}

static void read_case(const cJSON *object, struct case_outcome *outcome, bool *ok) {
    read_fields(case_fields, object, outcome, ok);
    read_samples(object, "samples", &outcome->warm, ok);
    read_samples(object, "cold_samples", &outcome->cold, ok);
}

static void read_key(const cJSON *object, struct key *key, bool *ok) {
    for (int part = 0; part < KEY_PART_COUNT; part++) {
        const cJSON *text = required_member(object, key_part_name(part), ok);
        *ok = *ok && cJSON_IsString(text);
        if (*ok)
            key_set(key, part, text->valuestring);
    }
}

static void read_result(const cJSON *object, struct trial_result *result, bool *ok) {
    struct outcome *outcome = &result->outcome;
    const cJSON *verdict = required_member(object, "verdict", ok);
    const cJSON *item;
    result->number = read_int64(object, "number", ok);
    result->goal = read_int(object, "goal", 0, CASES_MAX - 1, ok);
    read_genome(object, &result->genome, ok);
    read_text(object, "worker", result->worker, sizeof result->worker, ok);
    int parsed = cJSON_IsString(verdict) ? verdict_parse(verdict->valuestring) : -1;
    *ok = *ok && parsed >= 0;
    outcome->verdict = parsed >= 0 ? (enum verdict)parsed : VERDICT_CRASHED;
    read_fields(outcome_fields, required_member(object, "outcome", ok), outcome, ok);
    *ok = *ok && outcome->duel.result <= DUEL_UNDECIDED;
    const cJSON *cases = required_array(object, "cases", 0, CASES_MAX, ok);
    *ok = *ok && cJSON_GetArraySize(cases) == outcome->case_count;
    outcome_set_cases(outcome, *ok ? outcome->case_count : 0);
    const cJSON *gates = required_array(object, "gates", 0, GATES_MAX, ok);
    const cJSON *case_results = required_array(object, "bouts", 0, CASES_MAX, ok);
    read_text(object, "baseline", result->baseline, sizeof result->baseline, ok);
    if (!*ok)
        return;
    struct case_outcome *one = outcome->cases;
    cJSON_ArrayForEach(item, cases) read_case(item, one++, ok);
    cJSON_ArrayForEach(item, gates)
        read_fields(gate_fields, item, &result->gates[result->gate_count++], ok);
    cJSON_ArrayForEach(item, case_results) read_fields(
        case_result_fields, item, &result->case_results[result->case_result_count++], ok);
    const cJSON *key = cJSON_GetObjectItemCaseSensitive(object, "key");
    result->has_key = key != NULL;
    if (result->has_key)
        read_key(key, &result->key, ok);
    result->opponent = read_int64(object, "rival", ok);
    const cJSON *opponent_key = cJSON_GetObjectItemCaseSensitive(object, "rival_key");
    if (opponent_key != NULL)
        read_key(opponent_key, &result->opponent_key, ok);
}

char *protocol_print_device(const struct device_info *device) {
    return print_message(print_fields(device_fields, device), PROTOCOL_DEVICE);
}

char *protocol_print_champion(const struct trial_champion *champion) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "goal", champion->goal);
    add_int64(object, "trial", champion->trial);
    add_genome(object, &champion->genome);
    cJSON_AddItemToObject(object, "score_us", number_item(champion->score_us));
    cJSON_AddItemToObject(object, "unraised_us", number_item(champion->within_default_smem_us));
    return print_message(object, PROTOCOL_CHAMPION);
}

static void read_champion(const cJSON *object, struct trial_champion *champion, bool *ok) {
    champion->goal = read_int(object, "goal", 0, CASES_MAX - 1, ok);
    champion->trial = read_int64(object, "trial", ok);
    read_genome(object, &champion->genome, ok);
    champion->score_us = read_double(required_member(object, "score_us", ok), ok);
    champion->within_default_smem_us = read_double(required_member(object, "unraised_us", ok), ok);
}

char *protocol_print_failure(const struct error *failure) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "text", failure->text);
    cJSON_AddBoolToObject(object, "input", failure->kind == ERROR_INPUT);
    return print_message(object, PROTOCOL_FAILURE);
}

static void read_failure(const cJSON *object, struct error *failure, bool *ok) {
    failure->kind = read_bool(object, "input", ok) ? ERROR_INPUT : ERROR_FAILED;
    read_text(object, "text", failure->text, sizeof failure->text, ok);
}

int protocol_read(const char *line, struct protocol_message *message, struct error *error) {
    bool ok = true;
    cJSON *object = cJSON_ParseWithOpts(line, NULL, true); /* trailing text is an error */
    const cJSON *kind = required_member(object, "kind", &ok);
    int index = 0;
    message->request = (struct trial_request){0};
    trial_result_clear(&message->result);
    message->device = (struct device_info){0};
    message->champion = (struct trial_champion){0};
    message->failure = (struct error){0};
    while (index <= PROTOCOL_FAILURE &&
           !(cJSON_IsString(kind) && strcmp(kind_names[index], kind->valuestring) == 0))
        index++;
    message->kind = (enum protocol_message_kind)index;
    switch (index) {
    case PROTOCOL_REQUEST:
        read_request(object, &message->request, &ok);
        break;
    case PROTOCOL_RESULT:
        read_result(object, &message->result, &ok);
        break;
    case PROTOCOL_DEVICE:
        read_fields(device_fields, object, &message->device, &ok);
        break;
    case PROTOCOL_CHAMPION:
        read_champion(object, &message->champion, &ok);
        break;
    case PROTOCOL_FAILURE:
        read_failure(object, &message->failure, &ok);
        break;
    default:
        ok = false;
    }
    cJSON_Delete(object);
    if (ok)
        return 0;
    trial_request_release(&message->request);
    trial_result_release(&message->result);
    return error_set(error, "a worker's message is damaged: \"%.100s\"", line);
}
