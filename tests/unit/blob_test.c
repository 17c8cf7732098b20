/* blob_test.c: blobs: putting, sharing, reading ranges, listing, sweeping, and packs that move and go. */
#include "test.h"

#include <stdio.h>

#include "hash.h"
#include "osdigest.h"
#include "simdisk.h"
#include "store_fixture.h"

struct fixture {
    struct simdisk *sim;
    struct store_fixture lab;
    struct blobs *blobs;
    struct pack_reader reader;
};

static void rig_open(struct fixture *r) {
    assert_int_equal(store_fixture_start(&r->lab), ERR_OK);
    r->blobs = r->lab.vault.blobs;
    blobs_reader_init(r->blobs, &r->reader);
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

static blob_hash put(struct fixture *r, const char *tenant, const char *text) {
    blob_hash hash;
    uint64_t ticket;
    assert_int_equal(blobs_put(r->blobs, slice_str(tenant), slice_str(text), &hash, &ticket, &r->lab.why), ERR_OK);
    return hash;
}

static enum err get(struct fixture *r, const char *tenant, const blob_hash *hash, uint64_t offset, const char *want) {
    struct slice s;
    enum err e = blobs_read(r->blobs, &r->reader, slice_str(tenant), hash, offset, &s, &r->lab.why);
    if (e == ERR_OK) assert_true(slice_eq(s, slice_str(want)));
    return e;
}

static void flush(struct fixture *r) {
    assert_int_equal(store_fixture_flush(&r->lab), ERR_OK);
}

static void a_hash_is_sha_256(void **state) {
    (void)state;
    static const uint8_t want[] = {0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40,
                                   0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17,
                                   0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad};
    struct fixture r;
    fixture_init(&r);
    blob_hash hash = put(&r, "acme", "abc");
    assert_memory_equal(hash.at, want, sizeof want);
    uint8_t streamed[DIGEST_BYTES];
    struct digest_run *run = osdigest()->begin(osdigest());
    osdigest()->more(run, SLICE("a"));
    osdigest()->more(run, SLICE("bc"));
    osdigest()->end(run, streamed);
    assert_memory_equal(streamed, want, sizeof want);
    fixture_fini(&r);
}

static void a_blob_is_shown_when_it_is_durable(void **state) {
    (void)state;
    struct fixture r;
    fixture_init(&r);
    blob_hash hash;
    uint64_t ticket = 0;
    assert_int_equal(blobs_put(r.blobs, SLICE("acme"), SLICE("#!/bin/sh\n"), &hash, &ticket, &r.lab.why), ERR_OK);
    assert_true(ticket > blobs_durable(r.blobs));
    assert_int_equal(get(&r, "acme", &hash, 0, ""), ERR_NOT_FOUND);
    flush(&r);
    assert_true(ticket <= blobs_durable(r.blobs));
    assert_int_equal(get(&r, "acme", &hash, 0, "#!/bin/sh\n"), ERR_OK);
    assert_int_equal(get(&r, "acme", &hash, 2, "/bin/sh\n"), ERR_OK);
    assert_int_equal(get(&r, "acme", &hash, 10, ""), ERR_OK);
    assert_int_equal(get(&r, "acme", &hash, 11, ""), ERR_INVALID);
    assert_int_equal(get(&r, "other", &hash, 0, ""), ERR_NOT_FOUND); /* by tenant */
    rig_restart(&r);
    assert_int_equal(get(&r, "acme", &hash, 0, "#!/bin/sh\n"), ERR_OK);
    fixture_fini(&r);
}

static void many_puts_share_one_sync(void **state) {
    (void)state;
    struct fixture r;
    fixture_init(&r);
    (void)put(&r, "acme", "the first makes the file");
    flush(&r);
    uint64_t syncs = simdisk_calls(r.sim, SIMDISK_SYNC), writes = simdisk_calls(r.sim, SIMDISK_WRITE);
    for (uint32_t i = 0; i < 100; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "script %u", i);
        (void)put(&r, "acme", text);
    }
    flush(&r);
    assert_int_equal(simdisk_calls(r.sim, SIMDISK_SYNC) - syncs, 1);
    assert_int_equal(simdisk_calls(r.sim, SIMDISK_WRITE) - writes, 1);
    fixture_fini(&r);
}

