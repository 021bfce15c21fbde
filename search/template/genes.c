/* Reads the genes of template.json: whole numbers, real numbers, words, and texts that the source
   gets as they are. */
#include "template/load.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

static const char *const gene_keys[] = {"about", "values", "default", "when", "real", "text", NULL};

enum { PASTED_MAX = 256 };

/* The values of a gene. */
struct gene_values {
    int count, default_index;
    bool real, labels;
    int64_t numbers[DOMAIN_MAX];
    double reals[DOMAIN_MAX];
    const char *texts[DOMAIN_MAX], *pasted[DOMAIN_MAX];
    bool pastes; /* the source gets `pasted` */
};

static int load_value(const struct json *value, struct gene_values *values, struct error *error) {
    const int i = values->count++;
    if (values->labels)
        return json_string(value, &values->texts[i], error);
    if (values->real)
        return json_number(value, &values->reals[i], error);
    if (cJSON_IsNumber(value->value) &&
        value->value->valuedouble != rint(value->value->valuedouble))
        return json_error(value, error,
                          "must be a whole number: a gene of real numbers has \"real\": true");
    return json_integer(value, &values->numbers[i], error);
}

static int load_values(const struct json *gene, struct gene_values *values, struct error *error) {
    struct json list, default_value;
    bool default_found = false;
    if (json_require(gene, "values", &list, error) < 0 || json_is_array(&list, error) < 0 ||
        json_require(gene, "default", &default_value, error) < 0)
        return -1;
    if (json_count(&list) < 1 || json_count(&list) > DOMAIN_MAX)
        return json_error(&list, error, "must have 1 to %d values", DOMAIN_MAX);
    struct json first = json_at(&list, 0);
    values->labels = cJSON_IsString(first.value);
    if (values->labels && values->real)
        return json_error(&list, error, "are words: only numbers are \"real\"");
    for (int i = 0; i < json_count(&list); i++) {
        struct json element = json_at(&list, i);
        if (load_value(&element, values, error) < 0)
            return -1;
        if (cJSON_Compare(element.value, default_value.value, 1)) {
            default_found = true;
            values->default_index = i;
        }
    }
    return default_found ? 0 : json_error(&default_value, error, "is not one of the gene's values");
}

/* A text must leave the rest of the source as it is. */
static int check_pasted(const struct json *value, const char *text, struct error *error) {
    if (strlen(text) >= PASTED_MAX)
        return json_error(value, error, "has more than %d letters", PASTED_MAX - 1);
    if (strpbrk(text, "\n\t\\") != NULL || strstr(text, "/*") != NULL || strstr(text, "//") != NULL)
        return json_error(value, error,
                          "has a line break, a tab, a backslash or a comment: the source gets it "
                          "within one line");
    return 0;
}

/* Reads "text": true, or a list of what the source gets for each value. */
static int load_pasted(const struct json *gene, struct gene_values *values, struct error *error) {
    struct json text;
    bool same = true;
    if (!json_find(gene, "text", &text))
        return 0;
    if (!values->labels)
        return json_error(&text, error, "the gene's values are numbers: only words are texts");
    if (!cJSON_IsArray(text.value) && json_bool(&text, &same, error) < 0)
        return -1;
    if (cJSON_IsArray(text.value) && json_count(&text) != values->count)
        return json_error(&text, error, "must have as many texts as the gene has values: %d",
                          values->count);
    values->pastes = same;
    for (int i = 0; i < values->count && same; i++) {
        if (strpbrk(values->texts[i], ",= ") != NULL)
            return json_error(&text, error,
                              "\"%s\" cannot be the name of a value in a genome: name the values "
                              "by words, and list what the source gets as \"text\": [...]",
                              values->texts[i]);
        struct json element = cJSON_IsArray(text.value) ? json_at(&text, i) : text;
        values->pasted[i] = values->texts[i];
        if ((cJSON_IsArray(text.value) && json_string(&element, &values->pasted[i], error) < 0) ||
            check_pasted(&element, values->pasted[i], error) < 0)
            return -1;
    }
    return 0;
}

static int add_gene(struct space *space, const char *name, const char *about,
                    const struct gene_values *values, struct error *error) {
    if (values->real)
        return space_add_reals(space, name, about, values->reals, values->count,
                               values->default_index, NULL, error);
    if (!values->labels)
        return space_add_integers(space, name, about, values->numbers, values->count,
                                  values->default_index, NULL, error);
    int gene = space_add_labels(space, name, about, values->texts, values->count,
                                values->default_index, NULL, error);
    if (gene >= 0 && values->pastes)
        space_set_texts(space, gene, values->pasted);
    return gene;
}

int load_gene(struct template *template, const struct json *value, struct error *error) {
    char about[ABOUT_SIZE] = "";
    struct json real;
    struct gene_values *values = xcalloc(1, sizeof *values);
    int result = -1;
    if (json_check_keys(value, gene_keys, error) == 0 && load_about(value, about, error) == 0 &&
        (!json_find(value, "real", &real) || json_bool(&real, &values->real, error) == 0) &&
        load_values(value, values, error) == 0 && load_pasted(value, values, error) == 0)
        result = add_gene(template->space, json_key(value), about, values, error) < 0
                     ? load_locate_error(value, error)
                     : 0;
    free(values);
    return result;
}
