/* spec_params_test.c: parameters of flow files: what their types take, what their bounds refuse, in which words. */
#include "test.h"

#include <stdio.h>

#include "flowlab.h"
#include "limit.h"

/* A flow with one parameter `p`, shown to an expression; what the expression sees of it, as JSON. */
static const char *seen(const char *definition, const char *given) {
    static struct flowlab l;
    static char out[512];
    char text[1024];
    flowlab_init(&l);
    snprintf(text, sizeof text, "params: {p: %s}\njobs: {a: {run: x, when: params.p ~= nil}}\n", definition);
    enum err e = flowlab_read(&l, slice_str(text), given);
    struct slice params = e == ERR_OK ? flowlab_run(&l, "a").params : slice_str(l.why.text);
    snprintf(out, sizeof out, "%.*s", SLICE_FMT(params));
    flowlab_fini(&l);
    return out;
}

static void is_seen(const char *definition, const char *given, const char *wanted) {
    const char *got = seen(definition, given);
    if (strcmp(got, wanted) != 0) fail_msg("%s with %s: found %s", definition, given != NULL ? given : "nothing", got);
}

static void is_refused(const char *definition, const char *given, const char *words) {
    const char *got = seen(definition, given);
    if (strstr(got, words) == NULL)
        fail_msg("%s with %s: found %s", definition, given != NULL ? given : "nothing", got);
}

static void a_value_is_what_its_type_says(void **state) {
    (void)state;
    is_seen("{type: string}", "p=7", "{\"p\":\"7\"}");
    is_seen("{type: string, default: 2026}", NULL, "{\"p\":\"2026\"}");
    is_seen("{type: integer}", "p=007", "{\"p\":7}");
    is_seen("{type: integer}", "p=-0", "{\"p\":0}");
    is_seen("{type: integer, default: '5'}", NULL, "{\"p\":5}");
    is_seen("{type: number}", "p=1.50", "{\"p\":1.50}");
    is_seen("{type: number}", "p=-2e3", "{\"p\":-2e3}");
    is_seen("{type: boolean}", "p=true", "{\"p\":true}");
    is_seen("{type: boolean, default: false}", NULL, "{\"p\":false}");
    is_seen("{type: date}", "p=2028-02-29", "{\"p\":\"2028-02-29\"}");
    is_seen("{type: date, default: 2026-01-01}", NULL, "{\"p\":\"2026-01-01\"}");
    is_seen("{type: time}", "p=2026-03-31T08:00:00+02:00", "{\"p\":\"2026-03-31T08:00:00+02:00\"}");
    is_seen("{type: duration}", "p=1h30m", "{\"p\":\"1h30m\"}");
    is_seen("{type: list, default: [a, 1, {b: null}]}", NULL, "{\"p\":[\"a\",1,{\"b\":null}]}");
    is_seen("{type: list}", "p=[1,[2]]", "{\"p\":[1,[2]]}");
    is_seen("{type: object}", "p={\"a\":{\"b\":1}}", "{\"p\":{\"a\":{\"b\":1}}}");
    is_seen("{type: json}", "p=\"7\"", "{\"p\":\"7\"}");
    is_seen("{type: json}", "p=null", "{\"p\":null}");
    is_seen("{type: json, default: some text}", NULL, "{\"p\":\"some text\"}");
}

/* As it always was: a short form has the type of its default, and one without looks like what it is. */
static void a_short_form_is_what_its_default_is(void **state) {
    (void)state;
    is_seen("x", "p=7", "{\"p\":\"7\"}");
    is_seen("3", "p=7", "{\"p\":7}");
    is_seen("true", "p=false", "{\"p\":false}");
    is_seen("", "p=7", "{\"p\":7}");
    is_seen("", "p=0x10", "{\"p\":\"0x10\"}"); /* no number of JSON */
    is_seen("", "p=007", "{\"p\":\"007\"}");
    is_seen("", "p=.5", "{\"p\":\".5\"}");
    is_refused("3", "p=x", "flow.yaml:1:10: parameter `p` is a number in this flow, found `x`");
    is_refused("[1]", NULL, "a parameter that is a list has `type: list`");
}

static void another_type_is_refused(void **state) {
    (void)state;
    is_refused("{type: integer}", "p=1.5", "flow.yaml:1:10: parameter `p` is `1.5`; expected an integer");
    is_refused("{type: integer}", "p=99999999999999999999", "expected an integer");
    is_refused("{type: integer}", "p=", "parameter `p` is ``; expected an integer");
    is_refused("{type: number}", "p=0x10", "expected a number");
    is_refused("{type: number}", "p=1e999", "expected a number");
    is_refused("{type: boolean}", "p=yes", "parameter `p` is `yes`; expected true or false");
    is_refused("{type: date}", "p=2026-02-29", "parameter `p` is `2026-02-29`; expected a date like 2026-03-31");
    is_refused("{type: date}", "p=2026-02-28T08:00", "expected a date like 2026-03-31");
    is_refused("{type: time}", "p=2026-02-28T08:00", "expected a time like 2026-03-31T08:00:00Z");
    is_refused("{type: duration}", "p=90", "expected a duration like 90s or 1h30m");
    is_refused("{type: list}", "p={}", "expected a list in JSON, like [\"a\", \"b\"]");
    is_refused("{type: list}", "p=a,b", "expected a list in JSON");
    is_refused("{type: object}", "p=[]", "expected an object in JSON, like {\"a\": 1}");
    is_refused("{type: json}", "p=hello", "parameter `p` is `hello`; expected JSON");
    is_refused("{type: date, default: monday}", NULL, "flow.yaml:1:35: parameter `p` is `monday`; expected a date");
}

