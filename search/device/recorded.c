#include "device/recorded.h"

#include "device/recorded_table.h"

#include <math.h>
#include <string.h>

enum { ERROR_TEXT_MAX = 400 };

/* After the first error every call of the stream fails, so that readers need not check each: loops
   end, and the document is refused at its end. */
struct recorded_reader {
    struct json_stream *stream;
    struct recorded_table *table;
    struct error table_error;
    bool found;       /* the rows were read */
    double time_unit; /* the file's default unit (T4), in microseconds */
};

/* Adds the reader's position to an error of the table. */
static int add_position(struct recorded_reader *reader, int result) {
    return result < 0
               ? json_stream_error(reader->stream, "%.*s", ERROR_TEXT_MAX, reader->table_error.text)
               : 0;
}

static bool token_is(const struct recorded_reader *reader, const char *text) {
    return strcmp(json_stream_token(reader->stream), text) == 0;
}

/* Moves to the next member; a truncated object is an error. */
static bool next_member(struct recorded_reader *reader, bool *first) {
    int more = json_stream_member(reader->stream, first);
    if (more == JSON_TRUNCATED)
        json_stream_error(reader->stream, "the file ends within an object");
    return more == JSON_MORE;
}

static bool next_element(struct recorded_reader *reader, bool *first) {
    int more = json_stream_element(reader->stream, first);
    if (more == JSON_TRUNCATED)
        json_stream_error(reader->stream, "the file ends within an array");
    return more == JSON_MORE;
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

static void read_verdict(struct recorded_reader *reader, enum verdict *verdict) {
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (token_is(reader, failures[i].text)) {
            *verdict = failures[i].verdict;
            return;
        }
    json_stream_error(reader->stream, "\"%.60s\" is not a known kind of failure",
                      json_stream_token(reader->stream));
}

/* Reads a number, or the name of a failure. */
static void read_time(struct recorded_reader *reader, enum verdict *verdict, double *time) {
    enum json_scalar kind;
    json_stream_scalar(reader->stream, &kind);
    const char *token = json_stream_token(reader->stream);
    if (kind == JSON_STRING) {
        read_verdict(reader, verdict);
    } else if (kind == JSON_LITERAL) {
        json_stream_error(reader->stream, "%s is not a time", token);
    } else {
        *time = strtod(token, NULL);
        *verdict = VERDICT_OK;
    }
}

static void read_name(struct recorded_reader *reader, char *name, size_t size) {
    enum json_scalar kind;
    if (json_stream_peek(reader->stream) != '"')
        json_stream_skip(reader->stream);
    else if (json_stream_scalar(reader->stream, &kind) == 0)
        snprintf(name, size, "%.*s", (int)size - 1, json_stream_token(reader->stream));
}

/* Reads a member outside the rows. */
static void read_name_member(struct recorded_reader *reader) {
    struct recorded_table *table = reader->table;
    if (token_is(reader, "device_name"))
        read_name(reader, table->device_name, sizeof table->device_name);
    else if (token_is(reader, "kernel_name"))
        read_name(reader, table->kernel_name, sizeof table->kernel_name);
    else if (token_is(reader, "default_genome"))
        read_name(reader, table->default_genome, sizeof table->default_genome);
    else
        json_stream_skip(reader->stream);
}

/* Makes the token a column. */
static int add_column(struct recorded_reader *reader) {
    return add_position(reader,
                        recorded_table_add_column(reader->table, json_stream_token(reader->stream),
                                                  &reader->table_error));
}

static void set_cell(struct recorded_reader *reader, int column) {
    enum json_scalar kind;
    if (json_stream_scalar(reader->stream, &kind) == 0)
        add_position(reader,
                     recorded_table_set(reader->table, column, json_stream_token(reader->stream),
                                        kind, &reader->table_error));
}

static void end_row(struct recorded_reader *reader) {
    add_position(reader, recorded_table_end_row(reader->table, &reader->table_error));
}

static void begin_rows(struct recorded_reader *reader, char bracket) {
    if (reader->found)
        json_stream_error(reader->stream, "the rows occur twice");
    reader->found = true;
    json_stream_enter(reader->stream, bracket);
}

/* ---- Kernel Tuner's cache ---- */

static void read_columns(struct recorded_reader *reader) {
    enum json_scalar kind;
    json_stream_enter(reader->stream, '[');
    for (bool first = true; next_element(reader, &first);)
        if (json_stream_scalar(reader->stream, &kind) == 0)
            add_column(reader);
}

static void read_cache_row(struct recorded_reader *reader) {
    struct recorded_table *table = reader->table;
    bool timed = false;
    int column, next_column = 0;
    double time_ms = 0;
    json_stream_enter(reader->stream, '{');
    recorded_table_begin_row(table);
    for (bool first = true; next_member(reader, &first);) {
        if (token_is(reader, "time")) {
            timed = true;
            read_time(reader, &table->verdict, &time_ms);
        } else if ((column = recorded_table_find_column(table, json_stream_token(reader->stream),
                                                        next_column)) >= 0) {
            next_column = column + 1;
            set_cell(reader, column);
        } else {
            json_stream_skip(reader->stream);
        }
    }
    if (!timed)
        json_stream_error(reader->stream, "the row has no \"time\"");
    table->time_us = 1000 * time_ms;
    end_row(reader);
}

/* The closing braces may be missing: Kernel Tuner writes them last. */
static void read_cache(struct recorded_reader *reader) {
    if (reader->table->column_count == 0)
        json_stream_error(reader->stream, "\"tune_params_keys\" is missing before the rows");
    begin_rows(reader, '{');
    for (bool first = true; json_stream_member(reader->stream, &first) == JSON_MORE;)
        read_cache_row(reader);
}

/* ---- T4 ---- */

static void read_configuration(struct recorded_reader *reader) {
    struct recorded_table *table = reader->table;
    bool is_first_row = table->count == 0;
    int next_column = 0;
    json_stream_enter(reader->stream, '{');
    for (bool first = true; next_member(reader, &first);) {
        const char *name = json_stream_token(reader->stream);
        int column = recorded_table_find_column(table, name, next_column);
        if (column < 0 && is_first_row && add_column(reader) == 0)
            column = table->column_count - 1;
        if (column < 0) {
            json_stream_error(reader->stream, "the earlier rows have no parameter '%.60s'", name);
            return;
        }
        next_column = column + 1;
        set_cell(reader, column);
    }
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

static void read_unit(struct recorded_reader *reader, double *unit) {
    char name[32] = "";
    read_name(reader, name, sizeof name);
    double us = unit_us(name);
    if (*name != '\0' && us == 0)
        json_stream_error(reader->stream, "\"%s\" is not a unit of time: use ms", name);
    else if (*name != '\0')
        *unit = us;
}

/* The measurement of one row. */
struct measurement {
    bool present;
    double time; /* NAN: not a number */
    double unit; /* 0: the file's default */
};

static void read_measurement(struct recorded_reader *reader, struct measurement *measurement) {
    struct measurement current = {.present = true};
    char name[NAME_SIZE] = "";
    char unit[32] = "";
    json_stream_enter(reader->stream, '{');
    for (bool first = true; next_member(reader, &first);) {
        int byte;
        if (token_is(reader, "name"))
            read_name(reader, name, sizeof name);
        else if (token_is(reader, "unit"))
            read_name(reader, unit, sizeof unit);
        else if (token_is(reader, "value") && (byte = json_stream_peek(reader->stream)) != '[' &&
                 byte != '{') {
            /* other measurements may have text values; ignore them */
            enum json_scalar kind;
            json_stream_scalar(reader->stream, &kind);
            current.time =
                kind == JSON_NUMBER ? strtod(json_stream_token(reader->stream), NULL) : NAN;
        } else
            json_stream_skip(reader->stream);
    }
    if (strcmp(name, "time") != 0)
        return;
    if (*unit != '\0' && (current.unit = unit_us(unit)) == 0)
        json_stream_error(reader->stream, "\"%s\" is not a unit of time: use ms", unit);
    *measurement = current;
}

static void read_measurements(struct recorded_reader *reader, struct measurement *measurement) {
    json_stream_enter(reader->stream, '[');
    for (bool first = true; next_element(reader, &first);)
        read_measurement(reader, measurement);
}

static void read_result(struct recorded_reader *reader) {
    struct recorded_table *table = reader->table;
    struct measurement measurement = {0};
    bool has_configuration = false;
    bool has_verdict = false;
    json_stream_enter(reader->stream, '{');
    recorded_table_begin_row(table);
    for (bool first = true; next_member(reader, &first);) {
        enum json_scalar kind;
        if (token_is(reader, "configuration")) {
            has_configuration = true;
            read_configuration(reader);
        } else if (token_is(reader, "invalidity")) {
            has_verdict = true;
            json_stream_scalar(reader->stream, &kind);
            read_verdict(reader, &table->verdict);
        } else if (token_is(reader, "measurements")) {
            read_measurements(reader, &measurement);
        } else {
            json_stream_skip(reader->stream);
        }
    }
    if (!has_configuration || !has_verdict)
        json_stream_error(reader->stream, "the result has no \"%s\"",
                          has_configuration ? "invalidity" : "configuration");
    if (table->verdict == VERDICT_OK) {
        if (!measurement.present)
            json_stream_error(reader->stream, "the result is correct and has no measurement "
                                              "\"time\"");
        table->time_us =
            measurement.time * (measurement.unit > 0 ? measurement.unit : reader->time_unit);
    }
    end_row(reader);
}

static void read_results(struct recorded_reader *reader) {
    begin_rows(reader, '[');
    for (bool first = true; next_element(reader, &first);)
        read_result(reader);
}

static void read_metadata(struct recorded_reader *reader) {
    json_stream_enter(reader->stream, '{');
    for (bool first = true; next_member(reader, &first);)
        if (token_is(reader, "timeunit") && !reader->found)
            read_unit(reader, &reader->time_unit);
        else
            read_name_member(reader);
}

/* ---- both ---- */

static void read_top_member(struct recorded_reader *reader) {
    if (token_is(reader, "cache"))
        read_cache(reader);
    else if (token_is(reader, "tune_params_keys"))
        read_columns(reader);
    else if (token_is(reader, "results"))
        read_results(reader);
    else if (token_is(reader, "metadata"))
        read_metadata(reader);
    else
        read_name_member(reader);
}

static int read_document(struct recorded_reader *reader) {
    int more;
    json_stream_enter(reader->stream, '{');
    for (bool first = true; (more = json_stream_member(reader->stream, &first)) == JSON_MORE;)
        read_top_member(reader);
    if (!reader->found)
        return json_stream_error(reader->stream, "neither a Kernel Tuner cache nor T4 results: it "
                                                 "has no \"cache\" and no \"results\"");
    return more == JSON_TRUNCATED ? 0 : json_stream_end(reader->stream);
}

struct recorded *recorded_read_stream(struct json_stream *stream) {
    struct recorded_reader reader = {
        .stream = stream, .table = recorded_table_new(), .time_unit = 1000};
    struct recorded *recorded = NULL;
    if (read_document(&reader) == 0) {
        recorded = recorded_table_build(reader.table, &reader.table_error);
        add_position(&reader, recorded != NULL ? 0 : -1);
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
