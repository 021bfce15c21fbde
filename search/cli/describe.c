/* describe: shell completion, the manual page and the version. */
#include "cli/describe.h"

#include "device/cuda.h"
#include "device/nvml.h"
#include "device/nvrtc.h"

#include <string.h>

#ifndef EVOTILE_VERSION
#define EVOTILE_VERSION "unknown"
#endif

const struct name_description exit_statuses[] = {
    {"0", "done"},
    {"1", "failed: a full disk, a missing GPU, a worker that does not start"},
    {"2", "bad usage or bad input: an option, a config, a folder"},
    {"3", "a check failed: try, lint, replay, sanitize, gate, fsck, export, regret, wisdom, space "
          "--genome"},
    {0},
};

const struct name_description environment_variables[] = {
    {"CUDA_HOME", "folder of the CUDA Toolkit whose NVRTC is used"},
    {"EVOTILE_CACHE", "folder of compiled kernels (default: XDG_CACHE_HOME/evotile)"},
    {"EVOTILE_INDEX",
     "file of the index of runs, or none (default: XDG_STATE_HOME/evotile/runs.jsonl)"},
    {"EVOTILE_TEMPLATES", "folder that is searched for templates first"},
    {"EVOTILE_DEVICES", "folder of device data (default: configs/devices)"},
    {"EVOTILE_WISDOM", "the wisdom store (default: XDG_DATA_HOME/evotile/wisdom.db)"},
    {"EVOTILE_INTERVALS", "NAME=SECONDS,...: other periods and waiting times (base/intervals.h)"},
    {"COLUMNS", "width of tables in columns"},
    {0},
};

/* ---- the verbs with their options ---- */

typedef void describe_verb(const struct verb *verb, const struct option_row *rows, void *context);

/* Calls `describe` for each verb that help lists. The verb runs up to options_parse, which passes
   its option rows to `describe`. */
static void for_each_verb(const struct verb *const *verbs, describe_verb *describe, void *context) {
    for (; *verbs != NULL; verbs++) {
        char *arguments[] = {(char *)(*verbs)->name, NULL};
        struct verb described = **verbs;
        described.describe = describe;
        described.describe_context = context;
        if (!described.hidden)
            described.run(&described, 1, arguments);
    }
}

/* ---- bash ---- */

static void bash_verb(const struct verb *verb, const struct option_row *rows, void *context) {
    (void)rows;
    fprintf(context, " %s", verb->name);
}

static void bash_options(const struct verb *verb, const struct option_row *rows, void *context) {
    FILE *out = context;
    fprintf(out, "    %s) options='", verb->name);
    for (; option_is_listed(rows); rows++)
        fprintf(out, "--%s ", rows->name);
    fprintf(out, "--help' ;;\n");
}

void describe_bash(const struct verb *const *verbs, FILE *out) {
    fprintf(out, "# Completion of evotile's verbs and options for bash; `evotile completion bash` "
                 "prints it.\n"
                 "_evotile() {\n"
                 "    local current=${COMP_WORDS[COMP_CWORD]} options verbs='help");
    for_each_verb(verbs, bash_verb, out);
    fprintf(out, "'\n"
                 "    COMPREPLY=()\n"
                 "    if ((COMP_CWORD == 1)); then\n"
                 "        mapfile -t COMPREPLY < <(compgen -W \"$verbs --help --version\" -- "
                 "\"$current\")\n"
                 "        return\n"
                 "    fi\n"
                 "    case ${COMP_WORDS[1]} in\n"
                 "    help) ((COMP_CWORD == 2)) && mapfile -t COMPREPLY < <(compgen -W \"$verbs\" "
                 "-- \"$current\"); return ;;\n");
    for_each_verb(verbs, bash_options, out);
    /* An argument that is not an option is a file or a folder: bash completes it by default. */
    fprintf(out, "    *) return ;;\n"
                 "    esac\n"
                 "    [[ $current == -* ]] &&\n"
                 "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\")\n"
                 "}\n"
                 "complete -o bashdefault -o default -F _evotile evotile\n");
}

/* ---- zsh ---- */

