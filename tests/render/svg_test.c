/* What gnuplot writes, in small: the page's colours come in, what says nothing goes, and text
 * stays. */
#include "render/svg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants them before it. */
#include <cmocka.h>

static const char head[] =
    "<?xml version=\"1.0\"?>\n<svg \n viewBox=\"0 0 560 300\"\n>\n\n<title>Gnuplot</title>\n"
    "<g id=\"gnuplot_canvas\">\n\n"
    "<rect x=\"0\" y=\"0\" width=\"560\" height=\"300\" fill=\"none\"/>\n"
    "<defs>\n<circle id='gpDot' r='0.5'/>\n</defs>\n";

static void expect(const char *body, const char *expected) {
    char *svg = malloc(strlen(head) + strlen(body) + 32);
    strcat(strcat(strcpy(svg, head), body), "</g>\n</svg>\n");
    char *picture = svg_inline(svg, "a < b");
    char *start = strchr(picture, '>') + 1;
    assert_non_null(
        strstr(picture, "<svg viewBox=\"0 0 560 300\" role=\"img\" aria-label=\"a &lt; b\">"));
    while (*start == '\n')
        start++;
    *strstr(start, "</svg>") = '\0';
    assert_string_equal(start, expected);
    free(picture);
    free(svg);
}

static void colours_are_the_pages(void **state) {
    (void)state;
    expect("<path stroke='rgb(  1,   0,  12)'  d='M1.25,2.50 L3.00,4.00 '/>\n",
           "<path stroke='var(--c12)' d='M1.2,2.5 L3.0,4.0 '/>\n");
    expect("<path stroke='rgb(9, 8, 7)' d='M1,2 L3,4 '/>\n",
           "<path stroke='rgb(9,8,7)' d='M1,2 L3,4 '/>\n");
    expect("<path stroke='black' fill='gray' d='M1,2 L3,4 '/>\n",
           "<path stroke='currentColor' fill='var(--c0)' d='M1,2 L3,4 '/>\n");
}

static void what_says_nothing_goes(void **state) {
    (void)state;
    expect("<g fill=\"none\" color=\"black\" stroke=\"currentColor\" stroke-width=\"1.00\" "
           "stroke-linecap=\"butt\" stroke-linejoin=\"miter\">\n</g>\n",
           "");
    expect("<g stroke-width=\"2.00\">\n<path stroke='gray' d='M5.00,6.00 '/></g>\n", "");
    expect("<g id=\"gnuplot_plot_1\" ><title>x</title>\n<g stroke-width=\"2.00\"><path d='M1,2 "
           "L3,4 '/></g>\n</g>\n",
           "<g stroke-width=\"2.0\"><path d='M1,2 L3,4 '/></g>\n");
    expect("<use xlink:href='#gpPt6' transform='scale(4.50)' color='white'/>\n"
           "<use xlink:href='#gpPt6' transform='scale(2.25)' color='rgb(1, 0, 2)'/>\n",
           "<use xlink:href='#gpPt6' transform='scale(2.2)' color='var(--c2)'/>\n");
}

static void text_stays_as_it_is(void **state) {
    (void)state;
    expect("<g fill=\"black\"><text>1.35 'black' rgb( 1, 0, 2) \"gray\" "
           "font-size=\"12.00\" &lt;title&gt;</text></g>\n",
           "<g fill=\"currentColor\"><text>1.35 'black' rgb( 1, 0, 2) \"gray\" font-size=\"12.00\" "
           "&lt;title&gt;</text></g>\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours_are_the_pages),
        cmocka_unit_test(what_says_nothing_goes),
        cmocka_unit_test(text_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
