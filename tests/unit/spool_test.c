/* spool_test.c: what a worker owes survives it: who it is, ends, and the output that belongs to them. */
#include "test.h"

#include <stdio.h>

#include "osclock.h"
#include "spool.h"
#include "tmpdisk.h"

static void open_one(struct tmpdisk *d, struct spool *s) {
    struct why why = {{0}};
    tmpdisk_reopen(d);
    if (spool_open(s, d->disk, osclock(), "host", &why) != ERR_OK) fail_msg("%s", why.text);
}

static void the_id_stays_and_the_incarnation_rises(void **state) {
    (void)state;
    struct tmpdisk d;
    struct spool s;
    struct why why;
    char id[SPOOL_ID_MAX];
    tmpdisk_make(&d);
    open_one(&d, &s);
    assert_int_equal(s.self.incarnation, 1);
    assert_memory_equal(s.self.id, "host-", 5);
    snprintf(id, sizeof id, "%s", s.self.id);
    assert_int_equal(spool_epoch(&s, 9, &why), ERR_OK);
    assert_int_equal(spool_epoch(&s, 4, &why), ERR_OK);
    open_one(&d, &s);
    assert_int_equal(s.self.incarnation, 2);
    assert_int_equal(s.self.epoch, 9);
    assert_string_equal(s.self.id, id);
    struct spool other; /* the same directory twice */
    assert_int_equal(spool_open(&other, d.disk, osclock(), "host", &why), ERR_CONFLICT);
    spool_fini(&s);
    tmpdisk_remove(&d);
}

static void a_damaged_identity_is_refused(void **state) {
    (void)state;
    struct tmpdisk d;
    struct spool s;
    struct why why;
    disk_file f;
    size_t put;
    tmpdisk_make(&d);
    assert_int_equal(d.disk->ops->open(d.disk, "worker", DISK_CREATE, &f, &why), ERR_OK);
    assert_int_equal(d.disk->ops->write(d.disk, f, 0, "w", 1, &put, &why), ERR_OK);
    d.disk->ops->close(d.disk, f);
    assert_int_equal(spool_open(&s, d.disk, osclock(), "host", &why), ERR_CORRUPT);
    tmpdisk_remove(&d);
}

struct restored {
    struct spool *s;
    uint32_t count;
    struct wire_attempt attempt;
    uint32_t exit_code;
    uint64_t log_bytes;
    struct spool_file file;
};

static void on_each(void *ctx, const struct wire_attempt *attempt, const struct wire_end *end,
                    const struct spool_file *file) {
    struct restored *r = ctx;
    r->count++;
    r->attempt = *attempt;
    r->exit_code = end->exit_code;
    r->log_bytes = end->log_bytes;
    r->file = *file;
}

/* Writes its end, not yet to stay. */
static void end_put(struct spool *s, struct spool_file *f, struct capture *c, const struct wire_end *end) {
    struct buf b;
    struct why why = {{0}};
    buf_init(&b, 1u << 20);
    tlv_encode(&wire_end_desc, end, &b);
    if (spool_end(s, f, c, buf_slice(&b), &why) != ERR_OK) fail_msg("%s", why.text);
    buf_fini(&b);
}

static void commit(struct spool *s) {
    struct why why = {{0}};
    if (spool_commit(s, &why) != ERR_OK) fail_msg("%s", why.text);
}

static const struct wire_attempt one = {3, 0xfedcba9876543210u, 70000, 2}, two = {3, 8, 1, 1};

static void fill(struct capture *c, int count) {
    for (int i = 0; i < count; i++) {
        char text[32];
        int len = snprintf(text, sizeof text, "piece %d\n", i);
        capture_put(c, i % 2 ? WIRE_STREAM_ERR : WIRE_STREAM_OUT, slice_of(text, (size_t)len), i);
    }
}

