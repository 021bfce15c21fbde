#include "cmd/screen.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_SIZE = 512,
    CURVE_LEAST = 4, /* least rows of the curve: the table of the best shrinks first */
    SCALE_WIDTH = 9, /* of the numbers beside the curve */
    CREDIT_WIDTH = 41,
    CREDIT_AT_WIDTH = 76, /* least columns of a view with the operators beside the curve */
};

/* A longer silence is displayed: several updates of the status are missing. */
static const double quiet_s = 5;

/* Text that is appended to, cut at the size of the buffer. */
struct line {
    char text[LINE_SIZE];
    size_t used;
};

static void add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct line *line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line->text + line->used, LINE_SIZE - line->used, format, arguments);
    va_end(arguments);
    line->used += length > 0 ? (size_t)length : 0;
    line->used = line->used < LINE_SIZE ? line->used : LINE_SIZE - 1;
}

/* "1:02:03" */
static const char *print_time(double seconds, char text[32]) {
    int64_t whole = (int64_t)fmin(1e12, fmax(0, seconds));
    snprintf(text, 32, "%" PRId64 ":%02d:%02d", whole / 3600, (int)(whole / 60 % 60),
             (int)(whole % 60));
    return text;
}

/* ---- lines ---- */

/* The search time: that of the last status, plus the time since. */
static double spent_s(const struct live *live) {
    return live->has_bulletin ? live->bulletin.seconds + fmin(quiet_s, live_silence(live))
                              : live->seconds;
}

static void add_phase(struct line *line, const struct live *live) {
    const struct bulletin *bulletin = &live->bulletin;
    char text[32];
    double silence_s = live_silence(live);
    if (!live->has_bulletin) {
        add(line, "not running");
        return;
    }
    if (live_is_over(live) && !phase_is_over(bulletin->phase)) {
        add(line, "silent for %s: it was killed; `evotile resume` continues it",
            print_time(silence_s, text));
        return;
    }
    add(line, "%s", phase_words(bulletin->phase));
    if (bulletin->reason[0] != '\0')
        add(line, ": %s", bulletin->reason);
    if (silence_s > quiet_s)
        add(line, ", silent for %.0f s", silence_s);
}

static void add_budget(struct line *line, const struct live *live) {
    const struct bulletin *bulletin = &live->bulletin;
    char text[32];
    add(line, "%s", print_time(spent_s(live), text));
    if (bulletin->budget_seconds > 0)
        add(line, " of %s", print_time(bulletin->budget_seconds, text));
    if (bulletin->budget_seconds > 0 && !live_is_over(live))
        add(line, ", %s left", print_time(bulletin->budget_seconds - spent_s(live), text));
    add(line, "; %" PRId64, live->told - live->verdicts[VERDICT_FILTERED]);
    if (bulletin->budget_trials > 0)
        add(line, " of %" PRId64, bulletin->budget_trials);
    add(line, " trials");
    if (live->has_bulletin)
        add(line, ", %.1f/s", bulletin->trials_per_s);
    else if (live->seconds > 0)
        add(line, ", %.1f/s", (double)live->told / live->seconds);
    if (live->has_bulletin && !live_is_over(live) && bulletin->asked > live->told)
        add(line, ", %" PRId64 " in flight", bulletin->asked - live->told);
    if (bulletin->patience > 0)
        add(line, "; patience %" PRId64 " of %" PRId64 " left", bulletin->patience_left,
            bulletin->patience);
    if (bulletin->target_us > 0)
        add(line, "; target %.3f us", bulletin->target_us);
    if (bulletin->target_ratio > 0)
        add(line, "; target %g times as fast", bulletin->target_ratio);
}

static void add_verdicts(struct line *line, const struct live *live) {
    const char *part = "";
    for (int v = 0; v < VERDICT_COUNT; v++) {
        if (live->verdicts[v] == 0)
            continue;
        add(line, "%s%" PRId64 " %s", part, live->verdicts[v], verdict_name((enum verdict)v));
        if (v == VERDICT_OK && live->raced > 0)
            add(line, " (%" PRId64 " dropped by the race)", live->raced);
        part = ", ";
    }
}

