#include "pool/profile.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/strbuf.h"
#include "outcome/measure_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_S = 120, NAMES_MAX = 3, FIELDS_MAX = 64, FIELD_SIZE = 256 };

#define OF_PEAK ".avg.pct_of_peak_sustained_elapsed"

/* Each metric's names in ncu. If a name differs between chips, all of them are requested, and
   the first that has a number counts; with `sum`, they are added. */
static const struct {
    const char *name;
    const char *metrics[NAMES_MAX];
    bool counts; /* else a percentage, or a time */
    bool sum;
} rows[PROFILE_METRIC_COUNT] = {
    [PROFILE_DURATION] = {"duration_ns", {"gpu__time_duration.sum"}},
    [PROFILE_SM] = {"sm_percent", {"sm__throughput" OF_PEAK}},
    [PROFILE_MEMORY] = {"memory_percent", {"gpu__compute_memory_throughput" OF_PEAK}},
    [PROFILE_DRAM] = {"dram_percent", {"gpu__dram_throughput" OF_PEAK}},
    [PROFILE_DRAM_BYTES] = {"dram_bytes",
                            {"dram__bytes_read.sum", "dram__bytes_write.sum"},
                            .counts = true,
                            .sum = true},
    [PROFILE_SM_ACTIVE] = {"sm_active_percent", {"sm__cycles_active" OF_PEAK}},
    [PROFILE_WARPS] = {"warps_percent", {"sm__warps_active.avg.pct_of_peak_sustained_active"}},
    [PROFILE_TENSOR_PIPE] = {"tensor_pipe_percent",
                             {"sm__pipe_tensor_cycles_active" OF_PEAK,
                              "sm__pipe_tensor_op_hmma_cycles_active" OF_PEAK,
                              "sm__inst_executed_pipe_tensor" OF_PEAK}},
    [PROFILE_BANK_CONFLICTS] = {"bank_conflicts",
                                {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"},
                                .counts = true},
    [PROFILE_WAVEFRONTS] = {"shared_wavefronts",
                            {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"},
                            .counts = true},
    [PROFILE_L2_SECTORS] = {"l2_sectors", {"lts__t_sectors.sum"}, .counts = true},
    [PROFILE_L2_HITS] = {"l2_hit_percent", {"lts__t_sector_hit_rate.pct"}},
};

const char *profile_metric_name(enum profile_metric metric) {
    return rows[metric].name;
}

int profile_find(char path[PATH_SIZE], struct error *error) {
    return process_find("ncu", path)
               ? 0
               : error_set(error, "ncu is not installed: it is part of Nsight Compute, which comes "
                                  "with the CUDA "
                                  "Toolkit; install it, or put its folder on PATH");
}

cJSON *profile_kernels_json(const struct profiled_kernel *kernels, int count) {
    cJSON *list = cJSON_CreateArray();
    for (int k = 0; k < count; k++) {
        cJSON *item = cJSON_CreateObject();
        cJSON_AddItemToArray(list, item);
        json_add(item, "kernel=%s grid=%s block=%s", kernels[k].name, kernels[k].grid,
                 kernels[k].block);
        for (int m = 0; m < PROFILE_METRIC_COUNT; m++) {
            double value = kernels[k].values[m];
            cJSON_AddItemToObject(item, profile_metric_name((enum profile_metric)m),
                                  isfinite(value) ? cJSON_CreateNumber(value) : cJSON_CreateNull());
        }
    }
    return list;
}

/* ---- metrics for hints ---- */

/* All metrics but the duration are measures, in the same order. */
_Static_assert(PROFILE_METRIC_COUNT - PROFILE_SM == MEASURE_COUNT - MEASURE_PROFILED,
               "a metric has no measure");

double profile_combined_metric(const struct profiled_kernel *kernels, int count,
                               enum profile_metric metric) {
    const bool sums = rows[metric].counts || metric == PROFILE_DURATION;
    double total = 0, weights = 0; /* NaN if a kernel has none */
    for (int k = 0; k < count; k++) {
        double weight = sums ? 1 : kernels[k].values[PROFILE_DURATION];
        total += weight * kernels[k].values[metric];
        weights += weight;
    }
    return count == 0 ? NAN : sums ? total : total / weights;
}

void profile_set_measures(const struct profiled_kernel *kernels, int count,
                          struct measures *measures) {
    const double exact_integer_limit = 0x1p53; /* of a double, such as a number in JSON */
    for (int m = PROFILE_SM; m < PROFILE_METRIC_COUNT; m++) {
        double figure = profile_combined_metric(kernels, count, (enum profile_metric)m);
        if (figure >= 0 && figure < exact_integer_limit)
            measures_put(measures, MEASURE_PROFILED + m - PROFILE_SM, llround(figure));
    }
}

/* ---- reading ---- */

static const char no_kernel_text[] = "its report names no kernel";

/* A line of CSV: fields with or without double quotes; "" within quotes is one quote. */
struct csv_line {
    int count;
    char fields[FIELDS_MAX][FIELD_SIZE];
};

/* Parses one line; returns false if it is not CSV of more than one field. */
static bool parse_csv_line(const char *line, size_t length, struct csv_line *csv) {
    const char *at = line;
    const char *end = line + length;
    csv->count = 0;
    while (at <= end && csv->count < FIELDS_MAX) {
        char *csv_field = csv->fields[csv->count++];
        size_t used = 0;
        bool quoted = at < end && *at == '"';
        at += quoted;
        for (; at < end && (quoted || *at != ','); at++) {
            if (quoted && *at == '"' && (at + 1 == end || at[1] != '"'))
                break;
            at += quoted && *at == '"';
            if (used + 1 < FIELD_SIZE)
                csv_field[used++] = *at;
        }
        csv_field[used] = '\0';
        at += quoted && at < end; /* the closing quote */
        if (at < end && *at != ',')
            return false;
        at++;
    }
    return csv->count > 1;
}

/* Indices of the columns to read; -1: not present. */
enum column {
    COLUMN_ID,
    COLUMN_KERNEL,
    COLUMN_BLOCK,
    COLUMN_GRID,
    COLUMN_METRIC,
    COLUMN_UNIT,
    COLUMN_VALUE,
    COLUMN_COUNT
};
static const char *const headings[COLUMN_COUNT] = {
    [COLUMN_ID] = "ID",
    [COLUMN_KERNEL] = "Kernel Name",
    [COLUMN_BLOCK] = "Block Size",
    [COLUMN_GRID] = "Grid Size",
    [COLUMN_METRIC] = "Metric Name",
    [COLUMN_UNIT] = "Metric Unit",
    [COLUMN_VALUE] = "Metric Value",
};

static bool read_headings(const struct csv_line *csv, int columns[COLUMN_COUNT]) {
    bool all = true;
    for (int c = 0; c < COLUMN_COUNT; c++) {
        columns[c] = -1;
        for (int f = 0; f < csv->count; f++)
            if (strcmp(csv->fields[f], headings[c]) == 0)
                columns[c] = f;
        all = all && columns[c] >= 0;
    }
    return all;
}

static const char *csv_field(const struct csv_line *csv, const int columns[COLUMN_COUNT],
                             enum column column) {
    return columns[column] < csv->count ? csv->fields[columns[column]] : "";
}

/* "1,362.20" and "4.0e-05" are numbers; "n/a" and "" give NaN. */
static double read_number(const char *text) {
    char digits[FIELD_SIZE];
    char *end;
    size_t used = 0;
    for (; *text != '\0'; text++)
        if (*text != ',')
            digits[used++] = *text;
    digits[used] = '\0';
    double number = strtod(digits, &end);
    return used > 0 && *end == '\0' && isfinite(number) ? number : NAN;
}

/* The factor that converts a unit to ns or bytes. `--print-units base` asks for these units;
   their names differ between versions of ncu. */
static double unit_scale(const char *unit) {
    static const struct {
        const char *unit;
        double scale;
    } units[] = {{"us", 1e3},     {"usecond", 1e3}, {"ms", 1e6},    {"msecond", 1e6}, {"s", 1e9},
                 {"second", 1e9}, {"Kbyte", 1e3},   {"Mbyte", 1e6}, {"Gbyte", 1e9}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].unit) == 0)
            return units[i].scale;
    return 1;
}

