/* snapshot_test.c: the stream of a snapshot: written in pieces, read in pieces, refused when it does not fit. */
#include <stdlib.h>

#include "engine_fixture.h"

#include "limit.h"
#include "objects.h"
#include "snapshot.h"
#include "state.h"

/* ---- making streams ---- */

struct stream {
    struct buf bytes;
    struct digest digest;
    uint64_t objects;
};

static void put(struct stream *out, enum object_kind kind, const void *object) {
    struct buf message;
    buf_init(&message, 1 << 20);
    tlv_encode(object_desc(kind), object, &message);
    digest_add(&out->digest, kind, buf_slice(&message));
    out->objects++;
    buf_put_varint(&out->bytes, (uint64_t)kind);
    buf_put_str(&out->bytes, buf_slice(&message));
    buf_fini(&message);
}

static struct slice encoded(const struct tlv_desc *desc, const void *value) {
    static struct buf pieces[16];
    static uint32_t next;
    struct buf *out = &pieces[next++ % 16];
    buf_fini(out);
    buf_init(out, 1 << 16);
    tlv_encode(desc, value, out);
    return buf_slice(out);
}

static void stream_init(struct stream *out) {
    *out = (struct stream){.objects = 0};
    buf_init(&out->bytes, 1 << 20);
    struct snap_header header = {
        .epoch = 1, .lsn = 9, .now_ms = 1000, .flow_last = 9, .question_last = 9, .worker_last = 9};
    put(out, OBJ_HEADER, &header);
}

static enum err load_bytes(struct slice bytes, struct why *why) {
    struct limits limits;
    limits_default(&limits);
    struct engine *e = engine_new(0, &limits);
    enum err err = engine_load(e, bytes, why);
    if (err == ERR_OK) err = engine_load_end(e, why);
    engine_free(e);
    return err;
}

static enum err load(struct stream *out, struct why *why) {
    struct snap_end end = {out->objects, out->digest.lo, out->digest.hi};
    put(out, OBJ_END, &end);
    enum err e = load_bytes(buf_slice(&out->bytes), why);
    buf_fini(&out->bytes);
    return e;
}

/* The object after those of `prepare` makes the stream unfit, for that reason; NULL = it fits. */
static void expect(void (*prepare)(struct stream *), enum object_kind kind, const void *object, const char *text) {
    struct stream out;
    struct why why = {""};
    stream_init(&out);
    if (prepare) prepare(&out);
    put(&out, kind, object);
    enum err e = load(&out, &why);
    if (text == NULL && e != ERR_OK) fail_msg("refused: %s", why.text);
    if (text && e == ERR_OK) fail_msg("taken, and should not be: %s", text);
    if (text && !strstr(why.text, text)) fail_msg("\"%s\" does not say \"%s\"", why.text, text);
}

/* ---- what a stream is made of ---- */

static void with_tenant(struct stream *out) {
    put(out, OBJ_TENANT, &(struct snap_tenant){SLICE("acme"), 1, false});
}

static struct snap_worker a_worker(uint32_t number, const char *id, uint32_t slots) {
    struct rec_worker rec = {.worker = slice_str(id), .info = {.slots = slots}};
    return (struct snap_worker){.number = number, .record = encoded(record_desc(REC_WORKER), &rec)};
}

static struct snap_flow a_flow(uint64_t id, uint32_t jobs) {
    struct flow_head head = {.name = SLICE("f")};
    return (struct snap_flow){
        .id = id, .tenant = SLICE("acme"), .rules = 1, .head = encoded(&flow_head_desc, &head), .job_count = jobs};
}

/* The jobs object of flow 1 with one job; the test changes what it wants. */
struct jobs_object {
    struct snap_profile profile;
    struct snap_job job;
    struct snap_jobs object;
};

static struct snap_jobs *one_job(struct jobs_object *o, enum job_state state) {
    struct options options = fixture_options();
    struct rec_job rec = {.name = SLICE("a")};
    options.quorum = 2;
    o->profile.options = encoded(&options_desc, &options);
    o->job = (struct snap_job){.text = encoded(&rec_job_desc, &rec), .state = (uint8_t)state};
    o->object = (struct snap_jobs){.flow = 1, .profiles = {&o->profile, 1}, .jobs = {&o->job, 1}};
    return &o->object;
}

static void with_flow(struct stream *out) {
    with_tenant(out);
    struct snap_flow o = a_flow(1, 1);
    put(out, OBJ_FLOW, &o);
}

