/* Reads the search space of template.json: genes, derived quantities, constraints, niches and
   insights. */
#include "template/load.h"

#include <string.h>

static const char *const gene_keys[] = {"about", "values", "default", "when", NULL};

static int load_gene(struct template *template, const struct json *value, struct error *error) {
    struct json values;
    struct json preset;
    struct json when;
    char about[ABOUT_SIZE] = "";
    char condition[EXPRESSION_TEXT_MAX];
    if (json_only(value, gene_keys, error) < 0 || load_about(value, about, error) < 0 ||
        json_need(value, "values", &values, error) < 0 || json_is_array(&values, error) < 0 ||
        json_need(value, "default", &preset, error) < 0)
        return -1;
    bool has_condition = json_find(value, "when", &when);
    if (has_condition && load_expression_text(&when, condition, error) < 0)
        return -1;
    if (json_count(&values) < 1 || json_count(&values) > DOMAIN_MAX)
        return json_error(&values, error, "must have 1 to %d values", DOMAIN_MAX);
    struct json first = json_at(&values, 0);
    bool labels = cJSON_IsString(first.value);
    int64_t numbers[DOMAIN_MAX];
    const char *texts[DOMAIN_MAX];
    int count = 0;
    int preset_index = 0;
    bool preset_known = false;
    for (int i = 0; i < json_count(&values); i++) {
        struct json element = json_at(&values, i);
        bool is_preset = cJSON_Compare(element.value, preset.value, 1);
        if (labels ? json_string(&element, &texts[count], error) < 0
                   : json_integer(&element, &numbers[count], error) < 0)
            return -1;
        preset_known = preset_known || is_preset;
        if (is_preset)
            preset_index = count;
        count++;
    }
    if (!preset_known)
        return json_error(&preset, error, "is not one of the gene's values");
    int added = labels ? space_add_labels(template->space, json_key(value), about, texts, count,
                                          preset_index, has_condition ? condition : NULL, error)
                       : space_add_integers(template->space, json_key(value), about, numbers, count,
                                            preset_index, has_condition ? condition : NULL, error);
    if (added < 0)
        return load_located(value, error);
    const struct expression *condition_read = template->space->genes[added].when;
    return condition_read != NULL ? load_whole(template, &when, condition_read, error) : 0;
}

static const char *const constraint_keys[] = {"require", "because", NULL};

int load_space(struct template *template, const struct json *root, struct error *error) {
    struct json list;
    char text[EXPRESSION_TEXT_MAX];
    const char *because;
    if (json_need(root, "genes", &list, error) < 0 || json_is_object(&list, error) < 0)
        return -1;
    for (int i = 0; i < json_count(&list); i++) {
        struct json gene = json_at(&list, i);
        if (load_gene(template, &gene, error) < 0)
            return -1;
    }
    if (json_find(root, "derived", &list)) {
        if (json_is_object(&list, error) < 0)
            return -1;
        for (int i = 0; i < json_count(&list); i++) {
            struct json value = json_at(&list, i);
            if (load_expression_text(&value, text, error) < 0)
                return -1;
            if (space_add_derived(template->space, json_key(&value), text, error) < 0)
                return load_located(&value, error);
            const struct space *space = template->space;
            if (load_whole(template, &value, space->derived[space->derived_count - 1].expression,
                           error) < 0)
                return -1;
        }
    }
    if (json_find(root, "constraints", &list)) {
        if (json_is_array(&list, error) < 0)
            return -1;
        for (int i = 0; i < json_count(&list); i++) {
            struct json value = json_at(&list, i);
            struct json require;
            struct json why;
            if (json_only(&value, constraint_keys, error) < 0 ||
                json_need(&value, "require", &require, error) < 0 ||
                json_need(&value, "because", &why, error) < 0 ||
                load_expression_text(&require, text, error) < 0 ||
                json_string(&why, &because, error) < 0)
                return -1;
            if (space_add_constraint(template->space, text, because, error) < 0)
                return load_located(&require, error);
            const struct space *space = template->space;
            if (load_whole(template, &require,
                           space->constraints[space->constraint_count - 1].expression, error) < 0)
                return -1;
        }
    }
    return 0;
}

static const char *const insight_keys[] = {"when", "favour", "because", NULL};

static int load_insight(struct template *template, const struct json *value, struct error *error) {
    struct json when;
    struct json favour;
    struct json why;
    char text[EXPRESSION_TEXT_MAX];
    const char *because;
    if (json_only(value, insight_keys, error) < 0 || json_need(value, "when", &when, error) < 0 ||
        json_need(value, "favour", &favour, error) < 0 ||
        json_need(value, "because", &why, error) < 0 ||
        load_expression_text(&when, text, error) < 0 || json_is_object(&favour, error) < 0 ||
        json_string(&why, &because, error) < 0)
        return -1;
    if (json_count(&favour) < 1)
        return json_error(&favour, error, "must favour at least one gene");
    int rule = space_add_rule(template->space, text, because, error);
    if (rule < 0)
        return load_located(&when, error);
    for (int i = 0; i < json_count(&favour); i++) {
        struct json towards = json_at(&favour, i);
        const char *word = text;
        if (cJSON_IsString(towards.value) ? json_string(&towards, &word, error) < 0
                                          : load_expression_text(&towards, text, error) < 0)
            return -1;
        if (space_add_favour(template->space, rule, json_key(&towards), word, error) < 0)
            return load_located(&towards, error);
    }
    return 0;
}

int load_niches(struct template *template, const struct json *root, struct error *error) {
    struct json list;
    char text[EXPRESSION_TEXT_MAX];
    if (!json_find(root, "niches", &list))
        return 0;
    if (json_is_array(&list, error) < 0)
        return -1;
    for (int i = 0; i < json_count(&list); i++) {
        struct json value = json_at(&list, i);
        if (load_expression_text(&value, text, error) < 0)
            return -1;
        if (space_add_niche(template->space, text, error) < 0)
            return load_located(&value, error);
    }
    return 0;
}

int load_insights(struct template *template, const struct json *root, struct error *error) {
    struct json list;
    if (!json_find(root, "insights", &list))
        return 0;
    if (json_is_array(&list, error) < 0)
        return -1;
    for (int i = 0; i < json_count(&list); i++) {
        struct json value = json_at(&list, i);
        if (load_insight(template, &value, error) < 0)
            return -1;
    }
    return 0;
}
