/* core_test.c: a journal and a snapshot that an earlier version wrote give the same state for ever.
 *
 * tests/golden/core-v1/ holds `journal`, the batches of a scripted run that has every kind of record in it that there
 * was at first, and `snapshot`, the state after the first half of them; the folders beside it have the same of further
 * scripts, each for what came later: store, limits and compensations; foreach jobs; services and policies; schedules,
 * kept results and flows that leave; triggers and flows that undo every failure; flows that keep their file; versions
 * that a service remembers; stages and times of flows; replicas and versions that start first; calendars and keys that
 * start schedules; identity. The digests they must lead to stand below, and were never computed again since. A
 * container of batches is, little-endian and back to back: first and last LSN, epoch (8 bytes each), shard, rules (4
 * each), time, seed (8 each), length (4), records. To make the folder of new rules:
 *
 *     golden_core_test --make tests/golden/core-vN
 *
 * and to make one for records that came later, with a script of their own:
 *
 *     golden_core_test --make tests/golden/core-v1-store store
 *
 * which prints the digests to write down and refuses to touch a folder that exists. The script may change freely: what
 * was once written does not come from it any more. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core_scripts.h"
#include "engine_fixture.h"

#include "limit.h"

struct golden {
    const char *folder;
    uint32_t batches, first_half; /* all of them; those that the snapshot has */
    struct {
        enum record_kind first, last; /* 0 = no more */
    } kinds[4];                       /* each of these kinds of record is in the journal */
    struct digest middle, end;
};

static const struct golden versions[] = {
    {"tests/golden/core-v1",
     44,
     19,
     {{REC_OPENED, REC_TENANT}},
     {0xad61430c9b377079, 0xd1f345489be7d61e},
     {0x646d6610412c6454, 0x21c95bf41366cb1e}},
    {"tests/golden/core-v1-expand",
     22,
     11,
     {{REC_VERDICT, REC_VERDICT}, {REC_EXPANDED, REC_EXPANDED}},
     {0xea12854408df2bda, 0x0c73b0a0309b3be7},
     {0x8ee3480fc559b4d4, 0x897b956a3a75fc66}},
    {"tests/golden/core-v1-store",
     31,
     15,
     {{REC_STORE_SET, REC_STORE_EXPIRED}, {REC_LIMIT, REC_LIMIT}},
     {0x13aacb991bdccc5b, 0x73761ab8905a01e6},
     {0x8c58b15a79c373e0, 0x1c6d41fd929ab752}},
    {"tests/golden/core-v1-service",
     24,
     11,
     {{REC_POLICY, REC_REVOKED}, {REC_SERVICE, REC_HEALTH}},
     {0x935d3cb0d5d96212, 0x4362a70dc70c75a8},
     {0x02c040637084bb05, 0x4df130162aa8d8a4}},
    {"tests/golden/core-v6-version",
     24,
     11,
     {{REC_SERVICE, REC_HEALTH}},
     {0x90158fdea2d89363, 0xcffacaef90f6b3b3},
     {0x29c4c64b801442e7, 0xc4b7d11b2700f468}},
    {"tests/golden/core-v1-schedule",
     31,
     17,
     {{REC_SCHEDULE, REC_MEMO_DROPPED}, {REC_FORGOTTEN, REC_CONTINUED}},
     {0x0717586b8c35808a, 0xd72caa2019720dc9},
     {0x682ca12b2a5e39cb, 0x5af35148b33e6234}},
    {"tests/golden/core-v1-clock",
     9,
     6,
     {{REC_CLOCK, REC_CLOCK}},
     {0xa64b128a8ad16e84, 0x95de3697cf569dba},
     {0x9dabbe9b0d59fe1b, 0x61e1b7476d7ce6ec}},
    {"tests/golden/core-v1-slot",
     9,
     5,
     {{REC_SCHEDULE, REC_SCHEDULE}, {REC_SUBMITTED, REC_SUBMITTED}},
     {0xb55c11c058762313, 0x52bb5350d5f1290d},
     {0x67e9e0c695aa4e0b, 0xcc1865cc8bc5d0ea}},
    {"tests/golden/core-v4-trigger",
     17,
     8,
     {{REC_SUBMITTED, REC_SUBMITTED}, {REC_RETRIED, REC_RETRIED}},
     {0x2bb305c26c730281, 0x69302ea26f15056c},
     {0xa923a5e2bfd5f1cc, 0x146cd0a0fe84b4ea}},
    {"tests/golden/core-v6-finale",
     23,
     9,
     {{REC_FLOW_DUE, REC_FLOW_DUE}, {REC_RERUN, REC_RERUN}},
     {0x654afb43643a5529, 0x4dafae9ce655027b},
     {0x36272c754b8b561e, 0x5c7196bd7b682772}},
    {"tests/golden/core-v5-replica",
     16,
     9,
     {{REC_SCALED, REC_SCALED}},
     {0x7293a209ec83e81f, 0xf5f6557ac2fa7392},
     {0x9401717b60250c4a, 0xca5979692b73423e}},
    {"tests/golden/core-v1-source",
     6,
     3,
     {{REC_SUBMITTED, REC_SUBMITTED}},
     {0xe61f50c5d5fd030a, 0x6cb971e3d57be051},
     {0xf67d4dc5be6da1c9, 0x525bdad289ad6505}},
    {"tests/golden/core-v5-cause",
     21,
     12,
     {{REC_SCHEDULE, REC_SCHEDULE_SLOT}, {REC_STORE_SET, REC_STORE_DELETED}},
     {0x306d78d5f0209184, 0x521334f6f0c2ac6f},
     {0x1de70afe0214aec7, 0x5546a80ece699016}},
    {"tests/golden/core-v5-checkpoint",
     8,
     5,
     {{REC_CHECKPOINT, REC_CHECKPOINT}},
     {0x51d692251cdb1d9d, 0xdcc2a1c7ce02a5dc},
     {0xa3389cbaf97a3b5e, 0xf842812bb5db6662}},
    {"tests/golden/core-v5-identity",
     11,
     5,
     {{REC_DIRECTORY, REC_SECRETS}},
     {0xa7c5660fa628c317, 0x1b5310c510e1081f},
     {0xc75eef98123c8b66, 0x361c0f3f48a34d5d}},
};

