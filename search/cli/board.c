/* board: the leaderboard of a run. */
#include "analysis/leaderboard.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "run/judge.h"
#include "run/rival_duels.h"
#include "run/run_dir.h"
#include "run/run_solutions.h"

#include <stdlib.h>

/* Lists the shared memory limits of the boards of a goal's cases and returns their number. If the
   config raises the limit there are two boards: genomes within the default limit, and all genomes.
 */
static int list_board_limits(const struct leaderboard *board, int smem_limit[2]) {
    bool raised = board->config != NULL && board->config->smem_limit_bytes > SMEM_DEFAULT_LIMIT;
    smem_limit[0] = raised ? SMEM_DEFAULT_LIMIT : 0;
    smem_limit[1] = 0;
    return 1 + raised;
}

/* ---- printing ---- */

/* "120 trials: 70 ok (30 dropped by the race), 50 over_limit" */
static void print_counts(const struct store_counts *counts, char *text, size_t size) {
    char verdicts[512] = "";
    verdict_print_counts(counts->verdicts, counts->raced, verdicts, sizeof verdicts);
    snprintf(text, size, "%lld trial%s%s%s", (long long)counts->observed,
             counts->observed == 1 ? "" : "s", *verdicts != '\0' ? ": " : "", verdicts);
    if (counts->outdated > 0)
        text_append(text, size, "; %lld timed with another driver or toolkit, not shown",
                    (long long)counts->outdated);
    if (counts->asked > counts->observed)
        text_append(text, size, "; %lld in flight", (long long)(counts->asked - counts->observed));
}

/* ", within 48 KB of shared memory a block" */
static void print_limit(const struct leaderboard *board) {
    if (board->config == NULL || board->config->smem_limit_bytes <= SMEM_DEFAULT_LIMIT)
        return;
    int bytes = board->smem_limit > 0 ? board->smem_limit : board->config->smem_limit_bytes;
    printf(", within %d KB of shared memory a block", bytes >> 10);
}

static const char *empty_words(const struct leaderboard *board) {
    return board->front == FRONT_NOT ? "the board is empty"
                                     : "no trial has both latency and energy";
}

/* "goal 0: N=20000", or "goals 0 to 1: N=20000, 2 solutions" */
static void print_goals_name(const struct leaderboard *board) {
    const struct goal_range goals = board->goals;
    char cases[CASE_NAME_SIZE];
    if (goals.first == goals.last) {
        printf("goal %d: %s", goals.first, store_goal_name(board->store, goals.first));
        return;
    }
    run_solutions_cases(&board->solutions, board->store, goals.first, cases);
    printf("goals %d to %d: %s, %d solutions", goals.first, goals.last, cases,
           board->solutions.count);
}

/* Says to what the ratios of several solutions are, if they are shown. */
static void print_reference(const struct leaderboard *board, enum table_format format) {
    if (board->solutions.count > 1 && board->duel_count == 0 && board->baselines == NULL)
        printf("%sratios to the default are to the default genome of %s\n",
               format == TABLE_MARKDOWN ? "\n" : "",
               board->solutions.names[board->solutions.reference]);
}

/* Returns 1 if the board has rows, 0 if it is empty, -1 on an error. */
static int print_board(struct leaderboard *board, int goal, int smem_limit,
                       enum table_format format, const char *title, struct error *error) {
    leaderboard_clear(board);
    int status = leaderboard_add_cases(board, goal, smem_limit, error);
    if (status == 0 && board->shown > 0) {
        printf("%s\n", title);
        print_goals_name(board);
        print_limit(board);
        if (board->front != FRONT_NOT)
            printf(", the front of latency and energy");
        printf("%s\n%s",
               board->predicted > 0 && board->measured == 0 ? " (latency in predicted us)" : "",
               format == TABLE_MARKDOWN ? "\n" : "");
        leaderboard_finish_headings(board);
        table_print(board->table, format, stdout);
        printf("%schecks of trial %lld: %s\n", format == TABLE_MARKDOWN ? "\n" : "",
               (long long)board->best, board->checks);
        print_reference(board, format);
    }
    return status < 0 ? -1 : board->shown > 0;
}

