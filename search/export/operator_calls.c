#include "export/operator_calls.h"

#include "base/memory.h"

#include <ctype.h>
#include <string.h>

enum { PARAMETERS_MAX = 16 };

/* A parameter of an operator's schema: "float? scale=None". */
struct parameter {
    char type[NAME_SIZE], name[NAME_SIZE], usual[NAME_SIZE]; /* usual: its default, or "" */
    bool keyword_only;
    struct json pattern; /* of calls.json */
};

struct operator_call {
    const struct export *export;
    struct json pattern, arguments;
    int count;
    struct parameter parameters[PARAMETERS_MAX];
    struct expr_printer *c, *python; /* `python`: dimensions are members of `shape` */
};

/* ---- the schema ---- */

static void copy_word(char word[NAME_SIZE], const char *start, const char *end) {
    while (start < end && *start == ' ')
        start++;
    while (end > start && end[-1] == ' ')
        end--;
    snprintf(word, NAME_SIZE, "%.*s", (int)(end - start), start);
}

/* "Tensor? attn_mask=None" */
static int read_parameter(struct operator_call *call, const struct json *schema, const char *start,
                          const char *end, bool keyword_only, struct error *error) {
    static const char *const types[] = {"Tensor", "Tensor?", "float", "float?",
                                        "int",    "int?",    "bool",  "bool?"};
    const char *equals = memchr(start, '=', (size_t)(end - start)), *name;
    struct parameter *parameter = &call->parameters[call->count];
    if (call->count == PARAMETERS_MAX)
        return json_error(schema, error, "more than %d parameters", PARAMETERS_MAX);
    call->count++;
    copy_word(parameter->usual, equals != NULL ? equals + 1 : end, end);
    equals = equals != NULL ? equals : end;
    for (name = equals; name > start && name[-1] != ' ';)
        name--;
    copy_word(parameter->name, name, equals);
    copy_word(parameter->type, start, name);
    parameter->keyword_only = keyword_only;
    size_t known = 0;
    while (known < sizeof types / sizeof *types && strcmp(types[known], parameter->type) != 0)
        known++;
    if (known == sizeof types / sizeof *types)
        return json_error(schema, error,
                          "the type \"%s\" of %s: give Tensor, float, int or bool, or one of these "
                          "with ?",
                          parameter->type, parameter->name);
    if (!json_find(&call->arguments, parameter->name, &parameter->pattern))
        return json_error(schema, error, "\"arguments\" does not describe %s", parameter->name);
    return 0;
}

/* "(Tensor query, *, bool is_causal=False) -> Tensor" */
static int read_schema(struct operator_call *call, const struct json *schema, struct error *error) {
    const char *text;
    bool keyword_only = false;
    if (json_string(schema, &text, error) < 0)
        return -1;
    const char *close = strstr(text, ") -> Tensor");
    if (*text != '(' || close == NULL || close[strlen(") -> Tensor")] != '\0')
        return json_error(schema, error, "give it as \"(Tensor x, ...) -> Tensor\"");
    for (const char *at = text + 1; at < close;) {
        const char *end = memchr(at, ',', (size_t)(close - at));
        end = end != NULL ? end : close;
        while (*at == ' ')
            at++;
        if (*at == '*')
            keyword_only = true;
        else if (read_parameter(call, schema, at, end, keyword_only, error) < 0)
            return -1;
        at = end < close ? end + 1 : close;
    }
    return 0;
}

static bool is_optional(const struct parameter *parameter) {
    return strchr(parameter->type, '?') != NULL;
}

static bool is_tensor(const struct parameter *parameter) {
    return strncmp(parameter->type, "Tensor", strlen("Tensor")) == 0;
}

/* ---- what calls.json says of the arguments ---- */

static const struct tensor *find_tensor(const struct template *template, const char *name) {
    for (int t = 0; t < template->tensor_count; t++)
        if (strcmp(template->tensors[t].name, name) == 0)
            return &template->tensors[t];
    return NULL;
}

/* The template's tensor that an argument is, whose shape must be the pattern's; NULL: it is none.
 */
