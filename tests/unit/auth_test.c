/* auth_test.c: tokens are known by their hash alone, end when they should, survive what journal and disk survive. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "authlab.h"
#include "cluster_key.h"
#include "diskio.h"
#include "osclock.h"
#include "osdigest.h"
#include "requests.h"
#include "simdisk.h"
#include "token_file.h"
#include "view_directory.h"
#include "wire.h"

static const wall_time now = {1000};
static struct authlab lab;
static struct why why;

static int setup(void **state) {
    (void)state;
    authlab_init(&lab);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    authlab_fini(&lab);
    return 0;
}

static struct slice read_all(struct disk *d, const char *name, uint8_t *to, size_t room) {
    disk_file f;
    size_t got = 0;
    assert_int_equal(d->ops->open(d, name, DISK_READ, &f, &why), ERR_OK);
    assert_int_equal(diskio_read(d, f, 0, to, room, &got, &why), ERR_OK);
    d->ops->close(d, f);
    return slice_of(to, got);
}

static struct slice token_in(struct disk *d, const char *name, uint8_t *to, size_t room) {
    struct slice line = read_all(d, name, to, room);
    line.len--; /* the newline */
    return line;
}

static bool has_file(struct disk *d, const char *name) {
    disk_file f;
    if (d->ops->open(d, name, DISK_READ, &f, &why) != ERR_OK) return false;
    d->ops->close(d, f);
    return true;
}

static bool journal_has(struct slice secret) {
    return memmem(lab.r.journal.at, lab.r.journal.len, secret.ptr, secret.len) != NULL;
}

static void the_first_start_makes_two_tokens(void **state) {
    (void)state;
    struct caller c;
    uint8_t admin_text[200], worker_text[200], plain[DIGEST_BYTES];
    struct slice admin = token_in(lab.disk.disk, "admin.token", admin_text, sizeof admin_text);
    struct slice worker = token_in(lab.disk.disk, "worker.token", worker_text, sizeof worker_text);
    for (int i = 0; i < 2; i++) {
        assert_ok(auth_check(&lab.auth, admin, now, &c, &why));
        assert_int_equal(c.roles, ROLE_BIT(ROLE_ADMIN));
        assert_int_equal(c.kind, KIND_PERSON);
        assert_ok(auth_check(&lab.auth, worker, now, &c, &why));
        assert_int_equal(c.roles, ROLE_BIT(ROLE_WORKER));
        assert_int_equal(c.kind, KIND_WORKER);
        assert_int_equal(auth_check(&lab.auth, SLICE("rv_guess"), now, &c, &why), ERR_UNAUTHENTICATED);
        assert_int_equal(auth_check(&lab.auth, SLICE(""), now, &c, &why), ERR_UNAUTHENTICATED);
        assert_ok(authlab_restart(&lab, &why));
        assert_false(lab.auth.is_first);
    }
    assert_false(has_file(lab.disk.disk, "tokens"));
    osdigest()->whole(osdigest(), admin, plain);
    assert_false(journal_has(admin));
    assert_false(journal_has(slice_of(plain, sizeof plain)));
    assert_false(journal_has(slice_of(lab.auth.secret, sizeof lab.auth.secret)));
}

/* The power fails inside each call of the disk in turn, and what was not synced is lost or kept. Nothing was recorded,
 * so the next start is a first start again. */
static void a_first_start_that_is_interrupted_locks_nobody_out(void **state) {
    (void)state;
    static const enum simdisk_crash_policy policies[] = {SIMDISK_KEEP_ALL, SIMDISK_DROP_ALL, SIMDISK_RANDOM};
    bool whole = false;
    for (uint64_t skip = 0; !whole; skip++) {
        struct simdisk *s = simdisk_new(skip);
        struct disk *d = simdisk_disk(s);
        struct auth a;
        struct caller c;
        struct command cmd;
        uint8_t text[200];
        simdisk_arm(s, SIMDISK_ANY, SIMDISK_POWER, skip);
        whole = auth_open(&a, d, osclock(), osdigest(), 0, engine_state(lab.fresh), &why) == ERR_OK;
        if (whole) auth_close(&a);
        simdisk_crash(s, policies[skip % 3]);
        simdisk_arm(s, SIMDISK_ANY, SIMDISK_FINE, 0);
        assert_ok(auth_open(&a, d, osclock(), osdigest(), 0, engine_state(lab.fresh), &why));
        struct fixture r;
        fixture_init(&r);
        assert_true(auth_beginning(&a, &cmd));
        assert_ok(fixture_command(&r, &cmd));
        assert_ok(auth_reopen(&a, engine_state(r.engine), &why));
        assert_ok(auth_check(&a, token_in(d, "admin.token", text, sizeof text), now, &c, &why));
        assert_ok(auth_check(&a, token_in(d, "worker.token", text, sizeof text), now, &c, &why));
        auth_close(&a);
        fixture_fini(&r);
        simdisk_free(s);
    }
}

