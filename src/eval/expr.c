/* expr.c: see expr.h. The life of one evaluation: everything happens inside one protected call, so that whatever Lua
 * throws ends up in one place, and the memory goes with the arenas. */
#include "expr_impl.h"

#include "json_read.h"
#include "limit.h"
#include "names.h"

#define HOOK_STEPS 1000
#define EVALUATION_STEPS 100 /* of an evaluation itself, where many share a budget */
#define ARENA_CHUNK 32768u
#define LUA_OBJECT_BYTES 64u /* of a string, beside its bytes */

/* ---- budgets ---- */

void expr_charge(lua_State *L, size_t steps) {
    struct expr *x = expr_of(L);
    x->steps_left -= (int64_t)steps;
    if (x->steps_left >= 0) return;
    x->out_of = OUT_OF_STEPS;
    luaL_error(L, "out of steps");
}

/* A step is about 10 ns: what it takes to read 16 bytes one by one, or to compare 64. */
void expr_charge_bytes(lua_State *L, size_t bytes) {
    expr_charge(L, bytes / 16);
}

void expr_charge_compare(lua_State *L, size_t bytes, size_t times) {
    expr_charge(L, bytes / 64 * times);
}

/* `for i = 1, text` makes a number of the text inside one instruction, and no function of ours is called. So in an
 * expression with such a loop an instruction costs more while there are long texts. A loop is several instructions
 * around that one, and a few milliseconds do not matter: hence a 512th and not a 16th. */
static size_t price(const struct expr *x) {
    return x->counts ? 1 + x->text_bytes_max / 512 : 1;
}

static void hook(lua_State *L, lua_Debug *debug) {
    (void)debug;
    expr_charge(L, HOOK_STEPS * price(expr_of(L)));
}

/* Nothing is given back before the end, so a loop that makes garbage ends like one that keeps it. */
static void *allocate(void *ctx, void *old, size_t old_bytes, size_t bytes) {
    struct expr *x = ctx;
    if (bytes == 0) return NULL;
    if (old != NULL && bytes <= old_bytes) return old;
    if (old == NULL && old_bytes == LUA_TSTRING && bytes > EXPR_STRING_MAX + LUA_OBJECT_BYTES) {
        x->out_of = OUT_OF_STRING;
        return NULL;
    }
    size_t *largest = old == NULL && old_bytes == LUA_TSTRING ? &x->text_bytes_max : &x->vector_bytes_max;
    if (bytes > *largest) *largest = bytes;
    void *place = x->out_of == OUT_OF_NOTHING ? arena_try(&x->lua, bytes) : NULL;
    if (place == NULL && x->out_of == OUT_OF_NOTHING) x->out_of = OUT_OF_MEMORY;
    if (place != NULL && old != NULL) memcpy(place, old, old_bytes);
    return place;
}

/* ---- the scope ---- */

static void push_job(lua_State *L, const struct scope_job *job) {
    lua_createtable(L, 0, 2);
    lua_pushlstring(L, (const char *)job->state.ptr, job->state.len);
    lua_setfield(L, -2, "state");
    if (job->outputs.len == 0) return;
    expr_json_push(L, job->outputs);
    lua_setfield(L, -2, "outputs");
}

/* Outputs may be large: only jobs that are named are made into tables. */
static void push_jobs(lua_State *L, const struct scope *s, struct slice text) {
    struct name_ref ref;
    lua_newtable(L);
    for (size_t at = 0; names_next(text, &at, &ref);) {
        if (ref.root != ROOT_JOBS) continue;
        expr_charge(L, 1 + s->job_count / 4);
        for (uint32_t i = 0; i < s->job_count; i++) {
            if (ref.name.len > 0 && !slice_eq(ref.name, s->jobs[i].name)) continue;
            lua_pushlstring(L, (const char *)s->jobs[i].name.ptr, s->jobs[i].name.len);
            lua_pushvalue(L, -1);
            bool is_there = lua_rawget(L, -3) != LUA_TNIL;
            lua_pop(L, is_there ? 2 : 1);
            if (is_there) continue;
            push_job(L, &s->jobs[i]);
            lua_rawset(L, -3);
        }
    }
    lua_setglobal(L, scope_root_words[ROOT_JOBS]);
}

