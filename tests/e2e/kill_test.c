/* kill_test.c: the built server and workers under kill -9 at random moments, while flows run. Each job notes every run
 * of its own in a file; all of it is compared in the end with what was acknowledged and with the journal.
 *
 * ROUNDS (200) and SEED may be given; the seed is printed. */
#include "test.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "realserver.h"
#include "realworker.h"
#include "wireclient.h"

#define FLOWS_MAX 2000u
#define WORKERS 2u
#define LOG_LINES 400u
#define END_MS 120000

enum victim { KILL_SERVER, KILL_WORKER, KILL_BOTH };

struct storm {
    struct realserver server;
    struct realworker workers[WORKERS];
    struct wireclient c;
    bool connected;
    struct test_random random;
    uint32_t flow_count, checked; /* flows by number; up to `checked` all was compared */
    struct slice ids[FLOWS_MAX];  /* empty: not acknowledged yet */
    struct arena arena;
    uint64_t keys_unsure; /* submits without an answer, said again */
};

static struct storm s;

static uint64_t below(uint64_t n) {
    return test_random_below(&s.random, n);
}

/* ---- flows ---- */

static void connect_client(void) {
    wireclient_open(&s.c, s.server.socket, NULL, WIRE_PEER_CLIENT);
    s.connected = true;
}

/* What the jobs of flow `n` are told to print and to leave. */
static void content(uint32_t n, char ret[64]) {
    snprintf(ret, 64, "content of flow %u, seed %llu", n, (unsigned long long)n * 2654435761u);
}

static bool put_file(uint32_t n, uint8_t hash[32]) {
    char text[64];
    struct wiregot got;
    content(n, text);
    struct wire_blob_begin begin = {0};
    if (!wireclient_try(&s.c, WIRE_BLOB_BEGIN, &begin, &got) || got.op != WIRE_BLOB_STATE) return false;
    uint64_t upload = ((const struct wire_blob_state *)got.message)->upload;
    struct wire_blob_part part = {.upload = upload, .data = slice_str(text)};
    struct wire_blob_end end = {.upload = upload};
    if (!wireclient_try(&s.c, WIRE_BLOB_PART, &part, &got) || got.op != WIRE_BLOB_STATE) return false;
    if (!wireclient_try(&s.c, WIRE_BLOB_END, &end, &got) || got.op != WIRE_BLOB_STATE) return false;
    const struct wire_blob_state *state = got.message;
    assert_true(state->stored && state->hash.len == 32);
    memcpy(hash, state->hash.ptr, 32);
    return true;
}

static struct slice body_of(struct buf *b, const struct wire_run *run) {
    size_t from = b->len;
    tlv_encode(&wire_run_desc, run, b);
    assert_false(b->full);
    return slice_of(b->at + from, b->len - from);
}

