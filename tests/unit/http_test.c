/* http_test.c: requests come out as they went in, in whatever pieces they arrive; each known trick by which two readers
 * are made to see different messages is refused. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "http.h"
#include "limit.h"
#include "uri.h"

static struct limits limits;
static struct http_in in;

static void begin(void) {
    limits_default(&limits);
    http_in_init(&in, &limits);
}

/* As it is used: the head, then the body. Returns how many bytes were taken. */
static size_t feed(struct slice bytes) {
    size_t used = http_in_feed(&in, bytes);
    while (in.state == HTTP_IN_BODY && used < bytes.len)
        used += http_in_feed(&in, slice_of(bytes.ptr + used, bytes.len - used));
    return used;
}

static void refused(const char *text, uint16_t status, const char *words) {
    begin();
    (void)feed(slice_str(text));
    if (in.state != HTTP_IN_BAD) fail_msg("taken: %s", text);
    assert_has(in.why.text, words);
    if (in.status != status) fail_msg("%u, not %u: %s", in.status, status, text);
    http_in_fini(&in);
}

static void taken(const char *text) {
    begin();
    assert_int_equal(feed(slice_str(text)), strlen(text));
    if (in.state != HTTP_IN_WHOLE) fail_msg("state %d (%s): %s", in.state, in.why.text, text);
    http_in_fini(&in);
}

#define HOST "Host: a\r\n"

static void a_request_is_read(void **state) {
    (void)state;
    begin();
    const char *text = "POST /api/v1/flows?name=a HTTP/1.1\r\nHost: here:7070\r\nContent-Length: 2\r\n"
                       "X-Blank:\t  padded \r\n\r\n{}";
    assert_int_equal(feed(slice_str(text)), strlen(text));
    assert_int_equal(in.state, HTTP_IN_WHOLE);
    assert_int_equal(in.request.verb, HTTP_VERB_POST);
    assert_true(slice_eq(in.request.path, SLICE("/api/v1/flows")));
    assert_true(slice_eq(in.request.query, SLICE("name=a")));
    assert_true(slice_eq(in.request.body, SLICE("{}")));
    assert_true(slice_eq(*http_header(&in.request, "host"), SLICE("here:7070")));
    assert_true(slice_eq(*http_header(&in.request, "x-blank"), SLICE("padded")));
    assert_null(http_header(&in.request, "x-other"));
    assert_true(in.request.keep_alive);
    http_in_fini(&in);
}

static const char *const whole[] = {
    "GET / HTTP/1.1\r\n" HOST "\r\n",
    "POST /a HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello",
    "POST /a HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
    "\r\nPUT http://b/c?d HTTP/1.1\r\n" HOST "Content-Length: 5\r\nExpect: 100-continue\r\n\r\nhello",
};

/* Each message in two pieces, split at every byte, and byte by byte. */
static void pieces_make_no_difference(void **state) {
    (void)state;
    for (size_t m = 0; m < sizeof whole / sizeof whole[0]; m++) {
        size_t len = strlen(whole[m]);
        for (size_t split = 0; split <= len; split++) {
            begin();
            for (size_t at = 0; at < len;) {
                size_t end = split == 0 ? at + 1 : at < split ? split : len;
                uint8_t *piece = malloc(end - at); /* so that a sanitizer sees a byte read too many */
                memcpy(piece, whole[m] + at, end - at);
                assert_int_equal(feed(slice_of(piece, end - at)), end - at);
                free(piece);
                at = end;
                assert_int_equal(in.state == HTTP_IN_WHOLE, at == len);
            }
            assert_true(m == 0 || slice_eq(in.request.body, SLICE("hello")));
            http_in_fini(&in);
        }
    }
}