/* Adds a figure; nothing if it is unknown (negative). */
static void add_figure(struct line *line, const char *name, double figure, double most,
                       const char *unit) {
    if (figure < 0)
        return;
    add(line, "%s%s%.0f", line->used > 0 ? ", " : "", name, figure);
    if (most > 0)
        add(line, " of %.0f", most);
    add(line, " %s", unit);
}

static void add_gpu(struct line *line, const struct bulletin *bulletin) {
    const struct nvml_state *gpu = &bulletin->gpu;
    char slowdowns[NVML_SLOWDOWN_SIZE];
    add_figure(line, "SM ", gpu->sm_mhz, gpu->sm_max_mhz, "MHz");
    add_figure(line, "memory ", gpu->memory_mhz, gpu->memory_max_mhz, "MHz");
    add_figure(line, "", gpu->temperature_c, bulletin->max_temperature_c, "C");
    add_figure(line, "", gpu->power_w, gpu->power_limit_w, "W");
    if (*nvml_slowdowns(gpu->slowdowns, slowdowns) != '\0')
        add(line, "; slowed down by %s", slowdowns);
    if (bulletin->others > 0)
        add(line, "; %d other process%s on it", bulletin->others,
            bulletin->others == 1 ? "" : "es");
    if (line->used == 0)
        add(line, bulletin->predicts ? "none: emulated device, latencies are predictions"
                                     : "unknown: NVML cannot read it");
}

static void print_worker(const struct pool_worker *worker, char text[64]) {
    bool device = strcmp(worker->role, "device") == 0;
    double since_s = fmin(99999, worker->since_s);
    if (*worker->host != '\0') { /* a remote worker: only busy or idle is known */
        snprintf(text, 64, "%.16s %s", worker->host, worker->state == POOL_BUSY ? "busy" : "idle");
        return;
    }
    switch (worker->state) {
    case POOL_STARTING:
        snprintf(text, 64, "%s starts", worker->role);
        return;
    case POOL_IDLE:
        snprintf(text, 64, "%s idle", worker->role);
        return;
    case POOL_LEAVING:
        snprintf(text, 64, "%s ends", worker->role);
        return;
    case POOL_BUSY:
        snprintf(text, 64, "%s %" PRId64 " %.1f s", device ? "evaluates" : "compiles",
                 worker->trial, since_s);
        return;
    }
}

/* ---- the header ---- */

/* Prints a label and a line of text; returns the next row. */
static int head_line(struct canvas *canvas, int row, const char *label, const struct line *line) {
    canvas_print(canvas, row, 0, CANVAS_DIM, "%s", label);
    canvas_print(canvas, row, 9, CANVAS_PLAIN, "%s", line->text);
    return row + 1;
}

/* Prints each worker in a field of fixed width, in at most `rows` rows. */
static int draw_workers(const struct bulletin *bulletin, struct canvas *canvas, int row, int rows) {
    enum { FIELD = 24 };
    int listed = bulletin->worker_count < BULLETIN_WORKERS_MAX ? bulletin->worker_count
                                                               : BULLETIN_WORKERS_MAX;
    int across = (canvas->columns - 9) / FIELD > 0 ? (canvas->columns - 9) / FIELD : 1;
    int shown = listed < rows * across ? listed : rows * across;
    canvas_print(canvas, row, 0, CANVAS_DIM, "workers");
    for (int w = 0; w < shown; w++) {
        char text[64];
        const struct pool_worker *worker = &bulletin->workers[w];
        bool last = w == shown - 1 && shown < bulletin->worker_count;
        print_worker(worker, text);
        if (last)
            snprintf(text, sizeof text, "and %d more", bulletin->worker_count - w);
        canvas_print(canvas, row + w / across, 9 + w % across * FIELD,
                     worker->state == POOL_BUSY ? CANVAS_PLAIN : CANVAS_DIM, "%.*s", FIELD - 1,
                     text);
    }
    return row + (shown + across - 1) / across;
}