/* a prints and leaves a file; b gets that file and prints it; c prints a blob that the client put. */
static bool send_flow(uint32_t n, const uint8_t hash[32]) {
    char shells[3][400], key[32], text[64];
    struct buf bodies;
    struct wiregot got;
    const char *dir = s.server.data;
    content(n, text);
    snprintf(key, sizeof key, "flow-%u", n);
    snprintf(shells[0], sizeof shells[0], "echo a $REEVE_ATTEMPT >>%s/ran/%u; seq %u; printf '%s' >left; sleep 0.0%u",
             dir, n, LOG_LINES, text, n % 10);
    snprintf(shells[1], sizeof shells[1], "echo b $REEVE_ATTEMPT >>%s/ran/%u; cat got; sleep 0.0%u", dir, n, n % 7);
    snprintf(shells[2], sizeof shells[2], "echo c $REEVE_ATTEMPT >>%s/ran/%u; sleep 0.%u; cat file", dir, n, n % 3);
    struct wire_artifact left = {SLICE("left"), SLICE("left"), false};
    struct wire_take take = {SLICE("got"), SLICE("a"), SLICE("left")};
    struct wire_file file = {.path = SLICE("file"), .hash = slice_of(hash, 32)};
    struct wire_run a = {.shell = slice_str(shells[0]), .artifacts = {&left, 1}};
    struct wire_run b = {.shell = slice_str(shells[1]), .inputs = {&take, 1}};
    struct wire_run c = {.shell = slice_str(shells[2]), .files = {&file, 1}};
    struct wire_options options = {
        .attempts_max = 200, .backoff_base_ms = 1, .backoff_cap_ms = 1, .backoff_jitter_ms = 1};
    static const uint32_t first[] = {0};
    buf_init(&bodies, 65536);
    (void)buf_space(&bodies, 16384); /* so that it stays where it is */
    buf_clear(&bodies);
    struct wire_job jobs[] = {{.name = SLICE("a"), .body = body_of(&bodies, &a)},
                              {.name = SLICE("b"), .body = body_of(&bodies, &b), .parents = {first, 1}},
                              {.name = SLICE("c"), .body = body_of(&bodies, &c)}};
    struct wire_flow flow = {.key = slice_str(key), .part = {.options = {&options, 1}, .jobs = {jobs, 3}}};
    struct wire_submit m = {{&flow, 1}};
    bool answered = wireclient_try(&s.c, WIRE_SUBMIT, &m, &got);
    buf_fini(&bodies);
    if (!answered) return false;
    assert_int_equal(got.op, WIRE_SUBMITTED);
    const struct wire_submitted_flow *done = ((const struct wire_submitted *)got.message)->flows.at;
    if (done->code.len > 0) fail_msg("%.*s", SLICE_FMT(done->message));
    s.ids[n] = arena_slice(&s.arena, done->flow);
    return true;
}

/* False: the server died over it. Then the same number is said again, under the same key. */
static bool submit_flow(uint32_t n) {
    uint8_t hash[32];
    bool done = put_file(n, hash) && send_flow(n, hash);
    wireclient_forget(&s.c);
    if (!done) {
        wireclient_close(&s.c);
        s.connected = false;
        s.keys_unsure++;
    }
    return done;
}

/* ---- kills ---- */

/* Somebody else does it, so that it comes in the middle of whatever we do. */
static pid_t kill_later(pid_t victim, int ms) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0) return pid;
    (void)poll(NULL, 0, ms);
    (void)kill(victim, SIGKILL);
    _exit(0);
}

static void one_round(enum victim what) {
    int ms = (int)below(120);
    struct realworker *w = what == KILL_SERVER ? NULL : &s.workers[below(WORKERS)];
    pid_t killers[2] = {0};
    if (what != KILL_WORKER) killers[0] = kill_later(s.server.pid, ms);
    if (w != NULL) killers[1] = kill_later(w->pid, what == KILL_BOTH ? (int)below(120) : ms);
    for (uint32_t i = 0; i < 2 && s.connected; i++) {
        if (!submit_flow(s.flow_count)) break;
        s.flow_count++;
    }
    for (int i = 0; i < 2; i++)
        if (killers[i] != 0) assert_int_equal(waitpid(killers[i], NULL, 0), killers[i]);
    if (what != KILL_WORKER) {
        realserver_kill(&s.server);
        if (s.connected) wireclient_close(&s.c);
        realserver_start(&s.server);
        connect_client();
    }
    if (w != NULL) {
        realworker_kill(w);
        realworker_start(w, &s.server);
    }
    assert_true(s.flow_count + 2 < FLOWS_MAX);
}

/* ---- looking ---- */

static const struct wire_job_view *job_view(uint32_t n, char job) {
    char name[80];
    snprintf(name, sizeof name, "%.*s/%c", SLICE_FMT(s.ids[n]), job);
    struct wire_get get = {.target = slice_str(name), .details = true};
    const struct wire_got *got = wireclient_ask(&s.c, WIRE_GET, &get, WIRE_GOT);
    assert_int_equal(got->jobs.count, 1);
    return got->jobs.at;
}

