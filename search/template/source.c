/* Instantiates the CUDA source that NVRTC compiles for a genome. */
#include "template/files.h"
#include "template/load.h"

#include "base/memory.h"
#include "base/path.h"
#include "base/strbuf.h"

#include <ctype.h>
#include <string.h>

enum { SOURCE_BYTES_MAX = 4 << 20, INCLUDES_MAX = 64 };

/* ---- includes ---- */

/* The files already inlined into a source; each is inlined once, unless its name ends in .inc. */
struct inlined_files {
    bool with_lines;    /* emit #line directives */
    const char *folder; /* of the source and of what it includes */
    int count;
    char paths[INCLUDES_MAX][PATH_SIZE];
};

/* Copies the name of an `#include "NAME"` at the start of a line, if it can be a file of the
   library ("lib/NAME") or of the template ("NAME"). */
static bool quoted_include(const char *line, size_t length, char quoted[NAME_SIZE]) {
    static const char start[] = "#include \"";
    if (length < sizeof start || strncmp(line, start, sizeof start - 1) != 0)
        return false;
    const char *from = line + sizeof start - 1;
    const char *end = memchr(from, '"', (size_t)(line + length - from));
    if (end == NULL || end - from >= NAME_SIZE)
        return false;
    memcpy(quoted, from, (size_t)(end - from));
    quoted[end - from] = '\0';
    const char *name = quoted + (strncmp(quoted, "lib/", 4) == 0 ? 4 : 0);
    return name[0] != '\0' && strchr(name, '/') == NULL;
}

/* Finds an included file. Returns 1, or 0 if the template has no such file, so that NVRTC has to
   resolve it. */
static int find_included(const struct template *template, const struct inlined_files *files,
                         const char *quoted, char path[PATH_SIZE], struct error *error) {
    bool of_library = strncmp(quoted, "lib/", 4) == 0;
    if (path_join(path, of_library ? template->library : files->folder,
                  quoted + (of_library ? 4 : 0), error) < 0)
        return -1;
    if (of_library && !path_is_dir(template->library))
        return error_input(
            error,
            "%s includes \"%s\", but there is no %s, nor a lib in "
            "$EVOTILE_TEMPLATES or in templates/ here or beside the program: copy the "
            "library there",
            template->name, quoted, template->library);
    return of_library || path_exists(path);
}

static void add_line_directive(const struct inlined_files *files, int line, const char *name,
                               struct strbuf *text) {
    if (files->with_lines)
        strbuf_print(text, "#line %d \"%s\"\n", line, name);
}

/* A file that stands wherever it is included, so that macros may differ between these places. */
static bool is_repeated(const char *path) {
    static const char ending[] = ".inc";
    size_t length = strlen(path);
    return length >= sizeof ending && strcmp(path + length - (sizeof ending - 1), ending) == 0;
}

/* Appends a file with its #include lines replaced by the included files. */
static int inline_file(const struct template *template, const char *path, const char *name,
                       struct inlined_files *files, struct strbuf *text, struct error *error) {
    for (int i = 0; i < files->count; i++)
        if (strcmp(files->paths[i], path) == 0 && !is_repeated(path))
            return 0;
    if (files->count == INCLUDES_MAX)
        return error_input(error, "%s: more than %d files are included%s", path, INCLUDES_MAX,
                           is_repeated(path) ? ": a .inc file must not include itself" : "");
    strcpy(files->paths[files->count++], path);
    char *source = path_read_file(path, SOURCE_BYTES_MAX, NULL, error);
    if (source == NULL)
        return -1;
    int result = template_includes_check(path, source, error), number = 1;
    add_line_directive(files, number, name, text);
    for (const char *line = source; *line != '\0' && result == 0; number++) {
        size_t length = strcspn(line, "\n");
        char quoted[NAME_SIZE];
        char included[PATH_SIZE];
        int found = 0;
        if (quoted_include(line, length, quoted))
            found = find_included(template, files, quoted, included, error);
        if (found < 0) {
            result = -1;
        } else if (found == 1) {
            result = inline_file(template, included, quoted, files, text, error);
            add_line_directive(files, number + 1, name, text);
        } else {
            strbuf_add(text, line, length);
            strbuf_add(text, "\n", 1);
        }
        line += length + (line[length] == '\n');
    }
    free(source);
    return result;
}

