/* The printer and the reader of each message stand side by side, so that neither is changed alone.
 */
#include "pool/protocol.h"

#include "base/memory.h"
#include "outcome/fields.h"
#include "pool/diagnostic_messages.h"
#include "pool/message_values.h"

#include <stdlib.h>
#include <string.h>

/* ---- plain structs, listed once for printing and reading ---- */

static const struct field device_fields[] = {
    FIELD(struct device_info, TEXT, spec),
    FIELD(struct device_info, TEXT, name),
    FIELD(struct device_info, TEXT, uuid),
    FIELD(struct device_info, TEXT, driver),
    FIELD(struct device_info, INT, compute_capability),
    FIELD(struct device_info, INT, sm_count),
    FIELD(struct device_info, INT, smem_per_block),
    FIELD(struct device_info, INT, smem_per_block_optin),
    FIELD(struct device_info, INT, smem_per_sm),
    FIELD(struct device_info, INT, registers_per_sm),
    FIELD(struct device_info, INT, threads_per_sm),
    FIELD(struct device_info, INT, blocks_per_sm),
    FIELD(struct device_info, INT, clusters_of_2),
    FIELD(struct device_info, INT, clusters_of_4),
    FIELD(struct device_info, INT, clusters_of_8),
    FIELD(struct device_info, INT64, memory_bytes),
    FIELD(struct device_info, INT, l2_bytes),
    FIELD(struct device_info, DOUBLE, clock_mhz),
    FIELD(struct device_info, BOOL, predicts),
    FIELD(struct device_info, DOUBLE, dram_gb_per_s),
    FIELD(struct device_info, DOUBLE, l2_gb_per_s),
    FIELD(struct device_info, DOUBLE, tensor_tflops),
    FIELD(struct device_info, DOUBLE, fp32_tflops),
    FIELD(struct device_info, DOUBLE, launch_us),
    FIELD(struct device_info, DOUBLE, event_us),
    FIELD(struct device_info, DOUBLE, duel_margin),
    FIELD(struct device_info, BOOL, counts_energy),
    {0},
};
static const struct field start_fields[] = {
    FIELD(struct worker_start, BOOL, has_device),
    FIELD(struct worker_start, BOOL, under_tool),
    FIELD(struct worker_start, INT, threads),
    {0},
};
static const struct field image_fields[] = {
    FIELD(struct worker_images, TEXT, candidate),
    FIELD(struct worker_images, TEXT, champion),
    {0},
};
static const struct field request_fields[] = {
    FIELD(struct trial_request, INT64, number),
    FIELD(struct trial_request, INT64, seed),
    FIELD(struct trial_request, INT, goal),
    FIELD(struct trial_request, BOOL, full),
    FIELD(struct trial_request, BOOL, no_race),
    FIELD(struct trial_request, BOOL, promote),
    FIELD(struct trial_request, BOOL, no_promote),
    FIELD_AS(struct trial_request, BOOL, under_tool, "watched"),
    FIELD(struct trial_request, BOOL, profiled),
    FIELD(struct trial_request, INT, level),
    FIELD(struct trial_request, BOOL, diagnosed),
    FIELD(struct trial_request, DOUBLE, champion_us),
    FIELD_AS(struct trial_request, DOUBLE, within_default_smem_us, "unraised_us"),
    FIELD(struct trial_request, INT, duel_blocks),
    {0},
};
static const struct field opponent_fields[] = {
    FIELD(struct trial_opponent, INT64, trial),
    FIELD(struct trial_opponent, INT, goal),
    {0},
};
static const struct field champion_fields[] = {
    FIELD(struct trial_champion, INT, goal),
    FIELD(struct trial_champion, INT64, trial),
    FIELD(struct trial_champion, DOUBLE, score_us),
    FIELD_AS(struct trial_champion, DOUBLE, within_default_smem_us, "unraised_us"),
    {0},
};
static const struct field result_fields[] = {
    FIELD(struct trial_result, INT64, number),
    FIELD(struct trial_result, INT, goal),
    FIELD(struct trial_result, TEXT, worker),
    FIELD(struct trial_result, TEXT, baseline),
    FIELD_AS(struct trial_result, INT64, opponent, "rival"),
    FIELD(struct trial_result, BOOL, final_checks),
    FIELD(struct trial_result, BOOL, other_code),
    {0},
};
static const struct field gate_fields[] = {
    FIELD(struct trial_gate, TEXT, name),
    FIELD(struct trial_gate, BOOL, passed),
    FIELD(struct trial_gate, DOUBLE, seconds),
    FIELD(struct trial_gate, TEXT, text),
    {0},
};
static const struct field case_result_fields[] = {
    FIELD(struct case_result, TEXT, against),
    FIELD(struct case_result, DOUBLE, ratio),
    FIELD(struct case_result, DOUBLE, low),
    FIELD(struct case_result, DOUBLE, high),
    FIELD(struct case_result, DOUBLE, p50_us),
    FIELD(struct case_result, DOUBLE, p90_us),
    FIELD(struct case_result, DOUBLE, rival_p50_us),
    FIELD(struct case_result, DOUBLE, rival_p90_us),
    FIELD(struct case_result, DOUBLE, p90_ratio),
    {0},
};

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
    const cJSON *found = message_member(object, "genome", ok);
    const char *digits = cJSON_IsString(found) ? found->valuestring : "";
    *genome = (struct genome){0};
    *ok = *ok && strlen(digits) == 2 * GENES_MAX &&
          strspn(digits, "0123456789abcdef") == 2 * GENES_MAX;
    for (int i = 0; i < GENES_MAX && *ok; i++) {
        const char byte[3] = {digits[2 * i], digits[2 * i + 1], '\0'};
        genome->value[i] = (uint8_t)strtoul(byte, NULL, 16);
    }
}

