/* misfit_test.c: services, foreach jobs, schedules, kept results and policies in journals and snapshots that no engine
 * wrote: each fact that the guards ask for is missing once. Older kinds are in replay_test.c and snapshot_test.c. */
#include "corrupt.h"

#include "expand.h"
#include "schedule.h"
#include "state.h"

static const uint8_t hash[32] = {5};

#define JOB(o, i) (((struct snap_job *)(o)->jobs.at)[i])
#define CHILD(o, i) (((struct snap_child *)(o)->children.at)[i])

/* ---- services ---- */

static struct options service_options(void) {
    struct options o;
    options_default(&o);
    o.kind = JOB_SERVICE;
    return o;
}

static uint64_t deploy(struct fixture *r, const char *service, int64_t delay_ms) {
    struct options o = service_options();
    o.delay_ms = delay_ms;
    struct job_spec spec = {.name = SLICE("deploy"), .body = SLICE("run"), .service = slice_str(service)};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(r->tenant)};
    cmd.as.submit.jobs = (struct cmd_jobs){&o, 1, &spec, 1, false};
    assert_ok(fixture_command(r, &cmd));
    return r->reply.flow.v;
}

/* Flow 2 is a version that runs and is told to stop, deployed by 1; 4 is the next, deployed by 3 and waiting behind it.
 * 5 is a job that runs, 6 waits for its time to deploy, 7 is a job of another tenant. */
enum { OLD_DEPLOYED = 1, OLD, DEPLOYING, NEW, PLAIN, LATER, FOREIGN };
static void services(struct fixture *r) {
    struct options o = fixture_options();
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_int_equal(deploy(r, "web", 0), OLD_DEPLOYED);
    struct command health = {.kind = CMD_HEALTH};
    health.as.attempt = (struct cmd_attempt){
        .worker = SLICE("w"), .incarnation = 1, .job = ref_of(OLD, 0), .attempt = 1, .healthy = true};
    assert_ok(fixture_command(r, &health));
    assert_int_equal(deploy(r, "web", 0), DEPLOYING);
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
    assert_int_equal(r->reply.flow.v, PLAIN);
    assert_int_equal(deploy(r, "web", 60000), LATER);
    r->tenant = "globex";
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
    r->tenant = "acme";
    assert_int_equal(fixture_state(r, OLD, 0), JOB_RUNNING);
    assert_int_equal(fixture_state(r, NEW, 0), JOB_WAITING);
    assert_int_equal(fixture_state(r, DEPLOYING, 0), JOB_HELD);
}

static void records_about_services(void **state) {
    struct fixture *r = *state;
    services(r);
    struct options sets[] = {fixture_options()};
    struct rec_job job = {.name = SLICE("x")};
    struct tlv_list set = {sets, 1}, list = {&job, 1};
    MISFIT(r, REC_ADDED, "jobs for a service", .flow = OLD, .profiles = set, .jobs = list);
    MISFIT(r, REC_RETRIED, "a service", .flow = OLD);
    MISFIT(r, REC_RERUN, "a service", .flow = OLD);
    MISFIT(r, REC_PAUSED, "a service", .flow = OLD, .on = true);
    MISFIT(r, REC_CANCELLED, "a service", .flow = OLD, .whole = true);
    MISFIT(r, REC_DUE, "no deadline", .flow = NEW, .due = DUE_DEADLINE);
    MISFIT(r, REC_DUE, "something else", .flow = NEW, .due = DUE_START);
    MISFIT(r, REC_HEALTH, "no service", .flow = PLAIN, .attempt = 1, .healthy = true);
    MISFIT(r, REC_HEALTH, "another attempt", .flow = OLD, .attempt = 2, .healthy = true);
    uint64_t question = fixture_answer(r, ref_of(DEPLOYING, 0), VERDICT_DENY).question.v;
    MISFIT(r, REC_VERDICT, "a verdict on health", .question = question, .verdict = VERDICT_ALLOW);
    FITTING(r, REC_VERDICT, .question = question, .verdict = VERDICT_DENY);
    struct rec_foreign foreign = {.flow = NEW};
    job.foreign = (struct tlv_list){&foreign, 1};
    MISFIT(r, REC_SUBMITTED, "an edge from a service", .flow = 9, .head.tenant = SLICE("acme"), .profiles = set,
           .jobs = list);
}