static int inline_source(const struct template *template, const char *folder, const char *name,
                         bool with_lines, struct strbuf *text, struct error *error) {
    char path[PATH_SIZE];
    struct inlined_files *files = xcalloc(1, sizeof *files);
    files->with_lines = with_lines;
    files->folder = folder;
    int result = path_join(path, folder, name, error);
    if (result == 0)
        result = inline_file(template, path, name, files, text, error);
    free(files);
    if (result < 0)
        strbuf_release(text);
    return result;
}

/* ---- instantiation ---- */

uint64_t template_genome_tag(const struct genome *genome) {
    return genome_hash(genome).low;
}

/* Builds the macro of a label, such as SWIZZLE_XOR: the gene's name and the label in capitals. */
static void label_macro(const struct gene *gene, const char *label, char macro[2 * NAME_SIZE]) {
    int used = snprintf(macro, 2 * NAME_SIZE, "%s_", gene->name);
    for (; *label != '\0' && used < 2 * NAME_SIZE - 1; label++)
        macro[used++] = isalnum((unsigned char)*label) ? (char)toupper((unsigned char)*label) : '_';
    macro[used] = '\0';
}

/* As a literal of type double. */
static void define_real(const struct gene *gene, double number, struct strbuf *text) {
    char digits[NAME_SIZE];
    space_print_real(number, digits);
    strbuf_print(text, number < 0 ? "#define %s (%s%s)\n" : "#define %s %s%s\n", gene->name, digits,
                 digits[strcspn(digits, ".e")] == '\0' ? ".0" : "");
}

static void define_gene(const struct space *space, const struct genome *genome, int index,
                        struct strbuf *text) {
    const struct gene *gene = &space->genes[index];
    char value[NAME_SIZE];
    char macro[2 * NAME_SIZE];
    if (gene->texts != NULL) {
        strbuf_print(text, "#define %s %s\n", gene->name, gene->texts[genome->value[index]]);
        return;
    }
    if (gene->real) {
        define_real(gene, gene->reals[genome->value[index]], text);
        return;
    }
    if (gene->ordered) {
        strbuf_print(text, "#define %s %s\n", gene->name,
                     space_value_text(space, index, genome->value[index], value));
        return;
    }
    for (int i = 0; i < gene->count; i++) {
        label_macro(gene, space_value_text(space, index, i, value), macro);
        strbuf_print(text, "#define %s %lld\n", macro, (long long)gene->values[i]);
    }
    label_macro(gene, space_value_text(space, index, genome->value[index], value), macro);
    strbuf_print(text, "#define %s %s\n", gene->name, macro);
}

void template_define(const struct template *template, const struct genome *genome, int variant,
                     const int64_t *values, struct strbuf *text) {
    strbuf_add(text, "", 0);
    for (int i = 0; i < template->space->gene_count; i++)
        define_gene(template->space, genome, i, text);
    for (int d = 0; d < template->dimension_count; d++)
        if (template->dimensions[d].specialised)
            strbuf_print(text, "#define %s %lld\n", template->dimensions[d].name,
                         (long long)template->cases[variant].values[d]);
    for (int i = 0; i < template->macro_count; i++) {
        const int64_t value = values != NULL ? values[template->macros[i]] : 0;
        strbuf_print(text, value < 0 ? "#define %s (%lld)\n" : "#define %s %lld\n",
                     template->space->symbols.slots[template->macros[i]], (long long)value);
    }
}

static int add_macros(const struct template *template, const struct genome *genome, int variant,
                      struct strbuf *text, struct error *error) {
    int64_t values[SLOTS_MAX];
    if (template->macro_count > 0 &&
        space_values(template->space, genome, variant, values, error) < 0)
        return error_prefix(error, "%s", solution_file(template));
    template_define(template, genome, variant, values, text);
    return 0;
}

