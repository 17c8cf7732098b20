/* core_bench.c: the core by itself, and with the journal on a real file. Prints each figure beside its floor of the
 * same run. Workload: no-op jobs, submitted, assigned, completed; two workers with 1,000 slots each.
 *
 *   apply     records through engine_replay in memory (decode, check, apply); floor: decoding the same bytes alone.
 *             Twice: in memory fresh from the system, and in memory that the process has already, which counts
 *   journal   jobs through decide, apply and the file journal (its thread syncs while the next batch is filled), every
 *             answer after its sync; floor: the same bytes in as many batches by pwrite + fdatasync
 *   recover   1,000,000 queued jobs, no snapshot: open, read, replay, resume, first dispatch; floor: reading the files
 *   growth    cost per job of one flow from 1,000 to 1,000,000 jobs
 *   memory    bytes per queued job beside its spec of 200 bytes
 *
 * apply, growth and memory need no disk; they are timed by the processor time of the thread, so that a busy machine
 * does not blur them. The others are timed by the clock on the wall.
 *
 * Usage: core_bench [--quick] [--only FIGURE] [--jobs N] [DIR]     DIR: where the journal is put, default: here;
 *        --jobs: growth for this one size, for a run under callgrind */
#include <fcntl.h>
#include <ftw.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "engine.h"
#include "file.h"
#include "limit.h"
#include "osclock.h"
#include "osdisk.h"
#include "panic.h"
#include "vec.h"
#include "view.h"
#include "writer.h"

#define SPEC_BYTES 200
#define WORKERS 2
#define SLOTS 1000

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Time of this thread in the kernel: for the figures without a disk that is the system handing out pages. */
static double kernel_now(void) {
    struct rusage used;
    getrusage(RUSAGE_THREAD, &used);
    return (double)used.ru_stime.tv_sec + (double)used.ru_stime.tv_usec / 1e6;
}

static void must(enum err e, const struct why *why) {
    if (e == ERR_OK) return;
    fprintf(stderr, "core_bench: %s: %s\n", err_word(e), why->text);
    exit(1);
}

/* ---- an engine with its journal, or with a list of batches in memory ---- */

struct fixture {
    struct engine *engine;
    struct limits limits;
    struct inputs in;
    struct disk *disk;
    struct journal *journal; /* NULL: batches are kept in memory */
    struct journal_head head;
    struct writer *writer; /* NULL: batches are appended by this thread */
    uint64_t batch_count, batch_bytes;
    struct buf kept;
    struct vec batches;  /* of struct batch; records.ptr is an offset into kept */
    struct vec assigned; /* of struct attempt_effect: to be completed in the next pass */
    uint64_t completed;
};

static const char *const worker_ids[WORKERS] = {"w1", "w2"};

static void rig_resume(struct fixture *r) {
    engine_resume(r->engine, r->head.epoch, SLICE("bench"), &r->in);
    engine_finish(r->engine);
}

static void rig_open(struct fixture *r, const char *dir) {
    struct why why;
    memset(r, 0, sizeof *r);
    limits_default(&r->limits);
    r->in = (struct inputs){{1700000000000}, {0}, 1, UINT64_MAX, false, 0};
    r->head.epoch = 1;
    r->engine = engine_new(0, &r->limits);
    buf_init(&r->kept, (size_t)1 << 40);
    vec_init(&r->batches, sizeof(struct batch));
    vec_init(&r->assigned, sizeof(struct attempt_effect));
    if (dir) {
        struct file_options o;
        file_options_default(&o);
        must(osdisk_open(dir, &r->disk, &why), &why);
        must(file_open(r->disk, osclock(), &o, &r->journal, &why), &why);
        must(r->journal->ops->acquire(r->journal, 0, &r->head, &why), &why);
    }
}

