/* history_bench.c: the history with many flows. Prints how fast rows are written, how long pages and searches take when
 * the file is large, how long it takes to open and to trim, and what its transactions do to the syncs of a journal
 * beside it. Rows are as the server makes them of a flow with three jobs.
 *
 * Usage: history_bench [--flows N] [DIR]     default: 1,000,000 flows in the present directory */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "hfind.h"
#include "hload.h"
#include "hput.h"
#include "panic.h"

#define ROWS_PER_COMMIT 5000u
#define SYNCS 4000u

static char path[600], side[600];

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void must(enum err e, const struct why *why) {
    if (e == ERR_OK) return;
    fprintf(stderr, "history_bench: %s\n", why->text);
    exit(1);
}

/* One in a hundred failed; names repeat, a label tells the customer. */
static void put_flow(struct hload *l, uint64_t id) {
    char name[40], labels[80], jobs[80], errors[80], head[200], body[700];
    bool bad = id % 100 == 0;
    snprintf(name, sizeof name, "etl-%llu", (unsigned long long)id % 500);
    snprintf(labels, sizeof labels, "env=prod\ncustomer=c%llu\n", (unsigned long long)id % 5000);
    snprintf(jobs, sizeof jobs, "extract\ntransform\nload-%llu\n", (unsigned long long)id % 20000);
    snprintf(errors, sizeof errors, "%s", bad ? "exit 3\nconnection refused by db07\n" : "");
    int head_len = snprintf(head, sizeof head, "f6%08llx %s %s by token:ci tenant default %lld %lld states 3 labels",
                            (unsigned long long)id, name, bad ? "failed" : "succeeded", (long long)id * 17,
                            (long long)id * 17 + 900);
    int body_len = 0;
    for (int i = 0; i < 3; i++)
        body_len +=
            snprintf(body + body_len, sizeof body - (size_t)body_len,
                     "f6%08llx/job%d succeeded command attempt 1 worker w%llu %lld %lld python3 step.py --day=%llu",
                     (unsigned long long)id, i, (unsigned long long)id % 7, (long long)id * 17, (long long)id * 19,
                     (unsigned long long)id / 500);
    hload_part(l, &(struct history_part){id, id, 0, slice_of(body, (size_t)body_len)});
    hload_row(l, &(struct history_row){.flow = id,
                                       .lsn = id,
                                       .created_ms = (int64_t)id * 17,
                                       .finished_ms = (int64_t)id * 17 + 900,
                                       .tenant = SLICE("default"),
                                       .name = slice_str(name),
                                       .state = slice_str(bad ? "failed" : "succeeded"),
                                       .labels = slice_str(labels),
                                       .jobs = slice_str(jobs),
                                       .errors = slice_str(errors),
                                       .head = slice_of(head, (size_t)head_len)});
    hload_reach(l, id);
}

static void fill(uint64_t flows) {
    struct hput p;
    struct hload l;
    struct why why;
    struct stat st;
    must(hput_open(&p, path, &why), &why);
    hload_init(&l);
    double start = now_ms(), longest = 0;
    for (uint64_t id = 1; id <= flows;) {
        for (uint32_t i = 0; i < ROWS_PER_COMMIT && id <= flows; i++) put_flow(&l, id++);
        double begin = now_ms();
        must(hload_write(&l, &p, &why), &why);
        if (now_ms() - begin > longest) longest = now_ms() - begin;
        hload_clear(&l);
    }
    double took = now_ms() - start;
    hload_fini(&l);
    hput_close(&p);
    if (stat(path, &st) != 0) exit(1);
    printf(
        "write    %8llu flows in %6.1f s: %7.0f a second, longest transaction of %u %5.0f ms; %5.0f MB, %4.0f B each\n",
        (unsigned long long)flows, took / 1e3, (double)flows / took * 1e3, ROWS_PER_COMMIT, longest,
        (double)st.st_size / 1e6, (double)st.st_size / (double)flows);
}

static void ask(struct hdb *d, const char *what, struct history_query q) {
    struct history_answer a;
    double best = 1e9, sum = 0;
    for (int i = 0; i < 20; i++) {
        struct arena arena;
        arena_init(&arena, 65536, (size_t)1 << 28);
        double start = now_ms();
        (void)hfind(d, &q, &arena, &a);
        double took = now_ms() - start;
        must(a.err, &a.why);
        if (took < best) best = took;
        sum += took;
        arena_fini(&arena);
    }
    printf("find     %-44s %4u flows  best %8.3f ms  mean %8.3f ms\n", what, a.count, best, sum / 20);
}

