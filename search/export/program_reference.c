/* reference.c for a reference that is a program, which it runs with the check's inputs; and for
   recorded answers, which it reads. */
#include "export/code.h"

#include "base/memory.h"

#include <string.h>

/* ---- the command ---- */

/* A word of the command; a file of the template's folder is one of the copy in the export. */
static int add_word(const struct export *export, const char *word, struct strbuf *text,
                    struct error *error) {
    const struct template *template = export->template;
    size_t length = strlen(template->folder);
    bool copied = strncmp(word, template->folder, length) == 0 && word[length] == '/';
    if (strpbrk(word, "'\n\\\"") != NULL)
        return error_input(error,
                           "%s: the reference's command has a word with a quote: an export cannot "
                           "run it",
                           template->document.file);
    strbuf_print(text, "%s'", text->used > 0 ? " " : "");
    if (copied)
        strbuf_print(text, "template/%s%s", template->name, word + length);
    else
        strbuf_print(text, "%s", word);
    strbuf_print(text, "'");
    return 0;
}

static int add_command(const struct export *export, cJSON *values, struct error *error) {
    const struct template *template = export->template;
    const struct baseline_command *command = &template->reference_program;
    struct strbuf text = {0}, quoted = {0};
    int status = 0;
    for (int i = 0; i < command->count && status == 0; i++)
        if (template->reference_python == NULL || i == 0 || i == 3)
            status = add_word(export, command->words[i], &text, error);
        else if (i == 1)
            status = add_word(export, "reference_runner.py", &text, error);
    strbuf_add_quoted(&quoted, text.used > 0 ? text.bytes : "");
    embedded_add_text(values, "command", &quoted);
    cJSON_AddStringToObject(values, "about",
                            template->reference_python != NULL
                                ? "a function in Python, which needs NumPy."
                                : "its own command.");
    strbuf_release(&text);
    return status;
}

/* ---- tensors ---- */

static void add_dtype(const struct code_writer *writer, const struct tensor *tensor,
                      struct strbuf *body) {
    char yes[NAME_SIZE], no[NAME_SIZE];
    snprintf(yes, sizeof yes, "\"%s\"", dtype_name(tensor->dtype));
    snprintf(no, sizeof no, "\"%s\"", dtype_name(tensor->other_dtype));
    code_add_choice(writer, tensor->dtype_when, yes, no, body);
}

/* "(const int64_t[]){shape->ROWS, shape->COLS}" copied to a member. */
static void add_layout(const struct code_writer *writer, const struct tensor *tensor, int array,
                       struct strbuf *body) {
    for (int i = 0; i < tensor->rank; i++) {
        strbuf_print(body, "    arrays[%d].extents[%d] = ", array, i);
        expr_to_c_add(writer->printer, tensor->shape[i], body);
        strbuf_print(body, ";\n");
    }
    for (int i = tensor->rank - 1; i >= 0; i--) {
        strbuf_print(body, "    arrays[%d].strides[%d] = ", array, i);
        if (i == tensor->rank - 1)
            strbuf_print(body, "1;\n");
        else if (tensor->strided)
            strbuf_print(body, "%s;\n", writer->printer->symbols.slots[tensor->strides[i]]);
        else
            strbuf_print(body, "arrays[%d].strides[%d] * arrays[%d].extents[%d];\n", array, i + 1,
                         array, i + 1);
    }
}

/* Workspaces, and what only setup takes, are none of the reference's. */
static bool is_array(const struct tensor *tensor) {
    return tensor->role != ROLE_WORKSPACE && tensor->role != ROLE_SETUP;
}

/* The function that describes the arrays of a shape. Returns their number. */
static int add_plan(struct code_writer *writer) {
    static const char *const parameters[] = {"shape", NULL};
    const struct template *template = writer->template;
    struct strbuf opening = {0}, body = {0};
    int array = 0, index = 0;
    strbuf_print(&opening,
                 "static void plan(const struct shape *shape, struct array *arrays)\n{\n");
    for (int t = 0; t < template->tensor_count; t++) {
        const struct tensor *tensor = &template->tensors[t];
        char name[ARRAY_NAME_SIZE];
        if (!is_array(tensor))
            continue;
        strbuf_print(&body, "    arrays[%d] = (struct array){\"%s\", ", array,
                     template_array_name(template, t, name));
        add_dtype(writer, tensor, &body);
        strbuf_print(&body, ", %d, ", tensor->role == ROLE_INPUT);
        code_add_choice(writer, tensor->when, "1", "0", &body);
        strbuf_print(&body, ", %d, %d, {0}, {0}};\n", index++, tensor->rank);
        add_layout(writer, tensor, array++, &body);
    }
    code_add_function(writer->printer, &opening, parameters, &body, writer->text);
    return array;
}