static void check_goal(int goal, bool *ok) {
    *ok = *ok && goal >= 0 && goal < GOALS_MAX;
}

/* ---- messages ---- */

static const char *const kind_names[] = {
    [PROTOCOL_START] = "start",     [PROTOCOL_IMAGES] = "images", [PROTOCOL_REQUEST] = "request",
    [PROTOCOL_RESULT] = "result",   [PROTOCOL_DEVICE] = "device", [PROTOCOL_CHAMPION] = "champion",
    [PROTOCOL_FAILURE] = "failure",
};

static char *print_message(cJSON *object, enum protocol_message_kind kind) {
    cJSON_AddStringToObject(object, "kind", kind_names[kind]);
    return json_print_line(object);
}

/* Prints the array up to its last entry that is not NULL. */
static void add_files(cJSON *object, const char *name, char *const files[CASES_MAX]) {
    cJSON *list = cJSON_AddArrayToObject(object, name);
    int count = CASES_MAX;
    while (count > 0 && files[count - 1] == NULL)
        count--;
    for (int c = 0; c < count; c++)
        cJSON_AddItemToArray(list,
                             files[c] != NULL ? cJSON_CreateString(files[c]) : cJSON_CreateNull());
}

/* A NULL string becomes JSON null. */
static void add_text_or_null(cJSON *object, const char *name, const char *text) {
    cJSON_AddItemToObject(object, name,
                          text != NULL ? cJSON_CreateString(text) : cJSON_CreateNull());
}

char *protocol_print_start(const struct worker_start *start) {
    cJSON *object = message_print_fields(start_fields, start);
    cJSON_AddItemToObject(object, "device", message_print_fields(device_fields, &start->device));
    add_text_or_null(object, "config", start->config_path);
    add_text_or_null(object, "template", start->template_folder);
    return print_message(object, PROTOCOL_START);
}

char *protocol_print_images(const struct worker_images *images) {
    return print_message(message_print_fields(image_fields, images), PROTOCOL_IMAGES);
}

static void add_baseline(cJSON *object, const struct trial_opponent *opponent) {
    cJSON *to = cJSON_AddObjectToObject(object, "baseline");
    cJSON *words = cJSON_AddArrayToObject(to, "words");
    for (int i = 0; i < opponent->baseline.count; i++)
        cJSON_AddItemToArray(words, cJSON_CreateString(opponent->baseline.words[i]));
    cJSON_AddItemToObject(to, "limit_s", message_number(opponent->baseline.limit_s));
    add_text_or_null(to, "implementation", opponent->implementation);
}

static void add_opponent(cJSON *object, const struct trial_opponent *opponent) {
    cJSON *to = message_print_fields(opponent_fields, opponent);
    cJSON_AddItemToObject(object, "rival", to);
    if (opponent->baseline.count > 0)
        add_baseline(to, opponent);
    add_genome(to, &opponent->genome);
    add_text_or_null(to, "config", opponent->config);
    add_text_or_null(to, "template", opponent->template_folder);
    add_files(to, "sources", opponent->sources);
    add_files(to, "cubins", opponent->cubins);
}

