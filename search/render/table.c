#include "render/table.h"

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/mustache.h"
#include "base/strbuf.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct table_cell_value {
    cJSON *value;
    char *text;
};

struct table {
    int column_count, cell_count;
    struct table_column *columns;
    struct table_cell_value *cells; /* row by row */
};

enum { INDENT = 4, WRAP_WIDTH_MIN = 28 };

struct table *table_new(const struct table_column *columns, int count) {
    struct table *table = xcalloc(1, sizeof *table);
    struct table_column *copy = xcalloc((size_t)count, sizeof *copy);
    memcpy(copy, columns, (size_t)count * sizeof *copy);
    *table = (struct table){.column_count = count, .columns = copy};
    return table;
}

void table_free(struct table *table) {
    if (table == NULL)
        return;
    for (int i = 0; i < table->cell_count; i++) {
        cJSON_Delete(table->cells[i].value);
        free(table->cells[i].text);
    }
    free(table->cells);
    free(table->columns);
    free(table);
}

/* ---- cells ---- */

void table_cell(struct table *table, cJSON *value, const char *text) {
    char *copy = text_escaped(text, true);
    table->cells = xgrow(table->cells, table->cell_count, sizeof *table->cells);
    /* A line break or a tab in a cell would break the layout. */
    for (char *at = copy; *at != '\0'; at++)
        if ((unsigned char)*at < ' ')
            *at = ' ';
    table->cells[table->cell_count++] = (struct table_cell_value){value, copy};
}

static void add_integer(struct table *table, int64_t number) {
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, number);
    /* Raw, because cJSON's numbers are doubles and cannot hold every int64_t. */
    table_cell(table, cJSON_CreateRaw(text), text);
}

/* `word`: its conversion; "%.0f%%" shows a share in percent. */
static void add_number(struct table *table, const char *word, double number) {
    char conversion[16], text[400];
    bool percent = strchr(word, '%') != strrchr(word, '%');
    if (!isfinite(number)) {
        table_cell(table, cJSON_CreateNull(), "-");
        return;
    }
    snprintf(conversion, sizeof conversion, "%%%.*s", (int)strcspn(word + 1, "%"), word + 1);
    snprintf(text, sizeof text, conversion, percent ? 100 * number : number);
    table_cell(table, cJSON_CreateNumber(number), text);
}

static void add_text(struct table *table, const char *text) {
    table_cell(table, text != NULL ? cJSON_CreateString(text) : cJSON_CreateNull(),
               text != NULL ? text : "-");
}

void table_add(struct table *table, const char *format, ...) {
    char words[256];
    va_list arguments;
    snprintf(words, sizeof words, "%s", format);
    va_start(arguments, format);
    char *rest = words;
    for (const char *word; (word = strsep(&rest, " ")) != NULL;)
        if (strcmp(word, "%s") == 0)
            add_text(table, va_arg(arguments, const char *));
        else if (strcmp(word, "%d") == 0)
            add_integer(table, va_arg(arguments, int));
        else if (strcmp(word, "%ld") == 0)
            add_integer(table, va_arg(arguments, long));
        else if (strcmp(word, "-") == 0)
            add_text(table, NULL);
        else
            add_number(table, word, va_arg(arguments, double));
    va_end(arguments);
}

void table_heading(struct table *table, const char *column, const char *heading) {
    int c = 0;
    while (table->columns[c].name == NULL || strcmp(table->columns[c].name, column) != 0)
        if (++c == table->column_count)
            BUG("the table has no column %s", column);
    table->columns[c].heading = heading;
}

int table_row_count(const struct table *table) {
    return table->cell_count / table->column_count;
}

static const struct table_cell_value *cell_at(const struct table *table, int row, int column) {
    return &table->cells[row * table->column_count + column];
}

/* ---- text ---- */

