/* Any line: it is a message or is rejected; an accepted message is printed as a line that is
   accepted again. */
#include <stddef.h>

#include "evaluate/messages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *print(const struct protocol_message *message) {
    switch (message->kind) {
    case PROTOCOL_START:
        return protocol_print_start(&message->start);
    case PROTOCOL_IMAGES:
        return protocol_print_images(&message->images);
    case PROTOCOL_REQUEST:
        return protocol_print_request(&message->request);
    case PROTOCOL_RESULT:
        return protocol_print_result(&message->result);
    case PROTOCOL_DEVICE:
        return protocol_print_device(&message->device);
    case PROTOCOL_CHAMPION:
        return protocol_print_champion(&message->champion);
    default:
        return protocol_print_failure(&message->failure);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct protocol_message message, again;
    struct error error = {0};
    char *line = strndup((const char *)data, size);
    if (line == NULL)
        abort();
    if (protocol_read(line, &message, &error) == 0) {
        char *printed = print(&message);
        if (protocol_read(printed, &again, &error) < 0 || again.kind != message.kind)
            BUG("%s\nis taken, but not as it is then printed\n%s", line, printed);
        protocol_message_release(&again);
        protocol_message_release(&message);
        free(printed);
    }
    free(line);
    return 0;
}
