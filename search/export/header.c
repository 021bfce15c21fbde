/* NAME.h, the launcher's interface and manual: fills header.h.in. */
#include "device/device.h"
#include "export/dispatch.h"

#include <string.h>

static cJSON *add_object(cJSON *list) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToArray(list, object);
    return object;
}

/* The name of a variant's solution after `separator`; nothing if the export has one solution. */
static void add_solution(const struct export *export, int variant, const char *separator,
                         struct strbuf *text) {
    if (export->solution_count > 1)
        strbuf_print(text, "%s%s", separator, variant_template(export, variant)->solution);
}

/* What is computed: of several solutions, as the problem says it. */
static void add_about(const struct export *export, cJSON *values) {
    struct json root = json_root(&export->template->document), about;
    const char *words = export->template->about;
    struct strbuf text = {0};
    struct error ignored;
    if ((export->solution_count > 1 || export->part_count > 0) && json_find(&root, "about", &about))
        json_string(&about, &words, &ignored);
    strbuf_add_wrapped(&text, " * ", words);
    embedded_add_text(values, "about", &text);
}

static void add_cases(const struct export *export, cJSON *values) {
    cJSON *list = cJSON_AddArrayToObject(values, "cases");
    for (int c = 0; c < export->template->case_count; c++) {
        struct strbuf line = {0};
        strbuf_print(&line, " *     %-32s %8.2f us", export->checked[c].name,
                     export->checked[c].record->warm.p50_us);
        add_solution(export, export->request->cases[c].variant, ", ", &line);
        embedded_add_text(add_object(list), "line", &line);
    }
}

static void add_ranges(const struct export *export, cJSON *values) {
    cJSON *list = cJSON_AddArrayToObject(values, "ranges");
    for (int variant = 0; variant < export->request->variant_count; variant++) {
        struct strbuf words = {0};
        struct strbuf line = {0};
        strbuf_add(&words, "", 0);
        add_solution(export, variant, "", &words);
        struct strbuf specialised = {0};
        variant_specialised(export, variant, &specialised);
        strbuf_print(&words, "%s%s", words.used > 0 && specialised.used > 0 ? ", " : "",
                     specialised.bytes);
        strbuf_release(&specialised);
        strbuf_print(&words, "%s", words.used > 0 ? ": " : "");
        variant_verified(export, variant, &words);
        strbuf_add_wrapped(&line, " *     ", words.bytes);
        embedded_add_text(add_object(list), "line", &line);
        strbuf_release(&words);
    }
}

/* What the variants passed; those of one trial have the same line. */
static void add_checks(const struct export_request *request, cJSON *values) {
    cJSON *list = cJSON_AddArrayToObject(values, "checks");
    for (int v = 0; v < request->variant_count; v++) {
        const struct export_variant *variant = &request->variants[v];
        struct strbuf words = {0}, line = {0};
        if (v > 0 && strcmp(variant->checks, variant[-1].checks) == 0)
            continue;
        if (request->variant_count > 1)
            strbuf_print(&words, "from variant %d: ", v + 1);
        strbuf_print(&words, "%s", variant->checks);
        if (*variant->uses != '\0')
            strbuf_print(&words, "; uses %s", variant->uses);
        strbuf_add_wrapped(&line, " *     ", words.bytes);
        embedded_add_text(add_object(list), "line", &line);
        strbuf_release(&words);
    }
}

static void add_dimensions(const struct template *template, cJSON *values) {
    cJSON *list = cJSON_AddArrayToObject(values, "dimensions");
    for (int d = 0; d < template->dimension_count; d++) {
        const struct dimension *dimension = &template->dimensions[d];
        cJSON *object = add_object(list);
        struct strbuf about = {0};
        strbuf_add_comment(&about, dimension->about, strlen(dimension->about));
        cJSON_AddStringToObject(object, "type", dimension->real ? "float" : "int64_t");
        cJSON_AddStringToObject(object, "dimension", dimension->name);
        embedded_add_text(object, "about", &about);
    }
}

static const char *derived_text(const struct template *template, int slot) {
    int d = 0;
    while (template->space->derived[d].slot != slot)
        d++;
    return expression_text(template->space->derived[d].expression);
}

/* The strides of a packed tensor, as expressions. They follow all addresses in the struct, so that
   an initialiser may omit them. */
static void add_strides(const struct template *template, cJSON *values) {
    cJSON *list = cJSON_AddArrayToObject(values, "strides");
    for (int t = 0; t < template->tensor_count; t++) {
        const struct tensor *tensor = &template->tensors[t];
        struct strbuf packed = {0};
        if (!tensor->strided || !is_parameter(tensor))
            continue;
        cJSON *object = add_object(list);
        for (int i = 0; i < tensor->rank - 1; i++)
            strbuf_print(&packed, "%s%s", i > 0 ? ", " : "",
                         derived_text(template, tensor->strides[i]));
        cJSON_AddStringToObject(object, "tensor", tensor->name);
        cJSON_AddNumberToObject(object, "count", tensor->rank - 1);
        embedded_add_text(object, "packed", &packed);
    }
    cJSON_AddBoolToObject(values, "any_strides", cJSON_GetArraySize(list) > 0);
}

