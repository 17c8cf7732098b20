/* http_test.c: random requests, and what random changes make of them, read by us and by llhttp: in whatever pieces they
 * come, what we take is what llhttp takes. */
#include "test.h"

#include <stdlib.h>

#include "http_judge.h"
#include "limit.h"

#define ROUNDS 20000
#define CHANGES 3

static const char *const methods[] = {"GET",   "POST",    "PUT",   "DELETE",  "HEAD",
                                      "PATCH", "OPTIONS", "TRACE", "CONNECT", "FROB"};
static const char *const targets[] = {"/",
                                      "/api/v1/flows?name=a%20b&x=[1]",
                                      "*",
                                      "http://here:7070/a?b",
                                      "https://[::1]/",
                                      "http://user@here/",
                                      "/a#b",
                                      "/\xc3\xa9",
                                      "a",
                                      "/very/long/target/that/is/read/eight/bytes/at/a/time"};
static const char *const versions[] = {"HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/1.2", "HTTP/2.0"};
static const char *const headers[] = {"Host: a\r\n",
                                      "Host: localhost:7070\r\n",
                                      "Connection: close\r\n",
                                      "Connection: keep-alive, Upgrade\r\n",
                                      "connection: \tclose\t, x\r\n",
                                      "Proxy-Connection: close\r\n",
                                      "Connection:closed,keep-alive \r\n",
                                      "Upgrade: websocket\r\n",
                                      "Authorization: Bearer 0123456789abcdef0123456789abcdef\r\n",
                                      "A:\r\n",
                                      "B:  \t padded\twith tabs \t \r\n",
                                      "Obs: caf\xe9\r\n",
                                      "Expect: 100-continue\r\n",
                                      "Content-Type: application/json\r\n",
                                      " folded\r\n",
                                      "no colon\r\n",
                                      "Blank : x\r\n",
                                      "Bare: x\ry\r\n",
                                      "Feed: x\n",
                                      "Content-Length: 0\r\n",
                                      "Content-Length: 5\r\n",
                                      "Content-Length: 5 \r\n",
                                      "Content-Length:\t5\t\r\n",
                                      "Content-Length: 05\r\n",
                                      "Transfer-Encoding: chunked\r\n",
                                      "Transfer-Encoding: chunked \r\n",
                                      "Transfer-Encoding: gzip, chunked\r\n"};
static const char *const framed[][2] = {
    {"", ""},
    {"Content-Length: 5\r\n", "hello"},
    {"content-length: 12\r\n", "GET / HTTP/1"},
    {"Transfer-Encoding: Chunked\r\n", "5\r\nhello\r\n0\r\n\r\n"},
    {"Transfer-Encoding: chunked\r\n", "00A\r\n0123456789\r\n1\r\nx\r\n000\r\n\r\n"},
    {"Transfer-Encoding: chunked\r\n", "5;a=b\r\nhello\r\n0\r\n\r\n"},
    {"Transfer-Encoding: chunked\r\n", "0\r\nX: y\r\n\r\n"},
    {"Transfer-Encoding: chunked\r\n", "3;a;b=\"c d\";e=f\r\nabc\r\n0;z\r\nX-Sum: 1\r\nY:\r\n\r\n"},
    {"Transfer-Encoding: chunked\r\n", "5 \r\nhello\r\n0\r\n\r\n"},
    {"Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n"}};
#define PICK(random, list) (list)[test_random_below(random, sizeof(list) / sizeof *(list))]

static void put(struct buf *out, const char *text) {
    buf_put_slice(out, slice_str(text));
}

/* Most are good in all parts but perhaps one. */
static void put_request(struct test_random *random, struct buf *out) {
    uint64_t few = test_random_below(random, 6);
    if (test_random_below(random, 10) == 0) put(out, "\r\n");
    put(out, few == 0 ? PICK(random, methods) : methods[test_random_below(random, 6)]);
    put(out, " ");
    put(out, few == 1 ? PICK(random, targets) : targets[test_random_below(random, 2)]);
    put(out, " ");
    put(out, few == 0 ? PICK(random, versions) : versions[test_random_below(random, 4)]);
    put(out, "\r\nHost: a\r\n");
    for (uint64_t i = test_random_below(random, 4); i > 0; i--)
        put(out, few == 2 ? PICK(random, headers) : headers[2 + test_random_below(random, 11)]);
    const char *const *body = few == 1 ? PICK(random, framed) : framed[test_random_below(random, 5)];
    put(out, body[0]);
    put(out, "\r\n");
    put(out, body[1]);
}

static void change(struct test_random *random, struct buf *text) {
    static const char bytes[] = "\r\n\t :;,/5aF0\x01\x7f\x80\xff#?@-";
    size_t at = test_random_below(random, text->len);
    switch (test_random_below(random, 3)) {
    case 0: text->at[at] = (uint8_t)bytes[test_random_below(random, sizeof bytes)]; break;
    case 1:
        memmove(text->at + at, text->at + at + 1, text->len - at - 1);
        buf_cut(text, text->len - 1);
        break;
    default:
        buf_put_u8(text, 0);
        memmove(text->at + at + 1, text->at + at, text->len - at - 1);
        text->at[at] = (uint8_t)bytes[test_random_below(random, sizeof bytes)];
    }
}

