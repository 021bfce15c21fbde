/* watch: a live view of a run, on a terminal, as log lines, or printed once. */
#include "cmd/cmd.h"

#include "base/log.h"
#include "cmd/screen.h"
#include "cmd/table.h"

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

static void show_cell(int row, int column, const struct canvas_cell *cell) {
    static const attr_t attributes[] = {
        [CANVAS_PLAIN] = A_NORMAL,
        [CANVAS_BOLD] = A_BOLD,
        [CANVAS_DIM] = A_DIM,
        [CANVAS_WARNING] = A_REVERSE,
    };
    wchar_t text[2] = {cell->letter, L'\0'};
    attrset(attributes[cell->style]);
    mvaddnwstr(row, column, text, 1);
}

static void show(const struct live *live, bool by_trials, bool unicode) {
    struct canvas canvas = {.rows = LINES - 1, .columns = COLS, .unicode = unicode};
    canvas_init(&canvas);
    screen_draw(live, by_trials, &canvas);
    for (int row = 0; row < canvas.rows; row++)
        for (int column = 0; column < canvas.columns; column++)
            show_cell(row, column, canvas_at(&canvas, row, column));
    attrset(A_DIM);
    mvprintw(LINES - 1, 0, "q: quit   t: by %s%s", by_trials ? "time  " : "trials",
             store_goal_count(live->store) > 1 ? "   left, right: other goals" : "");
    refresh();
    canvas_release(&canvas);
}

/* Refreshes the view until the user quits. It continues when the run ends, because the run may be
   resumed. */
static int watch_screen(SCREEN *screen, struct live *live, double interval_s, bool unicode,
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
        show(live, by_trials, unicode);
        key = getch();
        by_trials ^= key == 't';
        if (key == KEY_LEFT || key == KEY_RIGHT)
            status = live_turn(live, key == KEY_LEFT ? -1 : 1, error);
        else if (key == ERR) /* no key within the interval */
            status = live_refresh(live, error);
    }
    endwin();
    delscreen(screen);
    return status;
}

/* ---- in a log ---- */

static int watch_log(struct live *live, double interval_s, struct error *error) {
    const struct timespec pause = {(time_t)interval_s, (long)(1e9 * fmod(interval_s, 1))};
    for (;;) {
        char text[1024];
        screen_line(live, text, sizeof text);
        printf("%s\n", text);
        if (fflush(stdout) != 0 || live_is_over(live))
            return 0;
        nanosleep(&pause, NULL);
        if (live_refresh(live, error) < 0)
            return -1;
    }
}

/* ---- once ---- */

static int size_of(const char *variable, int otherwise) {
    const char *text = getenv(variable);
    long number = text != NULL ? strtol(text, NULL, 10) : 0;
    return number >= 20 && number <= 1000 ? (int)number : otherwise;
}

static void print_once(const struct live *live, bool unicode) {
    struct canvas canvas = {.rows = size_of("LINES", FILE_ROWS),
                            .columns = size_of("COLUMNS", FILE_COLUMNS),
                            .unicode = unicode};
    canvas_init(&canvas);
    screen_draw(live, false, &canvas);
    canvas_write(&canvas, stdout);
    canvas_release(&canvas);
}

static cJSON *json_of_top(const struct live *live) {
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < live->top_count; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddNumberToObject(one, "trial", (double)live->top[i].trial);
        cJSON_AddNumberToObject(one, "score_us", live->top[i].score_us);
        cJSON_AddBoolToObject(one, "predicted", live->top[i].predicted);
        cJSON_AddStringToObject(one, "operator", live->top[i].operator_name);
        cJSON_AddStringToObject(one, "differs", live->top[i].genome);
        cJSON_AddItemToArray(list, one);
    }
    return list;
}

