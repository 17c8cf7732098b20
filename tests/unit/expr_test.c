/* expr_test.c: expressions: what they give, what they see, and that nothing in them can run for ever, fill the memory,
 * look out of the box or differ from one run to the next. */
#include "test.h"

#include <stdio.h>

#include "expr.h"
#include "limit.h"
#include "names.h"

static struct limits limits;

static const struct scope_job parents[] = {
    {SLICE("extract"), SLICE("SUCCEEDED"),
     SLICE("{\"rows\": 42, \"ratio\": 0.5, \"ok\": true, \"none\": null, \"big\": 9007199254740993,\n"
           " \"files\": [\"a.csv\", \"b.csv\"], \"by\": {\"z\": 1, \"a\": {\"deep\": [1, null, 3]}}}")},
    {SLICE("map-a"), SLICE("FAILED"), {NULL, 0}},
};
static const struct scope scope = {.params = SLICE("{\"day\": \"2026-01-01\", \"n\": 3}"),
                                   .flow = SLICE("{\"id\": \"f1a\", \"name\": \"etl\", \"labels\": {\"team\": \"x\"}}"),
                                   .schedule = SLICE("{\"slot\": \"2026-03-31T02:30:00+02:00\"}"),
                                   .item = SLICE("{\"name\": \"ann\"}"),
                                   .index = 7,
                                   .jobs = parents,
                                   .job_count = 2};

static int setup(void **state) {
    (void)state;
    limits_default(&limits);
    return 0;
}

static enum err text_of(const char *text, struct buf *out, struct why *why) {
    struct expr_input in = {.name = "test", .text = slice_str(text), .scope = &scope, .limits = &limits};
    buf_init(out, 1 << 20);
    return expr_text(&in, out, why);
}

struct given {
    const char *text, *gives;
};

