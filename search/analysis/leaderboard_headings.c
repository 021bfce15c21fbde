/* Headings of a leaderboard that depend on its rows. */
#include "analysis/leaderboard.h"

/* A prediction is never shown as a measurement. */
void leaderboard_finish_headings(const struct leaderboard *board) {
    struct table *table = board->table;
    if (board->predicted > 0 && board->measured > 0) {
        table_heading(table, "predicted", "latency");
    } else if (board->predicted > 0) {
        table_heading(table, "latency_p50_us", "p50\npredicted\nus");
        table_heading(table, "latency_p90_us", "p90\npredicted\nus");
    }
    if (board->duel_count > 0) { /* more informative than the ratio to the default */
        table_heading(table, "ratio_to_baseline", "ratio to\nbaseline");
        table_heading(table, "ratio_low", "99 %\nlow");
        table_heading(table, "ratio_high", "high");
    } else if (board->baselines != NULL) {
        table_heading(table, "ratio_to_baseline", "estimated\nratio to\nbaseline");
    }
    if (board->duel_count > 0 || board->baselines != NULL)
        table_heading(table, "ratio_to_default", NULL);
    if (board->minimised != MINIMISED_LATENCY)
        table_heading(table, "score", minimised_heading(board->minimised));
    if (board->cases)
        table_heading(table, "case", "case");
    if (board->spread_count > 0)
        table_heading(table, "placement_spread", "placement\nspread\n%");
    if (board->energy_count > 0) {
        table_heading(table, "energy_mj", "mJ\na call");
        table_heading(table, "energy_error", "+-\n%");
    }
    if (board->power_count > 0) {
        table_heading(table, "sm_mhz", "SM\nMHz");
        table_heading(table, "sm_mhz_low", "least\nMHz");
        table_heading(table, "power_limited", "power");
    }
    if (board->cold) {
        table_heading(table, "cold_p50_us", "cold\np50\nus");
        table_heading(table, "cold_p90_us", "cold\np90\nus");
        table_heading(table, "gb_per_s", "GB/s");
        table_heading(table, "share_of_ceiling", "fraction\nof ceiling");
    }
    if (board->limited_count > 0)
        table_heading(table, "limited_range", "input\nrange");
    if (board->uses_count > 0)
        table_heading(table, "uses", "uses");
    if (board->solutions.count > 1)
        table_heading(table, "genome", "genes that differ from\nthe solution's default");
    else if (board->defaults[0] != NULL)
        table_heading(table, "genome", "genes that differ\nfrom the default");
}
