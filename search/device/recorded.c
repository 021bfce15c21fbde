#include "device/recorded.h"

#include "device/recorded_table.h"

#include <math.h>
#include <string.h>

enum { ERROR_TEXT_MAX = 400 };

struct recorded_reader {
    struct json_stream *stream;
    struct recorded_table *table;
    bool found;       /* the rows were read */
    double time_unit; /* the file's default unit (T4), in microseconds */
};

/* Adds the reader's position to an error of the table. */
static int add_position(struct recorded_reader *reader, int result,
                        const struct error *table_error) {
    return result < 0 ? json_stream_error(reader->stream, "%.*s", ERROR_TEXT_MAX, table_error->text)
                      : 0;
}

static bool token_is(const struct recorded_reader *reader, const char *text) {
    return strcmp(json_stream_token(reader->stream), text) == 0;
}

/* Moves to the next member; a truncated object is an error. */
static int next_member(struct recorded_reader *reader, bool *first) {
    int more = json_stream_member(reader->stream, first);
    return more == JSON_TRUNCATED
               ? json_stream_error(reader->stream, "the file ends within an object")
               : more;
}

static int next_element(struct recorded_reader *reader, bool *first) {
    int more = json_stream_element(reader->stream, first);
    return more == JSON_TRUNCATED
               ? json_stream_error(reader->stream, "the file ends within an array")
               : more;
}

/* ---- times and failures ---- */

static const struct {
    const char *text;
    enum verdict verdict;
} failures[] = {
    {"InvalidConfig", VERDICT_INVALID},
    {"CompilationFailedConfig", VERDICT_COMPILE_FAILED},
    {"RuntimeFailedConfig", VERDICT_LAUNCH_FAILED},
    /* T4's "invalidity", as in the schema and as written by some tools */
    {"constraints", VERDICT_INVALID},
    {"compile", VERDICT_COMPILE_FAILED},
    {"compilation", VERDICT_COMPILE_FAILED},
    {"runtime", VERDICT_LAUNCH_FAILED},
    {"correctness", VERDICT_WRONG},
    {"timeout", VERDICT_TIMEOUT},
    {"correct", VERDICT_OK},
};

static int read_verdict(struct recorded_reader *reader, enum verdict *verdict) {
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (token_is(reader, failures[i].text)) {
            *verdict = failures[i].verdict;
            return 0;
        }
    return json_stream_error(reader->stream, "\"%.60s\" is not a known kind of failure",
                             json_stream_token(reader->stream));
}

/* Reads a number, or the name of a failure. */
static int read_time(struct recorded_reader *reader, enum verdict *verdict, double *time) {
    enum json_scalar kind;
    if (json_stream_scalar(reader->stream, &kind) < 0)
        return -1;
    if (kind == JSON_STRING)
        return read_verdict(reader, verdict);
    if (kind == JSON_LITERAL)
        return json_stream_error(reader->stream, "%s is not a time",
                                 json_stream_token(reader->stream));
    *time = strtod(json_stream_token(reader->stream), NULL);
    *verdict = VERDICT_OK;
    return 0;
}

static int read_name(struct recorded_reader *reader, char *name, size_t size) {
    int byte = json_stream_peek(reader->stream);
    enum json_scalar kind;
    if (byte != '"')
        return json_stream_skip(reader->stream);
    if (json_stream_scalar(reader->stream, &kind) < 0)
        return -1;
    snprintf(name, size, "%.*s", (int)size - 1, json_stream_token(reader->stream));
    return 0;
}

/* Reads a member outside the rows. */
static int read_name_member(struct recorded_reader *reader) {
    struct recorded_table *table = reader->table;
    if (token_is(reader, "device_name"))
        return read_name(reader, table->device_name, sizeof table->device_name);
    if (token_is(reader, "kernel_name"))
        return read_name(reader, table->kernel_name, sizeof table->kernel_name);
    if (token_is(reader, "default_genome"))
        return read_name(reader, table->default_genome, sizeof table->default_genome);
    return json_stream_skip(reader->stream);
}