char *protocol_print_request(const struct trial_request *request) {
    cJSON *object = message_print_fields(request_fields, request);
    add_genome(object, &request->genome);
    if (request->template_folder != NULL) {
        cJSON_AddStringToObject(object, "config", request->config);
        cJSON_AddStringToObject(object, "template", request->template_folder);
    }
    add_files(object, "sources", request->sources);
    add_files(object, "cubins", request->cubins);
    if (request->opponent.present)
        add_opponent(object, &request->opponent);
    return print_message(object, PROTOCOL_REQUEST);
}

static void read_text_or_null(const cJSON *found, char **text, bool *ok) {
    *ok = *ok && (cJSON_IsNull(found) || cJSON_IsString(found));
    if (*ok && cJSON_IsString(found))
        *text = xstrdup(found->valuestring);
}

static void read_start(const cJSON *object, struct worker_start *start, bool *ok) {
    message_read_fields(start_fields, object, start, ok);
    message_read_fields(device_fields, message_member(object, "device", ok), &start->device, ok);
    read_text_or_null(message_member(object, "config", ok), &start->config_path, ok);
    read_text_or_null(message_member(object, "template", ok), &start->template_folder, ok);
    *ok = *ok && start->config_path != NULL && start->template_folder != NULL;
}

void worker_start_release(struct worker_start *start) {
    free(start->config_path);
    free(start->template_folder);
    start->config_path = start->template_folder = NULL;
}

static void read_files(const cJSON *object, const char *name, char *files[CASES_MAX], bool *ok) {
    const cJSON *list = message_array(object, name, 0, CASES_MAX, ok);
    const cJSON *file;
    cJSON_ArrayForEach(file, list) read_text_or_null(file, files++, ok);
}

static void read_baseline(const cJSON *object, struct trial_opponent *opponent, bool *ok) {
    struct baseline_command *command = &opponent->baseline;
    const cJSON *words = message_array(object, "words", 1, COMMAND_WORDS_MAX, ok);
    const cJSON *word;
    command->limit_s = message_read_double(message_member(object, "limit_s", ok), ok);
    cJSON_ArrayForEach(word, words) {
        *ok = *ok && cJSON_IsString(word);
        if (*ok)
            read_text_or_null(word, &command->words[command->count++], ok);
    }
    read_text_or_null(message_member(object, "implementation", ok), &opponent->implementation, ok);
}

static void read_opponent(const cJSON *object, struct trial_opponent *opponent, bool *ok) {
    const cJSON *baseline = cJSON_GetObjectItemCaseSensitive(object, "baseline");
    opponent->present = true;
    if (baseline != NULL)
        read_baseline(baseline, opponent, ok);
    message_read_fields(opponent_fields, object, opponent, ok);
    check_goal(opponent->goal, ok);
    read_genome(object, &opponent->genome, ok);
    read_text_or_null(message_member(object, "config", ok), &opponent->config, ok);
    read_text_or_null(message_member(object, "template", ok), &opponent->template_folder, ok);
    read_files(object, "sources", opponent->sources, ok);
    read_files(object, "cubins", opponent->cubins, ok);
}

static void read_request(const cJSON *object, struct trial_request *request, bool *ok) {
    const cJSON *opponent = cJSON_GetObjectItemCaseSensitive(object, "rival");
    const cJSON *files = cJSON_GetObjectItemCaseSensitive(object, "template");
    message_read_fields(request_fields, object, request, ok);
    check_goal(request->goal, ok);
    *ok = *ok && request->duel_blocks >= 0 && (int)request->level >= LEVEL_TIMED &&
          request->level <= LEVEL_CORRECT;
    read_genome(object, &request->genome, ok);
    if (files != NULL || cJSON_GetObjectItemCaseSensitive(object, "config") != NULL) {
        read_text_or_null(files, &request->template_folder, ok);
        read_text_or_null(message_member(object, "config", ok), &request->config, ok);
        *ok = *ok && request->config != NULL && request->template_folder != NULL;
    }
    read_files(object, "sources", request->sources, ok);
    read_files(object, "cubins", request->cubins, ok);
    if (opponent != NULL)
        read_opponent(opponent, &request->opponent, ok);
}

