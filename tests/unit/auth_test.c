/* auth_test.c: tokens are known by their hash alone, end when they should and survive what the disk survives. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "auth.h"
#include "diskio.h"
#include "osclock.h"
#include "osdigest.h"
#include "requests.h"
#include "simdisk.h"
#include "tmpdisk.h"
#include "wire.h"

static const wall_time now = {1000};

static struct slice read_all(struct disk *d, const char *name, uint8_t *to, size_t room) {
    disk_file f;
    struct why why;
    size_t got = 0;
    assert_int_equal(d->ops->open(d, name, DISK_READ, &f, &why), ERR_OK);
    assert_int_equal(diskio_read(d, f, 0, to, room, &got, &why), ERR_OK);
    d->ops->close(d, f);
    return slice_of(to, got);
}

static void the_first_start_makes_two_tokens(void **state) {
    (void)state;
    struct tmpdisk t;
    struct auth a;
    struct why why;
    struct caller c;
    bool first = false;
    uint8_t text[200], file[4096];
    tmpdisk_make(&t);
    assert_int_equal(auth_open(&a, t.disk, osclock(), osdigest(), &first, &why), ERR_OK);
    assert_true(first);
    struct slice admin = read_all(t.disk, "admin.token", text, sizeof text);
    admin.len--; /* the newline */
    assert_int_equal(auth_check(&a, admin, now, &c, &why), ERR_OK);
    assert_int_equal(c.roles, ROLE_BIT(ROLE_ADMIN));
    struct slice kept = read_all(t.disk, "tokens", file, sizeof file);
    assert_null(memmem(kept.ptr, kept.len, admin.ptr, admin.len));
    auth_close(&a);
    assert_int_equal(auth_open(&a, t.disk, osclock(), osdigest(), &first, &why), ERR_OK);
    assert_false(first);
    assert_int_equal(auth_check(&a, admin, now, &c, &why), ERR_OK);
    assert_int_equal(auth_check(&a, SLICE("rv_guess"), now, &c, &why), ERR_UNAUTHENTICATED);
    assert_int_equal(auth_check(&a, SLICE(""), now, &c, &why), ERR_UNAUTHENTICATED);
    auth_close(&a);
    tmpdisk_remove(&t);
}

static void assert_file_opens(struct auth *a, const char *file) {
    uint8_t text[200];
    struct why why;
    struct caller c;
    struct slice token = read_all(a->disk, file, text, sizeof text);
    token.len--;
    assert_int_equal(auth_check(a, token, now, &c, &why), ERR_OK);
}

/* The power fails inside each call of the disk in turn, and what was not synced is lost or kept. */
static void a_first_start_that_is_interrupted_locks_nobody_out(void **state) {
    (void)state;
    static const enum simdisk_crash_policy policies[] = {SIMDISK_KEEP_ALL, SIMDISK_DROP_ALL, SIMDISK_RANDOM};
    bool whole = false;
    for (uint64_t skip = 0; !whole; skip++) {
        struct simdisk *s = simdisk_new(skip);
        struct disk *d = simdisk_disk(s);
        struct auth a;
        struct why why;
        bool first;
        simdisk_arm(s, SIMDISK_ANY, SIMDISK_POWER, skip);
        whole = auth_open(&a, d, osclock(), osdigest(), &first, &why) == ERR_OK;
        if (whole) auth_close(&a);
        simdisk_crash(s, policies[skip % 3]);
        simdisk_arm(s, SIMDISK_ANY, SIMDISK_FINE, 0);
        assert_int_equal(auth_open(&a, d, osclock(), osdigest(), &first, &why), ERR_OK);
        assert_file_opens(&a, "admin.token");
        assert_file_opens(&a, "worker.token");
        auth_close(&a);
        simdisk_free(s);
    }
}

static void the_secret_of_attempts_is_made_once(void **state) {
    (void)state;
    struct tmpdisk t;
    struct auth a;
    struct why why;
    bool first;
    uint8_t secret[AUTH_SECRET_BYTES], none[AUTH_SECRET_BYTES] = {0};
    tmpdisk_make(&t);
    assert_int_equal(auth_open(&a, t.disk, osclock(), osdigest(), &first, &why), ERR_OK);
    memcpy(secret, a.secret, sizeof secret);
    assert_memory_not_equal(secret, none, sizeof none);
    auth_close(&a);
    assert_int_equal(auth_open(&a, t.disk, osclock(), osdigest(), &first, &why), ERR_OK);
    assert_memory_equal(a.secret, secret, sizeof secret);
    auth_close(&a);
    tmpdisk_remove(&t);
}