static void with_job(struct stream *out, enum job_state state) {
    struct jobs_object o;
    struct snap_worker worker = a_worker(1, "w", 1);
    put(out, OBJ_WORKER, &worker);
    with_flow(out);
    (void)one_job(&o, state);
    if (job_state_is_active(state)) o.job.attempt = o.job.worker = 1;
    put(out, OBJ_JOBS, &o.object);
}
static void with_held_job(struct stream *out) {
    with_job(out, JOB_HELD);
}
static void with_running_job(struct stream *out) {
    with_job(out, JOB_RUNNING);
}

/* ---- tests ---- */

static void header_and_end(void **state) {
    (void)state;
    struct stream out;
    struct why why;
    expect(NULL, OBJ_HEADER, &(struct snap_header){.lsn = 1}, "header is not first");
    expect(NULL, OBJ_END, &(struct snap_end){1, 1, 1}, "digest is another");
    expect(NULL, OBJ_END, &(struct snap_end){2, 1, 1}, "objects are missing");
    out = (struct stream){.objects = 0};
    buf_init(&out.bytes, 1 << 16);
    put(&out, OBJ_HEADER, &(struct snap_header){.shard = 3});
    assert_int_equal(load(&out, &why), ERR_CORRUPT);
    assert_non_null(strstr(why.text, "another shard"));
    out = (struct stream){.objects = 0};
    buf_init(&out.bytes, 1 << 16);
    put(&out, OBJ_HEADER, &(struct snap_header){.now_ms = -1});
    assert_int_equal(load(&out, &why), ERR_CORRUPT);
    out = (struct stream){.objects = 0};
    buf_init(&out.bytes, 1 << 16);
    put(&out, OBJ_TENANT, &(struct snap_tenant){SLICE("acme"), 1, false});
    assert_int_equal(load(&out, &why), ERR_CORRUPT);
    stream_init(&out); /* nothing after the end */
    struct snap_end end = {out.objects, out.digest.lo, out.digest.hi};
    put(&out, OBJ_END, &end);
    assert_int_equal(load_bytes(buf_slice(&out.bytes), &why), ERR_OK);
    size_t whole = out.bytes.len;
    buf_put_u8(&out.bytes, 1); /* the beginning of another object */
    assert_int_equal(load_bytes(buf_slice(&out.bytes), &why), ERR_CORRUPT);
    buf_cut(&out.bytes, whole);
    put(&out, OBJ_TENANT, &(struct snap_tenant){SLICE("acme"), 1, false});
    assert_int_equal(load_bytes(buf_slice(&out.bytes), &why), ERR_CORRUPT);
    assert_non_null(strstr(why.text, "after the end"));
    buf_fini(&out.bytes);
    stream_init(&out);
    assert_int_equal(load_bytes(buf_slice(&out.bytes), &why), ERR_CORRUPT); /* no end */
    assert_non_null(strstr(why.text, "cut short"));
    buf_put_varint(&out.bytes, 99);
    buf_put_varint(&out.bytes, 0);
    assert_int_equal(load_bytes(buf_slice(&out.bytes), &why), ERR_UNSUPPORTED);
    buf_fini(&out.bytes);
    uint8_t endless[32];
    memset(endless, 0xff, sizeof endless);
    assert_int_equal(load_bytes(slice_of(endless, 32), &why), ERR_CORRUPT);
    const uint8_t huge[] = {1, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
    assert_int_equal(load_bytes(slice_of(huge, 7), &why), ERR_CORRUPT);
}

static void names_that_do_not_fit_are_refused(void **state) {
    (void)state;
    expect(with_tenant, OBJ_TENANT, &(struct snap_tenant){SLICE("acme"), 1, false}, "a tenant twice");
    expect(NULL, OBJ_TENANT, &(struct snap_tenant){SLICE("t"), 0, false}, "a tenant twice, or");
    expect(NULL, OBJ_TENANT, &(struct snap_tenant){slice_of(NULL, 0), 1, false}, "without a name");
    expect(NULL, OBJ_POOL, &(struct snap_pool){.paused = true}, "a pool without a name");
    struct rec_pool pool = {.name = SLICE("p")};
    struct slice record = encoded(record_desc(REC_POOL), &pool);
    expect(NULL, OBJ_POOL, &(struct snap_pool){SLICE("p"), record, true}, NULL);
    expect(NULL, OBJ_POOL, &(struct snap_pool){SLICE("q"), record, true}, "another's name");
    expect(NULL, OBJ_POOL, &(struct snap_pool){SLICE("q"), SLICE("xx"), true}, "snapshot object pool");
    struct rec_topic topic = {.head.tenant = SLICE("t")};
    expect(NULL, OBJ_TOPIC, &(struct snap_topic){encoded(record_desc(REC_TOPIC), &topic)}, "a topic without a name");
    expect(NULL, OBJ_TOPIC, &(struct snap_topic){SLICE("xx")}, "snapshot object topic");
}

static void with_worker(struct stream *out) {
    struct snap_worker worker = a_worker(1, "w", 1);
    put(out, OBJ_WORKER, &worker);
}

static void workers_that_do_not_fit_are_refused(void **state) {
    (void)state;
    struct snap_worker o = a_worker(2, "w", 1);
    expect(with_worker, OBJ_WORKER, &o, "a worker twice");
    o = a_worker(1, "v", 1);
    expect(with_worker, OBJ_WORKER, &o, "a worker twice");
    o = a_worker(2, "v", 1);
    expect(with_worker, OBJ_WORKER, &o, NULL);
    o = a_worker(10, "v", 1);
    expect(NULL, OBJ_WORKER, &o, "without an id or number");
    o = a_worker(0, "v", 1);
    expect(NULL, OBJ_WORKER, &o, "without an id or number");
    o = a_worker(1, "", 1);
    expect(NULL, OBJ_WORKER, &o, "without an id or number");
    o = a_worker(1, "v", 0);
    expect(NULL, OBJ_WORKER, &o, "without slots");
    o.record = SLICE("xx");
    expect(NULL, OBJ_WORKER, &o, "snapshot object worker");
    o = a_worker(1, "v", 1);
    o.drains_itself = true;
    expect(NULL, OBJ_WORKER, &o, "drains itself and does not drain");
    o.draining = true;
    expect(NULL, OBJ_WORKER, &o, NULL);
}

static void with_empty_flow(struct stream *out) {
    with_tenant(out);
    struct snap_flow o = a_flow(1, 0);
    put(out, OBJ_FLOW, &o);
}

static void flows_that_do_not_fit_are_refused(void **state) {
    (void)state;
    struct snap_flow o = a_flow(2, 0);
    expect(NULL, OBJ_FLOW, &o, "of no tenant");
    expect(with_tenant, OBJ_FLOW, &o, NULL);
    expect(with_flow, OBJ_FLOW, &o, "before the jobs of the last");
#define UNFIT(text, ...)                         \
    do {                                         \
        o = a_flow(2, 0);                        \
        __VA_ARGS__;                             \
        expect(with_tenant, OBJ_FLOW, &o, text); \
    } while (0)
    UNFIT("without a number", o.id = 0);
    UNFIT("without a number", o.id = 10);
    UNFIT("rules", o.rules = 0);
    UNFIT("rules", o.rules = RULES_VERSION + 1);
    UNFIT("rules", o.state = FLOW_STATE_COUNT);
    UNFIT("rules", o.sweep = SWEEP_COUNT);
    UNFIT("time", o.created_ms = -1);
    UNFIT("time", o.finished_ms = INT64_MAX);
    UNFIT("snapshot object flow", o.head = SLICE("xx"));
    uint32_t work[] = {0};
    UNFIT("work for no job", o.work = ((struct tlv_u32s){work, 1}));
    UNFIT("half done and not there", o.work_edge = 1);
    struct snap_foreign foreign = {.parent = 1};
    UNFIT("an edge from no job", o.foreign = ((struct tlv_list){&foreign, 1}));
#undef UNFIT
    o = a_flow(1, 0);
    expect(with_empty_flow, OBJ_FLOW, &o, "a flow twice");
    o = a_flow(1, 1);
    expect(with_tenant, OBJ_FLOW, &o, "ends inside a flow");
}

static void jobs_that_do_not_fit_are_refused(void **state) {
    (void)state;
    struct jobs_object o;
    expect(with_flow, OBJ_JOBS, one_job(&o, JOB_WAITING), NULL);
    expect(with_flow, OBJ_JOBS, one_job(&o, JOB_READY), NULL);
    expect(with_tenant, OBJ_JOBS, one_job(&o, JOB_WAITING), "jobs of another flow");
#define UNFIT(text, ...)                              \
    do {                                              \
        (void)one_job(&o, JOB_WAITING);               \
        __VA_ARGS__;                                  \
        expect(with_flow, OBJ_JOBS, &o.object, text); \
    } while (0)
    UNFIT("jobs of another flow", o.object.flow = 2);
    UNFIT("more jobs than", o.object.jobs.count = 0);
    struct snap_job two[2];
    UNFIT("more jobs than", two[0] = two[1] = o.job, o.object.jobs = ((struct tlv_list){two, 2}));
    UNFIT("without options", o.job.profile = 1);
    UNFIT("snapshot object jobs", o.profile.options = SLICE("xx"));
    UNFIT("snapshot object jobs", o.job.text = SLICE("xx"));
    struct options none = {.quorum = 1};
    UNFIT("options that cannot be", o.profile.options = encoded(&options_desc, &none));
    struct rec_job nameless = {.body = SLICE("x")};
    UNFIT("without a name", o.job.text = encoded(&rec_job_desc, &nameless));
    uint32_t zero[] = {0};
    struct rec_job own_parent = {.name = SLICE("a"), .parents = {zero, 1}};
    UNFIT("after its child", o.job.text = encoded(&rec_job_desc, &own_parent));
    UNFIT("by one that comes after", o.job.root = 1); /* itself */
    UNFIT("cannot be", o.job.used = 70000);
    UNFIT("cannot be", o.job.artifacts = SLICE("xx"));
    UNFIT("cannot be", o.job.flags = JOBF_PARKED);
    UNFIT("time", o.job.since_ms = -1);
    UNFIT("time", o.job.due_ms = INT64_MAX);
    UNFIT("dead letter that lives", o.job.flags = JOBF_DEAD);
    UNFIT("without its attempt or question", o.job.state = JOB_HELD);
    UNFIT("without its attempt or question", o.job.state = JOB_RUNNING);
#undef UNFIT
}

static void half_done_work(void **state) {
    (void)state;
    struct jobs_object o;
    uint32_t work[] = {0};
    for (uint32_t edge = 0; edge < 3; edge++) {
        struct stream out;
        struct why why;
        stream_init(&out);
        with_tenant(&out);
        struct snap_flow flow = a_flow(1, 1);
        flow.work = (struct tlv_u32s){work, 1};
        flow.work_edge = edge;
        put(&out, OBJ_FLOW, &flow);
        (void)one_job(&o, JOB_SUCCEEDED);
        o.job.flags = JOBF_UNTOLD;
        put(&out, OBJ_JOBS, &o.object);
        assert_int_equal(load(&out, &why), edge == 0 ? ERR_OK : ERR_CORRUPT);
    }
}

/* Work is left to be done by jobs that ended and have not told their children, and by no others. */
static void work_of_jobs_that_have_nothing_to_tell(void **state) {
    (void)state;
    const enum job_state states[] = {JOB_SUCCEEDED, JOB_WAITING};
    for (uint32_t i = 0; i < 2; i++) {
        struct jobs_object o;
        struct stream out;
        struct why why = {""};
        uint32_t work[] = {0};
        stream_init(&out);
        with_tenant(&out);
        struct snap_flow flow = a_flow(1, 1);
        flow.work = (struct tlv_u32s){work, 1};
        put(&out, OBJ_FLOW, &flow);
        (void)one_job(&o, states[i]);
        o.job.flags = states[i] == JOB_WAITING ? JOBF_UNTOLD : 0;
        put(&out, OBJ_JOBS, &o.object);
        assert_int_equal(load(&out, &why), ERR_CORRUPT);
        assert_non_null(strstr(why.text, "nothing to tell"));
    }
}

static void runs_that_do_not_fit_are_refused(void **state) {
    (void)state;
    const struct snap_run good = {.flow = 1, .attempt = 1, .worker = 1, .fence = 3};
    struct snap_run o = good;
    expect(with_running_job, OBJ_RUN, &o, NULL);
    expect(with_held_job, OBJ_RUN, &o, "a job that has none");
#define UNFIT(text, ...)                             \
    do {                                             \
        o = good;                                    \
        __VA_ARGS__;                                 \
        expect(with_running_job, OBJ_RUN, &o, text); \
    } while (0)
    UNFIT("no job or worker", o.flow = 2);
    UNFIT("no job or worker", o.worker = 2);
    UNFIT("no job or worker", o.stop = STOP_COUNT);
    UNFIT("time", o.confirm_ms = -1);
    UNFIT("time", o.assigned_ms = -1);
    UNFIT("time", o.started_ms = INT64_MAX);
    UNFIT("another attempt", o.attempt = 2);
#undef UNFIT
}

static void with_run(struct stream *out) {
    with_running_job(out);
    put(out, OBJ_RUN, &(struct snap_run){.flow = 1, .attempt = 1, .worker = 1, .fence = 3});
}
static void with_question(struct stream *out) {
    with_held_job(out);
    put(out, OBJ_QUESTION, &(struct snap_question){.id = 1, .flow = 1, .revision = 1, .gate = GATE_APPROVAL});
}

static void questions_that_do_not_fit_are_refused(void **state) {
    (void)state;
    const struct snap_question good = {.id = 1, .flow = 1, .revision = 1, .gate = GATE_APPROVAL};
    struct snap_question o = good;
    expect(with_run, OBJ_RUN, &(struct snap_run){.flow = 1, .attempt = 1, .worker = 1}, "a job that has none");
    expect(with_held_job, OBJ_QUESTION, &o, NULL);
    expect(with_running_job, OBJ_QUESTION, &o, "stands before none");
    o.id = 2;
    expect(with_question, OBJ_QUESTION, &o, "stands before none");
#define UNFIT(text, ...)                               \
    do {                                               \
        o = good;                                      \
        __VA_ARGS__;                                   \
        expect(with_held_job, OBJ_QUESTION, &o, text); \
    } while (0)
    UNFIT("about no job", o.flow = 2);
    UNFIT("about no job", o.id = 0);
    UNFIT("about no job", o.id = 10);
    UNFIT("stands before none", o.gate = GATE_OUTPUT);
    UNFIT("voices", o.votes = 2);
    UNFIT("voices", o.voters = SLICE("1234567"));
    UNFIT("voices", o.voters = SLICE("123456781234567812345678"));
    UNFIT("time", o.asked_ms = -1);
    UNFIT("time", o.deadline_ms = -1);
    UNFIT("time", o.again_ms = -1);
    UNFIT(NULL, o.votes = 1, o.voters = SLICE("12345678"), o.deadline_ms = 5);
#undef UNFIT
}

static void keys_that_do_not_fit_are_refused(void **state) {
    (void)state;
    static const uint8_t hash[32] = {1};
    const struct snap_key good = {SLICE("acme"), SLICE("k"), slice_of(hash, 32), 1, 1, 5};
    struct snap_key o = good;
    expect(with_tenant, OBJ_KEY, &o, NULL);
    expect(NULL, OBJ_KEY, &o, "of nobody");
    o.hash.len = 0;
    expect(with_tenant, OBJ_KEY, &o, "of nobody");
    o = good;
    o.key.len = 0;
    expect(with_tenant, OBJ_KEY, &o, "of nobody");
    struct stream out;
    struct why why;
    stream_init(&out);
    with_tenant(&out);
    put(&out, OBJ_KEY, &good);
    put(&out, OBJ_KEY, &good);
    assert_int_equal(load(&out, &why), ERR_CORRUPT);
    assert_non_null(strstr(why.text, "a key twice"));
}

/* Two jobs, the second a child of the first: what refers to the wrong one of them. */
static void a_reference_to_the_wrong_job_is_refused(void **state) {
    (void)state;
    uint32_t first[] = {0}, second[] = {1};
    for (int wrong = 0; wrong < 3; wrong++) {
        struct stream out;
        struct why why = {""};
        struct jobs_object o;
        (void)one_job(&o, wrong == 2 ? JOB_HELD : JOB_SUCCEEDED);
        o.job.flags = wrong == 2 ? 0 : JOBF_UNTOLD;
        struct rec_job child = {.name = SLICE("b"), .parents = {first, 1}};
        struct snap_job jobs[2] = {o.job, o.job};
        jobs[1].text = encoded(&rec_job_desc, &child);
        o.object.jobs = (struct tlv_list){jobs, 2};
        struct snap_flow flow = a_flow(1, 2);
        flow.work = (struct tlv_u32s){wrong == 1 ? second : first, wrong < 2};
        flow.work_edge = wrong < 2;
        stream_init(&out);
        with_tenant(&out);
        put(&out, OBJ_FLOW, &flow);
        put(&out, OBJ_JOBS, &o.object);
        struct snap_question q = {.id = 1, .flow = 1, .revision = 1, .gate = GATE_APPROVAL};
        if (wrong == 2) put(&out, OBJ_QUESTION, &q);
        q.ordinal = 1;
        if (wrong == 2) put(&out, OBJ_QUESTION, &q);
        assert_int_equal(load(&out, &why), wrong == 0 ? ERR_OK : ERR_CORRUPT);
        if (wrong == 1) assert_non_null(strstr(why.text, "no children"));
        if (wrong == 2) assert_non_null(strstr(why.text, "a question twice"));
    }
}

/* Flow 1 with a job that has a compensation, entered; the test says what is wrong with it. */
static void compensations_that_do_not_fit_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {NULL,
                                        "a compensation of no job",
                                        "a compensation that is not there, or twice",
                                        "a compensation that is not there, or twice",
                                        "a compensation that is not there, or twice",
                                        "a compensation without options",
                                        "a compensation of a later job",
                                        "a compensation of a later job",
                                        "a name that is too long",
                                        NULL};
    static char name[251];
    memset(name, 'n', sizeof name);
    for (uint32_t wrong = 0; wrong < sizeof texts / sizeof texts[0]; wrong++) {
        struct stream out;
        struct why why = {""};
        struct jobs_object o;
        uint32_t entered[] = {wrong == 1 ? 7 : 0, 0};
        (void)one_job(&o, JOB_SUCCEEDED);
        struct rec_job rec = {.name = SLICE("a"), .undo_body = SLICE("b")};
        o.job.undo_profile = wrong == 2 || wrong == 3 ? 0 : wrong == 5 ? 2 : 1;
        if (wrong == 3) o.job.result = SLICE("r"); /* it has extras, and no compensation among them */
        if (wrong == 6) rec.undoes = 1;
        if (wrong == 7) rec.undoes = 3;
        if (wrong == 7) o.job.undo_profile = 0;
        if (wrong >= 8) rec.name = slice_of(name, wrong == 8 ? 251 : 250);
        o.job.text = encoded(&rec_job_desc, &rec);
        struct snap_flow flow = a_flow(1, 1);
        flow.entered = (struct tlv_u32s){entered, wrong == 4 ? 2 : 1};
        stream_init(&out);
        with_tenant(&out);
        put(&out, OBJ_FLOW, &flow);
        put(&out, OBJ_JOBS, &o.object);
        enum err e = load(&out, &why);
        if (texts[wrong] == NULL && e != ERR_OK) fail_msg("%u: %s", wrong, why.text);
        if (texts[wrong] && !strstr(why.text, texts[wrong])) fail_msg("%u: %s", wrong, why.text);
    }
}