/* The width in characters: continuation bytes of UTF-8 take no space. */
static int text_width(const char *text, size_t bytes) {
    int width = 0;
    for (size_t i = 0; i < bytes; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

static void print_padded(const char *text, size_t bytes, int width, bool right, FILE *out) {
    int room = width - text_width(text, bytes);
    room = room > 0 ? room : 0;
    fprintf(out, "%*s%.*s%*s", right ? room : 0, "", (int)bytes, text, right ? 0 : room, "");
}

static int heading_lines(const char *heading) {
    int lines = 1;
    for (; *heading != '\0'; heading++)
        lines += *heading == '\n';
    return lines;
}

/* Line `line` of a heading with `lines` lines. Headings are aligned at the bottom: the first lines
   of a shorter one are empty. */
static const char *heading_line(const char *heading, int lines, int line, size_t *bytes) {
    int skip = line - (lines - heading_lines(heading));
    for (; skip > 0; skip--)
        heading = strchr(heading, '\n') + 1;
    *bytes = skip < 0 ? 0 : strcspn(heading, "\n");
    return heading;
}

/* How many bytes of `text` fit a line of `width`; breaks after a comma or space if there is one. */
static size_t line_bytes(const char *text, int width) {
    size_t at = 0;
    size_t cut = 0;
    int used = 0;
    while (text[at] != '\0') {
        used += ((unsigned char)text[at] & 0xc0) != 0x80;
        if (used > width)
            return cut > 0 ? cut : at;
        at++;
        if (text[at - 1] == ',' || text[at - 1] == ' ')
            cut = at;
    }
    return at;
}

/* Prints wrapped lines from column `indent` on; the cursor is already there for the first. */
static void print_wrapped(const char *text, int indent, int width, FILE *out) {
    while (width > 0 && text_width(text, strlen(text)) > width) {
        size_t bytes = line_bytes(text, width);
        size_t shown = bytes;
        while (shown > 0 && text[shown - 1] == ' ')
            shown--;
        fprintf(out, "%.*s\n%*s", (int)shown, text, indent, "");
        text += bytes;
        text += strspn(text, " ");
    }
    fprintf(out, "%s\n", text);
}

/* The layout of a table in text. */
struct text_layout {
    int widths[64];
    int last;       /* the last column shown */
    int lines;      /* of headings */
    int gap;        /* spaces between columns: 1 if the table is too wide, else 2 */
    int tail;       /* where the last column starts */
    int tail_width; /* 0: unlimited */
    bool below;     /* the last column has lines of its own */
};

static struct text_layout compute_layout(const struct table *table, int width) {
    struct text_layout layout = {.lines = 1, .last = -1};
    if (table->column_count > 64)
        BUG("a table of %d columns", table->column_count);
    for (int c = 0; c < table->column_count; c++) {
        const char *heading = table->columns[c].heading;
        if (heading == NULL)
            continue;
        layout.last = c;
        int lines = heading_lines(heading);
        layout.lines = lines > layout.lines ? lines : layout.lines;
        for (int line = 0; line < lines; line++) {
            size_t bytes;
            const char *part = heading_line(heading, lines, line, &bytes);
            int wide = text_width(part, bytes);
            layout.widths[c] = wide > layout.widths[c] ? wide : layout.widths[c];
        }
        for (int row = 0; row < table_row_count(table); row++) {
            const char *text = cell_at(table, row, c)->text;
            int wide = text_width(text, strlen(text));
            layout.widths[c] = wide > layout.widths[c] ? wide : layout.widths[c];
        }
    }
    int shown = 0;
    for (int c = 0; c < layout.last; c++)
        if (table->columns[c].heading != NULL) {
            layout.tail += layout.widths[c];
            shown++;
        }
    layout.gap = width > 0 && layout.tail + 2 * shown > width ? 1 : 2;
    layout.tail += layout.gap * shown;
    if (width > 0 && layout.last >= 0 && table->columns[layout.last].wrap &&
        layout.tail + layout.widths[layout.last] > width) {
        layout.below = layout.tail + WRAP_WIDTH_MIN > width;
        layout.tail = layout.below ? INDENT : layout.tail;
        layout.tail_width = width - layout.tail > 1 ? width - layout.tail : 1;
    }
    return layout;
}

static void print_headings(const struct table *table, const struct text_layout *layout, FILE *out) {
    bool any = false;
    for (int c = 0; c <= layout->last; c++)
        any = any || (table->columns[c].heading != NULL && *table->columns[c].heading != '\0');
    if (!any)
        return;
    for (int line = 0; line < layout->lines; line++) {
        int blank = 0; /* pending spaces, so that no line ends in spaces */
        for (int c = 0; c <= layout->last; c++) {
            const struct table_column *column = &table->columns[c];
            size_t bytes;
            if (column->heading == NULL || (layout->below && c == layout->last))
                continue;
            const char *part = heading_line(column->heading, layout->lines, line, &bytes);
            int room = layout->widths[c] - text_width(part, bytes);
            if (bytes > 0)
                fprintf(out, "%*s%.*s", blank + (column->right ? room : 0), "", (int)bytes, part);
            blank = bytes == 0      ? blank + layout->widths[c] + layout->gap
                    : column->right ? layout->gap
                                    : room + layout->gap;
        }
        fputc('\n', out);
    }
    if (layout->below) {
        fprintf(out, "%*s", INDENT, "");
        for (const char *at = table->columns[layout->last].heading; *at != '\0'; at++)
            fputc(*at == '\n' ? ' ' : *at, out);
        fputc('\n', out);
    }
}

void table_print_text(const struct table *table, int width, FILE *out) {
    struct text_layout layout = compute_layout(table, width);
    if (layout.last < 0)
        return;
    print_headings(table, &layout, out);
    for (int row = 0; row < table_row_count(table); row++) {
        bool first = true;
        for (int c = 0; c < layout.last; c++) {
            if (table->columns[c].heading == NULL)
                continue;
            const char *text = cell_at(table, row, c)->text;
            fprintf(out, "%*s", first ? 0 : layout.gap, "");
            print_padded(text, strlen(text), layout.widths[c], table->columns[c].right, out);
            first = false;
        }
        const char *text = cell_at(table, row, layout.last)->text;
        if (layout.below)
            fprintf(out, "\n%*s", INDENT, "");
        else
            fprintf(out, "%*s", first ? 0 : layout.gap, "");
        if (table->columns[layout.last].right)
            fprintf(out, "%*s", layout.widths[layout.last] - text_width(text, strlen(text)), "");
        print_wrapped(text, layout.tail, layout.tail_width, out);
    }
}

/* ---- Markdown, HTML and CSV ---- */

/* A cell may quote a candidate: it makes no emphasis, link or picture. */
static void print_markdown_cell(const char *text, FILE *out) {
    fputc(' ', out);
    mustache_escape_markdown(text, out);
    fputs(" |", out);
}

static void print_markdown(const struct table *table, FILE *out) {
    for (int row = -2; row < table_row_count(table); row++) {
        fputc('|', out);
        for (int c = 0; c < table->column_count; c++) {
            const struct table_column *column = &table->columns[c];
            if (column->heading == NULL)
                continue;
            if (row == -2)
                print_markdown_cell(column->heading, out);
            else if (row == -1)
                fputs(column->right ? "---:|" : "---|", out);
            else
                print_markdown_cell(cell_at(table, row, c)->text, out);
        }
        fputc('\n', out);
    }
}

/* The value for sorting, if the text is rounded. */
static void print_html_value(const struct table_cell_value *cell, FILE *out) {
    if (cJSON_IsNumber(cell->value) && strtod(cell->text, NULL) != cell->value->valuedouble)
        fprintf(out, " data-value=%.6g", cell->value->valuedouble);
}

/* Allows a line break after any comma. */
static void print_html_wrapped(const char *text, FILE *out) {
    for (size_t length; *text != '\0'; text += length) {
        char part[256];
        length = strcspn(text, ",");
        length += text[length] == ',';
        length = length < sizeof part ? length : sizeof part - 1;
        memcpy(part, text, length);
        part[length] = '\0';
        mustache_escape_html(part, out);
        fputs(part[length - 1] == ',' ? "<wbr>" : "", out);
    }
}

static void print_html_cell(const struct table_cell_value *cell, bool wrap, FILE *out) {
    const char *text = cJSON_IsNull(cell->value) ? "\xe2\x80\x93" : cell->text;
    if (wrap)
        print_html_wrapped(text, out);
    else
        mustache_escape_html(text, out);
}

/* Closing tags of cells and rows are optional in HTML, and left out for size: a page has thousands
   of cells. */
static void print_html_row(const struct table *table, int row, FILE *out) {
    const char *tag = row < 0 ? "th" : "td";
    fputs("<tr>", out);
    for (int c = 0; c < table->column_count; c++) {
        const struct table_column *column = &table->columns[c];
        if (column->heading == NULL)
            continue;
        fprintf(out, "<%s%s", tag,
                column->right  ? " class=number"
                : column->wrap ? " class=wrap"
                               : "");
        if (row >= 0)
            print_html_value(cell_at(table, row, c), out);
        fputc('>', out);
        if (row < 0)
            mustache_escape_html(column->heading, out);
        else
            print_html_cell(cell_at(table, row, c), column->wrap, out);
    }
    fputc('\n', out);
}

static void print_html(const struct table *table, FILE *out) {
    fputs("<table>\n<thead>\n", out);
    print_html_row(table, -1, out);
    fputs("<tbody>\n", out);
    for (int row = 0; row < table_row_count(table); row++)
        print_html_row(table, row, out);
    fputs("</table>\n", out);
}

/* RFC 4180, except that lines end with \n. */
void table_print_csv_text(const char *text, FILE *out) {
    char *escaped = text_escaped(text, true);
    bool quoted = escaped[strcspn(escaped, ",\"\r\n")] != '\0';
    if (quoted)
        fputc('"', out);
    for (const char *at = escaped; *at != '\0'; at++) {
        if (*at == '"')
            fputc('"', out);
        fputc(*at, out);
    }
    if (quoted)
        fputc('"', out);
    free(escaped);
}

/* Values are printed as in JSON, except text, which has no JSON quotes, and lists, which are
   printed as in text. */
static void print_csv_value(const struct table_cell_value *cell, FILE *out) {
    if (cJSON_IsNull(cell->value))
        return;
    if (cJSON_IsString(cell->value)) {
        table_print_csv_text(cell->value->valuestring, out);
        return;
    }
    bool list = cJSON_IsArray(cell->value) || cJSON_IsObject(cell->value);
    char *value = list ? NULL : cJSON_PrintUnformatted(cell->value);
    table_print_csv_text(value != NULL ? value : cell->text, out);
    cJSON_free(value);
}

static void print_csv(const struct table *table, FILE *out) {
    for (int row = -1; row < table_row_count(table); row++) {
        const char *comma = "";
        for (int c = 0; c < table->column_count; c++) {
            if (table->columns[c].name == NULL)
                continue;
            fputs(comma, out);
            comma = ",";
            if (row < 0) {
                table_print_csv_text(table->columns[c].name, out);
                continue;
            }
            print_csv_value(cell_at(table, row, c), out);
        }
        fputc('\n', out);
    }
}

int table_terminal_width(FILE *out) {
    struct winsize size = {0};
    const char *columns = getenv("COLUMNS");
    if (columns != NULL && atoi(columns) > 0)
        return atoi(columns);
    if (isatty(fileno(out)) && ioctl(fileno(out), TIOCGWINSZ, &size) == 0)
        return size.ws_col;
    return 0;
}

void table_print(const struct table *table, enum table_format format, FILE *out) {
    if (format == TABLE_TEXT)
        table_print_text(table, table_terminal_width(out), out);
    else if (format == TABLE_MARKDOWN)
        print_markdown(table, out);
    else if (format == TABLE_HTML)
        print_html(table, out);
    else
        print_csv(table, out);
}

/* ---- JSON ---- */

cJSON *table_json(const struct table *table) {
    cJSON *rows = cJSON_CreateArray();
    for (int row = 0; row < table_row_count(table); row++) {
        cJSON *object = cJSON_CreateObject();
        for (int c = 0; c < table->column_count; c++)
            if (table->columns[c].name != NULL)
                cJSON_AddItemToObject(object, table->columns[c].name,
                                      cJSON_Duplicate(cell_at(table, row, c)->value, true));
        cJSON_AddItemToArray(rows, object);
    }
    return rows;
}

void table_print_json(cJSON *value, FILE *out) {
    char *text = json_print(value);
    fprintf(out, "%s\n", text);
    free(text);
}
