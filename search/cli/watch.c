/* watch: a live view of a run, on a terminal, as log lines, or printed once. */
#include "cli/cli.h"

#include "base/log.h"
#include "cli/watch_view.h"
#include "render/table.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Included last: it defines macros with short, common names. */
#define NCURSES_WIDECHAR 1
#include <ncurses.h>

static const double terminal_interval_s = 1;
static const double log_interval_s = 10;

/* Size of the view if stdout is not a terminal. */
enum { FILE_ROWS = 32, FILE_COLUMNS = 110 };

/* ---- in a terminal ---- */

static void show_cell(int row, int column, const struct text_plot_cell *cell) {
    static const attr_t attributes[] = {
        [TEXT_PLOT_PLAIN] = A_NORMAL,
        [TEXT_PLOT_BOLD] = A_BOLD,
        [TEXT_PLOT_DIM] = A_DIM,
        [TEXT_PLOT_WARNING] = A_REVERSE,
    };
    wchar_t text[2] = {cell->character, L'\0'};
    attrset(attributes[cell->style]);
    mvaddnwstr(row, column, text, 1);
}

static void draw_view(const struct run_stats *stats, bool by_trials, bool unicode) {
    struct text_plot plot = {.rows = LINES - 1, .columns = COLS, .unicode = unicode};
    text_plot_init(&plot);
    watch_view_draw(stats, by_trials, &plot);
    for (int row = 0; row < plot.rows; row++)
        for (int column = 0; column < plot.columns; column++)
            show_cell(row, column, text_plot_at(&plot, row, column));
    attrset(A_DIM);
    mvprintw(LINES - 1, 0, "q: quit   t: by %s%s", by_trials ? "time  " : "trials",
             store_goal_count(stats->store) > stats->solutions.count ? "   left, right: other goals"
                                                                     : "");
    refresh();
    text_plot_release(&plot);
}

/* Refreshes the view until the user quits. It continues when the run ends, because the run may be
   resumed. */
static int watch_screen(SCREEN *screen, struct run_stats *stats, double interval_s, bool unicode,
                        struct error *error) {
    bool by_trials = false;
    int status = 0;
    int key = ERR;
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    curs_set(0);
    timeout((int)(1000 * fmin(interval_s, 86400)));
    while (status == 0 && key != 'q') {
        draw_view(stats, by_trials, unicode);
        key = getch();
        by_trials ^= key == 't';
        if (key == KEY_LEFT || key == KEY_RIGHT)
            status = run_stats_turn_goal(stats, key == KEY_LEFT ? -1 : 1, error);
        else if (key == ERR) /* no key within the interval */
            status = run_stats_refresh(stats, error);
    }
    endwin();
    delscreen(screen);
    return status;
}

/* ---- in a log ---- */

static int watch_log(struct run_stats *stats, double interval_s, struct error *error) {
    const struct timespec delay = {(time_t)interval_s, (long)(1e9 * fmod(interval_s, 1))};
    for (;;) {
        char text[1024];
        watch_view_print_line(stats, text, sizeof text);
        printf("%s\n", text);
        if (fflush(stdout) != 0 || run_stats_is_over(stats))
            return 0;
        nanosleep(&delay, NULL);
        if (run_stats_refresh(stats, error) < 0)
            return -1;
    }
}

/* ---- once ---- */

static int read_size(const char *variable, int fallback) {
    const char *text = getenv(variable);
    long number = text != NULL ? strtol(text, NULL, 10) : 0;
    return number >= 20 && number <= 1000 ? (int)number : fallback;
}

static void print_once(const struct run_stats *stats, bool unicode) {
    struct text_plot plot = {.rows = read_size("LINES", FILE_ROWS),
                             .columns = read_size("COLUMNS", FILE_COLUMNS),
                             .unicode = unicode};
    text_plot_init(&plot);
    watch_view_draw(stats, false, &plot);
    text_plot_write(&plot, stdout);
    text_plot_release(&plot);
}

static cJSON *top_json(const struct run_stats *stats) {
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < stats->top_count; i++) {
        cJSON *item = cJSON_CreateObject();
        if (stats->solutions.count > 1)
            json_add(item, "solution=%s",
                     run_solutions_name(&stats->solutions, stats->top[i].goal));
        json_add(item, "trial=%ld score_us=%g predicted=%hhd operator=%s differs=%s",
                 stats->top[i].trial, stats->top[i].score_us, stats->top[i].predicted,
                 stats->top[i].operator_name, stats->top[i].genome);
        cJSON_AddItemToArray(list, item);
    }
    return list;
}