/* Says which of a set of rivals is the best; nothing if they have no champion. */
static int print_best_rival(const struct leaderboard *board, int goal, struct error *error) {
    const struct config *config = board->config;
    struct rival_duels rivals;
    int found = rival_duels_read(board->store, config, goal, &rivals, error);
    if (found <= 0)
        return found;
    printf("\nbest solution: %s, trial %lld of goal %d", config_goal_solution(config, rivals.goal),
           (long long)rivals.trial, rivals.goal);
    for (int i = 0; i < rivals.count; i++)
        printf("%s %.3f times as fast as %s (99 %%: %.3f to %.3f)", i == 0 ? ", in a duel" : ",",
               rivals.duels[i].ratio, config_goal_solution(config, rivals.duels[i].goal),
               rivals.duels[i].low, rivals.duels[i].high);
    puts(rivals.count == 0 ? ", by its own timing" : "");
    return 1;
}

/* The goals of which the board has nothing because the search left them out, and why. NULL with
   `error`. */
static cJSON *read_left_out(const struct leaderboard *board, int first, int last,
                            struct error *error) {
    cJSON *list = cJSON_CreateArray();
    for (int goal = first; goal <= last; goal++) {
        char *why;
        const int found = run_solutions_left_out(board->store, goal, &why, error);
        if (found > 0) {
            cJSON *object = cJSON_CreateObject();
            json_add(object, "goal=%d goal_name=%s because=%s", goal,
                     store_goal_name(board->store, goal), why);
            cJSON_AddItemToArray(list, object);
        }
        free(why);
        if (found < 0) {
            cJSON_Delete(list);
            return NULL;
        }
    }
    return list;
}

static int print_left_out(const struct leaderboard *board, int first, int last,
                          enum table_format format, struct error *error) {
    cJSON *list = read_left_out(board, first, last, error);
    const cJSON *one;
    if (list == NULL)
        return -1;
    cJSON_ArrayForEach(one, list)
        printf("%sleft out: %s: no genome is valid: %s\n",
               one == list->child || format == TABLE_MARKDOWN ? "\n" : "",
               cJSON_GetStringValue(cJSON_GetObjectItem(one, "goal_name")),
               cJSON_GetStringValue(cJSON_GetObjectItem(one, "because")));
    cJSON_Delete(list);
    return 0;
}

/* Prints text or Markdown: a title, then the tables of each set of cases. */
static int print_goals(struct leaderboard *board, int first, int last, enum table_format format,
                       const char *counts, struct error *error) {
    const char *run = store_run_dir(board->store);
    char title[PATH_SIZE + 1100];
    int smem_limit[2], boards = list_board_limits(board, smem_limit);
    bool empty = true;
    char *note;
    if (judge_note(board->store, &note, error) < 0)
        return -1;
    snprintf(title, sizeof title, "%s, %s\n%s%s", run, counts, note != NULL ? note : "",
             note != NULL ? "\n" : "");
    free(note);
    const int step = board->solutions.count;
    for (int goal = first - first % step; goal <= last; goal += step)
        for (int i = 0; i < boards; i++) {
            int printed =
                print_board(board, goal, smem_limit[i], format, empty ? title : "", error);
            if (printed < 0)
                return -1;
            empty = empty && printed == 0;
        }
    const bool best = board->config != NULL && board->solution == ALL_SOLUTIONS && step > 1 &&
                      config_rivals(board->config) == step;
    for (int goal = first - first % step; best && goal <= last; goal += step)
        if (print_best_rival(board, goal, error) < 0)
            return -1;
    if (empty)
        printf("%s: %s, %s\n", run, empty_words(board), counts);
    return print_left_out(board, first - first % step, last - last % step + step - 1, format,
                          error);
}

