/* resp_fuzz.c: what any client may send by RESP. In whatever pieces it arrives, the same commands are read from it and
 * it is refused with the same words; no command is larger than the rules allow, and arguments lie within what came. The
 * first bytes choose the rules and, behind them, the rest is also a pattern against itself. */
#include "hash.h"
#include "panic.h"
#include "pattern.h"
#include "resp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    uint32_t count, sum;
    bool bad;
    struct why why;
};

static void check(const struct resp_in *in, const struct resp_rules *rules, struct slice from, struct seen *seen) {
    ENSURE(in->args.count <= rules->args_max);
    for (uint32_t i = 0; i < in->args.count; i++) {
        struct slice a = *(struct slice *)vec_at(&in->args, i);
        bool of_line = in->words.len > 0 && a.ptr >= in->words.at && a.ptr + a.len <= in->words.at + in->words.len;
        ENSURE(a.len == 0 || of_line || (a.ptr >= from.ptr && a.ptr + a.len <= from.ptr + from.len));
        ENSURE(of_line || a.len <= rules->bulk_bytes_max);
        seen->sum = crc32c(seen->sum, &a.len, sizeof a.len);
        if (a.len > 0) seen->sum = crc32c(seen->sum, a.ptr, a.len);
    }
    seen->count++;
}

static struct seen read_all(struct slice all, const struct resp_rules *rules, size_t step) {
    struct seen seen = {0};
    struct resp_in in;
    size_t begin = 0;
    resp_in_init(&in);
    for (size_t end = step < all.len ? step : all.len; !seen.bad; end = end + step < all.len ? end + step : all.len) {
        for (;;) {
            struct slice left = slice_of(all.ptr + begin, end - begin);
            size_t used = 0;
            enum resp_got got = resp_take(&in, left, rules, &used, &seen.why);
            ENSURE(used <= left.len && (got == RESP_COMMAND) == (used > 0));
            seen.bad = got == RESP_BAD;
            if (got != RESP_COMMAND) break;
            check(&in, rules, left, &seen);
            begin += used;
        }
        if (end == all.len) break;
    }
    resp_in_fini(&in);
    return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    struct resp_rules rules = {.args_max = 1u + data[0] % 16, .bulk_bytes_max = 64, .lines = data[0] & 0x80};
    struct slice all = slice_of(data + 1, size - 1);
    struct seen whole = read_all(all, &rules, all.len);
    for (size_t step = 1; step < 8; step += 3) {
        struct seen pieces = read_all(all, &rules, step);
        ENSURE(pieces.count == whole.count && pieces.sum == whole.sum && pieces.bad == whole.bad);
        ENSURE(!whole.bad || strcmp(pieces.why.text, whole.why.text) == 0);
    }
    size_t half = all.len / 2 < 200 ? all.len / 2 : 200;
    struct slice pattern = slice_of(all.ptr, half), text = slice_of(all.ptr + half, half);
    struct slice prefix = pattern_prefix(pattern);
    uint64_t steps = 0;
    bool matches = pattern_matches(pattern, text, &steps);
    ENSURE(!matches || (text.len >= prefix.len && memcmp(text.ptr, prefix.ptr, prefix.len) == 0));
    ENSURE(steps <= (pattern.len + 1) * (text.len + 1) * 4);
    return 0;
}
