/* Any bytes as a kernel: operators find their places or none, in a bounded time, and their edits
   are blocks that match once. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "proposers/cuda/indent.h"
#include "proposers/operators/operators.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char solution[] = "{ \"genes\": { \"THREADS\": { \"values\": [64, 128], \"default\": "
                               "64 } }, \"source\": \"kernel.cu\", \"launches\": [ { \"kernel\": "
                               "\"f\", \"grid\": [\"ceil_div(N, THREADS)\", 1, 1], \"block\": "
                               "[\"THREADS\", 1, 1], \"arguments\": [] } ] }";

static void check_blocks(const char *file, const char *text, const struct edit_list *list) {
    cJSON *edits = cJSON_CreateArray();
    const cJSON *edit;
    struct error error = {0};
    char *after = edit_list_apply(text, list);
    if (after == NULL)
        BUG("edits of %s overlap", file);
    struct token_list made, tidied;
    char *tidy = indent_changes(text, after);
    token_list_read(&made, after);
    token_list_read(&tidied, tidy);
    if (made.count != tidied.count) /* only blanks change */
        BUG("%d tokens become %d", made.count, tidied.count);
    token_list_release(&made);
    token_list_release(&tidied);
    free(tidy);
    if (edit_list_blocks(edits, file, text, list, &error) < 0 && strlen(text) > 0)
        BUG("%s", error.text);
    cJSON_ArrayForEach(edit, edits) {
        if (search_count(
                text, cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(edit, "search"))) != 1)
            BUG("a search text does not match once");
    }
    free(after);
    cJSON_Delete(edits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct mutation mutation;
    struct error error = {0};
    char *source = xstrndup((const char *)data, size < 3000 ? size : 3000);
    if (mutation_init(&mutation, source, solution, &error) == 0) {
        /* A quarter of the operators each time. */
        for (const struct edit_operator *entry = mutation_operators; entry->name != NULL; entry++)
            for (int site = (size_t)(entry - mutation_operators) % 4 == size % 4 ? 0 : 2;
                 site < 2 && entry->apply(&mutation, site); site++) {
                check_blocks("kernel.cu", source, &mutation.source_edits);
                check_blocks("solution.json", solution, &mutation.solution_edits);
                mutation_reset(&mutation);
            }
        mutation_release(&mutation);
    }
    free(source);
    return 0;
}