static void print_json(const struct run_stats *stats) {
    cJSON *root = cJSON_CreateObject();
    json_add(root, "run=%s over=%hhd", store_run_dir(stats->store), run_stats_is_over(stats));
    cJSON_AddItemToObject(root, "status",
                          stats->has_status ? run_status_json(&stats->status) : cJSON_CreateNull());
    cJSON_AddNumberToObject(root, "trials", (double)stats->observed);
    cJSON *verdicts = cJSON_AddObjectToObject(root, "verdicts");
    for (int v = 0; v < VERDICT_COUNT; v++)
        cJSON_AddNumberToObject(verdicts, verdict_name((enum verdict)v),
                                (double)stats->verdicts[v]);
    cJSON *operators = cJSON_AddArrayToObject(root, "operators");
    for (int i = 0; i < stats->operator_count; i++) {
        cJSON *item = cJSON_CreateObject();
        json_add(item, "operator=%s trials=%ld ok=%ld champions=%ld", stats->operators[i].name,
                 stats->operators[i].observed, stats->operators[i].ok,
                 stats->operators[i].accepted);
        cJSON_AddItemToArray(operators, item);
    }
    cJSON *champions = cJSON_AddArrayToObject(root, "champions");
    for (int i = 0; i < stats->champion_count; i++) {
        const struct store_champion *champion = &stats->champions[i];
        cJSON *item = cJSON_CreateObject();
        json_add(item, "goal=%d trial=%ld seconds=%g score_us=%g", champion->goal, champion->trial,
                 champion->accepted - stats->created, champion->score_us);
        cJSON_AddItemToArray(champions, item);
    }
    char cases[CASE_NAME_SIZE];
    run_solutions_cases(&stats->solutions, stats->store, stats->goal, cases);
    json_add(root, "goal=%d goal_name=%s", stats->goal, cases);
    cJSON_AddItemToObject(root, "top", top_json(stats));
    table_print_json(root, stdout);
}

/* ---- the verb ---- */

/* NULL if stdin or stdout is not a terminal, or TERM is unknown. */
static SCREEN *open_terminal(void) {
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return NULL;
    SCREEN *screen = newterm(NULL, stdout, stdin);
    if (screen != NULL)
        return screen;
    const char *name = getenv("TERM");
    log_warn("this terminal (TERM=%s) is unknown, so plain lines are printed; set TERM to a known "
             "one, such as xterm",
             name != NULL ? name : "");
    return NULL;
}

static int watch(struct run_stats *stats, double interval_s, bool unicode, struct error *error) {
    SCREEN *screen = open_terminal();
    double default_interval_s = screen != NULL ? terminal_interval_s : log_interval_s;
    double refresh_s = interval_s > 0 ? interval_s : default_interval_s;
    return screen != NULL ? watch_screen(screen, stats, refresh_s, unicode, error)
                          : watch_log(stats, refresh_s, error);
}

static int run(const struct verb *verb, int argc, char **argv) {
    bool once = false;
    bool json = false;
    int64_t goal = -1;
    double interval_s = 0;
    const struct option_row rows[] = {
        OPTION("goal", "K", "show goal K, counted from 0 (default: the goal that improved last)",
               &goal),
        {"interval", "T", "refresh every T (default: 1s on a terminal, else 10s)", OPTION_DURATION,
         &interval_s},
        OPTION("once", NULL, "print the whole view once and exit", &once),
        OPTION("json", NULL, "print the view once as one JSON object", &json),
        {0},
    };
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    struct error error = {0};
    if (once && json) {
        error_input(&error, "watch: --once and --json are mutually exclusive: give one");
        return error_report(&error);
    }
    struct run_stats *stats = run_stats_open(argv[0], &error);
    if (stats == NULL)
        return error_report(&error);
    int goals = store_goal_count(stats->store);
    int status = 0;
    if (goal >= goals)
        status = error_input(&error, "%s has no goal %lld: --goal must be from 0 to %d", argv[0],
                             (long long)goal, goals - 1);
    if (status == 0)
        status = run_stats_refresh(stats, &error);
    if (status == 0 && goal >= 0)
        status = run_stats_turn_goal(
            stats, (int)goal / stats->solutions.count - stats->goal / stats->solutions.count,
            &error);
    /* Only LC_CTYPE: numbers keep the format of the C locale. */
    setlocale(LC_CTYPE, "");
    bool unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    if (status == 0 && json)
        print_json(stats);
    else if (status == 0 && once)
        print_once(stats, unicode);
    else if (status == 0)
        status = watch(stats, interval_s, unicode, &error);
    run_stats_close(stats);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_watch = {
    .name = "watch",
    .arguments = "RUN [options]",
    .summary = "show a live view of a run",
    VERB_HELP(watch),
    .run = run,
};