/* A compensation, as a job of its own, behind the job that it undoes; it has none itself. A long name is no harm where
 * there is nothing to compensate. */
static void a_compensation_as_a_job(void **state) {
    (void)state;
    static char name[251];
    memset(name, 'n', sizeof name);
    for (uint32_t wrong = 0; wrong < 2; wrong++) {
        struct stream out;
        struct why why = {""};
        struct jobs_object o;
        (void)one_job(&o, JOB_SUCCEEDED);
        struct rec_job first = {.name = slice_of(name, sizeof name)}, undo = {.name = SLICE("a~undo"), .undoes = 1};
        struct snap_job jobs[2] = {o.job, o.job};
        jobs[0].text = encoded(&rec_job_desc, &first);
        jobs[1].text = encoded(&rec_job_desc, &undo);
        jobs[1].undo_profile = wrong;
        o.object.jobs = (struct tlv_list){jobs, 2};
        struct snap_flow flow = a_flow(1, 2);
        stream_init(&out);
        with_tenant(&out);
        put(&out, OBJ_FLOW, &flow);
        put(&out, OBJ_JOBS, &o.object);
        assert_int_equal(load(&out, &why), wrong ? ERR_CORRUPT : ERR_OK);
        if (wrong) assert_non_null(strstr(why.text, "a compensation of a later job"));
    }
}