/* "; read and written" */
static void add_before(const struct template *template, int index, struct strbuf *about) {
    const struct tensor *tensor = &template->tensors[index];
    if (tensor->before > 0)
        strbuf_print(about, "; read and written");
    if (tensor->before == BEFORE_ZEROS)
        strbuf_print(about, "; added to: clear it before each call");
    if (template_symbol(template, &template->launches, index) != NULL)
        strbuf_print(about, "; each call copies it to a variable");
}

/* "f16 [B, H, S]; NULL unless LSE" */
static void add_tensors(const struct template *template, cJSON *values) {
    cJSON *list = cJSON_AddArrayToObject(values, "tensors");
    for (int t = 0; t < template->tensor_count; t++) {
        const struct tensor *tensor = &template->tensors[t];
        struct strbuf about = {0};
        if (!is_parameter(tensor))
            continue;
        cJSON *object = add_object(list);
        if (tensor->dtype_when != NULL)
            strbuf_print(&about, "%s if %s, else %s", dtype_name(tensor->dtype),
                         expression_text(tensor->dtype_when), dtype_name(tensor->other_dtype));
        else
            strbuf_print(&about, "%s", dtype_name(tensor->dtype));
        for (int i = 0; i < tensor->rank; i++)
            strbuf_print(&about, "%s%s", i == 0 ? " [" : ", ", expression_text(tensor->shape[i]));
        strbuf_print(&about, "]%s%s", tensor->when != NULL ? "; NULL unless " : "",
                     tensor->when != NULL ? expression_text(tensor->when) : "");
        if (tensor->alignment != ALIGNMENT_DEFAULT)
            strbuf_print(&about, "; aligned to %d byte%s", tensor->alignment,
                         tensor->alignment == 1 ? "" : "s");
        add_before(template, t, &about);
        cJSON_AddStringToObject(object, "type", tensor->role == ROLE_INPUT ? "const void" : "void");
        cJSON_AddStringToObject(object, "tensor", tensor->name);
        embedded_add_text(object, "about", &about);
    }
}

/* "int32_t SHIFT; the first column" */
static void add_scalars(const struct template *template, cJSON *values) {
    cJSON *list = cJSON_AddArrayToObject(values, "scalars");
    for (int s = 0; s < template->scalar_count; s++) {
        const struct scalar *scalar = &template->scalars[s];
        struct strbuf about = {0};
        cJSON *object = add_object(list);
        strbuf_add_comment(&about, scalar->about, strlen(scalar->about));
        cJSON_AddStringToObject(object, "type", scalar_type(scalar));
        cJSON_AddStringToObject(object, "scalar", scalar->name);
        embedded_add_text(object, "about", &about);
    }
    cJSON_AddBoolToObject(values, "any_scalars", template->scalar_count > 0);
}

bool persisting_tensors(const struct export *export, struct strbuf *names) {
    const char *known[TENSORS_MAX];
    int count = 0;
    for (int c = 0; c < export->template->case_count; c++) {
        const struct launch_plan *plan = &export->checked[c].plan;
        for (int i = 0; i < plan->launch_count; i++) {
            const int tensor = planned_launch(plan, i).window_tensor;
            int same = 0;
            if (tensor < 0)
                continue;
            const char *name = plan->template->tensors[tensor].name;
            while (same < count && strcmp(known[same], name) != 0)
                same++;
            if (same < count || count == TENSORS_MAX)
                continue;
            known[count++] = name;
            strbuf_print(names, "%s%s", count > 1 ? ", " : "", name);
        }
    }
    return count > 0;
}

/* What callers see: the structs' members. */
static void add_interface(const struct template *template, cJSON *values) {
    add_dimensions(template, values);
    add_tensors(template, values);
    add_strides(template, values);
    add_scalars(template, values);
}

char *header_interface(const struct template *template) {
    cJSON *values = cJSON_CreateObject();
    add_interface(template, values);
    return json_print_line(values);
}

/* What holds for the kernels of one architecture. */
static void add_figures(const struct export *export, cJSON *values) {
    const struct export_request *request = export->request;
    cJSON_AddStringToObject(values, "device", request->setting->device->name);
    cJSON_AddStringToObject(values, "kind", request->predicted ? "predicted" : "measured");
    cJSON_AddBoolToObject(values, "default_genome", has_default_reference(export));
    add_itself(export, values);
    add_cases(export, values);
    add_ranges(export, values);
    add_checks(request, values);
    dispatch_add_comment(export, values);
    struct strbuf persisting = {0};
    cJSON_AddBoolToObject(values, "any_persisting", persisting_tensors(export, &persisting));
    if (persisting.used > 0)
        embedded_add_text(values, "persisting", &persisting);
}

int write_header(const struct export *export, struct strbuf *text, struct error *error) {
    const struct export_request *request = export->request;
    cJSON *values = embedded_values(export);
    (void)error;
    add_about(export, values);
    add_parts(export, values);
    cJSON_AddBoolToObject(values, "several", request->variant_count > 1);
    add_interface(export->template, values);
    cJSON_AddBoolToObject(values, "variables", template_has_symbols(export->template));
    if (export->part_count == 0)
        add_figures(export, values);
    embedded_fill(EMBEDDED_HEADER, values, text);
    return 0;
}
