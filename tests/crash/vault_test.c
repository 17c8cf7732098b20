/* vault_test.c: blobs and logs on a disk that forgets, tears, fills up and fails. What was promised is there
 * afterwards, byte for byte; what is there was put; rot is refused with file and byte. */
#include "test.h"

#include <stdlib.h>

#include "simdisk.h"
#include "store_fixture.h"

#ifdef __SANITIZE_ADDRESS__
#define STEP 7u
#define BYTE_STEP 37u /* the release build looks at every byte */
#else
#define STEP 1u
#define BYTE_STEP 1u
#endif

/* ---- every call fails once ---- */

/* A life of a server's stores, until the first thing that fails it: small and large blobs, the same ones twice, logs of
 * many attempts with a cap, sweeps that make packs go and move. */
static void story_tell(struct store_fixture *l, uint32_t round) {
    bool good = store_fixture_start(l) == ERR_OK;
    for (uint32_t i = 0; good && i < 10; i++) {
        uint32_t id = round * 10 + i;
        for (uint32_t k = 0; k < 3; k++)
            (void)!store_fixture_log(l, (id + k) % STORE_FIXTURE_LOGS, 20 + id * 331 % 3000);
        if (i % 2 == 0) (void)!store_fixture_blob(l, id % STORE_FIXTURE_BLOBS, 50 + id * 997 % 9000);
        if (i == 3) (void)!store_fixture_blob(l, 60 + round % 4, 150000 + round % 4 * 3);
        if (i == 6)
            (void)!store_fixture_blob(l, (round * 10 + 2) % STORE_FIXTURE_BLOBS, 50 + (round * 10 + 2) * 997 % 9000);
        enum err e = store_fixture_flush(l);
        good = e == ERR_OK || e == ERR_NO_SPACE;
    }
    store_fixture_stop(l);
}

static void story_check(struct store_fixture *l, struct simdisk *s) {
    enum err e = store_fixture_start(l);
    if (e != ERR_OK) print_message("refused: %s\n", l->why.text);
    assert_int_equal(e, ERR_OK);
    e = blobs_damage(l->vault.blobs, &l->why);
    if (e == ERR_OK) e = joblogs_damage(l->vault.logs, &l->why);
    if (e != ERR_OK) print_message("taken for damage: %s\n", l->why.text);
    assert_int_equal(e, ERR_OK);
    store_fixture_check(l);
    store_fixture_stop(l);
    simdisk_crash(s, SIMDISK_DROP_ALL); /* what the second life found was durable */
    assert_int_equal(store_fixture_start(l), ERR_OK);
    store_fixture_check(l);
    assert_int_equal(store_fixture_flush(l), ERR_OK); /* and what tidying moved is still right */
    store_fixture_check(l);
    store_fixture_stop(l);
}

static void crash_by(struct simdisk *s, uint32_t way) {
    if (way < 4)
        simdisk_crash(s, (enum simdisk_crash_policy)way);
    else
        simdisk_kill(s);
}

static void every_call_fails_once(void **state) {
    (void)state;
    static const enum simdisk_fault faults[] = {SIMDISK_ERROR, SIMDISK_SHORT, SIMDISK_NO_SPACE, SIMDISK_POWER};
    static struct store_fixture l;
    struct simdisk *whole = simdisk_new(3);
    store_fixture_init(&l, simdisk_disk(whole));
    l.log_cap = 6000;
    for (uint32_t round = 0; round < 3; round++) story_tell(&l, round);
    uint64_t calls = simdisk_calls(whole, SIMDISK_ANY);
    assert_int_equal(store_fixture_start(&l), ERR_OK);
    store_fixture_check(&l);
    store_fixture_stop(&l);
    assert_true(l.bytes_checked > 300000);
    simdisk_free(whole);
    for (uint64_t call = 0; call < calls; call += STEP) {
        for (uint32_t k = 0; k < 4; k++) {
            struct simdisk *s = simdisk_new(call * 131 + k);
            store_fixture_init(&l, simdisk_disk(s));
            l.log_cap = 6000;
            simdisk_arm(s, SIMDISK_ANY, faults[k], call);
            uint32_t way = (uint32_t)(call / STEP + k) % 5;
            for (uint32_t round = 0; round < 3; round++) {
                story_tell(&l, round);
                if (simdisk_calls(s, SIMDISK_ANY) > call) break; /* it was met: this life ended with it */
            }
            simdisk_arm(s, SIMDISK_ANY, SIMDISK_FINE, 0);
            crash_by(s, faults[k] == SIMDISK_POWER && way == 4 ? 2 : way);
            story_check(&l, s);
            simdisk_free(s);
        }
    }
}

