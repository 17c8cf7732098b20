/* joblog_test.c: logs of attempts: offsets, repeats and gaps, caps, following, letting go. */
#include "test.h"

#include <stdio.h>

#include "hash.h"
#include "simdisk.h"
#include "store_fixture.h"

struct fixture {
    struct simdisk *sim;
    struct store_fixture lab;
    struct joblogs *logs;
    struct pack_reader reader;
    struct log_state s;
    struct why why;
};

static void rig_open(struct fixture *r) {
    assert_int_equal(store_fixture_start(&r->lab), ERR_OK);
    r->logs = r->lab.vault.logs;
    joblogs_reader_init(r->logs, &r->reader);
}

static void fixture_init(struct fixture *r) {
    r->sim = simdisk_new(1);
    store_fixture_init(&r->lab, simdisk_disk(r->sim));
    rig_open(r);
}

static void rig_restart(struct fixture *r) {
    pack_reader_fini(&r->reader);
    store_fixture_stop(&r->lab);
    simdisk_crash(r->sim, SIMDISK_DROP_ALL);
    rig_open(r);
}

static void fixture_fini(struct fixture *r) {
    pack_reader_fini(&r->reader);
    store_fixture_stop(&r->lab);
    simdisk_free(r->sim);
}

static void flush(struct fixture *r) {
    assert_int_equal(store_fixture_flush(&r->lab), ERR_OK);
}

static const struct log_key one = {.flow = 7, .shard = 1, .ordinal = 2, .attempt = 1};

static enum err say(struct fixture *r, uint64_t offset, uint32_t stream, const char *text, uint64_t cap) {
    struct log_piece p = {stream, {1000 + (int64_t)offset}, slice_str(text)};
    return joblogs_append(r->logs, &one, offset, &p, 1, cap, &r->s, &r->why);
}

/* Reads all of it as "o:text" and "e:text" pieces joined, with '|' where bytes are missing. */
struct heard {
    char text[4096];
    size_t len;
    uint64_t next;
};

static void hear(void *ctx, uint64_t offset, const struct log_piece *p) {
    struct heard *h = ctx;
    if (offset != h->next) h->text[h->len++] = '|';
    h->text[h->len++] = p->stream == LOG_STDERR ? 'E' : 'O';
    memcpy(h->text + h->len, p->bytes.ptr, p->bytes.len);
    h->len += p->bytes.len;
    h->text[h->len] = 0;
    h->next = offset + p->bytes.len;
}

static void expect(struct fixture *r, uint64_t from, const char *want) {
    struct heard h = {.next = from};
    uint64_t at = from, next = from;
    do {
        at = next;
        assert_int_equal(joblogs_read(r->logs, &r->reader, &one, at, 1, hear, &h, &next, &r->why), ERR_OK);
    } while (next != at);
    assert_string_equal(h.text, want);
}

static void streams_are_told_apart_and_times_kept(void **state) {
    (void)state;
    struct fixture r;
    fixture_init(&r);
    assert_int_equal(say(&r, 0, LOG_STDOUT, "one ", 0), ERR_OK);
    assert_int_equal(r.s.end, 4);
    assert_false(r.s.synced);
    expect(&r, 0, "Oone "); /* a follower does not wait for the disk */
    assert_int_equal(say(&r, 4, LOG_STDERR, "two ", 0), ERR_OK);
    flush(&r);
    joblogs_state(r.logs, &one, &r.s);
    assert_true(r.s.synced);
    assert_int_equal(say(&r, 8, LOG_STDOUT, "three", 0), ERR_OK);
    expect(&r, 0, "Oone Etwo Othree");
    expect(&r, 2, "Oe Etwo Othree");
    expect(&r, 9, "Ohree");
    expect(&r, 13, "");
    rig_restart(&r);
    expect(&r, 0, "Oone Etwo "); /* what was not synced is not claimed */
    fixture_fini(&r);
}

