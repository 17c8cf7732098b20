/* websocket_test.c: the handshake's answer, frames that clients may send, in pieces of every size, and each that they
 * may not, with the code it is closed with. */
#include "test.h"

#include <stdio.h>

#include "osdigest.h"
#include "position.h"
#include "websocket.h"

static void the_answer_to_a_key_is_that_of_the_rfc(void **state) {
    (void)state;
    uint8_t salted[WEBSOCKET_SALTED_BYTES], sha1[DIGEST_SHA1_BYTES];
    char got[WEBSOCKET_ACCEPT_BYTES];
    assert_true(websocket_key_is_good(SLICE("dGhlIHNhbXBsZSBub25jZQ==")));
    websocket_salt(SLICE("dGhlIHNhbXBsZSBub25jZQ=="), salted);
    osdigest()->sha1(osdigest(), slice_of(salted, sizeof salted), sha1);
    websocket_accept(sha1, got);
    assert_string_equal(got, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_false(websocket_key_is_good(SLICE("dGhlIHNhbXBsZSBub25jZQ=")));
    assert_false(websocket_key_is_good(SLICE("dGhlIHNhbXBsZSBub25jZ===")));
    assert_false(websocket_key_is_good(SLICE("dGhl HNhbXBsZSBub25jZQ==")));
    assert_false(websocket_key_is_good(SLICE("")));
}

static void heads_have_the_shortest_length(void **state) {
    (void)state;
    static const struct {
        size_t bytes;
        const char *head;
        size_t len;
    } cases[] = {{0, "\x81\x00", 2},
                 {125, "\x81\x7d", 2},
                 {126, "\x81\x7e\x00\x7e", 4},
                 {65535, "\x81\x7e\xff\xff", 4},
                 {65536, "\x81\x7f\x00\x00\x00\x00\x00\x01\x00\x00", 10}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf out;
        buf_init(&out, 64);
        websocket_head_put(&out, WEBSOCKET_TEXT, cases[i].bytes);
        assert_true(slice_eq(buf_slice(&out), slice_of(cases[i].head, cases[i].len)));
        buf_fini(&out);
    }
}

/* What a client would send: masked with 1, 2, 3, 4. */
static void put_frame(struct buf *out, uint8_t first, const char *payload, size_t len) {
    size_t start = out->len;
    websocket_head_put(out, WEBSOCKET_TEXT, len);
    out->at[start] = first;
    out->at[start + 1] |= 0x80;
    for (uint8_t i = 1; i <= 4; i++) buf_put_u8(out, i);
    for (size_t i = 0; i < len; i++) buf_put_u8(out, (uint8_t)((uint8_t)payload[i] ^ (i % 4 + 1)));
}

/* Everything that is got, as text, when the bytes come in pieces of `step`. */
static void read_all(struct slice all, size_t step, char text[400]) {
    struct websocket_in in;
    struct websocket_got got;
    size_t len = 0;
    websocket_in_init(&in);
    text[0] = 0;
    for (size_t at = 0; at < all.len; at += step) {
        struct slice piece = slice_of(all.ptr + at, all.len - at < step ? all.len - at : step);
        while (websocket_take(&in, &piece, &got))
            len += (size_t)snprintf(text + len, 400 - len, "%d/%u/%.*s ", got.what, got.code, SLICE_FMT(got.payload));
    }
    websocket_in_fini(&in);
}

static void frames_are_the_same_in_pieces(void **state) {
    (void)state;
    struct buf all;
    char whole[400], pieces[400], longer[300];
    memset(longer, 'x', sizeof longer);
    buf_init(&all, 4096);
    put_frame(&all, 0x81, "hello", 5);
    put_frame(&all, 0x01, "h\xc3", 2); /* a character in two fragments, with a ping between */
    put_frame(&all, 0x89, "p", 1);
    put_frame(&all, 0x80, "\xa4!", 2);
    put_frame(&all, 0x82, longer, 130);
    put_frame(&all, 0x8a, "", 0);
    put_frame(&all, 0x88,
              "\x03\xe8"
              "bye",
              5);
    put_frame(&all, 0x81, "too late", 8);
    read_all(buf_slice(&all), all.len, whole);
    char want[400];
    snprintf(want, sizeof want, "0/0/hello 1/0/p 0/0/h\xc3\xa4! 0/0/%.130s 2/0/ 3/1000/ ", longer);
    assert_string_equal(whole, want);
    for (size_t step = 1; step < all.len; step++) {
        read_all(buf_slice(&all), step, pieces);
        assert_string_equal(pieces, want);
    }
    buf_fini(&all);
}

static void what_is_not_allowed_is_closed_with_its_code(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
        unsigned code;
    } cases[] = {
        {"\xc1\x80\1\2\3\4", 6, 1002},                  /* a reserved bit */
        {"\x83\x80\1\2\3\4", 6, 1002},                  /* an opcode that is none */
        {"\x8b\x80\1\2\3\4", 6, 1002},                  /* of a control frame */
        {"\x81\x00", 2, 1002},                          /* not masked */
        {"\x09\x80\1\2\3\4", 6, 1002},                  /* a ping in fragments */
        {"\x89\xfe\x00\x7e\1\2\3\4", 8, 1002},          /* one that is too long */
        {"\x80\x80\1\2\3\4", 6, 1002},                  /* continues nothing */
        {"\x01\x80\1\2\3\4\x81\x80\1\2\3\4", 12, 1002}, /* a message inside another */
        {"\x81\xfe\x00\x01\1\2\3\4", 8, 1002},          /* a length that is not the shortest */
        {"\x81\xff\0\0\0\0\0\0\1\0\1\2\3\4", 14, 1002},
        {"\x81\xff\x80\0\0\0\0\1\0\0\1\2\3\4", 14, 1002},
        {"\x81\xfe\x10\x01\1\2\3\4", 8, 1009},     /* 4,097 bytes */
        {"\x88\x81\1\2\3\4x", 7, 1002},            /* half a code */
        {"\x88\x82\0\0\0\0\x03\xed", 8, 1002},     /* 1005 is never sent */
        {"\x88\x83\0\0\0\0\x03\xe8\xff", 9, 1007}, /* a reason that is no text */
        {"\x81\x81\0\0\0\0\xff", 7, 1007},
        {"\x81\x83\0\0\0\0\xed\xa0\x80", 9, 1007}, /* half of a pair */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char got[400], want[40];
        snprintf(want, sizeof want, "4/%u/ ", cases[i].code);
        read_all(slice_of(cases[i].bytes, cases[i].len), cases[i].len, got);
        if (strcmp(got, want) != 0) fail_msg("case %zu: %s in place of %s", i, got, want);
    }
}

