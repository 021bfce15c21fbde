/* NAME_call.h and NAME_call.c, which call the launcher with a framework's tensors: fills call.h.in
   and call.c.in. */
#include "export/binding.h"
#include "export/code.h"

#include <ctype.h>
#include <string.h>

static void add_dtype_name(const struct export *export, enum dtype dtype, struct strbuf *text) {
    add_upper_name(export, text);
    strbuf_print(text, "_");
    for (const char *at = dtype_name(dtype); *at != '\0'; at++)
        strbuf_print(text, "%c", toupper((unsigned char)*at));
}

static void add_dtypes(cJSON *values) {
    cJSON *list = cJSON_AddArrayToObject(values, "dtypes");
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        cJSON *object = cJSON_CreateObject();
        struct strbuf upper = {0};
        for (const char *at = dtype_name(dtype); *at != '\0'; at++)
            strbuf_print(&upper, "%c", toupper((unsigned char)*at));
        cJSON_AddItemToArray(list, object);
        cJSON_AddStringToObject(object, "dtype", dtype_name(dtype));
        cJSON_AddNumberToObject(object, "number", dtype + 1);
        cJSON_AddNumberToObject(object, "bytes", dtype_bytes(dtype));
        embedded_add_text(object, "upper", &upper);
    }
}

static void add_scalars(const struct template *template, cJSON *values) {
    cJSON *list = cJSON_AddArrayToObject(values, "scalars");
    for (int s = 0; s < template->scalar_count; s++) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddItemToArray(list, object);
        cJSON_AddStringToObject(object, "type", scalar_type(&template->scalars[s]));
        cJSON_AddStringToObject(object, "scalar", template->scalars[s].name);
    }
}

int binding_add_call(const struct export *export, const struct binding *binding, cJSON *values,
                     struct error *error) {
    const struct template *template = export->template;
    int rank_max = 1;
    for (int t = 0; t < template->tensor_count; t++)
        if (is_parameter(&template->tensors[t]) && template->tensors[t].rank > rank_max)
            rank_max = template->tensors[t].rank;
    cJSON_AddNumberToObject(values, "rank_max", rank_max);
    add_dtypes(values);
    add_scalars(template, values);
    return binding_add(binding, values, error);
}

int write_call_header(const struct export *export, struct strbuf *text, struct error *error) {
    struct binding binding;
    cJSON *values = embedded_values(export);
    binding_init(&binding, export->template);
    if (binding_add_call(export, &binding, values, error) < 0) {
        cJSON_Delete(values);
        return -1;
    }
    embedded_fill(EMBEDDED_CALL_HEADER, values, text);
    return 0;
}

/* ---- NAME_call_read ---- */

/* Of a dimension that the caller gives: the default where it is left to the others. */
static void add_default(const struct code_writer *writer, int d, struct strbuf *body) {
    const struct dimension *dimension = &writer->template->dimensions[d];
    int64_t value;
    if (dimension->default_value != NULL &&
        expr_to_c_constant(writer->printer, dimension->default_value, &value))
        return;
    strbuf_print(body, "    if (");
    if (dimension->real)
        strbuf_print(body, "isnan(shape->%s))\n", dimension->name);
    else {
        strbuf_print(body, "shape->%s == ", dimension->name);
        add_upper_name(writer->export, body);
        strbuf_print(body, "_DEFAULT)\n");
    }
    if (dimension->default_value == NULL) {
        strbuf_print(body, "        return refuse(call, ");
        add_upper_name(writer->export, body);
        strbuf_print(body, "_NO_ARGUMENT, \"%s is missing\");\n", dimension->name);
        return;
    }
    strbuf_print(body, "        shape->%s = ", dimension->name);
    expr_to_c_add(writer->printer, dimension->default_value, body);
    strbuf_print(body, ";\n");
}

/* Ranks first, since a dimension is read from an extent that must be there. */
static void add_dimensions(const struct code_writer *writer, const struct binding *binding,
                           cJSON *values) {
    const struct template *template = writer->template;
    struct strbuf body = {0};
    for (int t = 0; t < template->tensor_count; t++)
        if (is_given(&template->tensors[t]) && template->tensors[t].when == NULL)
            strbuf_print(&body,
                         "    if (status == 0)\n"
                         "        status = check_rank(call, \"%s\", &call->%s, %d);\n",
                         template->tensors[t].name, template->tensors[t].name,
                         template->tensors[t].rank);
    strbuf_print(&body, "    if (status != 0)\n        return status;\n");
    for (int d = 0; d < template->dimension_count; d++) {
        const char *name = template->dimensions[d].name;
        const struct tensor *tensor = &template->tensors[binding->dimensions[d].tensor];
        if (binding->dimensions[d].source == FROM_CALLER)
            continue;
        strbuf_print(&body, "    shape->%s = call->%s.", name, tensor->name);
        if (binding->dimensions[d].source == FROM_EXTENT)
            strbuf_print(&body, "extents[%d]", binding->dimensions[d].axis);
        else {
            const bool presence = binding->dimensions[d].source == FROM_PRESENCE;
            strbuf_print(&body, "dtype %s ", presence ? "!=" : "==");
            if (presence) {
                add_upper_name(writer->export, &body);
                strbuf_print(&body, "_NO_DTYPE");
            } else
                add_dtype_name(writer->export, tensor->dtype, &body);
        }
        strbuf_print(&body, ";\n");
    }
    for (int d = 0; d < template->dimension_count; d++)
        if (binding->dimensions[d].source == FROM_CALLER)
            add_default(writer, d, &body);
    embedded_add_text(values, "dimensions", &body);
}