static void until_over(uint32_t n) {
    for (const char *job = "abc"; *job != 0; job++)
        for (int ms = 0;; ms += 10) {
            const struct wire_job_view *v = job_view(n, *job);
            if (slice_eq(v->state, SLICE("succeeded"))) break;
            bool over = slice_eq(v->state, SLICE("failed")) || slice_eq(v->state, SLICE("timed_out"));
            if (over || ms > END_MS)
                fail_msg("job %c of flow %u is %.*s: %.*s", *job, n, SLICE_FMT(v->state), SLICE_FMT(v->reason));
            wireclient_forget(&s.c);
            (void)poll(NULL, 0, 10);
        }
}

static struct slice log_of(uint32_t n, char job, struct buf *out) {
    char name[80];
    struct wiregot got = {.flags = FRAME_MORE};
    snprintf(name, sizeof name, "%.*s/%c", SLICE_FMT(s.ids[n]), job);
    struct wire_logs m = {.job = slice_str(name)};
    uint32_t request = wireclient_send(&s.c, WIRE_LOGS, &m);
    buf_clear(out);
    while (got.flags & FRAME_MORE) {
        assert_true(wireclient_next(&s.c, WIRECLIENT_WAIT_MS, &got) && got.request == request);
        assert_int_equal(got.op, WIRE_LOG_DATA);
        const struct wire_log_data *data = got.message;
        const struct wire_log_piece *pieces = data->pieces.at;
        for (uint32_t i = 0; i < data->pieces.count; i++) buf_put_slice(out, pieces[i].data);
    }
    return buf_slice(out);
}

static void check_contents(uint32_t n, struct buf *room) {
    char text[64], lines[4096];
    size_t len = 0;
    content(n, text);
    for (uint32_t i = 1; i <= LOG_LINES; i++) len += (size_t)snprintf(lines + len, sizeof lines - len, "%u\n", i);
    assert_true(slice_eq(log_of(n, 'a', room), slice_of(lines, len)));
    assert_true(slice_eq(log_of(n, 'b', room), slice_str(text)));
    assert_true(slice_eq(log_of(n, 'c', room), slice_str(text)));
    const struct wire_job_view *a = job_view(n, 'a');
    const struct wire_kept *files = a->artifacts.at;
    assert_int_equal(a->artifacts.count, 1);
    struct wire_blob_get get = {.hash = files[0].hash};
    const struct wire_blob_data *data = wireclient_ask(&s.c, WIRE_BLOB_GET, &get, WIRE_BLOB_DATA);
    assert_true(slice_eq(data->data, slice_str(text)));
    wireclient_forget(&s.c);
}

/* No attempt ran twice; and when nothing but servers died, no job did. */
static void check_runs(uint32_t n, bool once) {
    char path[128], line[32], seen[4096] = "";
    uint32_t count = 0;
    size_t len = 0;
    snprintf(path, sizeof path, "%s/ran/%u", s.server.data, n);
    FILE *f = fopen(path, "re");
    if (f == NULL) fail_msg("flow %u never ran", n);
    while (fgets(line, sizeof line, f) != NULL) {
        if (strstr(seen, line) != NULL) fail_msg("flow %u: an attempt ran twice: %s", n, line);
        len += (size_t)snprintf(seen + len, sizeof seen - len, "%s", line);
        assert_true(len < sizeof seen);
        count++;
    }
    fclose(f);
    if (once && count != 3) fail_msg("flow %u: 3 jobs ran %u times:\n%s", n, count, seen);
}

static void check_new(bool once) {
    struct buf room;
    buf_init(&room, 1 << 20);
    for (; s.checked < s.flow_count; s.checked++) {
        until_over(s.checked);
        check_contents(s.checked, &room);
        check_runs(s.checked, once);
    }
    buf_fini(&room);
}

/* ---- the journal ---- */

static uint64_t field(const char *line, const char *name) {
    char wanted[32];
    snprintf(wanted, sizeof wanted, "\"%s\":", name);
    const char *at = strstr(line, wanted);
    return at == NULL ? 0 : strtoull(at + strlen(wanted), NULL, 10);
}