static void rig_close(struct fixture *r) {
    engine_free(r->engine);
    if (r->journal) r->journal->ops->close(r->journal);
    if (r->disk) osdisk_close(r->disk);
    buf_fini(&r->kept);
    vec_fini(&r->batches);
    vec_fini(&r->assigned);
}

static void rig_append(struct fixture *r, const struct batch *b) {
    r->batch_count++;
    r->batch_bytes += b->records.len;
    if (r->journal) {
        struct why why;
        enum journal_outcome o = r->journal->ops->append(r->journal, r->head.epoch, b->first_lsn - 1, b, &why);
        if (o != JOURNAL_DURABLE) must(ERR_IO, &why);
        if (file_wants_prepare(r->journal)) must(file_prepare(r->journal, &why), &why);
    } else {
        struct batch *kept = vec_push(&r->batches);
        *kept = *b;
        kept->records.ptr = (const uint8_t *)(uintptr_t)r->kept.len;
        buf_put_slice(&r->kept, b->records);
    }
}

static void fixture_effects(struct fixture *r) {
    struct effect effect;
    while (engine_effect(r->engine, &effect))
        if (effect.kind == EFFECT_ASSIGN) *(struct attempt_effect *)vec_push(&r->assigned) = effect.as.attempt;
}

/* What the journal thread has finished; `wait`: until it has. */
static void rig_collect(struct fixture *r, bool wait) {
    struct writer_result result;
    if (wait) {
        struct pollfd fd = {.fd = writer_fd(r->writer), .events = POLLIN};
        if (poll(&fd, 1, -1) < 0) exit(1);
    }
    if (!writer_take(r->writer, &result)) return;
    if (result.outcome != JOURNAL_DURABLE) must(ERR_IO, &result.why);
    engine_durable(r->engine, result.last_lsn);
    fixture_effects(r);
}

/* Under load: hands the batch to the journal thread when that is idle, else goes on filling it. */
static void rig_hand_over(struct fixture *r) {
    struct batch b;
    struct writer_result unused;
    if (writer_is_busy(r->writer)) rig_collect(r, engine_is_full(r->engine));
    if (writer_is_busy(r->writer) || !engine_batch(r->engine, &b)) return;
    r->batch_count++;
    r->batch_bytes += b.records.len;
    (void)writer_append(r->writer, r->head.epoch, b.first_lsn - 1, &b, false, &unused);
}

static void rig_pass_end(struct fixture *r) {
    struct batch b;
    engine_finish(r->engine);
    if (r->writer) {
        rig_hand_over(r);
        return;
    }
    if (engine_batch(r->engine, &b)) {
        rig_append(r, &b);
        engine_durable(r->engine, b.last_lsn);
    }
    fixture_effects(r);
}

static void rig_begin(struct fixture *r) {
    r->in.wall.ms++;
    r->in.mono.ms++;
    r->in.random = r->in.random * 6364136223846793005ULL + 1442695040888963407ULL;
    engine_begin(r->engine, &r->in);
}

static void fixture_attach(struct fixture *r) {
    rig_begin(r);
    for (int i = 0; i < WORKERS; i++) {
        struct command cmd = {.kind = CMD_ATTACH};
        cmd.as.attach = (struct cmd_attach){
            .worker = slice_str(worker_ids[i]), .incarnation = 1, .info = {.slots = SLOTS, .permanent = true}};
        engine_command(r->engine, &cmd);
    }
    rig_pass_end(r);
}

/* ---- the workload ---- */

static uint8_t spec_body[SPEC_BYTES];

/* A part of a flow: `count` no-ops named from `first` on, without parents. Names and specs are built once. */
static struct job_spec *make_jobs(uint32_t first, uint32_t count, char (*names)[12]) {
    struct job_spec *jobs = calloc(count, sizeof *jobs);
    for (uint32_t i = 0; i < count; i++) {
        int len = snprintf(names[i], sizeof names[i], "job%u", first + i);
        jobs[i].name = slice_of(names[i], (size_t)len);
        jobs[i].body = slice_of(spec_body, SPEC_BYTES);
    }
    return jobs;
}