/* The shape, from check.c's dimensions, and its arrays. */
static void add_shape_and_arrays(const struct export *export, struct strbuf *text) {
    const struct template *template = export->template;
    strbuf_print(text, "    struct array arrays[ARRAYS];\n    struct shape shape;\n");
    for (int d = 0; d < template->dimension_count; d++) {
        const char *name = template->dimensions[d].name;
        if (template->dimensions[d].real)
            strbuf_print(text,
                         "    const uint32_t bits_%d = (uint32_t)dimensions[%d];\n"
                         "    memcpy(&shape.%s, &bits_%d, sizeof shape.%s);\n",
                         d, d, name, d, name);
        else
            strbuf_print(text, "    shape.%s = dimensions[%d];\n", name, d);
    }
    strbuf_print(text, "    plan(&shape, arrays);\n    (void)fill_random, (void)is_i64;\n");
}

/* The function that check.c calls. */
static void add_entry(const struct export *export, cJSON *values) {
    const struct template *template = export->template;
    char function[SYMBOL_SIZE];
    struct strbuf text = {0}, format = {0}, arguments = {0};
    strbuf_print(&text,
                 "void %s(const int64_t *dimensions, void *const *tensors)\n{\n"
                 "    char text[2048];\n",
                 cpu_reference_function(export, function));
    add_shape_and_arrays(export, &text);
    for (int d = 0; d < template->dimension_count; d++) {
        const struct dimension *dimension = &template->dimensions[d];
        strbuf_print(&format, "%s\\\"%s\\\": %s", d > 0 ? ", " : "", dimension->name,
                     dimension->real ? "%.9g" : "%lld");
        strbuf_print(&arguments, ", %sshape.%s", dimension->real ? "" : "(long long)",
                     dimension->name);
    }
    for (int s = 0; s < template->scalar_count; s++) {
        const struct scalar *scalar = &template->scalars[s];
        const bool real = scalar->dtype == DTYPE_F32 || scalar->dtype == DTYPE_F64;
        strbuf_print(&format, "%s\\\"%s\\\": %s", template->dimension_count + s > 0 ? ", " : "",
                     scalar->name, real ? "%.17g" : "%lld");
        strbuf_print(&arguments, ", (%s)*(const %s *)tensors[ARRAYS + %d]",
                     real ? "double" : "long long", scalar_type(scalar), s);
    }
    strbuf_add(&format, "", 0);
    strbuf_add(&arguments, "", 0);
    strbuf_print(&text,
                 "    snprintf(text, sizeof text, \"%s\"%s);\n"
                 "    strcpy(folder, \"/dev/shm/evotile-check-XXXXXX\");\n"
                 "    if (mkdtemp(folder) == NULL)\n"
                 "        strcpy(folder, \"/tmp/evotile-check-XXXXXX\");\n"
                 "    if (access(folder, W_OK) != 0 && mkdtemp(folder) == NULL)\n"
                 "        give_up(folder, \"cannot be made\");\n"
                 "    for (int i = 0; i < ARRAYS; i++)\n"
                 "        if (arrays[i].is_input && arrays[i].present)\n"
                 "            write_input(&arrays[i], tensors[arrays[i].index]);\n"
                 "    write_question(arrays, text);\n    run_program();\n"
                 "    for (int i = 0; i < ARRAYS; i++)\n"
                 "        if (!arrays[i].is_input && arrays[i].present)\n"
                 "            read_output(&arrays[i], open_array(&arrays[i], \"rb\"), 8,\n"
                 "                        tensors[arrays[i].index]);\n"
                 "    remove_files(arrays);\n}\n",
                 format.bytes, arguments.bytes);
    embedded_add_text(values, "entry", &text);
    strbuf_release(&format);
    strbuf_release(&arguments);
}

static void add_members(const struct export *export, cJSON *values) {
    struct strbuf members = {0};
    for (int d = 0; d < export->template->dimension_count; d++)
        strbuf_print(&members, "    %s %s;\n",
                     export->template->dimensions[d].real ? "float" : "int64_t",
                     export->template->dimensions[d].name);
    embedded_add_text(values, "members", &members);
}

/* ---- recorded answers ---- */

/* The table of what was recorded, and how one is found. */
static void add_answers(const struct export *export, struct strbuf *text) {
    const struct template *template = export->template;
    strbuf_print(text,
                 "/* What was recorded: for each answer the dimensions, and the files in the order "
                 "of the arrays. */\nstatic const struct {\n    int64_t dimensions[%d];\n"
                 "    const char *files[ARRAYS];\n} answers[] = {\n",
                 template->dimension_count > 0 ? template->dimension_count : 1);
    for (int i = 0; i < template->answer_count; i++) {
        const struct recorded_answer *answer = &template->answers[i];
        strbuf_print(text, "    {{");
        for (int d = 0; d < template->dimension_count; d++)
            strbuf_print(text, "%s%lld", d > 0 ? ", " : "", (long long)answer->shape.values[d]);
        strbuf_print(text, "}, {");
        const char *comma = "";
        for (int t = 0; t < template->tensor_count; t++)
            if (is_array(&template->tensors[t])) {
                strbuf_print(text, "%s", comma);
                if (answer->files[t] != NULL)
                    strbuf_add_quoted(text, answer->files[t]);
                else
                    strbuf_print(text, "NULL");
                comma = ", ";
            }
        strbuf_print(text, "}},\n");
    }
    strbuf_print(
        text,
        "};\nenum { ANSWERS = sizeof answers / sizeof *answers };\n\n"
        "/* The answer to a shape behind `before`, or -1. */\n"
        "static int next_answer(const int64_t *dimensions, int before)\n{\n"
        "    for (int i = before + 1; i < ANSWERS; i++)\n"
        "        if (memcmp(answers[i].dimensions, dimensions, %d * sizeof *dimensions) == "
        "0)\n            return i;\n    return -1;\n}\n\n",
        template->dimension_count);
}

