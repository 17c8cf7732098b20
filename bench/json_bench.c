/* json_bench.c: how fast JSON is read, beside jansson in the same run. Three texts: a flow file as people and programs
 * write them, one long text, and numbers. The best of several passes, in MB/s of processor time.
 *
 * Usage: json_bench [--quick] */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "buf.h"
#include "json_oracle.h"
#include "json_tree.h"
#include "limit.h"
#include "panic.h"

static double cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- the texts ---- */

static void write_flow(struct buf *out, unsigned jobs) {
    buf_printf(out,
               "{\n  \"name\": \"nightly\",\n  \"labels\": {\"team\": \"data\", \"zone\": \"eu\"},\n  \"jobs\": {\n");
    for (unsigned i = 0; i < jobs; i++) {
        buf_printf(out, "    \"load-%u\": {\n      \"run\": [\"python3\", \"load.py\", \"--part\", \"%u\"],\n", i, i);
        buf_printf(out, "      \"needs\": [\"extract\"%s],\n      \"retries\": 3,\n", i ? ", \"load-0\"" : "");
        buf_printf(out, "      \"env\": {\"TARGET\": \"s3://bucket/part-%06u\", \"NOTE\": \"first\\nsecond\"},\n", i);
        buf_printf(out, "      \"resources\": {\"cpu\": 0.5, \"memory\": 268435456}, \"exclusive\": false\n    }%s\n",
                   i + 1 < jobs ? "," : "");
    }
    buf_printf(out, "  }\n}\n");
}

static void write_text(struct buf *out, unsigned words) {
    buf_printf(out, "\"");
    for (unsigned i = 0; i < words; i++) buf_printf(out, "the words of a long log line number %u ", i);
    buf_printf(out, "\"");
}

static void write_numbers(struct buf *out, unsigned count) {
    buf_printf(out, "[");
    for (unsigned i = 0; i < count; i++) buf_printf(out, "%s%u.%u", i ? "," : "", i * 7919u, i);
    buf_printf(out, "]");
}

/* ---- the readers ---- */

static void read_tokens(struct slice in) {
    static struct limits limits;
    limits_default(&limits);
    struct arena arena;
    arena_init(&arena, 4096, (size_t)1 << 28);
    struct json_read r;
    const struct json_token *token;
    json_read_init(&r, in, &limits, &arena, NULL);
    do {
        ENSURE(json_read_next(&r, &token) == ERR_OK);
    } while (token->kind != JSON_OVER);
    arena_fini(&arena);
}

static void read_tree(struct slice in) {
    static struct limits limits;
    limits_default(&limits);
    struct arena arena;
    arena_init(&arena, 65536, (size_t)1 << 30);
    const struct json_node *root;
    ENSURE(json_tree_read(in, &limits, &arena, &root, NULL) == ERR_OK);
    arena_fini(&arena);
}

static void read_jansson(struct slice in) {
    ENSURE(json_oracle_accepts(in));
}

static double best_mb_s(void (*read)(struct slice), struct slice in, int passes) {
    double best = 1e9;
    for (int i = 0; i < passes; i++) {
        double start = cpu_now();
        read(in);
        double took = cpu_now() - start;
        if (took < best) best = took;
    }
    return (double)in.len / 1e6 / best;
}

static void compare(const char *name, struct slice in, int passes) {
    double tokens = best_mb_s(read_tokens, in, passes);
    double tree = best_mb_s(read_tree, in, passes);
    double jansson = best_mb_s(read_jansson, in, passes);
    printf("%-10s %6.1f MB  tokens %7.1f MB/s  tree %7.1f MB/s  jansson %7.1f MB/s  tree/jansson %5.1f\n", name,
           (double)in.len / 1e6, tokens, tree, jansson, tree / jansson);
}

int main(int argc, char **argv) {
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    unsigned scale = quick ? 1 : 8;
    int passes = quick ? 3 : 9;
    static const struct {
        const char *name;
        void (*write)(struct buf *out, unsigned count);
        unsigned count;
    } texts[] = {{"flow", write_flow, 5000}, {"text", write_text, 20000}, {"numbers", write_numbers, 60000}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct buf out;
        buf_init(&out, (size_t)15 << 20);
        texts[i].write(&out, texts[i].count * scale);
        ENSURE(!out.full);
        compare(texts[i].name, buf_slice(&out), passes);
        buf_fini(&out);
    }
    return 0;
}