/* Sets: 0 plain, 1 a service, 2 a service behind a gate, 3 a foreach job. */
static void jobs_that_deploy(void **state) {
    struct fixture *r = *state;
    struct options sets[] = {fixture_options(), service_options(), service_options(), fixture_options()};
    for (uint32_t i = 0; i < 4; i++) sets[i].demand.pool = SLICE("default");
    sets[2].gates = GATE_BIT(GATE_APPROVAL);
    sets[3].gates = GATE_BIT(GATE_EXPANSION);
    sets[3].max_parallel = 1;
    const struct {
        struct rec_job job;
        const char *word; /* NULL: it fits */
    } cases[] = {
        {{.profile = 1, .service = SLICE("web"), .runner_profile = 2}, NULL},
        {{.profile = 2, .service = SLICE("web"), .runner_profile = 2}, NULL},
        {{.profile = 1, .service = SLICE("web")}, "a service without options, or"},
        {{.profile = 1, .runner_profile = 2}, "options without one"},
        {{.profile = 1, .service = SLICE("web"), .runner_profile = 9}, "a service without options"},
        {{.profile = 1, .service = SLICE("web"), .runner_profile = 1}, "a service that cannot run"},
        {{.profile = 1, .service = SLICE("web"), .runner_profile = 3}, "a service that cannot run"},
        {{.profile = 0, .service = SLICE("web"), .runner_profile = 2}, "another kind of job"},
        {{.profile = 1, .service = SLICE("web"), .runner_profile = 2, .undo_profile = 1}, "another kind of job"},
        {{.profile = 3, .service = SLICE("web"), .runner_profile = 2, .child_profile = 1}, "children of no foreach"},
        {{.profile = 3, .child_profile = 1}, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rec_job job = cases[i].job;
        job.name = SLICE("x");
        struct record record = {.kind = REC_SUBMITTED, .version = RECORD_VERSION};
        record.body.as_REC_SUBMITTED =
            (struct rec_submitted){.flow = 1, .head.tenant = SLICE("acme"), .profiles = {sets, 4}, .jobs = {&job, 1}};
        struct why why = {""};
        enum err e = corrupt_replay(r, &record, &why);
        if ((e == ERR_OK) != (cases[i].word == NULL)) fail_msg("%zu: %s", i, why.text);
        if (cases[i].word && !strstr(why.text, cases[i].word)) fail_msg("%zu: %s", i, why.text);
    }
}

static void a_share_of_more_than_all(void **state) {
    struct fixture *r = *state;
    struct options set = fixture_options();
    set.demand.pool = SLICE("default");
    set.gates = GATE_BIT(GATE_EXPANSION);
    set.max_parallel = 1;
    set.allow_percent = 101;
    struct rec_job job = {.name = SLICE("x"), .child_profile = 1};
    MISFIT(r, REC_SUBMITTED, "options that cannot be", .flow = 1, .head.tenant = SLICE("acme"), .profiles = {&set, 1},
           .jobs = {&job, 1});
}

/* Sets of options are read late; until then they are bytes. */
static void options_that_are_no_options(void **state) {
    struct fixture *r = *state;
    struct options set = fixture_options();
    set.demand.pool = SLICE("ZZZZ");
    struct rec_job job = {.name = SLICE("x")};
    struct record record = {.kind = REC_SUBMITTED, .version = RECORD_VERSION};
    record.body.as_REC_SUBMITTED =
        (struct rec_submitted){.flow = 1, .head.tenant = SLICE("acme"), .profiles = {&set, 1}, .jobs = {&job, 1}};
    struct buf frame;
    buf_init(&frame, 1 << 16);
    record_encode(&record, &frame);
    uint8_t *name = memmem(frame.at, frame.len, "ZZZZ", 4);
    assert_non_null(name);
    name[-2] = 0; /* a field without a number */
    struct batch b = corrupt_batch(r->engine, buf_slice(&frame));
    struct engine *e = fixture_replay(r);
    struct why why = {""};
    assert_int_equal(engine_replay(e, &b, &why), ERR_CORRUPT);
    assert_non_null(strstr(why.text, "options"));
    engine_free(e);
    buf_fini(&frame);
}

static void versions_in_a_snapshot(void **state) {
    struct fixture *r = *state;
    services(r);
    SOUND(r, OBJ_END, snap_end, (void)0);
#define SERVICE(word, ...) FORGED(r, OBJ_SERVICE, snap_service, word, __VA_ARGS__)
    SERVICE("of nobody", o->tenant = SLICE("nobody"));
    SERVICE("of nobody", o->name.len = 0);
    SERVICE("a service twice", forge.copies = 2);
    SERVICE("a time that cannot be", o->since_ms = -1);
    SERVICE("without a version", o->current = o->previous = o->retiring = 0);
    SERVICE(NULL, o->current = 0, o->deployer = 0);
    SERVICE(NULL, o->retiring = o->previous, o->current = o->previous = 0, o->deployer = 0);
    SERVICE("the health of a version that does not run", o->previous_healthy = true);
    SERVICE("the health of a version that does not run", o->previous_port = 80);
    SERVICE("a time that cannot be", o->overlaps = true, o->previous_since_ms = -1);
    SERVICE("a version that runs beside none", o->overlaps = true, o->desired = SERVICE_STOPPED);
    SERVICE("not there, or twice", o->retiring_too = 77);
    SERVICE("not there, or twice", o->current = 77);
    SERVICE("not there, or twice", o->previous = NEW);
    SERVICE("not there, or twice", o->retiring = NEW);
    SERVICE("a version that is none", o->current = FOREIGN);
    SERVICE("a version that cannot run", o->current = PLAIN);
    SERVICE("a version with a past", o->current = OLD_DEPLOYED);
    SERVICE("a version that asks", o->current = DEPLOYING);
    SERVICE("a version that asks", o->current = LATER);
    SERVICE("a deployment by no job", o->deployer = 77);
    SERVICE("a deployment by no job", o->current = 0);
    SERVICE("a deployment by another job", o->deployer = PLAIN);
    SERVICE("a deployment by another job", o->deployer = FOREIGN);
    SERVICE("a deployment that is over", o->deployer = LATER);
#undef SERVICE
    FORGED(r, OBJ_QUESTION, snap_question, "a deployment that is over", forge.copies = 0);
    FORGED(r, OBJ_QUESTION, snap_question, "a deployment that is over", o->gate = GATE_APPROVAL);
    struct snap_foreign edge = {.child_flow = PLAIN};
#define VERSION(word, ...) FORGED(r, OBJ_FLOW, snap_flow, word, if (o->id == NEW) __VA_ARGS__)
    VERSION("a version with a past", o->unwinding = UNWIND_DONE);
    VERSION("a version with a past", o->sweep = SWEEP_RESUME);
    VERSION("a version with a past", o->state = FLOW_FAILED);
    VERSION("a version with a past", o->has_finale = true);
    VERSION("a version with a past", o->foreign = ((struct tlv_list){&edge, 1}));
#undef VERSION
#define RUNNER(word, ...) FORGED(r, OBJ_JOBS, snap_jobs, word, if (o->flow == NEW) __VA_ARGS__)
    RUNNER("a version that asks", JOB(o, 0).state = JOB_CHECKING);
    RUNNER("a version that ended by itself", JOB(o, 0).state = JOB_FAILED);
    RUNNER("a version with consequences", JOB(o, 0).flags |= JOBF_UNTOLD);
    RUNNER("two versions that run", JOB(o, 0).state = JOB_RUNNING);
    struct options gated = service_options();
    gated.demand.pool = SLICE("default");
    gated.gates = GATE_BIT(GATE_APPROVAL);
    RUNNER("a version that cannot run",
           ((struct snap_profile *)o->profiles.at)[0].options = corrupt_bytes(&forge, &options_desc, &gated));
    struct rec_job twins[] = {{.name = SLICE("a")}, {.name = SLICE("b")}};
    struct snap_job two[2];
    FORGED_BY(r, "a version that is none",
              CHANGE(OBJ_FLOW, snap_flow, if (o->id == NEW) o->job_count = 2) CHANGE(
                  OBJ_JOBS, snap_jobs, if (o->flow == NEW) {
                      two[0] = two[1] = JOB(o, 0);
                      for (int i = 0; i < 2; i++) two[i].text = corrupt_bytes(&forge, &rec_job_desc, &twins[i]);
                      o->jobs = (struct tlv_list){two, 2};
                  }));
#undef RUNNER
}

static void stages_in_a_snapshot(void **state) {
    struct fixture *r = *state;
    struct options sets[2] = {fixture_options(), fixture_options()};
    sets[1].stage = FLOW_STAGE_FINALLY;
    r->timeout_ms = 1000;
    assert_ok(fixture_submit_sets(r, sets, 2, (const char *[]){"a", "clean@1"}, 2, false));
    SOUND(r, OBJ_END, snap_end, (void)0);
#define STAGE(word, ...) FORGED(r, OBJ_FLOW, snap_flow, word, __VA_ARGS__)
    STAGE("a flow of a time that cannot be", o->timeout_ms = -1);
    STAGE("a flow of a time that cannot be", o->began_ms = -1);
    STAGE("a flow of a time that cannot be", o->deadline_ms = INT64_MAX);
    STAGE("left its main jobs and not ended them", o->stage = FLOW_STAGE_FINALLY, o->more = true);
    STAGE("left its main jobs and not ended them", o->stage = FLOW_STAGE_OVER, o->unwinding = UNWIND_STOPPING);
    STAGE("over before its last stage", o->state = FLOW_FAILED);
    STAGE("a sweep of a flow without stages", o->has_finale = false, o->timeout_ms = o->began_ms = 0,
          o->sweep = SWEEP_STAGE);
#undef STAGE
}

static void deploying_jobs_in_a_snapshot(void **state) {
    struct fixture *r = *state;
    services(r);
    struct options gated = service_options(), plain = fixture_options();
    gated.demand.pool = SLICE("default");
    gated.gates = GATE_BIT(GATE_APPROVAL);
    plain.demand.pool = SLICE("default");
#define SET(i, set) ((struct snap_profile *)o->profiles.at)[i].options = corrupt_bytes(&forge, &options_desc, set)
#define DEPLOYS(word, ...) \
    FORGED(                \
        r, OBJ_JOBS, snap_jobs, word, if (o->flow == LATER) { __VA_ARGS__; })
    DEPLOYS("a service without options, or", JOB(o, 0).runner_profile = 0);
    DEPLOYS("a service without options", JOB(o, 0).runner_profile = 9);
    DEPLOYS("a service that cannot run", SET(JOB(o, 0).runner_profile - 1, &gated));
    DEPLOYS("a service that cannot run", SET(JOB(o, 0).runner_profile - 1, &plain));
    DEPLOYS("another kind of job", SET(JOB(o, 0).profile, &plain));
    DEPLOYS("children of no foreach", JOB(o, 0).child_profile = 1);
    DEPLOYS("without a key", JOB(o, 0).from_flow = 1);
#undef DEPLOYS
}

/* ---- policies ---- */

static void permissions_that_do_not_fit_are_refused(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_OUTPUT);
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
    MISFIT(r, REC_REVOKED, "not there", .flow = 9);
    MISFIT(r, REC_REVOKED, "a permission that holds", .flow = 1);
    assert_ok(fixture_attach(r, "w", 1, 1));
    MISFIT(r, REC_REVOKED, "not ready", .flow = 1);
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_OK));
    uint64_t question = fixture_answer(r, ref_of(1, 0), VERDICT_ALLOW).question.v;
    MISFIT(r, REC_VERDICT, "could not be evaluated", .question = question, .verdict = VERDICT_FAIL);
}