static const struct snap_item a_text = {
    .tenant = {(const uint8_t *)"acme", 4}, .key = {(const uint8_t *)"k", 1}, .kind = ITEM_TEXT, .version = 1};
static const struct snap_item a_set = {.tenant = {(const uint8_t *)"acme", 4},
                                       .key = {(const uint8_t *)"s", 1},
                                       .kind = ITEM_SET,
                                       .version = 1,
                                       .members = 2};

static void with_text(struct stream *out) {
    with_tenant(out);
    put(out, OBJ_ITEM, &a_text);
}

static void with_set(struct stream *out) {
    with_tenant(out);
    put(out, OBJ_ITEM, &a_set);
}

static void with_a_member(struct stream *out) {
    struct rec_store_item m = {SLICE("m")};
    with_set(out);
    put(out, OBJ_MEMBERS, &(struct snap_members){{&m, 1}});
}

static void with_other_flow(struct stream *out) {
    put(out, OBJ_TENANT, &(struct snap_tenant){SLICE("other"), 1, false});
    with_empty_flow(out);
}

static void items_of_the_store_that_do_not_fit_are_refused(void **state) {
    (void)state;
    struct snap_item o = a_text;
    expect(with_tenant, OBJ_ITEM, &o, NULL);
    expect(NULL, OBJ_ITEM, &o, "a key of nobody");
    expect(with_text, OBJ_ITEM, &o, "a key twice");
    expect(with_set, OBJ_ITEM, &o, "a key before the members of the last are whole");
    o.key.len = 0;
    expect(with_tenant, OBJ_ITEM, &o, "a key of nobody");
    o = a_text;
    o.flow = 5;
    expect(with_tenant, OBJ_ITEM, &o, "a key of no flow");
    o.flow = 1;
    expect(with_empty_flow, OBJ_ITEM, &o, NULL);
    o.tenant = SLICE("other");
    expect(with_other_flow, OBJ_ITEM, &o, "a key of no flow");
    o = a_text;
    o.members = 1;
    expect(with_tenant, OBJ_ITEM, &o, "members without a set");
    o = a_text;
    o.version = 0;
    expect(with_tenant, OBJ_ITEM, &o, "a key from no record");
    o.version = 10; /* the header's LSN is 9 */
    expect(with_tenant, OBJ_ITEM, &o, "a key from no record");
    o.version = 1;
    o.expires_ms = -1;
    expect(with_tenant, OBJ_ITEM, &o, "a key from no record");
    o = a_set;
    expect(with_tenant, OBJ_ITEM, &o, "it ends inside a set");
    o.members = 0;
    expect(with_tenant, OBJ_ITEM, &o, "a set without members");
    struct rec_store_item list[] = {{SLICE("m")}, {SLICE("n")}, {SLICE("o")}};
    struct snap_members m = {{list, 2}};
    expect(with_set, OBJ_MEMBERS, &m, NULL);
    m.members.count = 0;
    expect(with_set, OBJ_MEMBERS, &m, "more members than the set has");
    m.members.count = 3;
    expect(with_set, OBJ_MEMBERS, &m, "more members than the set has");
    m.members.count = 1;
    expect(with_a_member, OBJ_MEMBERS, &m, "a member twice");
}

