/* vault_test.c: a loop that puts, appends, reads, sweeps and takes results while the vault's thread writes and syncs,
 * and another thread reads what is durable. For ThreadSanitizer; and nothing is lost or wrong. */
#include "test.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#include "limit.h"
#include "osclock.h"
#include "osdigest.h"
#include "store_fixture.h"
#include "tmpdisk.h"

#define TURNS 400u
#define SPOTS 32u

struct side {
    struct disk *disk;
    struct pack_spot spot[SPOTS];
    atomic_uint spot_count;
    atomic_bool stop;
    uint64_t read_count;
};

/* A thread of its own, with its own reader: finding is the loop's, reading is anybody's. */
static void *side_main(void *arg) {
    struct side *s = arg;
    struct pack_reader r;
    struct why why;
    pack_reader_init(&r, s->disk, "blobs");
    while (!s->stop) {
        for (uint32_t i = 0; i < s->spot_count; i++) {
            struct slice bytes;
            ENSURE(pack_reader_get(&r, &s->spot[i], &bytes, &why) == ERR_OK);
            for (size_t k = 0; k < bytes.len; k++) ENSURE(bytes.ptr[k] == store_fixture_byte(i, k));
            s->read_count++;
        }
    }
    pack_reader_fini(&r);
    return NULL;
}

struct loop {
    struct blob_log_store v;
    struct pack_reader blobs, logs;
    blob_hash hash[SPOTS];
    uint32_t pinned;
    struct blob_put *big;
    uint64_t big_count, log_end;
    struct why why;
};

static void piece_check(void *ctx, uint64_t offset, const struct log_piece *p) {
    uint64_t *seen = ctx;
    for (size_t i = 0; i < p->bytes.len; i++) ENSURE(p->bytes.ptr[i] == store_fixture_byte(9, offset + i));
    *seen = offset + p->bytes.len;
}

static void log_turn(struct loop *l, uint32_t turn) {
    uint8_t bytes[900];
    struct log_key key = store_fixture_key(turn % 5 == 0 ? 1 : 2);
    struct log_state s;
    joblogs_state(l->v.logs, &key, &s);
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = store_fixture_byte(9, s.end + i);
    struct log_piece p = {LOG_STDERR, {5}, slice_of(bytes, sizeof bytes)};
    ENSURE(joblogs_append(l->v.logs, &key, s.end, &p, 1, 60000, &s, &l->why) == ERR_OK);
    uint64_t seen = 0, next = 0, from = s.end > 3000 ? s.end - 3000 : 0;
    ENSURE(joblogs_read(l->v.logs, &l->logs, &key, from, 100000, piece_check, &seen, &next, &l->why) == ERR_OK);
    ENSURE(seen == s.end); /* a follower is never behind */
    l->log_end = s.end;
}

static void blob_turn(struct loop *l, struct side *side, uint32_t turn) {
    static uint8_t bytes[150000];
    uint64_t ticket, len;
    blob_hash hash;
    if (l->pinned < SPOTS) {
        for (size_t i = 0; i < 1000; i++) bytes[i] = store_fixture_byte(l->pinned, i);
        ENSURE(blobs_put(l->v.blobs, store_fixture_tenant, slice_of(bytes, 1000), &l->hash[l->pinned++], &ticket,
                         &l->why) == ERR_OK);
    }
    memset(bytes, (int)turn, 2000);
    memcpy(bytes, &turn, sizeof turn);
    ENSURE(blobs_put(l->v.blobs, SLICE("passing"), slice_of(bytes, 2000), &hash, &ticket, &l->why) == ERR_OK);
    if (l->big != NULL && blob_put_done(l->big, &hash, &len)) l->big = NULL;
    if (l->big == NULL) {
        ENSURE(blob_put_begin(l->v.blobs, SLICE("passing"), &l->big, &l->why) == ERR_OK);
        ENSURE(blob_put_part(l->big, slice_of(bytes, sizeof bytes), &l->why) == ERR_OK);
        ENSURE(blob_put_end(l->big, &l->why) == ERR_OK);
        l->big_count++;
    }
    for (uint32_t i = side->spot_count; i < l->pinned; i++) {
        struct blob_spot at;
        if (blobs_spot(l->v.blobs, store_fixture_tenant, &l->hash[i], 0, &at, &l->why) != ERR_OK) break;
        if (at.in_memory) break;
        side->spot[i] = at.spot;
        side->spot_count = i + 1;
    }
    if (turn % 50 != 49) return;
    uint64_t dropped = 0;
    blobs_sweep_begin(l->v.blobs);
    for (uint32_t i = 0; i < l->pinned; i++) blobs_mark(l->v.blobs, store_fixture_tenant, &l->hash[i]);
    while (!blobs_sweep_step(l->v.blobs, 100, &dropped)) {
    }
}

static void a_loop_beside_its_thread(void **state) {
    (void)state;
    struct tmpdisk t;
    static struct loop l;
    static struct side side;
    struct limits limits;
    pthread_t thread;
    tmpdisk_make(&t);
    limits_default(&limits);
    limits.pack_bytes = 1 << 20; /* larger than what is pinned: its pack stays where it is */
    limits.vault_reserve_bytes = 0;
    assert_int_equal(blob_log_store_open(&l.v, t.disk, osclock(), osdigest(), &limits, true, &l.why), ERR_OK);
    blobs_reader_init(l.v.blobs, &l.blobs);
    joblogs_reader_init(l.v.logs, &l.logs);
    side.disk = t.disk;
    assert_int_equal(pthread_create(&thread, NULL, side_main, &side), 0);
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        log_turn(&l, turn);
        blob_turn(&l, &side, turn);
        if (blob_log_store_kick(&l.v) && turn % 3 == 0) {
            struct pollfd fd = {.fd = blob_log_store_fd(&l.v), .events = POLLIN};
            (void)poll(&fd, 1, -1);
        }
        assert_int_equal(blob_log_store_take(&l.v, &l.why), ERR_OK);
    }
    side.stop = true;
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(side.spot_count, SPOTS);
    assert_true(side.read_count > 0);
    assert_true(l.big_count > 1);
    pack_reader_fini(&l.blobs);
    pack_reader_fini(&l.logs);
    blob_log_store_close(&l.v);
    tmpdisk_remove(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_loop_beside_its_thread)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
