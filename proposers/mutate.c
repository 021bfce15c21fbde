/* mutate: proposes semantic edits of CUDA source without a model: the floor that a model must beat.
 */
#include "base/memory.h"
#include "base/random.h"
#include "base/strbuf.h"
#include "proposers/operators/crossover.h"
#include "proposers/wire/program.h"

#include <string.h>

enum { STEPS_MAX = 4, CROSSOVERS = 8 };

static const char help[] =
    "Propose semantic edits of CUDA source, without a model.\n"
    "\n"
    "Usage: mutate [options]\n"
    "\n"
    "Reads requests of `evotile evolve` on standard input. A proposal is one to three\n"
    "edits of a table of operators, drawn by the request's seed alone: the same\n"
    "request has the same answer. Of two parents the first gets what operators can\n"
    "take from the second. An edit that the history has for the same parent is not\n"
    "proposed again.\n"
    "\n"
    "  mutate --list                              the operators\n"
    "  mutate --only vectorize,unroll             some of them\n"
    "\n"
    "Example:\n"
    "  evotile evolve CONFIG --proposer mutate\n";

struct mutate {
    const char *only;
    bool list;
};

static const char crossed[] = ", as the other parent does";

/* How much of a hypothesis says what is done. */
static size_t deed_length(const char *hypothesis) {
    size_t length = strlen(hypothesis), suffix = strlen(crossed);
    bool ends = length >= suffix && strcmp(hypothesis + length - suffix, crossed) == 0;
    return ends ? length - suffix : length;
}

static bool is_same_deed(const char *a, const char *b) {
    size_t length = deed_length(a);
    return length == deed_length(b) && memcmp(a, b, length) == 0;
}

/* Whether an earlier proposal for the same parent has this hypothesis. */
static bool is_tried(const struct request *request, const char *hypothesis) {
    const cJSON *entry, *asked = cJSON_GetArrayItem(request->parents, 0);
    const char *solution =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(asked, "solution"));
    cJSON_ArrayForEach(entry, request->history) {
        const char *parent =
            cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "parent"));
        const char *before =
            cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "hypothesis"));
        if (parent != NULL && before != NULL && is_same_deed(before, hypothesis) &&
            (strcmp(parent, request_hash(request, 0)) == 0 ||
             (solution != NULL && strcmp(parent, solution) == 0)))
            return true;
    }
    return false;
}

/* Draws by weight: an operator's is shared by its places. */
static int draw(const struct candidate *candidates, int count, struct random *random) {
    double total = 0, weights[CANDIDATES_MAX];
    for (int c = 0; c < count; c++) {
        int sites = 0;
        for (int other = 0; other < count; other++)
            sites += candidates[other].entry == candidates[c].entry;
        weights[c] = (double)candidates[c].entry->weight / sites;
        total += weights[c];
    }
    double left = random_uniform(random) * total;
    for (int c = 0; c < count; c++) {
        left -= weights[c];
        if (left < 0)
            return c;
    }
    return count - 1;
}

/* Applies a candidate that is drawn; the last one to none that was tried before. Returns false if
   nothing applies. */
static bool take_step(const struct mutate *mutate, const struct request *request,
                      struct random *random, struct revision *revision, bool last,
                      struct error *error) {
    struct candidate *candidates = xcalloc(CANDIDATES_MAX, sizeof *candidates);
    int count = candidates_find(revision, mutate->only, candidates, error);
    bool taken = false;
    while (count > 0 && !taken) {
        int drawn = draw(candidates, count, random);
        struct revision next;
        if (revision_apply(revision, &candidates[drawn], &next)) {
            taken = !(last && is_tried(request, next.hypothesis.bytes));
            if (taken)
                revision_replace(revision, &next);
            else
                revision_release(&next);
        }
        candidates[drawn] = candidates[--count];
    }
    free(candidates);
    return taken;
}

static void restart(const struct request *request, const char *name, struct revision *revision) {
    revision_release(revision);
    revision_init(revision, request_file(request, 0, name),
                  request_file(request, 0, "solution.json"));
}

/* Takes exactly `steps` edits of the parent that were not tried together. */
static bool take_steps(const struct mutate *mutate, const struct request *request,
                       struct random *random, const char *name, int steps,
                       struct revision *revision, struct error *error) {
    int taken = 0;
    restart(request, name, revision);
    while (taken < steps && take_step(mutate, request, random, revision, taken + 1 == steps, error))
        taken++;
    return taken == steps;
}

/* Takes from the second parent what operators can: all of it as often as a part. */
static bool take_from_second(const struct mutate *mutate, const struct request *request,
                             struct random *random, const char *name, struct revision *revision) {
    const char *source = request_file(request, 1, name);
    const char *solution = request_file(request, 1, "solution.json");
    if (source == NULL || solution == NULL)
        return false;
    for (int attempt = 0; attempt < CROSSOVERS; attempt++) {
        int steps = random_below(random, 2) == 0 ? STEPS_MAX : 1, taken = 0;
        restart(request, name, revision);
        while (taken < steps && crossover_step(revision, source, solution, mutate->only, random))
            taken++;
        if (taken == 0)
            return false;
        strbuf_print(&revision->hypothesis, "%s", crossed);
        if (!is_tried(request, revision->hypothesis.bytes))
            return true;
    }
    return false;
}

