/* Finds names of the source that the macros before it replace: a #define of the same name, which
   would silently change a gene, and a template parameter, on which compilers report a number where
   they expect a name. */
#include "template/load.h"

#include "base/memory.h"
#include "base/path.h"
#include "base/strbuf.h"

#include <ctype.h>
#include <string.h>

enum { CONDITIONS_MAX = 64, PARAMETER_DEPTH_MAX = 64 };

struct name_scan {
    const struct template *template;
    const char *macros; /* the #defines before the source */
    const char *at;
    char file[NAME_SIZE];
    int line;
    int condition_count;
    const char *conditions[CONDITIONS_MAX]; /* the open #if and #ifndef lines; NULL: its #else */
    struct error *error;
};

static bool is_word(char letter) {
    return isalnum((unsigned char)letter) || letter == '_';
}

static size_t word_length(const char *at) {
    size_t length = 0;
    while (is_word(at[length]))
        length++;
    return length;
}

static const char *skip_blanks(const char *at) {
    return at + strspn(at, " \t");
}

/* What kind of name a macro before the source is; NULL: there is no such macro. */
static const char *kind_of(const struct name_scan *scan, const char *name, size_t length) {
    const struct template *template = scan->template;
    const char *line = scan->macros;
    while (line != NULL && !(strncmp(line, "#define ", 8) == 0 && word_length(line + 8) == length &&
                             strncmp(line + 8, name, length) == 0))
        line = strchr(line, '\n') != NULL ? strchr(line, '\n') + 1 : NULL;
    if (line == NULL)
        return NULL;
    for (int i = 0; i < template->space->gene_count; i++)
        if (strlen(template->space->genes[i].name) == length &&
            strncmp(template->space->genes[i].name, name, length) == 0)
            return "a gene";
    for (int d = 0; d < template->dimension_count; d++)
        if (strlen(template->dimensions[d].name) == length &&
            strncmp(template->dimensions[d].name, name, length) == 0)
            return "a specialised dimension";
    for (int i = 0; i < template->macro_count; i++) {
        const char *macro = template->space->symbols.slots[template->macros[i]];
        if (strlen(macro) == length && strncmp(macro, name, length) == 0)
            return "a macro";
    }
    return "a value of a gene";
}

static int refuse(const struct name_scan *scan, const char *what, const char *name, size_t length,
                  const char *remedy) {
    char path[PATH_SIZE];
    if (path_join(path, scan->template->solution_folder, scan->file, scan->error) < 0)
        return -1;
    return error_input(scan->error, "%s:%d: %s %.*s is also %s of %s, which evotile defines: %s",
                       path, scan->line, what, (int)length, name, kind_of(scan, name, length),
                       path_name(solution_file(scan->template)), remedy);
}

/* Whether a line that is compiled only without this macro is open. */
static bool is_guarded(const struct name_scan *scan, const char *name, size_t length) {
    for (int i = 0; i < scan->condition_count; i++) {
        const char *line = scan->conditions[i];
        const char *end = line != NULL ? line + strcspn(line, "\n") : NULL;
        for (const char *at = line; at != NULL && at < end; at++)
            if (is_word(*at) && word_length(at) == length && strncmp(at, name, length) == 0 &&
                (at == line || !is_word(at[-1])))
                return true;
    }
    return false;
}

static void open_condition(struct name_scan *scan, const char *line) {
    if (scan->condition_count < CONDITIONS_MAX)
        scan->conditions[scan->condition_count] = line;
    scan->condition_count += scan->condition_count < CONDITIONS_MAX;
}

/* Reads a preprocessor line at its #, up to the line's end. */
static int scan_directive(struct name_scan *scan) {
    const char *word = skip_blanks(scan->at + 1);
    size_t length = word_length(word);
    const char *operand = skip_blanks(word + length);
    scan->at = word + strcspn(word, "\n");
    if (length == 4 && strncmp(word, "line", 4) == 0) {
        _Static_assert(NAME_SIZE == 48, "the format below has room for 47");
        if (sscanf(operand, "%d \"%47[^\"]\"", &scan->line, scan->file) == 2)
            scan->line--; /* the number is that of the next line */
        return 0;
    }
    if (length == 6 && strncmp(word, "ifndef", 6) == 0)
        open_condition(scan, operand);
    else if (strncmp(word, "if", 2) == 0)
        open_condition(scan, strchr(operand, '!') != NULL && strchr(operand, '!') < scan->at
                                 ? strchr(operand, '!')
                                 : NULL);
    else if (strncmp(word, "el", 2) == 0 && scan->condition_count > 0)
        scan->conditions[scan->condition_count - 1] = NULL;
    else if (strncmp(word, "endif", 5) == 0 && scan->condition_count > 0)
        scan->condition_count--;
    if (length != 6 || strncmp(word, "define", 6) != 0)
        return 0;
    length = word_length(operand);
    if (kind_of(scan, operand, length) == NULL || is_guarded(scan, operand, length))
        return 0;
    return refuse(scan, "#define", operand, length,
                  "remove this line, or put it inside of an #ifndef of the name");
}