static int mapped_tensor(const struct operator_call *call, const struct parameter *parameter,
                         const struct tensor **tensor, struct error *error) {
    struct json name, shape;
    const char *text;
    *tensor = NULL;
    if (!json_find(&parameter->pattern, "tensor", &name))
        return 0;
    if (json_string(&name, &text, error) < 0 ||
        json_require(&parameter->pattern, "shape", &shape, error) < 0)
        return -1;
    *tensor = find_tensor(call->export->template, text);
    if (*tensor == NULL || !is_given(*tensor) || is_in_place(*tensor) || !is_tensor(parameter))
        return json_error(&name, error, "%s is no tensor that a call gives and a kernel reads",
                          text);
    bool same = json_count(&shape) == (*tensor)->rank;
    for (int i = 0; i < (*tensor)->rank && same; i++) {
        struct json item = json_at(&shape, i);
        char extent[EXPRESSION_TEXT_MAX];
        print_extent(call->export->template, (*tensor)->shape[i], extent);
        same = cJSON_IsString(item.value) && strcmp(item.value->valuestring, extent) == 0;
    }
    return same ? 0 : json_error(&shape, error, "the tensor %s has another shape", text);
}

/* The value that the argument must have, as the language writes it. */
static void add_value(const cJSON *value, bool python, struct strbuf *text) {
    if (cJSON_IsBool(value))
        strbuf_print(text, "%s",
                     python                ? (cJSON_IsTrue(value) ? "True" : "False")
                     : cJSON_IsTrue(value) ? "true"
                                           : "false");
    else
        strbuf_print(text, "%.17g", value->valuedouble);
}

/* " && dropout_p == 0" */
static int add_acceptance(const struct parameter *parameter, struct strbuf *c,
                          struct strbuf *python, struct error *error) {
    struct json value;
    const char *name = parameter->name;
    if (json_find(&parameter->pattern, "value", &value)) {
        if (cJSON_IsNull(value.value)) {
            strbuf_print(c, " && !%s", name);
            strbuf_print(python, "\n        and %s is None", name);
            return 0;
        }
        if (!cJSON_IsNumber(value.value) && !cJSON_IsBool(value.value))
            return json_error(&value, error, "must be a number, true, false or null");
        strbuf_print(c, " && %s == ", name);
        add_value(value.value, false, c);
        strbuf_print(python, "\n        and %s == ", name);
        add_value(value.value, true, python);
    }
    if (json_find(&parameter->pattern, "not", &value)) {
        if (!cJSON_IsNumber(value.value))
            return json_error(&value, error, "must be a number");
        if (is_optional(parameter))
            strbuf_print(c, " && (!%s || *%s != %.17g)", name, name, value.value->valuedouble);
        else
            strbuf_print(c, " && %s != %.17g", name, value.value->valuedouble);
        strbuf_print(python, "\n        and %s != %.17g", name, value.value->valuedouble);
    }
    return 0;
}

static void add_dimension(const struct operator_call *call, const struct parameter *parameter,
                          const char *dimension, struct strbuf *c, struct strbuf *python) {
    const struct template *template = call->export->template;
    int d = 0;
    while (strcmp(template->dimensions[d].name, dimension) != 0)
        d++;
    const char *type = template->dimensions[d].real ? "float" : "int64_t";
    const char *mark = is_optional(parameter) ? "*" : "";
    strbuf_print(c, "        ");
    if (is_optional(parameter))
        strbuf_print(c, "if (%s)\n            ", parameter->name);
    strbuf_print(c, "call.shape.%s = %s(%s%s);\n", dimension, type, mark, parameter->name);
    strbuf_print(python, "%s%s=%s", python->used > 0 ? ", " : "", dimension, parameter->name);
}

/* ---- values of templates ---- */

/* What is added to while the parameters are visited. */
struct texts {
    struct strbuf parameters, boxed, signature, passed, accepts, python_accepts, takes, sets,
        numbers, inputs, result_arguments, given_map, needs_grad, requires, python_requires;
};

static const char *c_type(const struct parameter *parameter, char type[NAME_SIZE]) {
    const char *plain = is_tensor(parameter)                        ? "Tensor"
                        : strncmp(parameter->type, "float", 5) == 0 ? "double"
                        : strncmp(parameter->type, "int", 3) == 0   ? "int64_t"
                                                                    : "bool";
    snprintf(type, NAME_SIZE, is_optional(parameter) ? "std::optional<%s>" : "%s", plain);
    return type;
}