/* ---- foreach jobs ---- */

static void expand(struct fixture *r, uint64_t flow, uint32_t ordinal, uint32_t count) {
    struct cmd_verdict c = fixture_answer(r, ref_of(flow, ordinal), VERDICT_ALLOW);
    c.item_count = count;
    if (count) c.items = slice_of(hash, 32);
    assert_ok(fixture_send_verdict(r, &c));
}

/* A foreach job that has no options for children never gets any. */
static void a_foreach_job_without_options(void **state) {
    struct fixture *r = *state;
    struct options set = fixture_options();
    set.demand.pool = SLICE("default");
    set.gates = GATE_BIT(GATE_EXPANSION);
    set.max_parallel = 1;
    for (uint32_t undo = 0; undo < 2; undo++) { /* with something to say about it, and without */
        struct rec_job job = {.name = SLICE("x"), .undo_profile = undo};
        struct record records[2] = {{.kind = REC_SUBMITTED, .version = RECORD_VERSION},
                                    {.kind = REC_EXPANDED, .version = RECORD_VERSION}};
        records[0].body.as_REC_SUBMITTED =
            (struct rec_submitted){.flow = 1, .head.tenant = SLICE("acme"), .profiles = {&set, 1}, .jobs = {&job, 1}};
        records[1].body.as_REC_EXPANDED =
            (struct rec_expanded){.flow = 1, .question = 1, .count = 1, .items = slice_of(hash, 32)};
        struct engine *e = fixture_replay(r);
        struct why why = {""};
        for (uint32_t i = 0; i < 2; i++) {
            struct buf frame;
            buf_init(&frame, 1 << 16);
            record_encode(&records[i], &frame);
            struct batch b = corrupt_batch(e, buf_slice(&frame));
            assert_int_equal(engine_replay(e, &b, &why), i == 0 ? ERR_OK : ERR_CORRUPT);
            buf_fini(&frame);
        }
        assert_non_null(strstr(why.text, "items for no foreach"));
        engine_free(e);
    }
}

