/* vault_kill9_test.c: a real process puts blobs and appends to logs on a real disk, through the thread that a server
 * uses, and is killed at random moments. Everything it reported as durable is there afterwards, byte for byte.
 *
 * The program is its own victim: `vault_kill9_test --put DIR FROM` goes on until it dies and prints what is durable. */
#include "test.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "limit.h"
#include "osclock.h"
#include "osdigest.h"
#include "osdisk.h"
#include "store_fixture.h"
#include "tmpdisk.h"

#define ROUNDS 40u
#define LOGS 8u
extern char **environ;

/* What the victim says: blob `id` is durable, or log `id` is durable up to `end`. */
struct word {
    uint32_t is_log, id;
    uint64_t end;
};

static void limits_small(struct limits *l) {
    limits_default(l);
    l->pack_bytes = 256 * 1024;
    l->vault_reserve_bytes = 0;
    l->blob_grace_ms = 0;
}

static size_t blob_bytes_of(uint32_t id) {
    return id % 40 == 7 ? 70000 + id * 11 % 200000 : 100 + id * 37 % 3000;
}

static void blob_fill(uint8_t *to, uint32_t id) {
    size_t len = blob_bytes_of(id);
    for (size_t i = 0; i < len; i++) to[i] = store_fixture_byte(id, i);
    memcpy(to, &id, sizeof id); /* no two are the same */
}

struct waiting {
    uint32_t id;
    struct blob_put *put;
};

static void say(uint32_t is_log, uint32_t id, uint64_t end) {
    struct word w = {is_log, id, end};
    ENSURE(write(STDOUT_FILENO, &w, sizeof w) == (ssize_t)sizeof w);
}

static void victim(const char *path, uint32_t id) {
    struct disk *d;
    struct why why;
    struct limits limits;
    struct blob_log_store v;
    static uint8_t bytes[300000];
    struct waiting waiting[16] = {0};
    uint64_t told[LOGS] = {0};
    limits_small(&limits);
    ENSURE(osdisk_open(path, &d, &why) == ERR_OK);
    ENSURE(blob_log_store_open(&v, d, osclock(), osdigest(), &limits, true, &why) == ERR_OK);
    for (uint32_t turn = 0;; turn++) {
        for (uint32_t i = 0; i < 16; i++) {
            uint64_t len;
            blob_hash hash;
            if (waiting[i].put != NULL && blob_put_done(waiting[i].put, &hash, &len)) {
                say(0, waiting[i].id, len);
                waiting[i].put = NULL;
            }
            if (waiting[i].put != NULL || turn % 3 == 2) continue;
            waiting[i].id = id++;
            blob_fill(bytes, waiting[i].id);
            ENSURE(blob_put_begin(v.blobs, store_fixture_tenant, &waiting[i].put, &why) == ERR_OK);
            ENSURE(blob_put_part(waiting[i].put, slice_of(bytes, blob_bytes_of(waiting[i].id)), &why) == ERR_OK);
            ENSURE(blob_put_end(waiting[i].put, &why) == ERR_OK);
        }
        for (uint32_t i = 0; i < LOGS; i++) {
            struct log_key key = store_fixture_key(i);
            struct log_state s;
            joblogs_state(v.logs, &key, &s);
            if (s.synced && s.end > told[i]) say(1, i, told[i] = s.end);
            size_t len = 10 + turn * 131 % 5000;
            for (size_t k = 0; k < len; k++) bytes[k] = store_fixture_byte(100 + i, s.end + k);
            struct log_piece p = {LOG_STDOUT, {1}, slice_of(bytes, len)};
            enum err e = joblogs_append(v.logs, &key, s.end, &p, 1, 300000, &s, &why);
            ENSURE(e == ERR_OK || e == ERR_BUSY);
        }
        if (blob_log_store_kick(&v)) {
            struct pollfd fd = {.fd = blob_log_store_fd(&v), .events = POLLIN};
            (void)poll(&fd, 1, turn % 4 ? -1 : 0);
        }
        ENSURE(blob_log_store_take(&v, &why) == ERR_OK);
    }
}

static uint64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void linger(uint64_t us) {
    for (uint64_t end = now_us() + us; now_us() < end;) {
    }
}