static const struct given values[] = {
    {"1 + 2", "3"},
    {"6 / 2", "3"},
    {"7 / 2", "3.5"},
    {"0.1 + 0.2", "0.30000000000000004"},
    {"9007199254740993", "9007199254740993"},
    {"'x' .. 1 .. 'y'", "x1y"},
    {"date('2026-03-01')", "2026-03-01"},
    {"date(schedule.slot)", "2026-03-31"},
    {"date(schedule.slot, '-1mo')", "2026-02-28"},
    {"date(schedule.slot, '-1d', 'YYYY/MM/DD hh:mm')", "2026/03/30 00:30"},
    {"date(schedule.slot, 'YYYYMMDD')", "20260331"},
    {"date('2026-03-31', '+1mo', '-1d')", "2026-04-29"},
    {"nil == nil", "true"},
    {"{}", "[]"},
    {"{1, 2, {a = 'b', [\"0\"] = false}}", "[1,2,{\"0\":false,\"a\":\"b\"}]"},
    {"{'a\"b\\n'}", "[\"a\\\"b\\n\"]"},
    {"local t = {} for i = 1, 3 do t[i] = i * i end return t", "[1,4,9]"},
    {"  jobs.extract.outputs.rows\n", "42"},
    {"jobs.extract.outputs.big", "9007199254740993"},
    {"jobs.extract.outputs.ratio * 2", "1"},
    {"jobs.extract.outputs.none", "<test: it gives nil"},
    {"jobs.extract.outputs.by.a.deep", "[1,null,3]"},
    {"jobs.extract.outputs.by.a.deep[2] == null", "true"},
    {"jobs.extract.state", "SUCCEEDED"},
    {"jobs['map-a'].state", "FAILED"},
    {"jobs['map-a'].outputs == nil", "true"},
    {"len(keys(jobs))", "2"},
    {"params.day", "2026-01-01"},
    {"params.n + 1", "4"},
    {"flow.id .. flow.name .. flow.labels.team", "f1aetlx"},
    {"item.name:upper() .. index", "ANN7"},
    {"('Ab c'):lower()", "ab c"},
    {"(' a b\\n'):trim()", "a b"},
    {"('abcdef'):sub(2, -2)", "bcde"},
    {"('abc'):sub(-2)", "bc"},
    {"('abc'):sub(4)", ""},
    {"('abc'):len() + #'abc' + len('abc') + len({1, 2})", "11"},
    {"('a,b,,c'):split(',')", "[\"a\",\"b\",\"\",\"c\"]"},
    {"('a.b.c'):replace('.', '--')", "a--b--c"},
    {"('a.b'):find('.')", "2"},
    {"('a.b'):find('x') == nil", "true"},
    {"('a.b'):starts_with('a.') and ('a.b'):ends_with('.b') and not ('a'):starts_with('ab')", "true"},
    {"('a.b'):contains('.') and contains({1, 'x'}, 'x') and not contains({}, 1)", "true"},
    {"pad(7, 3) .. pad('x', 3) .. pad(1234, 3)", "007  x1234"},
    {"join({1, 'b', 2.5}, '-')", "1-b-2.5"},
    {"range(3)", "[1,2,3]"},
    {"range(5, 7)", "[5,6,7]"},
    {"range(0)", "[]"},
    {"sum(range(100))", "5050"},
    {"map(range(3), function(x, i) return x * i end)", "[1,4,9]"},
    {"filter(range(6), function(x) return x % 2 == 0 end)", "[2,4,6]"},
    {"product('a', {1, 2}, 'b', {'x', 'y'})",
     "[{\"a\":1,\"b\":\"x\"},{\"a\":1,\"b\":\"y\"},{\"a\":2,\"b\":\"x\"},{\"a\":2,\"b\":\"y\"}]"},
    {"product('n', 3)", "[{\"n\":1},{\"n\":2},{\"n\":3}]"},
    {"product('n', {}, 'm', {1, 2})", "[]"},
    {"exclude(product('a', {1, 2}, 'b', {1, 2}), {{a = 1, b = 2}, {a = 2}})", "[{\"a\":1,\"b\":1}]"},
    {"exclude({1, 'x', {a = 1}}, {{a = 1}})", "[1,\"x\"]"},
    {"concat({1}, {}, {2, 3})", "[1,2,3]"},
    {"slice(range(9), 2, 3)", "[2,3]"},
    {"sort({3, 'b', 1.5, 'a', 3})", "[1.5,3,3,\"a\",\"b\"]"},
    {"keys({b = 1, a = 2, [3] = 3, [1] = 1})", "[1,3,\"a\",\"b\"]"},
    {"local s = '' for k, v in pairs({z = 1, y = 2, x = 3}) do s = s .. k .. v end return s", "x3y2z1"},
    {"local s = 0 for i, v in ipairs({5, 6}) do s = s + i * v end return s", "17"},
    {"min(3, 1, 2) .. max({4, 9, 5})", "19"},
    {"floor(2.7) .. ceil(2.1) .. abs(-3)", "233"},
    {"tonumber('12') + tonumber('0x10')", "28"},
    {"tonumber('x') == nil and tonumber({}) == nil", "true"},
    {"tostring({1}) .. tostring(true) .. tostring(null) .. tostring(range)", "[1]truenullfunction"},
    {"json({a = 'x'})", "{\"a\":\"x\"}"},
    {"type(1) .. type('') .. type(null) .. type({})", "numberstringnulltable"},
};

static void expressions_give_values(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct buf out;
        struct why why = {{0}};
        enum err e = text_of(values[i].text, &out, &why);
        if (values[i].gives[0] == '<') {
            if (e == ERR_OK || strstr(why.text, values[i].gives + 1) == NULL)
                fail_msg("%s: expected `%s`, got `%s`", values[i].text, values[i].gives, why.text);
        } else if (e != ERR_OK || !slice_eq(buf_slice(&out), slice_str(values[i].gives))) {
            fail_msg("%s: expected %s, got %.*s (%s)", values[i].text, values[i].gives, SLICE_FMT(buf_slice(&out)),
                     why.text);
        }
        buf_fini(&out);
    }
}

