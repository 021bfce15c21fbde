#include "template/compile_options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"

enum value_kind {
    NO_VALUE,
    SWITCH, /* true or false */
    COUNT,
    NUMBERS, /* of diagnostics: 177,550 */
    DIALECT, /* c++17 */
    MACRO,   /* NAME or NAME=VALUE */
    NAME,
    PTXAS /* one of ptxas_options */
};

/* Both spellings; the short one is NULL if there is none. */
static const struct {
    const char *full, *brief;
    enum value_kind value;
} allowed[] = {
    {"--use_fast_math", "-use_fast_math", NO_VALUE},
    {"--ftz", "-ftz", SWITCH},
    {"--prec-div", "-prec-div", SWITCH},
    {"--prec-sqrt", "-prec-sqrt", SWITCH},
    {"--fmad", "-fmad", SWITCH},
    {"--maxrregcount", "-maxrregcount", COUNT},
    {"--extra-device-vectorization", "-extra-device-vectorization", NO_VALUE},
    {"--restrict", "-restrict", NO_VALUE},
    {"--define-macro", "-D", MACRO},
    {"--undefine-macro", "-U", NAME},
    {"--std", "-std", DIALECT},
    {"--builtin-move-forward", "-builtin-move-forward", SWITCH},
    {"--builtin-initializer-list", "-builtin-initializer-list", SWITCH},
    {"--device-as-default-execution-space", "-default-device", NO_VALUE},
    {"--device-int128", "-device-int128", NO_VALUE},
    {"--generate-line-info", "-lineinfo", NO_VALUE},
    {"--disable-warnings", "-w", NO_VALUE},
    {"--display-error-number", "-err-no", NO_VALUE},
    {"--no-display-error-number", "-no-err-no", NO_VALUE},
    {"--diag-error", "-diag-error", NUMBERS},
    {"--diag-suppress", "-diag-suppress", NUMBERS},
    {"--diag-warn", "-diag-warn", NUMBERS},
    {"--ptxas-options", "-Xptxas", PTXAS},
};

/* Others of ptxas name files. */
static const char *const ptxas_options[] = {
    "-O0",
    "-O1",
    "-O2",
    "-O3",
    "-v",
    "--verbose",
    "--warn-on-spills",
    "--warn-on-local-memory-usage",
    "-dlcm=ca",
    "-dlcm=cg",
    "-dlcm=cs",
    "-dlcm=cv",
    "-dscm=wb",
    "-dscm=cg",
    "-dscm=cs",
    "-dscm=wt",
};

static bool is_name(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '_')
            return false;
    return length > 0 && !isdigit((unsigned char)text[0]);
}

/* A macro's value goes into the makefile of an export, too: nothing that make or a shell reads. */
static bool is_macro(const char *text) {
    size_t name = strcspn(text, "=");
    const char *value = text + name + (text[name] == '=');
    for (const char *at = value; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at) && strchr("_.+-:", *at) == NULL)
            return false;
    return is_name(text, name);
}

static bool value_holds(enum value_kind kind, const char *value) {
    switch (kind) {
    case NO_VALUE:
        return false;
    case SWITCH:
        return strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
    case COUNT:
        return *value != '\0' && strlen(value) <= 4 && value[strspn(value, "0123456789")] == '\0';
    case NUMBERS:
        return isdigit((unsigned char)*value) && value[strspn(value, "0123456789,")] == '\0';
    case DIALECT:
        return strncmp(value, "c++", 3) == 0 && strlen(value) == 5 &&
               isdigit((unsigned char)value[3]) && isdigit((unsigned char)value[4]);
    case MACRO:
        return is_macro(value);
    case NAME:
        return is_name(value, strlen(value));
    case PTXAS:
        for (size_t i = 0; i < sizeof ptxas_options / sizeof *ptxas_options; i++)
            if (strcmp(value, ptxas_options[i]) == 0)
                return true;
        return false;
    }
    return false;
}

/* Whether the option is the spelling, with a value of its kind. `*named`: it is the spelling, with
   or without a value. */
static bool matches(const char *option, const char *spelling, enum value_kind kind, bool *named) {
    size_t length = strlen(spelling);
    if (strncmp(option, spelling, length) != 0)
        return false;
    const char *rest = option + length;
    if (*rest == '\0') {
        *named = true;
        return kind == NO_VALUE;
    }
    bool joined = spelling[1] == 'D' || spelling[1] == 'U'; /* -DNAME=VALUE */
    if (!joined && *rest != '=')
        return false;
    *named = true;
    return value_holds(kind, rest + !joined);
}

/* Quotes the option without control characters. */
static void print_refusal(const char *option, bool named, char why[OPTION_REFUSAL_SIZE]) {
    snprintf(why, OPTION_REFUSAL_SIZE, "\"%.80s\" ", option);
    for (char *at = why; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = '?';
    if (named)
        text_append(why, OPTION_REFUSAL_SIZE,
                    "has no value that a template may give: write NAME=VALUE in one word, without "
                    "spaces, quotes and signs of a shell");
    else
        text_append(why, OPTION_REFUSAL_SIZE,
                    "is not an option that a template may give: it may give those that change the "
                    "code, such as --use_fast_math, --maxrregcount=N, --fmad=false and "
                    "-DNAME=VALUE (docs/templates.md lists them)");
}

bool compile_option_allowed(const char *option, char why[OPTION_REFUSAL_SIZE]) {
    bool named = false;
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (matches(option, allowed[i].full, allowed[i].value, &named) ||
            matches(option, allowed[i].brief, allowed[i].value, &named))
            return true;
    print_refusal(option, named, why);
    return false;
}
