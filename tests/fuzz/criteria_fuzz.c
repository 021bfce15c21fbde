/* Any text as a file of criteria: it is read, or rejected with a position; if it is read, a kernel
   of which nothing is known fulfils none of it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/criteria.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const struct criteria *criteria) {
    const struct criteria_missing missing = {.left_out = 1};
    struct criteria_row rows[CRITERIA_ROWS_MAX];
    struct criteria_case one = {.name = "N=1"};
    for (int m = 0; m < PROFILE_METRIC_COUNT; m++)
        one.counters[m] = NAN;
    const int count = criteria_check(criteria, &one, 1, &missing, rows);
    if (count < 1 || count > CRITERIA_ROWS_MAX)
        BUG("%d rows", count);
    for (int i = 0; i < count; i++)
        if (rows[i].passed || rows[i].text[0] == '\0')
            BUG("%s passed: %s", rows[i].condition, rows[i].text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    struct criteria criteria;
    char *text = malloc(size + 1);
    if (text == NULL)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    if (criteria_read_text(&criteria, "fuzz.json", text, &error) == 0)
        use(&criteria);
    else if (error.kind != ERROR_INPUT || strncmp(error.text, "fuzz.json", 9) != 0)
        BUG("refused without a place: %s", error.text);
    free(text);
    return 0;
}