/* Everything that must not work, and what is said instead. */
static const struct given hostile[] = {
    {"while true do end return 1", "eval_steps_max"},
    {"local function f() return f() end return f()", "eval_steps_max"},
    {"local function f(n) return 1 + f(n + 1) end return f(1)", "eval_steps_max"},
    {"map(range(1000), function() for i = 1, 10000 do end return 1 end)", "eval_steps_max"},
    {"range(1, 9223372036854775807)", "eval_steps_max"},
    {"sort(range(50000))", "eval_steps_max"},
    {"local s = pad(0, 1000) s = s .. s .. s .. s s = s .. s .. s .. s local n = 0 "
     "while n < 10000 do tonumber(s) n = n + 1 end return n",
     "eval_steps_max"},
    {"local s = pad(0, 1000) s = s .. s .. s .. s s = s .. s .. s .. s local n = 0 "
     "while n < 20000 do for i = 1, s do end n = n + 1 end return n",
     "eval_steps_max"},
    {"local s = pad('', 1000) s = s .. s .. s .. s s = s .. s .. s .. s local t, a, b = {}, s .. 'a', s .. 'b' "
     "local n = 0 while n < 4000 do t[n + 1] = n % 2 == 0 and a or b n = n + 1 end return #sort(t)",
     "eval_steps_max"},
    {"local s = pad('', 1000) s = s .. s .. s .. s s = s .. s .. s .. s local t, a, b = {}, s .. 'a', s .. 'b' "
     "local n = 0 while n < 4000 do t[n + 1] = a n = n + 1 end "
     "for i in ipairs(range(10)) do contains(t, b) end return 1",
     "eval_steps_max"},
    {"local s = pad(0, 1000) s = s .. s .. s .. s s = s .. s .. s .. s local t = {} "
     "for i = 1, 100 do t[i] = s end for i = 1, 500 do min(t) end return 1",
     "eval_steps_max"},
    {"local t = {} for i = 1, 8000 do t['k' .. i] = 1 end for i = 1, 8000 do t['k' .. i] = nil end "
     "local n = 0 while n < 5000 do len(t) n = n + 1 end return n",
     "eval_steps_max"},
    {"local s = 'xxxxxxxxxxxxxxxx' while true do s = s .. s end return s", "a text of more than 16384 bytes"},
    {"local s = '' while true do s = s .. 'xxxxxxxxxxxxxxxx' end return s", "a text of more than 16384 bytes"},
    {"local s = ('x'):replace('x', pad('', 1000)) s = s .. s .. s .. s for i = 1, 1e5 do local t = s .. i end return 1",
     "eval_bytes_max"},
    {"local t = {} for i = 1, 1e9 do t[i] = {} end return t", "eval_"},
    {"('x'):rep(10)", "attempt to call a nil value (method 'rep')"},
    {"('x'):split('')", "expected a text to split by"},
    {"('x'):gsub('x', 'y')", "attempt to call a nil value (method 'gsub')"},
    {"pcall(function() while true do end end)", "attempt to call a nil value (global 'pcall')"},
    {"coroutine.wrap(function() end)", "attempt to index a nil value (global 'coroutine')"},
    {"setmetatable({}, {})", "attempt to call a nil value (global 'setmetatable')"},
    {"getmetatable('').__index", "attempt to call a nil value (global 'getmetatable')"},
    {"('').__index.upper", "attempt to index a nil value (field '__index')"},
    {"load('return 1')()", "global 'load'"},
    {"require('os')", "global 'require'"},
    {"os.time()", "global 'os'"},
    {"io.open('/etc/passwd')", "global 'io'"},
    {"debug.sethook()", "global 'debug'"},
    {"print(1)", "global 'print'"},
    {"collectgarbage('count')", "global 'collectgarbage'"},
    {"next({})", "global 'next'"},
    {"string.format('%p', {})", "global 'string'"},
    {"_G.x", "global '_G'"},
    {"error({})", "string expected, got table"},
    {"error('my words')", "my words"},
    {"function() end", "a function is no value that can be kept"},
    {"local t = {} t[1] = t return t", "more than 32 levels"},
    {"local t = {1} for i = 1, 31 do t = {t, t, t, t} end return t", "eval_steps_max"},
    {"{1, x = 2}", "a list without holes, or its keys are texts"},
    {"{[1.5] = 2}", "a list without holes, or its keys are texts"},
    {"1 / 0", "not finite"},
    {"sort({{}})", "only numbers and texts have an order"},
    {"'a' + 1", "attempt to perform arithmetic on a string value"},
    {"jobs.extract.outputs.by < 1", "attempt to compare"},
    {"jobs.other.outputs", "attempt to index a nil value (field 'other')"},
    {"\x1bLua", "unexpected symbol"},
    {"1 +", "unexpected symbol near <eof>"},
    {"return", "it gives nil"},
    {"goto x", "expected"},
    {"local x <close> = {} return 1", "variable 'x' got a non-closable value"},
    {"((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
     "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1",
     "C stack overflow"},
};

