/* What check.c needs for a shape that its user gives: the dimensions with their ranges and
   defaults, the tensors and the operations, for the holes of cases.h.in. */
#include "export/code.h"

#include <float.h>
#include <string.h>

/* "1 to 65535", "64 or 128", "at least 0" */
static void add_allowed(const struct dimension *dimension, struct strbuf *text) {
    char least[NAME_SIZE], most[NAME_SIZE];
    if (dimension->real) {
        dimension_print_real(dimension->least, least);
        dimension_print_real(dimension->most, most);
        if (dimension->most < FLT_MAX)
            strbuf_print(text, "%s to %s", least, most);
        else
            strbuf_print(text, "at least %s", least);
        return;
    }
    for (int i = 0; i < dimension->value_count; i++)
        strbuf_print(text, "%s%lld", i > 0 ? " or " : "", (long long)dimension->values[i]);
    if (dimension->value_count == 0)
        strbuf_print(text, "%lld to %lld", (long long)dimension->minimum,
                     (long long)dimension->maximum);
}

/* A row of the table `dimensions`: {"D", "64 or 128", 0, 1, 0, 0, 0, 2, (const int64_t[]){64, 128}}
 */
static void add_dimension(const struct dimension *dimension, bool specialised,
                          struct strbuf *text) {
    bool listed = dimension->value_count > 0;
    double least = listed            ? 0
                   : dimension->real ? (double)dimension->least
                                     : (double)dimension->minimum;
    double most = listed            ? 0
                  : dimension->real ? (double)dimension->most
                                    : (double)dimension->maximum;
    strbuf_print(text, "    {\"%s\", \"", dimension->name);
    add_allowed(dimension, text);
    strbuf_print(text, "\", %d, %d, %d, %.17g, %.17g, %d, ", dimension->real, specialised,
                 dimension->default_value != NULL, least, most, dimension->value_count);
    for (int i = 0; i < dimension->value_count; i++)
        strbuf_print(text, "%s%lld", i > 0 ? ", " : "(const int64_t[]){",
                     (long long)dimension->values[i]);
    strbuf_print(text, "%s},\n", dimension->value_count > 0 ? "}" : "NULL");
}

/* "    case 2:\n        return shape->H;": a real one gives the float's bits. */
static void add_default(const struct code_writer *writer, int d, struct strbuf *text) {
    if (writer->template->dimensions[d].default_value == NULL)
        return;
    strbuf_print(text, "    case %d:\n        return ", d);
    expr_to_c_add(writer->printer, writer->template->dimensions[d].default_value, text);
    strbuf_print(text, ";\n");
}

/* A number of a fill as a double: "(double)(shape->COLS - 1)". */
static void add_fill_number(const struct code_writer *writer, const struct declared_fill *fill,
                            int index, int less, struct strbuf *body) {
    if (fill->expressions[index] == NULL) {
        strbuf_print(body, "%.17g", fill->numbers[index] - less);
        return;
    }
    strbuf_print(body, "(double)(");
    expr_to_c_add(writer->printer, fill->expressions[index], body);
    strbuf_print(body, less != 0 ? " - %d)" : ")", less);
}

/* "{FILL, LEAST, MOST, FILE, OFFSET, BYTES}", as plan_fill computes it. */
static void add_fill_values(const struct code_writer *writer, const struct declared_fill *fill,
                            enum dtype dtype, enum dtype other, const struct expression *when,
                            struct strbuf *body) {
    const enum dtype dtypes[] = {dtype, other};
    char kinds[2][16];
    for (int i = 0; i < 2; i++) {
        bool whole = dtype_rounding(dtypes[i]) == 0;
        snprintf(kinds[i], sizeof kinds[i], "%d",
                 whole && fill->fill == FILL_UNIFORM  ? FILL_INTEGERS
                 : whole && fill->fill == FILL_SORTED ? FILL_SORTED_INTEGERS
                                                      : (int)fill->fill);
    }
    strbuf_print(body, "(struct fill){");
    code_add_choice(writer, when, kinds[0], kinds[1], body);
    strbuf_print(body, ", ");
    if (fill->fill == FILL_INTEGERS || fill->fill == FILL_SORTED_INTEGERS) {
        strbuf_print(body, "0, ");
        add_fill_number(writer, fill, 0, 1, body);
    } else {
        add_fill_number(writer, fill, 0, 0, body);
        strbuf_print(body, ", ");
        add_fill_number(writer, fill, 1, 0, body);
    }
    strbuf_print(body, ", ");
}

static void add_declared_fill(const struct code_writer *writer, int t, struct strbuf *body) {
    const struct tensor *tensor = &writer->template->tensors[t];
    if (tensor->role == ROLE_OUTPUT) {
        strbuf_print(body, "(struct fill){0, 0, 0, NULL, 0, 0}");
        return;
    }
    add_fill_values(writer, &tensor->fill, tensor->dtype, tensor->other_dtype, tensor->dtype_when,
                    body);
    add_fill_file(writer->export, t, body);
    strbuf_print(body, "}");
}