static void a_blob_that_is_there_is_not_written_again(void **state) {
    (void)state;
    struct fixture r;
    fixture_init(&r);
    blob_hash one = put(&r, "acme", "same");
    uint64_t first = 0, again = 0;
    assert_int_equal(blobs_put(r.blobs, SLICE("acme"), SLICE("same"), &one, &first, &r.lab.why), ERR_OK);
    assert_true(first > blobs_durable(r.blobs)); /* not durable yet, so the second one waits for the first */
    flush(&r);
    uint64_t writes = simdisk_calls(r.sim, SIMDISK_WRITE);
    assert_int_equal(blobs_put(r.blobs, SLICE("acme"), SLICE("same"), &one, &again, &r.lab.why), ERR_OK);
    assert_true(again <= blobs_durable(r.blobs));
    flush(&r);
    assert_int_equal(simdisk_calls(r.sim, SIMDISK_WRITE), writes);
    struct packs_stats s;
    blobs_stats(r.blobs, &s);
    assert_int_equal(s.entries, 1);
    fixture_fini(&r);
}

static void large_blobs_have_their_own_file_and_any_range(void **state) {
    (void)state;
    struct fixture r;
    fixture_init(&r);
    static const uint64_t sizes[] = {65536, 65537, 131072, 300001};
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(store_fixture_blob(&r.lab, 1 + 2 * i, sizes[i]), ERR_OK);
    flush(&r);
    for (uint32_t i = 0; i < 4; i++) assert_true(r.lab.blob_acked[1 + 2 * i]);
    rig_restart(&r);
    store_fixture_check(&r.lab);
    for (uint64_t at = 0; at < 300001; at += 1013) {
        struct slice s;
        assert_int_equal(blobs_read(r.blobs, &r.reader, store_fixture_tenant, &r.lab.blob_hash[7], at, &s, &r.lab.why),
                         ERR_OK);
        assert_int_equal(s.ptr[0], store_fixture_byte(7, at));
    }
    fixture_fini(&r);
}

static uint32_t files(struct simdisk *s, bool unborn) {
    char name[PACKIO_NAME_MAX];
    uint32_t count = 0;
    for (uint32_t i = 1; i < 100; i++) {
        packio_name(name, "blobs", i, unborn);
        count += simdisk_exists(s, name);
    }
    return count;
}

static void a_large_blob_put_twice_is_kept_once(void **state) {
    (void)state;
    struct fixture r;
    fixture_init(&r);
    struct blob_put *two[2];
    blob_hash hash;
    uint64_t bytes;
    static uint8_t content[200000];
    memset(content, 3, sizeof content);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(blob_put_begin(r.blobs, SLICE("acme"), &two[i], &r.lab.why), ERR_OK);
        assert_int_equal(blob_put_part(two[i], slice_of(content, sizeof content), &r.lab.why), ERR_OK);
        assert_int_equal(blob_put_end(two[i], &r.lab.why), ERR_OK);
        assert_false(blob_put_done(two[i], &hash, &bytes));
    }
    flush(&r);
    for (uint32_t i = 0; i < 2; i++) assert_true(blob_put_done(two[i], &hash, &bytes));
    assert_int_equal(bytes, sizeof content);
    assert_int_equal(files(r.sim, false), 1);
    assert_int_equal(files(r.sim, true), 0);
    assert_true(simdisk_used(r.sim) < 20000); /* it compresses */
    fixture_fini(&r);
}

static void a_put_that_is_dropped_leaves_nothing(void **state) {
    (void)state;
    struct fixture r;
    fixture_init(&r);
    static uint8_t content[200000];
    for (uint32_t i = 0; i < 4; i++) {
        struct blob_put *p;
        assert_int_equal(blob_put_begin(r.blobs, SLICE("acme"), &p, &r.lab.why), ERR_OK);
        assert_int_equal(blob_put_part(p, slice_of(content, i == 0 ? 10 : 200000), &r.lab.why), ERR_OK);
        if (i >= 2) flush(&r);
        if (i == 3) assert_int_equal(blob_put_end(p, &r.lab.why), ERR_OK);
        blob_put_drop(p);
        flush(&r);
    }
    assert_int_equal(files(r.sim, true), 0);
    assert_int_equal(files(r.sim, false), 0);
    fixture_fini(&r);
}