/* What an expression over a text of 16 KB takes of its budget. */
static int64_t steps_of(const char *function, const char *arguments) {
    static char json[EXPR_STRING_MAX + 64];
    char text[200];
    struct buf out;
    struct why why = {{0}};
    int64_t before = limits.eval_steps_max, left = before;
    (void)snprintf(json, sizeof json, "{\"text\": \"%0*d\"}", (int)EXPR_STRING_MAX, 0);
    (void)snprintf(text, sizeof text, "%s(%s) or 1", function, arguments);
    const struct scope large = {.params = slice_str(json)};
    struct expr_input in = {.name = "test", .text = slice_str(text), .scope = &large, .limits = &limits};
    in.steps_left = &left;
    buf_init(&out, 1 << 20);
    (void)!expr_text(&in, &out, &why);
    buf_fini(&out);
    return before - left;
}

/* Of all of them, also of those that will be added: whatever a function does with a text, it was charged before. */
static void every_function_is_charged_for_its_texts(void **state) {
    (void)state;
    static const char *const calls[] = {"params.text", "1, params.text", "{}, params.text",
                                        "params.text, params.text, params.text"};
    static const char *const inside[] = {"join", "sort", "min", "max", "json", "tostring", NULL};
    int64_t without = steps_of("", "params and 'x'"), multiple = EXPR_STRING_MAX / 16;
    for (size_t i = 0; expr_function(i) != NULL; i++)
        for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++)
            if (steps_of(expr_function(i), calls[c]) < without + (c == 3 ? 3 : 1) * multiple)
                fail_msg("%s(%s) takes only %lld steps", expr_function(i), calls[c],
                         (long long)steps_of(expr_function(i), calls[c]));
    for (size_t i = 0; inside[i] != NULL; i++)
        if (steps_of(inside[i], "{params.text, params.text}") < without + 2 * EXPR_STRING_MAX / 64)
            fail_msg("%s is not charged for texts in a list", inside[i]);
}

static void nothing_leaves_the_box(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        struct buf out;
        struct why why = {{0}};
        enum err e = text_of(hostile[i].text, &out, &why);
        if (e == ERR_OK || strstr(why.text, hostile[i].gives) == NULL)
            fail_msg("%s: expected `%s`, got `%s` (%s)", hostile[i].text, hostile[i].gives, why.text, err_word(e));
        if (strstr(why.text, "0x") != NULL) fail_msg("an address is told: %s", why.text);
        buf_fini(&out);
    }
}

static void conditions_are_true_or_false(void **state) {
    (void)state;
    bool truth = false;
    struct why why = {{0}};
    struct expr_input in = {.name = "when", .text = SLICE("jobs.extract.outputs.rows > 0"), .scope = &scope};
    in.limits = &limits;
    assert_int_equal(expr_truth(&in, &truth, &why), ERR_OK);
    assert_true(truth);
    in.text = SLICE("jobs.extract.outputs.missing");
    assert_int_equal(expr_truth(&in, &truth, &why), ERR_OK);
    assert_false(truth);
    in.text = SLICE("jobs.extract.outputs.rows");
    assert_int_equal(expr_truth(&in, &truth, &why), ERR_INVALID);
    assert_string_equal(why.text, "when: expected true or false, it gives number");
    in.text = SLICE("nil");
    truth = true;
    assert_int_equal(expr_truth(&in, &truth, &why), ERR_OK);
    assert_false(truth);
}