static void ends_survive_with_their_output(void **state) {
    (void)state;
    struct tmpdisk d;
    struct spool s;
    struct why why;
    struct capture c, running;
    struct spool_file f = {0}, g = {0};
    tmpdisk_make(&d);
    open_one(&d, &s);
    capture_init(&c, 0);
    fill(&c, 50);
    assert_int_equal(spool_pieces(&s, &one, &f, &c, &why), ERR_OK);
    assert_int_equal(capture_memory(&c), 0);
    fill(&c, 50);
    struct wire_end end = {.attempt = one, .outcome = WIRE_OUTCOME_EXIT, .exit_code = 3};
    capture_over(&c, 1);
    end.log_bytes = c.end;
    end_put(&s, &f, &c, &end);
    commit(&s);
    spool_settle(&f, &c);
    capture_init(&running, 0); /* one that is not over when the worker dies */
    fill(&running, 5);
    assert_int_equal(spool_pieces(&s, &two, &g, &running, &why), ERR_OK);
    spool_close(&s, &f);
    spool_close(&s, &g);
    spool_fini(&s);
    open_one(&d, &s);
    struct restored r = {.s = &s};
    assert_int_equal(spool_read(&s, on_each, &r, &why), ERR_OK);
    assert_int_equal(r.count, 1);
    assert_int_equal(r.attempt.flow, one.flow);
    assert_int_equal(r.attempt.ordinal, one.ordinal);
    assert_int_equal(r.exit_code, 3);
    assert_int_equal(r.log_bytes, c.end);
    struct buf data;
    struct wire_log_piece piece;
    buf_init(&data, 1u << 20);
    uint64_t offset = 0;
    for (uint32_t i = 0; offset < r.log_bytes; i++) {
        char text[32];
        snprintf(text, sizeof text, "piece %u\n", i % 50);
        assert_int_equal(spool_piece(&s, &r.file, offset, &data, &piece, &why), ERR_OK);
        assert_int_equal(piece.offset, offset);
        assert_true(slice_eq(piece.data, slice_str(text)));
        offset += piece.data.len;
    }
    assert_int_equal(spool_piece(&s, &r.file, 0, &data, &piece, &why), ERR_OK); /* and from the start again */
    assert_int_equal(piece.offset, 0);
    spool_forget(&s, &one, &r.file);
    assert_int_equal(s.bytes, 0);
    r.count = 0;
    assert_int_equal(spool_read(&s, on_each, &r, &why), ERR_OK);
    assert_int_equal(r.count, 0);
    buf_fini(&data);
    capture_fini(&c);
    capture_fini(&running);
    tmpdisk_remove(&d);
}

static void a_torn_file_is_as_if_it_were_not_there(void **state) {
    (void)state;
    struct tmpdisk d;
    struct spool s;
    struct why why;
    tmpdisk_make(&d);
    for (uint64_t at = 0; at < 60; at += 7) {
        struct capture c;
        struct spool_file f = {0};
        size_t moved;
        uint8_t byte;
        open_one(&d, &s);
        capture_init(&c, 0);
        fill(&c, 3);
        capture_over(&c, 1);
        struct wire_end end = {.attempt = one, .exit_code = 3, .log_bytes = c.end};
        end_put(&s, &f, &c, &end);
        commit(&s);
        assert_true(f.bytes > at);
        assert_int_equal(d.disk->ops->read(d.disk, f.file, at, &byte, 1, &moved, &why), ERR_OK);
        byte ^= 0x10;
        assert_int_equal(d.disk->ops->write(d.disk, f.file, at, &byte, 1, &moved, &why), ERR_OK);
        spool_close(&s, &f);
        struct restored r = {.s = &s};
        assert_int_equal(spool_read(&s, on_each, &r, &why), ERR_OK);
        assert_int_equal(r.count, 0);
        capture_fini(&c);
        spool_fini(&s);
    }
    tmpdisk_remove(&d);
}

/* ---- many at a time ---- */

#define MANY 20u

static void file_counted(void *ctx, const char *name, uint64_t bytes) {
    (void)name, (void)bytes;
    (*(uint32_t *)ctx)++;
}

static uint32_t file_count(struct tmpdisk *d) {
    uint32_t count = 0;
    struct why why;
    assert_int_equal(d->disk->ops->list(d->disk, "spool", file_counted, &count, &why), ERR_OK);
    return count;
}

struct many {
    uint32_t count;
    struct spool_file files[MANY];
};

static void keep_each(void *ctx, const struct wire_attempt *attempt, const struct wire_end *end,
                      const struct spool_file *file) {
    struct many *m = ctx;
    assert_int_equal(attempt->flow, 8);
    assert_int_equal(attempt->ordinal, end->exit_code);
    assert_int_equal(attempt->ordinal, m->count);
    m->files[m->count++] = *file;
}

static void put_many(struct spool *s, struct capture *c, struct spool_file *files) {
    for (uint32_t i = 0; i < MANY; i++) {
        capture_init(&c[i], 0);
        fill(&c[i], (int)i);
        capture_over(&c[i], 1);
        struct wire_end end = {.attempt = {3, 8, i, 1}, .exit_code = i, .log_bytes = c[i].end};
        files[i] = (struct spool_file){0};
        end_put(s, &files[i], &c[i], &end);
    }
}

