#include "store/space_file.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/path.h"
#include "space/space.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum { VALUES_MAX = 256 };

/* A gene as it appears in genome texts, with the values that occur. */
struct parameter {
    char *name;
    int count;
    char *values[VALUES_MAX];
};

struct writer {
    const struct space_file *file;
    gzFile out;
    bool failed; /* a write failed */
    int64_t rows;
    bool predicted;
    int parameter_count;
    struct parameter parameters[GENES_MAX];
};

/* ---- shared by both formats ---- */

/* The words of genomes are shorter than NAME_SIZE. */
static const char *print_word(struct gene_word word, char text[NAME_SIZE]) {
    snprintf(text, NAME_SIZE, "%.*s", word.length, word.text);
    return text;
}

static cJSON *value_json(const char *text) {
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (*end == '\0' && errno == 0 && llabs(number) < 1LL << 53)
        return cJSON_CreateNumber((double)number);
    char printed[NAME_SIZE];
    const double real = strtod(text, &end);
    if (*end != '\0' || !isfinite(real) || !isdigit((unsigned char)end[-1]))
        return cJSON_CreateString(text);
    space_print_real(real, printed); /* a real gene's value has this form, and few words do */
    return strcmp(printed, text) == 0 ? cJSON_CreateNumber(real) : cJSON_CreateString(text);
}

/* Adds NAME: VALUE for each gene. */
static void add_genes(cJSON *object, const char *genome) {
    char name[NAME_SIZE], value[NAME_SIZE];
    struct gene_words gene;
    while (genome_read_gene(&genome, &gene) == 1)
        cJSON_AddItemToObject(object, print_word(gene.name, name),
                              value_json(print_word(gene.value, value)));
}

/* Rounds to a picosecond: further digits are noise, and would double the size of the file. */
static double round_to_ms(double us) {
    return round(us * 1e6) / 1e9;
}

static double time_ms(const struct outcome *outcome) {
    return round_to_ms(outcome->case_count > 0 ? outcome_latency_us(outcome) : outcome->score_us);
}

static void add_samples(cJSON *object, const char *name, const struct outcome *outcome) {
    cJSON *samples = cJSON_AddArrayToObject(object, name);
    if (outcome->case_count != 1)
        return;
    const struct latency *latency = &outcome->cases[0].warm;
    for (int i = 0; i < latency->sample_count; i++)
        cJSON_AddItemToArray(samples, cJSON_CreateNumber(round_to_ms(latency->samples_us[i])));
}

static void add_timestamp(cJSON *object, double seconds) {
    time_t time = (time_t)seconds;
    struct tm parts;
    char text[40];
    gmtime_r(&time, &parts);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S+00:00", &parts);
    cJSON_AddStringToObject(object, "timestamp", text);
}

static void write_text(struct writer *writer, const char *text) {
    int length = (int)strlen(text);
    writer->failed = writer->failed || gzwrite(writer->out, text, (unsigned)length) != length;
}

/* Prints and frees the value. */
static void write_json(struct writer *writer, cJSON *value) {
    char *text = json_print_line(value);
    write_text(writer, text);
    free(text);
}

/* ---- T4 ---- */

static void write_t4_head(struct writer *writer) {
    cJSON *metadata = cJSON_CreateObject();
    cJSON_AddStringToObject(metadata, "timeunit", "milliseconds");
    cJSON_AddStringToObject(metadata, "device_name", writer->file->device);
    cJSON_AddStringToObject(metadata, "kernel_name", writer->file->kernel);
    if (writer->file->default_genome != NULL)
        cJSON_AddStringToObject(metadata, "default_genome", writer->file->default_genome);
    if (writer->predicted)
        cJSON_AddBoolToObject(metadata, "predicted", true);
    write_text(writer, "{\"schema_version\": \"1.0.0\",\n\"metadata\": ");
    write_json(writer, metadata);
    write_text(writer, ",\n\"results\": [");
}

