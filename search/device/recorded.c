#include "device/recorded.h"

#include "device/recorded_sheet.h"

#include <math.h>
#include <string.h>

enum { COMPLAINT_SIZE = 400 };

struct reader {
    struct json_stream *stream;
    struct sheet *sheet;
    bool found;       /* the rows were read */
    double time_unit; /* the file's default unit (T4), in microseconds */
};

/* Adds the reader's position to an error of the table. */
static int place(struct reader *reader, int result, const struct error *complaint) {
    return result < 0 ? json_stream_error(reader->stream, "%.*s", COMPLAINT_SIZE, complaint->text)
                      : 0;
}

static bool token_is(const struct reader *reader, const char *text) {
    return strcmp(json_stream_token(reader->stream), text) == 0;
}

/* Moves to the next member; a truncated object is an error. */
static int next_member(struct reader *reader, bool *first) {
    int more = json_stream_member(reader->stream, first);
    return more == JSON_CUT ? json_stream_error(reader->stream, "the file ends within an object")
                            : more;
}

static int next_element(struct reader *reader, bool *first) {
    int more = json_stream_element(reader->stream, first);
    return more == JSON_CUT ? json_stream_error(reader->stream, "the file ends within an array")
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

static int read_verdict(struct reader *reader, enum verdict *verdict) {
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (token_is(reader, failures[i].text)) {
            *verdict = failures[i].verdict;
            return 0;
        }
    return json_stream_error(reader->stream, "\"%.60s\" is not a known kind of failure",
                             json_stream_token(reader->stream));
}

/* Reads a number, or the name of a failure. */
static int read_time(struct reader *reader, enum verdict *verdict, double *time) {
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

static int read_name(struct reader *reader, char *name, size_t size) {
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
static int read_name_member(struct reader *reader) {
    struct sheet *sheet = reader->sheet;
    if (token_is(reader, "device_name"))
        return read_name(reader, sheet->device_name, sizeof sheet->device_name);
    if (token_is(reader, "kernel_name"))
        return read_name(reader, sheet->kernel_name, sizeof sheet->kernel_name);
    if (token_is(reader, "default_genome"))
        return read_name(reader, sheet->default_genome, sizeof sheet->default_genome);
    return json_stream_skip(reader->stream);
}

/* ---- Kernel Tuner's cache ---- */

static int read_columns(struct reader *reader) {
    enum json_scalar kind;
    struct error complaint;
    int more;
    if (json_stream_enter(reader->stream, '[') < 0)
        return -1;
    for (bool first = true; (more = next_element(reader, &first)) == JSON_MORE;)
        if (json_stream_scalar(reader->stream, &kind) < 0 ||
            place(reader,
                  sheet_add_column(reader->sheet, json_stream_token(reader->stream), &complaint),
                  &complaint) < 0)
            return -1;
    return more;
}

static int set_cell(struct reader *reader, int column) {
    enum json_scalar kind;
    struct error complaint;
    if (json_stream_scalar(reader->stream, &kind) < 0)
        return -1;
    return place(
        reader,
        sheet_set(reader->sheet, column, json_stream_token(reader->stream), kind, &complaint),
        &complaint);
}

static int end_row(struct reader *reader) {
    struct error complaint;
    return place(reader, sheet_end_row(reader->sheet, &complaint), &complaint);
}

static int read_cache_row(struct reader *reader) {
    struct sheet *sheet = reader->sheet;
    bool timed = false;
    int more, next = 0;
    double time_ms = 0;
    if (json_stream_enter(reader->stream, '{') < 0)
        return -1;
    sheet_begin_row(sheet);
    for (bool first = true; (more = next_member(reader, &first)) == JSON_MORE;) {
        int result;
        int column;
        if (token_is(reader, "time")) {
            timed = true;
            result = read_time(reader, &sheet->verdict, &time_ms);
        } else if ((column = sheet_find_column(sheet, json_stream_token(reader->stream), next)) >=
                   0) {
            next = column + 1;
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
    sheet->time_us = 1000 * time_ms;
    return end_row(reader);
}

/* Returns JSON_CUT if the closing braces are missing. */
static int read_cache(struct reader *reader) {
    int more;
    if (reader->found)
        return json_stream_error(reader->stream, "the rows occur twice");
    if (reader->sheet->column_count == 0)
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

static int read_configuration(struct reader *reader) {
    struct sheet *sheet = reader->sheet;
    bool begins = sheet->count == 0;
    int more, next = 0;
    if (json_stream_enter(reader->stream, '{') < 0)
        return -1;
    for (bool first = true; (more = next_member(reader, &first)) == JSON_MORE;) {
        const char *name = json_stream_token(reader->stream);
        int column = sheet_find_column(sheet, name, next);
        if (column < 0 && begins) {
            struct error complaint;
            if (place(reader, sheet_add_column(sheet, name, &complaint), &complaint) < 0)
                return -1;
            column = sheet->column_count - 1;
        } else if (column < 0)
            return json_stream_error(reader->stream, "the earlier rows have no parameter '%.60s'",
                                     name);
        next = column + 1;
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

static int read_unit(struct reader *reader, double *unit) {
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
struct measured {
    bool there;
    double time; /* NAN: not a number */
    double unit; /* 0: the file's default */
};

static int read_measurement(struct reader *reader, struct measured *measured) {
    struct measured it = {0};
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
            it.time = kind == JSON_NUMBER ? strtod(json_stream_token(reader->stream), NULL) : NAN;
        } else
            result = json_stream_skip(reader->stream);
        if (result < 0)
            return -1;
    }
    if (more < 0 || strcmp(name, "time") != 0)
        return more;
    if (*unit != '\0' && (it.unit = unit_us(unit)) == 0)
        return json_stream_error(reader->stream, "\"%s\" is not a unit of time: use ms", unit);
    it.there = true;
    *measured = it;
    return 0;
}

static int read_measurements(struct reader *reader, struct measured *measured) {
    int more;
    if (json_stream_enter(reader->stream, '[') < 0)
        return -1;
    for (bool first = true; (more = next_element(reader, &first)) == JSON_MORE;)
        if (read_measurement(reader, measured) < 0)
            return -1;
    return more;
}

static int read_result(struct reader *reader) {
    struct sheet *sheet = reader->sheet;
    struct measured measured = {0};
    bool configured = false;
    bool judged = false;
    int more;
    if (json_stream_enter(reader->stream, '{') < 0)
        return -1;
    sheet_begin_row(sheet);
    for (bool first = true; (more = next_member(reader, &first)) == JSON_MORE;) {
        int result;
        enum json_scalar kind;
        if (token_is(reader, "configuration")) {
            configured = true;
            result = read_configuration(reader);
        } else if (token_is(reader, "invalidity")) {
            judged = true;
            result = json_stream_scalar(reader->stream, &kind) < 0
                         ? -1
                         : read_verdict(reader, &sheet->verdict);
        } else if (token_is(reader, "measurements"))
            result = read_measurements(reader, &measured);
        else
            result = json_stream_skip(reader->stream);
        if (result < 0)
            return -1;
    }
    if (more < 0)
        return -1;
    if (!configured || !judged)
        return json_stream_error(reader->stream, "the result has no \"%s\"",
                                 configured ? "invalidity" : "configuration");
    if (sheet->verdict == VERDICT_OK) {
        if (!measured.there)
            return json_stream_error(reader->stream, "the result is correct and has no measurement "
                                                     "\"time\"");
        sheet->time_us = measured.time * (measured.unit > 0 ? measured.unit : reader->time_unit);
    }
    return end_row(reader);
}

static int read_results(struct reader *reader) {
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

static int read_metadata(struct reader *reader) {
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

static int read_top_member(struct reader *reader) {
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

static int read_document(struct reader *reader) {
    int more;
    if (json_stream_enter(reader->stream, '{') < 0)
        return -1;
    for (bool first = true; (more = json_stream_member(reader->stream, &first)) == JSON_MORE;) {
        int result = read_top_member(reader);
        if (result == JSON_CUT)
            return 0;
        if (result < 0)
            return -1;
    }
    if (more < 0)
        return -1;
    if (!reader->found)
        return json_stream_error(reader->stream, "neither a Kernel Tuner cache nor T4 results: it "
                                                 "has no \"cache\" and no \"results\"");
    return more == JSON_CUT ? 0 : json_stream_end(reader->stream);
}

struct recorded *recorded_read_stream(struct json_stream *stream) {
    struct reader reader = {.stream = stream, .sheet = sheet_new(), .time_unit = 1000};
    struct recorded *recorded = NULL;
    struct error complaint;
    if (read_document(&reader) == 0) {
        recorded = sheet_finish(reader.sheet, &complaint);
        place(&reader, recorded != NULL ? 0 : -1, &complaint);
    }
    sheet_free(reader.sheet);
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
    while (*text != '\0') {
        char name[NAME_SIZE];
        size_t length = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "= ,"), text);
        if (space_find_gene(space, name) >= 0 && used + length + 2 < sizeof genes) {
            used += (size_t)snprintf(genes + used, sizeof genes - used, "%s%.*s",
                                     used > 0 ? "," : "", (int)length, text);
            given++;
        }
        text += length;
        text += strspn(text, ", ");
    }
    if (given < space->gene_count)
        return error_input(error, "the genome gives %d of the %d parameters that vary", given,
                           space->gene_count);
    if (genome_parse(&genome, space, genes, error) < 0)
        return -1;
    int64_t row = recorded_find(recorded, &genome);
    return row >= 0 ? row : error_input(error, "there is no row %s", genes);
}
