/* http_out_test.c: heads and chunks as RFC 9110 and 9112 write them. */
#include "test.h"

#include "http_out.h"

static const char *head(const struct http_head *h) {
    static char text[2048];
    struct buf out;
    buf_init(&out, sizeof text - 1);
    http_head_put(&out, h);
    assert_false(out.full);
    memcpy(text, out.at, out.len);
    text[out.len] = 0;
    buf_fini(&out);
    return text;
}

static void a_head_says_what_there_is_to_say(void **state) {
    (void)state;
    const char *text = head(&(struct http_head){.status = 405,
                                                .type = "application/json",
                                                .length = 0,
                                                .close = true,
                                                .wall_ms = 784111777000, /* the example of RFC 9110 */
                                                .retry_after_s = 3,
                                                .allow = "GET, HEAD"});
    assert_memory_equal(text, "HTTP/1.1 405 Method Not Allowed\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n", 70);
    assert_has(text, "\r\nContent-Type: application/json\r\nContent-Length: 0\r\nConnection: close\r\n");
    assert_has(text, "\r\nRetry-After: 3\r\nAllow: GET, HEAD\r\n");
    assert_string_equal(text + strlen(text) - 4, "\r\n\r\n");
    assert_has_not(text, "Server");
    assert_has(head(&(struct http_head){.status = 401}), "\r\nWWW-Authenticate: Bearer\r\n");
}

static void lengths_are_told_in_one_way(void **state) {
    (void)state;
    const char *text = head(&(struct http_head){.status = 200, .length = HTTP_CHUNKED});
    assert_has(text, "\r\nTransfer-Encoding: chunked\r\n");
    assert_has_not(text, "Content-Length");
    text = head(&(struct http_head){.status = 200, .length = HTTP_UNTIL_CLOSE, .close = true});
    assert_has_not(text, "chunked");
    assert_has_not(text, "Content-Length");
    assert_has_not(head(&(struct http_head){.status = 204, .length = HTTP_NO_BODY}), "Content-Length");
}

/* An empty chunk would be the last: nothing is written for it. */
static void chunks_have_their_length(void **state) {
    (void)state;
    struct buf out;
    buf_init(&out, 100);
    http_chunk_put(&out, SLICE("0123456789abcdef!"));
    http_chunk_put(&out, (struct slice){0});
    http_chunk_last(&out);
    assert_true(slice_eq(buf_slice(&out), SLICE("11\r\n0123456789abcdef!\r\n0\r\n\r\n")));
    buf_fini(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_says_what_there_is_to_say),
        cmocka_unit_test(lengths_are_told_in_one_way),
        cmocka_unit_test(chunks_have_their_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