/* The functions that check.c calls: for the inputs, and for their answer, which is known by them.
 */
static void add_recorded_entries(const struct export *export, cJSON *values) {
    char function[SYMBOL_SIZE];
    struct strbuf text = {0};
    add_answers(export, &text);
    strbuf_print(&text,
                 "void %s_recorded_inputs(const int64_t *dimensions, uint64_t seed, void *const "
                 "*tensors)\n{\n    int one = next_answer(dimensions, -1);\n",
                 export->name);
    add_shape_and_arrays(export, &text);
    strbuf_print(
        &text,
        "    if (one < 0)\n        give_up(\"this shape\", \"has no recorded answer\");\n"
        "    for (int skipped = (int)(seed %% 3); skipped > 0; skipped--)\n"
        "        one = next_answer(dimensions, one) < 0 ? next_answer(dimensions, -1)\n"
        "                                              : next_answer(dimensions, one);\n"
        "    for (int i = 0; i < ARRAYS; i++)\n"
        "        if (arrays[i].is_input && arrays[i].present)\n"
        "            read_input(&arrays[i], open_file(answers[one].files[i], \"rb\"),\n"
        "                       tensors[arrays[i].index]);\n}\n\n"
        "static int is_answer(const struct array *arrays, int one, void *const *tensors)\n{\n"
        "    int same = 1;\n    for (int i = 0; i < ARRAYS; i++)\n"
        "        if (arrays[i].is_input && arrays[i].present) {\n"
        "            const struct array *array = &arrays[i];\n"
        "            const int64_t bytes = (position(array, count(array) - 1) + 1) *\n"
        "                                  find_dtype(array->dtype)->bytes;\n"
        "            char *elements = calloc(1, (size_t)bytes);\n"
        "            if (elements == NULL)\n"
        "                give_up(array->name, \"no memory is left\");\n"
        "            read_input(array, open_file(answers[one].files[i], \"rb\"), elements);\n"
        "            same &= memcmp(elements, tensors[array->index], (size_t)bytes) == 0;\n"
        "            free(elements);\n        }\n    return same;\n}\n\n"
        "void %s(const int64_t *dimensions, void *const *tensors)\n{\n"
        "    int one = next_answer(dimensions, -1);\n",
        cpu_reference_function(export, function));
    add_shape_and_arrays(export, &text);
    strbuf_print(&text, "    while (one >= 0 && !is_answer(arrays, one, tensors))\n"
                        "        one = next_answer(dimensions, one);\n"
                        "    if (one < 0)\n"
                        "        give_up(\"these inputs\", \"have no recorded answer\");\n"
                        "    for (int i = 0; i < ARRAYS; i++)\n"
                        "        if (!arrays[i].is_input && arrays[i].present)\n"
                        "            read_output(&arrays[i], open_file(answers[one].files[i], "
                        "\"rb\"), 2,\n                        tensors[arrays[i].index]);\n}\n");
    embedded_add_text(values, "entry", &text);
}

int write_program_reference(const struct export *export, struct strbuf *text, struct error *error) {
    struct code_writer writer;
    struct strbuf function = {0};
    cJSON *values = embedded_values(export);
    const bool program = export->template->reference_kind == REFERENCE_PROGRAM;
    cJSON_AddBoolToObject(values, "program", program);
    if ((program && add_command(export, values, error) < 0) ||
        code_writer_init(&writer, export, 0, &function, error) < 0) {
        cJSON_Delete(values);
        return -1;
    }
    cJSON_AddNumberToObject(values, "arrays", add_plan(&writer));
    code_writer_release(&writer);
    code_add_arithmetic(function.bytes, values);
    embedded_add_text(values, "plan", &function);
    add_members(export, values);
    (program ? add_entry : add_recorded_entries)(export, values);
    embedded_fill(EMBEDDED_PROGRAM_REFERENCE, values, text);
    return 0;
}

int write_reference_runner(const struct export *export, struct strbuf *text, struct error *error) {
    (void)error;
    const char *runner = export->template->reference_program.words[2];
    strbuf_add(text, runner, strlen(runner));
    return 0;
}