static void push_scope(lua_State *L, const struct scope *s, struct slice text) {
    const struct slice texts[ROOT_COUNT] = {[ROOT_PARAMS] = s->params,
                                            [ROOT_FLOW] = s->flow,
                                            [ROOT_SCHEDULE] = s->schedule,
                                            [ROOT_TRIGGER] = s->trigger,
                                            [ROOT_ITEM] = s->item};
    struct name_ref ref;
    bool named[ROOT_COUNT] = {false};
    for (size_t at = 0; names_next(text, &at, &ref);) named[ref.root] = true;
    for (uint32_t i = 0; i < ROOT_COUNT; i++) {
        if (!named[i] || texts[i].len == 0) continue;
        expr_json_push(L, texts[i]);
        lua_setglobal(L, scope_root_words[i]);
    }
    if (s->output.len > 0) { /* no root of templates: nothing else has one */
        expr_json_push(L, s->output);
        lua_setglobal(L, "output");
    }
    if (named[ROOT_JOBS]) push_jobs(L, s, text);
    if (named[ROOT_INDEX] && s->item.len > 0) {
        lua_pushinteger(L, s->index);
        lua_setglobal(L, scope_root_words[ROOT_INDEX]);
    }
}

/* ---- running ---- */

static bool has_return(struct slice text) {
    static const char word[] = "return";
    for (size_t i = 0; i + sizeof word - 1 <= text.len; i++)
        if (memcmp(text.ptr + i, word, sizeof word - 1) == 0) return true;
    return false;
}

/* Leaves the function on the stack. What is an expression is compiled as one, so that its mistakes are told as such. */
static void compile(lua_State *L, const struct expr_input *in) {
    const char *name = lua_pushfstring(L, "=%s", in->name);
    struct arena *arena = &expr_of(L)->json;
    size_t len = in->text.len + sizeof "return " - 1;
    char *text = arena_try(arena, len);
    if (text == NULL) luaL_error(L, "the expression is too long");
    memcpy(text, "return ", sizeof "return " - 1);
    if (in->text.len > 0) memcpy(text + sizeof "return " - 1, in->text.ptr, in->text.len);
    int bad = luaL_loadbufferx(L, text, len, name, "t");
    if (bad == LUA_OK) return;
    if (has_return(in->text)) {
        lua_pop(L, 1);
        bad = luaL_loadbufferx(L, (const char *)in->text.ptr, in->text.len, name, "t");
    }
    if (bad != LUA_OK) lua_error(L);
}

static int run(lua_State *L) {
    struct expr *x = lua_touserdata(L, 1);
    if (x->in->steps_left != NULL) expr_charge(L, EVALUATION_STEPS);
    compile(L, x->in);
    if (x->take == NULL) return 0;
    expr_lib_open(L);
    push_scope(L, x->in->scope, x->in->text);
    lua_sethook(L, hook, LUA_MASKCOUNT, HOOK_STEPS);
    lua_call(L, 0, 1);
    x->take(L, x);
    return 0;
}

static enum err refuse(const struct expr *x, lua_State *L, struct why *why) {
    const struct limits *l = x->in->limits;
    switch (x->out_of) {
    case OUT_OF_STEPS:
        if (x->in->steps_left != NULL)
            return why_set(why, ERR_LIMIT, "%s: the templates together take too many steps (eval_steps_max)",
                           x->in->name);
        return why_set(why, ERR_LIMIT, "%s: it takes more than %lld steps (eval_steps_max)", x->in->name,
                       (long long)l->eval_steps_max);
    case OUT_OF_MEMORY:
        return why_set(why, ERR_LIMIT, "%s: it takes more than %lld bytes of memory (eval_bytes_max)", x->in->name,
                       (long long)l->eval_bytes_max);
    case OUT_OF_STRING:
        return why_set(why, ERR_LIMIT, "%s: a text of more than %u bytes; a plain path like ${jobs.a.outputs.b} may",
                       x->in->name, EXPR_STRING_MAX);
    case OUT_OF_NOTHING: break;
    }
    const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "it failed without a text";
    return why_set(why, ERR_INVALID, "%s", text);
}