static void submit(struct fixture *r, const struct options *o, const struct job_spec *jobs, uint32_t count, bool more,
                   uint64_t add_to) {
    struct command cmd = {.kind = add_to ? CMD_ADD : CMD_SUBMIT, .tenant = SLICE("acme"), .principal = SLICE("bench")};
    struct cmd_jobs part = {o, 1, jobs, count, more};
    if (add_to) {
        cmd.as.add.flow.v = add_to;
        cmd.as.add.jobs = part;
    } else {
        cmd.as.submit.jobs = part;
    }
    engine_command(r->engine, &cmd);
}

static void submit_flows(struct fixture *r, uint32_t flows, uint32_t jobs_each) {
    struct options o;
    options_default(&o);
    o.kind = JOB_NOOP;
    char(*names)[12] = calloc(jobs_each, sizeof *names);
    struct job_spec *jobs = make_jobs(0, jobs_each, names);
    uint32_t per_pass = jobs_each >= 1000 ? 1 : 1000 / jobs_each;
    for (uint32_t done = 0; done < flows;) {
        rig_begin(r);
        for (uint32_t i = 0; i < per_pass && done < flows; i++, done++) submit(r, &o, jobs, jobs_each, false, 0);
        rig_pass_end(r);
    }
    free(jobs);
    free(names);
}

/* Completes what was assigned, pass by pass, until nothing is left. */
static void drain(struct fixture *r) {
    for (;;) {
        while (r->writer && r->assigned.count == 0 && writer_is_busy(r->writer)) {
            rig_collect(r, true);
            rig_hand_over(r);
        }
        if (r->assigned.count == 0) return;
        struct vec todo = r->assigned;
        vec_init(&r->assigned, sizeof(struct attempt_effect));
        rig_begin(r);
        for (uint32_t i = 0; i < todo.count; i++) {
            const struct attempt_effect *a = vec_at(&todo, i);
            struct command cmd = {.kind = CMD_DONE, .token = i + 1};
            cmd.as.attempt = (struct cmd_attempt){
                .worker = slice_str(worker_ids[a->worker - 1]), .incarnation = 1, .job = a->job, .attempt = a->attempt};
            engine_command(r->engine, &cmd);
        }
        r->completed += todo.count;
        rig_pass_end(r);
        vec_fini(&todo);
    }
}

/* ---- figures ---- */

/* Memory that was freed stays with the process, so that a figure can be taken without the system's part in it. */
static void keep_freed_memory(void) {
    mallopt(M_TRIM_THRESHOLD, INT32_MAX);
    mallopt(M_MMAP_THRESHOLD, INT32_MAX);
}

/* Seconds of this thread to replay what the rig kept into a new engine, and the kernel's part of them. */
static double replay_kept(const struct fixture *r, double *ret_kernel) {
    struct engine *e = engine_new(0, &r->limits);
    double kernel = kernel_now();
    double start = cpu_now();
    for (uint32_t i = 0; i < r->batches.count; i++) {
        struct batch b = *(const struct batch *)vec_at(&r->batches, i);
        b.records.ptr = r->kept.at + (uintptr_t)b.records.ptr;
        struct why why;
        must(engine_replay(e, &b, &why), &why);
    }
    double took = cpu_now() - start;
    *ret_kernel = kernel_now() - kernel;
    engine_free(e);
    return took;
}

