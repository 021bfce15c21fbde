/* Durations as a user writes them. */
#include "config/config.h"

#include <ctype.h>
#include <string.h>

int config_parse_duration(const char *text, double *seconds, struct error *error) {
    double total = 0;
    double colon_parts[3];
    int parts = 0;
    const char *at = text;
    bool with_units = strchr(text, ':') == NULL;
    while (*at != '\0') {
        char *end;
        if (!isdigit((unsigned char)*at))
            goto malformed;
        size_t length = strspn(at, "0123456789.");
        double number = strtod(at, &end);
        if (end != at + length) /* rejects 1e3 and 0x10, which strtod reads but which are not
                                   written as times */
            goto malformed;
        at = end;
        if (with_units) {
            static const char units[] = "smhd";
            static const double scales[] = {1, 60, 3600, 86400};
            const char *unit = *at != '\0' ? strchr(units, *at) : NULL;
            if (unit == NULL)
                goto malformed;
            total += number * scales[unit - units];
            at++;
        } else {
            if (parts == 3 || (*at != ':' && *at != '\0') || (*at == ':' && at[1] == '\0'))
                goto malformed;
            colon_parts[parts++] = number;
            at += *at == ':';
        }
    }
    for (int i = 0; i < parts; i++)
        total = total * 60 + colon_parts[i];
    if (!(total > 0 && total < 1e9) || (!with_units && parts != 3))
        goto malformed;
    *seconds = total;
    return 0;
malformed:
    return error_input(error, "\"%s\" is not a duration: write 90s, 15m, 8h, 1h30m or hh:mm:ss",
                       text);
}
