/* Checks names that become C identifiers and file names. */
#include "export/internal.h"

#include <ctype.h>
#include <string.h>

/* Of C and of C++, which includes NAME.h too. */
static const char *const keywords[] = {
    "auto",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    /* C++ */
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "bitand",
    "bitor",
    "bool",
    "catch",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "decltype",
    "delete",
    "dynamic_cast",
    "explicit",
    "export",
    "false",
    "friend",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "reinterpret_cast",
    "requires",
    "static_assert",
    "static_cast",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typeid",
    "typename",
    "using",
    "virtual",
    "wchar_t",
    "xor",
    "xor_eq",
    NULL,
};

/* The launcher's own identifiers: derived quantities become local variables next to them. */
static const char *const launcher_names[] = {
    "shape",     "tensors", "parts",   "part",    "stream",  "status",   "workspace",
    "arguments", "launch",  "address", "bytes",   "clear",   "fits",     "narrow",
    "unusable",  "used",    "take",    "int32_t", "int64_t", "argument", "choose",
    "units",     "unit",    "kernel",  "rounds",  NULL,
};

/* Names that would collide with other files of the export: check.c, reference.c, cases.h ... */
static const char *const export_files[] = {
    "check",  "reference", "reference_launch", "cases",    "kernel", "numbers", "shape",
    "verify", "manifest",  "Makefile",         "template", "fills",  "setup",   "setup_launch",
    NULL};

static bool is_in_list(const char *name, const char *const *words) {
    while (*words != NULL && strcmp(*words, name) != 0)
        words++;
    return *words != NULL;
}

static bool is_identifier(const char *name) {
    if (!isalpha((unsigned char)*name) && *name != '_')
        return false;
    while (isalnum((unsigned char)*name) || *name == '_')
        name++;
    return *name == '\0';
}

void add_upper_name(const struct export *export, struct strbuf *text) {
    for (const char *at = export->name; *at != '\0'; at++)
        strbuf_print(text, "%c", toupper((unsigned char)*at));
}

/* Its name is a part of a file's name, and make and C comments read it. */
static int check_solution(const struct export *export, const struct template *solution,
                          struct error *error) {
    const char *name = solution->solution;
    while (isalnum((unsigned char)*name) || *name == '_' || *name == '-')
        name++;
    return export->solution_count == 1 || *name == '\0'
               ? 0
               : error_input(error,
                             "%s: the solution \"%s\" cannot be exported with others under that "
                             "name: rename its folder, with letters, digits, _ and -",
                             export->template->document.file, solution->solution);
}

static int refuse_name(const struct template *template, const char *of, const char *name,
                       struct error *error) {
    return error_input(error, "%s: %s.%s: C and C++ code cannot have that name: rename it",
                       template->document.file, of, name);
}

static int check_derived(const struct template *template, struct error *error) {
    for (int i = 0; i < template->space->derived_count; i++) {
        const char *name = template->space->symbols.slots[template->space->derived[i].slot];
        if (is_in_list(name, keywords) || is_in_list(name, launcher_names))
            return refuse_name(template, "derived", name, error);
    }
    return 0;
}

int check_names(const struct export *export, struct error *error) {
    const struct template *template = export->template;
    if (!is_identifier(export->name) || strlen(export->name) >= NAME_SIZE)
        return error_input(error,
                           "\"%s\" cannot name a kernel: it is the prefix of its C functions; use "
                           "letters, digits and _, less than %d",
                           export->name, NAME_SIZE);
    if (is_in_list(export->name, keywords) || is_in_list(export->name, export_files) ||
        strncmp(export->name, "variant_", 8) == 0)
        return error_input(
            error,
            "\"%s\" cannot name a kernel: it is a keyword of C or C++ or another file of the "
            "export; choose another",
            export->name);
    for (int s = 0; s < export->solution_count; s++)
        if (check_solution(export, export->solutions[s], error) < 0 ||
            check_derived(export->solutions[s], error) < 0)
            return -1;
    for (int d = 0; d < template->dimension_count; d++)
        if (is_in_list(template->dimensions[d].name, keywords))
            return refuse_name(template, "dimensions", template->dimensions[d].name, error);
    for (int t = 0; t < template->tensor_count; t++)
        if (!template->tensors[t].of_output && (!is_identifier(template->tensors[t].name) ||
                                                is_in_list(template->tensors[t].name, keywords)))
            return refuse_name(template, "tensors", template->tensors[t].name, error);
    for (int s = 0; s < template->scalar_count; s++)
        if (!is_identifier(template->scalars[s].name) ||
            is_in_list(template->scalars[s].name, keywords))
            return refuse_name(template, "scalars", template->scalars[s].name, error);
    return check_framework_names(export, error);
}