/* Skips a comment or a literal; false if there is none. */
static bool skip_text(struct name_scan *scan) {
    const char *at = scan->at;
    if (at[0] == '/' && at[1] == '/') {
        scan->at += strcspn(at, "\n");
        return true;
    }
    if (at[0] == '/' && at[1] == '*') {
        for (at += 2; *at != '\0' && !(at[0] == '*' && at[1] == '/'); at++)
            scan->line += *at == '\n';
        scan->at = *at != '\0' ? at + 2 : at;
        return true;
    }
    if (*at != '"' && *at != '\'')
        return false;
    for (at++; *at != '\0' && *at != '\n' && *at != *scan->at; at++)
        at += *at == '\\' && at[1] != '\0' && at[1] != '\n';
    scan->at = at + (*at == *scan->at);
    return true;
}

/* Reads the parameters of a template at their <. A parameter's name is the last word before a
   comma, its default or the end. */
static int scan_parameters(struct name_scan *scan) {
    const char *name = NULL;
    size_t length = 0;
    int depth = 0;
    bool in_default = false;
    for (; *scan->at != '\0' && depth <= PARAMETER_DEPTH_MAX; scan->at++) {
        const char letter = *scan->at;
        while (skip_text(scan))
            ;
        if (*scan->at != letter) {
            scan->at--;
            continue;
        }
        scan->line += letter == '\n';
        depth += letter == '<' || letter == '(';
        depth -= letter == '>' || letter == ')';
        const bool ends = depth == 0 || (depth == 1 && (letter == ',' || letter == '='));
        if (ends && name != NULL && !in_default && kind_of(scan, name, length) != NULL)
            return refuse(scan, "the template parameter", name, length, "rename the parameter");
        if (depth == 0)
            return 0;
        if (ends) {
            in_default = letter == '=';
            name = NULL;
        } else if (is_word(letter)) {
            name = scan->at;
            length = word_length(name);
            scan->at += length - 1;
        }
    }
    return 0;
}

static int scan_source(struct name_scan *scan) {
    bool line_start = true;
    while (*scan->at != '\0') {
        if (skip_text(scan))
            continue;
        const char letter = *scan->at;
        size_t length = word_length(scan->at);
        if (letter == '#' && line_start) {
            if (scan_directive(scan) < 0)
                return -1;
            continue;
        }
        line_start = letter == '\n' || (line_start && (letter == ' ' || letter == '\t'));
        scan->line += letter == '\n';
        const bool declares = length == 8 && strncmp(scan->at, "template", 8) == 0;
        scan->at += length > 0 ? length : 1;
        if (!declares)
            continue;
        scan->at += strspn(scan->at, " \t");
        if (*scan->at == '<' && scan_parameters(scan) < 0)
            return -1;
    }
    return 0;
}

/* A label of a gene and another name may give the same macro. */
static int check_twice(const struct name_scan *scan) {
    for (const char *line = scan->macros; line != NULL && *line != '\0';) {
        const char *name = line + strlen("#define ");
        const size_t length = word_length(name);
        for (const char *other = strchr(line, '\n'); other != NULL && other[1] != '\0';
             other = strchr(other + 1, '\n'))
            if (word_length(other + 9) == length && strncmp(other + 9, name, length) == 0)
                return error_input(scan->error,
                                   "%s: %.*s is %s, and the source would get another macro of that "
                                   "name for a gene and its value: rename one",
                                   solution_file(scan->template), (int)length, name,
                                   kind_of(scan, name, length));
        line = strchr(line, '\n') != NULL ? strchr(line, '\n') + 1 : NULL;
    }
    return 0;
}

int check_macro_names(const struct template *template, struct error *error) {
    const struct genome usual = genome_default(template->space);
    struct name_scan scan = {.template = template, .error = error};
    struct error ignored = {0};
    char *text = template_lined_kernel_source(template, &ignored);
    if (text == NULL)
        return 0; /* what compiles it says why it cannot be read */
    struct strbuf macros = {0};
    template_define(template, &usual, 0, NULL, &macros);
    scan.macros = macros.bytes;
    scan.at = text;
    int result = check_twice(&scan) < 0 ? -1 : scan_source(&scan);
    strbuf_release(&macros);
    free(text);
    return result;
}
