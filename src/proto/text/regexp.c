/* regexp.c: see regexp.h. An expression becomes steps, as Thompson made them: a character to take, or a fork. Where a
 * step goes on is told as a distance, so that a piece that is repeated is copied, and a fork is put before a piece by
 * moving it up:
 *
 *     a(b|c)*    0 take a    1 fork 2, 7    2 fork 3, 5    3 take b    4 go to 6    5 take c    6 go to 1    7 fits
 *
 * A match keeps the set of steps that the text so far can have led to. A step is in it once, so a character costs at
 * most as many steps as there are. */
#include "regexp.h"

#include "panic.h"
#include "utf8.h"

enum regexp_op { TAKE, TAKE_ANY, TAKE_SET, GO, FORK, FITS };

struct regexp_group {   /* that is open; the outermost is the whole */
    uint32_t at;        /* where it begins */
    uint32_t either_at; /* where its last alternative does */
    uint32_t ends;      /* the last step, + 1, that goes to the end of the group; each names the one before. 0 = none */
};

struct regexp_text {
    struct slice text;
    size_t at;
    struct regexp *r;
    struct why *why;
    struct regexp_group groups[REGEXP_DEPTH_MAX + 1];
    uint32_t depth;
    uint32_t piece; /* where the last piece begins, which a repetition is about */
    bool has_piece;
};

static enum err refuse(const struct regexp_text *x, enum err e, const char *what) {
    return why_set(x->why, e, "character %zu of the pattern: %s", x->at + 1, what);
}

static uint32_t here(const struct regexp_text *x) {
    return x->r->step_count;
}

static enum err too_long(const struct regexp_text *x) {
    return why_set(x->why, ERR_LIMIT, "the pattern is too long: with its repetitions it has more than %u steps",
                   REGEXP_STEPS_MAX);
}

static enum err emit(struct regexp_text *x, struct regexp_step step) {
    if (here(x) + 1 >= REGEXP_STEPS_MAX) return too_long(x); /* one more stays free, for the last */
    x->r->steps[x->r->step_count++] = step;
    return ERR_OK;
}

/* Moves everything from `at` on up by one, and puts a step there. What it moves goes nowhere but inside of itself. */
static enum err emit_before(struct regexp_text *x, uint32_t at, struct regexp_step step) {
    enum err e = emit(x, step);
    if (e != ERR_OK) return e;
    memmove(&x->r->steps[at + 1], &x->r->steps[at], (here(x) - 1 - at) * sizeof step);
    x->r->steps[at] = step;
    return ERR_OK;
}

static struct regexp_step fork_to(uint32_t to, uint32_t or_to) {
    return (struct regexp_step){.op = FORK, .to = (int16_t)to, .or_to = (int16_t)or_to};
}

/* ---- characters and sets ---- */

static uint32_t decode(struct slice text, size_t at, size_t *ret_len) {
    size_t len = utf8_sequence(slice_of(text.ptr + at, text.len - at));
    const uint8_t *p = text.ptr + at;
    *ret_len = len == 0 ? 1 : len;
    if (len <= 1) return p[0]; /* also of bytes that are no UTF-8: each for itself */
    uint32_t code = p[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) code = code << 6 | (p[i] & 0x3fu);
    return code;
}

static uint32_t next_code(struct regexp_text *x) {
    size_t len;
    uint32_t code = decode(x->text, x->at, &len);
    x->at += len;
    return code;
}

static bool is_next(const struct regexp_text *x, char c) {
    return x->at < x->text.len && x->text.ptr[x->at] == (uint8_t)c;
}

static enum err range_add(struct regexp_text *x, uint32_t from, uint32_t to) {
    if (x->r->range_count == REGEXP_RANGES_MAX) return refuse(x, ERR_LIMIT, "too many characters in its sets");
    x->r->ranges[x->r->range_count++] = (struct regexp_range){from, to};
    return ERR_OK;
}

static const struct regexp_range class_d[] = {{'0', '9'}}, class_s[] = {{'\t', '\r'}, {' ', ' '}},
                                 class_w[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};

/* `\d` and its like; false: the letter names none. The upper case letter is everything else. */
static bool class_of(uint8_t letter, const struct regexp_range **ret, uint32_t *ret_count) {
    switch (letter | 0x20) {
    case 'd': *ret = class_d, *ret_count = 1; return true;
    case 's': *ret = class_s, *ret_count = 2; return true;
    case 'w': *ret = class_w, *ret_count = 4; return true;
    }
    return false;
}

