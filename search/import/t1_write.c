/* The launch of a T1 description, and the files of the template. */
#include "import/t1_internal.h"

#include "base/memory.h"
#include "base/path.h"
#include "base/strbuf.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SOURCE_MAX = 4 << 20, AXES = 3, KERNEL_TEXT_SIZE = 160 };
static const char *const axes[AXES] = {"X", "Y", "Z"};

/* ---- the launch ---- */

static int read_problem_size(struct importer *importer, struct error *error) {
    const cJSON *sizes = cJSON_GetObjectItemCaseSensitive(importer->kernel, "ProblemSize"), *item;
    struct python_value *items = python_heap_alloc(&importer->space.heap, AXES * sizeof *items);
    int count = 0;
    cJSON_ArrayForEach(item, sizes) {
        char *text = importer_expression(item);
        struct python *python = text != NULL && count < AXES ? python_parse(text, error) : NULL;
        int status = python == NULL ? -1
                                    : python_evaluate(python, NULL, &importer->space.heap,
                                                      &items[count++], error);
        free(text);
        python_free(python);
        if (status < 0)
            return error_input(error, "%s: ProblemSize is no list of one to three numbers",
                               importer->document->file);
    }
    importer->problem_sizes = (struct python_scope){
        .name = "ProblemSize", .value = {.type = PYTHON_LIST, .items = items, .count = count}};
    return 0;
}

/* Kernel Tuner's names of a block's extents, which a description without LocalSize means. */
static char *block_text(struct importer *importer, int axis) {
    static const char *const names[AXES] = {"block_size_x", "block_size_y", "block_size_z"};
    const cJSON *local = cJSON_GetObjectItemCaseSensitive(importer->kernel, "LocalSize");
    char *text = importer_expression(cJSON_GetObjectItemCaseSensitive(local, axes[axis]));
    for (int i = 0; local == NULL && text == NULL && i < importer->space.count; i++)
        if (strcmp(importer->space.parameters[i].original, names[axis]) == 0)
            text = xstrdup(names[axis]);
    return text != NULL ? text : xstrdup("1");
}

/* ceil(ProblemSize[axis] / product of the divisors): by GridDivX or, without it, the block. */
static char *divided_text(struct importer *importer, int axis, const char *block) {
    static const char *const keys[AXES] = {"GridDivX", "GridDivY", "GridDivZ"};
    const cJSON *divisors = cJSON_GetObjectItemCaseSensitive(importer->kernel, keys[axis]), *item;
    struct strbuf text = {0};
    if (axis >= importer->problem_sizes.value.count)
        return xstrdup("1");
    strbuf_print(&text, "ceil(ProblemSize[%d] / (1", axis);
    if (cJSON_IsArray(divisors)) {
        cJSON_ArrayForEach(item, divisors) {
            char *one = importer_expression(item);
            strbuf_print(&text, " * (%s)", one != NULL ? one : "1");
            free(one);
        }
    } else
        strbuf_print(&text, " * (%s)", block);
    strbuf_print(&text, "))");
    return text.bytes;
}

static char *grid_text(struct importer *importer, int axis, const char *block) {
    const cJSON *global = cJSON_GetObjectItemCaseSensitive(importer->kernel, "GlobalSize");
    const char *type = importer_text(importer->kernel, "GlobalSizeType");
    char *text = importer_expression(cJSON_GetObjectItemCaseSensitive(global, axes[axis])), *whole;
    if (text == NULL)
        return importer->problem_sizes.value.count > 0 ? divided_text(importer, axis, block)
                                                       : xstrdup("1");
    /* OpenCL and Vulkan count threads, CUDA blocks. */
    if (type == NULL || strcmp(type, "CUDA") == 0)
        return text;
    if (asprintf(&whole, "ceil((%s) / (%s))", text, block) < 0)
        BUG("out of memory");
    free(text);
    return whole;
}

