#include <math.h>
#include <time.h>

#include "base/memory.h"
#include "report/page_internal.h"

void add_text(cJSON *to, const char *name, const char *text) {
    cJSON_AddStringToObject(to, name, text != NULL ? text : "");
}

void add_format(cJSON *to, const char *name, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    add_text(to, name, text);
}

/* Prints a table without its last line break, which the template has. */
static char *print_table(const struct page *page, const struct table *table) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = xopen_memstream(&text, &size);
    if (table_row_count(table) > 0 && page->format == PAGE_TEXT)
        table_print_text(table, page->width, out);
    else if (table_row_count(table) > 0)
        table_print(table, page->format == PAGE_HTML ? TABLE_HTML : TABLE_MARKDOWN, out);
    fclose(out);
    if (size > 0 && text[size - 1] == '\n')
        text[size - 1] = '\0';
    return text;
}

int add_table(const struct page *page, cJSON *to, const char *name, struct table *table) {
    if (table == NULL)
        return -1;
    if (page->format == PAGE_JSON) {
        cJSON_AddItemToObject(to, name, table_json(table));
    } else {
        char *text = print_table(page, table);
        add_text(to, name, text);
        free(text);
    }
    table_free(table);
    return 0;
}

void print_when(double seconds, char text[WHEN_SIZE]) {
    time_t when = (time_t)seconds;
    struct tm parts;
    if (isfinite(seconds) && gmtime_r(&when, &parts) != NULL)
        strftime(text, WHEN_SIZE, "%Y-%m-%d %H:%M UTC", &parts);
    else
        snprintf(text, WHEN_SIZE, "?");
}

void print_duration(double seconds, char text[WHEN_SIZE]) {
    if (seconds < 120)
        snprintf(text, WHEN_SIZE, "%.0f s", seconds);
    else if (seconds < 2 * 3600)
        snprintf(text, WHEN_SIZE, "%.0f min", seconds / 60);
    else
        snprintf(text, WHEN_SIZE, "%d h %02d min", (int)(seconds / 3600), (int)(seconds / 60) % 60);
}