static enum err evaluate(struct expr *x, struct why *why) {
    enum err e = ERR_OK;
    arena_init(&x->lua, ARENA_CHUNK, (size_t)x->in->limits->eval_bytes_max);
    arena_init(&x->json, ARENA_CHUNK, (size_t)x->in->limits->eval_bytes_max + x->in->text.len);
    x->steps_left = x->in->steps_left != NULL ? *x->in->steps_left : x->in->limits->eval_steps_max;
    x->counts = names_counts(x->in->text);
    lua_State *L = lua_newstate(allocate, x);
    if (L == NULL) {
        e = why_set(why, ERR_LIMIT, "%s: no memory to evaluate it (eval_bytes_max)", x->in->name);
    } else {
        *(struct expr **)lua_getextraspace(L) = x;
        lua_gc(L, LUA_GCSTOP);
        lua_pushcfunction(L, run);
        lua_pushlightuserdata(L, x);
        if (lua_pcall(L, 1, 0, 0) != LUA_OK) e = refuse(x, L, why);
        if (x->in->steps_left != NULL) *x->in->steps_left = x->steps_left;
        /* no lua_close: nothing in the state needs an end, and its memory goes with the arena */
    }
    arena_fini(&x->lua);
    arena_fini(&x->json);
    return e;
}

/* ---- what is made of the value ---- */

static void take_truth(lua_State *L, struct expr *x) {
    if (!lua_isboolean(L, -1) && !lua_isnil(L, -1))
        luaL_error(L, "%s: expected true or false, it gives %s", x->in->name,
                   lua_islightuserdata(L, -1) ? "null" : luaL_typename(L, -1));
    x->truth = lua_toboolean(L, -1);
}

static void take_text(lua_State *L, struct expr *x) {
    if (lua_isnil(L, -1)) luaL_error(L, "%s: it gives nil", x->in->name);
    if (lua_type(L, -1) == LUA_TSTRING) {
        size_t len;
        const char *text = lua_tolstring(L, -1, &len);
        buf_put(x->out, text, len);
    } else {
        expr_json_write(L, lua_gettop(L), x->out);
    }
}

/* Between the items of a list. */
static void item_begin(struct expr *x) {
    buf_put_slice(x->out, x->count++ == 0 ? SLICE("[") : SLICE(",\n"));
}

static bool put_numbers(struct expr *x, int64_t count) {
    if (count < 0 || count > x->count_max) return false;
    for (int64_t i = 1; i <= count; i++) {
        item_begin(x);
        buf_printf(x->out, "%lld", (long long)i);
    }
    return true;
}

static void take_list(lua_State *L, struct expr *x) {
    int whole = 0;
    lua_Integer number = lua_type(L, -1) == LUA_TNUMBER ? lua_tointegerx(L, -1, &whole) : 0;
    if (whole) {
        if (!put_numbers(x, number))
            luaL_error(L, "%s: %I items; expected 0 to %I", x->in->name, number, (lua_Integer)x->count_max);
        return;
    }
    lua_Integer count = expr_list_length(L, lua_gettop(L));
    if (count < 0)
        luaL_error(L, "%s: expected a list or a whole number, it gives %s", x->in->name,
                   lua_istable(L, -1) ? "an object" : luaL_typename(L, -1));
    if (count > x->count_max)
        luaL_error(L, "%s: %I items; expected 0 to %I", x->in->name, count, (lua_Integer)x->count_max);
    for (lua_Integer i = 1; i <= count && !x->out->full; i++) {
        lua_rawgeti(L, -1, i);
        item_begin(x);
        expr_json_write(L, lua_gettop(L), x->out);
        lua_pop(L, 1);
    }
}

/* ---- lists that are only looked up ---- */

/* JSON holds line breaks between its tokens only, never inside a text. */
static void put_on_a_line(struct buf *out, struct slice json) {
    for (size_t i = 0, from = 0; i <= json.len; i++) {
        if (i < json.len && json.ptr[i] != '\n' && json.ptr[i] != '\r') continue;
        buf_put(out, json.ptr + from, i - from);
        from = i + 1;
    }
}