static void a_put_that_a_crash_cut_off_leaves_nothing(void **state) {
    (void)state;
    struct fixture r;
    fixture_init(&r);
    static uint8_t content[200000];
    struct blob_put *p;
    assert_int_equal(blob_put_begin(r.blobs, SLICE("acme"), &p, &r.lab.why), ERR_OK);
    assert_int_equal(blob_put_part(p, slice_of(content, sizeof content), &r.lab.why), ERR_OK);
    flush(&r);
    assert_int_equal(files(r.sim, true), 1);
    pack_reader_fini(&r.reader);
    store_fixture_stop(&r.lab);
    simdisk_crash(r.sim, SIMDISK_KEEP_ALL);
    rig_open(&r);
    assert_int_equal(files(r.sim, true), 0);
    fixture_fini(&r);
}

static void limits_are_refused_by_name(void **state) {
    (void)state;
    struct fixture r;
    r.sim = simdisk_new(1);
    store_fixture_init(&r.lab, simdisk_disk(r.sim));
    r.lab.limits.blobs_max = 2;
    r.lab.limits.blob_bytes_max = 100000;
    r.lab.limits.vault_pending_bytes_max = 150000;
    rig_open(&r);
    static uint8_t content[90000];
    blob_hash hash;
    uint64_t ticket;
    (void)put(&r, "acme", "1");
    (void)put(&r, "acme", "2");
    assert_int_equal(blobs_put(r.blobs, SLICE("acme"), SLICE("3"), &hash, &ticket, &r.lab.why), ERR_LIMIT);
    assert_non_null(strstr(r.lab.why.text, "blobs_max"));
    (void)put(&r, "acme", "2");
    assert_int_equal(blobs_put(r.blobs, SLICE(""), SLICE("3"), &hash, &ticket, &r.lab.why), ERR_INVALID);
    struct blob_put *p, *q;
    assert_int_equal(blob_put_begin(r.blobs, SLICE("acme"), &p, &r.lab.why), ERR_OK);
    assert_int_equal(blob_put_part(p, slice_of(content, 90000), &r.lab.why), ERR_OK);
    assert_int_equal(blob_put_part(p, slice_of(content, 10001), &r.lab.why), ERR_LIMIT);
    assert_non_null(strstr(r.lab.why.text, "blob_bytes_max"));
    assert_int_equal(blob_put_begin(r.blobs, SLICE("acme"), &q, &r.lab.why), ERR_OK);
    assert_int_equal(blob_put_part(q, slice_of(content, 90000), &r.lab.why), ERR_BUSY);
    flush(&r);
    assert_int_equal(blob_put_part(q, slice_of(content, 90000), &r.lab.why), ERR_OK);
    blob_put_drop(p);
    blob_put_drop(q);
    fixture_fini(&r);
}

static void the_journals_space_is_left_alone(void **state) {
    (void)state;
    struct fixture r;
    r.sim = simdisk_new(1);
    simdisk_budget_set(r.sim, 200000);
    store_fixture_init(&r.lab, simdisk_disk(r.sim));
    r.lab.limits.vault_reserve_bytes = 150000;
    rig_open(&r);
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < 100 && e == ERR_OK; i++) {
        blob_hash hash;
        uint64_t ticket;
        uint8_t content[3000];
        for (uint32_t k = 0; k < sizeof content; k++) content[k] = (uint8_t)(hash64(&k, 4, i) & 255);
        e = blobs_put(r.blobs, SLICE("acme"), slice_of(content, sizeof content), &hash, &ticket, &r.lab.why);
        flush(&r);
    }
    assert_int_equal(e, ERR_NO_SPACE);
    assert_true(simdisk_used(r.sim) <= 50000 && simdisk_used(r.sim) > 30000);
    fixture_fini(&r);
}