/* ---- Kernel Tuner's cache ---- */

static int read_columns(struct recorded_reader *reader) {
    enum json_scalar kind;
    struct error table_error;
    int more;
    if (json_stream_enter(reader->stream, '[') < 0)
        return -1;
    for (bool first = true; (more = next_element(reader, &first)) == JSON_MORE;)
        if (json_stream_scalar(reader->stream, &kind) < 0 ||
            add_position(reader,
                         recorded_table_add_column(reader->table, json_stream_token(reader->stream),
                                                   &table_error),
                         &table_error) < 0)
            return -1;
    return more;
}

static int set_cell(struct recorded_reader *reader, int column) {
    enum json_scalar kind;
    struct error table_error;
    if (json_stream_scalar(reader->stream, &kind) < 0)
        return -1;
    return add_position(reader,
                        recorded_table_set(reader->table, column, json_stream_token(reader->stream),
                                           kind, &table_error),
                        &table_error);
}

static int end_row(struct recorded_reader *reader) {
    struct error table_error;
    return add_position(reader, recorded_table_end_row(reader->table, &table_error), &table_error);
}

static int read_cache_row(struct recorded_reader *reader) {
    struct recorded_table *table = reader->table;
    bool timed = false;
    int more, next_column = 0;
    double time_ms = 0;
    if (json_stream_enter(reader->stream, '{') < 0)
        return -1;
    recorded_table_begin_row(table);
    for (bool first = true; (more = next_member(reader, &first)) == JSON_MORE;) {
        int result;
        int column;
        if (token_is(reader, "time")) {
            timed = true;
            result = read_time(reader, &table->verdict, &time_ms);
        } else if ((column = recorded_table_find_column(table, json_stream_token(reader->stream),
                                                        next_column)) >= 0) {
            next_column = column + 1;
            result = set_cell(reader, column);
        } else
            result = json_stream_skip(reader->stream);
        if (result < 0)
            return -1;
    }
    if (more < 0)
        return -1;
    if (!timed)
        return json_stream_error(reader->stream, "the row has no \"time\"");
    table->time_us = 1000 * time_ms;
    return end_row(reader);
}

/* Returns JSON_TRUNCATED if the closing braces are missing. */
static int read_cache(struct recorded_reader *reader) {
    int more;
    if (reader->found)
        return json_stream_error(reader->stream, "the rows occur twice");
    if (reader->table->column_count == 0)
        return json_stream_error(reader->stream, "\"tune_params_keys\" is missing before the rows");
    reader->found = true;
    if (json_stream_enter(reader->stream, '{') < 0)
        return -1;
    for (bool first = true; (more = json_stream_member(reader->stream, &first)) == JSON_MORE;)
        if (read_cache_row(reader) < 0)
            return -1;
    return more;
}

/* ---- T4 ---- */

static int read_configuration(struct recorded_reader *reader) {
    struct recorded_table *table = reader->table;
    bool is_first_row = table->count == 0;
    int more, next_column = 0;
    if (json_stream_enter(reader->stream, '{') < 0)
        return -1;
    for (bool first = true; (more = next_member(reader, &first)) == JSON_MORE;) {
        const char *name = json_stream_token(reader->stream);
        int column = recorded_table_find_column(table, name, next_column);
        if (column < 0 && is_first_row) {
            struct error table_error;
            if (add_position(reader, recorded_table_add_column(table, name, &table_error),
                             &table_error) < 0)
                return -1;
            column = table->column_count - 1;
        } else if (column < 0)
            return json_stream_error(reader->stream, "the earlier rows have no parameter '%.60s'",
                                     name);
        next_column = column + 1;
        if (set_cell(reader, column) < 0)
            return -1;
    }
    return more;
}

/* Returns the unit in microseconds; 0: unknown. */
static double unit_us(const char *name) {
    static const struct {
        const char *name;
        double us;
    } units[] = {
        {"ns", 1e-3},
        {"nanoseconds", 1e-3},
        {"us", 1},
        {"microseconds", 1},
        {"ms", 1e3},
        {"milliseconds", 1e3},
        {"miliseconds", 1e3} /* the hub's spelling */,
        {"s", 1e6},
        {"seconds", 1e6},
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].name, name) == 0)
            return units[i].us;
    return 0;
}