static void questions(uint64_t flows) {
    struct hdb d;
    struct why why;
    struct slice failed = SLICE("failed"), label = SLICE("customer=c77");
    double start = now_ms();
    must(hdb_open(&d, path, HDB_READ, &why), &why);
    ask(&d, "first page of 50", (struct history_query){.most = 50});
    printf("open     reader, with its first page: %.1f ms\n", now_ms() - start);
    ask(&d, "page 5,000 of 50", (struct history_query){.most = 50, .before = flows > 250000 ? flows - 250000 : 2});
    ask(&d, "the last page", (struct history_query){.most = 50, .before = 51});
    ask(&d, "failed ones", (struct history_query){.most = 50, .states = &failed, .state_count = 1});
    ask(&d, "by label", (struct history_query){.most = 50, .labels = &label, .label_count = 1});
    ask(&d, "by beginning of the name, 1 in 500", (struct history_query){.most = 50, .name = SLICE("etl-77")});
    ask(&d, "a word that all have", (struct history_query){.most = 50, .text = SLICE("extract ")});
    ask(&d, "the same, page 5,000",
        (struct history_query){.most = 50, .text = SLICE("extract "), .before = flows > 250000 ? flows - 250000 : 2});
    ask(&d, "two words of an error", (struct history_query){.most = 50, .text = SLICE("refused db07")});
    ask(&d, "a rare word", (struct history_query){.most = 50, .text = SLICE("load-12345 ")});
    ask(&d, "a word that none has", (struct history_query){.most = 50, .text = SLICE("zebra")});
    ask(&d, "failed ones of the last tenth",
        (struct history_query){
            .most = 50, .states = &failed, .state_count = 1, .since_ms = (int64_t)(flows / 10 * 9) * 17});
    hdb_close(&d);
}

/* ---- beside a journal ---- */

static atomic_bool is_over;

static void *write_beside(void *arg) {
    uint64_t id = *(uint64_t *)arg;
    struct hput p;
    struct hload l;
    struct why why;
    must(hput_open(&p, path, &why), &why);
    hload_init(&l);
    while (!is_over) { /* as hstore does: four transactions a second */
        for (uint32_t i = 0; i < 500; i++) put_flow(&l, ++id);
        must(hload_write(&l, &p, &why), &why);
        hload_clear(&l);
        struct timespec wait = {0, 250000000};
        nanosleep(&wait, NULL);
    }
    hload_fini(&l);
    hput_close(&p);
    return NULL;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void syncs(const char *what) {
    static double took[SYNCS];
    static char block[4096];
    int fd = open(side, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) exit(1);
    for (uint32_t i = 0; i < SYNCS; i++)
        if (pwrite(fd, block, sizeof block, (off_t)i * 4096) != 4096) exit(1);
    if (fsync(fd) != 0) exit(1);
    for (uint32_t i = 0; i < SYNCS; i++) {
        double start = now_ms();
        if (pwrite(fd, block, 256, (off_t)i * 4096) != 256 || fdatasync(fd) != 0) exit(1);
        took[i] = now_ms() - start;
    }
    qsort(took, SYNCS, sizeof took[0], by_size);
    printf("journal  %-28s p50 %6.3f ms  p99 %6.3f ms  max %6.2f ms\n", what, took[SYNCS / 2], took[SYNCS * 99 / 100],
           took[SYNCS - 1]);
    close(fd);
    (void)unlink(side);
}

static void beside_a_journal(uint64_t flows) {
    pthread_t thread;
    syncs("alone");
    if (pthread_create(&thread, NULL, write_beside, &flows) != 0) exit(1);
    syncs("beside 2,000 rows a second");
    is_over = true;
    pthread_join(thread, NULL);
}

static void opening_and_trimming(uint64_t flows) {
    struct hput p;
    struct why why;
    uint32_t removed = 0, all = 0;
    bool more = true;
    double start = now_ms();
    must(hput_open(&p, path, &why), &why);
    printf("open     writer: %.1f ms\n", now_ms() - start);
    start = now_ms();
    while (more && all < flows / 10) {
        must(hput_trim(&p, INT64_MAX, 0, &removed, &more, &why), &why);
        all += removed;
    }
    printf("trim     %u flows: %.0f a second\n", all, all / (now_ms() - start) * 1e3);
    hput_close(&p);
}

int main(int argc, char **argv) {
    uint64_t flows = 1000000;
    const char *dir = ".";
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--flows") == 0 && i + 1 < argc)
            flows = strtoull(argv[++i], NULL, 10);
        else
            dir = argv[i];
    }
    snprintf(path, sizeof path, "%s/history_bench.db", dir);
    snprintf(side, sizeof side, "%s/history_bench.journal", dir);
    (void)unlink(path);
    fill(flows);
    questions(flows);
    beside_a_journal(flows);
    opening_and_trimming(flows);
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < 3; i++) {
        char name[620];
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        (void)unlink(name);
    }
    return 0;
}
