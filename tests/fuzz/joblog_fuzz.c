/* joblog_fuzz.c: any bytes as the pieces of a log: decoding never reads past them, hands pieces out in order and
 * without gaps, and with an offset to begin at hands out the same bytes from there. */
#include <stddef.h>
#include <stdint.h>

#include "joblog.h"
#include "panic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct seen {
    uint64_t from, next, sum;
};

static void piece(void *ctx, uint64_t offset, const struct log_piece *p) {
    struct seen *s = ctx;
    ENSURE(offset == s->next);
    ENSURE(p->stream <= LOG_STDERR && p->bytes.len > 0);
    for (size_t i = 0; i < p->bytes.len; i++)
        if (offset + i >= s->from) s->sum = s->sum * 31 + p->bytes.ptr[i];
    s->next += p->bytes.len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
    uint64_t from = len > 0 ? data[0] : 0, bytes = 0, again = 0;
    struct slice body = len > 0 ? slice_of(data + 1, len - 1) : (struct slice){0};
    struct seen all = {.from = 1000 + from, .next = 1000};
    bool good = joblog_pieces_decode(body, 1000, 0, piece, &all, &bytes);
    if (!good) return 0;
    ENSURE(all.next == 1000 + bytes);
    if (from > bytes) return 0;
    struct seen some = {.from = 1000 + from, .next = 1000 + from};
    ENSURE(joblog_pieces_decode(body, 1000, 1000 + from, piece, &some, &again));
    ENSURE(again == bytes && some.sum == all.sum && some.next == all.next);
    return 0;
}
