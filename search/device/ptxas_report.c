#include "device/ptxas_report.h"

#include <stdio.h>
#include <string.h>

/* Returns the number before `what` in one line, or 0. */
static int number_before(const char *line, const char *what) {
    const char *end = strchr(line, '\n');
    const char *found = strstr(line, what);
    if (found == NULL || (end != NULL && found > end))
        return 0;
    while (found > line && found[-1] >= '0' && found[-1] <= '9')
        found--;
    int number = 0;
    sscanf(found, "%9d", &number);
    return number;
}

bool ptxas_report_find(const char *log, const char *kernel, struct ptxas_report *report) {
    static const char entry[] = "Compiling entry function '", serial[] = "are serialized due to",
                      properties[] = "Function properties for ";
    size_t length = strlen(kernel);
    bool in_kernel = false, in_properties = false, found = false, serialised = false;
    *report = (struct ptxas_report){0};
    for (const char *line = log; line != NULL && *line != '\0';
         line = strchr(line, '\n'), line += line != NULL) {
        const char *end = strchr(line, '\n'), *at = strstr(line, entry);
        if (at != NULL && (end == NULL || at < end)) {
            at += strlen(entry);
            in_kernel = strncmp(at, kernel, length) == 0 && at[length] == '\'';
            found |= in_kernel;
            continue;
        }
        at = strstr(line, serial);
        if (at != NULL && (end == NULL || at < end)) {
            const char *name = strstr(at, "function '");
            serialised |= name != NULL && strncmp(name + 10, kernel, length) == 0 &&
                          name[10 + length] == '\'';
            continue;
        }
        /* functions that the kernel calls are reported between its lines */
        at = strstr(line, properties);
        if (at != NULL && (end == NULL || at < end)) {
            at += strlen(properties);
            in_properties = strncmp(at, kernel, length) == 0 && strchr("\n\r", at[length]);
            continue;
        }
        if (in_properties && number_before(line, " bytes stack frame") >= 0 &&
            strstr(line, "stack frame") != NULL &&
            (end == NULL || strstr(line, "stack frame") < end)) {
            report->stack_bytes = number_before(line, " bytes stack frame");
            report->spill_bytes = number_before(line, " bytes spill stores") +
                                  number_before(line, " bytes spill loads");
        }
        if (in_kernel && number_before(line, " registers"))
            report->registers = number_before(line, " registers");
    }
    report->serialised = serialised;
    return found;
}
