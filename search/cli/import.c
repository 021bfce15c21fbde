/* import: makes a template of a T1 description. */
#include "import/t1.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/path.h"
#include "cli/cli.h"

#include <string.h>

static int run(const struct verb *verb, int argc, char **argv) {
    struct import_options options = {.out = ""};
    struct import_texts notes = {0};
    struct error error = {0};
    const char *out = NULL;
    const struct option_row rows[] = {
        OPTION("reference", "FILE", "what is correct: .py or .cu (default: the default genome)",
               &options.reference),
        OPTION("output", "NAMES", "arguments that the kernel writes, separated by commas",
               &options.outputs),
        OPTION("inout", "NAMES", "arguments that it reads and writes", &options.inouts),
        OPTION("size", "NAME=N,...", "elements of an argument, or the value of a number",
               &options.sizes),
        OPTION("name", "NAME", "of the template (default: the kernel's)", &options.name),
        OPTION("out", "DIR", "the folder that gets NAME and NAME.json (default: this one)", &out),
        {0},
    };
    int count = options_parse(verb, rows, argc, argv, 1, 2);
    if (count < 0)
        return STATUS_USAGE;
    char *config = xcalloc(1, PATH_SIZE);
    options.file = argv[0];
    options.kernel = count > 1 ? argv[1] : NULL;
    if (out != NULL && strcmp(out, ".") != 0)
        options.out = out;
    int status = import_t1(&options, config, &notes, &error);
    for (int i = 0; i < notes.count; i++)
        log_info("%s", notes.items[i]);
    if (status == 0)
        log_info("written: `evotile space %s` counts its genomes, `evotile try %s` checks it, "
                 "`evotile lint %s` says what the checks would miss",
                 config, config, config);
    import_texts_release(&notes);
    free(config);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_import = {
    .name = "import",
    .arguments = "T1.json [KERNEL.cu] [options]",
    .summary = "make a template from a T1 description and its CUDA source",
    VERB_HELP(import),
    .run = run,
};