static void a_repeated_batch_is_taken_once_and_a_gap_is_refused(void **state) {
    (void)state;
    struct fixture r;
    fixture_init(&r);
    assert_int_equal(say(&r, 1, LOG_STDOUT, "late", 0), ERR_CONFLICT);
    assert_int_equal(r.s.end, 0);
    assert_int_equal(say(&r, 0, LOG_STDOUT, "abcdef", 0), ERR_OK);
    assert_int_equal(say(&r, 0, LOG_STDOUT, "abcdef", 0), ERR_OK);
    assert_int_equal(say(&r, 2, LOG_STDOUT, "cd", 0), ERR_OK);
    assert_int_equal(r.s.end, 6);
    assert_int_equal(say(&r, 4, LOG_STDOUT, "efgh", 0), ERR_OK); /* half of it is new */
    assert_int_equal(r.s.end, 8);
    assert_int_equal(say(&r, 9, LOG_STDOUT, "j", 0), ERR_CONFLICT);
    assert_non_null(strstr(r.why.text, "from 8 on"));
    assert_int_equal(r.s.end, 8);
    flush(&r);
    rig_restart(&r);
    assert_int_equal(say(&r, 6, LOG_STDOUT, "gh", 0), ERR_OK); /* sent again after a reconnect */
    expect(&r, 0, "OabcdefOgh");
    fixture_fini(&r);
}

struct compared {
    const struct log_piece *pieces;
    uint32_t at;
    size_t used;
    uint64_t offset;
};

static void compare(void *ctx, uint64_t offset, const struct log_piece *p) {
    struct compared *c = ctx;
    while (c->used == c->pieces[c->at].bytes.len) c->at++, c->used = 0;
    const struct log_piece *want = &c->pieces[c->at];
    assert_int_equal(offset, c->offset);
    assert_int_equal(p->stream, want->stream);
    assert_int_equal(p->time.ms, want->time.ms);
    assert_true(p->bytes.len <= want->bytes.len - c->used);
    assert_memory_equal(p->bytes.ptr, want->bytes.ptr + c->used, p->bytes.len);
    c->used += p->bytes.len;
    c->offset += p->bytes.len;
}

static void any_bytes_and_any_pieces(void **state) {
    (void)state;
    struct fixture r;
    struct test_random random = {4};
    fixture_init(&r);
    for (uint32_t round = 0; round < 3; round++) {
        static uint8_t bytes[200000];
        static struct log_piece pieces[3000];
        uint32_t count = 0;
        size_t at = 0;
        struct log_key key = {.flow = 100 + round};
        for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)test_random_next(&random);
        while (count < 3000 && at < sizeof bytes) {
            size_t len = test_random_below(&random, round == 0 ? 3 : round == 1 ? 200 : 180000);
            if (len > sizeof bytes - at) len = sizeof bytes - at;
            pieces[count++] = (struct log_piece){(uint32_t)test_random_below(&random, 2),
                                                 {(int64_t)test_random_next(&random)},
                                                 slice_of(bytes + at, len)};
            at += len;
        }
        assert_int_equal(joblogs_append(r.logs, &key, 0, pieces, count, 0, &r.s, &r.why), ERR_OK);
        assert_int_equal(r.s.end, at);
        flush(&r);
        struct compared c = {.pieces = pieces};
        uint64_t next = 0;
        assert_int_equal(joblogs_read(r.logs, &r.reader, &key, 0, UINT64_MAX, compare, &c, &next, &r.why), ERR_OK);
        assert_int_equal(next, at);
        assert_int_equal(c.offset, at);
    }
    fixture_fini(&r);
}

static void of_a_capped_log_head_and_tail_are_kept(void **state) {
    (void)state;
    struct fixture r;
    fixture_init(&r);
    const uint64_t cap = 20; /* ten of the head, at least ten of the tail */
    for (uint64_t i = 0; i < 26; i++) {
        char text[4];
        (void)snprintf(text, sizeof text, "%c%c%c", (char)('a' + i), (char)('a' + i), (char)('a' + i));
        assert_int_equal(say(&r, i * 3, LOG_STDOUT, text, cap), ERR_OK);
        if (i % 5 == 0) flush(&r);
    }
    assert_int_equal(r.s.end, 78);
    assert_int_equal(r.s.cut_begin, 10);
    assert_int_equal(r.s.cut_end, 66); /* 56 bytes were cut */
    const char *want = "OaaaObbbOcccOd|OwwwOxxxOyyyOzzz";
    expect(&r, 0, want);
    expect(&r, 30, "|OwwwOxxxOyyyOzzz");
    flush(&r);
    rig_restart(&r);
    joblogs_state(r.logs, &one, &r.s);
    assert_int_equal(r.s.cut_begin, 10);
    assert_int_equal(r.s.cut_end, 66);
    expect(&r, 0, want);
    assert_int_equal(say(&r, 78, LOG_STDOUT, "!!!", cap), ERR_OK); /* the cap goes on holding */
    expect(&r, 0, "OaaaObbbOcccOd|OxxxOyyyOzzzO!!!");
    struct packs_stats s;
    joblogs_stats(r.logs, &s);
    assert_int_equal(s.entries, 8);
    fixture_fini(&r);
}