static const struct snap_limit a_rate = {.tenant = {(const uint8_t *)"acme", 4},
                                         .kind = LIMIT_RATE,
                                         .name = {(const uint8_t *)"api", 3},
                                         .rate_milli = 1000,
                                         .burst = 2,
                                         .level = 1000000,
                                         .filled_ms = 5};

static void with_rate(struct stream *out) {
    with_tenant(out);
    put(out, OBJ_LIMIT, &a_rate);
}

static void limits_that_do_not_fit_are_refused(void **state) {
    (void)state;
    struct snap_limit o = a_rate;
    expect(with_tenant, OBJ_LIMIT, &o, NULL);
    expect(NULL, OBJ_LIMIT, &o, "a limit of no tenant");
    expect(with_rate, OBJ_LIMIT, &o, "a limit twice");
    o.name.len = 0;
    expect(with_tenant, OBJ_LIMIT, &o, "without a name");
    o = a_rate;
    o.burst = 0;
    expect(with_tenant, OBJ_LIMIT, &o, "a rate that cannot be");
    o = a_rate;
    o.level = 2000001;
    expect(with_tenant, OBJ_LIMIT, &o, "a rate that holds more than it can");
    o = a_rate;
    o.filled_ms = -1;
    expect(with_tenant, OBJ_LIMIT, &o, "a rate of a time that cannot be");
    o = (struct snap_limit){.tenant = SLICE("acme"), .kind = LIMIT_TENANT, .running = 3};
    expect(with_tenant, OBJ_LIMIT, &o, NULL);
}