static void tokens_expire_and_are_revoked(void **state) {
    (void)state;
    struct tmpdisk t;
    struct auth a;
    struct why why;
    bool first;
    char id[AUTH_ID_BYTES], text[AUTH_TOKEN_BYTES];
    struct caller c = {.name = "eve", .tenant = "acme", .roles = ROLE_BIT(ROLE_VIEWER), .expires_ms = 2000}, got;
    tmpdisk_make(&t);
    assert_int_equal(auth_open(&a, t.disk, osclock(), osdigest(), &first, &why), ERR_OK);
    assert_int_equal(auth_add(&a, &c, now, id, text, &why), ERR_OK);
    assert_int_equal(auth_check(&a, slice_str(text), (wall_time){1999}, &got, &why), ERR_OK);
    assert_string_equal(got.tenant, "acme");
    assert_string_equal(got.id, id);
    assert_int_equal(auth_check(&a, slice_str(text), (wall_time){2000}, &got, &why), ERR_UNAUTHENTICATED);
    assert_int_equal(auth_revoke(&a, slice_str(id), &why), ERR_OK);
    assert_int_equal(auth_revoke(&a, slice_str(id), &why), ERR_NOT_FOUND);
    auth_close(&a);
    assert_int_equal(auth_open(&a, t.disk, osclock(), osdigest(), &first, &why), ERR_OK);
    assert_int_equal(auth_check(&a, slice_str(text), now, &got, &why), ERR_UNAUTHENTICATED);
    c.roles = 0;
    assert_int_equal(auth_add(&a, &c, now, id, text, &why), ERR_INVALID);
    auth_close(&a);
    tmpdisk_remove(&t);
}

/* Every single byte of the file changed: refused, never a panic, and never other rights. */
static void a_damaged_file_is_refused(void **state) {
    (void)state;
    struct tmpdisk t;
    struct auth a;
    struct why why;
    bool first;
    uint8_t file[4096];
    disk_file f;
    tmpdisk_make(&t);
    assert_int_equal(auth_open(&a, t.disk, osclock(), osdigest(), &first, &why), ERR_OK);
    auth_close(&a);
    struct slice kept = read_all(t.disk, "tokens", file, sizeof file);
    for (size_t i = 0; i < kept.len; i++) {
        uint8_t wrong = (uint8_t)(file[i] ^ 0x41);
        assert_int_equal(t.disk->ops->open(t.disk, "tokens", DISK_WRITE, &f, &why), ERR_OK);
        assert_int_equal(diskio_write(t.disk, f, i, &wrong, 1, &why), ERR_OK);
        assert_int_equal(auth_open(&a, t.disk, osclock(), osdigest(), &first, &why), ERR_CORRUPT);
        assert_int_equal(diskio_write(t.disk, f, i, &file[i], 1, &why), ERR_OK);
        t.disk->ops->close(t.disk, f);
    }
    tmpdisk_remove(&t);
}

/* Roles differ, and nobody but an administrator has a right that no line of the table gives. */
static void roles_are_what_the_table_says(void **state) {
    (void)state;
    for (unsigned op = 0; op < 256; op++) {
        assert_true(role_may(ROLE_BIT(ROLE_ADMIN), (uint8_t)op));
        assert_false(role_may(0, (uint8_t)op));
        const struct wire_info *info = wire_info((uint8_t)op);
        if (info == NULL || info->sender == WIRE_FROM_SERVER)
            for (unsigned r = ROLE_OPERATOR; r < ROLE_COUNT; r++) assert_false(role_may(ROLE_BIT(r), (uint8_t)op));
    }
    assert_false(role_may(ROLE_BIT(ROLE_VIEWER), WIRE_SUBMIT));
    assert_false(role_may(ROLE_BIT(ROLE_VIEWER), WIRE_CANCEL));
    assert_true(role_may(ROLE_BIT(ROLE_VIEWER), WIRE_GET));
    assert_false(role_may(ROLE_BIT(ROLE_WORKER), WIRE_GET));
    assert_false(role_may(ROLE_BIT(ROLE_SUBMITTER), WIRE_VERDICT));
    assert_true(role_may(ROLE_BIT(ROLE_APPROVER), WIRE_VERDICT));
    assert_false(role_may(ROLE_BIT(ROLE_OPERATOR), WIRE_TOKEN_NEW));
    assert_true(role_may(ROLE_BIT(ROLE_OPERATOR), WIRE_DRAIN));
    assert_false(role_may(ROLE_BIT(ROLE_SUBMITTER), WIRE_ATTACH));
    assert_int_equal(role_by_word(SLICE("king")), 0);
    assert_int_equal(role_by_word(SLICE("worker")), ROLE_BIT(ROLE_WORKER));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_start_makes_two_tokens),
        cmocka_unit_test(a_first_start_that_is_interrupted_locks_nobody_out),
        cmocka_unit_test(the_secret_of_attempts_is_made_once),
        cmocka_unit_test(tokens_expire_and_are_revoked),
        cmocka_unit_test(a_damaged_file_is_refused),
        cmocka_unit_test(roles_are_what_the_table_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