/* One edit from the start of the first difference to the end of the last one. */
static int add_difference(cJSON *edits, const char *file, const char *before, const char *after,
                          struct error *error) {
    size_t length = strlen(before), changed = strlen(after), start = 0, end = 0;
    struct edit_list list = {0};
    if (strcmp(before, after) == 0)
        return 0;
    while (start < length && start < changed && before[start] == after[start])
        start++;
    while (end < length - start && end < changed - start &&
           before[length - 1 - end] == after[changed - 1 - end])
        end++;
    char *text = xstrndup(after + start, changed - start - end);
    edit_list_add(&list, start, length - end, text);
    int status = edit_list_blocks(edits, file, before, &list, error);
    edit_list_release(&list);
    free(text);
    return status;
}

/* The source's name in solution.json; NULL if the parent has no such file. */
static const char *source_name(const struct request *request, cJSON **solution) {
    const char *text = request_file(request, 0, "solution.json");
    struct json_document document;
    struct error ignored = {0};
    *solution = NULL;
    if (text == NULL || json_read_text(&document, "solution.json", text, &ignored) < 0)
        return NULL;
    *solution = cJSON_Duplicate(document.root, true);
    json_release(&document);
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(*solution, "source"));
    return name != NULL && request_file(request, 0, name) != NULL ? name : NULL;
}

static cJSON *make_answer(const struct request *request, const char *name,
                          const struct revision *revision, struct error *error) {
    cJSON *answer = proposal_new(request, revision->hypothesis.bytes), *edits = cJSON_CreateArray();
    const char *source = request_file(request, 0, name);
    const char *solution = request_file(request, 0, "solution.json");
    if (add_difference(edits, name, source, revision->source, error) == 0 &&
        add_difference(edits, "solution.json", solution, revision->solution, error) == 0) {
        cJSON_AddItemToObject(answer, "edits", edits);
        return answer;
    }
    cJSON_Delete(edits);
    cJSON_Delete(answer);
    return NULL;
}

static cJSON *propose_mutation(void *context, const struct request *request, struct error *error) {
    const struct mutate *mutate = context;
    struct random random;
    cJSON *solution, *answer = NULL;
    const char *name = source_name(request, &solution);
    random_seed(&random, request->seed, 0);
    for (int i = 0; i < 8; i++) /* the first numbers of neighbouring seeds are alike */
        random_next(&random);
    if (name == NULL) {
        cJSON_Delete(solution);
        error_input(error, "the parent needs a solution.json whose \"source\" is one of its files");
        return NULL;
    }
    static const int steps_of[] = {1, 1, 1, 2, 2, 3}; /* half of the proposals are one edit */
    int steps = steps_of[random_below(&random, sizeof steps_of / sizeof *steps_of)];
    struct revision revision = {0};
    struct error reason = {0};
    /* Fewer edits than were drawn may be left, and all single ones tried: two may still be new. */
    bool taken = take_from_second(mutate, request, &random, name, &revision) ||
                 take_steps(mutate, request, &random, name, steps, &revision, &reason) ||
                 take_steps(mutate, request, &random, name, 1, &revision, &reason) ||
                 take_steps(mutate, request, &random, name, 2, &revision, &reason);
    if (taken)
        answer = make_answer(request, name, &revision, error);
    else if (reason.kind != ERROR_NONE)
        *error = reason;
    else
        error_input(error, "no operator applies to %s that was not tried: take another parent",
                    name);
    revision_release(&revision);
    cJSON_Delete(solution);
    return answer;
}

static void print_operators(void) {
    for (const struct edit_operator *entry = mutation_operators; entry->name != NULL; entry++)
        printf("%s\n  applies: %s\n  %s\n", entry->name, entry->applies,
               strchr(entry->hypothesis, ':') + 2);
}

/* The first name of --only that is no operator; NULL: all are. */
static const char *unknown_operator(const char *only) {
    for (const char *at = only; at != NULL && *at != '\0';) {
        size_t length = strcspn(at, ",");
        const struct edit_operator *entry = mutation_operators;
        while (entry->name != NULL &&
               (strlen(entry->name) != length || memcmp(entry->name, at, length) != 0))
            entry++;
        if (entry->name == NULL)
            return at;
        at += length + (at[length] == ',');
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct mutate mutate = {0};
    const struct program_option options[] = {
        {"only", "NAMES", "choose among these operators alone", PROGRAM_TEXT, &mutate.only},
        {"list", "", "print the operators and exit", PROGRAM_FLAG, &mutate.list},
        {0},
    };
    const struct program program = {.name = "mutate", .about = help, .options = options};
    int status = program_options(&program, argc, argv);
    if (status >= 0)
        return status;
    if (mutate.list) {
        print_operators();
        return 0;
    }
    const char *unknown = unknown_operator(mutate.only);
    if (unknown != NULL) {
        fprintf(stderr, "mutate: %s is no operator: see mutate --list\n", unknown);
        return 2;
    }
    return program_run(&program, stdin, stdout, propose_mutation, &mutate);
}
