/* Reads the launches of template.json, their arguments, the compiler options and the source files.
 */
#include "template/compile_options.h"
#include "template/load.h"

#include "base/memory.h"

#include <ctype.h>
#include <string.h>

static const char *const launch_keys[] = {"kernel",     "grid", "block", "smem",
                                          "arguments",  "when", "early", "cooperative",
                                          "persisting", NULL};
static const char *const argument_keys[] = {"i32", "i64", "f32", "f64", "before", NULL};

static int load_triple(struct template *template, const struct json *launch, const char *key,
                       struct expression *triple[3], struct error *error) {
    struct json value;
    if (json_require(launch, key, &value, error) < 0 || json_is_array(&value, error) < 0)
        return -1;
    if (json_count(&value) != 3)
        return json_error(&value, error, "must have 3 extents: x, y, z");
    for (int i = 0; i < 3; i++) {
        struct json extent = json_at(&value, i);
        if (load_expression(template, &extent, &triple[i], error) < 0)
            return -1;
    }
    return 0;
}

/* Reads the name of a real dimension. */
static int load_real_argument(struct template *template, const struct json *value,
                              struct argument *argument, struct error *error) {
    const char *name;
    int d = 0;
    if (json_string(value, &name, error) < 0)
        return -1;
    while (d < template->dimension_count &&
           !(template->dimensions[d].real && strcmp(template->dimensions[d].name, name) == 0))
        d++;
    if (d == template->dimension_count)
        return space_find_gene(template->space, name) >= 0
                   ? json_error(value, error,
                                "%s is a gene, which the source has as a macro: only a real "
                                "dimension is an argument of that type",
                                name)
                   : json_error(value, error, "there is no real dimension \"%s\"", name);
    argument->real = true;
    argument->expression = load_parse(template, name, error);
    return argument->expression != NULL ? 0 : -1;
}

/* A kernel takes an input as an argument or as a variable. The solution of a problem decides which:
   without an entry of its "symbols", the argument replaces the problem's "symbol". */
static int check_symbol_argument(const struct template *template, const struct json *value,
                                 struct tensor *tensor, struct error *error) {
    if (is_split(template) && !tensor->solution_symbol)
        tensor->kernel_symbol[0] = '\0';
    return tensor->kernel_symbol[0] == '\0'
               ? 0
               : json_error(value, error,
                            "the kernel finds %s in its variable %s: remove the argument, or the "
                            "%s",
                            tensor->name, tensor->kernel_symbol,
                            tensor->solution_symbol ? "entry of \"symbols\""
                                                    : "tensor's \"symbol\"");
}

static int load_argument(struct template *template, const struct json *value, bool of_kernel,
                         struct argument *argument, struct error *error) {
    const char *name;
    struct json inner;
    *argument = (struct argument){.tensor = -1, .map = -1, .scalar = -1};
    if (cJSON_IsObject(value->value)) {
        if (json_check_keys(value, argument_keys, error) < 0)
            return -1;
        if (json_count(value) != 1)
            return json_error(value, error,
                              "must be {\"i32\": ...}, {\"i64\": ...}, {\"f32\": ...} or "
                              "{\"f64\": ...}");
        inner = json_at(value, 0);
        if (strcmp(json_key(&inner), "before") == 0)
            return load_before_argument(template, &inner, of_kernel, argument, error);
        argument->size = strstr(json_key(&inner), "64") != NULL ? 8 : 4;
        int scalar = load_scalar_argument(template, &inner, argument, error);
        if (scalar != 0)
            return scalar < 0 ? -1 : 0;
        if (*json_key(&inner) == 'f')
            return load_real_argument(template, &inner, argument, error);
        return load_expression(template, &inner, &argument->expression, error);
    }
    if (json_string(value, &name, error) < 0)
        return -1;
    argument->tensor = find_tensor(template, name);
    argument->map = find_map(template, name);
    argument->size = argument->map >= 0 ? TENSOR_MAP_BYTES : 8;
    if (argument->tensor < 0 && argument->map < 0)
        return json_error(value, error, "there is no tensor or tensor map \"%s\"", name);
    return of_kernel && argument->tensor >= 0
               ? check_symbol_argument(template, value, &template->tensors[argument->tensor], error)
               : 0;
}

/* Reads "persisting": {"k": "KEEP_K"}, for each tensor the per cent of its lines that persist in
 * L2. */
