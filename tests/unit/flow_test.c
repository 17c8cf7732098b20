/* flow_test.c: what a flow takes of memory, and when. */
#include "engine_fixture.h"

#include <stdlib.h>

#include "flow.h"
#include "state.h"

#define FLOWS (8u * POOL_CHUNK_COUNT) /* whole chunks, and tables as full as they get but for a quarter */

static int setup(void **state) {
    struct fixture *r = calloc(1, sizeof *r);
    assert_non_null(r);
    fixture_init(r);
    *state = r;
    return 0;
}

static int teardown(void **state) {
    fixture_fini(*state);
    free(*state);
    return 0;
}

static const struct flow *last_flow(const struct fixture *r) {
    const struct state *s = engine_state(r->engine);
    return flow_at(s, flow_find(s, (flow_id){s->flow_last}));
}

static void submit(struct fixture *r, const char *const *jobs, uint32_t count) {
    struct options o = fixture_options();
    assert_int_equal(fixture_submit(r, &o, jobs, count), ERR_OK);
}

/* ADR 0102. A million of them is what a queue looks like that other programs fill. */
static void a_flow_of_one_job_is_small(void **state) {
    struct fixture *r = *state;
    const char *const jobs[] = {"a"};
    submit(r, jobs, 1); /* its tenant, its option set */
    size_t before = state_bytes(engine_state(r->engine));
    for (uint32_t i = 0; i < FLOWS; i++) submit(r, jobs, 1);
    size_t each = (state_bytes(engine_state(r->engine)) - before) / FLOWS;
    print_message("%zu bytes\n", each);
    assert_in_range(each, 1, 480);
}

static void only_a_flow_with_edges_has_a_web(void **state) {
    struct fixture *r = *state;
    const char *const alone[] = {"a"}, *const flat[] = {"a", "b", "c"}, *const chain[] = {"a", "b: a"};
    submit(r, alone, 1);
    assert_ptr_equal(last_flow(r)->graph, &flow_graph_none);
    assert_ptr_equal(last_flow(r)->jobs.at, &last_flow(r)->first_job);
    submit(r, flat, 3);
    assert_ptr_equal(last_flow(r)->graph, &flow_graph_none);
    submit(r, chain, 2);
    assert_ptr_not_equal(last_flow(r)->graph, &flow_graph_none);
    assert_int_equal(last_flow(r)->graph->edges.count, 1);
    struct engine *again = fixture_replay(r);
    assert_int_equal(engine_digest(again).lo, engine_digest(r->engine).lo);
    engine_free(again);
    again = fixture_reload(r);
    assert_int_equal(engine_digest(again).lo, engine_digest(r->engine).lo);
    engine_free(again);
}

/* A job more: the place in the flow itself is too small for two. */
static void a_flow_of_one_job_grows(void **state) {
    struct fixture *r = *state;
    const char *const first[] = {"a"}, *const more[] = {"b: a", "c: a b"};
    struct options o = fixture_options();
    assert_int_equal(fixture_submit_sets(r, &o, 1, first, 1, true), ERR_OK);
    uint64_t flow = engine_state(r->engine)->flow_last;
    assert_int_equal(fixture_add(r, flow, &o, more, 2, false), ERR_OK);
    const struct flow *f = last_flow(r);
    assert_int_equal(f->jobs.count, 3);
    assert_ptr_not_equal(f->jobs.at, &f->first_job);
    assert_int_equal(f->jobs.at[0], f->first_job);
    assert_int_equal(f->graph->edges.count, 3);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_flow_of_one_job_is_small),
        TEST(only_a_flow_with_edges_has_a_web),
        TEST(a_flow_of_one_job_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