/* Flow 1: "map" of four has a child that waits to begin again, two under way and one that has not begun; "none" had no
 * items; "bad" of two ended with both children failed. "b" is a plain job, "c" one with a compensation. */
enum { MAP, NONE, BAD, B, C };
static void foreach_jobs(struct fixture *r) {
    struct options sets[] = {fixture_options(), fixture_options(), fixture_options()};
    for (uint32_t i = 0; i < 2; i++) {
        sets[i].gates = GATE_BIT(GATE_EXPANSION);
        sets[i].max_parallel = 2;
        sets[i].retries = 0;
    }
    const char *jobs[] = {"map", "none", "bad", "b@2", "c@2~2"};
    assert_ok(fixture_submit_sets(r, sets, 3, jobs, 5, true));
    assert_ok(fixture_attach(r, "w", 1, 4));
    expand(r, 1, NONE, 0);
    expand(r, 1, BAD, 2);
    for (uint32_t i = 0; i < 2; i++) assert_ok(fixture_exit(r, "w", ref_of(1, FIRST_CHILD_ORDINAL + i), 1, 1));
    assert_int_equal(fixture_state(r, 1, BAD), JOB_FAILED);
    expand(r, 1, MAP, 4);
    uint32_t first = FIRST_CHILD_ORDINAL + 2;
    assert_ok(fixture_exit(r, "w", ref_of(1, first), 1, 1));
    assert_ok(fixture_retry(r, ref_of(1, first)));
    assert_ok(fixture_detach(r, "w", 1));
}