static int load_windows(struct template *template, const struct json *value, struct launch *launch,
                        struct error *error) {
    struct json object;
    if (!json_find(value, "persisting", &object))
        return 0;
    if (json_is_object(&object, error) < 0)
        return -1;
    if (launch->repeat >= 0)
        return json_error(&object, error, "a launch of a repeat keeps no tensor in L2");
    if (json_count(&object) > WINDOWS_MAX)
        return json_error(&object, error, "more than %d tensors", WINDOWS_MAX);
    for (int i = 0; i < json_count(&object); i++) {
        struct json member = json_at(&object, i);
        const char *name = json_key(&member);
        int tensor = find_tensor(template, name);
        if (tensor < 0)
            return json_error(&member, error, "there is no tensor of this name");
        launch->windows[i].tensor = tensor;
        if (load_optional_expression(template, &object, name, &launch->windows[i].percent, error) <
            0)
            return -1;
        launch->window_count++;
    }
    return 0;
}

static int load_launch(struct template *template, const struct json *value, int repeat,
                       struct launch_list *list, struct error *error) {
    struct json member;
    if (list->count == LAUNCHES_MAX)
        return json_error(value, error, "more than %d launches", LAUNCHES_MAX);
    struct launch *launch = &list->launches[list->count++];
    launch->file = value->document->file;
    launch->repeat = repeat;
    if (json_check_keys(value, launch_keys, error) < 0 ||
        load_kernel_name(value, launch->kernel, error) < 0 ||
        load_triple(template, value, "grid", launch->grid, error) < 0 ||
        load_triple(template, value, "block", launch->block, error) < 0 ||
        load_optional_expression(template, value, "smem", &launch->smem, error) < 0 ||
        load_optional_expression(template, value, "when", &launch->when, error) < 0 ||
        load_optional_expression(template, value, "early", &launch->early, error) < 0 ||
        load_optional_expression(template, value, "cooperative", &launch->cooperative, error) < 0 ||
        load_windows(template, value, launch, error) < 0 ||
        json_require(value, "arguments", &member, error) < 0 || json_is_array(&member, error) < 0)
        return -1;
    if (json_count(&member) > ARGUMENTS_MAX)
        return json_error(&member, error, "more than %d arguments", ARGUMENTS_MAX);
    for (int i = 0; i < json_count(&member); i++) {
        struct json argument = json_at(&member, i);
        launch->argument_count++;
        if (load_argument(template, &argument, list == &template->launches, &launch->arguments[i],
                          error) < 0)
            return -1;
    }
    return 0;
}

bool is_launch_argument(const struct launch_list *list, int tensor) {
    for (int i = 0; i < list->count; i++)
        for (int k = 0; k < list->launches[i].argument_count; k++)
            if (list->launches[i].arguments[k].tensor == tensor)
                return true;
    return false;
}

/* ---- repeats ---- */

static int load_round_name(struct template *template, const struct json *value,
                           struct error *error) {
    if (template->round_slot > 0)
        return 0;
    if (symbol_table_find(&template->space->symbols, "ROUND") >= 0)
        return json_error(value, error,
                          "launches of a repeat read the number of the round as ROUND: rename the "
                          "template's own ROUND");
    template->round_slot = symbol_table_add(&template->space->symbols, "ROUND", error);
    return template->round_slot < 0 ? load_locate_error(value, error) : 0;
}

static bool is_swapped(const struct repeat *repeat, int tensor) {
    for (int i = 0; i < repeat->swap_count; i++)
        if (repeat->swaps[i].read == tensor || repeat->swaps[i].written == tensor)
            return true;
    return false;
}

/* Reads one of the two tensors that change places. Only the candidate's launches have workspaces.
 */