static void print_json(const struct live *live) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "run", store_run_dir(live->store));
    cJSON_AddBoolToObject(root, "over", live_is_over(live));
    cJSON_AddItemToObject(root, "status",
                          live->has_bulletin ? bulletin_json(&live->bulletin) : cJSON_CreateNull());
    cJSON_AddNumberToObject(root, "trials", (double)live->told);
    cJSON *verdicts = cJSON_AddObjectToObject(root, "verdicts");
    for (int v = 0; v < VERDICT_COUNT; v++)
        cJSON_AddNumberToObject(verdicts, verdict_name((enum verdict)v), (double)live->verdicts[v]);
    cJSON *operators = cJSON_AddArrayToObject(root, "operators");
    for (int i = 0; i < live->operator_count; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "operator", live->operators[i].name);
        cJSON_AddNumberToObject(one, "trials", (double)live->operators[i].told);
        cJSON_AddNumberToObject(one, "ok", (double)live->operators[i].ok);
        cJSON_AddNumberToObject(one, "champions", (double)live->operators[i].crowned);
        cJSON_AddItemToArray(operators, one);
    }
    cJSON *champions = cJSON_AddArrayToObject(root, "champions");
    for (int i = 0; i < live->champion_count; i++) {
        const struct store_champion *champion = &live->champions[i];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddNumberToObject(one, "goal", champion->goal);
        cJSON_AddNumberToObject(one, "trial", (double)champion->trial);
        cJSON_AddNumberToObject(one, "seconds", champion->crowned - live->created);
        cJSON_AddNumberToObject(one, "score_us", champion->score_us);
        cJSON_AddItemToArray(champions, one);
    }
    cJSON_AddNumberToObject(root, "goal", live->goal);
    cJSON_AddStringToObject(root, "goal_name", store_goal_name(live->store, live->goal));
    cJSON_AddItemToObject(root, "top", json_of_top(live));
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

static int watch(struct live *live, double interval_s, bool unicode, struct error *error) {
    SCREEN *screen = open_terminal();
    double otherwise_s = screen != NULL ? terminal_interval_s : log_interval_s;
    double every_s = interval_s > 0 ? interval_s : otherwise_s;
    return screen != NULL ? watch_screen(screen, live, every_s, unicode, error)
                          : watch_log(live, every_s, error);
}

static int run(const struct verb *verb, int argc, char **argv) {
    bool once = false;
    bool json = false;
    int64_t goal = -1;
    double interval_s = 0;
    const struct option_row rows[] = {
        {"goal", "K", "show goal K, counted from 0 (default: the goal that improved last)",
         OPTION_INTEGER, &goal},
        {"interval", "T", "refresh every T (default: 1s on a terminal, else 10s)", OPTION_DURATION,
         &interval_s},
        {"once", NULL, "print the whole view once and exit", OPTION_FLAG, &once},
        {"json", NULL, "print the view once as one JSON object", OPTION_FLAG, &json},
        {0},
    };
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    struct error error = {0};
    if (once && json) {
        error_input(&error, "watch: --once and --json are mutually exclusive: give one");
        return error_report(&error);
    }
    struct live *live = live_open(argv[0], &error);
    if (live == NULL)
        return error_report(&error);
    int goals = store_goal_count(live->store);
    int status = 0;
    if (goal >= goals)
        status = error_input(&error, "%s has no goal %lld: --goal must be from 0 to %d", argv[0],
                             (long long)goal, goals - 1);
    if (status == 0)
        status = live_refresh(live, &error);
    if (status == 0 && goal >= 0)
        status = live_turn(live, (int)goal - live->goal, &error);
    /* Only LC_CTYPE: numbers keep the format of the C locale. */
    setlocale(LC_CTYPE, "");
    bool unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    if (status == 0 && json)
        print_json(live);
    else if (status == 0 && once)
        print_once(live, unicode);
    else if (status == 0)
        status = watch(live, interval_s, unicode, &error);
    live_close(live);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_watch = {
    .name = "watch",
    .arguments = "RUN [options]",
    .summary = "show a live view of a run",
    VERB_HELP(watch),
    .run = run,
};