static void foreach_jobs_in_a_snapshot(void **state) {
    struct fixture *r = *state;
    foreach_jobs(r);
    SOUND(r, OBJ_END, snap_end, (void)0);
#define OF(ordinal, word, ...) \
    FORGED(                    \
        r, OBJ_EXPANSION, snap_expansion, word, if (o->job == (ordinal)) { __VA_ARGS__; })
    OF(MAP, "before the children of the last", forge.copies = 2);
    OF(MAP, "children of no job", o->made = o->next = o->again = 0, forge.copies = 2);
    OF(NONE, "or twice", forge.copies = 2);
    OF(NONE, "children of no foreach", o->job = B);
    OF(NONE, "children of no foreach", o->job = C);
    OF(BAD, "children of no foreach", forge.copies = 0);
    OF(MAP, "children of no job", o->flow = 9);
    OF(MAP, "no ordinal", o->first = NO_ORDINAL - 1);
    OF(MAP, "a pass over no children", o->pass_next = o->next + 1);
    OF(MAP, "a pass over no children", o->again = o->next + 1);
    OF(BAD, "begin again after all is over", o->pass = SWEEP_RERUN);
    OF(BAD, NULL, o->pass = SWEEP_CANCEL);
    const uint8_t causes[] = {CAUSE_REQUEST, CAUSE_SAGA, CAUSE_DEADLINE, CAUSE_CHILDREN};
    for (uint32_t i = 0; i < 4; i++) OF(MAP, NULL, o->cause = causes[i]);
    OF(MAP, "for no reason", o->cause = CAUSE_UPSTREAM);
#undef OF
#define CHILDREN(ordinal, word, ...) \
    FORGED(                          \
        r, OBJ_CHILDREN, snap_children, word, if (o->job == (ordinal)) { __VA_ARGS__; })
    CHILDREN(MAP, "a child that cannot be", CHILD(o, 0).job.used = 70000);
    CHILDREN(MAP, "more children than the foreach has", o->children.count = 0);
    CHILDREN(MAP, "another foreach", o->flow = 2);
    CHILDREN(MAP, "another foreach", o->job = NONE);
    CHILDREN(BAD, "waits for ever", CHILD(o, 0).job.state = JOB_WAITING, CHILD(o, 0).job.parents_open = 1,
             CHILD(o, 0).job.flags = 0);
    CHILDREN(BAD, "under way of a job that is not", CHILD(o, 0).job.state = JOB_WAITING, CHILD(o, 0).job.flags = 0);
#undef CHILDREN
    FORGED_BY(r, "inside a foreach",
              CHANGE(OBJ_CHILDREN, snap_children, if (o->job == MAP) forge.copies = 0)
                  CHANGE(OBJ_RUN, snap_run, forge.copies = 0));
    for (uint32_t done = 0; done < 2; done++) /* one that is called off by a pass that has yet to come to it */
        FORGED_BY(r, done ? "waits for ever" : NULL,
                  CHANGE(OBJ_EXPANSION, snap_expansion, if (o->job == BAD) o->pass = SWEEP_CANCEL, o->pass_next = done,
                         o->cause = CAUSE_UPSTREAM)
                      CHANGE(
                          OBJ_CHILDREN, snap_children, if (o->job == BAD) {
                              CHILD(o, 0).job.state = JOB_WAITING;
                              CHILD(o, 0).job.parents_open = 1;
                              CHILD(o, 0).job.flags = 0;
                          }));
    SOUND(r, OBJ_FLOW, snap_flow, o->sweep = SWEEP_RESUME); /* its children come back to a flow at work */
    struct options asks = fixture_options();
    asks.demand.pool = SLICE("default");
    asks.gates = GATE_BIT(GATE_APPROVAL);
    FORGED(r, OBJ_JOBS, snap_jobs, "a question before a child", SET(JOB(o, MAP).child_profile - 1, &asks));
    FORGED(r, OBJ_JOBS, snap_jobs, "children of no foreach", JOB(o, B).child_profile = JOB(o, MAP).child_profile);
    FORGED(r, OBJ_JOBS, snap_jobs, "children of no foreach", JOB(o, MAP).runner_profile = 1);
}

/* ---- flows that leave ---- */

/* Flow 1 is over, with a dead child of a foreach job; 2 runs, 3 is ready, 4 waits. */
static void flows_that_leave(void **state) {
    struct fixture *r = *state;
    struct options plain = fixture_options();
    plain.retries = 0;
    assert_ok(fixture_attach(r, "w", 1, 4));
    struct options each = plain;
    each.gates = GATE_BIT(GATE_EXPANSION);
    assert_ok(fixture_submit(r, &each, (const char *[]){"map"}, 1));
    expand(r, 1, 0, 1);
    assert_ok(fixture_exit(r, "w", ref_of(1, FIRST_CHILD_ORDINAL), 1, 1));
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
    assert_ok(fixture_submit(r, &plain, (const char *[]){"a"}, 1));
    plain.demand.pool = SLICE("nowhere");
    assert_ok(fixture_submit(r, &plain, (const char *[]){"a"}, 1));
    plain.delay_ms = 1000;
    assert_ok(fixture_submit(r, &plain, (const char *[]){"a"}, 1));
    struct snap_foreign edge = {.child_flow = 2};
    uint32_t work[] = {0};
#define LEAVES(flow, word, ...)                              \
    FORGED(                                                  \
        r, OBJ_FLOW, snap_flow, word, if (o->id == (flow)) { \
            o->sweep = SWEEP_FORGET;                         \
            __VA_ARGS__;                                     \
        })
    LEAVES(1, NULL, (void)0);
    LEAVES(2, "leaves and is not over", (void)0);
    LEAVES(2, "leaves and is not over", o->state = FLOW_SUCCEEDED);
    LEAVES(3, "leaves and is not over", o->state = FLOW_SUCCEEDED);
    LEAVES(4, "leaves and is not over", o->state = FLOW_SUCCEEDED);
    LEAVES(1, "leaves and is not over", o->work = ((struct tlv_u32s){work, 1}));
    LEAVES(1, "leaves and is not over", o->foreign = ((struct tlv_list){&edge, 1}));
    FORGED_BY(r, "leaves and is not over",
              CHANGE(OBJ_FLOW, snap_flow, if (o->id == 2) o->sweep = SWEEP_FORGET, o->state = FLOW_FAILED,
                     o->job_count = 0) CHANGE(OBJ_JOBS, snap_jobs, if (o->flow == 2) forge.copies = 0));
    FORGED_BY(r, "children of a flow that left",
              CHANGE(OBJ_FLOW, snap_flow, if (o->id == 1) o->sweep = SWEEP_FORGET)
                  CHANGE(OBJ_EXPANSION, snap_expansion, o->is_open = true));
    FORGED_BY(r, "children of a flow that left",
              CHANGE(OBJ_FLOW, snap_flow, if (o->id == 1) o->sweep = SWEEP_FORGET)
                  CHANGE(OBJ_EXPANSION, snap_expansion, o->pass = SWEEP_CANCEL));
#undef LEAVES
}