static int load_swapped(const struct template *template, const struct json *value,
                        const struct launch_list *list, const struct repeat *repeat, int *tensor,
                        struct error *error) {
    const char *name;
    bool is_argument = false;
    if (json_string(value, &name, error) < 0)
        return -1;
    *tensor = find_tensor(template, name);
    if (*tensor < 0)
        return json_error(value, error, "there is no tensor \"%s\"", name);
    if (template->tensors[*tensor].role == ROLE_INPUT ||
        template->tensors[*tensor].role == ROLE_SETUP)
        return json_error(value, error, "%s is an input: only workspaces and outputs change places",
                          name);
    if (template->tensors[*tensor].role == ROLE_WORKSPACE && list != &template->launches)
        return json_error(value, error,
                          "%s is a workspace, which the reference and the plain kernel do not "
                          "have: let one launch compute all rounds",
                          name);
    if (template->tensors[*tensor].strided)
        return json_error(value, error, "%s has strides: only packed tensors change places", name);
    if (is_swapped(repeat, *tensor))
        return json_error(value, error, "%s changes places with two tensors", name);
    for (int i = repeat->first; i < repeat->first + repeat->count; i++)
        for (int a = 0; a < list->launches[i].argument_count; a++) {
            const struct argument *argument = &list->launches[i].arguments[a];
            is_argument = is_argument || argument->tensor == *tensor;
            if (argument->map >= 0 && template->maps[argument->map].tensor == *tensor)
                return json_error(value, error,
                                  "%s changes places, but a repeated launch takes its tensor map "
                                  "%s, which does not: pass the tensor itself",
                                  name, template->maps[argument->map].name);
        }
    return is_argument
               ? 0
               : json_error(value, error, "%s is no argument of the repeated launches", name);
}

static int load_swap(const struct template *template, const struct json *value,
                     const struct launch_list *list, struct repeat *repeat, struct error *error) {
    struct tensor_swap swap;
    if (json_is_array(value, error) < 0)
        return -1;
    if (json_count(value) != 2)
        return json_error(value, error, "must have 2 tensors: the one read, the one written");
    if (repeat->swap_count == SWAPS_MAX)
        return json_error(value, error, "more than %d swaps", SWAPS_MAX);
    struct json read = json_at(value, 0), written = json_at(value, 1);
    if (load_swapped(template, &read, list, repeat, &swap.read, error) < 0 ||
        load_swapped(template, &written, list, repeat, &swap.written, error) < 0)
        return -1;
    if (swap.read == swap.written)
        return json_error(value, error, "a tensor cannot change places with itself");
    const struct tensor *first = &template->tensors[swap.read],
                        *second = &template->tensors[swap.written];
    if (first->role == ROLE_OUTPUT && second->role == ROLE_WORKSPACE)
        return json_error(value, error,
                          "the last round writes the second tensor, which would leave the result "
                          "in a workspace: write [\"%s\", \"%s\"]",
                          second->name, first->name);
    repeat->swaps[repeat->swap_count++] = swap;
    return 0;
}

static int load_repeated(struct template *template, const struct json *value,
                         struct launch_list *list, struct repeat *repeat, struct error *error) {
    struct json launches;
    if (json_require(value, "launches", &launches, error) < 0 ||
        json_is_array(&launches, error) < 0)
        return -1;
    if (json_count(&launches) == 0)
        return json_error(&launches, error, "must have at least one launch");
    for (int i = 0; i < json_count(&launches); i++) {
        struct json launch = json_at(&launches, i), nested;
        if (json_find(&launch, "repeat", &nested))
            return json_error(&nested, error,
                              "a repeat cannot hold another: let one have the product of both "
                              "numbers of rounds, and read ROUND / N and ROUND %% N");
        if (load_launch(template, &launch, list->repeat_count - 1, list, error) < 0)
            return -1;
    }
    repeat->count = list->count - repeat->first;
    return 0;
}

/* Reads { "repeat": ROUNDS, "launches": [...], "swap": [["a", "b"], ...] }. */
static int load_repeat(struct template *template, const struct json *value,
                       struct launch_list *list, struct error *error) {
    static const char *const keys[] = {"repeat", "launches", "swap", NULL};
    struct json swaps;
    if (list->repeat_count == REPEATS_MAX)
        return json_error(value, error, "more than %d repeats", REPEATS_MAX);
    struct repeat *repeat = &list->repeats[list->repeat_count++];
    repeat->first = list->count;
    if (json_check_keys(value, keys, error) < 0 ||
        load_required_expression(template, value, "repeat", &repeat->rounds, error) < 0 ||
        load_round_name(template, value, error) < 0)
        return -1;
    template->in_repeat = true;
    int result = load_repeated(template, value, list, repeat, error);
    template->in_repeat = false;
    if (result < 0 || !json_find(value, "swap", &swaps))
        return result;
    if (json_is_array(&swaps, error) < 0)
        return -1;
    for (int i = 0; i < json_count(&swaps); i++) {
        struct json swap = json_at(&swaps, i);
        if (load_swap(template, &swap, list, repeat, error) < 0)
            return -1;
    }
    return 0;
}