/* The numbers of one kernel by ncu's metric names. */
struct raw_metrics {
    double values[PROFILE_METRIC_COUNT][NAMES_MAX]; /* NaN: not reported */
};

static void clear_metrics(struct raw_metrics *raw_metrics) {
    for (int m = 0; m < PROFILE_METRIC_COUNT; m++)
        for (int n = 0; n < NAMES_MAX; n++)
            raw_metrics->values[m][n] = NAN;
}

static void record_metric(struct raw_metrics *raw_metrics, const char *metric, double number) {
    for (int m = 0; m < PROFILE_METRIC_COUNT; m++)
        for (int n = 0; n < NAMES_MAX && rows[m].metrics[n] != NULL; n++)
            if (strcmp(rows[m].metrics[n], metric) == 0)
                raw_metrics->values[m][n] = number;
}

static double metric_value(const struct raw_metrics *raw_metrics, enum profile_metric metric) {
    double value = raw_metrics->values[metric][0];
    for (int n = 1; n < NAMES_MAX && rows[metric].metrics[n] != NULL; n++) {
        if (rows[metric].sum)
            value += raw_metrics->values[metric][n];
        else if (isnan(value))
            value = raw_metrics->values[metric][n];
    }
    return value;
}

static void store_kernel_metrics(struct profiled_kernel *kernel,
                                 const struct raw_metrics *raw_metrics) {
    for (int m = 0; kernel != NULL && m < PROFILE_METRIC_COUNT; m++)
        kernel->values[m] = metric_value(raw_metrics, (enum profile_metric)m);
}

