/* Refuses what a reference in `real` cannot say: functions of float, which would make a float of
   every `real`; and what the host's compiler has not, where an exported kernel is checked with it.
 */
#include "template/load.h"

#include "base/path.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What begins with two underscores and export/host.h.in knows. */
static const char *const known[] = {
    "__global__",      "__device__",      "__host__",          "__restrict__",   "__forceinline__",
    "__inline__",      "__noinline__",    "__launch_bounds__", "__constant__",   "__ldg",
    "__float_as_uint", "__uint_as_float", "__float_as_int",    "__int_as_float", NULL};

/* Other words that it has not. */
static const char *const device_only[] = {
    "asm",        "cooperative_groups", "warpSize",  "clock",     "clock64",  "atomicCAS",
    "atomicExch", "atomicInc",          "atomicDec", "atomicAnd", "atomicOr", "atomicXor",
    "atomicSub",  "atomicMin",          "atomicMax", NULL};

static const char *const float_functions[] = {
    "expf",    "exp2f",   "exp10f", "expm1f", "logf",  "log2f",  "log10f", "log1pf",
    "sqrtf",   "rsqrtf",  "cbrtf",  "powf",   "sinf",  "cosf",   "tanf",   "sinhf",
    "coshf",   "tanhf",   "asinf",  "acosf",  "atanf", "atan2f", "erff",   "erfcf",
    "lgammaf", "tgammaf", "fmaf",   "hypotf", NULL};

struct real_scan {
    const struct template *template;
    bool for_host;
    const char *at;
    char file[NAME_SIZE];
    int line;
    struct error *error;
};

static bool is_word(char letter) {
    return isalnum((unsigned char)letter) || letter == '_';
}

static bool is_in(const char *const *words, const char *word) {
    while (*words != NULL && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

static int refuse(const struct real_scan *scan, const char *what, const char *why) {
    char path[PATH_SIZE];
    if (path_join(path, scan->template->folder, scan->file, scan->error) < 0)
        return -1;
    return error_input(scan->error, "%s:%d: %s %s", path, scan->line, what, why);
}

static int check_word(struct real_scan *scan) {
    char word[NAME_SIZE];
    size_t length = 0;
    while (is_word(scan->at[length]))
        length++;
    snprintf(word, sizeof word, "%.*s", (int)(length < NAME_SIZE ? length : NAME_SIZE - 1),
             scan->at);
    scan->at += length;
    if (is_in(float_functions, word)) {
        char why[NAME_SIZE + 80];
        snprintf(why, sizeof why, "computes in float, and so would the reference: write %.*s",
                 (int)strlen(word) - 1, word);
        return refuse(scan, word, why);
    }
    bool reserved = strncmp(word, "__", 2) == 0 && !is_in(known, word);
    return scan->for_host && (reserved || is_in(device_only, word))
               ? refuse(scan, word,
                        "cannot be compiled for the host, where an exported kernel is checked and "
                        "threads run one after the other: do without it, or give \"cpu_reference\" "
                        "a reference.c")
               : 0;
}

/* Reads a preprocessor line at its #. */
static int check_directive(struct real_scan *scan) {
    const char *end = scan->at + strcspn(scan->at, "\n");
    const char *word = scan->at + 1 + strspn(scan->at + 1, " \t");
    if (strncmp(word, "include", 7) == 0 && scan->for_host)
        return refuse(scan, "#include",
                      "of a CUDA header cannot be compiled for the host: do without it, or give "
                      "\"cpu_reference\" a reference.c");
    _Static_assert(NAME_SIZE == 48, "the format below has room for 47");
    if (sscanf(word, "line %d \"%47[^\"]\"", &scan->line, scan->file) == 2) {
        scan->line--; /* the number is that of the next line */
        scan->at = end;
        return 0;
    }
    scan->at = word; /* the words of a macro are checked where it is defined */
    return 0;
}

static void skip_comment(struct real_scan *scan) {
    const char *end =
        scan->at[1] == '/' ? scan->at + strcspn(scan->at, "\n") : strstr(scan->at + 2, "*/");
    if (end == NULL)
        end = scan->at + strlen(scan->at);
    for (; scan->at < end; scan->at++)
        scan->line += *scan->at == '\n';
}

int check_real_source(const struct template *template, bool for_host, struct error *error) {
    char *text = template_lined_reference_source(template, error);
    struct real_scan scan = {
        .template = template, .for_host = for_host, .at = text, .error = error};
    int status = text != NULL ? 0 : -1;
    while (status == 0 && *scan.at != '\0') {
        if (*scan.at == '#')
            status = check_directive(&scan);
        else if (*scan.at == '/' && (scan.at[1] == '/' || scan.at[1] == '*'))
            skip_comment(&scan);
        else if (is_word(*scan.at))
            status = check_word(&scan);
        else
            scan.line += *scan.at++ == '\n';
    }
    free(text);
    return status;
}
