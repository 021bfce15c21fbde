/* Reads the pathologies of a solution, and writes its source with one of them. */
#include "template/load.h"

#include "base/memory.h"
#include "base/strbuf.h"

#include <string.h>

static int load_pathology(struct template *template, const struct json *value,
                          struct error *error) {
    static const char *const keys[] = {"about", "values", NULL};
    struct pathology *pathology = &template->pathologies[template->pathology_count++];
    struct json list;
    if (json_check_keys(value, keys, error) < 0 || load_key(value, pathology->name, error) < 0 ||
        load_about(value, pathology->about, error) < 0 ||
        json_require(value, "values", &list, error) < 0 || json_is_array(&list, error) < 0)
        return -1;
    if (space_find_gene(template->space, pathology->name) >= 0)
        return json_error(value, error,
                          "is a gene: a pathology is a macro of its own, which no search sets");
    if (json_count(&list) < 1 || json_count(&list) > PATHOLOGY_VALUES_MAX)
        return json_error(&list, error, "must have 1 to %d values", PATHOLOGY_VALUES_MAX);
    for (int i = 0; i < json_count(&list); i++) {
        struct json one = json_at(&list, i);
        if (json_integer(&one, &pathology->values[pathology->value_count++], error) < 0)
            return -1;
        if (pathology->values[i] == 0)
            return json_error(&one, error,
                              "must not be 0: without its macro the pathology is absent");
    }
    return 0;
}

int load_pathologies(struct template *template, const struct json *root, struct error *error) {
    static const struct section sections[] = {{"pathologies", load_pathology, .object = true,
                                               .maximum = PATHOLOGIES_MAX, .noun = "pathologies"},
                                              {0}};
    return load_sections(template, root, sections, error);
}

char *template_pathology_source(const struct template *template, const struct genome *genome,
                                int variant, int pathology, int value, struct error *error) {
    const struct pathology *one = &template->pathologies[pathology];
    char *source = template_source(template, genome, variant, error);
    if (source == NULL)
        return NULL;
    struct strbuf text = {0};
    strbuf_print(&text, "#define %s %lld\n", one->name, (long long)one->values[value]);
    strbuf_add(&text, source, strlen(source));
    free(source);
    return text.bytes;
}