/* "name(int, float)" without its arguments. */
static struct profiled_kernel *add_kernel(struct profile *profile, const struct csv_line *csv,
                                          const int columns[COLUMN_COUNT]) {
    struct profiled_kernel *kernel = &profile->kernels[profile->count++];
    const char *name = csv_field(csv, columns, COLUMN_KERNEL);
    snprintf(kernel->name, sizeof kernel->name, "%.*s", (int)strcspn(name, "("), name);
    snprintf(kernel->grid, sizeof kernel->grid, "%.31s", csv_field(csv, columns, COLUMN_GRID));
    snprintf(kernel->block, sizeof kernel->block, "%.31s", csv_field(csv, columns, COLUMN_BLOCK));
    return kernel;
}

/* "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission ..." */
static void read_error_line(const char *line, size_t length, struct profile *profile) {
    static const char mark[] = "==ERROR==";
    if (profile->problem[0] != '\0' || length < sizeof mark ||
        strncmp(line, mark, sizeof mark - 1) != 0)
        return;
    line += sizeof mark - 1;
    length -= sizeof mark - 1;
    size_t blank = strspn(line, " ");
    if (blank < length)
        snprintf(profile->problem, sizeof profile->problem, "%.*s", (int)(length - blank),
                 line + blank);
}

/* The state of parsing a report. */
struct report_parser {
    struct profile *profile;
    struct csv_line csv;
    bool has_headings;
    int columns[COLUMN_COUNT];
    char id[FIELD_SIZE];            /* of the current kernel */
    struct profiled_kernel *kernel; /* NULL: none yet, or more than PROFILED_MAX */
    struct raw_metrics raw_metrics;
};

static void read_metric_row(struct report_parser *it) {
    const struct csv_line *csv = &it->csv;
    const char *id = csv_field(csv, it->columns, COLUMN_ID);
    if (strcmp(it->id, id) != 0) {
        store_kernel_metrics(it->kernel, &it->raw_metrics);
        clear_metrics(&it->raw_metrics);
        it->kernel =
            it->profile->count < PROFILED_MAX ? add_kernel(it->profile, csv, it->columns) : NULL;
        snprintf(it->id, sizeof it->id, "%s", id);
    }
    record_metric(&it->raw_metrics, csv_field(csv, it->columns, COLUMN_METRIC),
                  read_number(csv_field(csv, it->columns, COLUMN_VALUE)) *
                      unit_scale(csv_field(csv, it->columns, COLUMN_UNIT)));
}

void profile_read_problem(const char *log, struct profile *profile) {
    for (const char *line = log; *line != '\0';) {
        size_t length = strcspn(line, "\r\n");
        if (strncmp(line, "==", 2) == 0)
            read_error_line(line, length, profile);
        line += length;
        line += strspn(line, "\r\n");
    }
}

void profile_read(const char *report, struct profile *profile) {
    struct report_parser *it = xcalloc(1, sizeof *it);
    it->profile = profile;
    for (const char *line = report; *line != '\0';) {
        size_t length = strcspn(line, "\r\n");
        if (strncmp(line, "==", 2) == 0)
            read_error_line(line, length, profile);
        else if (!parse_csv_line(line, length, &it->csv))
            ; /* output of the profiled program */
        else if (!it->has_headings)
            it->has_headings = read_headings(&it->csv, it->columns);
        else if (it->csv.count > it->columns[COLUMN_VALUE])
            read_metric_row(it);
        line += length;
        line += strspn(line, "\r\n");
    }
    store_kernel_metrics(it->kernel, &it->raw_metrics);
    free(it);
    if (profile->count == 0 && profile->problem[0] == '\0')
        snprintf(profile->problem, sizeof profile->problem, "%s", no_kernel_text);
}

/* ---- running ---- */

/* Metrics that this ncu does not support on this chip, by the names in `rows`. */
struct unknown_metrics {
    bool metrics[PROFILE_METRIC_COUNT][NAMES_MAX];
};