static void a_recovered_log_keeps_its_head_under_a_cap(void **state) {
    (void)state;
    struct fixture r;
    fixture_init(&r);
    for (uint64_t i = 0; i < 6; i++) assert_int_equal(say(&r, i * 3, LOG_STDOUT, "abc", 20), ERR_OK);
    flush(&r);
    rig_restart(&r);
    for (uint64_t i = 6; i < 12; i++) assert_int_equal(say(&r, i * 3, LOG_STDOUT, "xyz", 20), ERR_OK);
    assert_int_equal(r.s.cut_begin, 10);
    expect(&r, 0, "OabcOabcOabcOa|OxyzOxyzOxyzOxyz");
    fixture_fini(&r);
}

static void a_gigabyte_through_a_cap_keeps_little(void **state) {
    (void)state;
    struct fixture r;
    fixture_init(&r);
    static uint8_t bytes[60000];
    uint64_t at = 0, most = 0;
    for (uint32_t i = 0; i < 100; i++) {
        for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = (uint8_t)hash64(&k, sizeof k, i);
        struct log_piece p = {LOG_STDOUT, {1}, slice_of(bytes, sizeof bytes)};
        assert_int_equal(joblogs_append(r.logs, &one, at, &p, 1, 200000, &r.s, &r.why), ERR_OK);
        at += sizeof bytes;
        flush(&r);
        if (simdisk_used(r.sim) > most) most = simdisk_used(r.sim);
    }
    assert_int_equal(r.s.end, 6000000);
    assert_int_equal(r.s.cut_begin, 100000);
    assert_in_range(r.s.end - r.s.cut_end, 100000, 100000 + 49152);
    assert_true(most < 900000); /* the disk did not hold all of it at any time */
    fixture_fini(&r);
}

static void thousands_of_small_logs_share_a_file_and_a_sync(void **state) {
    (void)state;
    struct fixture r;
    fixture_init(&r);
    uint64_t syncs = simdisk_calls(r.sim, SIMDISK_SYNC);
    for (uint32_t i = 0; i < 1000; i++) {
        struct log_key key = {.flow = i, .ordinal = 1, .attempt = 1};
        struct log_piece p = {LOG_STDOUT, {1700000000000 + i}, SLICE("ten bytes\n")};
        assert_int_equal(joblogs_append(r.logs, &key, 0, &p, 1, 0, &r.s, &r.why), ERR_OK);
    }
    flush(&r);
    assert_int_equal(simdisk_calls(r.sim, SIMDISK_SYNC) - syncs, 1);
    assert_true(simdisk_used(r.sim) < 20000); /* 20 bytes a log, and they compress */
    rig_restart(&r);
    for (uint32_t i = 0; i < 1000; i++) {
        struct log_key key = {.flow = i, .ordinal = 1, .attempt = 1};
        joblogs_state(r.logs, &key, &r.s);
        assert_int_equal(r.s.end, 10);
    }
    fixture_fini(&r);
}

static bool keep_even(void *ctx, const struct log_key *key) {
    (*(uint32_t *)ctx)++;
    return key->flow % 20 == 0;
}

