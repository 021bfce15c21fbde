#include "run/judge.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static const char default_genome[] = "default genome";

const char *judge_name(const struct template *template) {
    return template->reference_kind == REFERENCE_DEFAULT_GENOME ? default_genome : "kernel";
}

int judge_note(struct store *store, char **note, struct error *error) {
    char *name = NULL;
    *note = NULL;
    if (store_meta_get(store, JUDGE_META, &name, error) < 0)
        return -1;
    if (name != NULL && strcmp(name, default_genome) == 0)
        *note = xstrdup("A trial that is ok agrees with the default genome: whether that is right "
                        "was not checked.");
    free(name);
    return 0;
}