/* ---- kept results ---- */

static void submit_keyed(struct fixture *r, struct command *cmd, const struct options *o, bool has_key) {
    static struct job_spec spec;
    spec = (struct job_spec){.name = SLICE("a")};
    if (has_key) spec.cache_key = slice_of(hash, 32);
    *cmd = (struct command){.kind = CMD_SUBMIT, .tenant = slice_str(r->tenant)};
    cmd->as.submit.jobs = (struct cmd_jobs){o, 1, &spec, 1, false};
}

static void kept_results_that_do_not_fit_are_refused(void **state) {
    struct fixture *r = *state;
    struct options plain = fixture_options();
    struct command cmd;
    assert_ok(fixture_attach(r, "w", 1, 4));
    submit_keyed(r, &cmd, &plain, true);
    assert_ok(fixture_command(r, &cmd));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_OK));
    struct options sets[] = {plain, plain};
    assert_ok(fixture_submit_sets(r, sets, 2, (const char *[]){"a~1"}, 1, false)); /* more to say of it, and no key */
    submit_keyed(r, &cmd, &plain, true);
    engine_begin(r->engine, &r->in);
    engine_command(r->engine, &cmd); /* the pass stops before it is given the result */
    fixture_flush(r);
    assert_int_equal(fixture_state(r, 3, 0), JOB_READY);
    MISFIT(r, REC_MEMO_KEPT, "without a cache key", .flow = 2);
    MISFIT(r, REC_MEMO_HIT, "without a cache key", .flow = 2, .from_flow = 1);
    MISFIT(r, REC_MEMO_HIT, "without a cache key", .flow = 9, .from_flow = 1);
    MISFIT(r, REC_MEMO_HIT, "a result of another job", .flow = 3, .from_flow = 2);
    MISFIT(r, REC_MEMO_HIT, "a result of another job", .flow = 3, .from_flow = 1, .from_ordinal = 1);
    FITTING(r, REC_MEMO_HIT, .flow = 3, .from_flow = 1);
#define MEMO(word, ...) FORGED(r, OBJ_MEMO, snap_memo, word, __VA_ARGS__)
    MEMO(NULL, (void)0);
    MEMO("of nobody, or twice", o->tenant = SLICE("nobody"));
    MEMO("of nobody, or twice", o->key.len = 0);
    MEMO("of nobody, or twice", o->flow = 0);
    MEMO("of nobody, or twice", o->expires_ms = -1);
    MEMO("of nobody, or twice", o->expires_ms = INT64_MAX);
    MEMO("of nobody, or twice", forge.copies = 2);
    MEMO("of nobody, or twice", o->artifacts = SLICE("xx"));
#undef MEMO
    fixture_tick(r, 0);
}

/* ---- schedules ---- */

static void set_schedule(struct fixture *r, const char *name) {
    struct options o;
    options_default(&o);
    struct job_spec spec = {.name = SLICE("a")};
    struct command cmd = {.kind = CMD_SCHEDULE, .tenant = SLICE("acme")};
    cmd.as.schedule =
        (struct cmd_schedule){.name = slice_str(name), .expression = SLICE("daily"), .jobs = {&o, 1, &spec, 1, false}};
    assert_ok(fixture_command(r, &cmd));
}