static char *metric_list(const struct unknown_metrics *unknown_metrics) {
    struct strbuf text = {0};
    for (int m = 0; m < PROFILE_METRIC_COUNT; m++)
        for (int n = 0; n < NAMES_MAX && rows[m].metrics[n] != NULL; n++)
            if (!unknown_metrics->metrics[m][n])
                strbuf_print(&text, "%s%s", text.used > 0 ? "," : "", rows[m].metrics[n]);
    return text.bytes;
}

/* ncu's message is "Failed to find metric regex:^dram__bytes_read\.(sum|...)$", and it then
   counts nothing at all. Marks the metrics that it names; returns whether there was a new one. */
static bool add_unknown_metrics(const char *problem, struct unknown_metrics *unknown_metrics) {
    bool added = false;
    if (strstr(problem, "find metric") == NULL)
        return false;
    for (int m = 0; m < PROFILE_METRIC_COUNT; m++)
        for (int n = 0; n < NAMES_MAX && rows[m].metrics[n] != NULL; n++) {
            char base[128];
            snprintf(base, sizeof base, "%.*s", (int)strcspn(rows[m].metrics[n], "."),
                     rows[m].metrics[n]);
            const char *at = strstr(problem, base);
            bool named = at != NULL && strchr("_", at[strlen(base)]) == NULL;
            added = added || (named && !unknown_metrics->metrics[m][n]);
            unknown_metrics->metrics[m][n] = unknown_metrics->metrics[m][n] || named;
        }
    return added;
}

char *profile_kernel_filter(const struct profile_settings *settings) {
    struct strbuf text = {0};
    strbuf_print(&text, "regex:^(");
    for (int k = 0; k < settings->kernel_count; k++)
        strbuf_print(&text, "%s%s", k > 0 ? "|" : "", settings->kernels[k]);
    strbuf_print(&text, ")$");
    return text.bytes;
}

/* Runs ncu once, in the remaining time. */
static int run_tool(const struct profile_settings *settings, const struct trial_request *request,
                    const struct unknown_metrics *unknown_metrics, const char *report_path,
                    double limit_s, struct profile *profile, struct error *error) {
    char problem[TOOL_PROBLEM_SIZE];
    char *metrics = metric_list(unknown_metrics);
    char *kernels = profile_kernel_filter(settings);
    const char *const arguments[] = {
        "--csv",    "--print-units",   "base",      "--cache-control",
        "none",     "--clock-control", "none",      "--print-kernel-base",
        "function", "--kernel-name",   kernels,     "--metrics",
        metrics,    "--log-file",      report_path, "--force-overwrite",
        NULL};
    log_info("ncu: at most %.0f s", limit_s);
    int status = tool_runner_run(&settings->run, arguments, limit_s, request, problem, error);
    free(metrics);
    free(kernels);
    if (status < 0)
        return -1;
    *profile = (struct profile){0};
    char *report = path_read_file(report_path, 64 << 20, NULL, &(struct error){0});
    profile_read(report != NULL ? report : "", profile);
    free(report);
    /* ncu's own message says more than the worker's. */
    if (problem[0] != '\0' && profile->count == 0 && strcmp(profile->problem, no_kernel_text) == 0)
        snprintf(profile->problem, sizeof profile->problem, "%s", problem);
    return 0;
}

static int run_with_known_metrics(const struct profile_settings *settings,
                                  const struct trial_request *request, const char *report_path,
                                  struct profile *profile, struct error *error) {
    double start = clock_seconds();
    double limit_s = settings->run.limit_s > 0 ? settings->run.limit_s : LIMIT_S;
    struct unknown_metrics unknown_metrics = {0};
    int status;
    double left_s;
    do {
        left_s = limit_s - (clock_seconds() - start);
        status = run_tool(settings, request, &unknown_metrics, report_path, fmax(left_s, 1),
                          profile, error);
    } while (status == 0 && profile->count == 0 && left_s > 1 &&
             add_unknown_metrics(profile->problem, &unknown_metrics));
    profile->seconds = clock_seconds() - start;
    return status;
}

int profile_run(const struct profile_settings *settings, const struct trial_request *request,
                struct profile *profile, struct error *error) {
    struct trial_request profiled = *request;
    char scratch[PATH_SIZE];
    profiled.profiled = true;
    setenv("LC_ALL", "C", 1); /* ncu formats numbers by the locale */
    if (settings->report != NULL)
        return run_with_known_metrics(settings, &profiled, settings->report, profile, error);
    if (tool_runner_new_report(scratch, "profile", error) < 0)
        return -1;
    int status = run_with_known_metrics(settings, &profiled, scratch, profile, error);
    unlink(scratch);
    return status;
}
