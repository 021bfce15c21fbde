#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "remote/connection_internal.h"

/* A result's text is printed on terminals: line ends and tabs are kept, other control characters
   are replaced, and the JSON keeps its length. */
static void control_characters_are_replaced(void **state) {
    (void)state;
    static const struct {
        const char *sent, *read;
    } rows[] = {
        {"{\"reason\":\"a \\u001b[2J b\"}", "{\"reason\":\"a       [2J b\"}"},
        {"\x1b]0;x\x07", " ]0;x "},
        {"one\\ntwo\\tthree\\r", "one\\ntwo\\tthree  "},
        {"\xc2\x9b m\xc3\xb6glich \xc2\xc2\x9b", "   m\xc3\xb6glich \xc2  "},
        {"a \\\\u001b, as it is written", "a \\\\u001b, as it is written"},
        {"\\", "\\"},
        {"", ""},
    };
    assert_int_equal(nats_Open(-1), NATS_OK); /* the library allocates messages */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char message_id[MESSAGE_ID_SIZE];
        natsMsg *message = message_new("result", "0123456789abcdef", "a-1", rows[i].sent);
        char *text = message_text(message, message_id);
        assert_non_null(text);
        assert_string_equal(text, rows[i].read);
        assert_string_equal(message_id, "a-1");
        free(text);
        natsMsg_Destroy(message);
    }
    nats_CloseAndWait(1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_are_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