static void messages_follow_each_other(void **state) {
    (void)state;
    char text[1024];
    snprintf(text, sizeof text, "%s%s%s", whole[2], whole[0], whole[1]);
    struct slice left = slice_str(text);
    const enum http_verb verbs[] = {HTTP_VERB_POST, HTTP_VERB_GET, HTTP_VERB_POST};
    begin();
    for (size_t i = 0; i < 3; i++) {
        size_t used = feed(left);
        assert_int_equal(in.state, HTTP_IN_WHOLE);
        assert_int_equal(in.request.verb, verbs[i]);
        assert_int_equal(in.request.body.len, i == 1 ? 0 : 5);
        left = slice_of(left.ptr + used, left.len - used);
        http_in_next(&in);
        assert_true(http_in_is_idle(&in));
    }
    assert_int_equal(left.len, 0);
    http_in_fini(&in);
}

/* The head can be looked at, and `100 Continue` sent, before a byte of the body is read. */
static void the_head_comes_first(void **state) {
    (void)state;
    begin();
    const char *text = "POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\nExpect: 100-Continue\r\n\r\nhello";
    size_t used = http_in_feed(&in, slice_str(text));
    assert_int_equal(in.state, HTTP_IN_BODY);
    assert_int_equal(used, strlen(text) - 5);
    assert_true(in.request.wants_continue);
    assert_int_equal(http_in_feed(&in, SLICE("hello")), 5);
    assert_int_equal(in.state, HTTP_IN_WHOLE);
    http_in_fini(&in);
}

static void line_ends_are_both_bytes(void **state) {
    (void)state;
    refused("GET / HTTP/1.1\nHost: a\n\n", 400, "a line feed without");
    refused("GET / HTTP/1.1\r\nHost: a\n\r\n", 400, "a line feed without");
    refused("GET / HTTP/1.1\r\nHost: a\r\r\n\r\n", 400, "a carriage return without");
    refused("GET / HTTP/1.1\r\nA: b\rContent-Length: 5\r\n" HOST "\r\n", 400, "a carriage return without");
    refused("GET / HTTP/1.1\r\nA: \rB: c\r\n" HOST "\r\n", 400, "a carriage return without");
    refused("\rGET / HTTP/1.1\r\n" HOST "\r\n", 400, "a carriage return without");
    refused("GET / HTTP/1.1\r\nA: b\r\n c\r\n" HOST "\r\n", 400, "next line");
    refused("GET / HTTP/1.1\r\nA: b\r\n\tc\r\n" HOST "\r\n", 400, "next line");
    refused("GET / HTTP/1.1\r\n A: b\r\n" HOST "\r\n", 400, "next line");
}

