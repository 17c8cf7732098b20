/* audit_test.c: the audit trail is read beside a server that moves segments into the archive meanwhile. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "audit.h"
#include "audit_verb.h"
#include "file.h"
#include "rigdisk.h"
#include "tmpdisk.h"

/* A disk under which someone else moves the journal's only segment, between listing and reading. */
struct moving {
    struct disk disk; /* first */
    struct disk *real;
    uint32_t opened;
    bool is_restless; /* whatever was listed is gone */
};

static struct fixture rig;
static struct tmpdisk tmp;
static struct moving moving;

/* As a server does it after a snapshot (segment_archive). */
static void archive(struct disk *d, const char *name) {
    char to[64];
    struct why why;
    snprintf(to, sizeof to, "archive/%s", strrchr(name, '/') + 1);
    assert_int_equal(d->ops->mkdir(d, "archive", &why), ERR_OK);
    assert_int_equal(d->ops->rename(d, name, to, &why), ERR_OK);
}

static enum err moving_open(struct disk *d, const char *name, enum disk_open how, disk_file *ret, struct why *why) {
    struct moving *m = (struct moving *)(void *)d;
    bool reads = m->opened++ % 2 == 1; /* first comes the listing, which looks at its head */
    if (reads && m->is_restless) return why_set(why, ERR_NOT_FOUND, "%s is gone", name);
    if (m->opened == 2) archive(m->real, name);
    return m->real->ops->open(m->real, name, how, ret, why);
}

static void moving_close(struct disk *d, disk_file f) {
    struct disk *real = ((struct moving *)(void *)d)->real;
    real->ops->close(real, f);
}

static enum err moving_size(struct disk *d, disk_file f, uint64_t *ret, struct why *why) {
    struct disk *real = ((struct moving *)(void *)d)->real;
    return real->ops->size(real, f, ret, why);
}

static enum err moving_read(struct disk *d, disk_file f, uint64_t offset, void *to, size_t len, size_t *ret,
                            struct why *why) {
    struct disk *real = ((struct moving *)(void *)d)->real;
    return real->ops->read(real, f, offset, to, len, ret, why);
}

static enum err moving_list(struct disk *d, const char *subdir, disk_list_fn each, void *ctx, struct why *why) {
    struct disk *real = ((struct moving *)(void *)d)->real;
    return real->ops->list(real, subdir, each, ctx, why);
}

static const struct disk_ops moving_ops = {
    .open = moving_open, .close = moving_close, .size = moving_size, .read = moving_read, .list = moving_list};

static int setup(void **state) {
    static const char *const chain[] = {"a", "b: a"};
    struct options o = fixture_options();
    (void)state;
    fixture_init(&rig);
    tmpdisk_make(&tmp);
    assert_int_equal(fixture_attach(&rig, "w1", 1, 8), ERR_OK);
    assert_int_equal(fixture_submit(&rig, &o, chain, 2), ERR_OK);
    fixture_run_all(&rig, "w1", 1);
    rigdisk_write(&rig, tmp.disk, 1 << 20);
    moving = (struct moving){.disk = {&moving_ops}, .real = tmp.disk};
    return 0;
}

static int teardown(void **state) {
    (void)state;
    tmpdisk_remove(&tmp);
    fixture_fini(&rig);
    return 0;
}

static enum err read_all(struct disk *d, struct arena *arena, struct audit_page *ret, struct why *why) {
    static const atomic_bool go_on = false;
    struct audit_query q = {.upto_lsn = UINT64_MAX, .most = 1000};
    arena_init(arena, 65536, (size_t)1 << 28);
    struct journal *reader;
    assert_int_equal(file_reader(d, &reader, why), ERR_OK);
    enum err e = audit_read(reader, &q, &go_on, arena, ret, why);
    reader->ops->close(reader);
    return e;
}

static void what_moves_into_the_archive_meanwhile_is_read_there(void **state) {
    (void)state;
    struct arena arena;
    struct audit_page page = {0};
    struct why why = {{0}};
    const struct batch *last = vec_at(&rig.batches, rig.batches.count - 1);
    if (read_all(&moving.disk, &arena, &page, &why) != ERR_OK) fail_msg("%s", why.text);
    assert_int_equal(page.count, last->last_lsn);
    for (uint32_t i = 0; i < page.count; i++) assert_int_equal(page.at[i].lsn, last->last_lsn - i);
    arena_fini(&arena);
}

static void a_journal_that_never_stands_still_is_busy(void **state) {
    (void)state;
    struct arena arena;
    struct audit_page page = {0};
    struct why why = {{0}};
    moving.is_restless = true;
    assert_int_equal(read_all(&moving.disk, &arena, &page, &why), ERR_BUSY);
    assert_int_equal(page.count, 0);
    arena_fini(&arena);
}

/* Two kinds may share a class, but not a verb: a filter by verb means one kind. */
static void every_kind_has_a_verb_of_its_own_and_a_class(void **state) {
    (void)state;
    for (uint32_t i = 1; i < REC_KIND_END; i++) {
        if (record_desc((enum record_kind)i) == NULL) continue;
        const struct audit_verb *v = audit_verb_of((enum record_kind)i);
        assert_true(strlen(v->verb) > 0 && strlen(v->object) > 0 && strlen(audit_class_name(v->class)) > 0);
        for (uint32_t k = 1; k < i; k++)
            if (record_desc((enum record_kind)k) != NULL)
                assert_string_not_equal(v->verb, audit_verb_of((enum record_kind)k)->verb);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_moves_into_the_archive_meanwhile_is_read_there, setup, teardown),
        cmocka_unit_test_setup_teardown(a_journal_that_never_stands_still_is_busy, setup, teardown),
        cmocka_unit_test(every_kind_has_a_verb_of_its_own_and_a_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