static void schedules_that_do_not_fit_are_refused(void **state) {
    struct fixture *r = *state;
    set_schedule(r, "one");
    set_schedule(r, "two");
    int64_t slots[] = {1000, 2000}, now = r->in.wall.ms;
    struct command cmd = {.kind = CMD_SCHEDULE_BACKFILL, .tenant = SLICE("acme")};
    cmd.as.schedule_name = (struct cmd_schedule_name){.name = SLICE("one"), .slots = slots, .slot_count = 2};
    assert_ok(fixture_command(r, &cmd)); /* the first became flow 1, the second waits */
    struct options set = fixture_options();
    set.demand.pool = SLICE("default");
    struct rec_job job = {.name = SLICE("a")};
#define FIRED(word, name_, ...)                                                                                     \
    CORRUPT_RECORD(r, REC_SUBMITTED, *(word) ? ERR_CORRUPT : ERR_OK, word, .flow = 9, .head.tenant = SLICE("acme"), \
                   .profiles = {&set, 1}, .jobs = {&job, 1}, .schedule = SLICE(name_), __VA_ARGS__)
    FIRED("", "one", .fire = FIRE_SLOT, .slot_ms = now + 1);
    FIRED("", "one", .fire = FIRE_BACKFILL, .slot_ms = 2000);
    FIRED("a schedule that is not there", "no", .slot_ms = now + 1);
    FIRED("a slot that was dealt with", "one", .fire = FIRE_SLOT, .slot_ms = now);
    FIRED("a slot that does not wait", "two", .fire = FIRE_WAITED, .slot_ms = 2000);
    FIRED("another slot than the first", "one", .fire = FIRE_WAITED, .slot_ms = 1000);
    FIRED("", "two", .fire = FIRE_ASKED, .slot_ms = 2000);
    FIRED("a run beside a flow that runs", "one", .fire = FIRE_ASKED, .slot_ms = 2000);
#undef FIRED
#define SLOT .head.tenant = SLICE("acme"), .name = SLICE("two")
    FITTING(r, REC_SCHEDULE_SLOT, SLOT, .slot_ms = now + 1, .what = SLOT_MISSED, .count = 1);
    MISFIT(r, REC_SCHEDULE_SLOT, "not there", .head.tenant = SLICE("acme"), .name = SLICE("no"), .slot_ms = now + 1);
    MISFIT(r, REC_SCHEDULE_SLOT, "was dealt with", SLOT, .slot_ms = now, .what = SLOT_MISSED);
    MISFIT(r, REC_SCHEDULE_SLOT, "became nothing", SLOT, .slot_ms = now + 1, .what = SLOT_FIRED);
    MISFIT(r, REC_SCHEDULE_SLOT, "became nothing", SLOT, .slot_ms = now + 1, .what = SLOT_PAUSED);
#undef SLOT
    struct tlv_list sets = {&set, 1}, jobs = {&job, 1};
    FITTING(r, REC_SCHEDULE, .head.tenant = SLICE("acme"), .name = SLICE("x"), .profiles = sets, .jobs = jobs);
    MISFIT(r, REC_SCHEDULE, "a schedule of nobody", .name = SLICE("x"), .profiles = sets, .jobs = jobs);
    MISFIT(r, REC_SCHEDULE, "without a name", .head.tenant = SLICE("acme"), .profiles = sets, .jobs = jobs);
    MISFIT(r, REC_SCHEDULE_PAUSED, "not there", .head.tenant = SLICE("acme"), .name = SLICE("no"));
    FITTING(r, REC_SCHEDULE_PAUSED, .head.tenant = SLICE("acme"), .name = SLICE("two"), .on = true);
    FITTING(r, REC_SCHEDULE_PAUSED, .head.tenant = SLICE("acme"), .name = SLICE("two")); /* that lasted no time */
}

static void set_on_key(struct fixture *r) {
    struct options o;
    options_default(&o);
    struct job_spec spec = {.name = SLICE("a")};
    struct command cmd = {.kind = CMD_SCHEDULE, .tenant = SLICE("acme")};
    cmd.as.schedule = (struct cmd_schedule){.name = SLICE("keyed"),
                                            .expression = SLICE("key"),
                                            .overlap = OVERLAP_QUEUE,
                                            .jobs = {&o, 1, &spec, 1, false},
                                            .key = SLICE("k"),
                                            .key_prefix = true,
                                            .when = KEY_SET};
    assert_ok(fixture_command(r, &cmd));
    for (uint32_t i = 0; i < 3; i++) { /* the first starts flow 1, the others wait */
        struct store_entry e = {slice_of((const uint8_t *)"k1k2k3" + i * 2, 2), SLICE("v")};
        cmd = (struct command){.kind = CMD_STORE, .tenant = SLICE("acme")};
        cmd.as.store = (struct cmd_store){.op = STORE_SET, .entries = &e, .entry_count = 1};
        assert_ok(fixture_command(r, &cmd));
        fixture_tick(r, 0);
    }
}

static void keys_that_start_schedules_and_do_not_fit_are_refused(void **state) {
    struct fixture *r = *state;
    set_on_key(r);
    set_schedule(r, "clock");
    struct options set = fixture_options();
    set.demand.pool = SLICE("default");
    struct rec_job job = {.name = SLICE("a")};
    struct tlv_list sets = {&set, 1}, jobs = {&job, 1};
#define FIRED(word, name_, key_)                                                                                       \
    CORRUPT_RECORD(r, REC_SUBMITTED, *(word) ? ERR_CORRUPT : ERR_OK, word, .flow = 9, .head.tenant = SLICE("acme"),    \
                   .profiles = {&set, 1}, .jobs = {&job, 1}, .schedule = SLICE(name_), .fire = FIRE_KEY, .slot_ms = 1, \
                   .cause.key = SLICE(key_), .cause.count = 1)
    FIRED("", "keyed", "k2");
    FIRED("another key than the first that waits", "keyed", "k3");
    FIRED("another key than the first that waits", "keyed", "");
    FIRED("another key than the first that waits", "clock", "k2");
#undef FIRED
#define ABOUT .head.tenant = SLICE("acme"), .name = SLICE("x"), .profiles = sets, .jobs = jobs
    FITTING(r, REC_SCHEDULE, ABOUT, .when = KEY_HOW_ALL, .key = SLICE("k"));
    MISFIT(r, REC_SCHEDULE, "an unknown change", ABOUT, .when = 8, .key = SLICE("k"));
    MISFIT(r, REC_SCHEDULE, "an interval below nothing", ABOUT, .when = KEY_SET, .min_interval_ms = -1);
#undef ABOUT
    struct snap_change twice[] = {{.key = SLICE("k2"), .how = KEY_SET, .count = 1},
                                  {.key = SLICE("k2"), .how = KEY_SET, .count = 1}};
#define SCHEDULE(word, which, ...) \
    FORGED(                        \
        r, OBJ_SCHEDULE, snap_schedule, word, if (nth == (which)) { __VA_ARGS__; })
    SCHEDULE(NULL, 0, (void)0);
    SCHEDULE("a key that waits twice", 0, o->changes = ((struct tlv_list){twice, 2}));
    SCHEDULE("a change of a key that is none", 0, ((struct snap_change *)o->changes.at)[0].count = 0);
    SCHEDULE("a change of a key that is none", 0, ((struct snap_change *)o->changes.at)[0].how = 0);
    SCHEDULE("of a schedule without one", 1, o->changes = ((struct tlv_list){twice, 1}));
    SCHEDULE("of a schedule without one", 1, o->started_ms = 1);
#undef SCHEDULE
}