static cJSON *print_case(const struct case_outcome *one) {
    cJSON *object = message_print_fields(case_fields, one);
    for (const struct samples_field *field = case_samples; field->name != NULL; field++) {
        const struct latency *latency = samples_latency(field, one);
        cJSON *samples = cJSON_AddArrayToObject(object, field->name);
        for (int i = 0; i < latency->sample_count; i++)
            cJSON_AddItemToArray(samples, message_number(latency->samples_us[i]));
    }
    if (one->weight > 0)
        cJSON_AddItemToObject(object, "weight", message_number(one->weight));
    return object;
}

char *protocol_print_result(const struct trial_result *result) {
    const struct outcome *outcome = &result->outcome;
    cJSON *object = message_print_fields(result_fields, result);
    add_genome(object, &result->genome);
    cJSON_AddStringToObject(object, "verdict", verdict_name(outcome->verdict));
    cJSON_AddItemToObject(object, "outcome", message_print_fields(outcome_fields, outcome));
    cJSON *cases = cJSON_AddArrayToObject(object, "cases");
    for (int c = 0; c < outcome->case_count; c++)
        cJSON_AddItemToArray(cases, print_case(&outcome->cases[c]));
    cJSON *gates = cJSON_AddArrayToObject(object, "gates");
    for (int g = 0; g < result->gate_count; g++)
        cJSON_AddItemToArray(gates, message_print_fields(gate_fields, &result->gates[g]));
    cJSON *case_results = cJSON_AddArrayToObject(object, "bouts");
    for (int b = 0; b < result->case_result_count; b++)
        cJSON_AddItemToArray(case_results,
                             message_print_fields(case_result_fields, &result->case_results[b]));
    if (result->has_key)
        message_add_key(object, "key", &result->key);
    if (result->opponent_key.parts[0] != NULL)
        message_add_key(object, "rival_key", &result->opponent_key);
    if (result->diagnostics != NULL)
        cJSON_AddItemToObject(object, "diagnostics",
                              message_print_diagnostics(result->diagnostics));
    return print_message(object, PROTOCOL_RESULT);
}

static void read_case(const cJSON *object, struct case_outcome *one, bool *ok) {
    const cJSON *weight = cJSON_GetObjectItemCaseSensitive(object, "weight");
    message_read_fields(case_fields, object, one, ok);
    for (const struct samples_field *field = case_samples; field->name != NULL; field++) {
        const cJSON *samples = message_array(object, field->name, 0, SAMPLES_MAX, ok);
        struct latency *latency = samples_latency(field, one);
        double *to = latency_reserve(latency, cJSON_GetArraySize(samples));
        const cJSON *sample;
        cJSON_ArrayForEach(sample, samples) to[latency->sample_count++] =
            message_read_double(sample, ok);
    }
    one->weight = weight != NULL ? message_read_double(weight, ok) : 0;
    *ok = *ok && (weight == NULL || case_weight_is_valid(one->weight));
}

static enum verdict read_verdict(const cJSON *object, bool *ok) {
    const cJSON *name = message_member(object, "verdict", ok);
    int verdict = cJSON_IsString(name) ? verdict_parse(name->valuestring) : -1;
    *ok = *ok && verdict >= 0;
    return *ok ? (enum verdict)verdict : VERDICT_CRASHED;
}

/* A line for a terminal and for a column of run.db. */
static bool is_line(const char *text) {
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            return false;
    return true;
}

static void read_outcome(const cJSON *object, struct outcome *outcome, bool *ok) {
    const cJSON *cases = message_array(object, "cases", 0, CASES_MAX, ok);
    const cJSON *item;
    outcome->verdict = read_verdict(object, ok);
    message_read_fields(outcome_fields, message_member(object, "outcome", ok), outcome, ok);
    *ok = *ok && outcome->duel.result <= DUEL_UNDECIDED && is_line(outcome->checks) &&
          is_line(outcome->uses) && outcome->case_count == cJSON_GetArraySize(cases);
    outcome->case_count = 0;
    outcome_set_cases(outcome, *ok ? cJSON_GetArraySize(cases) : 0);
    struct case_outcome *one = outcome->cases;
    for (item = *ok ? cases->child : NULL; item != NULL; item = item->next)
        read_case(item, one++, ok);
}