static int draw_head(const struct live *live, struct canvas *canvas) {
    struct line phase = {0}, budget = {0}, verdicts = {0}, gpu = {0};
    bool warns = live->has_bulletin &&
                 (live->bulletin.phase == PHASE_PAUSED || live->bulletin.phase == PHASE_FAILED ||
                  live_silence(live) > quiet_s);
    add_phase(&phase, live);
    add_budget(&budget, live);
    add_verdicts(&verdicts, live);
    add_gpu(&gpu, &live->bulletin);
    int column = canvas_print(canvas, 0, 0, CANVAS_BOLD, "%s", store_run_dir(live->store));
    if (live->device != NULL)
        column = canvas_print(canvas, 0, column, CANVAS_PLAIN, " on %s", live->device);
    canvas_print(canvas, 0, column, warns ? CANVAS_WARNING : CANVAS_PLAIN, ", %s", phase.text);
    int row = head_line(canvas, 1, "time", &budget);
    row = head_line(canvas, row, "verdicts", &verdicts);
    if (!live->has_bulletin || phase_is_over(live->bulletin.phase))
        return row;
    row = head_line(canvas, row, "GPU", &gpu);
    return draw_workers(&live->bulletin, canvas, row, 1 + canvas->rows / 12);
}

/* ---- the curve ---- */

/* The end of the time axis, in seconds since the run was created. */
static double end_of_time(const struct live *live) {
    double last = live->champion_count > 0 ? live->champions[live->champion_count - 1].crowned
                                           : live->created;
    double end = live->has_bulletin ? live->bulletin.updated : live->created + live->seconds;
    return fmax(fmax(last, end) - live->created, 1);
}

static int collect(const struct live *live, bool by_trials, double end, struct canvas_point *points,
                   double *low, double *high) {
    int count = 0;
    for (int i = 0; i < live->champion_count; i++) {
        const struct store_champion *champion = &live->champions[i];
        if (champion->goal != live->goal || !(champion->score_us > 0))
            continue;
        double at = by_trials ? (double)champion->trial : champion->crowned - live->created;
        points[count] = (struct canvas_point){fmin(1, fmax(0, at / end)), champion->score_us};
        /* A champion's trial number may be lower than that of the champion before. */
        if (count > 0)
            points[count].x = fmax(points[count].x, points[count - 1].x);
        *low = count == 0 ? champion->score_us : fmin(*low, champion->score_us);
        *high = count == 0 ? champion->score_us : fmax(*high, champion->score_us);
        count++;
    }
    return count;
}

static void draw_curve(const struct live *live, bool by_trials, struct canvas *canvas,
                       struct canvas_area area) {
    double end = by_trials ? fmax(1, (double)live->told) : end_of_time(live);
    double low, high;
    char text[32];
    struct canvas_point *points = calloc((size_t)live->champion_count + 1, sizeof *points);
    if (points == NULL)
        BUG("out of memory");
    int count = collect(live, by_trials, end, points, &low, &high);
    struct canvas_area inner = {area.row, area.column + SCALE_WIDTH, area.rows - 1,
                                area.columns - SCALE_WIDTH};
    if (count == 0) {
        canvas_print(canvas, area.row, area.column, CANVAS_DIM, "no champion yet");
        free(points);
        return;
    }
    /* A log scale, so that equal ratios have equal heights and late gains stay visible. */
    double span = log(high / low);
    for (int i = 0; i < count; i++)
        points[i].y = span > 0 ? log(points[i].y / low) / span : 0.5;
    canvas_curve(canvas, inner, points, count);
    canvas_print(canvas, area.row, area.column, CANVAS_DIM, "%8.3f", high);
    canvas_print(canvas, area.row + inner.rows - 1, area.column, CANVAS_DIM, "%8.3f", low);
    if (inner.rows > 2)
        canvas_print(canvas, area.row + inner.rows / 2, area.column, CANVAS_DIM, "      us");
    canvas_print(canvas, area.row + inner.rows, inner.column, CANVAS_DIM, "0");
    if (by_trials)
        snprintf(text, sizeof text, "%" PRId64 " trials", live->told);
    else
        print_time(end, text);
    canvas_print(canvas, area.row + inner.rows, inner.column + inner.columns - (int)strlen(text),
                 CANVAS_DIM, "%s", text);
    free(points);
}