/* "B=%lld, H=%lld" and ", (long long)shape->B, ..." */
static void add_shape_format(const struct template *template, cJSON *values) {
    struct strbuf format = {0}, list = {0};
    for (int d = 0; d < template->dimension_count; d++) {
        const struct dimension *dimension = &template->dimensions[d];
        strbuf_print(&format, "%s%s=%s", d > 0 ? "," : "", dimension->name,
                     dimension->real ? "%g" : "%lld");
        strbuf_print(&list, ",\n                      (%s)shape->%s",
                     dimension->real ? "double" : "long long", dimension->name);
    }
    embedded_add_text(values, "shape_format", &format);
    embedded_add_text(values, "shape_values", &list);
}

static void add_dtype(const struct code_writer *writer, const struct tensor *tensor,
                      struct strbuf *text) {
    struct strbuf yes = {0}, no = {0};
    add_dtype_name(writer->export, tensor->dtype, &yes);
    add_dtype_name(writer->export, tensor->dtype_when != NULL ? tensor->other_dtype : tensor->dtype,
                   &no);
    if (tensor->dtype_when != NULL)
        code_add_choice(writer, tensor->dtype_when, yes.bytes, no.bytes, text);
    else
        strbuf_print(text, "%s", yes.bytes);
    strbuf_release(&yes);
    strbuf_release(&no);
}

/* ", (const int64_t[]){shape->B, 64}, (const int64_t[]){Q_ROW}, 2, 16": extents, the usual strides
   and the rank. */
static void add_layout(const struct code_writer *writer, const struct tensor *tensor,
                       struct strbuf *body) {
    strbuf_print(body, ",\n                             ");
    code_add_list(writer, tensor->shape, tensor->rank, body);
    strbuf_print(body, ",\n                             ");
    if (tensor->strided)
        strbuf_print(body, "(const int64_t[]){");
    for (int i = 0; tensor->strided && i < tensor->rank - 1; i++)
        strbuf_print(body, "%s%s", i > 0 ? ", " : "",
                     writer->printer->symbols.slots[tensor->strides[i]]);
    strbuf_print(body, "%s, %d", tensor->strided ? "}" : "NULL", tensor->rank);
}

static void add_given(const struct code_writer *writer, const struct tensor *tensor,
                      struct strbuf *body) {
    strbuf_print(body, "    if (status == 0)\n        status = ");
    if (tensor->when != NULL) {
        strbuf_print(body, "!(");
        expr_to_c_add(writer->printer, tensor->when, body);
        strbuf_print(body,
                     ") ? check_absent(call, \"%s\", &call->%s)\n                 : ", tensor->name,
                     tensor->name);
    }
    strbuf_print(body, "check_given(call, \"%s\", &call->%s, ", tensor->name, tensor->name);
    add_dtype(writer, tensor, body);
    add_layout(writer, tensor, body);
    strbuf_print(body, ", %d, %d);\n", tensor->alignment, is_in_place(tensor));
}

static void add_result(const struct code_writer *writer, int index, struct strbuf *body) {
    const struct tensor *tensor = &writer->template->tensors[index];
    const int like = order_tensor(writer->template, index);
    code_add_guard(writer, tensor->when, body);
    strbuf_print(body, "\n        describe(&call->%s, ", tensor->name);
    add_dtype(writer, tensor, body);
    add_layout(writer, tensor, body);
    if (like >= 0)
        strbuf_print(body, ", &call->%s);\n", writer->template->tensors[like].name);
    else
        strbuf_print(body, ", NULL);\n");
    if (tensor->when == NULL)
        return;
    strbuf_print(body, "    else if (status == 0)\n        describe_none(&call->%s, ",
                 tensor->name);
    add_dtype(writer, tensor, body);
    strbuf_print(body, ");\n");
}