static void storms_of_faults_lose_nothing(void **state) {
    (void)state;
    static struct store_fixture l;
    for (uint64_t seed = 0; seed < 2000 / STEP; seed++) {
        struct simdisk *s = simdisk_new(seed);
        struct simdisk_chances c = {
            .write_error_ppm = 10000, .write_short_ppm = 200000, .read_short_ppm = 200000, .sync_error_ppm = 20000};
        store_fixture_init(&l, simdisk_disk(s));
        l.log_cap = seed % 3 == 0 ? 6000 : 0;
        for (uint32_t life = 0; life < 4; life++) {
            simdisk_chances_set(s, &c);
            story_tell(&l, life);
            crash_by(s, (uint32_t)(seed + life) % 5);
        }
        simdisk_chances_set(s, &(struct simdisk_chances){0});
        story_check(&l, s);
        simdisk_free(s);
    }
}

/* ---- a torn flush ---- */

static void every_choice_of_sectors_is_a_clean_prefix(void **state) {
    (void)state;
    static struct store_fixture l, copy;
    struct test_random r = {5};
    struct simdisk *s = simdisk_new(1);
    store_fixture_init(&l, simdisk_disk(s));
    assert_int_equal(store_fixture_start(&l), ERR_OK);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(store_fixture_log(&l, i, 3000), ERR_OK);
        assert_int_equal(store_fixture_blob(&l, i, 4000), ERR_OK);
        assert_int_equal(store_fixture_flush(&l), ERR_OK);
    }
    for (uint32_t i = 0; i < 40; i++) assert_int_equal(store_fixture_log(&l, i % 8, 6000), ERR_OK); /* several blocks */
    simdisk_arm(s, SIMDISK_SYNC, SIMDISK_POWER, 0);
    assert_int_equal(store_fixture_flush(&l), ERR_IO);
    store_fixture_stop(&l);
    uint32_t sectors = simdisk_unsynced(s);
    assert_true(sectors > 64);
    for (uint32_t i = 0; i < 400 / STEP; i++) {
        uint64_t mask[64] = {0};
        assert_true(sectors <= 64 * 64);
        for (uint32_t k = 0; k < 64; k++) mask[k] = i == 0 ? 0 : i == 1 ? UINT64_MAX : test_random_next(&r);
        for (uint32_t k = 0; i >= 2 && k < 64; k++) mask[k] |= test_random_next(&r) | test_random_next(&r);
        if (i >= 2) mask[test_random_below(&r, (sectors + 63) / 64)] = test_random_next(&r);
        struct simdisk *c = simdisk_clone(s);
        simdisk_crash_mask(c, mask);
        copy = l;
        copy.disk = simdisk_disk(c);
        story_check(&copy, c);
        if (i == 1) assert_int_equal(copy.log_acked[0], copy.log_tried[0]);
        simdisk_free(c);
    }
    simdisk_free(s);
}

/* ---- cut and rot ---- */

/* Blobs and logs in several packs, the last of each open. */
static struct simdisk *small_vault(struct store_fixture *l) {
    struct simdisk *s = simdisk_new(1);
    store_fixture_init(l, simdisk_disk(s));
    l->limits.pack_bytes = 12288;
    assert_int_equal(store_fixture_start(l), ERR_OK);
    assert_int_equal(store_fixture_blob(l, 1, 70000), ERR_OK);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(store_fixture_log(l, i % 3, 900 + i), ERR_OK);
        assert_int_equal(store_fixture_blob(l, 2 + i, 700 + i), ERR_OK);
        assert_int_equal(store_fixture_flush(l), ERR_OK);
    }
    store_fixture_stop(l);
    return s;
}

