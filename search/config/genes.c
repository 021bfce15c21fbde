#include "config/genes.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

static int read_restriction(struct config *config, const struct json *list, const char *solution,
                            struct error *error) {
    if (config->restriction_count == GENES_MAX)
        return json_error(list, error, "more than %d genes", GENES_MAX);
    struct gene_restriction *restriction = &config->restrictions[config->restriction_count++];
    if (strlen(json_key(list)) >= NAME_SIZE || json_is_array(list, error) < 0 ||
        json_count(list) < 1 || json_count(list) > DOMAIN_MAX)
        return json_error(list, error, "must list the allowed values of a gene");
    strcpy(restriction->gene, json_key(list));
    strcpy(restriction->solution, solution);
    json_location(list, restriction->where, sizeof restriction->where);
    for (int k = 0; k < json_count(list); k++) {
        struct json value = json_at(list, k);
        const char *text;
        int64_t number;
        char *to = restriction->values[restriction->count++];
        if (cJSON_IsString(value.value)) {
            if (json_string(&value, &text, error) < 0)
                return -1;
            if (snprintf(to, NAME_SIZE, "%s", text) >= NAME_SIZE)
                return json_error(&value, error, "is too long for a gene's value");
        } else if (cJSON_IsNumber(value.value) &&
                   value.value->valuedouble != rint(value.value->valuedouble)) {
            space_print_real(value.value->valuedouble, to);
        } else {
            if (json_integer(&value, &number, error) < 0)
                return -1;
            snprintf(to, NAME_SIZE, "%lld", (long long)number);
        }
    }
    return 0;
}

static int read_restrictions(struct config *config, const struct json *genes, const char *solution,
                             struct error *error) {
    if (json_is_object(genes, error) < 0)
        return -1;
    for (int i = 0; i < json_count(genes); i++) {
        struct json list = json_at(genes, i);
        if (read_restriction(config, &list, solution, error) < 0)
            return -1;
    }
    return 0;
}

int config_read_genes(struct config *config, const struct json *root, struct error *error) {
    struct json genes;
    if (!json_find(root, "genes", &genes))
        return 0;
    if (config->solution_count < 2)
        return read_restrictions(config, &genes, "", error);
    if (json_is_object(&genes, error) < 0)
        return -1;
    for (int i = 0; i < json_count(&genes); i++) {
        struct json of_one = json_at(&genes, i);
        int s = 0;
        while (s < config->solution_count && strcmp(config->solutions[s], json_key(&of_one)) != 0)
            s++;
        if (s == config->solution_count)
            return json_error(&of_one, error,
                              "is no searched solution: of several, \"genes\" has an object for "
                              "each, { \"%s\": { ... } }",
                              config->solutions[0]);
        if (read_restrictions(config, &of_one, config->solutions[s], error) < 0)
            return -1;
    }
    return 0;
}