static void read_gates(const cJSON *object, struct trial_result *result, bool *ok) {
    const cJSON *gates = message_array(object, "gates", 0, GATES_MAX, ok);
    const cJSON *item;
    cJSON_ArrayForEach(item, gates)
        message_read_fields(gate_fields, item, &result->gates[result->gate_count++], ok);
}

static void read_case_results(const cJSON *object, struct trial_result *result, bool *ok) {
    const cJSON *case_results = message_array(object, "bouts", 0, CASES_MAX, ok);
    const cJSON *item;
    trial_result_set_case_results(result, cJSON_GetArraySize(case_results));
    struct case_result *to = result->case_results;
    cJSON_ArrayForEach(item, case_results) message_read_fields(case_result_fields, item, to++, ok);
}

static void read_result(const cJSON *object, struct trial_result *result, bool *ok) {
    const cJSON *key = cJSON_GetObjectItemCaseSensitive(object, "key");
    const cJSON *opponent_key = cJSON_GetObjectItemCaseSensitive(object, "rival_key");
    const cJSON *diagnostics = cJSON_GetObjectItemCaseSensitive(object, "diagnostics");
    message_read_fields(result_fields, object, result, ok);
    check_goal(result->goal, ok);
    read_genome(object, &result->genome, ok);
    read_outcome(object, &result->outcome, ok);
    read_gates(object, result, ok);
    read_case_results(object, result, ok);
    result->has_key = key != NULL;
    if (result->has_key)
        message_read_key(key, &result->key, ok);
    if (opponent_key != NULL)
        message_read_key(opponent_key, &result->opponent_key, ok);
    if (diagnostics != NULL)
        result->diagnostics = message_read_diagnostics(diagnostics, ok);
}

char *protocol_print_device(const struct device_info *device) {
    return print_message(message_print_fields(device_fields, device), PROTOCOL_DEVICE);
}

char *protocol_print_champion(const struct trial_champion *champion) {
    cJSON *object = message_print_fields(champion_fields, champion);
    add_genome(object, &champion->genome);
    return print_message(object, PROTOCOL_CHAMPION);
}

static void read_champion(const cJSON *object, struct trial_champion *champion, bool *ok) {
    message_read_fields(champion_fields, object, champion, ok);
    check_goal(champion->goal, ok);
    read_genome(object, &champion->genome, ok);
}

char *protocol_print_failure(const struct error *failure) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "text", failure->text);
    cJSON_AddBoolToObject(object, "input", failure->kind == ERROR_INPUT);
    return print_message(object, PROTOCOL_FAILURE);
}

static void read_failure(const cJSON *object, struct error *failure, bool *ok) {
    failure->kind = message_read_bool(object, "input", ok) ? ERROR_INPUT : ERROR_FAILED;
    message_read_text(object, "text", failure->text, sizeof failure->text, ok);
}

void protocol_message_release(struct protocol_message *message) {
    if (message->kind == PROTOCOL_START)
        worker_start_release(&message->start);
    if (message->kind == PROTOCOL_REQUEST)
        trial_request_release(&message->request);
    if (message->kind == PROTOCOL_RESULT)
        trial_result_release(&message->result);
}

/* The kind with that name; beyond the last one if there is none. */
static enum protocol_message_kind parse_kind(const cJSON *name) {
    int kind = 0;
    while (kind <= PROTOCOL_FAILURE &&
           !(cJSON_IsString(name) && strcmp(kind_names[kind], name->valuestring) == 0))
        kind++;
    return (enum protocol_message_kind)kind;
}

int protocol_read(const char *line, struct protocol_message *message, struct error *error) {
    bool ok = true;
    cJSON *object = cJSON_ParseWithOpts(line, NULL, true); /* trailing text is an error */
    memset(message, 0, sizeof *message);
    message->kind = parse_kind(message_member(object, "kind", &ok));
    switch (message->kind) {
    case PROTOCOL_START:
        read_start(object, &message->start, &ok);
        break;
    case PROTOCOL_IMAGES:
        message_read_fields(image_fields, object, &message->images, &ok);
        break;
    case PROTOCOL_REQUEST:
        read_request(object, &message->request, &ok);
        break;
    case PROTOCOL_RESULT:
        read_result(object, &message->result, &ok);
        break;
    case PROTOCOL_DEVICE:
        message_read_fields(device_fields, object, &message->device, &ok);
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
    protocol_message_release(message);
    return error_set(error, "a worker's message is damaged: \"%.100s\"", line);
}