static void schedules_in_a_snapshot(void **state) {
    struct fixture *r = *state;
    set_schedule(r, "one");
    set_schedule(r, "two");
    int64_t slots[] = {1000, 2000};
    struct command cmd = {.kind = CMD_SCHEDULE_BACKFILL, .tenant = SLICE("acme")};
    cmd.as.schedule_name = (struct cmd_schedule_name){.name = SLICE("one"), .slots = slots, .slot_count = 2};
    assert_ok(fixture_command(r, &cmd));
    struct snap_note notes[SCHEDULE_NOTES + 1] = {{.first_ms = 1}};
#define SCHEDULE(word, ...) \
    FORGED(                 \
        r, OBJ_SCHEDULE, snap_schedule, word, if (nth == 0) { __VA_ARGS__; })
    SCHEDULE(NULL, (void)0);
    SCHEDULE("snapshot object schedule", o->record = SLICE("xx"));
    SCHEDULE("a schedule twice", forge.copies = 2);
    SCHEDULE("a revision twice", o->revision = 0);
    FORGED(r, OBJ_SCHEDULE, snap_schedule, "a revision twice", o->revision = 1);
    SCHEDULE("a record to come", o->revision = 1000000);
    SCHEDULE("too many notes", o->notes = ((struct tlv_list){notes, SCHEDULE_NOTES + 1}));
    SCHEDULE("waits for nothing", ((struct snap_waiting *)o->waiting.at)[0].fire = FIRE_COUNT);
    /* what its record says */
    struct options set = fixture_options();
    set.demand.pool = SLICE("default");
    struct rec_job job = {.name = SLICE("a")};
    const struct rec_schedule good = {
        .head.tenant = SLICE("acme"), .name = SLICE("one"), .profiles = {&set, 1}, .jobs = {&job, 1}};
    struct rec_schedule rec = good;
#define RECORD(word) SCHEDULE(word, o->record = corrupt_bytes(&forge, record_desc(REC_SCHEDULE), &rec))
    RECORD(NULL);
    rec.head.tenant = SLICE("nobody");
    RECORD("a schedule of nobody");
    rec = good;
    rec.name.len = 0;
    RECORD("a schedule of nobody");
    rec = good;
    job = (struct rec_job){.name = SLICE("a"), .profile = 1};
    RECORD("a job without options");
    job = (struct rec_job){.name = SLICE("a"), .undo_profile = 2};
    RECORD("a compensation without options");
    job = (struct rec_job){.name = SLICE("a"), .service = SLICE("web"), .runner_profile = 2};
    RECORD("a service without options");
    job = (struct rec_job){.name = SLICE("a"), .child_profile = 2};
    RECORD("children without options");
    uint32_t itself[] = {0};
    job = (struct rec_job){.name = SLICE("a"), .parents = {itself, 1}};
    RECORD("a parent that comes after its child");
#undef RECORD
#undef SCHEDULE
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(records_about_services),
        FIXTURE_TEST(jobs_that_deploy),
        FIXTURE_TEST(a_share_of_more_than_all),
        FIXTURE_TEST(options_that_are_no_options),
        FIXTURE_TEST(versions_in_a_snapshot),
        FIXTURE_TEST(stages_in_a_snapshot),
        FIXTURE_TEST(deploying_jobs_in_a_snapshot),
        FIXTURE_TEST(permissions_that_do_not_fit_are_refused),
        FIXTURE_TEST(a_foreach_job_without_options),
        FIXTURE_TEST(foreach_jobs_in_a_snapshot),
        FIXTURE_TEST(flows_that_leave),
        FIXTURE_TEST(kept_results_that_do_not_fit_are_refused),
        FIXTURE_TEST(schedules_that_do_not_fit_are_refused),
        FIXTURE_TEST(keys_that_start_schedules_and_do_not_fit_are_refused),
        FIXTURE_TEST(schedules_in_a_snapshot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