static int add_extents(struct importer *importer, cJSON *launch, struct error *error) {
    cJSON *grid = cJSON_AddArrayToObject(launch, "grid");
    cJSON *block = cJSON_AddArrayToObject(launch, "block");
    char *printed = xmalloc(EXPRESSION_TEXT_MAX);
    int status = 0;
    for (int axis = 0; axis < AXES && status == 0; axis++) {
        char *of_block = block_text(importer, axis);
        char *of_grid = grid_text(importer, axis, of_block);
        status =
            import_number(&importer->space, of_block, &importer->problem_sizes, printed, error);
        if (status == 0)
            cJSON_AddItemToArray(block, cJSON_CreateString(printed));
        if (status == 0)
            status =
                import_number(&importer->space, of_grid, &importer->problem_sizes, printed, error);
        if (status == 0)
            cJSON_AddItemToArray(grid, cJSON_CreateString(printed));
        if (status < 0)
            error_prefix(error, "%s: %s of grid and block", importer->document->file, axes[axis]);
        free(of_block);
        free(of_grid);
    }
    free(printed);
    return status;
}

/* Bytes of dynamic shared memory, which parameters may decide. */
static int add_shared_memory(struct importer *importer, cJSON *launch, struct error *error) {
    char *text =
        importer_expression(cJSON_GetObjectItemCaseSensitive(importer->kernel, "SharedMemory"));
    char *printed = xmalloc(EXPRESSION_TEXT_MAX);
    int status = text == NULL ? 0
                              : import_number(&importer->space, text, &importer->problem_sizes,
                                              printed, error);
    if (text != NULL && status == 0)
        cJSON_AddStringToObject(launch, "smem", printed);
    if (status < 0)
        error_prefix(error, "%s: SharedMemory", importer->document->file);
    free(printed);
    free(text);
    return status;
}

static void add_compiler_options(struct importer *importer) {
    static const char *const allowed[] = {
        "--use_fast_math", "-use_fast_math", "--maxrregcount=", "-D", "-U",
        "--fmad=",         "-lineinfo",      "--std=c++"};
    const cJSON *options = cJSON_GetObjectItemCaseSensitive(importer->kernel, "CompilerOptions"),
                *item;
    cJSON *list = cJSON_AddArrayToObject(importer->template, "options");
    cJSON_ArrayForEach(item, options) {
        bool known = false;
        for (size_t i = 0; i < sizeof allowed / sizeof *allowed && cJSON_IsString(item); i++)
            known = known || strncmp(item->valuestring, allowed[i], strlen(allowed[i])) == 0;
        if (!known) {
            import_texts_add(&importer->space.notes, "the compiler option %s is left out",
                             cJSON_IsString(item) ? item->valuestring : "that is no text");
            continue;
        }
        cJSON *option = cJSON_CreateObject();
        cJSON_AddStringToObject(option, "option",
                                strcmp(item->valuestring, "-use_fast_math") == 0
                                    ? "--use_fast_math"
                                    : item->valuestring);
        cJSON_AddItemToArray(list, option);
    }
}

/* ---- the source ---- */

static char *read_source(struct importer *importer, struct error *error) {
    const char *named = importer_text(importer->kernel, "KernelFile");
    char *path = xmalloc(PATH_SIZE), *text = NULL;
    if (importer->options->kernel == NULL && named == NULL)
        error_input(error, "%s names no KernelFile: give the CUDA source behind it",
                    importer->document->file);
    else if (importer->options->kernel != NULL)
        text = path_read_file(importer->options->kernel, SOURCE_MAX, NULL, error);
    else if (path_parent(path, importer->options->file, error) == 0 &&
             path_join(path, path, named, error) == 0)
        text = path_read_file(path, SOURCE_MAX, NULL, error);
    free(path);
    return text;
}

/* The source behind the macros of renamed parameters. */
static char *print_source(struct importer *importer, const char *source) {
    struct strbuf text = {0};
    for (int i = 0; i < importer->space.count; i++) {
        const struct import_parameter *parameter = &importer->space.parameters[i];
        if (strcmp(parameter->name, parameter->original) != 0)
            strbuf_print(&text, "#define %s %s\n", parameter->original, parameter->name);
    }
    strbuf_print(&text, "%s", source);
    return text.bytes;
}