static void add_signature(const struct operator_call *call, int index, struct texts *texts) {
    const struct parameter *parameter = &call->parameters[index];
    const char *comma = index > 0 ? ", " : "";
    char type[NAME_SIZE];
    strbuf_print(&texts->parameters, "%s%s %s", index > 0 ? ",\n        " : "",
                 c_type(parameter, type), parameter->name);
    strbuf_print(&texts->boxed, "%sfrom(%s)", comma, parameter->name);
    strbuf_print(&texts->signature, "%s%s", comma,
                 parameter->keyword_only && (index == 0 || !parameter[-1].keyword_only) ? "*, "
                                                                                        : "");
    strbuf_print(&texts->signature, "%s%s%s", parameter->name, *parameter->usual != '\0' ? "=" : "",
                 parameter->usual);
    strbuf_print(&texts->passed, "%s%s%s%s", comma, parameter->name,
                 parameter->keyword_only ? "=" : "",
                 parameter->keyword_only ? parameter->name : "");
}

/* " and query.dim() == 4 and query.dtype in (_f16, _bf16) and key.shape[0] == query.shape[0]" */
static void add_takes(const struct operator_call *call, const struct parameter *parameter,
                      const struct tensor *tensor, const struct tensor *const *tensors,
                      struct texts *texts) {
    strbuf_print(&texts->takes, "\n        and %s.dim() == %d and %s.dtype in (_%s,",
                 parameter->name, tensor->rank, parameter->name, dtype_name(tensor->dtype));
    if (tensor->dtype_when != NULL)
        strbuf_print(&texts->takes, " _%s", dtype_name(tensor->other_dtype));
    strbuf_print(&texts->takes, ")");
    for (int i = 0; i < tensor->rank; i++) {
        const char *extent = expression_text(tensor->shape[i]);
        for (int p = 0; &call->parameters[p] < parameter; p++)
            for (int j = 0; tensors[p] != NULL && j < tensors[p]->rank; j++)
                if (strcmp(expression_text(tensors[p]->shape[j]), extent) == 0) {
                    strbuf_print(&texts->takes, " and %s.shape[%d] == %s.shape[%d]",
                                 parameter->name, i, call->parameters[p].name, j);
                    p = call->count;
                    break;
                }
    }
}

/* The given tensors in their order, as the operators list them: addresses in C++, names in Python.
 */
static int add_inputs(const struct operator_call *call, const cJSON *given,
                      const struct tensor *const *tensors, struct texts *texts,
                      struct error *error) {
    const cJSON *object;
    cJSON_ArrayForEach(object, given) {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(object, "tensor"));
        const bool first = cJSON_IsTrue(cJSON_GetObjectItem(object, "first"));
        int p = 0;
        while (p < call->count && !(tensors[p] != NULL && strcmp(tensors[p]->name, name) == 0))
            p++;
        if (p == call->count && !cJSON_IsTrue(cJSON_GetObjectItem(object, "optional")))
            return json_error(&call->arguments, error, "no argument is the tensor %s", name);
        const char *argument = p < call->count ? call->parameters[p].name : NULL;
        strbuf_print(&texts->inputs, first ? "" : ", ");
        if (argument == NULL)
            strbuf_print(&texts->inputs, "nullptr");
        else if (is_optional(&call->parameters[p]))
            strbuf_print(&texts->inputs, "%s ? &*%s : nullptr", argument, argument);
        else
            strbuf_print(&texts->inputs, "&%s", argument);
        strbuf_print(&texts->result_arguments, "%s%s", first ? "" : ", ",
                     argument != NULL ? argument : "None");
        strbuf_print(&texts->given_map, "%s\"%s\": %s", first ? "" : ", ", name,
                     argument != NULL ? argument : "None");
        if (argument != NULL)
            strbuf_print(&texts->needs_grad, "%s%s.requires_grad",
                         texts->needs_grad.used > 0 ? " or " : "", argument);
    }
    return 0;
}

