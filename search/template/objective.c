/* Reads what a search of the template compares, and counts the work of a call. */
#include "template/load.h"

#include <string.h>

/* Compares without blanks. */
static bool same_words(const char *text, const char *words) {
    for (;; text++, words++) {
        text += strspn(text, " ");
        words += strspn(words, " ");
        if (*text != *words)
            return false;
        if (*text == '\0')
            return true;
    }
}

int load_objective(struct template *template, const struct json *root, struct error *error) {
    static const enum minimised objectives[] = {MINIMISED_LATENCY, MINIMISED_OPERATIONS,
                                                MINIMISED_BYTES};
    struct json value;
    const char *text;
    template->objective = MINIMISED_LATENCY;
    if (!json_find(root, "objective", &value))
        return 0;
    if (json_string(&value, &text, error) < 0)
        return -1;
    for (size_t i = 0; i < sizeof objectives / sizeof *objectives; i++)
        if (same_words(text, minimised_objective(objectives[i]))) {
            template->objective = objectives[i];
            return 0;
        }
    return json_error(
        &value, error,
        "must be \"operations / us\" or \"bytes / us\", which a search makes as large "
        "as it can, or \"us\", which it makes small: write other work as "
        "\"operations\"");
}

int template_work(const struct template *template, const struct genome *genome, int case_index,
                  double *work, struct error *error) {
    const struct expression *of = template->objective == MINIMISED_OPERATIONS ? template->operations
                                  : template->objective == MINIMISED_BYTES    ? template->bytes
                                                                              : NULL;
    int64_t values[SLOTS_MAX], amount;
    *work = 1;
    if (of == NULL)
        return 0;
    if (space_values(template->space, genome, case_index, values, error) < 0 ||
        expression_evaluate(of, values, &amount, error) < 0)
        return error_prefix(error, "%s", template->document.file);
    *work = (double)amount;
    return amount > 0
               ? 0
               : error_input(error,
                             "%s: %s is %lld, and \"objective\" divides by the time what is "
                             "more than 0: add a constraint",
                             template->document.file, expression_text(of), (long long)amount);
}