/* ---- whole states ---- */

static void busy_state(struct fixture *r) {
    struct options o = fixture_options();
    assert_ok(fixture_attach(r, "w", 1, 3));
    assert_ok(fixture_submit(r, &o, (const char *[]){"a", "b: a", "c", "d: b c"}, 4));
    o.gates = GATE_BIT(GATE_APPROVAL);
    o.quorum = 2;
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
    assert_ok(fixture_verdict(r, ref_of(2, 0), VERDICT_ALLOW, NULL));
    assert_ok(fixture_submit_key(r, "key", 1, 0));
    assert_ok(fixture_pool(r, "p", POOL_DRAINING, true, "x"));
    assert_ok(fixture_topic(r, "t", "p", "q"));
    assert_ok(fixture_pause(r, PAUSE_POOL, 0, "q", true));
    assert_ok(fixture_weight(r, "acme", 7));
}

static enum err append(void *ctx, struct slice piece, struct why *why) {
    (void)why;
    buf_put_slice(ctx, piece);
    return ERR_OK;
}

/* Every way to cut it is noticed; every piece size gives the same state. */
static void cuts_and_pieces(void **state) {
    struct fixture *r = *state;
    busy_state(r);
    struct buf bytes;
    struct why why;
    buf_init(&bytes, 1 << 20);
    assert_ok(engine_snapshot(r->engine, append, &bytes, &why));
    for (size_t len = 1; len < bytes.len; len++)
        assert_int_not_equal(load_bytes(slice_of(bytes.at, len), &why), ERR_OK);
    for (size_t piece = 1; piece < 70; piece++) {
        struct engine *e = engine_new(0, &r->limits);
        for (size_t at = 0; at < bytes.len; at += piece)
            assert_ok(engine_load(e, slice_of(bytes.at + at, bytes.len - at < piece ? bytes.len - at : piece), &why));
        assert_ok(engine_load_end(e, &why));
        assert_digests_equal(e, r->engine);
        assert_int_equal(engine_durable_lsn(e), engine_lsn(r->engine));
        engine_free(e);
    }
    /* one that is given up half-way frees all it has */
    struct engine *e = engine_new(0, &r->limits);
    assert_ok(engine_load(e, slice_of(bytes.at, bytes.len / 2), &why));
    engine_free(e);
    engine_free(NULL);
    buf_fini(&bytes);
}