static enum err class_add(struct regexp_text *x, uint8_t letter) {
    const struct regexp_range *list = NULL;
    uint32_t count = 0, from = 0;
    enum err e = ERR_OK;
    bool found = class_of(letter, &list, &count);
    REQUIRE(found);
    if (letter >= 'a') {
        for (uint32_t i = 0; e == ERR_OK && i < count; i++) e = range_add(x, list[i].from, list[i].to);
        return e;
    }
    for (uint32_t i = 0; e == ERR_OK && i < count; i++) {
        e = range_add(x, from, list[i].from - 1); /* none of them begins at 0 */
        from = list[i].to + 1;
    }
    return e == ERR_OK ? range_add(x, from, UINT32_MAX) : e;
}

/* Behind a backslash that is no class: what stands for itself, or for a control character. */
static enum err escaped(struct regexp_text *x, uint32_t *ret) {
    static const char letters[] = "nrtfv", codes[] = "\n\r\t\f\v";
    if (x->at == x->text.len) return refuse(x, ERR_INVALID, "a backslash without a character behind it");
    uint8_t c = x->text.ptr[x->at];
    const char *control = c != 0 ? strchr(letters, c) : NULL;
    if (control != NULL) {
        *ret = (uint8_t)codes[control - letters];
        x->at++;
        return ERR_OK;
    }
    if ((c >= '0' && c <= '9') || (c | 0x20) == 'k')
        return refuse(x, ERR_UNSUPPORTED, "a backreference cannot be used");
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') return refuse(x, ERR_UNSUPPORTED, "an unknown escape");
    *ret = next_code(x);
    return ERR_OK;
}

/* One end of a range, or a class, which is added here: *ret_is_class. */
static enum err set_end(struct regexp_text *x, uint32_t *ret, bool *ret_is_class) {
    const struct regexp_range *list;
    uint32_t count;
    *ret_is_class = false;
    if (!is_next(x, '\\')) {
        *ret = next_code(x);
        return ERR_OK;
    }
    x->at++;
    if (x->at < x->text.len && class_of(x->text.ptr[x->at], &list, &count)) {
        *ret_is_class = true;
        return class_add(x, x->text.ptr[x->at++]);
    }
    return escaped(x, ret);
}

static enum err read_set(struct regexp_text *x) {
    struct regexp_step step = {.op = TAKE_SET, .to = 1, .first = x->r->range_count};
    size_t opened = x->at++;
    step.negated = is_next(x, '^');
    x->at += step.negated;
    while (x->at < x->text.len && !is_next(x, ']')) {
        uint32_t from = 0, to = 0;
        bool is_class, ends_in_class = false;
        enum err e = set_end(x, &from, &is_class);
        if (e != ERR_OK) return e;
        bool is_range = is_next(x, '-') && x->at + 1 < x->text.len && x->text.ptr[x->at + 1] != ']';
        to = from;
        if (is_range && !is_class) {
            x->at++;
            e = set_end(x, &to, &ends_in_class);
        }
        if (e == ERR_OK && (ends_in_class || to < from)) return refuse(x, ERR_INVALID, "a range that is no range");
        if (e == ERR_OK && !is_class) e = range_add(x, from, to);
        if (e != ERR_OK) return e;
    }
    step.count = x->r->range_count - step.first;
    if (x->at == x->text.len || step.count == 0) {
        x->at = opened;
        return refuse(x, ERR_INVALID, "`[` without a set and its `]`");
    }
    x->at++;
    return emit(x, step);
}

static enum err read_escape(struct regexp_text *x) {
    const struct regexp_range *list;
    uint32_t count;
    struct regexp_step step = {.op = TAKE, .to = 1};
    x->at++;
    if (x->at < x->text.len && class_of(x->text.ptr[x->at], &list, &count)) {
        step = (struct regexp_step){.op = TAKE_SET, .to = 1, .first = x->r->range_count};
        enum err e = class_add(x, x->text.ptr[x->at++]);
        step.count = x->r->range_count - step.first;
        return e == ERR_OK ? emit(x, step) : e;
    }
    enum err e = escaped(x, &step.first);
    return e == ERR_OK ? emit(x, step) : e;
}

/* ---- how often ---- */

static enum err repeat_copy(struct regexp_text *x, uint32_t len) {
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < len; i++) e = emit(x, x->r->steps[x->piece + i]);
    return e;
}

