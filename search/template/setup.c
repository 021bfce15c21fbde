/* Reads "setup" of template.json: untimed launches that write inputs. */
#include "template/load.h"

#include "base/memory.h"

#include <stdlib.h>

/* A candidate, the reference and the plain kernel see inputs alone; setup sees no results. */
static int check_arguments(const struct template *template, const struct json *root,
                           const char *key, const struct launch_list *list, bool is_setup,
                           struct error *error) {
    struct json value = *root;
    json_find(root, key, &value);
    for (int i = 0; i < list->count; i++)
        for (int a = 0; a < list->launches[i].argument_count; a++) {
            const int t = list->launches[i].arguments[a].tensor;
            const enum role role = t < 0 ? ROLE_INPUT : template->tensors[t].role;
            if (is_setup && role != ROLE_INPUT && role != ROLE_SETUP)
                return json_error(
                    &value, error,
                    "%s is no input: setup takes inputs and tensors of role \"setup\"",
                    template->tensors[t].name);
            if (!is_setup && role == ROLE_SETUP)
                return json_error(&value, error,
                                  "%s has the role \"setup\": only the launches of setup take it",
                                  template->tensors[t].name);
        }
    return 0;
}

static int check_tensors(const struct template *template, const struct json *root,
                         struct error *error) {
    struct json value = *root;
    json_find(root, "tensors", &value);
    for (int t = 0; t < template->tensor_count; t++) {
        const struct tensor *tensor = &template->tensors[t];
        if (tensor->fill.fill != FILL_SETUP && tensor->role != ROLE_SETUP)
            continue;
        if (template->setup.count == 0)
            return json_error(&value, error, "%s needs \"setup\", with \"source\" and \"launches\"",
                              tensor->name);
        if (!template->of_setup[t])
            return json_error(&value, error, "%s is no argument of setup's launches", tensor->name);
    }
    for (int m = 0; m < template->map_count; m++)
        if (template->tensors[template->maps[m].tensor].role == ROLE_SETUP)
            return json_error(&value, error, "a tensor of role \"setup\" has no tensor map");
    return 0;
}

int load_setup(struct template *template, const struct template_roots *roots, struct error *error) {
    static const char *const keys[] = {"source", "launches", NULL};
    const struct json *root = &roots->problem;
    struct json value;
    if (json_find(root, "setup", &value) &&
        (json_check_keys(&value, keys, error) < 0 ||
         load_program(template, root, "setup", &template->setup_source, &template->setup, error) <
             0))
        return -1;
    for (int i = 0; i < template->setup.count; i++)
        for (int a = 0; a < template->setup.launches[i].argument_count; a++)
            if (template->setup.launches[i].arguments[a].tensor >= 0)
                template->of_setup[template->setup.launches[i].arguments[a].tensor] = true;
    if (check_arguments(template, &roots->solution, "launches", &template->launches, false, error) <
            0 ||
        check_arguments(template, root, "reference", &template->reference, false, error) < 0 ||
        check_arguments(template, root, "plain", &template->plain, false, error) < 0 ||
        check_arguments(template, root, "setup", &template->setup, true, error) < 0)
        return -1;
    return check_tensors(template, root, error);
}

int check_fills(struct template *template, bool derived_cases, struct error *error) {
    struct launch_plan *plan = xmalloc(sizeof *plan);
    bool any = template->setup.count > 0 || template->scalar_count > 0;
    int status = 0;
    for (int t = 0; t < template->tensor_count; t++)
        any = any || template->tensors[t].fill.fill != FILL_NORMAL;
    for (int c = 0; c < template->case_count && any && status == 0; c++) {
        struct error why;
        template->unfit[c] =
            template_setup_launch_plan(template, c, plan, derived_cases ? &why : error) < 0;
        status = template->unfit[c] && !derived_cases ? -1 : 0;
    }
    free(plan);
    return status;
}