static void check_list(const char *text, const char *items, uint32_t count) {
    struct expr_input in = {.name = "foreach", .text = slice_str(text), .scope = &scope, .limits = &limits};
    struct buf out;
    struct why why = {{0}};
    uint32_t got = 0;
    buf_init(&out, 1 << 20);
    enum err e = expr_list(&in, 5, &out, &got, &why);
    if (items == NULL) {
        if (e == ERR_OK) fail_msg("%s was taken", text);
    } else if (e != ERR_OK || got != count || !slice_eq(buf_slice(&out), slice_str(items))) {
        fail_msg("%s: expected %s, got %.*s (%s)", text, items, SLICE_FMT(buf_slice(&out)), why.text);
    }
    buf_fini(&out);
}

static void lists_have_an_item_per_line(void **state) {
    (void)state;
    check_list("jobs.extract.outputs.files", "[\"a.csv\",\n\"b.csv\"\n]", 2);
    check_list("jobs.extract.outputs.by.a.deep", "[1,\nnull,\n3\n]", 3);
    check_list("params.n", "[1,\n2,\n3\n]", 3);
    check_list("map(jobs.extract.outputs.files, function(f) return {file = f} end)",
               "[{\"file\":\"a.csv\"},\n{\"file\":\"b.csv\"}\n]", 2);
    check_list("{}", "[]", 0);
    check_list("0", "[]", 0);
    check_list("5.0", "[1,\n2,\n3,\n4,\n5\n]", 5);
    check_list("6", NULL, 0);
    check_list("-1", NULL, 0);
    check_list("1.5", NULL, 0);
    check_list("range(6)", NULL, 0);
    check_list("{a = 1}", NULL, 0);
    check_list("'abc'", NULL, 0);
    check_list("nil", NULL, 0);
    check_list("jobs.extract.outputs.rows", NULL, 0);
    check_list("jobs.extract.outputs.nothing", NULL, 0);
    check_list("jobs.extract.outputs.by", NULL, 0);
}

static void names_are_found_in_the_text(void **state) {
    (void)state;
    static const char text[] = "jobs.a.outputs.jobs.x > 0 and 'jobs.no' ~= [[jobs.no]] -- jobs.no\n"
                               "  and jobs[ \"b c\" ].state .. params.day .. x.params.no .. x:params() .. jobs[k]";
    static const struct {
        enum scope_root root;
        const char *name;
    } want[] = {{ROOT_JOBS, "a"}, {ROOT_JOBS, "b c"}, {ROOT_PARAMS, "day"}, {ROOT_JOBS, ""}};
    struct name_ref ref;
    size_t at = 0, count = 0;
    while (names_next(slice_str(text), &at, &ref)) {
        assert_true(count < 4);
        assert_int_equal(ref.root, want[count].root);
        assert_true(slice_eq(ref.name, slice_str(want[count].name)));
        count++;
    }
    assert_int_equal(count, 4);
    assert_int_equal(names_stage(SLICE("1 + params.x")), STAGE_SUBMIT);
    assert_int_equal(names_stage(SLICE("params.x .. flow.id")), STAGE_READY);
    assert_int_equal(names_stage(SLICE("jobs.a.outputs[index]")), STAGE_CHILD);
    at = 0;
    assert_false(names_next(SLICE("\"never ends"), &at, &ref));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_give_values),     cmocka_unit_test(every_function_is_charged_for_its_texts),
        cmocka_unit_test(nothing_leaves_the_box),      cmocka_unit_test(conditions_are_true_or_false),
        cmocka_unit_test(lists_have_an_item_per_line), cmocka_unit_test(names_are_found_in_the_text),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
