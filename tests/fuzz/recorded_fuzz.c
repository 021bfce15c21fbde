/* Any text: it is a recorded space, or is rejected with a position; if it is read, its rows are its
   space. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/json_stream.h"
#include "device/recorded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    struct json_stream *stream = json_stream_bytes("fuzz.json", data, size, &error);
    struct recorded *recorded = recorded_read_stream(stream);
    json_stream_close(stream);
    if (recorded == NULL) {
        if (error.kind != ERROR_INPUT || strncmp(error.text, "fuzz.json:", 10) != 0)
            BUG("refused without a place: %s", error.text);
        return 0;
    }
    for (int64_t row = 0; row < recorded->row_count; row++) {
        if (recorded_find(recorded, &recorded->genomes[row]) != row)
            BUG("row %lld is not found again", (long long)row);
        if ((recorded->verdicts[row] == VERDICT_OK) != isfinite(recorded->times_us[row]))
            BUG("row %lld is neither measured nor failed", (long long)row);
    }
    if (recorded->ok_count == 0 || !(recorded->best_us > 0))
        BUG("a space without an optimum");
    recorded_free(recorded);
    return 0;
}