static void write_t4_row(struct writer *writer, const struct store_trial *trial) {
    const struct outcome *outcome = trial->outcome;
    bool ok = outcome->verdict == VERDICT_OK;
    cJSON *row = cJSON_CreateObject();
    add_timestamp(row, trial->finished);
    add_genes(cJSON_AddObjectToObject(row, "configuration"), trial->genome);
    cJSON *times = cJSON_AddObjectToObject(row, "times");
    cJSON_AddNumberToObject(times, "compilation_time", round_to_ms(outcome->compile_s * 1e6));
    cJSON_AddNumberToObject(times, "framework", 0);
    cJSON_AddNumberToObject(times, "search_algorithm", 0);
    cJSON_AddNumberToObject(times, "validation", round_to_ms(outcome->verify_s * 1e6));
    add_samples(times, "runtimes", outcome);
    cJSON_AddStringToObject(row, "invalidity", verdict_t4_name(outcome->verdict));
    cJSON_AddNumberToObject(row, "correctness", ok);
    cJSON *measurements = cJSON_AddArrayToObject(row, "measurements");
    if (ok) {
        cJSON *measurement = cJSON_CreateObject();
        cJSON_AddStringToObject(measurement, "name", "time");
        cJSON_AddNumberToObject(measurement, "value", time_ms(outcome));
        cJSON_AddStringToObject(measurement, "unit", "ms");
        cJSON_AddItemToArray(measurements, measurement);
    }
    cJSON_AddItemToArray(cJSON_AddArrayToObject(row, "objectives"), cJSON_CreateString("time"));
    write_text(writer, writer->rows > 0 ? ",\n" : "\n");
    write_json(writer, row);
}

static void write_t4_tail(struct writer *writer) {
    write_text(writer, "\n]}\n");
}

/* ---- Kernel Tuner ---- */

static void write_cache_head(struct writer *writer) {
    cJSON *head = cJSON_CreateObject();
    cJSON_AddStringToObject(head, "device_name", writer->file->device);
    cJSON_AddStringToObject(head, "kernel_name", writer->file->kernel);
    cJSON_AddStringToObject(head, "problem_size", "");
    cJSON *keys = cJSON_AddArrayToObject(head, "tune_params_keys");
    cJSON *domains = cJSON_AddObjectToObject(head, "tune_params");
    for (int i = 0; i < writer->parameter_count; i++) {
        const struct parameter *parameter = &writer->parameters[i];
        cJSON_AddItemToArray(keys, cJSON_CreateString(parameter->name));
        cJSON *values = cJSON_AddArrayToObject(domains, parameter->name);
        for (int v = 0; v < parameter->count; v++)
            cJSON_AddItemToArray(values, value_json(parameter->values[v]));
    }
    cJSON_AddStringToObject(head, "objective", "time");
    if (writer->predicted)
        cJSON_AddBoolToObject(head, "predicted", true);
    char *text = json_print_line(head);
    text[strlen(text) - 1] = '\0'; /* drops the closing brace: the object continues */
    write_text(writer, text);
    write_text(writer, ",\n\"cache\": {");
    free(text);
}

/* "64,4,xor": only the values. */
static void write_cache_key(struct writer *writer, const char *genome) {
    char value[NAME_SIZE];
    struct gene_words gene;
    write_text(writer, writer->rows > 0 ? ",\n\"" : "\n\"");
    for (bool first = true; genome_read_gene(&genome, &gene) == 1; first = false) {
        write_text(writer, first ? "" : ",");
        write_text(writer, print_word(gene.value, value));
    }
    write_text(writer, "\": ");
}

static void write_cache_row(struct writer *writer, const struct store_trial *trial) {
    const struct outcome *outcome = trial->outcome;
    cJSON *row = cJSON_CreateObject();
    add_genes(row, trial->genome);
    if (outcome->verdict == VERDICT_OK)
        cJSON_AddNumberToObject(row, "time", time_ms(outcome));
    else
        cJSON_AddStringToObject(row, "time", verdict_cache_name(outcome->verdict));
    add_samples(row, "times", outcome);
    cJSON_AddNumberToObject(row, "compile_time", round_to_ms(outcome->compile_s * 1e6));
    cJSON_AddNumberToObject(row, "verification_time", round_to_ms(outcome->verify_s * 1e6));
    cJSON_AddNumberToObject(row, "benchmark_time", outcome->measure_s * 1000);
    cJSON_AddNumberToObject(row, "strategy_time", 0);
    cJSON_AddNumberToObject(row, "framework_time", 0);
    add_timestamp(row, trial->finished);
    write_cache_key(writer, trial->genome);
    write_json(writer, row);
}

static void write_cache_tail(struct writer *writer) {
    write_text(writer, "}\n}\n");
}

/* ---- the file ---- */

static const struct {
    const char *name;
    void (*head)(struct writer *writer);
    void (*row)(struct writer *writer, const struct store_trial *trial);
    void (*tail)(struct writer *writer);
} formats[SPACE_FILE_FORMAT_COUNT] = {
    [SPACE_FILE_T4] = {"t4", write_t4_head, write_t4_row, write_t4_tail},
    [SPACE_FILE_KERNEL_TUNER] = {"kernel-tuner", write_cache_head, write_cache_row,
                                 write_cache_tail},
};

