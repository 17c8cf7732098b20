/* eval_bench.c: what one evaluation costs, in microseconds: the state alone, an ordinary `when`, a path, a template,
 * and how long the worst that the budgets allow may hold the loop. */
#include <stdio.h>
#include <time.h>

#include "expr.h"
#include "limit.h"
#include "template.h"

static struct limits limits;

static const struct scope_job parents[] = {
    {SLICE("extract"), SLICE("succeeded"),
     SLICE("{\"rows\": 42, \"files\": [\"a\", \"b\", \"c\"], \"table\": \"sales\"}")}};
static const struct scope scope = {.params = SLICE("{\"day\": \"2026-01-01\"}"), .jobs = parents, .job_count = 1};

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* other programs may be about */
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void expression(const char *what, const char *text, int rounds) {
    struct expr_input in = {"bench", slice_str(text), &scope, &limits, NULL};
    struct why why = {{0}};
    struct buf out;
    double worst = 0, begin = now_us();
    buf_init(&out, 1 << 24);
    for (int i = 0; i < rounds; i++) {
        double from = now_us();
        buf_clear(&out);
        (void)!expr_text(&in, &out, &why);
        double took = now_us() - from;
        if (took > worst) worst = took;
    }
    printf("%-44s %10.1f us   worst %10.1f us   %s\n", what, (now_us() - begin) / rounds, worst, why.text);
    buf_fini(&out);
}

static void template(const char *what, const char *text, int rounds) {
    struct template_fill how = {&scope, &limits, STAGE_READY, true, INTO_PROGRAM, NULL};
    struct why why = {{0}};
    struct buf out;
    double begin = now_us();
    buf_init(&out, 1 << 16);
    for (int i = 0; i < rounds; i++) {
        buf_clear(&out);
        (void)!template_render(slice_str(text), &how, &out, &why);
    }
    printf("%-44s %10.1f us   %s\n", what, (now_us() - begin) / rounds, why.text);
    buf_fini(&out);
}

int main(void) {
    limits_default(&limits);
    expression("a state that does nothing", "1", 20000);
    expression("when: jobs.extract.outputs.rows > 0", "jobs.extract.outputs.rows > 0", 20000);
    expression("map over 1,000 items", "map(range(1000), function(i) return {name = 'n' .. i} end)", 200);
    template("${jobs.extract.outputs.rows}, no Lua", "load ${jobs.extract.outputs.rows} rows", 100000);
    template("${= jobs.extract.outputs.rows * 2}", "load ${= jobs.extract.outputs.rows * 2} rows", 20000);
    expression("all steps: an empty loop", "while true do end return 1", 20);
    expression("all steps: comparing long texts",
               "local s = pad('', 1000) s = s .. s .. s .. s .. s .. s .. s .. s s = s .. s "
               "local a, b = s .. 'x', s .. 'y' "
               "local n = 0 while true do if a == b or a < b then n = n + 1 end end return 1",
               3);
    expression("all memory: small tables", "local t = {} for i = 1, 1e9 do t = {t} end return 1", 20);
    expression("all memory: copies of a long text",
               "local s = pad('', 1000) s = s .. s .. s .. s .. s .. s .. s .. s "
               "for i = 1, 1e9 do local x = s .. i end return 1",
               20);
    expression("sorting as much as the steps allow", "#sort(range(10000))", 20);
    return 0;
}