/* The piece, which is there once, at least `least` times and at most `most`; UINT32_MAX: as often as one likes. */
static enum err repeat(struct regexp_text *x, uint32_t least, uint32_t most) {
    uint32_t len = here(x) - x->piece;
    enum err e = ERR_OK;
    if (most == 0) {
        x->r->step_count = x->piece;
        return ERR_OK;
    }
    for (uint32_t i = 1; e == ERR_OK && i < least; i++) e = repeat_copy(x, len);
    if (e != ERR_OK || least == most) return e;
    if (most == UINT32_MAX && least > 0) /* the last of them goes back to its beginning */
        return emit(x, (struct regexp_step){.op = FORK, .to = (int16_t) - (int32_t)len, .or_to = 1});
    if (most == UINT32_MAX) {
        e = emit_before(x, x->piece, fork_to(1, len + 2));
        return e == ERR_OK ? emit(x, (struct regexp_step){.op = GO, .to = (int16_t) - (int32_t)(len + 1)}) : e;
    }
    /* Each of the rest may be the one that is left out, and so are then all behind it. */
    uint32_t from = x->piece;
    for (uint32_t i = least; e == ERR_OK && i < most; i++) {
        uint32_t at = i == 0 ? from : here(x);
        if (i > 0) e = repeat_copy(x, len);
        if (e == ERR_OK) e = emit_before(x, at, fork_to(1, len + 1));
        if (i == 0) x->piece = from + 1; /* what is copied stands behind its fork now */
    }
    x->piece = from;
    return e;
}

static enum err read_count(struct regexp_text *x, uint32_t *ret) {
    uint32_t n = 0;
    size_t from = x->at;
    while (x->at < x->text.len && x->text.ptr[x->at] >= '0' && x->text.ptr[x->at] <= '9' && n <= REGEXP_REPEAT_MAX)
        n = n * 10 + (x->text.ptr[x->at++] - '0');
    if (x->at == from) return refuse(x, ERR_INVALID, "expected a number of repetitions, as in `{2}` or `{2,5}`");
    if (n > REGEXP_REPEAT_MAX) return refuse(x, ERR_LIMIT, "more than 500 repetitions");
    *ret = n;
    return ERR_OK;
}

static enum err read_repeat(struct regexp_text *x) {
    uint32_t least = 0, most = UINT32_MAX;
    enum err e = ERR_OK;
    if (!x->has_piece) return refuse(x, ERR_INVALID, "nothing stands before it that could be repeated");
    uint8_t c = x->text.ptr[x->at++];
    if (c == '+') least = 1;
    if (c == '?') most = 1;
    if (c == '{') {
        e = read_count(x, &least);
        most = least;
        if (e == ERR_OK && is_next(x, ',')) {
            x->at++;
            most = UINT32_MAX;
            if (!is_next(x, '}')) e = read_count(x, &most);
        }
        if (e != ERR_OK) return e;
        if (!is_next(x, '}')) return refuse(x, ERR_INVALID, "expected `}`");
        if (most < least) return refuse(x, ERR_INVALID, "at most fewer than at least");
        x->at++;
    }
    x->has_piece = false; /* `x**` says nothing, and `x*?` something else elsewhere */
    return repeat(x, least, most);
}

/* ---- groups ---- */

static struct regexp_group *group_of(struct regexp_text *x) {
    return &x->groups[x->depth];
}

static void group_begin(struct regexp_text *x) {
    *group_of(x) = (struct regexp_group){.at = here(x), .either_at = here(x)};
    x->has_piece = false;
}

/* `x|`: a fork before x to it and to what follows; x goes to the end of the group, wherever that will be. */
static enum err read_either(struct regexp_text *x) {
    struct regexp_group *g = group_of(x);
    enum err e = emit_before(x, g->either_at, fork_to(1, here(x) - g->either_at + 2));
    if (e == ERR_OK) e = emit(x, (struct regexp_step){.op = GO, .first = g->ends});
    if (e != ERR_OK) return e;
    g->ends = here(x);
    g->either_at = here(x);
    x->has_piece = false;
    x->at++;
    return ERR_OK;
}

static void group_end(struct regexp_text *x) {
    uint32_t end = here(x);
    for (uint32_t at = group_of(x)->ends; at != 0;) {
        struct regexp_step *go = &x->r->steps[at - 1];
        at = go->first;
        *go = (struct regexp_step){.op = GO, .to = (int16_t)(end - (uint32_t)(go - x->r->steps))};
    }
}

static enum err read_open(struct regexp_text *x) {
    if (x->depth == REGEXP_DEPTH_MAX) return refuse(x, ERR_LIMIT, "more than 20 groups in each other");
    x->at++;
    if (is_next(x, '?')) {
        if (x->at + 1 == x->text.len || x->text.ptr[x->at + 1] != ':')
            return refuse(x, ERR_UNSUPPORTED, "of the groups that begin with `(?` only `(?:` can be used");
        x->at += 2;
    }
    x->depth++;
    group_begin(x);
    return ERR_OK;
}

static enum err read_close(struct regexp_text *x) {
    if (x->depth == 0) return refuse(x, ERR_INVALID, "`)` without its `(`");
    group_end(x);
    x->piece = group_of(x)->at;
    x->has_piece = true;
    x->depth--;
    x->at++;
    return ERR_OK;
}

/* ---- all of it ---- */