static void every_flipped_byte_is_noticed(void **state) {
    struct fixture *r = *state;
    busy_state(r);
    struct buf bytes;
    struct why why;
    buf_init(&bytes, 1 << 20);
    assert_ok(engine_snapshot(r->engine, append, &bytes, &why));
    for (size_t at = 0; at < bytes.len; at++) {
        bytes.at[at] ^= 0x15;
        assert_int_not_equal(load_bytes(buf_slice(&bytes), &why), ERR_OK);
        bytes.at[at] ^= 0x15;
    }
    buf_fini(&bytes);
}

/* ---- a writer that fails ---- */

static enum err fail_later(void *ctx, struct slice piece, struct why *why) {
    uint32_t *left = ctx;
    (void)piece;
    return (*left)-- > 0 ? ERR_OK : why_set(why, ERR_IO, "the disk is gone");
}

static void a_failing_writer_ends_it(void **state) {
    struct fixture *r = *state;
    busy_state(r);
    struct slice members[] = {SLICE("a"), SLICE("b")};
    struct command cmd = {.kind = CMD_STORE, .tenant = SLICE("acme")};
    cmd.as.store = (struct cmd_store){.op = STORE_ADD, .key = SLICE("s"), .members = members, .member_count = 2};
    assert_ok(fixture_command(r, &cmd));
    cmd.as.store.key = SLICE("t");
    assert_ok(fixture_command(r, &cmd));
    struct why why;
    for (uint32_t good = 0; good < 100; good++) {
        uint32_t left = good;
        enum err e = engine_snapshot(r->engine, fail_later, &left, &why);
        if (e == ERR_OK) return; /* more calls allowed than it needs */
        assert_int_equal(e, ERR_IO);
        assert_int_equal(left, UINT32_MAX); /* nothing is written after the failure */
    }
    fail();
}