static void the_secrets_are_made_once_and_sealed(void **state) {
    (void)state;
    uint8_t secret[AUTH_SECRET_BYTES], none[AUTH_SECRET_BYTES] = {0};
    memcpy(secret, lab.auth.secret, sizeof secret);
    assert_memory_not_equal(secret, none, sizeof none);
    assert_ok(authlab_restart(&lab, &why));
    assert_memory_equal(lab.auth.secret, secret, sizeof secret);
}

/* A journal on another machine opens nothing. */
static void a_journal_needs_its_own_key_file(void **state) {
    (void)state;
    struct cluster_key other;
    uint8_t kept[200];
    struct slice key = read_all(lab.disk.disk, CLUSTER_KEY_NAME, kept, sizeof kept);
    assert_int_equal(key.len, 65);
    assert_ok(lab.disk.disk->ops->remove(lab.disk.disk, CLUSTER_KEY_NAME, &why));
    assert_int_equal(authlab_restart(&lab, &why), ERR_FORBIDDEN);
    assert_non_null(strstr(why.text, "cluster.key is missing"));
    assert_false(has_file(lab.disk.disk, CLUSTER_KEY_NAME));
    assert_ok(cluster_key_make(lab.disk.disk, osclock(), &other, &why));
    assert_int_equal(authlab_restart(&lab, &why), ERR_FORBIDDEN);
    assert_non_null(strstr(why.text, "is not the key of this journal"));
    disk_file f;
    assert_ok(lab.disk.disk->ops->open(lab.disk.disk, CLUSTER_KEY_NAME, DISK_WRITE, &f, &why));
    assert_ok(diskio_write(lab.disk.disk, f, 0, "x", 1, &why));
    assert_int_equal(authlab_restart(&lab, &why), ERR_CORRUPT);
    assert_ok(diskio_write(lab.disk.disk, f, 0, key.ptr, key.len, &why));
    lab.disk.disk->ops->close(lab.disk.disk, f);
    assert_ok(authlab_restart(&lab, &why));
}