static enum err read_one(struct regexp_text *x) {
    uint8_t c = x->text.ptr[x->at];
    if (memchr("*+?{", c, 4) != NULL) return read_repeat(x);
    if (c == '(') return read_open(x);
    if (c == ')') return read_close(x);
    if (c == '|') return read_either(x);
    if (c == ']' || c == '}')
        return refuse(x, ERR_INVALID, "a bracket that was not opened: write a backslash before it");
    if (c == '^' || c == '$') {
        if (x->at != (c == '^' ? 0 : x->text.len - 1))
            return refuse(x, ERR_UNSUPPORTED, "`^` and `$` can only stand at the beginning and at the end");
        x->at++;
        return ERR_OK;
    }
    x->piece = here(x);
    x->has_piece = true;
    if (c == '[') return read_set(x);
    if (c == '\\') return read_escape(x);
    if (c != '.') return emit(x, (struct regexp_step){.op = TAKE, .to = 1, .first = next_code(x)});
    x->at++;
    return emit(x, (struct regexp_step){.op = TAKE_ANY, .to = 1});
}

enum err regexp_read(struct slice text, struct regexp *ret, struct why *why) {
    struct regexp_text x = {.text = text, .r = ret, .why = why};
    enum err e = ERR_OK;
    ret->step_count = ret->range_count = 0;
    if (text.len > REGEXP_BYTES_MAX)
        return why_set(why, ERR_LIMIT, "the pattern is longer than %u bytes", REGEXP_BYTES_MAX);
    group_begin(&x);
    while (e == ERR_OK && x.at < text.len) e = read_one(&x);
    if (e == ERR_OK && x.depth > 0) e = refuse(&x, ERR_INVALID, "`(` without its `)`");
    if (e != ERR_OK) return e;
    group_end(&x);
    ENSURE(ret->step_count < REGEXP_STEPS_MAX);
    ret->steps[ret->step_count++] = (struct regexp_step){.op = FITS};
    return ERR_OK;
}

/* ---- matching ---- */

struct ways { /* steps that take a character, or fit: each once */
    uint32_t count;
    uint16_t at[REGEXP_STEPS_MAX];
};

struct match {
    const struct regexp *r;
    uint32_t mark[REGEXP_STEPS_MAX]; /* when a step was reached last: 1 = before the first character */
    uint32_t now;
    uint16_t open[REGEXP_STEPS_MAX]; /* reached, and not looked at yet */
    uint64_t steps;
};

static void reach(struct match *m, uint32_t *open_count, uint32_t at) {
    ENSURE(at < m->r->step_count);
    if (m->mark[at] == m->now) return;
    m->mark[at] = m->now;
    m->open[(*open_count)++] = (uint16_t)at;
}

/* All that can be reached from `at` without a character. */
static void follow(struct match *m, uint32_t at, struct ways *to) {
    uint32_t open_count = 0;
    reach(m, &open_count, at);
    while (open_count > 0) {
        uint32_t k = m->open[--open_count];
        const struct regexp_step *step = &m->r->steps[k];
        m->steps++;
        if (step->op == FORK) reach(m, &open_count, (uint32_t)((int32_t)k + step->or_to));
        if (step->op == FORK || step->op == GO)
            reach(m, &open_count, (uint32_t)((int32_t)k + step->to));
        else
            to->at[to->count++] = (uint16_t)k;
    }
}

static bool takes(struct match *m, const struct regexp_step *step, uint32_t code) {
    bool found = false;
    switch ((enum regexp_op)step->op) {
    case TAKE: return step->first == code;
    case TAKE_ANY: return code != '\n';
    case TAKE_SET:
        for (uint32_t i = step->first; i < step->first + step->count && !found; i++, m->steps++)
            found = code >= m->r->ranges[i].from && code <= m->r->ranges[i].to;
        return found != step->negated;
    case GO:
    case FORK:
    case FITS: break;
    }
    return false;
}

bool regexp_fits(const struct regexp *r, struct slice text, uint64_t *steps) {
    struct match m = {.r = r, .now = 1};
    struct ways ways[2] = {{0}}, *now = &ways[0], *next = &ways[1];
    follow(&m, 0, now);
    for (size_t at = 0, len; at < text.len && now->count > 0; at += len) {
        uint32_t code = decode(text, at, &len);
        m.now++;
        next->count = 0;
        m.steps += now->count;
        for (uint32_t i = 0; i < now->count; i++)
            if (takes(&m, &r->steps[now->at[i]], code)) follow(&m, now->at[i] + 1u, next);
        struct ways *free_ways = now;
        now = next;
        next = free_ways;
    }
    bool fits = false;
    for (uint32_t i = 0; i < now->count; i++) fits |= r->steps[now->at[i]].op == FITS;
    *steps += m.steps;
    return fits;
}