char *template_macros(const struct template *template, const struct genome *genome, int variant,
                      struct error *error) {
    struct strbuf text = {0};
    return add_macros(template, genome, variant, &text, error) == 0 ? text.bytes : NULL;
}

static char *instantiate(const struct template *template, const struct genome *genome, int variant,
                         bool with_lines, struct error *error) {
    struct strbuf text = {0};
    if (add_macros(template, genome, variant, &text, error) < 0)
        return NULL;
    strbuf_print(&text,
                 "\n// Read back from the loaded module: proof that it is this genome's.\n"
                 "extern \"C\" __device__ unsigned long long %s = 0x%016llxull;\n\n",
                 TEMPLATE_TAG_SYMBOL, (unsigned long long)template_genome_tag(genome));
    return inline_source(template, template->solution_folder, template->source, with_lines, &text,
                         error) == 0
               ? text.bytes
               : NULL;
}

char *template_source(const struct template *template, const struct genome *genome, int variant,
                      struct error *error) {
    return instantiate(template, genome, variant, false, error);
}

char *template_source_with_lines(const struct template *template, const struct genome *genome,
                                 int variant, struct error *error) {
    return instantiate(template, genome, variant, true, error);
}

int template_source_location(const struct template *template, const struct genome *genome,
                             int variant, int line, char name[NAME_SIZE], int *file_line,
                             struct error *error) {
    _Static_assert(NAME_SIZE == 48, "the format below has room for 47");
    char *text = template_source_with_lines(template, genome, variant, error);
    int number = 0;
    name[0] = '\0';
    if (text == NULL)
        return -1;
    *file_line = 0;
    for (const char *at = text; *at != '\0' && number < line;) {
        if (sscanf(at, "#line %d \"%47[^\"]\"", file_line, name) == 2)
            --*file_line;
        else
            number++, ++*file_line;
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    free(text);
    return number == line && name[0] != '\0';
}

static char *uninstantiated_source(const struct template *template, const char *folder,
                                   const char *name, bool with_lines, struct error *error) {
    struct strbuf text = {0};
    strbuf_add(&text, "", 0);
    return inline_source(template, folder, name, with_lines, &text, error) == 0 ? text.bytes : NULL;
}

char *template_lined_kernel_source(const struct template *template, struct error *error) {
    return uninstantiated_source(template, template->solution_folder, template->source, true,
                                 error);
}

char *template_kernel_source(const struct template *template, struct error *error) {
    return uninstantiated_source(template, template->solution_folder, template->source, false,
                                 error);
}

/* real.cu, embedded by the Makefile */
extern const char _binary_search_template_real_cu_start[];
extern const char _binary_search_template_real_cu_end[];

/* A reference's source with `real` as that type. */
static char *source_in(const struct template *template, const char *type, struct error *error) {
    struct strbuf text = {0};
    strbuf_print(&text, "typedef %s real;\n", type);
    strbuf_add(
        &text, _binary_search_template_real_cu_start,
        (size_t)(_binary_search_template_real_cu_end - _binary_search_template_real_cu_start));
    strbuf_print(&text, "\n#line 1 \"%s\"\n", template->reference_source);
    return inline_source(template, template->folder, template->reference_source, false, &text,
                         error) == 0
               ? text.bytes
               : NULL;
}

char *template_reference_source(const struct template *template, struct error *error) {
    return template->real ? source_in(template, "double", error)
                          : uninstantiated_source(template, template->folder,
                                                  template->reference_source, false, error);
}

char *template_plain_source(const struct template *template, struct error *error) {
    return template->plain_kind == PLAIN_REAL
               ? source_in(template, "float", error)
               : uninstantiated_source(template, template->folder, template->plain_source, false,
                                       error);
}

char *template_setup_source(const struct template *template, struct error *error) {
    return uninstantiated_source(template, template->folder, template->setup_source, false, error);
}

char *template_lined_reference_source(const struct template *template, struct error *error) {
    return uninstantiated_source(template, template->folder, template->reference_source, true,
                                 error);
}

char *template_c_reference_source(const struct template *template, struct error *error) {
    return uninstantiated_source(template, template->folder, template->cpu_reference, false, error);
}

/* ---- options ---- */

int template_options(const struct template *template, const struct genome *genome, bool line_info,
                     struct compile_options *options, struct error *error) {
    int64_t values[SLOTS_MAX];
    *options = (struct compile_options){0};
    if (space_values(template->space, genome, 0, values, error) < 0)
        return -1;
    snprintf(options->storage, sizeof options->storage, "--gpu-architecture=sm_%d%s",
             template->compute_capability,
             template->architecture_variant && template->compute_capability >= 90 ? "a" : "");
    options->items[options->count++] = options->storage;
    options->items[options->count++] = "--std=c++17";
    options->items[options->count++] = "--ptxas-options=-v";
    if (line_info)
        options->items[options->count++] = "-lineinfo";
    for (int i = 0; i < template->option_count; i++) {
        int64_t holds = 1;
        if (template->options[i].when != NULL &&
            expression_evaluate(template->options[i].when, values, &holds, error) < 0)
            return error_prefix(error, "%s: option %s", solution_file(template),
                                template->options[i].text);
        if (holds != 0)
            options->items[options->count++] = template->options[i].text;
    }
    return 0;
}

/* ---- identity ---- */

/* Whether an input is filled from the file. */
static bool is_data(const struct template *template, const char *name) {
    bool data = false;
    for (int t = 0; t < template->tensor_count; t++)
        data = data || strcmp(template->tensors[t].fill.file, name) == 0;
    return data;
}

static bool is_named(const struct baseline_command *command, const char *path) {
    for (int i = 0; i < command->count; i++)
        if (strcmp(path, command->words[i]) == 0)
            return true;
    return false;
}

static bool ends_in(const char *name, const char *end) {
    size_t length = strlen(name), tail = strlen(end);
    return length > tail && strcmp(name + length - tail, end) == 0;
}

/* Prose, the baseline's program and what calls are cases do not affect candidates and are not
   hashed. A source or a reference is, though a baseline's command may name it. */
static bool is_not_hashed(const struct template *template, const char *path, const char *name) {
    return ends_in(name, ".md") || (strcmp(name, CALLS_FILE) == 0 && !is_data(template, name)) ||
           (ends_in(name, ".py") && !is_data(template, name) &&
            is_named(&template->baseline, path) && !is_named(&template->reference_program, path));
}

static int hash_folder(const struct template *template, struct hasher *hasher, const char *folder,
                       struct error *error) {
    char **names;
    int count;
    int result = 0;
    if (path_list(folder, &names, &count, error) < 0)
        return -1;
    for (int i = 0; i < count && result == 0; i++) {
        char path[PATH_SIZE];
        size_t size;
        result = path_join(path, folder, names[i], error);
        if (result < 0 || is_not_hashed(template, path, names[i]) || path_is_dir(path))
            continue;
        char *bytes = path_read_file(
            path, is_data(template, names[i]) ? DATA_FILE_MAX : SOURCE_BYTES_MAX, &size, error);
        if (bytes == NULL) {
            result = -1;
            continue;
        }
        hasher_add_text(hasher, names[i]);
        hasher_add(hasher, bytes, size);
        free(bytes);
    }
    path_list_free(names, count);
    return result;
}

int template_hash(struct template *template, struct error *error) {
    struct hasher *hasher = hasher_new();
    int result = hash_folder(template, hasher, template->folder, error);
    if (result == 0 && is_split(template)) {
        hasher_add_text(hasher, template->solution);
        result = hash_folder(template, hasher, template->solution_folder, error);
    }
    hasher_add_text(hasher,
                    "lib"); /* separates the folders: a file that moves to lib/ changes the hash */
    if (result == 0 && path_is_dir(template->library))
        result = hash_folder(template, hasher, template->library, error);
    template->hash = hasher_finish(hasher);
    return result;
}