/* What a tenant has and what it has coming count; what was dropped or swept does not. */
static void a_tenant_has_its_share(void **state) {
    (void)state;
    struct fixture r;
    static uint8_t content[90000];
    struct blob_put *p;
    blob_hash hash;
    uint64_t ticket, dropped = 0;
    r.sim = simdisk_new(1);
    store_fixture_init(&r.lab, simdisk_disk(r.sim));
    r.lab.limits.blob_tenant_bytes_max = 100000;
    rig_open(&r);
    (void)put(&r, "acme", "1234567890");
    assert_int_equal(blobs_admit(r.blobs, SLICE("acme"), 99990, &r.lab.why), ERR_OK);
    assert_int_equal(blobs_admit(r.blobs, SLICE("acme"), 99991, &r.lab.why), ERR_LIMIT);
    assert_non_null(strstr(r.lab.why.text, "blob_tenant_bytes_max"));
    assert_int_equal(blob_put_begin(r.blobs, SLICE("acme"), &p, &r.lab.why), ERR_OK);
    assert_int_equal(blob_put_part(p, slice_of(content, 90000), &r.lab.why), ERR_OK);
    assert_int_equal(blob_put_part(p, slice_of(content, 9991), &r.lab.why), ERR_LIMIT);
    assert_int_equal(blobs_put(r.blobs, SLICE("acme"), slice_of(content, 9991), &hash, &ticket, &r.lab.why), ERR_LIMIT);
    assert_int_equal(blobs_admit(r.blobs, SLICE("beta"), 100000, &r.lab.why), ERR_OK);
    blob_put_drop(p);
    flush(&r);
    assert_int_equal(blobs_admit(r.blobs, SLICE("acme"), 99990, &r.lab.why), ERR_OK);
    rig_restart(&r); /* it is counted from what is there */
    assert_int_equal(blobs_admit(r.blobs, SLICE("acme"), 99991, &r.lab.why), ERR_LIMIT);
    blobs_sweep_begin(r.blobs);
    r.lab.clock.ms += 1000;
    while (!blobs_sweep_step(r.blobs, 10, &dropped)) continue;
    assert_int_equal(dropped, 1);
    assert_int_equal(blobs_admit(r.blobs, SLICE("acme"), 100000, &r.lab.why), ERR_OK);
    fixture_fini(&r);
}

static void one_of_several_tenants_has_not_the_whole_disk(void **state) {
    (void)state;
    struct fixture r;
    r.sim = simdisk_new(1);
    simdisk_budget_set(r.sim, 1000000);
    store_fixture_init(&r.lab, simdisk_disk(r.sim));
    r.lab.limits.vault_reserve_bytes = 200000;
    r.lab.limits.blob_tenant_share = 50;
    rig_open(&r);
    assert_int_equal(blobs_admit(r.blobs, SLICE("acme"), 700000, &r.lab.why), ERR_OK);
    blobs_share(r.blobs, true);
    assert_int_equal(blobs_admit(r.blobs, SLICE("acme"), 700000, &r.lab.why), ERR_LIMIT);
    assert_non_null(strstr(r.lab.why.text, "blob_tenant_share"));
    assert_int_equal(blobs_admit(r.blobs, SLICE("acme"), 350000, &r.lab.why), ERR_OK);
    fixture_fini(&r);
}

struct listing {
    blob_hash hash[64];
    uint64_t bytes;
    uint32_t count;
};

static void list_add(void *ctx, const blob_hash *hash, uint64_t bytes) {
    struct listing *l = ctx;
    if (l->count > 0) assert_true(memcmp(l->hash[l->count - 1].at, hash->at, DIGEST_BYTES) < 0);
    l->hash[l->count++] = *hash;
    l->bytes += bytes;
}

static void blobs_are_listed_by_cursor(void **state) {
    (void)state;
    struct fixture r;
    fixture_init(&r);
    for (uint32_t i = 0; i < 50; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "number %02u", i);
        (void)put(&r, i % 2 ? "acme" : "other", text);
    }
    struct listing l = {0};
    assert_int_equal(blobs_list(r.blobs, SLICE("acme"), NULL, 7, list_add, &l), 0); /* nothing is durable */
    flush(&r);
    while (blobs_list(r.blobs, SLICE("acme"), l.count ? &l.hash[l.count - 1] : NULL, 7, list_add, &l) > 0) {
    }
    assert_int_equal(l.count, 25);
    assert_int_equal(l.bytes, 25 * 9);
    assert_int_equal(blobs_list(r.blobs, SLICE("nobody"), NULL, 7, list_add, &l), 0);
    fixture_fini(&r);
}