/* ---- the reference ---- */

/* Whether a reference in CUDA computes in the type `real`: the plain kernel and the check of an
   export follow from it. */
static bool is_in_real(const char *text) {
    static const char word[] = "real";
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        const char before = at > text ? at[-1] : ' ', after = at[sizeof word - 1];
        if (!isalnum((unsigned char)before) && before != '_' && !isalnum((unsigned char)after) &&
            after != '_')
            return true;
    }
    return false;
}

/* A .py file has a function `reference`; the kernel of a .cu file is KERNEL_reference. */
static int add_reference(struct importer *importer, const cJSON *arguments, const char *kernel,
                         struct error *error) {
    const char *file = importer->options->reference;
    const char *end = file != NULL ? strrchr(file, '.') : NULL;
    if (file == NULL) {
        cJSON_AddStringToObject(importer->template, "reference", "default genome");
        importer_note(importer,
                      "the default genome is the reference: a candidate must agree with it, and a "
                      "fault that all genomes share is not found; --reference FILE.py or FILE.cu "
                      "says what is correct");
        return 0;
    }
    if (end == NULL || (strcmp(end, ".py") != 0 && strcmp(end, ".cu") != 0))
        return error_input(error, "--reference %s: give a .py or a .cu file", file);
    cJSON *reference = cJSON_AddObjectToObject(importer->template, "reference");
    if (strcmp(end, ".py") == 0) {
        cJSON_AddStringToObject(reference, "python", "reference.py");
        return 0;
    }
    char *text = path_read_file(file, SOURCE_MAX, NULL, error);
    if (text == NULL)
        return -1;
    if (is_in_real(text))
        cJSON_AddBoolToObject(reference, "real", true);
    else
        importer_note(importer, "the reference computes in no type `real`: an export needs a "
                                "\"cpu_reference\", too (docs/templates.md)");
    free(text);
    char name[KERNEL_TEXT_SIZE];
    snprintf(name, sizeof name, "%s_reference", kernel);
    cJSON_AddStringToObject(reference, "source", "reference.cu");
    cJSON *launch = cJSON_CreateObject(), *block = cJSON_CreateArray(), *grid = cJSON_CreateArray();
    const cJSON *tensor, *elements = NULL;
    cJSON_ArrayForEach(tensor, cJSON_GetObjectItemCaseSensitive(importer->template, "tensors")) {
        const char *role = importer_text(tensor, "role");
        if (elements == NULL && role != NULL && strcmp(role, "input") != 0)
            elements = cJSON_GetObjectItemCaseSensitive(tensor, "shape")->child;
    }
    char *threads = NULL;
    if (asprintf(&threads, "ceil_div(%s, 256)", elements != NULL ? elements->valuestring : "1") < 0)
        BUG("out of memory");
    cJSON_AddStringToObject(launch, "kernel", name);
    for (int axis = 0; axis < AXES; axis++) {
        cJSON_AddItemToArray(grid, cJSON_CreateString(axis == 0 ? threads : "1"));
        cJSON_AddItemToArray(block, cJSON_CreateString(axis == 0 ? "256" : "1"));
    }
    free(threads);
    cJSON_AddItemToObject(launch, "grid", grid);
    cJSON_AddItemToObject(launch, "block", block);
    cJSON_AddItemToObject(launch, "arguments", cJSON_Duplicate(arguments, true));
    cJSON *launches = cJSON_AddArrayToObject(reference, "launches");
    cJSON_AddItemToArray(launches, launch);
    return 0;
}

/* ---- the files ---- */

static int write_text(const char *folder, const char *name, const char *text, struct error *error) {
    char *path = xmalloc(PATH_SIZE);
    int status = path_join(path, folder, name, error) < 0 ||
                         path_write_file(path, text, strlen(text), error) < 0
                     ? -1
                     : 0;
    free(path);
    return status;
}