static int compare_text(const void *a, const void *b) {
    return strcmp(a, b);
}

#define EVENTS_MAX 100000u
static char events[EVENTS_MAX][48];

/* Each attempt was given away once and ended once, each job ended well once, each key made one flow. */
static void check_journal(void) {
    char command[256];
    static char line[1 << 20];
    uint32_t count = 0, submitted = 0, good = 0;
    snprintf(command, sizeof command, "%s journal dump --data %s", realserver_binary(), s.server.data);
    FILE *f = popen(command, "re");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL) {
        bool ended = strstr(line, "\"kind\":\"ended\"") != NULL;
        submitted += strstr(line, "\"kind\":\"submitted\"") != NULL;
        if (!ended && strstr(line, "\"kind\":\"assigned\"") == NULL) continue;
        good += ended && strstr(line, "\"outcome\":") == NULL; /* ok is left out */
        assert_true(count < EVENTS_MAX);
        snprintf(events[count++], sizeof events[0], "%s %llu/%llu#%llu", ended ? "ended" : "assigned",
                 (unsigned long long)field(line, "flow"), (unsigned long long)field(line, "ordinal"),
                 (unsigned long long)field(line, "attempt"));
    }
    assert_int_equal(pclose(f), 0);
    qsort(events, count, sizeof events[0], compare_text);
    for (uint32_t i = 1; i < count; i++)
        if (strcmp(events[i - 1], events[i]) == 0) fail_msg("twice in the journal: %s", events[i]);
    assert_int_equal(submitted, s.flow_count);
    assert_int_equal(good, 3 * s.flow_count);
    printf("# %u flows, %u attempts given or ended, %llu submits said again\n", s.flow_count, count,
           (unsigned long long)s.keys_unsure);
}

/* ---- */

static void kills_at_random_moments_lose_nothing_and_run_nothing_twice(void **state) {
    (void)state;
    static const char *const flags[] = {"--log-level", "error", "--compact-bytes", "0"};
    static const char *const names[] = {"w0", "w1"};
    const char *seed = getenv("SEED"), *given = getenv("ROUNDS");
    uint32_t rounds = given != NULL ? (uint32_t)strtoul(given, NULL, 10) : 200;
    s.random.state = seed != NULL ? strtoull(seed, NULL, 10) : (uint64_t)test_mono_ms();
    printf("# SEED=%llu ROUNDS=%u\n", (unsigned long long)s.random.state, rounds);
    arena_init(&s.arena, 65536, 1 << 24);
    realserver_make(&s.server);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) s.server.flags[i] = flags[i];
    s.server.quiet = true;
    realserver_start(&s.server);
    char path[96];
    snprintf(path, sizeof path, "%s/ran", s.server.data);
    assert_int_equal(mkdir(path, 0700), 0);
    for (uint32_t i = 0; i < WORKERS; i++) {
        realworker_make(&s.workers[i], &s.server, names[i]);
        s.workers[i].server = s.server.socket; /* which stays the same */
        realworker_start(&s.workers[i], &s.server);
    }
    connect_client();
    int64_t start = test_mono_ms();
    for (uint32_t i = 0; i < rounds; i++) {
        enum victim what = i * 5 < rounds * 2 ? KILL_SERVER : i * 10 < rounds * 7 ? KILL_WORKER : KILL_BOTH;
        one_round(what);
        if ((i + 1) * 5 == rounds * 2) check_new(true); /* so far only servers died */
    }
    assert_true(submit_flow(s.flow_count)); /* the last one may have been accepted without a word */
    s.flow_count++;
    check_new(false);
    printf("# %lld ms\n", (long long)(test_mono_ms() - start));
    for (uint32_t i = 0; i < WORKERS; i++) assert_int_equal(realworker_stop(&s.workers[i]), 0);
    wireclient_close(&s.c);
    assert_int_equal(realserver_stop(&s.server), 0);
    check_journal();
    realserver_remove(&s.server);
    arena_fini(&s.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kills_at_random_moments_lose_nothing_and_run_nothing_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