/* Prints JSON or CSV: one table with all cases. */
static int print_all_goals(struct leaderboard *board, int first, int last, bool json,
                           const char *counts, struct error *error) {
    int smem_limit[2], boards = list_board_limits(board, smem_limit), status = 0;
    char *note = NULL;
    leaderboard_clear(board);
    if (json)
        status = judge_note(board->store, &note, error);
    const int step = board->solutions.count;
    for (int goal = first - first % step; goal <= last && status == 0; goal += step)
        for (int i = 0; i < boards && status == 0; i++)
            status = leaderboard_add_cases(board, goal, smem_limit[i], error);
    if (status == 0 && table_row_count(board->table) == 0)
        log_info("%s: %s, %s", store_run_dir(board->store), empty_words(board), counts);
    cJSON *left_out = NULL;
    if (status == 0 && json) {
        left_out = read_left_out(board, first - first % step, last - last % step + step - 1, error);
        status = left_out != NULL ? 0 : -1;
    }
    if (status == 0 && json) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "run", store_run_dir(board->store));
        if (note != NULL)
            cJSON_AddStringToObject(object, "judged", note);
        cJSON_AddItemToObject(object, "rows", table_json(board->table));
        if (left_out->child != NULL)
            cJSON_AddItemToObject(object, "left_out", left_out);
        else
            cJSON_Delete(left_out);
        table_print_json(object, stdout);
    } else if (status == 0) {
        table_print(board->table, TABLE_CSV, stdout);
    }
    free(note);
    return status;
}

/* ---- the verb ---- */

static int board_run(const struct verb *verb, int argc, char **argv) {
    bool json = false;
    bool csv = false;
    bool markdown = false;
    bool all = false;
    int64_t goal = -1;
    bool cases = false;
    bool cold = false;
    bool pareto = false;
    int64_t top = 10;
    const char *solution = NULL;
    const struct option_row rows[] = {
        OPTION("top", "N", "show the best N of each goal's cases (default 10)", &top),
        OPTION("all", NULL, "show every row", &all),
        OPTION("goal", "K", "show only the cases of goal K, counted from 0", &goal),
        OPTION("solution", "NAME", "of a run of several solutions, rank this one alone", &solution),
        OPTION("cases", NULL, "print one row per case", &cases),
        OPTION("cold", NULL, "add cold latency, GB/s and the fraction of the ceiling", &cold),
        OPTION("pareto", NULL,
               "show the front of latency and energy; JSON and CSV: mark it (\"on_front\")",
               &pareto),
        OPTION("json", NULL, "print JSON: {\"run\": ..., \"rows\": [...]}", &json),
        OPTION("csv", NULL, "print CSV with a header line", &csv),
        OPTION("markdown", NULL, "print a Markdown table", &markdown),
        {0},
    };
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    struct error error = {0};
    if (json + csv + markdown > 1) {
        error_input(&error, "board: --json, --csv and --markdown are mutually exclusive: give one");
        return error_report(&error);
    }
    struct store *store = store_open(argv[0], STORE_READ, &error);
    if (store == NULL)
        return error_report(&error);

    char text[1024];
    struct store_counts counts;
    struct leaderboard *board = xcalloc(1, sizeof *board);
    struct config *config = NULL;
    int goals = store_goal_count(store);
    int first = goal < 0 ? 0 : (int)goal;
    int last = goal < 0 ? goals - 1 : (int)goal;
    int status = leaderboard_open(board, store, &error);
    if (status == 0)
        status = store_count(store, &counts, &error);
    if (status == 0 && goal >= goals)
        status = error_input(&error, "%s has no goal %lld: --goal must be from 0 to %d", argv[0],
                             (long long)goal, goals - 1);
    if (status == 0 && solution != NULL)
        status = run_solutions_find(&board->solutions, argv[0], solution, &board->solution, &error);
    if (status == 0) {
        print_counts(&counts, text, sizeof text);
        config = cases ? run_dir_config(store) : run_dir_read_config(argv[0], &(struct error){0});
        board->config = config;
        board->cases = cases;
        board->cold = cold;
        if (pareto || board->minimised == MINIMISED_PARETO)
            board->front = json || csv ? FRONT_MARKED : FRONT_ONLY;
        board->top = all ? 0 : top > 0 ? top : 1;
    }
    if (status == 0)
        status = json || csv ? print_all_goals(board, first, last, json, text, &error)
                             : print_goals(board, first, last,
                                           markdown ? TABLE_MARKDOWN : TABLE_TEXT, text, &error);
    if (status == 0 && board->has_more_rows)
        log_info("the board has more rows: --top N or --all shows them");
    leaderboard_release(board);
    free(board);
    config_free(config);
    store_close(store);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_board = {
    .name = "board",
    .arguments = "RUN [options]",
    .summary = "show the leaderboard of a run",
    VERB_HELP(board),
    .run = board_run,
};