static int add_parameters(struct operator_call *call, const cJSON *given, struct texts *texts,
                          struct error *error) {
    const struct tensor *tensors[PARAMETERS_MAX] = {NULL};
    for (int p = 0; p < call->count; p++) {
        struct parameter *parameter = &call->parameters[p];
        struct json dimension;
        add_signature(call, p, texts);
        if (mapped_tensor(call, parameter, &tensors[p], error) < 0 ||
            add_acceptance(parameter, &texts->accepts, &texts->python_accepts, error) < 0)
            return -1;
        if (tensors[p] != NULL)
            add_takes(call, parameter, tensors[p], tensors, texts);
        if (json_find(&parameter->pattern, "dimension", &dimension))
            add_dimension(call, parameter, dimension.value->valuestring, &texts->sets,
                          &texts->numbers);
    }
    return add_inputs(call, given, tensors, texts, error);
}

/* The operators know dimensions alone. */
static bool reads_derived(const struct template *template, const struct expression *expression,
                          const char **name) {
    const struct space *space = template->space;
    for (int i = 0; i < space->derived_count; i++)
        if (slots_has(expression_reads(expression), space->derived[i].slot)) {
            *name = space->symbols.slots[space->derived[i].slot];
            return true;
        }
    return false;
}

/* "dimensions": {"LSE": 1}, and "require" over the dimensions. */
static int add_conditions(const struct operator_call *call, struct texts *texts,
                          struct error *error) {
    const struct template *template = call->export->template;
    struct json member, require;
    if (json_find(&call->pattern, "dimensions", &member))
        for (int i = 0; i < json_count(&member); i++) {
            struct json item = json_at(&member, i);
            strbuf_print(&texts->sets, "        call.shape.%s = %.17g;\n", json_key(&item),
                         item.value->valuedouble);
            strbuf_print(&texts->numbers, "%s%s=%.17g", texts->numbers.used > 0 ? ", " : "",
                         json_key(&item), item.value->valuedouble);
        }
    for (int i = 0; json_find(&call->pattern, "require", &member) && i < json_count(&member); i++) {
        struct json item = json_at(&member, i);
        const char *text;
        if (json_require(&item, "require", &require, error) < 0 ||
            json_string(&require, &text, error) < 0)
            return -1;
        struct error why = {0};
        struct expression *expression = expression_parse(text, &template->space->symbols, &why);
        if (expression == NULL)
            return json_error(&require, error, "%s", why.text);
        if (reads_derived(template, expression, &text)) {
            expression_free(expression);
            return json_error(&require, error, "%s is no dimension", text);
        }
        strbuf_print(&texts->requires, "%s(", texts->requires.used > 0 ? " && " : "");
        strbuf_print(&texts->python_requires, "%s(",
                     texts->python_requires.used > 0 ? " and " : "");
        expr_to_c_add(call->c, expression, &texts->requires);
        expr_to_c_add(call->python, expression, &texts->python_requires);
        strbuf_print(&texts->requires, ")");
        strbuf_print(&texts->python_requires, ")");
        expression_free(expression);
    }
    return 0;
}

/* A text without the operator that joins it to what is before it, or what stands for none. */
static void add_joined(cJSON *object, const char *key, struct strbuf *text, const char *joint,
                       const char *none) {
    const size_t skipped = text->used > strlen(joint) ? strlen(joint) : 0;
    cJSON_AddStringToObject(object, key, text->used > 0 ? text->bytes + skipped : none);
    strbuf_release(text);
}

static void add_texts(struct texts *texts, cJSON *object) {
    strbuf_print(&texts->takes, "%s",
                 texts->python_accepts.used > 0 ? texts->python_accepts.bytes : "");
    strbuf_release(&texts->python_accepts);
    add_joined(object, "accepts", &texts->accepts, " && ", "true");
    add_joined(object, "takes", &texts->takes, "\n        and ", "True");
    add_joined(object, "requires", &texts->requires, "", "true");
    add_joined(object, "python_requires", &texts->python_requires, "", "True");
    add_joined(object, "parameters", &texts->parameters, "", "");
    add_joined(object, "boxed", &texts->boxed, "", "");
    add_joined(object, "signature", &texts->signature, "", "");
    add_joined(object, "call_passed", &texts->passed, "", "");
    add_joined(object, "call_numbers", &texts->numbers, "", "");
    add_joined(object, "inputs", &texts->inputs, "", "");
    add_joined(object, "result_arguments", &texts->result_arguments, "", "");
    add_joined(object, "call_given_map", &texts->given_map, "", "");
    add_joined(object, "needs_grad", &texts->needs_grad, "", "False");
    embedded_add_text(object, "sets", &texts->sets);
}