static void bench_apply(uint32_t jobs) {
    keep_freed_memory();
    struct fixture r;
    rig_open(&r, NULL);
    rig_resume(&r);
    fixture_attach(&r);
    submit_flows(&r, jobs / 1000, 1000);
    drain(&r);
    uint64_t records = engine_lsn(r.engine);
    struct arena arena;
    arena_init(&arena, 65536, (size_t)1 << 33);
    double start = cpu_now();
    for (uint32_t i = 0; i < r.batches.count; i++) {
        struct batch b = *(struct batch *)vec_at(&r.batches, i);
        struct cursor c = cursor_of(slice_of(r.kept.at + (uintptr_t)b.records.ptr, b.records.len));
        struct record record;
        while (cursor_left(&c)) {
            must(record_decode(&c, &arena, &record, NULL), NULL);
            arena_reset(&arena);
        }
    }
    double floor = cpu_now() - start;
    arena_fini(&arena);
    double cold_kernel, warm_kernel;
    double cold = replay_kept(&r, &cold_kernel);
    double warm = replay_kept(&r, &warm_kernel);
    printf("apply    %9u jobs  %10.0f records/s   (target 3,000,000)   floor: decode alone %.0f records/s; in fresh "
           "memory %.0f records/s, %.0f %% of that time is the kernel's\n",
           jobs, (double)records / warm, (double)records / floor, (double)records / cold, 100 * cold_kernel / cold);
    rig_close(&r);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *at) {
    (void)st, (void)flag, (void)at;
    return remove(path);
}

/* The same number of bytes in the same number of batches, written and synced by hand. */
static double append_floor(const char *dir, uint64_t batches, uint64_t bytes) {
    char path[4096];
    snprintf(path, sizeof path, "%s/floor", dir);
    size_t each = (size_t)(bytes / batches + 4095) & ~(size_t)4095;
    uint8_t *block = calloc(1, each);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    uint64_t file_bytes = (uint64_t)each * batches;
    for (uint64_t at = 0; at < file_bytes; at += each)
        if (pwrite(fd, block, each, (off_t)at) < 0) exit(1);
    fsync(fd);
    double start = now();
    for (uint64_t i = 0; i < batches; i++) {
        if (pwrite(fd, block, each, (off_t)(i * each)) < 0) exit(1);
        fdatasync(fd);
    }
    double took = now() - start;
    close(fd);
    unlink(path);
    free(block);
    return took;
}

static void bench_journal(const char *dir, uint32_t jobs) {
    char path[4096];
    snprintf(path, sizeof path, "%s/bench-journal", dir);
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); /* what a run that was killed left */
    struct fixture r;
    struct why why;
    rig_open(&r, path);
    must(writer_open(r.journal, true, &r.writer, &why), &why);
    rig_resume(&r);
    double start = now();
    submit_flows(&r, jobs / 1000, 1000);
    while (writer_is_busy(r.writer)) {
        rig_collect(&r, true);
        rig_hand_over(&r);
    }
    double submitted = now() - start;
    fixture_attach(&r);
    drain(&r);
    double took = now() - start;
    writer_close(r.writer);
    double floor = append_floor(dir, r.batch_count, r.batch_bytes);
    printf(
        "journal  %9u jobs  %10.0f jobs/s      (target 300,000)     floor: the same %llu batches, %llu MB %.0f jobs/s"
        "; submit alone %.0f jobs/s\n",
        jobs, jobs / took, (unsigned long long)r.batch_count, (unsigned long long)(r.batch_bytes >> 20), jobs / floor,
        jobs / submitted);
    if (r.completed != jobs) printf("journal  only %llu jobs were completed\n", (unsigned long long)r.completed);
    rig_close(&r);
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static enum err replay_one(void *ctx, const struct batch *b, struct why *why) {
    return engine_replay(ctx, b, why);
}

static double read_floor(const char *path) {
    char command[4200];
    snprintf(command, sizeof command, "cat %s/* > /dev/null 2>&1", path);
    double start = now();
    if (system(command) < 0) exit(1);
    return now() - start;
}