static enum err put_items(struct expr *x, struct json_read *r, struct why *why) {
    for (;;) {
        const struct json_token *t;
        enum err e = json_read_next(r, &t);
        if (e != ERR_OK) return e;
        if (t->kind == JSON_ARRAY_END) return ERR_OK;
        if (x->count == x->count_max)
            return why_set(why, ERR_LIMIT, "%s: more than %u items (foreach_items_max)", x->in->name, x->count_max);
        uint32_t at = t->at;
        if (t->kind == JSON_OBJECT || t->kind == JSON_ARRAY) e = json_read_skip(r);
        if (e != ERR_OK) return e;
        item_begin(x);
        put_on_a_line(x->out, slice_of(r->in.ptr + at, (size_t)(r->at - r->in.ptr) - at));
    }
}

static enum err list_of(struct expr *x, struct slice json, struct arena *arena, struct why *why) {
    const struct json_token *t;
    struct json_read r;
    int64_t number = 0;
    json_read_init(&r, json, x->in->limits, arena, why);
    enum err e = json_read_next(&r, &t);
    if (e != ERR_OK) return e;
    if (t->kind == JSON_ARRAY) return put_items(x, &r, why);
    bool whole = t->kind == JSON_NUMBER && json_number_i64(t->text, &number) == ERR_OK;
    if (whole && put_numbers(x, number)) return ERR_OK;
    if (whole)
        return why_set(why, ERR_LIMIT, "%s: %lld items; expected 0 to %u", x->in->name, (long long)number,
                       x->count_max);
    return why_set(why, ERR_INVALID, "%s: expected a list or a whole number, it gives %s", x->in->name,
                   json_kind_word(t->kind));
}

/* A path needs no Lua, and none of its limits: the usual foreach is a list that a job before it wrote. */
static enum err list_by_path(struct expr *x, const struct path *path, struct why *why) {
    struct slice json;
    struct arena arena;
    const struct limits *l = x->in->limits;
    arena_init(&arena, ARENA_CHUNK, (size_t)l->json_bytes_max * 4);
    enum err e = scope_find(x->in->scope, path, l, &arena, &json, why);
    if (e == ERR_OK)
        e = list_of(x, json, &arena, why);
    else
        why_wrap(why, e, "%s", x->in->name);
    arena_fini(&arena);
    return e;
}

/* ---- the calls ---- */

enum err expr_check(const char *name, struct slice text, const struct limits *limits, struct why *why) {
    struct expr_input in = {.name = name, .text = text, .limits = limits};
    struct expr x = {.in = &in};
    return evaluate(&x, why);
}

enum err expr_truth(const struct expr_input *in, bool *ret, struct why *why) {
    struct expr x = {.in = in, .take = take_truth};
    enum err e = evaluate(&x, why);
    if (e == ERR_OK) *ret = x.truth;
    return e;
}

enum err expr_text(const struct expr_input *in, struct buf *out, struct why *why) {
    struct expr x = {.in = in, .take = take_text, .out = out};
    enum err e = evaluate(&x, why);
    if (e == ERR_OK && out->full) e = why_set(why, ERR_LIMIT, "%s: it gives more than %zu bytes", in->name, out->max);
    return e;
}

static struct slice trimmed(struct slice s) {
    while (s.len > 0 && (s.ptr[0] == ' ' || s.ptr[0] == '\n')) s = slice_of(s.ptr + 1, s.len - 1);
    while (s.len > 0 && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\n')) s.len--;
    return s;
}

/* What Lua would read in another way (`jobs.a-b`, a call) is no plain path. */
static bool is_plain_path(struct slice text, struct path *ret) {
    struct why ignored;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
        if (!plain) return false;
    }
    return path_read(text, ret, &ignored) == ERR_OK;
}

enum err expr_list(const struct expr_input *in, uint32_t count_max, struct buf *out, uint32_t *ret_count,
                   struct why *why) {
    struct expr x = {.in = in, .take = take_list, .out = out, .count_max = count_max};
    struct path path;
    enum err e = is_plain_path(trimmed(in->text), &path) ? list_by_path(&x, &path, why) : evaluate(&x, why);
    if (e != ERR_OK) return e;
    buf_put_slice(out, x.count == 0 ? SLICE("[]") : SLICE("\n]"));
    if (out->full) return why_set(why, ERR_LIMIT, "%s: its items are more than %zu bytes", in->name, out->max);
    *ret_count = x.count;
    return ERR_OK;
}
