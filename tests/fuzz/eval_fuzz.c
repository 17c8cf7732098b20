/* eval_fuzz.c: expressions and templates from unauthenticated. Each ends, within its budget, with a value that is JSON
 * or with a sentence; a template that is escaped comes out as it was; the same input gives the same answer twice. */
#include "expr.h"
#include "json_tree.h"
#include "limit.h"
#include "names.h"
#include "panic.h"
#include "template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct scope_job jobs[] = {
    {SLICE("a"), SLICE("succeeded"), SLICE("{\"n\": 3, \"l\": [1, \"x\", null], \"o\": {\"k\": true}}")},
    {SLICE("b"), SLICE("failed"), {NULL, 0}},
};
static const struct scope scope = {.params = SLICE("{\"p\": \"text\", \"n\": 2}"),
                                   .flow = SLICE("{\"id\": \"f1\", \"labels\": {}}"),
                                   .item = SLICE("[1, {\"x\": \"y\"}]"),
                                   .index = 1,
                                   .jobs = jobs,
                                   .job_count = 2};

static void check_json(struct slice text, const struct limits *limits) {
    struct arena arena;
    const struct json_node *root;
    struct why why = {{0}};
    arena_init(&arena, 4096, (size_t)256 << 20);
    if (json_tree_read(text, limits, &arena, &root, &why) != ERR_OK) PANIC("a value that is no JSON");
    arena_fini(&arena);
}

static void check_expression(struct slice text, const struct limits *limits) {
    struct expr_input in = {"fuzz", text, &scope, limits, NULL};
    struct buf first, second;
    struct why why = {{0}}, again = {{0}};
    uint32_t count = 0;
    bool truth;
    buf_init(&first, 1 << 16);
    buf_init(&second, 1 << 16);
    enum err e = expr_text(&in, &first, &why);
    ENSURE(e == ERR_OK || why.text[0] != 0);
    ENSURE(expr_text(&in, &second, &again) == e);
    ENSURE(slice_eq(buf_slice(&first), buf_slice(&second)));
    ENSURE(strcmp(why.text, again.text) == 0);
    buf_clear(&first);
    if (expr_list(&in, 1000, &first, &count, &why) == ERR_OK) check_json(buf_slice(&first), limits);
    (void)!expr_truth(&in, &truth, &why);
    (void)!expr_check("fuzz", text, limits, &why);
    (void)names_stage(text);
    buf_fini(&first);
    buf_fini(&second);
}

static void check_template(struct slice text, const struct limits *limits) {
    struct template_fill how = {.scope = &scope, .limits = limits, .stage = STAGE_CHILD, .is_last = true};
    struct buf escaped, out;
    struct why why = {{0}};
    unsigned stages = 0;
    buf_init(&escaped, 1 << 22);
    buf_init(&out, 1 << 22);
    template_escape(text, &escaped);
    if (template_render(buf_slice(&escaped), &how, &out, &why) != ERR_OK) PANIC("an escaped text has no mistakes");
    ENSURE(slice_eq(buf_slice(&out), text));
    buf_clear(&out);
    enum err e = template_render(text, &how, &out, &why);
    ENSURE(e == ERR_OK || why.text[0] != 0);
    (void)!template_stages(text, &stages, &why);
    how.stage = STAGE_SUBMIT;
    how.is_last = false;
    how.into = INTO_PROGRAM;
    buf_clear(&out);
    (void)!template_render(text, &how, &out, &why);
    buf_fini(&escaped);
    buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct limits limits;
    limits_default(&limits);
    limits.eval_steps_max = 20000;
    limits.eval_bytes_max = 1 << 20;
    if (size > 4096) return 0;
    if (size > 0 && data[0] == 'T')
        check_template(slice_of(data + 1, size - 1), &limits);
    else
        check_expression(slice_of(data, size), &limits);
    return 0;
}
