/* answer_fuzz.c: whatever a server answers, the outputs are JSON, or a limit is named. */
#include <stddef.h>
#include <string.h>

#include "answer.h"
#include "json_read.h"
#include "limit.h"
#include "panic.h"

static void check_json(struct slice text) {
    struct limits limits;
    struct json_read r;
    struct arena arena;
    struct why why = {{0}};
    const struct json_token *token = NULL;
    enum err e = ERR_OK;
    limits_default(&limits);
    arena_init(&arena, 65536, (size_t)1 << 28);
    json_read_init(&r, text, &limits, &arena, &why);
    do e = json_read_next(&r, &token);
    while (e == ERR_OK && token->kind != JSON_OVER);
    if (e != ERR_OK && e != ERR_LIMIT) PANIC(why.text);
    arena_fini(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Lines up to an empty one are the head, the rest is the body. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct answer a;
    struct buf out;
    bool good = true;
    size_t at = 0;
    answer_init(&a, 4096, NULL);
    while (good && at < size) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t len = end != NULL ? (size_t)(end + 1 - data) - at : size - at;
        good = answer_head_line(&a, slice_of(data + at, len));
        at += len;
        if (len == 1) break;
    }
    if (good) good = answer_body(&a, slice_of(data + at, size - at));
    ENSURE(good == (a.why.text[0] == 0));
    buf_init(&out, (size_t)1 << 24);
    (void)answer_retry_ms(&a, 0);
    answer_tell(&a, 200, SLICE("http://x/${A}"), (struct slice){0}, &out);
    ENSURE(!out.full);
    if (good) check_json(buf_slice(&out));
    buf_fini(&out);
    answer_fini(&a);
    return 0;
}