/* Each is bound to its place: journal, shard, number, kind. */
static void a_sealed_secret_fits_one_place(void **state) {
    (void)state;
    uint8_t key[SEAL_KEY_BYTES] = {1}, secret[SEAL_KEY_BYTES] = {2}, sealed[SECRET_SEALED_BYTES], got[SEAL_KEY_BYTES];
    struct secret_place place = {7, 0, 1, SECRET_HMAC};
    struct slice all = slice_of(sealed, sizeof sealed);
    secret_seal(osdigest(), osclock(), key, &place, secret, sealed);
    assert_true(secret_open(osdigest(), key, &place, all, got));
    assert_memory_equal(got, secret, sizeof secret);
    struct secret_place others[] = {
        {8, 0, 1, SECRET_HMAC}, {7, 1, 1, SECRET_HMAC}, {7, 0, 2, SECRET_HMAC}, {7, 0, 1, SECRET_DATA_KEY}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(secret_open(osdigest(), key, &others[i], all, got));
    for (size_t i = 0; i < sizeof sealed; i++) {
        sealed[i] ^= 1;
        assert_false(secret_open(osdigest(), key, &place, all, got));
        sealed[i] ^= 1;
        assert_false(secret_open(osdigest(), key, &place, slice_of(sealed, i), got));
    }
    key[0] ^= 1;
    assert_false(secret_open(osdigest(), key, &place, all, got));
}

/* AES-256-GCM, test case 14 of the specification: zeros under a key of zeros. */
static void sealing_is_aes_256_gcm(void **state) {
    (void)state;
    static const uint8_t zero[SEAL_KEY_BYTES],
        expected[] = {0xce, 0xa7, 0x40, 0x3d, 0x4d, 0x60, 0x6b, 0x6e, 0x07, 0x4e, 0xc5, 0xd3, 0xba, 0xf3, 0x9d, 0x18,
                      0xd0, 0xd1, 0xc8, 0xa7, 0x99, 0x99, 0x6b, 0xf0, 0x26, 0x5b, 0x98, 0xb5, 0xd4, 0x8a, 0xb9, 0x19};
    uint8_t sealed[SEAL_BYTES(16)];
    osdigest()->seal(osdigest(), zero, zero, SLICE(""), slice_of(zero, 16), sealed);
    assert_memory_equal(sealed + SEAL_NONCE_BYTES, expected, sizeof expected);
}

static void tokens_expire_and_are_revoked(void **state) {
    (void)state;
    struct minted_token t;
    struct caller c = {.name = "eve", .tenant = "acme", .roles = ROLE_BIT(ROLE_VIEWER), .expires_ms = 2000}, got;
    assert_ok(authlab_token(&lab, &c, now, &t));
    assert_ok(auth_check(&lab.auth, slice_str(t.text), (wall_time){1999}, &got, &why));
    assert_string_equal(got.tenant, "acme");
    assert_string_equal(got.id, t.id);
    assert_int_equal(got.kind, KIND_PERSON);
    assert_int_equal(auth_used_ms(&lab.auth, slice_str(t.id)), 1000);
    assert_int_equal(auth_check(&lab.auth, slice_str(t.text), (wall_time){2000}, &got, &why), ERR_UNAUTHENTICATED);
    uint32_t before = lab.r.effects.count;
    assert_ok(authlab_revoke(&lab, t.id));
    assert_int_equal(fixture_effects(&lab.r, before, EFFECT_TOKEN_ENDED), 1);
    assert_int_equal(authlab_revoke(&lab, t.id), ERR_NOT_FOUND);
    assert_int_equal(auth_check(&lab.auth, slice_str(t.text), now, &got, &why), ERR_UNAUTHENTICATED);
    assert_int_equal(auth_by_id(&lab.auth, slice_str(t.id), now, &got, &why), ERR_UNAUTHENTICATED);
    assert_ok(authlab_restart(&lab, &why));
    assert_int_equal(auth_check(&lab.auth, slice_str(t.text), now, &got, &why), ERR_UNAUTHENTICATED);
    c.roles = 0;
    assert_refused(&lab.r, authlab_token(&lab, &c, now, &t), ERR_INVALID, "needs a role");
}

static void the_last_administrator_stays(void **state) {
    (void)state;
    struct caller c;
    struct minted_token t;
    uint8_t text[200];
    assert_ok(auth_check(&lab.auth, token_in(lab.disk.disk, "admin.token", text, sizeof text), now, &c, &why));
    assert_refused(&lab.r, authlab_revoke(&lab, c.id), ERR_STATE, "the last one of an administrator");
    struct caller short_lived = {.name = "ann", .roles = ROLE_BIT(ROLE_ADMIN), .expires_ms = 5000};
    assert_ok(authlab_token(&lab, &short_lived, now, &t));
    assert_refused(&lab.r, authlab_revoke(&lab, c.id), ERR_STATE, "the last one of an administrator");
    struct caller other = {.name = "ann", .roles = ROLE_BIT(ROLE_ADMIN)};
    assert_ok(authlab_token(&lab, &other, now, &t));
    assert_ok(authlab_revoke(&lab, c.id));
    assert_refused(&lab.r, authlab_revoke(&lab, t.id), ERR_STATE, "the last one of an administrator");
}

/* ---- the file of earlier versions ---- */

static void save_old(struct disk *d, struct minted_token tokens[2], const uint8_t secret[AUTH_SECRET_BYTES]) {
    static const char *const names[] = {"ann", "w1"};
    struct rec_token_info list[2];
    struct rec_session over = {SLICE("uid:0"), 9, 1ll << 50};
    for (int i = 0; i < 2; i++) {
        struct caller c = {.roles = ROLE_BIT(i == 0 ? ROLE_ADMIN : ROLE_WORKER)};
        snprintf(c.name, sizeof c.name, "%s", names[i]);
        auth_mint_plain(osclock(), osdigest(), &tokens[i]);
        list[i] = auth_token_info(&tokens[i], &c, now);
        list[i].name = slice_str(names[i]);
    }
    struct token_file file = {list, 2, &over, 1, slice_of(secret, AUTH_SECRET_BYTES)};
    assert_ok(token_file_save(d, &file, &why));
}

static void an_old_file_is_taken_over_once(void **state) {
    (void)state;
    struct tmpdisk t;
    struct minted_token tokens[2];
    struct fixture r;
    struct auth a;
    struct caller c;
    struct command cmd;
    uint8_t secret[AUTH_SECRET_BYTES] = {3, 1, 4};
    tmpdisk_make(&t);
    fixture_init(&r);
    save_old(t.disk, tokens, secret);
    for (int crashes = 0; crashes < 3; crashes++) { /* before it was recorded: again, and the same */
        assert_ok(auth_open(&a, t.disk, osclock(), osdigest(), 0, engine_state(r.engine), &why));
        assert_false(a.is_first);
        if (crashes < 2) auth_close(&a);
    }
    assert_true(auth_beginning(&a, &cmd));
    assert_ok(fixture_command(&r, &cmd));
    assert_ok(auth_reopen(&a, engine_state(r.engine), &why));
    assert_memory_equal(a.secret, secret, sizeof secret); /* cookies and tokens of attempts go on */
    assert_true(view_session_has_ended(engine_state(r.engine), SLICE("uid:0"), 9, 1ll << 50));
    assert_ok(auth_check(&a, slice_str(tokens[0].text), now, &c, &why));
    assert_string_equal(c.id, tokens[0].id);
    assert_string_equal(c.name, "ann");
    assert_int_equal(c.kind, KIND_PERSON);
    assert_ok(auth_check(&a, slice_str(tokens[1].text), now, &c, &why));
    assert_int_equal(c.kind, KIND_WORKER);
    /* A crash before the file was renamed: one that is revoked since does not come back. */
    cmd = (struct command){.kind = CMD_IDENTITY};
    cmd.as.identity = (struct cmd_identity){.op = IDENTITY_TOKEN_END, .id = slice_str(tokens[1].id)};
    assert_ok(fixture_command(&r, &cmd));
    auth_close(&a);
    assert_true(has_file(t.disk, "tokens"));
    assert_ok(auth_open(&a, t.disk, osclock(), osdigest(), 0, engine_state(r.engine), &why));
    assert_false(auth_beginning(&a, &cmd));
    assert_int_equal(auth_check(&a, slice_str(tokens[1].text), now, &c, &why), ERR_UNAUTHENTICATED);
    assert_ok(auth_begun(&a, &why));
    assert_false(has_file(t.disk, "tokens") || has_file(t.disk, "sessions"));
    assert_true(has_file(t.disk, "tokens.taken-over") && has_file(t.disk, "sessions.taken-over"));
    auth_close(&a);
    fixture_check_digests(&r);
    fixture_fini(&r);
    tmpdisk_remove(&t);
}

/* Every single byte of the file changed: refused, never a panic, and never other rights. */
static void a_damaged_old_file_is_refused(void **state) {
    (void)state;
    struct tmpdisk t;
    struct minted_token tokens[2];
    struct auth a;
    uint8_t file[4096], secret[AUTH_SECRET_BYTES] = {1};
    disk_file f;
    tmpdisk_make(&t);
    save_old(t.disk, tokens, secret);
    struct slice kept = read_all(t.disk, "tokens", file, sizeof file);
    for (size_t i = 0; i < kept.len; i++) {
        uint8_t wrong = (uint8_t)(file[i] ^ 0x41);
        assert_int_equal(t.disk->ops->open(t.disk, "tokens", DISK_WRITE, &f, &why), ERR_OK);
        assert_int_equal(diskio_write(t.disk, f, i, &wrong, 1, &why), ERR_OK);
        assert_int_equal(auth_open(&a, t.disk, osclock(), osdigest(), 0, engine_state(lab.fresh), &why), ERR_CORRUPT);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_first_start_makes_two_tokens),     TEST(a_first_start_that_is_interrupted_locks_nobody_out),
        TEST(the_secrets_are_made_once_and_sealed), TEST(a_journal_needs_its_own_key_file),
        TEST(a_sealed_secret_fits_one_place),       TEST(sealing_is_aes_256_gcm),
        TEST(tokens_expire_and_are_revoked),        TEST(the_last_administrator_stays),
        TEST(an_old_file_is_taken_over_once),       TEST(a_damaged_old_file_is_refused),
        TEST(roles_are_what_the_table_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