const char *space_file_format_name(enum space_file_format format) {
    return formats[format].name;
}

int space_file_format_parse(const char *name) {
    for (int format = 0; format < SPACE_FILE_FORMAT_COUNT; format++)
        if (strcmp(formats[format].name, name) == 0)
            return format;
    return -1;
}

/* A trial that was observed several times is one row, at its latest tell. */
static bool is_row(const struct writer *writer, const struct store_event *event) {
    return event->observed && event->trial.observed == event->number && !event->trial.outdated &&
           event->trial.goal == writer->file->goal &&
           event->trial.outcome->verdict != VERDICT_FILTERED && /* was not tried */
           event->trial.outcome->verdict != VERDICT_LOST;       /* nor judged */
}

static int add_value(struct parameter *parameter, const char *value, struct error *error) {
    for (int i = 0; i < parameter->count; i++)
        if (strcmp(parameter->values[i], value) == 0)
            return 0;
    if (parameter->count == VALUES_MAX)
        return error_set(error, "gene %s has more than %d values", parameter->name, VALUES_MAX);
    parameter->values[parameter->count++] = xstrdup(value);
    return 0;
}

/* The first pass collects the genes and their values. */
static int collect_values(void *context, const struct store_event *event, struct error *error) {
    struct writer *writer = context;
    if (!is_row(writer, event))
        return 0;
    const char *at = event->trial.genome;
    char text[NAME_SIZE];
    struct gene_words gene;
    int result = 0;
    for (int i = 0; result == 0 && genome_read_gene(&at, &gene) == 1; i++) {
        if (i == GENES_MAX)
            BUG("a genome of more than %d genes was stored", GENES_MAX);
        if (i == writer->parameter_count)
            writer->parameters[writer->parameter_count++].name =
                xstrdup(print_word(gene.name, text));
        result = add_value(&writer->parameters[i], print_word(gene.value, text), error);
    }
    writer->predicted = writer->predicted || event->trial.outcome->predicted;
    writer->rows++;
    return result;
}

static int write_row(void *context, const struct store_event *event, struct error *error) {
    struct writer *writer = context;
    (void)error;
    if (is_row(writer, event)) {
        formats[writer->file->format].row(writer, &event->trial);
        writer->rows++;
    }
    return 0;
}

static int write_rows(struct store *store, struct writer *writer, struct error *error) {
    if (store_events(store, 0, collect_values, writer, error) < 0)
        return -1;
    if (writer->rows == 0)
        return error_set(error,
                         "%s has no finished trial of goal %d yet: there is nothing to write",
                         store_run_dir(store), writer->file->goal);
    writer->rows = 0;
    formats[writer->file->format].head(writer);
    if (store_events(store, 0, write_row, writer, error) < 0)
        return -1;
    formats[writer->file->format].tail(writer);
    return 0;
}

int64_t space_file_write(struct store *store, const struct space_file *file, const char *path,
                         struct error *error) {
    char partial[PATH_SIZE + 16];
    size_t length = strlen(path);
    bool compressed = length > 3 && strcmp(path + length - 3, ".gz") == 0;
    if (file->goal < 0 || file->goal >= store_goal_count(store))
        return error_input(error, "%s has %d goals, from 0: there is no goal %d",
                           store_run_dir(store), store_goal_count(store), file->goal);
    bool replaced = path_is_replaceable(path);
    struct writer *writer = xcalloc(1, sizeof *writer);
    writer->file = file;
    snprintf(partial, sizeof partial, "%.*s%s", PATH_SIZE, path, replaced ? ".partial" : "");
    writer->out = gzopen(partial, compressed ? "wb9" : "wbT");
    if (writer->out == NULL) {
        free(writer);
        return error_set(error, "cannot write %s: %s", partial, strerror(errno));
    }
    int result = write_rows(store, writer, error);
    writer->failed = gzclose(writer->out) != Z_OK || writer->failed;
    if (result == 0 && (writer->failed || (replaced && rename(partial, path) < 0)))
        result = error_set(error, "cannot write %s: %s", path, strerror(errno));
    if (result < 0 && replaced)
        unlink(partial);
    for (int i = 0; i < writer->parameter_count; i++) {
        for (int v = 0; v < writer->parameters[i].count; v++)
            free(writer->parameters[i].values[v]);
        free(writer->parameters[i].name);
    }
    int64_t rows = result < 0 ? -1 : writer->rows;
    free(writer);
    return rows;
}