static void add_tensors(struct code_writer *writer) {
    static const char *const parameters[] = {"shape", NULL};
    const struct template *template = writer->template;
    struct strbuf opening = {0}, body = {0};
    strbuf_print(&opening,
                 "static int read_tensors(struct %s_call *call, const struct %s_shape *shape)\n{\n"
                 "    int status = 0;\n",
                 writer->export->name, writer->export->name);
    for (int t = 0; t < template->tensor_count; t++)
        if (is_given(&template->tensors[t]))
            add_given(writer, &template->tensors[t], &body);
    for (int t = 0; t < template->tensor_count; t++)
        if (is_parameter(&template->tensors[t]) && !is_given(&template->tensors[t]))
            add_result(writer, t, &body);
    strbuf_print(&body, "    return status;\n");
    code_add_function(writer->printer, &opening, parameters, &body, writer->text);
}

/* ---- NAME_call_init and NAME_call_launch ---- */

static void add_defaults(const struct code_writer *writer, const struct binding *binding,
                         cJSON *values) {
    const struct template *template = writer->template;
    struct strbuf body = {0};
    strbuf_add(&body, "", 0);
    for (int d = 0; d < template->dimension_count; d++) {
        const struct dimension *dimension = &template->dimensions[d];
        int64_t value;
        const bool known = dimension->default_value != NULL &&
                           expr_to_c_constant(writer->printer, dimension->default_value, &value);
        if (binding->dimensions[d].source != FROM_CALLER || (known && value == 0))
            continue;
        strbuf_print(&body, "    call->shape.%s = ", dimension->name);
        if (known && dimension->real)
            add_real_literal(dimension_real(value), &body);
        else if (known)
            strbuf_print(&body, "%lld", (long long)value);
        else if (dimension->real)
            strbuf_print(&body, "NAN");
        else {
            add_upper_name(writer->export, &body);
            strbuf_print(&body, "_DEFAULT");
        }
        strbuf_print(&body, ";\n");
    }
    embedded_add_text(values, "defaults", &body);
}

static void add_launch(const struct template *template, cJSON *values) {
    bool optional = false, optional_result = false, strides = false, zeroed = false;
    struct strbuf body = {0};
    for (int t = 0; t < template->tensor_count; t++) {
        const struct tensor *tensor = &template->tensors[t];
        if (!is_parameter(tensor))
            continue;
        strbuf_print(&body, "    tensors.%s = call->%s.data;\n", tensor->name, tensor->name);
        if (tensor->strided)
            strbuf_print(&body, "    give_strides(tensors.%s_strides, %d, &call->%s);\n",
                         tensor->name, tensor->rank - 1, tensor->name);
        strides = strides || tensor->strided;
        optional = optional || (is_given(tensor) && tensor->when != NULL);
        optional_result = optional_result || (!is_given(tensor) && tensor->when != NULL);
        if (tensor->before != BEFORE_ZEROS)
            continue;
        zeroed = true;
        strbuf_print(&body, "    if (status == 0)\n        status = clear(&call->%s, stream);\n",
                     tensor->name);
    }
    for (int s = 0; s < template->scalar_count; s++)
        strbuf_print(&body, "    tensors.%s = call->%s;\n", template->scalars[s].name,
                     template->scalars[s].name);
    if (zeroed)
        strbuf_print(&body, "    if (status != 0)\n        return status;\n");
    embedded_add_text(values, "launch", &body);
    cJSON_AddBoolToObject(values, "any_optional", optional);
    cJSON_AddBoolToObject(values, "any_optional_result", optional_result);
    cJSON_AddBoolToObject(values, "any_strides", strides);
    cJSON_AddBoolToObject(values, "any_zeroed", zeroed);
}

int write_call(const struct export *export, struct strbuf *text, struct error *error) {
    struct binding binding;
    struct code_writer writer;
    struct strbuf functions = {0};
    cJSON *values = embedded_values(export);
    binding_init(&binding, export->template);
    if (code_writer_init(&writer, export, 0, &functions, error) < 0 ||
        binding_add_call(export, &binding, values, error) < 0) {
        cJSON_Delete(values);
        return -1;
    }
    add_defaults(&writer, &binding, values);
    add_dimensions(&writer, &binding, values);
    add_tensors(&writer);
    add_shape_format(export->template, values);
    add_launch(export->template, values);
    struct strbuf code = {0};
    strbuf_print(&code, "%s%s", functions.bytes,
                 cJSON_GetStringValue(cJSON_GetObjectItem(values, "dimensions")));
    code_add_arithmetic(code.bytes, values);
    strbuf_release(&code);
    embedded_add_text(values, "tensors", &functions);
    code_writer_release(&writer);
    embedded_fill(EMBEDDED_CALL, values, text);
    return 0;
}