static uint64_t sweep(struct fixture *r) {
    uint64_t dropped = 0;
    while (!blobs_sweep_step(r->blobs, 3, &dropped)) {
    }
    return dropped;
}

static void what_a_reference_names_is_never_swept(void **state) {
    (void)state;
    struct fixture r;
    fixture_init(&r);
    blob_hash a = put(&r, "acme", "a"), b = put(&r, "acme", "b"), c = put(&r, "other", "a");
    flush(&r);
    r.lab.clock.ms += 10;
    blobs_sweep_begin(r.blobs);
    blobs_mark(r.blobs, SLICE("acme"), &a);
    blobs_mark(r.blobs, SLICE("nobody"), &a);
    blob_hash d = put(&r, "acme", "put since"); /* its submit may be on the way */
    (void)put(&r, "other", "a");                /* so may that of one that was there already */
    flush(&r);
    r.lab.clock.ms += 10;
    assert_int_equal(sweep(&r), 1);
    assert_int_equal(get(&r, "acme", &a, 0, "a"), ERR_OK);
    assert_int_equal(get(&r, "acme", &b, 0, ""), ERR_NOT_FOUND);
    assert_int_equal(get(&r, "other", &c, 0, "a"), ERR_OK);
    assert_int_equal(get(&r, "acme", &d, 0, "put since"), ERR_OK);
    rig_restart(&r);
    r.lab.clock.ms += 10;
    assert_int_equal(get(&r, "acme", &b, 0, "b"), ERR_OK); /* it is back: harmless, and swept again */
    blobs_sweep_begin(r.blobs);
    blobs_mark(r.blobs, SLICE("acme"), &a);
    assert_int_equal(sweep(&r), 3);
    fixture_fini(&r);
}

/* Its client has not been answered yet. */
static void a_put_that_was_not_taken_is_not_swept(void **state) {
    (void)state;
    struct fixture r;
    fixture_init(&r);
    static uint8_t content[70000];
    struct blob_put *p[2];
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(blob_put_begin(r.blobs, SLICE("acme"), &p[i], &r.lab.why), ERR_OK);
        assert_int_equal(blob_put_part(p[i], slice_of(content, i ? 70000 : 10), &r.lab.why), ERR_OK);
        assert_int_equal(blob_put_end(p[i], &r.lab.why), ERR_OK);
    }
    flush(&r);
    r.lab.clock.ms += 10;
    blobs_sweep_begin(r.blobs);
    assert_int_equal(sweep(&r), 0);
    for (uint32_t i = 0; i < 2; i++) {
        blob_hash hash;
        uint64_t bytes;
        assert_true(blob_put_done(p[i], &hash, &bytes));
        assert_int_equal(bytes, i ? 70000 : 10);
    }
    blobs_sweep_begin(r.blobs);
    assert_int_equal(sweep(&r), 2);
    fixture_fini(&r);
}

static void a_young_blob_is_not_swept(void **state) {
    (void)state;
    struct fixture r;
    r.sim = simdisk_new(1);
    store_fixture_init(&r.lab, simdisk_disk(r.sim));
    r.lab.limits.blob_grace_ms = 1000;
    rig_open(&r);
    (void)put(&r, "acme", "a");
    flush(&r);
    for (uint32_t i = 0; i < 2; i++) {
        r.lab.clock.ms += 999;
        blobs_sweep_begin(r.blobs);
        assert_int_equal(sweep(&r), 0);
        r.lab.clock.ms += 2;
        if (i == 0) (void)put(&r, "acme", "a"); /* put again: its time begins anew */
    }
    blobs_sweep_begin(r.blobs);
    assert_int_equal(sweep(&r), 1);
    fixture_fini(&r);
}