static void the_length_is_said_once(void **state) {
    (void)state;
#define POST "POST / HTTP/1.1\r\n" HOST
    refused(POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "");
    refused(POST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400, "");
    refused(POST "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 400, "");
    refused(POST "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400, "");
    refused(POST "Content-Length: 5, 5\r\n\r\nhello", 400, "");
    refused(POST "Content-Length: +5\r\n\r\nhello", 400, "");
    refused(POST "Content-Length: -5\r\n\r\nhello", 400, "");
    refused(POST "Content-Length: 0x5\r\n\r\nhello", 400, "");
    refused(POST "Content-Length: 5 5\r\n\r\nhello", 400, "");
    refused(POST "Content-Length: \r\n\r\n", 400, "");
    refused(POST "Content-Length: 99999999999999999999\r\n\r\n", 400, "");
    refused(POST "Content-Length : 5\r\n\r\nhello", 400, "");
    refused(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "");
    refused(POST "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "");
    refused(POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501, "only transfer-encoding");
    refused(POST "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", 400, "");
    refused(POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501, "");
    refused(POST "Transfer-Encoding: \x0b"
                 "chunked\r\n\r\n0\r\n\r\n",
            400, "control character");
    refused(POST "Transfer-Encoding:\r\n\r\n", 501, "");
    refused("POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "HTTP/1.0");
}

static void chunks_are_by_the_book(void **state) {
    (void)state;
#define CHUNKED POST "Transfer-Encoding: Chunked\r\n\r\n"
    taken(CHUNKED "5\r\nhello\r\n0\r\n\r\n");
    taken(CHUNKED "0a\r\nhellohello\r\n0\r\n\r\n");
    refused(CHUNKED "5\nhello\r\n0\r\n\r\n", 400, "");
    refused(CHUNKED "5\rhello\r\n0\r\n\r\n", 400, "");
    refused(CHUNKED "5\r\nhello0\r\n\r\n", 400, "");
    refused(CHUNKED "5\r\nhello\n0\r\n\r\n", 400, "");
    refused(CHUNKED "5\r\nhelloXX0\r\n\r\n", 400, "");
    refused(CHUNKED "0x5\r\nhello\r\n0\r\n\r\n", 400, "");
    refused(CHUNKED "-5\r\nhello\r\n0\r\n\r\n", 400, "");
    refused(CHUNKED "5 \r\nhello\r\n0\r\n\r\n", 400, "");
    refused(CHUNKED "fffffffffffffffff\r\nhello", 400, "");
    taken(CHUNKED "5;a=b\r\nhello\r\n0\r\n\r\n");
    taken(CHUNKED "5;a;b=c;d=\"e f;\";g\r\nhello\r\n0;last\r\n\r\n");
    taken(CHUNKED "5\r\nhello\r\n0\r\nX: y\r\nZ:\r\n\r\n");
    refused(CHUNKED "5;\nhello\r\n0\r\n\r\n", 400, "");
    refused(CHUNKED "5;\r\nhello\r\n0\r\n\r\n", 400, "extension");
    refused(CHUNKED "5;a=\r\nhello\r\n0\r\n\r\n", 400, "extension");
    refused(CHUNKED "5;a=b\nhello\r\n0\r\n\r\n", 400, "extension");
    refused(CHUNKED "5;a=\"b\nc\"\r\nhello\r\n0\r\n\r\n", 400, "extension");
    taken(CHUNKED "5;a=\"b\\\"\\\\c\"\r\nhello\r\n0\r\n\r\n");
    taken(CHUNKED "5 ; a\t= b ;c = \"d\te\xc3\xa9\" ; f\r\nhello\r\n0\r\n\r\n");
    refused(CHUNKED "5;a \r\nhello\r\n0\r\n\r\n", 400, "extension");
    refused(CHUNKED "5;a b\r\nhello\r\n0\r\n\r\n", 400, "extension");
    refused(CHUNKED "5;a=b =c\r\nhello\r\n0\r\n\r\n", 400, "extension");
    refused(CHUNKED "5;a=\"b\" c\r\nhello\r\n0\r\n\r\n", 400, "extension");
    refused(CHUNKED "5 a\r\nhello\r\n0\r\n\r\n", 400, "extension");
    refused(CHUNKED "5;a=\"b\\\nc\"\r\nhello\r\n0\r\n\r\n", 400, "extension");
    refused(CHUNKED "0\r\nContent-Length: 5\r\n\r\n", 400, "trailer");
    refused(CHUNKED "0\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "trailer");
    refused(CHUNKED "0\r\nHost: b\r\n\r\n", 400, "trailer");
    refused(CHUNKED "0\r\nX y: z\r\n\r\n", 400, "trailer");
    refused(CHUNKED "0\r\nX: y\n\r\n", 400, "control character");
    refused(CHUNKED "0\r\nX: y\r\r\n", 400, "");
}

static void the_first_line_has_one_form(void **state) {
    (void)state;
    refused("GET /\r\n" HOST "\r\n", 400, "METHOD TARGET"); /* HTTP/0.9 */
    refused("GET / HTTP/0.9\r\n" HOST "\r\n", 505, "");
    refused("GET / HTTP/1.2\r\n" HOST "\r\n", 505, "");
    refused("GET / HTTP/2.0\r\n" HOST "\r\n", 505, "");
    refused("GET / HTTP/1.1 \r\n" HOST "\r\n", 400, "");
    refused("GET / http/1.1\r\n" HOST "\r\n", 400, "");
    refused("GET / HTTP/1.1x\r\n" HOST "\r\n", 400, "");
    refused("GET  / HTTP/1.1\r\n" HOST "\r\n", 400, "");
    refused("GET\t/ HTTP/1.1\r\n" HOST "\r\n", 400, "");
    refused("GET / a HTTP/1.1\r\n" HOST "\r\n", 400, "");
    refused("FROB / HTTP/1.1\r\n" HOST "\r\n", 501, "method");
    refused("GE(T / HTTP/1.1\r\n" HOST "\r\n", 400, "");
    refused("GET a HTTP/1.1\r\n" HOST "\r\n", 400, "");
    refused("GET /a#b HTTP/1.1\r\n" HOST "\r\n", 400, "");
    refused("GET ftp://a/ HTTP/1.1\r\n" HOST "\r\n", 400, "");
}

static void headers_have_names(void **state) {
    (void)state;
    refused("GET / HTTP/1.1\r\n" HOST "na\xc3\xafve: x\r\n\r\n", 400, "");
    refused("GET / HTTP/1.1\r\n" HOST "two words: x\r\n\r\n", 400, "");
    refused("GET / HTTP/1.1\r\n" HOST ": x\r\n\r\n", 400, "");
    refused("GET / HTTP/1.1\r\n" HOST "none\r\n\r\n", 400, "");
    refused("GET / HTTP/1.1\r\n" HOST "a\x01: x\r\n\r\n", 400, "control");
    refused("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400, "");
    refused("GET / HTTP/1.1\r\n\r\n", 400, "host");
    refused("GET / HTTP/1.1\r\n" HOST HOST "\r\n", 400, "host");
    refused("GET / HTTP/1.1\r\n" HOST "Expect: 200-ok\r\n\r\n", 417, "expectation");
    taken("GET / HTTP/1.1\r\n" HOST "A: obs-text \xe9 is allowed in values\r\n\r\n");
    begin();
    (void)feed(slice_of("GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n", 30));
    assert_int_equal(in.state, HTTP_IN_BAD);
    http_in_fini(&in);
}

static void old_http_is_by_the_book(void **state) {
    (void)state;
    begin();
    (void)feed(SLICE("GET / HTTP/1.0\r\n\r\n")); /* needs no host */
    assert_int_equal(in.state, HTTP_IN_WHOLE);
    assert_false(in.request.keep_alive);
    http_in_next(&in);
    (void)feed(SLICE("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    assert_true(in.request.keep_alive);
    http_in_next(&in);
    (void)feed(SLICE("GET / HTTP/1.1\r\n" HOST "Connection: Close\r\n\r\n"));
    assert_false(in.request.keep_alive);
    http_in_next(&in);
    (void)feed(SLICE("GET / HTTP/1.1\r\n" HOST "Connection: upgrade\r\nUpgrade: h2c\r\n\r\n"));
    assert_int_equal(in.state, HTTP_IN_WHOLE); /* the offer is not taken up */
    http_in_fini(&in);
}

/* Wherever it stands: heads are looked at eight bytes at a time. */
static void control_characters_are_seen_everywhere(void **state) {
    (void)state;
    for (unsigned c = 1; c < 256; c++)
        for (size_t at = 0; at < 24; at++) {
            char text[128];
            size_t len = (size_t)snprintf(text, sizeof text, "GET / HTTP/1.1\r\n" HOST "A: x");
            memset(text + len, 'a', 24);
            text[len + at] = (char)c;
            snprintf(text + len + 24, sizeof text - len - 24, "z\r\n\r\n");
            begin();
            (void)feed(slice_str(text));
            bool is_good = c == '\t' || (c >= 0x20 && c != 0x7f);
            if (is_good != (in.state == HTTP_IN_WHOLE)) fail_msg("byte %u at %zu", c, at);
            http_in_fini(&in);
        }
}

static void every_part_has_its_limit(void **state) {
    (void)state;
    static char text[1 << 16];
    size_t len = (size_t)snprintf(text, sizeof text, "GET /");
    memset(text + len, 'a', 9000);
    snprintf(text + len + 9000, sizeof text - len - 9000, " HTTP/1.1\r\n" HOST "\r\n");
    refused(text, 414, "http_target_bytes_max");
    text[len + 9000] = 0; /* nor is it waited for */
    refused(text, 414, "http_target_bytes_max");

    len = (size_t)snprintf(text, sizeof text, "GET / HTTP/1.1\r\n" HOST "A: ");
    memset(text + len, 'a', 33000);
    snprintf(text + len + 33000, sizeof text - len - 33000, "\r\n\r\n");
    refused(text, 431, "http_head_bytes_max");

    len = (size_t)snprintf(text, sizeof text, "GET / HTTP/1.1\r\n" HOST);
    for (int i = 0; i < 100; i++) len += (size_t)snprintf(text + len, sizeof text - len, "a%d: b\r\n", i);
    snprintf(text + len, sizeof text - len, "\r\n");
    refused(text, 431, "http_headers_max");

    refused(POST "Content-Length: 16777217\r\n\r\n", 413, "http_body_bytes_max");
    begin();
    limits.http_body_bytes_max = 4;
    (void)feed(SLICE(CHUNKED "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"));
    assert_int_equal(in.state, HTTP_IN_BAD);
    assert_int_equal(in.status, 413);
    http_in_fini(&in);
}

static void targets_have_parts(void **state) {
    (void)state;
    struct slice authority, path, query, key, value, word;
    assert_true(uri_split(SLICE("http://here:1/a/b?c=d"), &authority, &path, &query));
    assert_true(slice_eq(authority, SLICE("here:1")));
    assert_true(slice_eq(path, SLICE("/a/b")));
    assert_true(uri_word_next(&path, &word) && slice_eq(word, SLICE("a")));
    assert_true(uri_word_next(&path, &word) && slice_eq(word, SLICE("b")));
    assert_false(uri_word_next(&path, &word));
    assert_true(uri_split(SLICE("https://here?x"), &authority, &path, &query));
    assert_int_equal(path.len, 0);
    assert_true(uri_split(SLICE("/?&a=1&&b&c=%20=+"), &authority, &path, &query));
    assert_true(uri_pair_next(&query, &key, &value) && slice_eq(key, SLICE("a")) && slice_eq(value, SLICE("1")));
    assert_true(uri_pair_next(&query, &key, &value) && slice_eq(key, SLICE("b")) && value.len == 0);
    assert_true(uri_pair_next(&query, &key, &value) && slice_eq(value, SLICE("%20=+")));
    struct arena arena;
    struct why why;
    arena_init(&arena, 1024, 65536);
    assert_int_equal(uri_decode(value, true, &arena, &word, &why), ERR_OK);
    assert_true(slice_eq(word, SLICE(" = ")));
    assert_int_equal(uri_decode(SLICE("a%2Fb+"), false, &arena, &word, &why), ERR_OK);
    assert_true(slice_eq(word, SLICE("a/b+")));
    const char *const bad[] = {"%", "%2", "a%zz", "%00", "%ff", "%c3%28"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(uri_decode(slice_str(bad[i]), false, &arena, &word, &why), ERR_INVALID);
    arena_fini(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_are_seen_everywhere),
        cmocka_unit_test(a_request_is_read),
        cmocka_unit_test(pieces_make_no_difference),
        cmocka_unit_test(messages_follow_each_other),
        cmocka_unit_test(the_head_comes_first),
        cmocka_unit_test(line_ends_are_both_bytes),
        cmocka_unit_test(the_length_is_said_once),
        cmocka_unit_test(chunks_are_by_the_book),
        cmocka_unit_test(the_first_line_has_one_form),
        cmocka_unit_test(headers_have_names),
        cmocka_unit_test(old_http_is_by_the_book),
        cmocka_unit_test(every_part_has_its_limit),
        cmocka_unit_test(targets_have_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