static void bounds_hold(void **state) {
    (void)state;
    static const char n[] = "{type: integer, min: 1, max: 9}", d[] = "{type: date, min: 2026-01-01}";
    is_seen(n, "p=1", "{\"p\":1}");
    is_seen(n, "p=09", "{\"p\":9}");
    is_refused(n, "p=0", "parameter `p` is `0`; expected an integer from 1 to 9");
    is_refused(n, "p=10", "expected an integer from 1 to 9");
    is_refused("{type: number, max: 0.5}", "p=0.51", "expected a number, 0.5 or less");
    is_seen("{default: 3, min: 1}", "p=1.5", "{\"p\":1.5}");
    is_refused("{default: 3, min: 1}", "p=0", "expected a number, 1 or more");
    is_seen(d, "p=2026-01-01", "{\"p\":\"2026-01-01\"}");
    is_refused(d, "p=2025-12-31", "expected a date like 2026-03-31, 2026-01-01 or later");
    is_refused("{type: time, max: '2026-01-01T00:00:00Z'}", "p=2026-01-01T00:00:01Z",
               "2026-01-01T00:00:00Z or earlier");
    is_seen("{type: time, max: '2026-01-01T00:00:00Z'}", "p=2026-01-01T02:00:00+02:00",
            "{\"p\":\"2026-01-01T02:00:00+02:00\"}");
    is_refused("{type: duration, min: 1m, max: 2h}", "p=59s", "expected a duration like 90s or 1h30m from 1m to 2h");
    is_seen("{type: duration, min: 1m, max: 2h}", "p=120m", "{\"p\":\"120m\"}");
}

static void choices_and_patterns_hold(void **state) {
    (void)state;
    is_seen("{type: integer, choices: [1, 2]}", "p=02", "{\"p\":2}");
    is_refused("{type: integer, choices: [1, 2]}", "p=3", "parameter `p` is `3`; expected one of 1, 2");
    is_refused("{choices: [small, large]}", "p=lagre", "expected one of small, large; did you mean `large`?");
    is_refused("{choices: [small, large]}", NULL, "parameter `p` is required (one of small, large): pass -p p=VALUE");
    is_seen("{pattern: 'v[0-9]+'}", "p=v12", "{\"p\":\"v12\"}");
    is_refused("{pattern: 'v[0-9]+'}", "p=12", "parameter `p` is `12`; expected a text that fits `v[0-9]+`");
    is_refused("{pattern: 'v[0-9]+', default: x}", NULL, "expected a text that fits `v[0-9]+`");
    is_refused("{type: date, required: true, env: DAY}", NULL,
               "parameter `p` is required (a date like 2026-03-31): pass -p p=VALUE, or set DAY and pass --allow-env");
}

static void a_definition_that_cannot_be_meant_is_refused(void **state) {
    (void)state;
    is_refused("{type: int}", NULL, "expected a type: one of string, integer, number");
    is_refused("{type: integr}", NULL, "flow.yaml:1:20: there is no type `integr`; did you mean `integer`?");
    is_refused("{type: 5}", NULL, "expected a type: one of string, integer, number, boolean, date");
    is_refused("{typ: integer}", NULL, "a parameter has no key `typ`; did you mean `type`?");
    is_refused("{min: 1}", NULL, "`min` and `max` need `type: integer`");
    is_refused("{type: string, max: 1}", NULL, "`min` and `max` need `type: integer`");
    is_refused("{type: integer, min: 1.5}", NULL, "expected an integer for `min`, found `1.5`");
    is_refused("{type: integer, min: [1]}", NULL, "expected an integer for `min`, found an array");
    is_refused("{type: integer, min: 3, max: 2}", NULL, "`min` is more than `max`");
    is_refused("{type: integer, choices: [1, x]}", NULL, "expected an integer for a choice, found `x`");
    is_refused("{type: integer, choices: []}", NULL, "an empty list of choices allows no value");
    is_refused("{type: list, choices: [a]}", NULL, "`choices` are for plain values, not for type `list`");
    is_refused("{choices: 5}", NULL, "expected a list of values, found a number");
    is_refused("{type: date, pattern: x}", NULL, "`pattern` is for `type: string`, not for type `date`");
    is_refused("{pattern: '(a'}", NULL, "flow.yaml:1:23: character 3 of the pattern: `(` without its `)`");
    is_refused("{pattern: [a]}", NULL, "expected a regular expression, found an array");
    is_refused("{required: true, default: x}", NULL, "a parameter is `required` or has a `default`, not both");
    is_refused("{required: false}", NULL, "needs a `default`, such as \"\"");
    is_refused("{default: [a]}", NULL, "expected a plain value, found an array");
    is_refused("{default: {a: 1}, type: string}", NULL, "expected a plain value, found an object");
}