/* The index of the tensor that the call returns. */
static int add_result(const struct operator_call *call, const cJSON *returned, cJSON *object,
                      struct error *error) {
    struct json member;
    const char *name;
    const cJSON *one;
    if (json_require(&call->pattern, "returns", &member, error) < 0 ||
        json_string(&member, &name, error) < 0)
        return -1;
    cJSON_ArrayForEach(
        one,
        returned) if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(one, "tensor")), name) == 0) {
        cJSON_AddNumberToObject(object, "returned_index",
                                cJSON_GetNumberValue(cJSON_GetObjectItem(one, "index")));
        return 0;
    }
    return json_error(&member, error, "%s is no tensor that a call returns", name);
}

/* "aten::x" is torch.ops.aten.x, and the function's name is x. */
static int add_names(const struct operator_call *call, const struct json *schema, cJSON *object,
                     struct error *error) {
    struct json member;
    const char *name;
    char path[NAME_SIZE];
    if (json_require(&call->pattern, "operator", &member, error) < 0 ||
        json_string(&member, &name, error) < 0)
        return -1;
    const char *function = strstr(name, "::");
    if (function == NULL || strlen(name) >= sizeof path)
        return json_error(&member, error, "an operator with a \"schema\" is NAMESPACE::NAME");
    snprintf(path, sizeof path, "%.*s.%s", (int)(function - name), name, function + 2);
    cJSON_AddStringToObject(object, "operator", name);
    cJSON_AddStringToObject(object, "operator_path", path);
    cJSON_AddStringToObject(object, "function", function + 2);
    cJSON_AddStringToObject(object, "call_schema", schema->value->valuestring);
    cJSON_AddStringToObject(object, "call_beside", call->parameters[0].name);
    return 0;
}

static int add_call(struct operator_call *call, const struct json *schema, cJSON *values,
                    struct error *error) {
    const cJSON *given = cJSON_GetObjectItem(values, "given");
    struct texts texts = {0};
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToArray(cJSON_GetObjectItem(values, "calls"), object);
    int status = read_schema(call, schema, error);
    if (status == 0)
        status = add_parameters(call, given, &texts, error);
    if (status == 0)
        status = add_conditions(call, &texts, error);
    add_texts(&texts, object);
    if (status == 0)
        status = add_names(call, schema, object, error);
    return status < 0 ? -1
                      : add_result(call, cJSON_GetObjectItem(values, "returned"), object, error);
}

static int add_calls(struct operator_call *call, const struct json_document *document,
                     cJSON *values, struct error *error) {
    struct json root = json_root(document), calls, schema;
    if (json_require(&root, "calls", &calls, error) < 0 || json_is_array(&calls, error) < 0)
        return -1;
    for (int i = 0; i < json_count(&calls); i++) {
        call->pattern = json_at(&calls, i);
        call->count = 0;
        if (json_find(&call->pattern, "schema", &schema) &&
            (json_require(&call->pattern, "arguments", &call->arguments, error) < 0 ||
             add_call(call, &schema, values, error) < 0))
            return -1;
    }
    return 0;
}

int operator_calls_add(const struct export *export, cJSON *values, struct error *error) {
    struct operator_call *call = xcalloc(1, sizeof *call);
    struct json_document document;
    char path[PATH_SIZE];
    int status = path_join(path, export->template->folder, CALLS_FILE, error);
    cJSON_AddArrayToObject(values, "calls");
    call->export = export;
    call->c = status == 0 ? expr_to_c_new(export->template, NULL, false, error) : NULL;
    call->python = call->c != NULL ? expr_to_python_new(export->template, "shape.", error) : NULL;
    status = call->python != NULL ? 0 : -1;
    if (status == 0 && path_exists(path)) {
        status = json_read(&document, path, error);
        if (status == 0) {
            status = add_calls(call, &document, values, error);
            json_release(&document);
        }
    }
    free(call->c);
    free(call->python);
    free(call);
    return status;
}
