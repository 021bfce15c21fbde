/* Which searched solution a genome's text is of: "THREADS=64", or "vector: THREADS=64". */
#include "base/log.h"
#include "base/spelling.h"
#include "config/config.h"

#include <string.h>

int config_find_solution(const struct config *config, const char *name, int *solution,
                         struct error *error) {
    const char *names[SOLUTIONS_MAX];
    if (config->solution_count == 0)
        return error_input(error,
                           "there is no solution \"%s\": the template has only one, which has no "
                           "name: leave the name out",
                           name);
    for (int i = 0; i < config->solution_count; i++) {
        names[i] = config->solutions[i];
        if (strcmp(names[i], name) == 0) {
            *solution = i;
            return 0;
        }
    }
    return error_input(error, "there is no searched solution \"%s\"; did you mean \"%s\"?", name,
                       spelling_nearest(name, names, config->solution_count));
}

int config_split_genome(const struct config *config, const char *text, const char **genes,
                        int *solution, struct error *error) {
    char name[NAME_SIZE];
    const char *from = text + strspn(text, " ");
    const size_t length = strcspn(from, ":=,");
    *solution = ANY_SOLUTION;
    *genes = text;
    if (from[length] != ':')
        return 0;
    if (length == 0 || length >= NAME_SIZE)
        return error_input(
            error, "\"%.100s\": before the colon there must be the name of a solution", text);
    snprintf(name, sizeof name, "%.*s", (int)length, from);
    while (length > 0 && name[strlen(name) - 1] == ' ')
        name[strlen(name) - 1] = '\0';
    *genes = from + length + 1;
    return config_find_solution(config, name, solution, error);
}

/* The first of the goal's rivals into whose space the genes fit; one that a search leaves out only
   if they fit no other. */
static int find_fitting(const struct config *config, const struct device_info *device, int first,
                        const char *genes, int *goal, struct error *error) {
    const int count = config_rivals(config);
    int fitting = 0, fallback = -1;
    for (int i = 0; i < count; i++) {
        struct genome genome;
        struct error why = {0};
        struct template *template = config_load_template(config, first + i, device, error);
        if (template == NULL)
            return -1;
        const bool fits = genome_parse(&genome, template->space, genes, &why) == 0;
        const bool is_left_out = fits && config_leaves_out(config, template->space, NULL);
        template_free(template);
        if (is_left_out && fallback < 0)
            fallback = first + i;
        if (fits && !is_left_out && fitting++ == 0)
            *goal = first + i;
        if (!fits && i == 0)
            *error = why;
    }
    if (fitting == 0 && fallback >= 0) /* the check of the genome says which constraint fails */
        *goal = fallback;
    else if (fitting == 0)
        return error_prefix(error, "the genome fits none of the %d solutions; %s", count,
                            config_goal_solution(config, first));
    if (fitting > 1 && *genes != '\0')
        log_info(
            "the genome fits %d solutions and is taken as one of %s; \"SOLUTION: GENES\" names "
            "another",
            fitting, config_goal_solution(config, *goal));
    return 0;
}

int config_genome_goal(const struct config *config, const struct device_info *device, int64_t goal,
                       const char *named, const char **genes, int *chosen, struct error *error) {
    int solution = ANY_SOLUTION, of_text;
    if ((named != NULL && config_find_solution(config, named, &solution, error) < 0) ||
        config_split_genome(config, *genes, genes, &of_text, error) < 0)
        return -1;
    if (solution != ANY_SOLUTION && of_text != ANY_SOLUTION && solution != of_text)
        return error_input(error, "--solution names %s, and the genome %s: remove one of both",
                           config->solutions[solution], config->solutions[of_text]);
    if (solution == ANY_SOLUTION)
        solution = of_text;
    const int first = config_first_rival(config, goal < 0 ? 0 : (int)goal);
    *chosen = goal < 0 ? first : (int)goal;
    if (solution != ANY_SOLUTION) {
        *chosen = first + solution;
        return 0;
    }
    return goal < 0 && config_rivals(config) > 1
               ? find_fitting(config, device, first, *genes, chosen, error)
               : 0;
}
