/* http_judge_fuzz.c: a stream of requests from anyone, read by us and by llhttp: what we take, llhttp takes, too, and
 * understands in the same way (http_judge.h). */
#include "http_judge.h"
#include "limit.h"
#include "panic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUESTS_MAX 16u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct limits limits;
    struct http_in in;
    size_t at = 0, start = 0;
    limits_default(&limits);
    limits.http_head_bytes_max = 2048;
    limits.http_body_bytes_max = 4096;
    http_in_init(&in, &limits);
    for (uint32_t count = 0; at < size && in.state != HTTP_IN_BAD && count < REQUESTS_MAX;) {
        size_t used = http_in_feed(&in, slice_of(data + at, size - at));
        ENSURE(used <= size - at && (used > 0 || in.state != HTTP_IN_HEAD));
        at += used;
        if (in.state != HTTP_IN_WHOLE) continue;
        http_judge(&in, slice_of(data + start, at - start));
        http_in_next(&in);
        start = at;
        count++;
    }
    http_in_fini(&in);
    return 0;
}