static int read_unit(struct recorded_reader *reader, double *unit) {
    char name[32] = "";
    if (read_name(reader, name, sizeof name) < 0)
        return -1;
    if (*name == '\0')
        return 0;
    double us = unit_us(name);
    if (us == 0)
        return json_stream_error(reader->stream, "\"%s\" is not a unit of time: use ms", name);
    *unit = us;
    return 0;
}

/* The measurement of one row. */
struct measurement {
    bool present;
    double time; /* NAN: not a number */
    double unit; /* 0: the file's default */
};

static int read_measurement(struct recorded_reader *reader, struct measurement *measurement) {
    struct measurement current = {0};
    char name[NAME_SIZE] = "";
    char unit[32] = "";
    int more;
    if (json_stream_enter(reader->stream, '{') < 0)
        return -1;
    for (bool first = true; (more = next_member(reader, &first)) == JSON_MORE;) {
        int byte;
        int result;
        if (token_is(reader, "name"))
            result = read_name(reader, name, sizeof name);
        else if (token_is(reader, "unit"))
            result = read_name(reader, unit, sizeof unit);
        else if (token_is(reader, "value") && (byte = json_stream_peek(reader->stream)) != '[' &&
                 byte != '{') {
            /* other measurements may have text values; ignore them */
            enum json_scalar kind;
            result = json_stream_scalar(reader->stream, &kind);
            current.time =
                kind == JSON_NUMBER ? strtod(json_stream_token(reader->stream), NULL) : NAN;
        } else
            result = json_stream_skip(reader->stream);
        if (result < 0)
            return -1;
    }
    if (more < 0 || strcmp(name, "time") != 0)
        return more;
    if (*unit != '\0' && (current.unit = unit_us(unit)) == 0)
        return json_stream_error(reader->stream, "\"%s\" is not a unit of time: use ms", unit);
    current.present = true;
    *measurement = current;
    return 0;
}

static int read_measurements(struct recorded_reader *reader, struct measurement *measurement) {
    int more;
    if (json_stream_enter(reader->stream, '[') < 0)
        return -1;
    for (bool first = true; (more = next_element(reader, &first)) == JSON_MORE;)
        if (read_measurement(reader, measurement) < 0)
            return -1;
    return more;
}

static int read_result(struct recorded_reader *reader) {
    struct recorded_table *table = reader->table;
    struct measurement measurement = {0};
    bool has_configuration = false;
    bool has_verdict = false;
    int more;
    if (json_stream_enter(reader->stream, '{') < 0)
        return -1;
    recorded_table_begin_row(table);
    for (bool first = true; (more = next_member(reader, &first)) == JSON_MORE;) {
        int result;
        enum json_scalar kind;
        if (token_is(reader, "configuration")) {
            has_configuration = true;
            result = read_configuration(reader);
        } else if (token_is(reader, "invalidity")) {
            has_verdict = true;
            result = json_stream_scalar(reader->stream, &kind) < 0
                         ? -1
                         : read_verdict(reader, &table->verdict);
        } else if (token_is(reader, "measurements"))
            result = read_measurements(reader, &measurement);
        else
            result = json_stream_skip(reader->stream);
        if (result < 0)
            return -1;
    }
    if (more < 0)
        return -1;
    if (!has_configuration || !has_verdict)
        return json_stream_error(reader->stream, "the result has no \"%s\"",
                                 has_configuration ? "invalidity" : "configuration");
    if (table->verdict == VERDICT_OK) {
        if (!measurement.present)
            return json_stream_error(reader->stream, "the result is correct and has no measurement "
                                                     "\"time\"");
        table->time_us =
            measurement.time * (measurement.unit > 0 ? measurement.unit : reader->time_unit);
    }
    return end_row(reader);
}