static void logs_of_forgotten_flows_leave_the_disk(void **state) {
    (void)state;
    struct fixture r;
    fixture_init(&r);
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < 60; i++) {
            struct log_key key = {.flow = i, .attempt = 1 + round};
            uint8_t bytes[1500];
            for (uint32_t k = 0; k < sizeof bytes; k++) bytes[k] = (uint8_t)hash64(&k, sizeof k, i);
            struct log_piece p = {LOG_STDOUT, {1}, slice_of(bytes, sizeof bytes)};
            assert_int_equal(joblogs_append(r.logs, &key, 0, &p, 1, 0, &r.s, &r.why), ERR_OK);
            flush(&r);
        }
    }
    uint64_t before = simdisk_used(r.sim);
    for (uint32_t life = 0; life < 2; life++) {
        uint32_t cursor = 0, asked = 0;
        while (!joblogs_sweep(r.logs, &cursor, 7, keep_even, &asked)) {
        }
        assert_true(asked >= 9);
        flush(&r);
        assert_true(simdisk_used(r.sim) * 3 < before);
        struct packs_stats s;
        joblogs_stats(r.logs, &s);
        assert_int_equal(s.entries, 9);
        rig_restart(&r); /* whatever came back is let go again */
    }
    for (uint32_t i = 0; i < 60; i += 20) {
        struct log_key key = {.flow = i, .attempt = 2};
        joblogs_state(r.logs, &key, &r.s);
        assert_int_equal(r.s.end, 1500);
        joblogs_drop(r.logs, &key);
        joblogs_state(r.logs, &key, &r.s);
        assert_int_equal(r.s.end, 0);
    }
    fixture_fini(&r);
}

/* Early pieces of a long log may be moved behind its later ones; a restart puts them into order. */
static void a_log_survives_the_moving_of_its_beginning(void **state) {
    (void)state;
    struct fixture r;
    fixture_init(&r);
    for (uint32_t i = 0; i < 40; i++) {
        assert_int_equal(store_fixture_log(&r.lab, 1, 400), ERR_OK);
        assert_int_equal(store_fixture_log(&r.lab, 2, 5000), ERR_OK);
        flush(&r);
    }
    struct log_key key = store_fixture_key(2);
    joblogs_drop(r.logs, &key);
    r.lab.log_acked[2] = r.lab.log_tried[2] = 0;
    flush(&r);
    struct packs_stats s;
    joblogs_stats(r.logs, &s);
    assert_true(s.moved > 10);
    store_fixture_check(&r.lab);
    rig_restart(&r);
    joblogs_drop(r.logs, &key); /* some of it may be back */
    store_fixture_check(&r.lab);
    assert_int_equal(store_fixture_log(&r.lab, 1, 400), ERR_OK);
    flush(&r);
    store_fixture_check(&r.lab);
    fixture_fini(&r);
}

static void too_much_at_once_is_told_to_wait(void **state) {
    (void)state;
    struct fixture r;
    r.sim = simdisk_new(1);
    store_fixture_init(&r.lab, simdisk_disk(r.sim));
    r.lab.limits.vault_pending_bytes_max = 100000;
    r.lab.limits.logs_max = 1;
    rig_open(&r);
    static uint8_t bytes[300000];
    struct log_piece p = {LOG_STDOUT, {1}, slice_of(bytes, sizeof bytes)};
    enum err e = joblogs_append(r.logs, &one, 0, &p, 1, 0, &r.s, &r.why);
    assert_int_equal(e, ERR_BUSY);
    for (uint32_t i = 0; e == ERR_BUSY && i < 10; i++) {
        flush(&r);
        e = joblogs_append(r.logs, &one, 0, &p, 1, 0, &r.s, &r.why); /* all of it again: what is there is skipped */
    }
    assert_int_equal(e, ERR_OK);
    assert_int_equal(r.s.end, sizeof bytes);
    struct log_key other = {.flow = 8};
    flush(&r);
    assert_int_equal(joblogs_append(r.logs, &other, 0, &p, 1, 0, &r.s, &r.why), ERR_LIMIT);
    assert_non_null(strstr(r.why.text, "logs_max"));
    fixture_fini(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_are_told_apart_and_times_kept),
        cmocka_unit_test(a_repeated_batch_is_taken_once_and_a_gap_is_refused),
        cmocka_unit_test(any_bytes_and_any_pieces),
        cmocka_unit_test(of_a_capped_log_head_and_tail_are_kept),
        cmocka_unit_test(a_recovered_log_keeps_its_head_under_a_cap),
        cmocka_unit_test(a_gigabyte_through_a_cap_keeps_little),
        cmocka_unit_test(thousands_of_small_logs_share_a_file_and_a_sync),
        cmocka_unit_test(logs_of_forgotten_flows_leave_the_disk),
        cmocka_unit_test(a_log_survives_the_moving_of_its_beginning),
        cmocka_unit_test(too_much_at_once_is_told_to_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
