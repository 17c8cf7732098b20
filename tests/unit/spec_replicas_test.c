/* spec_replicas_test.c: a service with replicas is a job for each of them, and one behind them. */
#include "test.h"

#include "flowlab.h"

static void good(struct flowlab *l, const char *text) {
    if (flowlab_read(l, slice_str(text), NULL) != ERR_OK) fail_msg("%s", l->why.text);
}

static void assert_slice(struct slice s, const char *text) {
    if (!slice_eq(s, slice_str(text))) fail_msg("`%.*s` is not `%s`", SLICE_FMT(s), text);
}

/* The position of a job among those that are sent. */
static uint32_t place_of(struct flowlab *l, const char *name) {
    return (uint32_t)(flowlab_job(l, name) - (const struct wire_job *)l->flow.part.jobs.at);
}

static bool needs(struct flowlab *l, const char *job, const char *parent) {
    const struct wire_job *j = flowlab_job(l, job);
    for (uint32_t i = 0; i < j->parents.count; i++)
        if (j->parents.at[i] == place_of(l, parent)) return true;
    return false;
}

static void a_service_with_replicas_is_a_job_for_each(void **state) {
    (void)state;
    struct flowlab l;
    flowlab_init(&l);
    good(&l,
         "jobs:\n"
         "  smoke: {run: x, needs: web}\n"
         "  web: {needs: migrate, service: {run: ./serve, name: www, port: auto, replicas: 3, update: start_first}}\n"
         "  migrate: x\n");
    assert_int_equal(l.flow.part.jobs.count, 6);
    assert_slice(flowlab_job(&l, "web.3")->service, "www.3");
    assert_slice(flowlab_run(&l, "web.3").replica_of, "www");
    const struct wire_options *o = flowlab_options(&l, "web.2");
    assert_int_equal(o->kind, JOB_SERVICE);
    assert_int_equal(o->update, UPDATE_START_FIRST);
    assert_slice(o->replica_of, "www");
    assert_int_equal(o->replicas, 0);
    assert_true(needs(&l, "web.1", "migrate") && needs(&l, "web.3", "migrate"));
    assert_true(needs(&l, "web.2", "web.1") && needs(&l, "web.3", "web.2")); /* one after the other */
    assert_false(needs(&l, "web.1", "web.2") || needs(&l, "web.3", "web.1"));
    o = flowlab_options(&l, "web"); /* what needs the service needs all of them */
    assert_int_equal(o->kind, JOB_BARRIER);
    assert_int_equal(o->replicas, 3);
    assert_slice(o->replica_of, "www");
    assert_true(needs(&l, "web", "web.1") && needs(&l, "web", "web.3") && needs(&l, "smoke", "web"));
    flowlab_fini(&l);
    flowlab_init(&l);
    good(&l, "jobs:\n  web: {service: {run: x, replicas: 5, max_parallel: 2}}\n");
    assert_true(needs(&l, "web.3", "web.1") && needs(&l, "web.4", "web.2"));
    assert_int_equal(flowlab_job(&l, "web.2")->parents.count, 0);
    assert_int_equal(flowlab_options(&l, "web.5")->max_parallel, 0);
    flowlab_fini(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_service_with_replicas_is_a_job_for_each),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