/* What a slot decides is tried out with some slot. */
static void a_slot_gives_texts(void **state) {
    (void)state;
    struct flowlab l;
    flowlab_init(&l);
    l.has_slot = true;
    const char *day = "params: {p: {type: date, default: '${schedule.date}'}}\njobs: {a: 'x ${params.p}'}\n";
    assert_int_equal(flowlab_read(&l, slice_str(day), NULL), ERR_OK);
    assert_int_equal(flowlab_read(&l, slice_str(day), "p=2026-01-02"), ERR_OK);
    assert_int_equal(flowlab_read(&l, slice_str(day), "p=soon"), ERR_INVALID);
    assert_has(l.why.text, "expected a date like 2026-03-31");
    const char *wrong = "params: {p: {type: date, default: '${schedule.slot}'}}\njobs: {a: 'x ${params.p}'}\n";
    assert_int_equal(flowlab_read(&l, slice_str(wrong), NULL), ERR_INVALID);
    assert_has(l.why.text, "parameter `p` is `2026-01-01T00:00:00Z`; expected a date like 2026-03-31");
    flowlab_fini(&l);
    is_refused("{type: integer, default: '${schedule.date}'}", NULL, "is a string, a date, a time or a duration");
    is_refused("{type: date, min: 2026-01-01, default: '${schedule.date}'}", NULL, "has no `choices`, `min`, `max`");
}

/* The value is filled in as a text, and is what it is in an expression and as a whole. */
static void values_are_filled_in(void **state) {
    (void)state;
    struct flowlab l;
    flowlab_init(&l);
    const char *text = "params:\n"
                       "  n: {type: integer, default: 2}\n"
                       "  l: {type: list, default: [a, b]}\n"
                       "jobs:\n"
                       "  a: {run: [echo, '${params.l}', 'n${params.n}'], retries: '${params.n}'}\n"
                       "  b: {foreach: params.l, run: 'x ${item}'}\n";
    if (flowlab_read(&l, slice_str(text), "n=05") != ERR_OK) fail_msg("%s", l.why.text);
    const struct wire_run run = flowlab_run(&l, "a");
    const struct wire_arg *argv = run.argv.at;
    assert_true(slice_eq(argv[1].text, SLICE("[\"a\",\"b\"]")));
    assert_true(slice_eq(argv[2].text, SLICE("n5")));
    assert_int_equal(flowlab_options(&l, "a")->attempts_max, 6);
    assert_true(slice_eq(flowlab_run(&l, "b").params, SLICE("{\"n\":5,\"l\":[\"a\",\"b\"]}")));
    flowlab_fini(&l);
}

static void an_object_of_values_is_read(void **state) {
    (void)state;
    struct arena arena;
    struct limits limits;
    const struct json_node *root = NULL;
    struct spec_given *given = NULL;
    uint32_t count = 0;
    struct why why = {{0}};
    arena_init(&arena, 4096, 1 << 20);
    limits_default(&limits);
    struct slice text = SLICE("{\"a\": \"x\", \"b\": 5, \"c\": true, \"d\": null, \"e\": [1, {\"f\": []}]}");
    assert_int_equal(json_tree_read(text, &limits, &arena, &root, &why), ERR_OK);
    assert_int_equal(spec_given_read(root, &arena, &given, &count, &why), ERR_OK);
    assert_int_equal(count, 4);
    assert_true(slice_eq(given[1].value, SLICE("5")) && !given[1].is_json);
    assert_true(slice_eq(given[2].value, SLICE("true")));
    assert_true(slice_eq(given[3].value, SLICE("[1,{\"f\":[]}]")) && given[3].is_json);
    assert_int_equal(json_tree_read(SLICE("[1]"), &limits, &arena, &root, &why), ERR_OK);
    assert_int_equal(spec_given_read(root, &arena, &given, &count, &why), ERR_INVALID);
    assert_has(why.text, "expected an object of at most 256 values");
    arena_fini(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_what_its_type_says),
        cmocka_unit_test(a_short_form_is_what_its_default_is),
        cmocka_unit_test(another_type_is_refused),
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(choices_and_patterns_hold),
        cmocka_unit_test(a_definition_that_cannot_be_meant_is_refused),
        cmocka_unit_test(a_slot_gives_texts),
        cmocka_unit_test(values_are_filled_in),
        cmocka_unit_test(an_object_of_values_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