struct outcome {
    enum http_in_state state;
    size_t used;
    uint16_t status;
};

/* In pieces of `step` bytes, each in memory of its own, so that a sanitizer sees a byte read too many. */
static struct outcome read_ours(struct slice text, size_t step, const struct limits *limits) {
    struct http_in in;
    struct outcome o = {0};
    http_in_init(&in, limits);
    while (o.used < text.len && in.state != HTTP_IN_BAD && in.state != HTTP_IN_WHOLE) {
        size_t most = step < text.len - o.used ? step : text.len - o.used, used = 0;
        uint8_t *piece = malloc(most);
        memcpy(piece, text.ptr + o.used, most);
        while (used < most && in.state != HTTP_IN_BAD && in.state != HTTP_IN_WHOLE)
            used += http_in_feed(&in, slice_of(piece + used, most - used));
        free(piece);
        o.used += used;
    }
    o.state = in.state;
    o.status = in.state == HTTP_IN_BAD ? in.status : 0;
    if (in.state == HTTP_IN_WHOLE) http_judge(&in, slice_of(text.ptr, o.used));
    http_in_fini(&in);
    return o;
}

static void what_we_take_llhttp_takes(void **state) {
    (void)state;
    struct test_random random = {103};
    struct limits limits;
    uint32_t taken = 0, refused = 0;
    limits_default(&limits);
    for (int round = 0; round < ROUNDS; round++) {
        struct buf text;
        buf_init(&text, 4096);
        put_request(&random, &text);
        for (uint64_t i = test_random_below(&random, CHANGES); i > 0; i--) change(&random, &text);
        struct outcome whole = read_ours(buf_slice(&text), SIZE_MAX, &limits);
        taken += whole.state == HTTP_IN_WHOLE;
        refused += whole.state == HTTP_IN_BAD;
        for (size_t step = 1; step < 20; step += 1 + test_random_below(&random, 9)) {
            struct outcome pieces = read_ours(buf_slice(&text), step, &limits);
            assert_int_equal(pieces.state, whole.state);
            if (whole.state == HTTP_IN_WHOLE) assert_int_equal(pieces.used, whole.used);
            assert_int_equal(pieces.status, whole.status);
        }
        buf_fini(&text);
    }
    assert_true(taken > ROUNDS / 4);
    assert_true(refused > ROUNDS / 4);
}

/* All that we refuse and llhttp, as strict as it can be, does not; with the reason that we give. */
static void what_only_we_refuse_has_a_name(void **state) {
    (void)state;
#define HOST "Host: a\r\n"
    static const char *const stricter[][2] = {
        {"GET  / HTTP/1.1\r\n" HOST "\r\n", "METHOD TARGET"},
        {"GET / HTTP/1.1\n" HOST "\r\n", "a line feed without"},
        {"GET / HTTP/1.1\r\n\r\n", "one host"},
        {"GET / HTTP/1.1\r\n" HOST HOST "\r\n", "one host"},
        {"GET /a#b HTTP/1.1\r\n" HOST "\r\n", "neither a path"},
        {"GET *a HTTP/1.1\r\n" HOST "\r\n", "neither a path"},
        {"GET ftp://a/ HTTP/1.1\r\n" HOST "\r\n", "neither a path"},
        {"GET http://user@a/ HTTP/1.1\r\n" HOST "\r\n", "neither a path"},
        {"PROPFIND / HTTP/1.1\r\n" HOST "\r\n", "method"},
        {"CONNECT a:1 HTTP/1.1\r\n" HOST "\r\n", "tunnel"},
        {"GET / HTTP/1.1\r\n" HOST "A: b\r\n c\r\n\r\n", "next line"},
        {"GET / HTTP/1.1\r\n" HOST "Expect: other\r\n\r\n", "expectation"},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: 1 \r\n\r\nx", "a blank behind"},
        {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "only transfer-encoding"},
        {"POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.0"},
        {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 1\r\n\r\n", "trailer"},
        {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0000000000000000\r\n\r\n", "size of a chunk"},
    };
    struct limits limits;
    limits_default(&limits);
    for (size_t i = 0; i < sizeof stricter / sizeof stricter[0]; i++) {
        struct slice text = slice_str(stricter[i][0]);
        struct http_in in;
        if (!http_judge_takes(text)) fail_msg("llhttp refuses it, too: %s", stricter[i][0]);
        http_in_init(&in, &limits);
        size_t used = http_in_feed(&in, text);
        if (in.state == HTTP_IN_BODY) (void)http_in_feed(&in, slice_of(text.ptr + used, text.len - used));
        if (in.state != HTTP_IN_BAD) fail_msg("taken: %s", stricter[i][0]);
        assert_has(in.why.text, stricter[i][1]);
        http_in_fini(&in);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_we_take_llhttp_takes),
        cmocka_unit_test(what_only_we_refuse_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
