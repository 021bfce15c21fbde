#include "render/gnuplot.h"

FILE *gnuplot_open(struct error *error) {
    /* Asked first: a pipe to a program that is not there tells nothing before it is closed. */
    if (system("command -v gnuplot >/dev/null 2>&1") != 0) {
        error_set(error,
                  "gnuplot draws pictures, and is not there: install the package gnuplot-nox");
        return NULL;
    }
    FILE *gnuplot = popen("exec gnuplot", "w");
    if (gnuplot == NULL)
        error_set(error, "cannot start gnuplot: %m");
    return gnuplot;
}

int gnuplot_close(FILE *gnuplot, struct error *error) {
    return pclose(gnuplot) == 0 ? 0
                                : error_set(error, "gnuplot did not draw: see what it says above");
}

void gnuplot_quote(const char *text, FILE *gnuplot) {
    /* Two quotes at the very beginning would be an empty text. */
    fputs(*text == '\'' ? "' " : "'", gnuplot);
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputc('\'', gnuplot);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, gnuplot);
    }
    fputc('\'', gnuplot);
}
