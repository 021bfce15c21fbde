#include "calls/tally.h"

#include "base/memory.h"
#include "base/path.h"
#include "evaluate/roofline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* FILE_MAX: bytes. COUNT_STEPS: partial genomes, until one is valid. */
enum { FILE_MAX = 256 << 20, COUNT_STEPS = 200000 };

struct tally *tally_new(const char *folder, struct error *error) {
    struct tally *tally = xcalloc(1, sizeof *tally);
    snprintf(tally->folder, sizeof tally->folder, "%s", folder);
    tally->template = template_load(folder, NULL, error);
    if (tally->template != NULL)
        return tally;
    free(tally);
    return NULL;
}

void tally_free(struct tally *tally) {
    if (tally == NULL)
        return;
    template_free(tally->template);
    free(tally->cases);
    free(tally);
}

static int add_case(struct tally *tally, const struct shape *shape, double calls, double weight,
                    struct error *error) {
    const size_t bytes = (size_t)tally->template->dimension_count * sizeof *shape->values;
    int i = 0;
    while (i < tally->count && memcmp(tally->cases[i].shape.values, shape->values, bytes) != 0)
        i++;
    if (i == TALLY_CASES_MAX)
        return error_input(error,
                           "there are more than %d different cases: leave out the rare ones, or "
                           "round their dimensions",
                           TALLY_CASES_MAX);
    if (i == tally->count) {
        tally->cases = xgrow(tally->cases, (size_t)tally->count, sizeof *tally->cases);
        tally->cases[tally->count++] = (struct tally_case){.shape = *shape};
    }
    tally->cases[i].calls += calls;
    tally->cases[i].weight += weight;
    tally->calls += calls;
    return 0;
}

static void add_other(struct tally *tally, const char *called, const char *reason, double calls) {
    int i = 0;
    while (i < tally->other_count && (strcmp(tally->others[i].called, called) != 0 ||
                                      strcmp(tally->others[i].reason, reason) != 0))
        i++;
    if (i == TALLY_OTHERS_MAX)
        i--;
    if (i == tally->other_count)
        snprintf(tally->others[tally->other_count++].called, NAME_SIZE, "%s", called);
    snprintf(tally->others[i].reason, CALL_REASON_SIZE, "%s", reason);
    tally->others[i].calls += calls;
    tally->other_calls += calls;
}

/* ---- files ---- */

/* Calls `read` for each line that is not blank, without its end. */
static int read_lines(struct tally *tally, const char *path,
                      int (*read)(struct tally *tally, char *line, const char *place, void *context,
                                  struct error *error),
                      void *context, struct error *error) {
    char *text = path_read_file(path, FILE_MAX, NULL, error), *at = text;
    int status = text == NULL ? -1 : 0;
    for (int number = 1; status == 0 && at != NULL; number++) {
        char place[PATH_SIZE + 16], *line = at;
        at = strchr(line, '\n');
        if (at != NULL)
            *at++ = '\0';
        line[strcspn(line, "\r")] = '\0';
        snprintf(place, sizeof place, "%s:%d", path, number);
        if (line[strspn(line, " \t")] != '\0')
            status = read(tally, line, place, context, error);
    }
    free(text);
    return status;
}

struct header {
    bool read;
    int count;
    int dimensions[DIMENSIONS_MAX + 2]; /* by column: the dimension, or one of these: */
};
enum { COLUMN_COUNT = -1, COLUMN_WEIGHT = -2 };

/* The next field of a line, without blanks and quotes around it; NULL: there is none. */
static char *next_field(char **at) {
    char *field = *at;
    if (field == NULL)
        return NULL;
    char *end = field + strcspn(field, ",");
    *at = *end == ',' ? end + 1 : NULL;
    field += strspn(field, " \t\"");
    while (end > field && strchr(" \t\"", end[-1]) != NULL)
        end--;
    *end = '\0';
    return field;
}

static int read_header(struct tally *tally, char *line, const char *place, struct header *header,
                       struct error *error) {
    const struct template *template = tally->template;
    char known[1024] = "";
    if (strncmp(line, "\xef\xbb\xbf", 3) == 0)
        line += 3;
    for (int d = 0; d < template->dimension_count; d++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", d > 0 ? ", " : "",
                 template->dimensions[d].name);
    for (char *field; (field = next_field(&line)) != NULL; header->count++) {
        const int d = call_dimension(template, field);
        const int column = d >= 0                         ? d
                           : strcmp(field, "count") == 0  ? COLUMN_COUNT
                           : strcmp(field, "weight") == 0 ? COLUMN_WEIGHT
                                                          : DIMENSIONS_MAX;
        if (column == DIMENSIONS_MAX)
            return error_input(error,
                               "%s: the column \"%.60s\" is no dimension of %s: the first line has "
                               "names of %s, separated by commas, and perhaps count or weight",
                               place, field, template->name, known);
        for (int i = 0; i < header->count; i++)
            if (header->dimensions[i] == column)
                return error_input(error, "%s: the column %s is there twice", place, field);
        header->dimensions[header->count] = column;
        tally->weighted = tally->weighted || column == COLUMN_WEIGHT;
    }
    header->read = true;
    return 0;
}

static int read_cell(const char *field, double *number, const char *place, const char *name,
                     struct error *error) {
    char *end;
    *number = strtod(field, &end);
    return *end == '\0' && end != field && isfinite(*number)
               ? 0
               : error_input(error, "%s: %s is \"%.60s\", which is no number", place, name, field);
}

