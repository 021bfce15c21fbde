#include "evolve/answer.h"

#include "base/strbuf.h"
#include "solutions/edit.h"
#include "space/genome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const cJSON *object, const char *key) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(value) ? value->valuestring : NULL;
}

static double number_of(const cJSON *object, const char *key, double most) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(value) && value->valuedouble >= 0 && value->valuedouble <= most
               ? value->valuedouble
               : NAN;
}

static void read_tokens(struct answer *answer, const cJSON *tokens) {
    const double prompt = number_of(tokens, "prompt", 1e12),
                 completion = number_of(tokens, "completion", 1e12);
    answer->prompt_tokens = isfinite(prompt) ? (int64_t)prompt : 0;
    answer->completion_tokens = isfinite(completion) ? (int64_t)completion : 0;
    answer->cost = number_of(tokens, "cost", 1e9);
}

static int gave_up(const char *words, struct error *error) {
    char *shown = text_escaped(words, false);
    error_input(error, "the proposer gives up: %.*s", REFUSAL_BYTES, shown);
    free(shown);
    return -1;
}

int answer_read(struct answer *answer, const cJSON *object, struct error *error) {
    static const char *const keys[] = {"number", "parent", "hypothesis", "genome",
                                       "edits",  "files",  "tokens",     "error"};
    *answer = (struct answer){.parent = text_of(object, "parent"),
                              .hypothesis = text_of(object, "hypothesis"),
                              .genome = text_of(object, "genome"),
                              .edits = cJSON_GetObjectItemCaseSensitive(object, "edits"),
                              .files = cJSON_GetObjectItemCaseSensitive(object, "files")};
    read_tokens(answer, cJSON_GetObjectItemCaseSensitive(object, "tokens"));
    if (answer->hypothesis != NULL && strlen(answer->hypothesis) > HYPOTHESIS_BYTES)
        answer->hypothesis = NULL;
    if (text_of(object, "error") != NULL)
        return gave_up(text_of(object, "error"), error);
    const cJSON *member;
    cJSON_ArrayForEach(member, object) {
        bool known = false;
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            known = known || strcmp(keys[i], member->string) == 0;
        if (!known)
            return error_input(error, "an answer has no key \"%.40s\"", member->string);
    }
    if (answer->parent == NULL)
        return error_input(error, "the answer lacks \"parent\", the hash of what it changes");
    if (answer->hypothesis == NULL || *answer->hypothesis == '\0')
        return error_input(error, "the answer lacks \"hypothesis\", a text of at most %d bytes",
                           HYPOTHESIS_BYTES);
    const bool changes_files = answer->edits != NULL || answer->files != NULL;
    if ((answer->genome != NULL) == changes_files)
        return error_input(error,
                           "the answer has %s: give a genome, or changes of files, exactly one of "
                           "both",
                           changes_files ? "\"genome\" beside \"edits\" or \"files\""
                                         : "neither \"genome\" nor \"edits\" or \"files\"");
    return answer->genome == NULL || strlen(answer->genome) < GENOME_TEXT_SIZE
               ? 0
               : error_input(error, "the genome is longer than any: give GENE=VALUE,GENE=VALUE");
}

/* No file is both edited and given whole: one of both would be lost. */
static int check_apart(const struct answer *answer, struct error *error) {
    const cJSON *edit;
    cJSON_ArrayForEach(edit, answer->edits) {
        const char *name = text_of(edit, "file");
        if (name != NULL && cJSON_GetObjectItemCaseSensitive(answer->files, name) != NULL)
            return error_input(error, "%.60s is among \"edits\" and among \"files\": give it once",
                               name);
    }
    return 0;
}

cJSON *answer_apply(const struct answer *answer, const cJSON *parent, struct error *error) {
    if (answer->genome != NULL)
        return NULL;
    if (answer->edits == NULL || answer->files == NULL)
        return answer->edits != NULL ? edit_blocks(parent, answer->edits, error)
                                     : edit_files(parent, answer->files, error);
    if (check_apart(answer, error) < 0)
        return NULL;
    cJSON *edited = edit_blocks(parent, answer->edits, error);
    cJSON *changed = edited != NULL ? edit_files(edited, answer->files, error) : NULL;
    cJSON_Delete(edited);
    return changed;
}