static int read_results(struct recorded_reader *reader) {
    int more;
    if (reader->found)
        return json_stream_error(reader->stream, "the rows occur twice");
    reader->found = true;
    if (json_stream_enter(reader->stream, '[') < 0)
        return -1;
    for (bool first = true; (more = next_element(reader, &first)) == JSON_MORE;)
        if (read_result(reader) < 0)
            return -1;
    return more;
}

static int read_metadata(struct recorded_reader *reader) {
    int more;
    if (json_stream_enter(reader->stream, '{') < 0)
        return -1;
    for (bool first = true; (more = next_member(reader, &first)) == JSON_MORE;) {
        int result = token_is(reader, "timeunit") && !reader->found
                         ? read_unit(reader, &reader->time_unit)
                         : read_name_member(reader);
        if (result < 0)
            return -1;
    }
    return more;
}

/* ---- both ---- */

static int read_top_member(struct recorded_reader *reader) {
    if (token_is(reader, "cache"))
        return read_cache(reader);
    if (token_is(reader, "tune_params_keys"))
        return read_columns(reader);
    if (token_is(reader, "results"))
        return read_results(reader);
    if (token_is(reader, "metadata"))
        return read_metadata(reader);
    return read_name_member(reader);
}

static int read_document(struct recorded_reader *reader) {
    int more;
    if (json_stream_enter(reader->stream, '{') < 0)
        return -1;
    for (bool first = true; (more = json_stream_member(reader->stream, &first)) == JSON_MORE;) {
        int result = read_top_member(reader);
        if (result == JSON_TRUNCATED)
            return 0;
        if (result < 0)
            return -1;
    }
    if (more < 0)
        return -1;
    if (!reader->found)
        return json_stream_error(reader->stream, "neither a Kernel Tuner cache nor T4 results: it "
                                                 "has no \"cache\" and no \"results\"");
    return more == JSON_TRUNCATED ? 0 : json_stream_end(reader->stream);
}

struct recorded *recorded_read_stream(struct json_stream *stream) {
    struct recorded_reader reader = {
        .stream = stream, .table = recorded_table_new(), .time_unit = 1000};
    struct recorded *recorded = NULL;
    struct error table_error;
    if (read_document(&reader) == 0) {
        recorded = recorded_table_build(reader.table, &table_error);
        add_position(&reader, recorded != NULL ? 0 : -1, &table_error);
    }
    recorded_table_free(reader.table);
    return recorded;
}

struct recorded *recorded_read(const char *path, struct error *error) {
    struct json_stream *stream = json_stream_open(path, error);
    if (stream == NULL)
        return NULL;
    struct recorded *recorded = recorded_read_stream(stream);
    json_stream_close(stream);
    return recorded;
}

int64_t recorded_find_text(const struct recorded *recorded, const char *text, struct error *error) {
    const struct space *space = recorded->space;
    char genes[GENOME_TEXT_SIZE] = "";
    size_t used = 0;
    int given = 0;
    struct genome genome;
    struct gene_words gene;
    int found;
    while ((found = genome_read_gene(&text, &gene)) != 0) {
        char name[NAME_SIZE];
        if (found < 0)
            return error_input(error, "'%.*s' is not GENE=VALUE", gene.name.length, gene.name.text);
        snprintf(name, sizeof name, "%.*s", gene.name.length, gene.name.text);
        if (space_find_gene(space, name) < 0 ||
            used + (size_t)(gene.name.length + gene.value.length) + 3 >= sizeof genes)
            continue;
        used += (size_t)snprintf(genes + used, sizeof genes - used, "%s%s=%.*s",
                                 used > 0 ? "," : "", name, gene.value.length, gene.value.text);
        given++;
    }
    if (given < space->gene_count)
        return error_input(error, "the genome gives %d of the %d parameters that vary", given,
                           space->gene_count);
    if (genome_parse(&genome, space, genes, error) < 0)
        return -1;
    int64_t row = recorded_find(recorded, &genome);
    return row >= 0 ? row : error_input(error, "there is no row %s", genes);
}