static void nothing(void *ctx, uint64_t offset, const struct log_piece *p) {
    (void)offset;
    *(uint64_t *)ctx += p->bytes.len;
}

/* Everything promised is right, or refused; no byte is wrong, nothing is silently missing. Returns refusals. */
static uint32_t right_or_refused(struct store_fixture *l, bool torn_allowed, const char *name) {
    struct pack_reader blobs, logs;
    uint32_t refused = 0;
    blobs_reader_init(l->vault.blobs, &blobs);
    joblogs_reader_init(l->vault.logs, &logs);
    for (uint32_t i = 0; i < STORE_FIXTURE_BLOBS; i++) {
        if (l->blob_bytes[i] == 0) continue;
        enum err e = blobs_verify(l->vault.blobs, &blobs, store_fixture_tenant, &l->blob_hash[i], &l->why);
        if (e == ERR_CORRUPT)
            refused++;
        else
            assert_true(e == ERR_OK || (torn_allowed && e == ERR_NOT_FOUND));
        if (e == ERR_CORRUPT) assert_non_null(strstr(l->why.text, name));
    }
    for (uint32_t i = 0; i < STORE_FIXTURE_LOGS; i++) {
        struct log_key key = store_fixture_key(i);
        uint64_t at = 0, next = 0, bytes = 0;
        enum err e = ERR_OK;
        do {
            at = next;
            e = joblogs_read(l->vault.logs, &logs, &key, at, 1, nothing, &bytes, &next, &l->why);
        } while (e == ERR_OK && next != at);
        if (e == ERR_CORRUPT)
            refused++;
        else
            assert_int_equal(e, ERR_OK);
        if (e == ERR_OK && !torn_allowed) assert_int_equal(at, l->log_acked[i]);
    }
    pack_reader_fini(&blobs);
    pack_reader_fini(&logs);
    return refused;
}

static void each_file(struct simdisk *s,
                      void (*fn)(struct simdisk *s, struct store_fixture *l, const char *name, bool last),
                      struct store_fixture *l) {
    static const char *const dirs[] = {"blobs", "logs"};
    for (uint32_t d = 0; d < 2; d++) {
        char name[PACKIO_NAME_MAX], next[PACKIO_NAME_MAX];
        for (uint32_t i = 1; i < 20; i++) {
            packio_name(name, dirs[d], i, false);
            bool last = true;
            for (uint32_t k = i + 1; k < 20; k++) {
                packio_name(next, dirs[d], k, false);
                last = last && !simdisk_exists(s, next);
            }
            if (simdisk_exists(s, name)) fn(s, l, name, last);
        }
    }
}

static uint32_t total_refused, total_fine;

/* In the middle of padding one byte is like the next. */
static bool dull(const uint8_t *content, uint64_t at) {
    return at % 64 != 0 && content[at] == 0 && content[at - 1] == 0;
}

static void flip_each(struct simdisk *s, struct store_fixture *l, const char *name, bool last) {
    static struct store_fixture copy;
    uint64_t bytes;
    const uint8_t *content = simdisk_peek(s, name, &bytes);
    for (uint64_t at = 0; at < bytes; at += BYTE_STEP) {
        if (dull(content, at)) continue;
        struct simdisk *c = simdisk_clone(s);
        simdisk_flip_bit(c, name, at, (uint32_t)(at * 5 % 8));
        copy = *l;
        copy.disk = simdisk_disk(c);
        enum err e = store_fixture_start(&copy);
        if (e == ERR_UNSUPPORTED) {
            simdisk_free(c);
            continue;
        }
        assert_int_equal(e, ERR_OK);
        uint32_t refused = right_or_refused(&copy, last, name);
        if (refused > 0)
            total_refused++;
        else
            total_fine++;
        store_fixture_stop(&copy);
        simdisk_free(c);
    }
}

static void every_rotten_byte_is_refused_or_harmless(void **state) {
    (void)state;
    static struct store_fixture l;
    struct simdisk *s = small_vault(&l);
    total_refused = total_fine = 0;
    each_file(s, flip_each, &l);
    print_message("%u refused, %u fine\n", total_refused, total_fine);
    assert_true(total_refused > 1000 / BYTE_STEP); /* bodies */
    assert_true(total_fine > 500 / BYTE_STEP);     /* padding, footers, and what is repeated elsewhere */
    simdisk_free(s);
}

