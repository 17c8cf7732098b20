/* parts_test.c: the table of the server's parts: its order is the order of a pass, and every entry keeps the rules of
 * part.h. */
#include "test.h"

#include "part.h"

/* Written a second time, on purpose: whoever moves a part has to know what stood before and behind it. */
static const char *const order[] = {
    "closed_sessions",
    "titan_book",
    "titan_fleet",
    "store_flush",
    "titan_gates",
    "fair_queue",
    "resp",
    "evaluator",
    "history_writer",
    "flow_retention",
    "schedule_slots",
    "blob_gc",
    "event_ring",
    "playground",
    "job_token",
    "identity",
    "store_watch",
    "sessions",
    "subscribers",
    "orion",
    "orion_dags",
    "orion_stream",
    "flow_events",
    "demands",
    "transfers",
    "web",
    "titan",
    "items",
    "assign",
    "ends",
    "flow_source",
    "stats_history",
    "audit",
    "checkpoints",
    "proofs",
    "launch",
    "history_request",
    "oidc",
    "budget",
};

static void parts_stand_in_the_order_of_a_pass(void **state) {
    (void)state;
    assert_int_equal(server_part_count, sizeof order / sizeof order[0]);
    for (uint8_t i = 0; i < server_part_count; i++) assert_string_equal(server_parts[i]->name, order[i]);
}

static void a_part_that_takes_effects_has_a_function_for_them(void **state) {
    (void)state;
    for (uint8_t i = 0; i < server_part_count; i++) {
        const struct server_part *p = server_parts[i];
        assert_int_equal(p->effects != 0, p->effect != NULL);
        assert_int_equal(p->effects & EFFECT_BIT(EFFECT_ANSWER), 0);
        if (p->released != NULL) assert_non_null(p->effect);
    }
}

static void a_part_that_says_when_it_is_due_has_a_turn(void **state) {
    (void)state;
    for (uint8_t i = 0; i < server_part_count; i++) {
        const struct server_part *p = server_parts[i];
        bool has_turn = p->step != NULL || p->flush != NULL;
        if (p->next_due != NULL || p->wakes != 0) assert_true(has_turn);
    }
}

static void a_token_of_a_part_names_the_part(void **state) {
    (void)state;
    for (uint8_t i = 0; i < server_part_count; i++) {
        uint64_t token = part_token(i, 12345);
        assert_true(part_is_token(token));
        assert_int_equal(part_token_slot(token), i);
        assert_int_equal(part_token_number(token), 12345);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_stand_in_the_order_of_a_pass),
        cmocka_unit_test(a_part_that_takes_effects_has_a_function_for_them),
        cmocka_unit_test(a_part_that_says_when_it_is_due_has_a_turn),
        cmocka_unit_test(a_token_of_a_part_names_the_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