static void fragments_do_not_add_up_to_more_than_a_message(void **state) {
    (void)state;
    static char much[4000];
    struct buf all;
    char got[400];
    buf_init(&all, 16384);
    put_frame(&all, 0x02, much, sizeof much);
    put_frame(&all, 0x80, much, 97);
    read_all(buf_slice(&all), all.len, got);
    assert_string_equal(got, "4/1009/ ");
    buf_fini(&all);
}

static void positions_are_read_as_they_are_written(void **state) {
    (void)state;
    static const char *const bad[] = {
        "", ".", "1.", ".1", "-1.0", "1.4294967296", "1.2.3", "x", "1 ", "18446744073709551616"};
    char room[POSITION_TEXT_BYTES];
    struct position p = {0};
    assert_true(position_read(SLICE("18.2"), &p));
    assert_true(p.lsn == 18 && p.ordinal == 2);
    assert_true(slice_eq(position_text(p, room), SLICE("18.2")));
    assert_true(position_read(SLICE("18"), &p));
    assert_true(p.lsn == 18 && p.ordinal == UINT32_MAX);
    assert_true(position_is_after(p, (struct position){18, 7}));
    assert_false(position_is_after((struct position){18, 7}, (struct position){18, 7}));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_false(position_read(slice_str(bad[i]), &p));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_answer_to_a_key_is_that_of_the_rfc),
        cmocka_unit_test(heads_have_the_shortest_length),
        cmocka_unit_test(frames_are_the_same_in_pieces),
        cmocka_unit_test(what_is_not_allowed_is_closed_with_its_code),
        cmocka_unit_test(fragments_do_not_add_up_to_more_than_a_message),
        cmocka_unit_test(positions_are_read_as_they_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
