/* Reads recorded answers: for cases, the files of the inputs and of the outputs. */
#include "template/load.h"

#include "base/memory.h"

#include <string.h>

static int load_file(struct template *template, const struct json *value,
                     struct recorded_answer *answer, struct error *error) {
    char name[ARRAY_NAME_SIZE];
    int t = 0;
    while (t < template->tensor_count &&
           (template->tensors[t].role == ROLE_WORKSPACE ||
            strcmp(template_array_name(template, t, name), json_key(value)) != 0))
        t++;
    if (t == template->tensor_count)
        return json_error(value, error, "there is no input or output \"%s\"", json_key(value));
    return load_file_name(template->folder, value, &answer->files[t], error);
}

static int load_answer(struct template *template, const struct json *value, struct error *error) {
    static const char *const keys[] = {"case", "files", NULL};
    struct json shape, files;
    char name[ARRAY_NAME_SIZE];
    if (json_check_keys(value, keys, error) < 0 || json_require(value, "case", &shape, error) < 0 ||
        json_require(value, "files", &files, error) < 0 || json_is_object(&files, error) < 0)
        return -1;
    template->answers =
        xgrow(template->answers, (size_t) template->answer_count, sizeof *template->answers);
    struct recorded_answer *answer = &template->answers[template->answer_count++];
    *answer = (struct recorded_answer){0};
    if (template_read_shape(template, &shape, NULL, &answer->shape, error) < 0)
        return -1;
    for (int i = 0; i < json_count(&files); i++) {
        struct json file = json_at(&files, i);
        if (load_file(template, &file, answer, error) < 0)
            return -1;
    }
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].role != ROLE_WORKSPACE && template->tensors[t].when == NULL &&
            answer->files[t] == NULL)
            return json_error(&files, error,
                              template->tensors[t].of_output
                                  ? "the file of \"%s\" is missing: what it holds before a call"
                                  : "the file of \"%s\" is missing",
                              template_array_name(template, t, name));
    return 0;
}

/* What only another reference could take part in. */
static int check_answerable(const struct template *template, const struct json *root,
                            const struct json *list, struct error *error) {
    struct json value;
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].role == ROLE_MAGNITUDE)
            return json_error(list, error,
                              "say nothing of the magnitudes \"%s\": give a \"tolerance\" instead",
                              template->tensors[t].name);
    if (json_find(root, "setup", &value))
        return json_error(&value, error,
                          "candidates run on the recorded inputs alone: record what setup writes, "
                          "and remove this key");
    if (json_find(root, "scalars", &value))
        return json_error(&value, error,
                          "are drawn for each set of inputs, and the answers are to one: let an "
                          "input of one element hold each number");
    if (json_find(root, "stress", &value))
        return json_error(&value, error,
                          "there are no answers to other inputs than the recorded ones: record "
                          "hard inputs as \"answers\", and remove this key");
    return 0;
}

int load_answers(struct template *template, const struct json *root, const struct json *list,
                 struct error *error) {
    template->reference_kind = REFERENCE_ANSWERS;
    if (json_is_array(list, error) < 0 || check_answerable(template, root, list, error) < 0)
        return -1;
    for (int i = 0; i < json_count(list); i++) {
        struct json value = json_at(list, i);
        if (load_answer(template, &value, error) < 0)
            return -1;
    }
    for (int c = 0; c < template->case_count; c++) {
        char shape[CASE_NAME_SIZE];
        if (template_answer(template, &template->cases[c], 0) != NULL)
            continue;
        template_print_shape(template, &template->cases[c], shape);
        return json_error(list, error,
                          "there is no answer to the case %s: record one, or leave the case out",
                          shape);
    }
    return 0;
}

void release_answers(struct template *template) {
    for (int i = 0; i < template->answer_count; i++)
        for (int t = 0; t < TENSORS_MAX; t++)
            free(template->answers[i].files[t]);
    free(template->answers);
}

const struct recorded_answer *template_answer(const struct template *template,
                                              const struct shape *shape, uint64_t seed) {
    int count = 0, index = 0;
    const size_t bytes = (size_t) template->dimension_count * sizeof *shape->values;
    for (int i = 0; i < template->answer_count; i++)
        count += memcmp(template->answers[i].shape.values, shape->values, bytes) == 0;
    if (count == 0)
        return NULL;
    int picked = (int)((seed * UINT64_C(0x9e3779b97f4a7c15) >> 32) % (uint64_t)count);
    for (index = 0; index < template->answer_count; index++)
        if (memcmp(template->answers[index].shape.values, shape->values, bytes) == 0 &&
            picked-- == 0)
            break;
    return &template->answers[index];
}

struct shape launch_plan_shape(const struct launch_plan *plan) {
    const struct template *template = plan->template;
    struct shape shape = {0};
    for (int d = 0; d < template->dimension_count; d++)
        shape.values[d] = plan->values[symbol_table_find(&template->space->symbols,
                                                         template->dimensions[d].name)];
    return shape;
}