static int read_row(struct tally *tally, char *line, const char *place, void *context,
                    struct error *error) {
    static const char *const others[] = {"count", "weight"};
    struct header *header = context;
    double numbers[2] = {1, 0};
    struct json_document document;
    struct shape shape = {0};
    if (!header->read)
        return read_header(tally, line, place, header, error);
    cJSON *object = cJSON_CreateObject();
    int column = 0, status = 0;
    for (char *field; (field = next_field(&line)) != NULL && status == 0; column++) {
        const int d = column < header->count ? header->dimensions[column] : DIMENSIONS_MAX;
        double number = 0;
        if (d == DIMENSIONS_MAX || *field == '\0') /* an empty cell: the default */
            continue;
        status = read_cell(field, &number, place,
                           d >= 0 ? tally->template->dimensions[d].name : others[-1 - d], error);
        if (d >= 0)
            cJSON_AddNumberToObject(object, tally->template->dimensions[d].name, number);
        else
            numbers[-1 - d] = number;
    }
    if (status == 0 && column != header->count)
        status = error_input(error, "%s: there are %d fields, and the first line has %d", place,
                             column, header->count);
    if (status == 0 && (numbers[0] <= 0 || numbers[1] < 0))
        status = error_input(error, "%s: a count is above 0, and a weight not below", place);
    char *text = json_print_line(object);
    if (status == 0 && (status = json_read_text(&document, place, text, error)) == 0) {
        struct json root = json_root(&document);
        status = template_read_shape(tally->template, &root, NULL, &shape, error);
        json_release(&document);
    }
    free(text);
    return status < 0 ? -1 : add_case(tally, &shape, numbers[0], numbers[1], error);
}

int tally_read_csv(struct tally *tally, const char *path, struct error *error) {
    struct header header = {0};
    return read_lines(tally, path, read_row, &header, error);
}

static int read_call(struct tally *tally, char *line, const char *place, void *context,
                     struct error *error) {
    struct json_document document;
    struct json member;
    struct shape shape;
    const char *called;
    char reason[CALL_REASON_SIZE];
    double calls = 1;
    if (json_read_text(&document, place, line, error) < 0)
        return -1;
    struct json root = json_root(&document);
    int status =
        json_is_object(&root, error) < 0 || json_require(&root, "operator", &member, error) < 0 ||
                json_string(&member, &called, error) < 0 ||
                json_require(&root, "arguments", &member, error) < 0 ||
                json_is_object(&member, error) < 0 ||
                (json_find(&root, "count", &member) && json_number(&member, &calls, error) < 0)
            ? -1
            : 0;
    if (status == 0 && !(calls > 0))
        status = json_error(&member, error, "must be above 0");
    if (status == 0)
        switch (call_patterns_match(context, &root, &shape, reason)) {
        case CALL_FITS:
            status = add_case(tally, &shape, calls, 0, error);
            break;
        case CALL_UNLIKE:
            add_other(tally, called, reason, calls);
            break;
        case CALL_OTHER:
            tally->unread_calls += calls;
        }
    json_release(&document);
    return status;
}

int tally_read_calls(struct tally *tally, const char *path, struct error *error) {
    struct call_patterns *patterns = call_patterns_read(tally->template, error);
    int status = patterns == NULL ? -1 : read_lines(tally, path, read_call, patterns, error);
    call_patterns_free(patterns);
    return status;
}

/* ---- shares ---- */

/* The least time of a call. 1, with the reason, if no genome of the default solution is valid. */
static int time_call(const struct tally *tally, const struct device_info *device,
                     struct tally_case *one, char reason[CALL_REASON_SIZE], struct error *error) {
    const struct template_setting setting = {
        .device = device,
        .smem_limit = device_smem_limit(device, SMEM_DEFAULT_LIMIT),
        .cases = &one->shape,
        .case_count = 1,
    };
    struct template *template = template_load(tally->folder, &setting, error);
    if (template == NULL)
        return -1;
    struct genome genome;
    struct problem problem;
    int64_t values[SLOTS_MAX];
    struct work work = {0};
    uint64_t valid = 0;
    genome = genome_default(template->space);
    int status = 0;
    if (!space_check(template->space, &genome, &problem) &&
        space_count(template->space, COUNT_STEPS, &valid) && valid == 0) {
        snprintf(reason, CALL_REASON_SIZE, "no genome is valid: %.200s", problem.text);
        status = 1;
    } else if (space_values(template->space, &genome, 0, values, error) < 0 ||
               expression_evaluate(template->operations, values, &work.operations, error) < 0 ||
               expression_evaluate(template->bytes, values, &work.bytes, error) < 0)
        status = -1;
    else
        one->us = fmax(roofline_share(device, &work, 1, 1), device->launch_us);
    template_free(template);
    return status;
}

static int compare_shares(const void *left, const void *right) {
    const struct tally_case *a = left, *b = right;
    return (a->share < b->share) - (a->share > b->share);
}

int tally_weigh(struct tally *tally, const struct device_info *device, struct error *error) {
    double total = 0;
    int kept = 0;
    for (int i = 0; i < tally->count; i++) {
        struct tally_case one = tally->cases[i];
        char reason[CALL_REASON_SIZE];
        int status = time_call(tally, device, &one, reason, error);
        if (status < 0)
            return -1;
        if (status > 0) {
            char text[CASE_NAME_SIZE], called[NAME_SIZE];
            template_print_shape(tally->template, &one.shape, text);
            snprintf(called, sizeof called, "%.*s", NAME_SIZE - 1, text);
            add_other(tally, called, reason, one.calls);
            tally->calls -= one.calls;
            continue;
        }
        one.share = tally->weighted ? one.weight : one.calls * one.us;
        total += one.share;
        tally->cases[kept++] = one;
    }
    tally->count = kept;
    for (int i = 0; i < kept; i++)
        tally->cases[i].share = total > 0 ? tally->cases[i].share / total : 0;
    if (kept > 0)
        qsort(tally->cases, (size_t)kept, sizeof *tally->cases, compare_shares);
    return 0;
}