static pid_t victim_start(const char *path, uint32_t from, int *ret_pipe) {
    int ends[2];
    pid_t pid;
    char self[] = "/proc/self/exe", word[] = "--put", dir[256], number[16];
    snprintf(dir, sizeof dir, "%s", path);
    snprintf(number, sizeof number, "%u", from);
    char *args[] = {self, word, dir, number, NULL};
    assert_int_equal(pipe(ends), 0);
    posix_spawn_file_actions_t acts;
    posix_spawn_file_actions_init(&acts);
    posix_spawn_file_actions_adddup2(&acts, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&acts, ends[0]);
    assert_int_equal(posix_spawn(&pid, self, &acts, NULL, args, environ), 0);
    posix_spawn_file_actions_destroy(&acts);
    close(ends[1]);
    *ret_pipe = ends[0];
    return pid;
}

struct promised {
    bool blob[1u << 20];
    uint32_t blob_next;
    uint32_t blob_count;
    uint64_t log[LOGS];
};

static void hear(struct promised *p, const struct word *w) {
    if (w->is_log)
        p->log[w->id] = w->end > p->log[w->id] ? w->end : p->log[w->id];
    else if (!p->blob[w->id])
        p->blob[w->id] = true, p->blob_count++;
    if (!w->is_log && w->id + 64 > p->blob_next) p->blob_next = w->id + 64;
}

static void piece_check(void *ctx, uint64_t offset, const struct log_piece *p) {
    uint32_t log = *(uint32_t *)ctx;
    for (size_t i = 0; i < p->bytes.len; i++)
        if (p->bytes.ptr[i] != store_fixture_byte(100 + log, offset + i))
            fail_msg("log %u is wrong at %llu", log, (unsigned long long)(offset + i));
}

static void vault_check(const char *path, struct promised *p) {
    struct disk *d;
    struct why why;
    struct limits limits;
    struct blob_log_store v;
    struct pack_reader r;
    static uint8_t want[300000];
    limits_small(&limits);
    assert_int_equal(osdisk_open(path, &d, &why), ERR_OK);
    assert_int_equal(blob_log_store_open(&v, d, osclock(), osdigest(), &limits, false, &why), ERR_OK);
    assert_int_equal(blobs_damage(v.blobs, &why), ERR_OK);
    assert_int_equal(joblogs_damage(v.logs, &why), ERR_OK);
    blobs_reader_init(v.blobs, &r);
    for (uint32_t id = 0; id < p->blob_next; id++) {
        if (!p->blob[id]) continue;
        blob_hash hash;
        blob_fill(want, id);
        osdigest()->whole(osdigest(), slice_of(want, blob_bytes_of(id)), hash.at);
        enum err e = blobs_verify(v.blobs, &r, store_fixture_tenant, &hash, &why);
        if (e != ERR_OK) print_message("blob %u: %s\n", id, why.text);
        assert_int_equal(e, ERR_OK);
    }
    pack_reader_fini(&r);
    joblogs_reader_init(v.logs, &r);
    for (uint32_t i = 0; i < LOGS; i++) {
        struct log_key key = store_fixture_key(i);
        struct log_state s;
        uint64_t at = 0, next = 0;
        joblogs_state(v.logs, &key, &s);
        assert_true(s.end >= p->log[i]);
        p->log[i] = s.end; /* found once, it has to stay */
        do {
            at = next;
            assert_int_equal(joblogs_read(v.logs, &r, &key, at, 1000000, piece_check, &i, &next, &why), ERR_OK);
        } while (next != at);
        assert_int_equal(at, s.end);
    }
    pack_reader_fini(&r);
    blob_log_store_close(&v);
    osdisk_close(d);
}

static void what_was_acknowledged_survives_kill_9(void **state) {
    (void)state;
    static struct promised p;
    struct tmpdisk t;
    struct test_random r = {9};
    tmpdisk_make(&t);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        int from;
        struct word w;
        pid_t pid = victim_start(t.path, p.blob_next, &from);
        uint64_t some = test_random_below(&r, 120);
        for (uint64_t i = 0; i < some && read(from, &w, sizeof w) == (ssize_t)sizeof w; i++) hear(&p, &w);
        linger(test_random_below(&r, 5000)); /* not waiting for anything: any moment must do */
        kill(pid, SIGKILL);
        while (read(from, &w, sizeof w) == (ssize_t)sizeof w) hear(&p, &w);
        close(from);
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        vault_check(t.path, &p);
    }
    assert_true(p.blob_count > ROUNDS * 5);
    assert_true(p.log[0] > 0);
    tmpdisk_remove(&t);
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "--put") == 0) victim(argv[2], (uint32_t)strtoul(argv[3], NULL, 10));
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_acknowledged_survives_kill_9)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