/* ---- operators ---- */

static int by_told(const void *left, const void *right) {
    const struct live_operator *a = left, *b = right;
    return a->told != b->told ? (a->told < b->told ? 1 : -1) : strcmp(a->name, b->name);
}

static void draw_credit(const struct live *live, struct canvas *canvas, struct canvas_area area) {
    struct live_operator rows[LIVE_OPERATORS_MAX];
    memcpy(rows, live->operators, sizeof rows);
    qsort(rows, (size_t)live->operator_count, sizeof *rows, by_told);
    canvas_print(canvas, area.row, area.column, CANVAS_DIM, "%-15s%7s%7s%10s", "tried as", "trials",
                 "ok", "champions");
    for (int i = 0; i < live->operator_count && i + 1 < area.rows; i++)
        canvas_print(canvas, area.row + 1 + i, area.column, CANVAS_PLAIN,
                     "%-15.15s%7" PRId64 "%7" PRId64 "%10" PRId64, rows[i].name, rows[i].told,
                     rows[i].ok, rows[i].crowned);
}

/* ---- the best ---- */

static void draw_top(const struct live *live, struct canvas *canvas, int row, int rows) {
    bool predicted = live->top_count > 0 && live->top[0].predicted;
    canvas_print(canvas, row, 0, CANVAS_DIM, "rank   trial  %s  tried as        genome%s",
                 predicted ? "us predicted" : "          us",
                 live->preset != NULL ? ", where it differs from the default" : "");
    for (int i = 0; i < live->top_count && i + 1 < rows; i++) {
        const struct live_place *place = &live->top[i];
        canvas_print(canvas, row + 1 + i, 0, i == 0 ? CANVAS_BOLD : CANVAS_PLAIN,
                     "%4d %7" PRId64 " %13.3f  %-15.15s %s", i + 1, place->trial, place->score_us,
                     place->operator_name, place->genome);
    }
}

/* ---- the view ---- */

void screen_draw(const struct live *live, bool by_trials, struct canvas *canvas) {
    int row = draw_head(live, canvas) + 1;
    int goals = store_goal_count(live->store);
    int column = 0;
    if (goals > 1)
        column = canvas_print(canvas, row, 0, CANVAS_BOLD, "goal %d of 0 to %d: ", live->goal,
                              goals - 1);
    canvas_print(canvas, row++, column, CANVAS_BOLD, "%s",
                 store_goal_name(live->store, live->goal));
    int best_rows = 1 + LIVE_TOP;
    int curve_rows = canvas->rows - row - best_rows - 1;
    if (curve_rows < CURVE_LEAST) {
        best_rows = canvas->rows - row - CURVE_LEAST - 1;
        curve_rows = CURVE_LEAST;
    }
    struct canvas_area curve = {row, 0, curve_rows, canvas->columns};
    if (canvas->columns >= CREDIT_AT_WIDTH) {
        curve.columns -= CREDIT_WIDTH;
        draw_credit(
            live, canvas,
            (struct canvas_area){row - 1, curve.columns + 2, curve_rows + 1, CREDIT_WIDTH - 2});
    }
    draw_curve(live, by_trials, canvas, curve);
    draw_top(live, canvas, row + curve_rows + 1, best_rows);
}

void screen_line(const struct live *live, char *text, size_t size) {
    struct line line = {0};
    add_phase(&line, live);
    add(&line, "; ");
    add_budget(&line, live);
    if (live->told > 0)
        add(&line, ": ");
    add_verdicts(&line, live);
    if (live->champion_count > 0)
        add(&line, "; best %.3f us", live->champions[live->champion_count - 1].score_us);
    if (live->has_bulletin && live->bulletin.gpu.sm_mhz >= 0) {
        struct line gpu = {0};
        add_gpu(&gpu, &live->bulletin);
        add(&line, "; %s", gpu.text);
    }
    snprintf(text, size, "%s", line.text);
}