static int write_config(struct importer *importer, const char *config, struct error *error) {
    cJSON *root = cJSON_CreateObject(), *budget;
    char template[NAME_SIZE + 2];
    snprintf(template, sizeof template, "./%s", importer->name);
    cJSON_AddStringToObject(root, "template", template);
    cJSON *cases = cJSON_AddArrayToObject(root, "cases");
    cJSON_AddItemToArray(cases, cJSON_CreateObject());
    budget = cJSON_AddObjectToObject(root, "budget");
    importer_write_budget(importer, budget);
    char *text = json_print(root);
    int status = path_write_file(config, text, strlen(text), error);
    free(text);
    return status;
}

static int write_files(struct importer *importer, const char *source, const char *config,
                       const char *folder, struct error *error) {
    const char *file = importer->options->reference;
    char *description = json_print(cJSON_Duplicate(importer->template, true));
    char *whole = print_source(importer, source);
    int status = write_text(folder, "template.json", description, error) < 0 ||
                         write_text(folder, "kernel.cu", whole, error) < 0 ||
                         write_config(importer, config, error) < 0
                     ? -1
                     : 0;
    char *path = xmalloc(PATH_SIZE);
    for (int i = 0; i < importer->file_count && status == 0; i++)
        if (path_join(path, folder, importer->files[i].name, error) < 0 ||
            path_write_file(path, importer->files[i].bytes, importer->files[i].size, error) < 0)
            status = -1;
    free(path);
    char *reference =
        status == 0 && file != NULL ? path_read_file(file, SOURCE_MAX, NULL, error) : NULL;
    if (status == 0 && file != NULL)
        status = reference == NULL
                     ? -1
                     : write_text(folder,
                                  strcmp(strrchr(file, '.'), ".py") == 0 ? "reference.py"
                                                                         : "reference.cu",
                                  reference, error);
    free(reference);
    free(description);
    free(whole);
    return status;
}

/* ---- all of it ---- */

static int read_head(struct importer *importer, struct error *error) {
    const char *language, *kernel;
    const char *file = importer->document->file;
    importer->kernel =
        cJSON_GetObjectItemCaseSensitive(importer->document->root, "KernelSpecification");
    if (!cJSON_IsObject(importer->kernel))
        return error_input(error, "%s has no KernelSpecification: it is no T1 description", file);
    language = importer_text(importer->kernel, "Language");
    kernel = importer_text(importer->kernel, "KernelName");
    if (language != NULL && strcmp(language, "CUDA") != 0)
        return error_input(error, "%s describes a kernel in %.40s: only CUDA is imported", file,
                           language);
    if (kernel == NULL)
        return error_input(error, "%s has no KernelName", file);
    const char *name = importer->options->name != NULL ? importer->options->name : kernel;
    bool good = isalpha((unsigned char)*name) && strlen(name) < NAME_SIZE - 8;
    for (const char *at = name; *at != '\0'; at++)
        good = good && (isalnum((unsigned char)*at) || *at == '_');
    if (!good)
        return error_input(error,
                           "\"%.60s\" is no name for a template: give one of letters, digits and _ "
                           "by --name",
                           name);
    snprintf(importer->name, sizeof importer->name, "%s", name);
    return 0;
}