/* What a folder is made from: up to the snapshot, and behind it. */
/* ---- files ---- */

static void write_file(const char *folder, const char *name, struct slice bytes) {
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wbx");
    if (file == NULL || fwrite(bytes.ptr, 1, bytes.len, file) != bytes.len || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static void read_file(const char *folder, const char *name, struct buf *ret) {
    char path[256], piece[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) fail_msg("%s is not there", path);
    buf_init(ret, (size_t)1 << 28);
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;) buf_put(ret, piece, got);
    (void)fclose(file);
}

static enum err append(void *ctx, struct slice piece, struct why *why) {
    (void)why;
    buf_put_slice(ctx, piece);
    return ERR_OK;
}

static void put_batch(struct buf *out, const struct fixture *r, const struct batch *b) {
    buf_put_u64(out, b->first_lsn);
    buf_put_u64(out, b->last_lsn);
    buf_put_u64(out, b->epoch);
    buf_put_u32(out, b->shard);
    buf_put_u32(out, b->rules);
    buf_put_u64(out, (uint64_t)b->time.ms);
    buf_put_u64(out, b->seed);
    buf_put_u32(out, (uint32_t)b->records.len);
    buf_put_slice(out, slice_of(r->journal.at + (uintptr_t)b->records.ptr, b->records.len));
}

static bool take_batch(struct cursor *c, struct batch *ret) {
    if (cursor_left(c) == 0) return false;
    ret->first_lsn = cursor_u64(c);
    ret->last_lsn = cursor_u64(c);
    ret->epoch = cursor_u64(c);
    ret->shard = cursor_u32(c);
    ret->rules = cursor_u32(c);
    ret->time.ms = (int64_t)cursor_u64(c);
    ret->seed = cursor_u64(c);
    ret->records = cursor_bytes(c, cursor_u32(c));
    assert_false(c->bad);
    return true;
}

static int make(const char *folder, const char *name) {
    const struct core_script *script = NULL;
    for (size_t i = 0; i < CORE_SCRIPTS; i++)
        if (strcmp(core_scripts[i].name, name) == 0) script = &core_scripts[i];
    if (script == NULL) return 1;
    if (mkdir(folder, 0777) != 0) {
        perror(folder); /* what was once written never changes */
        return 1;
    }
    struct fixture rig, *r = &rig;
    struct buf journal, snapshot;
    struct why why;
    fixture_init(r);
    buf_init(&journal, (size_t)1 << 28);
    buf_init(&snapshot, (size_t)1 << 28);
    script->first_half(r);
    uint32_t half = r->batches.count;
    struct digest middle = engine_digest(r->engine);
    if (engine_snapshot(r->engine, append, &snapshot, &why) != ERR_OK) return 1;
    script->second_half(r);
    fixture_check_digests(r);
    struct digest end = engine_digest(r->engine);
    for (uint32_t i = 0; i < r->batches.count; i++) put_batch(&journal, r, vec_at(&r->batches, i));
    write_file(folder, "journal", buf_slice(&journal));
    write_file(folder, "snapshot", buf_slice(&snapshot));
    printf("{\"%s\", %u, %u, {0x%016llx, 0x%016llx}, {0x%016llx, 0x%016llx}},\n", folder, r->batches.count, half,
           (unsigned long long)middle.lo, (unsigned long long)middle.hi, (unsigned long long)end.lo,
           (unsigned long long)end.hi);
    buf_fini(&journal);
    buf_fini(&snapshot);
    fixture_fini(r);
    return 0;
}

/* ---- the tests ---- */

static void check_digest(const struct engine *e, struct digest expected) {
    struct digest got = engine_digest(e);
    assert_int_equal(got.lo, expected.lo);
    assert_int_equal(got.hi, expected.hi);
}

static void journals_keep_their_digests(void **state) {
    (void)state;
    for (size_t v = 0; v < sizeof versions / sizeof versions[0]; v++) {
        const struct golden *g = &versions[v];
        struct limits limits;
        struct buf bytes;
        limits_default(&limits);
        read_file(g->folder, "journal", &bytes);
        struct engine *e = engine_new(0, &limits);
        struct cursor c = cursor_of(buf_slice(&bytes));
        uint32_t count = 0;
        for (struct batch b; take_batch(&c, &b); count++) {
            struct why why;
            if (count == g->first_half) check_digest(e, g->middle);
            if (engine_replay(e, &b, &why) != ERR_OK) fail_msg("%s, batch %u: %s", g->folder, count, why.text);
        }
        assert_int_equal(count, g->batches);
        check_digest(e, g->end);
        engine_free(e);
        buf_fini(&bytes);
    }
}

static void snapshots_keep_their_digests(void **state) {
    (void)state;
    for (size_t v = 0; v < sizeof versions / sizeof versions[0]; v++) {
        const struct golden *g = &versions[v];
        struct limits limits;
        struct buf snapshot, journal;
        struct why why;
        limits_default(&limits);
        read_file(g->folder, "snapshot", &snapshot);
        read_file(g->folder, "journal", &journal);
        struct engine *e = engine_new(0, &limits);
        assert_ok(engine_load(e, buf_slice(&snapshot), &why));
        assert_ok(engine_load_end(e, &why));
        check_digest(e, g->middle);
        struct cursor c = cursor_of(buf_slice(&journal));
        uint32_t count = 0;
        for (struct batch b; take_batch(&c, &b); count++)
            if (count >= g->first_half) assert_ok(engine_replay(e, &b, &why));
        check_digest(e, g->end);
        engine_free(e);
        buf_fini(&snapshot);
        buf_fini(&journal);
    }
}

/* Each folder has the kinds it was made for, and each kind is in one of them. */
static void every_kind_is_there(void **state) {
    (void)state;
    bool anywhere[REC_KIND_END] = {false};
    for (size_t v = 0; v < sizeof versions / sizeof versions[0]; v++) {
        struct buf bytes;
        bool seen[REC_KIND_END] = {false};
        read_file(versions[v].folder, "journal", &bytes);
        struct cursor c = cursor_of(buf_slice(&bytes));
        for (struct batch b; take_batch(&c, &b);) {
            struct cursor records = cursor_of(b.records);
            while (cursor_left(&records) > 0) {
                uint64_t kind = cursor_varint(&records);
                (void)cursor_varint(&records);
                (void)cursor_str(&records);
                assert_true(!records.bad && kind < REC_KIND_END);
                seen[kind] = anywhere[kind] = true;
            }
        }
        for (uint32_t i = 0; i < 4 && versions[v].kinds[i].first; i++)
            for (uint32_t kind = versions[v].kinds[i].first; kind <= versions[v].kinds[i].last; kind++)
                if (record_desc((enum record_kind)kind) && !seen[kind])
                    fail_msg("%s: no record %s", versions[v].folder, record_word((enum record_kind)kind));
        buf_fini(&bytes);
    }
    for (uint32_t kind = 1; kind < REC_KIND_END; kind++)
        if (record_desc((enum record_kind)kind) && !anywhere[kind])
            fail_msg("no record %s", record_word((enum record_kind)kind));
}

int main(int argc, char **argv) {
    if (argc >= 3 && strcmp(argv[1], "--make") == 0) return make(argv[2], argc > 3 ? argv[3] : "core");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(journals_keep_their_digests),
        cmocka_unit_test(snapshots_keep_their_digests),
        cmocka_unit_test(every_kind_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