static void cut_each(struct simdisk *s, struct store_fixture *l, const char *name, bool last) {
    static struct store_fixture copy;
    (void)last;
    uint64_t bytes;
    const uint8_t *content = simdisk_peek(s, name, &bytes);
    for (uint64_t at = 0; at < bytes; at += BYTE_STEP) {
        if (dull(content, at)) continue;
        struct simdisk *c = simdisk_clone(s);
        simdisk_cut(c, name, at);
        copy = *l;
        copy.disk = simdisk_disk(c);
        assert_int_equal(store_fixture_start(&copy), ERR_OK);
        struct pack_reader r;
        blobs_reader_init(copy.vault.blobs, &r);
        for (uint32_t i = 0; i < STORE_FIXTURE_BLOBS; i++) { /* no byte is wrong */
            if (copy.blob_bytes[i] == 0) continue;
            enum err e = blobs_verify(copy.vault.blobs, &r, store_fixture_tenant, &copy.blob_hash[i], &copy.why);
            assert_true(e == ERR_OK || e == ERR_NOT_FOUND || e == ERR_CORRUPT);
        }
        pack_reader_fini(&r);
        for (uint32_t i = 0; i < STORE_FIXTURE_LOGS; i++) copy.log_acked[i] = 0;
        store_fixture_stop(&copy);
        assert_int_equal(store_fixture_start(&copy), ERR_OK); /* and the same again: what was found was put right */
        store_fixture_stop(&copy);
        simdisk_free(c);
    }
}

static void a_file_cut_at_any_byte_gives_no_wrong_byte(void **state) {
    (void)state;
    static struct store_fixture l;
    struct simdisk *s = small_vault(&l);
    each_file(s, cut_each, &l);
    simdisk_free(s);
}

/* ---- a full disk ---- */

static void a_full_disk_is_waited_out(void **state) {
    (void)state;
    static struct store_fixture l;
    for (uint64_t budget = 4096; budget < 200000; budget += 1300 * STEP) {
        struct simdisk *s = simdisk_new(budget);
        store_fixture_init(&l, simdisk_disk(s));
        assert_int_equal(store_fixture_start(&l), ERR_OK);
        simdisk_budget_set(s, budget);
        enum err e = ERR_OK;
        for (uint32_t i = 0; i < 12 && e == ERR_OK; i++) {
            enum err put = store_fixture_blob(&l, i, i == 3 ? 90000 : 3000);
            if (put == ERR_OK) put = store_fixture_log(&l, i, 5000);
            assert_true(put == ERR_OK || put == ERR_NO_SPACE);
            e = store_fixture_flush(&l);
            assert_true(e == ERR_OK || e == ERR_NO_SPACE);
        }
        simdisk_budget_set(s, UINT64_MAX);
        assert_int_equal(store_fixture_flush(&l), ERR_OK);
        for (uint32_t i = 0; i < STORE_FIXTURE_BLOBS; i++)
            assert_true(l.puts[i] == NULL);               /* those that waited are durable */
        if (store_fixture_blob(&l, 20, 3000) != ERR_OK) { /* a refusal has the next flush look at the disk again */
            assert_int_equal(store_fixture_flush(&l), ERR_OK);
            assert_int_equal(store_fixture_blob(&l, 20, 3000), ERR_OK);
        }
        assert_int_equal(store_fixture_flush(&l), ERR_OK);
        assert_true(l.blob_acked[20]);
        store_fixture_check(&l);
        store_fixture_stop(&l);
        simdisk_crash(s, SIMDISK_DROP_ALL);
        assert_int_equal(store_fixture_start(&l), ERR_OK);
        store_fixture_check(&l);
        store_fixture_stop(&l);
        simdisk_free(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_fails_once),
        cmocka_unit_test(storms_of_faults_lose_nothing),
        cmocka_unit_test(every_choice_of_sectors_is_a_clean_prefix),
        cmocka_unit_test(every_rotten_byte_is_refused_or_harmless),
        cmocka_unit_test(a_file_cut_at_any_byte_gives_no_wrong_byte),
        cmocka_unit_test(a_full_disk_is_waited_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