/* Escapes `text` for a description of _arguments or _describe within single quotes. */
static void print_zsh_text(const char *text, FILE *out) {
    for (; *text != '\0'; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fprintf(out, "%s%c", strchr("[]:\\", *text) != NULL ? "\\" : "", *text);
}

static void zsh_verb(const struct verb *verb, const struct option_row *rows, void *context) {
    (void)rows;
    fprintf(context, "        '%s:", verb->name);
    print_zsh_text(verb->summary, context);
    fprintf(context, "'\n");
}

static void zsh_options(const struct verb *verb, const struct option_row *rows, void *context) {
    FILE *out = context;
    fprintf(out, "    %s) _arguments", verb->name);
    for (; option_is_listed(rows); rows++) {
        fprintf(out, " \\\n        '--%s[", rows->name);
        print_zsh_text(rows->about, out);
        fputc(']', out);
        if (rows->argument != NULL) {
            fputc(':', out);
            print_zsh_text(rows->argument, out);
            fprintf(out, ":_files");
        }
        fputc('\'', out);
    }
    fprintf(out, " \\\n        '--help[print this help and exit]' '*:file:_files' ;;\n");
}

void describe_zsh(const struct verb *const *verbs, FILE *out) {
    fprintf(out, "#compdef evotile\n"
                 "# Completion of evotile's verbs and options for zsh; `evotile completion zsh` "
                 "prints it.\n"
                 "_evotile() {\n"
                 "    local -a verbs\n"
                 "    verbs=(\n"
                 "        'help:print the help of a verb'\n");
    for_each_verb(verbs, zsh_verb, out);
    fprintf(out, "    )\n"
                 "    if ((CURRENT == 2)); then\n"
                 "        _describe verb verbs\n"
                 "        return\n"
                 "    fi\n"
                 "    shift words\n"
                 "    ((CURRENT--))\n"
                 "    case $words[1] in\n"
                 "    help) _describe verb verbs ;;\n");
    for_each_verb(verbs, zsh_options, out);
    fprintf(out, "    esac\n"
                 "}\n"
                 "if [ \"$funcstack[1]\" = _evotile ]; then _evotile \"$@\"; else compdef _evotile "
                 "evotile; fi\n");
}

/* ---- the manual page ---- */

/* Writes a line of plain text: escapes roff requests, backslashes and hyphens (so that options can
   be copied from the page). */
static void roff_line(const char *text, size_t length, FILE *out) {
    if (length > 0 && (*text == '.' || *text == '\''))
        fputs("\\&", out);
    for (; length > 0; text++, length--)
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
    fputc('\n', out);
}

static void roff_text(const char *text, FILE *out) {
    roff_line(text, strlen(text), out);
}

static void roff_rows(const char *title, const struct name_description *rows, FILE *out) {
    fprintf(out, ".SH %s\n", title);
    for (; rows->name != NULL; rows++) {
        fprintf(out, ".TP\n.B %s\n", rows->name);
        roff_text(rows->about, out);
    }
}

static void roff_option(const struct option_row *row, FILE *out) {
    fputs(".TP\n.B \\-\\-", out);
    for (const char *at = row->name; *at != '\0'; at++)
        fprintf(out, "%s%c", *at == '-' ? "\\" : "", *at);
    if (row->argument != NULL)
        fprintf(out, " \\fI%s\\fR", row->argument);
    fputc('\n', out);
    roff_text(row->about, out);
}

static void roff_options(const struct option_row *rows, FILE *out) {
    static const struct option_row help = {.name = "help", .about = "print this help and exit"};
    for (; option_is_listed(rows); rows++)
        roff_option(rows, out);
    roff_option(&help, out);
}

/* Formats the help text: paragraphs; indented lines as they are; the options as a list. The usage
   line is the heading of the section. */
static void roff_help(const struct verb *verb, const struct option_row *rows, FILE *out) {
    bool preformatted = false;
    bool new_paragraph = true;
    struct help_line line;
    for (const char *at = verb->help; help_read_line(verb, &at, &line);) {
        bool indented = line.length > 0 && *line.text == ' ';
        if (preformatted && !indented)
            fputs(".EE\n", out);
        if (line.length == 0 || line.kind == HELP_USAGE) {
            new_paragraph = true;
        } else if (line.kind == HELP_OPTIONS) {
            roff_options(rows, out);
        } else {
            if (new_paragraph || preformatted != indented)
                fputs(".PP\n", out);
            if (!preformatted && indented)
                fputs(".EX\n", out);
            new_paragraph = false;
            roff_line(line.text, line.length, out);
        }
        preformatted = indented;
    }
    if (preformatted)
        fputs(".EE\n", out);
}

static void roff_verb(const struct verb *verb, const struct option_row *rows, void *context) {
    FILE *out = context;
    fprintf(out, ".SS evotile %s ", verb->name);
    roff_text(verb->arguments, out);
    roff_help(verb, rows, out);
}

void describe_manual(const struct verb *const *verbs, FILE *out) {
    fputs(".TH EVOTILE 1 \"\" \"evotile " EVOTILE_VERSION
          "\"\n.SH NAME\nevotile \\- evolve CUDA kernels\n"
          ".SH SYNOPSIS\n.B evotile\n.I verb\n[arguments]\n"
          ".PP\n.B evotile help\n[\\fIverb\\fR]\n"
          ".PP\n.B evotile \\-\\-version\n"
          ".SH DESCRIPTION\nevotile searches the parameter space of a templated CUDA kernel and "
          "exports the fastest verified kernel as source that builds without evotile.\n"
          "Data goes to standard output, progress and warnings to standard error.\n"
          ".SH VERBS\n",
          out);
    for_each_verb(verbs, roff_verb, out);
    roff_rows("EXIT STATUS", exit_statuses, out);
    roff_rows("ENVIRONMENT", environment_variables, out);
}

/* ---- the version ---- */

static void print_cuda_version(int version, FILE *out) {
    fprintf(out, "%d.%d", version / 1000, version % 1000 / 10);
}

void describe_version(FILE *out) {
    struct error error = {0};
    struct nvrtc *nvrtc = nvrtc_open(&error);
    struct nvml *nvml = nvml_open(&error);
    int driver = cuda_driver_version();
    fprintf(out, "evotile " EVOTILE_VERSION "\nbuilt with the CUDA Toolkit ");
    print_cuda_version(cuda_built_with(), out);
    fprintf(out, "\nNVRTC %s\ndriver ", nvrtc != NULL ? nvrtc_version(nvrtc) : "not found");
    if (driver > 0) {
        fprintf(out, "%s%sof CUDA ", nvml != NULL ? nvml_driver(nvml) : "",
                nvml != NULL ? ", " : "");
        print_cuda_version(driver, out);
        fputc('\n', out);
    } else {
        fprintf(out, "not found\n");
    }
    nvml_close(nvml);
    nvrtc_close(nvrtc);
}

/* ---- the verbs ---- */

static int run_completion(const struct verb *verb, int argc, char **argv) {
    const struct option_row rows[] = {{0}};
    struct error error = {0};
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    if (strcmp(argv[0], "bash") == 0) {
        describe_bash(verb->all, stdout);
    } else if (strcmp(argv[0], "zsh") == 0) {
        describe_zsh(verb->all, stdout);
    } else {
        error_input(&error, "completion: unknown shell \"%s\": give bash or zsh", argv[0]);
        return error_report(&error);
    }
    return STATUS_DONE;
}

const struct verb verb_completion = {
    .name = "completion",
    .arguments = "bash|zsh",
    .summary = "print a completion script for bash or zsh",
    VERB_HELP(completion),
    .run = run_completion,
};

static int run_manual(const struct verb *verb, int argc, char **argv) {
    const struct option_row rows[] = {{0}};
    if (options_parse(verb, rows, argc, argv, 0, 0) < 0)
        return STATUS_USAGE;
    describe_manual(verb->all, stdout);
    return STATUS_DONE;
}

const struct verb verb_manual = {
    .name = "manual",
    .arguments = "",
    .summary = "print the manual page",
    VERB_HELP(manual),
    .run = run_manual,
    .hidden = true,
};