static int build_template(struct importer *importer, const char *source, struct error *error) {
    const char *kernel = importer_text(importer->kernel, "KernelName");
    char expression[KERNEL_TEXT_SIZE];
    cJSON *launch = cJSON_CreateObject(), *dimension, *values;
    importer->template = cJSON_CreateObject();
    cJSON_AddNumberToObject(importer->template, "format", 1);
    cJSON_AddStringToObject(importer->template, "name", importer->name);
    cJSON_AddStringToObject(importer->template, "about", "imported from a T1 description");
    dimension =
        cJSON_AddObjectToObject(cJSON_AddObjectToObject(importer->template, "dimensions"), "CASE");
    cJSON_AddStringToObject(dimension, "about",
                            "the one case of the description: make dimensions of its sizes");
    values = cJSON_AddArrayToObject(dimension, "values");
    cJSON_AddItemToArray(values, cJSON_CreateNumber(1));
    cJSON_AddStringToObject(dimension, "default", "1");
    importer_write_space(importer);
    cJSON_AddObjectToObject(importer->template, "tensors");
    cJSON_AddStringToObject(importer->template, "source", "kernel.cu");
    cJSON *launches = cJSON_AddArrayToObject(importer->template, "launches");
    cJSON_AddItemToArray(launches, launch);
    /* Kernel Tuner puts extern "C" around a source; a name expression needs none. */
    struct strbuf named = {0};
    importer_print_kernel(importer, &named);
    const bool fits = named.used < KERNEL_TEXT_SIZE - 2;
    snprintf(expression, sizeof expression, "%s%.*s",
             strstr(source, "extern \"C\"") != NULL || strchr(named.bytes, '<') != NULL ? "" : "::",
             KERNEL_TEXT_SIZE - 3, named.bytes);
    free(named.bytes);
    if (!fits)
        return error_input(error,
                           "%s: KernelName with KernelTypeNames is longer than %d characters",
                           importer->document->file, KERNEL_TEXT_SIZE - 3);
    cJSON_AddStringToObject(launch, "kernel", expression);
    cJSON *arguments = cJSON_CreateArray();
    if (read_problem_size(importer, error) < 0 || add_extents(importer, launch, error) < 0 ||
        importer_read_arguments(importer, arguments, error) < 0) {
        cJSON_Delete(arguments);
        return -1;
    }
    cJSON_AddItemToObject(launch, "arguments", arguments);
    if (add_shared_memory(importer, launch, error) < 0)
        return -1;
    snprintf(expression, sizeof expression, "%.0f", importer->elements);
    cJSON_AddStringToObject(importer->template, "operations", expression);
    snprintf(expression, sizeof expression, "%.0f", importer->bytes);
    cJSON_AddStringToObject(importer->template, "bytes", expression);
    importer_note(importer,
                  "\"operations\" is the number of elements, \"bytes\" their size: write what "
                  "the algorithm needs, for TFLOP/s and the roofline");
    add_compiler_options(importer);
    return add_reference(importer, arguments, kernel, error);
}

static int write_import(struct importer *importer, char *config, struct error *error) {
    const char *out = importer->options->out;
    char *folder = xmalloc(PATH_SIZE), file[NAME_SIZE + 8];
    char *source = read_source(importer, error);
    int status = source == NULL || build_template(importer, source, error) < 0 ? -1 : 0;
    snprintf(file, sizeof file, "%s.json", importer->name);
    if (status == 0 &&
        (path_join(folder, out, importer->name, error) < 0 ||
         path_join(config, out, file, error) < 0 || path_make_folder(out, error) < 0))
        status = -1;
    if (status == 0 && path_exists(config))
        status =
            error_input(error, "%s exists: choose another --name or --out, or remove it", config);
    if (status == 0 && mkdir(folder, 0777) < 0)
        status = errno == EEXIST
                     ? error_input(error, "%s exists: choose another --name or --out, or remove it",
                                   folder)
                     : error_set(error, "cannot make the folder %s: %s", folder, strerror(errno));
    if (status == 0)
        status = write_files(importer, source, config, folder, error);
    free(source);
    free(folder);
    return status;
}

int import_t1(const struct import_options *options, char *config, struct import_texts *notes,
              struct error *error) {
    struct json_document document;
    struct importer *importer = xcalloc(1, sizeof *importer);
    if (json_read(&document, options->file, error) < 0) {
        free(importer);
        return -1;
    }
    importer->options = options;
    importer->document = &document;
    int status =
        read_head(importer, error) < 0 || importer_read_space(importer, error) < 0 ? -1 : 0;
    if (status == 0) {
        importer_choose_defaults(importer);
        status = write_import(importer, config, error);
    }
    if (status == 0) {
        *notes = importer->space.notes;
        importer->space.notes = (struct import_texts){0};
    }
    for (int i = 0; i < importer->file_count; i++)
        free(importer->files[i].bytes);
    cJSON_Delete(importer->template);
    import_texts_release(&importer->conditions);
    import_texts_release(&importer->constraints);
    import_texts_release(&importer->because);
    import_space_release(&importer->space);
    json_release(&document);
    free(importer);
    return status;
}