static void packs_without_life_are_removed_and_half_dead_ones_move(void **state) {
    (void)state;
    struct fixture r;
    fixture_init(&r);
    for (uint32_t i = 0; i < 60; i += 1) {
        assert_int_equal(store_fixture_blob(&r.lab, i, 4000 + i), ERR_OK);
        flush(&r);
    }
    uint64_t before = simdisk_used(r.sim);
    uint32_t packs_before = files(r.sim, false);
    assert_true(packs_before >= 3);
    r.lab.clock.ms += 10;
    blobs_sweep_begin(r.blobs);
    for (uint32_t i = 0; i < 60; i += 10) blobs_mark(r.blobs, store_fixture_tenant, &r.lab.blob_hash[i]);
    assert_int_equal(sweep(&r), 54);
    for (uint32_t i = 0; i < 60; i++)
        if (i % 10 != 0) r.lab.blob_bytes[i] = 0, r.lab.blob_acked[i] = false;
    flush(&r);
    struct packs_stats s;
    blobs_stats(r.blobs, &s);
    assert_true(s.moved > 0);
    assert_true(simdisk_used(r.sim) * 2 < before);
    assert_true(files(r.sim, false) < packs_before);
    store_fixture_check(&r.lab);
    assert_true(r.lab.bytes_checked >= 6 * 4000);
    rig_restart(&r);
    store_fixture_check(&r.lab);
    fixture_fini(&r);
}

static void a_large_blob_swept_gives_its_file_back(void **state) {
    (void)state;
    struct fixture r;
    fixture_init(&r);
    assert_int_equal(store_fixture_blob(&r.lab, 3, 200000), ERR_OK);
    flush(&r);
    assert_int_equal(files(r.sim, false), 1);
    rig_restart(&r);
    r.lab.clock.ms += 10;
    blobs_sweep_begin(r.blobs);
    assert_int_equal(sweep(&r), 1);
    flush(&r);
    assert_int_equal(files(r.sim, false), 0);
    fixture_fini(&r);
}

/* Damage in a pack whose footer is gone: what it held may be missing, and that is said. */
static void a_lost_index_entry_is_not_called_absent(void **state) {
    (void)state;
    struct fixture r;
    fixture_init(&r);
    blob_hash a = put(&r, "acme", "in the first flush");
    flush(&r);
    (void)put(&r, "acme", "in the second flush");
    flush(&r);
    pack_reader_fini(&r.reader);
    store_fixture_stop(&r.lab);
    simdisk_flip_bit(r.sim, "blobs/0000000000000001.pack", PACK_ALIGN + PACK_BLOCK_HEADER_BYTES + 3, 1);
    rig_open(&r);
    assert_int_equal(get(&r, "acme", &a, 0, ""), ERR_CORRUPT);
    assert_non_null(strstr(r.lab.why.text, "0000000000000001.pack: damaged at byte 4096"));
    assert_int_equal(blobs_damage(r.blobs, &r.lab.why), ERR_CORRUPT);
    fixture_fini(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hash_is_sha_256),
        cmocka_unit_test(a_blob_is_shown_when_it_is_durable),
        cmocka_unit_test(many_puts_share_one_sync),
        cmocka_unit_test(a_blob_that_is_there_is_not_written_again),
        cmocka_unit_test(large_blobs_have_their_own_file_and_any_range),
        cmocka_unit_test(a_large_blob_put_twice_is_kept_once),
        cmocka_unit_test(a_put_that_is_dropped_leaves_nothing),
        cmocka_unit_test(a_put_that_a_crash_cut_off_leaves_nothing),
        cmocka_unit_test(limits_are_refused_by_name),
        cmocka_unit_test(the_journals_space_is_left_alone),
        cmocka_unit_test(a_tenant_has_its_share),
        cmocka_unit_test(one_of_several_tenants_has_not_the_whole_disk),
        cmocka_unit_test(blobs_are_listed_by_cursor),
        cmocka_unit_test(what_a_reference_names_is_never_swept),
        cmocka_unit_test(a_put_that_was_not_taken_is_not_swept),
        cmocka_unit_test(a_young_blob_is_not_swept),
        cmocka_unit_test(packs_without_life_are_removed_and_half_dead_ones_move),
        cmocka_unit_test(a_large_blob_swept_gives_its_file_back),
        cmocka_unit_test(a_lost_index_entry_is_not_called_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