static void ends_of_one_moment_are_one_file(void **state) {
    (void)state;
    struct tmpdisk d;
    struct spool s;
    struct why why;
    struct capture c[MANY];
    struct many m = {0};
    struct buf data;
    struct wire_log_piece piece;
    tmpdisk_make(&d);
    open_one(&d, &s);
    put_many(&s, c, m.files);
    commit(&s);
    assert_int_equal(file_count(&d), 1);
    for (uint32_t i = 0; i < MANY; i++) {
        spool_settle(&m.files[i], &c[i]);
        spool_close(&s, &m.files[i]);
        capture_fini(&c[i]);
    }
    spool_fini(&s);
    open_one(&d, &s); /* the next incarnation */
    assert_int_equal(spool_read(&s, keep_each, &m, &why), ERR_OK);
    assert_int_equal(m.count, MANY);
    buf_init(&data, 1u << 20);
    for (uint32_t i = 1; i < MANY; i++) {
        assert_int_equal(spool_piece(&s, &m.files[i], 0, &data, &piece, &why), ERR_OK);
        assert_true(slice_eq(piece.data, SLICE("piece 0\n")));
        if (i < 3) continue;
        assert_int_equal(spool_piece(&s, &m.files[i], 16, &data, &piece, &why), ERR_OK);
        assert_true(slice_eq(piece.data, SLICE("piece 2\n")));
    }
    buf_fini(&data);
    /* it is there while one of them is */
    for (uint32_t i = 0; i < MANY; i++) {
        struct wire_attempt attempt = {3, 8, i, 1};
        assert_int_equal(file_count(&d), 1);
        spool_forget(&s, &attempt, &m.files[i]);
    }
    assert_int_equal(file_count(&d), 0);
    assert_int_equal(s.bytes, 0);
    spool_fini(&s);
    tmpdisk_remove(&d);
}

/* What stands before the damage counts. */
static void a_torn_file_of_many_keeps_its_beginning(void **state) {
    (void)state;
    struct tmpdisk d;
    struct spool s;
    struct why why;
    struct capture c[MANY];
    struct many m = {0};
    size_t moved;
    tmpdisk_make(&d);
    open_one(&d, &s);
    put_many(&s, c, m.files);
    commit(&s);
    assert_int_equal(d.disk->ops->write(d.disk, m.files[7].file, m.files[7].begin + 9, "x", 1, &moved, &why), ERR_OK);
    for (uint32_t i = 0; i < MANY; i++) {
        spool_close(&s, &m.files[i]);
        capture_fini(&c[i]);
    }
    spool_fini(&s);
    open_one(&d, &s);
    assert_int_equal(spool_read(&s, keep_each, &m, &why), ERR_OK);
    assert_int_equal(m.count, 7);
    for (uint32_t i = 0; i < 7; i++) spool_close(&s, &m.files[i]);
    spool_fini(&s);
    tmpdisk_remove(&d);
}

/* Nothing is lost that a disk did not take: the captures have it still. */
static void what_was_not_committed_is_undone(void **state) {
    (void)state;
    struct tmpdisk d;
    struct spool s;
    struct capture c[MANY];
    struct many m = {0};
    tmpdisk_make(&d);
    open_one(&d, &s);
    put_many(&s, c, m.files);
    commit(&s); /* let it count as failed */
    for (uint32_t i = 0; i < MANY; i++) {
        spool_undo(&s, &m.files[i]);
        assert_false(m.files[i].is_open);
        assert_int_equal(capture_memory(&c[i]), c[i].end);
        capture_fini(&c[i]);
    }
    assert_int_equal(file_count(&d), 0);
    assert_int_equal(s.bytes, 0);
    spool_fini(&s);
    tmpdisk_remove(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_id_stays_and_the_incarnation_rises),
        cmocka_unit_test(a_damaged_identity_is_refused),
        cmocka_unit_test(ends_survive_with_their_output),
        cmocka_unit_test(a_torn_file_is_as_if_it_were_not_there),
        cmocka_unit_test(ends_of_one_moment_are_one_file),
        cmocka_unit_test(a_torn_file_of_many_keeps_its_beginning),
        cmocka_unit_test(what_was_not_committed_is_undone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
