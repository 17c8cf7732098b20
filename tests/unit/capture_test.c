/* capture_test.c: output on its way: nothing is lost or changed below the cap, head and tail above it. */
#include "test.h"

#include "capture.h"

static void read_all(const struct capture *c, uint64_t from, struct buf *ret) {
    uint64_t offset = from;
    for (const struct piece *p = capture_at(c, offset); p != NULL; p = capture_at(c, offset)) {
        struct slice s = bytes_slice(p->data);
        assert_int_equal(p->offset, offset);
        buf_put_slice(ret, s);
        offset += s.len;
    }
    assert_int_equal(offset, c->end);
}

static void small_writes_become_few_pieces_in_order(void **state) {
    (void)state;
    struct capture c;
    struct buf all;
    capture_init(&c, 0);
    buf_init(&all, 1u << 20);
    for (int i = 0; i < 1000; i++) capture_put(&c, WIRE_STREAM_OUT, SLICE("line\n"), i);
    capture_put(&c, WIRE_STREAM_ERR, SLICE("err"), 1000);
    capture_put(&c, WIRE_STREAM_OUT, SLICE("out"), 1001);
    capture_over(&c, 1002);
    assert_int_equal(c.end, 5006);
    assert_int_equal(c.queue.items.count, 3);
    assert_int_equal(capture_at(&c, 5000)->stream, WIRE_STREAM_ERR);
    assert_int_equal(capture_at(&c, 0)->time_ms, 0);
    read_all(&c, 0, &all);
    assert_memory_equal(all.at + 4995, "line\nerrout", 11);
    buf_fini(&all);
    capture_fini(&c);
}

static void what_is_acknowledged_is_forgotten_and_nothing_else(void **state) {
    (void)state;
    struct capture c;
    capture_init(&c, 0);
    static uint8_t bytes[3 * CAPTURE_PIECE_BYTES];
    capture_put(&c, WIRE_STREAM_OUT, slice_of(bytes, sizeof bytes), 1);
    capture_close_piece(&c);
    assert_int_equal(capture_memory(&c), sizeof bytes);
    capture_ack(&c, CAPTURE_PIECE_BYTES + 1); /* in the middle of a piece: it stays whole */
    assert_int_equal(capture_memory(&c), 2 * CAPTURE_PIECE_BYTES);
    assert_int_equal(c.sent, CAPTURE_PIECE_BYTES + 1);
    capture_ack(&c, 5); /* an old word */
    assert_int_equal(c.acked, CAPTURE_PIECE_BYTES + 1);
    capture_ack(&c, UINT64_MAX);
    assert_int_equal(capture_memory(&c), 0);
    assert_int_equal(c.acked, c.end);
    assert_null(capture_at(&c, c.end));
    capture_fini(&c);
}

/* Whatever is written in whatever portions: the head, a note, the tail, and every byte counted. */
static void above_the_cap_head_and_tail_are_kept(void **state) {
    (void)state;
    struct test_random r = {7};
    for (int round = 0; round < 200; round++) {
        struct capture c;
        struct buf all, written;
        uint64_t cap = 400 + test_random_below(&r, 2000), total = test_random_below(&r, 6000);
        capture_init(&c, cap);
        buf_init(&all, 1u << 20);
        buf_init(&written, 1u << 20);
        while (written.len < total) {
            uint8_t bytes[700];
            size_t len = 1 + (size_t)test_random_below(&r, sizeof bytes);
            for (size_t i = 0; i < len; i++) bytes[i] = (uint8_t)('a' + (written.len + i) % 23);
            buf_put(&written, bytes, len);
            capture_put(&c, WIRE_STREAM_OUT, slice_of(bytes, len), 1);
            if (test_random_below(&r, 3) == 0) capture_close_piece(&c);
        }
        capture_over(&c, 2);
        read_all(&c, 0, &all);
        assert_true(all.len <= cap);
        if (c.cut_bytes == 0) {
            assert_int_equal(all.len, written.len);
            assert_true(all.len == 0 || memcmp(all.at, written.at, all.len) == 0);
        } else {
            uint64_t kept = written.len - c.cut_bytes;
            assert_int_equal(kept, c.head_bytes_max + c.tail_bytes_max);
            assert_memory_equal(all.at, written.at, c.head_bytes_max);
            assert_memory_equal(all.at + all.len - c.tail_bytes_max, written.at + written.len - c.tail_bytes_max,
                                c.tail_bytes_max);
        }
        buf_fini(&all);
        buf_fini(&written);
        capture_fini(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_writes_become_few_pieces_in_order),
        cmocka_unit_test(what_is_acknowledged_is_forgotten_and_nothing_else),
        cmocka_unit_test(above_the_cap_head_and_tail_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