/* Assigns a scalar's fill to tensors[index]. */
static void add_scalar(const struct code_writer *writer, const struct scalar *scalar, int index,
                       struct strbuf *body) {
    strbuf_print(body,
                 "    tensors[%d] = plan_tensor(\"%s\", \"%s\", 0, 1, 1, (const int64_t[]){1}, "
                 "NULL,\n                             ",
                 index, scalar->name, dtype_name(scalar->dtype));
    add_fill_values(writer, &scalar->fill, scalar->dtype, scalar->dtype, NULL, body);
    strbuf_print(body, "NULL, 0, 0});\n");
}

/* Assigns the tensor's extent and fill to tensors[index]. */
static void add_tensor(const struct code_writer *writer, int t, int index, struct strbuf *body) {
    const struct tensor *tensor = &writer->template->tensors[t];
    char yes[16], no[16];
    snprintf(yes, sizeof yes, "\"%s\"", dtype_name(tensor->dtype));
    snprintf(no, sizeof no, "\"%s\"", dtype_name(tensor->other_dtype));
    strbuf_print(body, "    tensors[%d] = plan_tensor(\"%s\", ", index, tensor->name);
    code_add_choice(writer, tensor->dtype_when, yes, no, body);
    strbuf_print(body, ", %d, ", tensor->role == ROLE_OUTPUT);
    code_add_choice(writer, tensor->when, "1", "0", body);
    strbuf_print(body, ", %d,\n                             ", tensor->rank);
    code_add_list(writer, tensor->shape, tensor->rank, body);
    strbuf_print(body, ",\n                             ");
    for (int i = 0; tensor->strided && i < tensor->rank - 1; i++)
        strbuf_print(body, "%s%s", i > 0 ? ", " : "(const int64_t[]){",
                     writer->printer->symbols.slots[tensor->strides[i]]);
    strbuf_print(body, "%s,\n                             ",
                 tensor->strided && tensor->rank > 1 ? "}" : "NULL");
    add_declared_fill(writer, t, body);
    strbuf_print(body, ");\n");
}

static void add_tensors(const struct code_writer *writer) {
    static const char *const parameters[] = {"shape", "tensors", NULL};
    const struct template *template = writer->template;
    struct strbuf opening = {0}, body = {0};
    int index = 0;
    strbuf_print(&opening,
                 "static void plan_tensors(const struct %s_shape *shape, struct tensor *tensors)\n"
                 "{\n",
                 writer->export->name);
    strbuf_add(&body, "", 0);
    for (int t = 0; t < template->tensor_count; t++)
        if (is_parameter(&template->tensors[t]))
            add_tensor(writer, t, index++, &body);
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].of_output)
            add_tensor(writer, t, index++, &body);
    for (int m = 0; m < writer->export->magnitude_count; m++)
        strbuf_print(&body, "    tensors[%d] = (struct tensor)NO_TENSOR;\n", index++);
    for (int s = 0; s < template->scalar_count; s++)
        add_scalar(writer, &template->scalars[s], index++, &body);
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].role == ROLE_SETUP)
            add_tensor(writer, t, index++, &body);
    code_add_function(writer->printer, &opening, parameters, &body, writer->text);
}

static void add_functions(struct code_writer *writer, cJSON *values) {
    const struct template *template = writer->template;
    struct strbuf rows = {0}, defaults = {0}, opening = {0}, served = {0}, quoted = {0};
    for (int d = 0; d < template->dimension_count; d++) {
        add_dimension(&template->dimensions[d], is_specialised(writer->export, d), &rows);
        add_default(writer, d, &defaults);
    }
    add_tensors(writer);
    strbuf_print(&opening, "static double count_operations(const struct %s_shape *shape)\n{\n",
                 writer->export->name);
    code_add_operations(writer, &opening);
    strbuf_add(writer->text, defaults.bytes != NULL ? defaults.bytes : "", defaults.used);
    code_add_arithmetic(writer->text->bytes, values);
    writer->text->bytes[writer->text->used -= defaults.used] = '\0';
    add_served_ranges(writer->export, &served);
    strbuf_add_quoted(&quoted, served.bytes);
    strbuf_release(&served);
    embedded_add_text(values, "dimensions", &rows);
    embedded_add_text(values, "defaults", &defaults);
    embedded_add_text(values, "served", &quoted);
}

/* Where genes change the operations of a call, those of a shape that a user gives are the first
   variant's. */
static int count_with_genes(struct code_writer *writer, const struct export_variant *first,
                            struct error *error) {
    const struct export_variant any_shape = {.genome = first->genome, .case_index = -1};
    free(writer->printer);
    free(writer->double_printer);
    writer->printer = expr_to_c_new(writer->template, &any_shape, false, error);
    writer->double_printer = expr_to_c_new(writer->template, &any_shape, true, error);
    return writer->printer != NULL && writer->double_printer != NULL ? 0 : -1;
}

int add_shape_functions(const struct export *export, cJSON *values, struct error *error) {
    struct code_writer writer;
    struct strbuf functions = {0};
    if (code_writer_init(&writer, export, 0, &functions, error) < 0)
        return -1;
    if (minimised_counts_work(export->template->objective) &&
        count_with_genes(&writer, &export->request->variants[0], error) < 0) {
        code_writer_release(&writer);
        return -1;
    }
    add_functions(&writer, values);
    code_writer_release(&writer);
    functions.bytes[--functions.used] = '\0'; /* an empty line follows the hole */
    embedded_add_text(values, "functions", &functions);
    return 0;
}