static int load_launches(struct template *template, const struct json *object,
                         struct launch_list *list, struct error *error) {
    struct json value;
    if (json_require(object, "launches", &value, error) < 0 || json_is_array(&value, error) < 0)
        return -1;
    if (json_count(&value) == 0)
        return json_error(&value, error, "must have at least one launch");
    for (int i = 0; i < json_count(&value); i++) {
        struct json launch = json_at(&value, i), rounds;
        if ((json_find(&launch, "repeat", &rounds)
                 ? load_repeat(template, &launch, list, error)
                 : load_launch(template, &launch, -1, list, error)) < 0)
            return -1;
    }
    return 0;
}

/* ---- options ---- */

static const char *const option_keys[] = {"option", "when", NULL};

static int load_option(struct template *template, const struct json *value, struct error *error) {
    struct option *option = &template->options[template->option_count++];
    char why[OPTION_REFUSAL_SIZE];
    if (json_check_keys(value, option_keys, error) < 0 ||
        json_copy_text(value, "option", option->text, NAME_SIZE, error) < 0)
        return -1;
    return !compile_option_allowed(option->text, why)
               ? json_error(value, error, "%s", why)
               : load_optional_expression(template, value, "when", &option->when, error);
}

/* ---- whole kernel ---- */

int load_file_name(const char *folder, const struct json *value, char **name, struct error *error) {
    const char *text;
    char path[PATH_SIZE];
    if (json_string(value, &text, error) < 0)
        return -1;
    if (*text == '\0' || *text == '.' || strchr(text, '/') != NULL)
        return json_error(value, error, "must name a file in the template's own folder");
    if (path_join(path, folder, text, error) < 0)
        return -1;
    if (!path_exists(path))
        return json_error(value, error, "there is no file %s", path);
    *name = xstrdup(text);
    return 0;
}

int load_program(struct template *template, const struct json *root, const char *key, char **source,
                 struct launch_list *launches, struct error *error) {
    struct json value;
    struct json file;
    if (json_require(root, key, &value, error) < 0 ||
        load_launches(template, &value, launches, error) < 0 ||
        json_require(&value, "source", &file, error) < 0)
        return -1;
    for (int i = 0; i < launches->count; i++)
        for (int k = 0; k < launches->launches[i].argument_count; k++)
            if (launches->launches[i].arguments[k].map >= 0)
                return json_error(&value, error, "takes tensors, not tensor maps");
    return load_file_name(template->folder, &file, source, error);
}

/* What is judged. */
static int load_solution(struct template *template, const struct json *solution,
                         struct error *error) {
    static const struct section sections[] = {
        {"options", load_option, .maximum = OPTIONS_MAX, .noun = "options"},
        {0},
    };
    struct json value;
    if (load_launches(template, solution, &template->launches, error) < 0 ||
        load_sections(template, solution, sections, error) < 0 ||
        json_require(solution, "source", &value, error) < 0 ||
        load_file_name(template->solution_folder, &value, &template->source, error) < 0)
        return -1;
    return json_find(solution, "architecture_variant", &value)
               ? json_bool(&value, &template->architecture_variant, error)
               : 0;
}

int load_kernel(struct template *template, const struct template_roots *roots,
                struct error *error) {
    const struct json *problem = &roots->problem;
    if (load_sections(template, problem, tensor_sections, error) < 0 ||
        load_sections(template, problem, scalar_sections, error) < 0 ||
        (is_split(template) &&
         load_sections(template, &roots->solution, workspace_sections, error) < 0) ||
        load_sections(template, &roots->solution, map_sections, error) < 0 ||
        load_sections(template, problem, before_sections, error) < 0 ||
        load_sections(template, problem, magnitude_sections, error) < 0 ||
        load_sections(template, &roots->solution, symbol_sections, error) < 0 ||
        load_solution(template, &roots->solution, error) < 0 ||
        load_references(template, problem, error) < 0 ||
        load_error_model(template, roots, error) < 0 || load_setup(template, roots, error) < 0 ||
        load_required_expression(template, problem, "operations", &template->operations, error) <
            0 ||
        load_required_expression(template, problem, "bytes", &template->bytes, error) < 0)
        return -1;
    return 0;
}