/* A flow of many jobs with many option sets is written in several objects. */
static void a_large_flow_is_written_in_several_objects(void **state) {
    struct fixture *r = *state;
    struct options *sets = calloc(600, sizeof *sets);
    struct job_spec *specs = calloc(600, sizeof *specs);
    char(*names)[8] = calloc(600, sizeof *names);
    static char body[60000];
    for (uint32_t i = 0; i < 600; i++) {
        sets[i] = fixture_options();
        sets[i].priority = i;
        names[i][0] = (char)('a' + i % 26);
        names[i][1] = (char)('a' + i / 26);
        specs[i] =
            (struct job_spec){.name = slice_str(names[i]), .profile = i, .body = slice_of(body, i < 40 ? 60000 : 1)};
    }
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){sets, 600, specs, 600, false};
    assert_ok(fixture_command(r, &cmd));
    fixture_check_digests(r);
    free(sets);
    free(specs);
    free(names);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_and_end),
        cmocka_unit_test(names_that_do_not_fit_are_refused),
        cmocka_unit_test(workers_that_do_not_fit_are_refused),
        cmocka_unit_test(flows_that_do_not_fit_are_refused),
        cmocka_unit_test(jobs_that_do_not_fit_are_refused),
        cmocka_unit_test(half_done_work),
        cmocka_unit_test(work_of_jobs_that_have_nothing_to_tell),
        cmocka_unit_test(runs_that_do_not_fit_are_refused),
        cmocka_unit_test(questions_that_do_not_fit_are_refused),
        cmocka_unit_test(keys_that_do_not_fit_are_refused),
        cmocka_unit_test(a_reference_to_the_wrong_job_is_refused),
        cmocka_unit_test(compensations_that_do_not_fit_are_refused),
        cmocka_unit_test(a_compensation_as_a_job),
        cmocka_unit_test(items_of_the_store_that_do_not_fit_are_refused),
        cmocka_unit_test(limits_that_do_not_fit_are_refused),
        FIXTURE_TEST(cuts_and_pieces),
        FIXTURE_TEST(every_flipped_byte_is_noticed),
        FIXTURE_TEST(a_failing_writer_ends_it),
        FIXTURE_TEST(a_large_flow_is_written_in_several_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