static void bench_recover(const char *dir, uint32_t flows, uint32_t jobs_each) {
    char path[4096];
    snprintf(path, sizeof path, "%s/bench-recover", dir);
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); /* what a run that was killed left */
    struct fixture r;
    rig_open(&r, path);
    rig_resume(&r);
    submit_flows(&r, flows, jobs_each);
    rig_close(&r); /* as kill -9: nothing is sealed */
    double floor = read_floor(path);
    double start = now();
    double cpu_start = cpu_now();
    rig_open(&r, path);
    struct why why;
    must(r.journal->ops->read(r.journal, 1, replay_one, r.engine, &why), &why);
    double replayed = now() - start;
    r.in.wall.ms += 1000000;
    rig_resume(&r);
    rig_pass_end(&r);
    fixture_attach(&r);
    double took = now() - start;
    double cpu = cpu_now() - cpu_start;
    if (r.assigned.count != WORKERS * SLOTS) printf("recover  nothing was dispatched\n");
    printf(
        "recover  %7u x %-5u %6.3f s            (target < 1 s)       replay %.3f s; %.3f s of processor; floor: "
        "reading the files %.3f s\n",
        flows, jobs_each, took, replayed, cpu, floor);
    rig_close(&r);
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* One flow, in parts of 10,000. */
static void bench_growth(uint32_t jobs) {
    struct options o;
    options_default(&o);
    o.kind = JOB_NOOP;
    uint32_t part = jobs < 10000 ? jobs : 10000;
    char(*names)[12] = calloc(part, sizeof *names);
    struct fixture r;
    rig_open(&r, NULL);
    rig_resume(&r);
    fixture_attach(&r);
    double start = cpu_now();
    for (uint32_t first = 0; first < jobs; first += part) {
        struct job_spec *list = make_jobs(first, part, names);
        rig_begin(&r);
        submit(&r, &o, list, part, first + part < jobs, first ? 1 : 0);
        rig_pass_end(&r);
        free(list);
    }
    drain(&r);
    double took = cpu_now() - start;
    printf("growth   %9u jobs in one flow  %6.2f us per job%s\n", jobs, took * 1e6 / jobs,
           r.completed == jobs ? "" : "  (not all completed)");
    rig_close(&r);
    free(names);
}

static void bench_memory(uint32_t flows, uint32_t jobs_each) {
    struct fixture r;
    rig_open(&r, NULL);
    rig_resume(&r);
    submit_flows(&r, flows, jobs_each);
    double jobs = (double)flows * jobs_each;
    struct state_counts counts;
    view_counts(engine_state(r.engine), engine_live(r.engine), &counts);
    printf("memory   %7u x %-5u %6.1f bytes per queued job beside its spec%s\n", flows, jobs_each,
           (double)counts.bytes / jobs - SPEC_BYTES, jobs_each > 1 ? " (target 128)" : "");
    rig_close(&r);
}

int main(int argc, char **argv) {
    bool quick = false;
    const char *only = NULL, *dir = ".";
    uint32_t growth_from = 1000, growth_to = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            quick = true;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
        else if (strcmp(argv[i], "--jobs") == 0 && i + 1 < argc)
            growth_from = growth_to = (uint32_t)strtoul(argv[++i], NULL, 10);
        else
            dir = argv[i];
    }
    uint32_t million = quick ? 100000 : 1000000;
    memset(spec_body, 'x', sizeof spec_body);
#define WANTED(figure) (only == NULL || strcmp(only, figure) == 0)
    if (WANTED("apply")) bench_apply(million);
    if (WANTED("journal")) bench_journal(dir, million);
    if (WANTED("recover")) bench_recover(dir, million / 1000, 1000);
    if (WANTED("recover")) bench_recover(dir, million, 1);
    if (growth_to == 0) growth_to = million;
    for (uint32_t jobs = growth_from; WANTED("growth") && jobs <= growth_to; jobs *= 10) bench_growth(jobs);
    if (WANTED("memory")) bench_memory(million / 1000, 1000);
    if (WANTED("memory")) bench_memory(million, 1);
    return 0;
}
