/* expr_json.c: JSON to Lua values and back, and the order of keys.
 *
 *     null    nil as a member of an object, the value `null` in a list (where nil would be a hole)
 *     object  table; its keys are texts          list    table; items 1 to n
 *     number  integer when it is one and fits, else float
 *
 * Back: a table with items 1 to n and nothing else is a list, also an empty one; one whose keys are all texts is an
 * object, its keys in their order. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "expr_impl.h"
#include "json.h"
#include "json_read.h"

#define DEPTH_MAX 32 /* of what comes back */

/* ---- in ---- */

static void push_number(lua_State *L, struct slice text) {
    int64_t whole;
    double number = 0;
    if (json_number_i64(text, &whole) == ERR_OK) {
        lua_pushinteger(L, whole);
        return;
    }
    if (json_number_f64(text, &number) != ERR_OK) luaL_error(L, "a number that is too large");
    lua_pushnumber(L, number);
}

static void push_scalar(lua_State *L, const struct json_token *t, bool in_list) {
    if (t->kind == JSON_TEXT)
        lua_pushlstring(L, (const char *)t->text.ptr, t->text.len);
    else if (t->kind == JSON_NUMBER)
        push_number(L, t->text);
    else if (t->kind == JSON_BOOL)
        lua_pushboolean(L, t->truth);
    else if (in_list)
        lua_pushlightuserdata(L, NULL);
    else
        lua_pushnil(L);
}

struct expr_level {
    bool is_list;
    lua_Integer count;
};

/* The value on top goes to the table below it. */
static void attach(lua_State *L, struct expr_level *level) {
    if (level->is_list)
        lua_rawseti(L, -2, ++level->count);
    else
        lua_rawset(L, -3);
}

void expr_json_push(lua_State *L, struct slice json) {
    struct expr *x = expr_of(L);
    struct expr_level levels[JSON_READ_DEPTH_MAX + 1] = {{0}};
    uint32_t depth = 0;
    struct json_read r;
    struct why why = {{0}};
    luaL_checkstack(L, JSON_READ_DEPTH_MAX * 2 + 8, "nested too deep");
    json_read_init(&r, json, x->in->limits, &x->json, &why);
    expr_charge(L, json.len / 64); /* once per evaluation; its tokens are charged below */
    do {
        const struct json_token *t;
        if (json_read_next(&r, &t) != ERR_OK) luaL_error(L, "%s: %s", x->in->name, why.text);
        expr_charge(L, 1);
        if (t->kind == JSON_OBJECT_END || t->kind == JSON_ARRAY_END) {
            if (--depth > 0) attach(L, &levels[depth]);
            continue;
        }
        if (t->is_member) lua_pushlstring(L, (const char *)t->key.ptr, t->key.len);
        if (t->kind == JSON_OBJECT || t->kind == JSON_ARRAY) {
            lua_newtable(L);
            levels[++depth] = (struct expr_level){.is_list = t->kind == JSON_ARRAY};
            continue;
        }
        push_scalar(L, t, depth > 0 && levels[depth].is_list);
        if (depth > 0) attach(L, &levels[depth]);
    } while (depth > 0);
}

/* ---- walks ---- */

/* A walk takes as long as the table has room, which is more than it has keys when they were taken out again. The room
 * of all tables together is bounded by memory, so the first walks of each are free; from then on each is charged the
 * largest room that any of them can have. */
#define FREE_WALKS 16
#define SLOT_BYTES 16 /* of a table, at least */

static bool is_walked_much(lua_State *L, int at) {
    static const char registered; /* its address is the name */
    const void *table = lua_topointer(L, at);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &registered) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &registered);
    }
    (void)lua_rawgetp(L, -1, table);
    lua_Integer walks = lua_tointeger(L, -1) + 1;
    lua_pop(L, 1);
    if (walks <= FREE_WALKS) {
        lua_pushinteger(L, walks);
        lua_rawsetp(L, -2, table);
    }
    lua_pop(L, 1);
    return walks > FREE_WALKS;
}

size_t expr_walk(lua_State *L, int at) {
    size_t count = 0, room = expr_of(L)->vector_bytes_max / SLOT_BYTES / 8;
    for (lua_pushnil(L); lua_next(L, at); lua_pop(L, 1)) count++;
    expr_charge(L, count < room && is_walked_much(L, at) ? room : count);
    return count;
}

/* ---- order ---- */

struct sorted {
    bool is_text;
    double number;
    lua_Integer whole; /* decides between integers that are the same double */
    struct slice text; /* kept alive by the table it is in */
};

static int compare(const void *left, const void *right) {
    const struct sorted *a = left, *b = right;
    if (a->is_text != b->is_text) return a->is_text ? 1 : -1;
    if (a->is_text) return slice_cmp(a->text, b->text);
    if (a->number < b->number || a->number > b->number) return a->number < b->number ? -1 : 1;
    return a->whole == b->whole ? 0 : a->whole < b->whole ? -1 : 1;
}

static void sorted_read(lua_State *L, int at, struct sorted *ret) {
    if (lua_type(L, at) == LUA_TSTRING) {
        size_t len;
        const char *text = lua_tolstring(L, at, &len);
        *ret = (struct sorted){.is_text = true, .text = slice_of(text, len)};
    } else if (lua_type(L, at) == LUA_TNUMBER) {
        *ret = (struct sorted){.number = lua_tonumber(L, at)};
        if (isnan(ret->number)) luaL_error(L, "what is no number has no place in an order");
        if (lua_isinteger(L, at)) ret->whole = lua_tointeger(L, at);
    } else {
        luaL_error(L, "only numbers and texts have an order, found %s", luaL_typename(L, at));
    }
}

/* Each item is compared about log2(count) times. */
static void sort(lua_State *L, struct sorted *list, size_t count) {
    size_t rounds = 1;
    for (size_t n = count; n > 1; n /= 2) rounds++;
    expr_charge(L, count * rounds);
    for (size_t i = 0; i < count; i++) expr_charge_compare(L, list[i].text.len, rounds);
    qsort(list, count, sizeof *list, compare);
}

static void push_sorted(lua_State *L, const struct sorted *list, size_t count) {
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        if (list[i].is_text)
            lua_pushlstring(L, (const char *)list[i].text.ptr, list[i].text.len);
        else if ((double)list[i].whole == list[i].number)
            lua_pushinteger(L, list[i].whole);
        else
            lua_pushnumber(L, list[i].number);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

void expr_sorted_keys(lua_State *L, int at) {
    size_t count = expr_walk(L, at), i = 0;
    struct sorted *list = lua_newuserdatauv(L, sizeof *list * (count + 1), 0);
    for (lua_pushnil(L); lua_next(L, at); lua_pop(L, 1)) sorted_read(L, -2, &list[i++]);
    sort(L, list, count);
    push_sorted(L, list, count);
    lua_remove(L, -2);
}

void expr_sort(lua_State *L, int at) {
    lua_Integer count = expr_list_length(L, at);
    if (count < 0) luaL_error(L, "expected a list");
    struct sorted *list = lua_newuserdatauv(L, sizeof *list * ((size_t)count + 1), 0);
    for (lua_Integer i = 0; i < count; i++) {
        lua_rawgeti(L, at, i + 1);
        sorted_read(L, -1, &list[i]);
        lua_pop(L, 1);
    }
    sort(L, list, (size_t)count);
    push_sorted(L, list, (size_t)count);
    lua_remove(L, -2);
}

/* ---- out ---- */

lua_Integer expr_list_length(lua_State *L, int at) {
    if (!lua_istable(L, at)) return -1;
    lua_Integer count = (lua_Integer)expr_walk(L, at), items = (lua_Integer)lua_rawlen(L, at);
    return count == items ? items : -1;
}

static void write_number(lua_State *L, int at, struct buf *out) {
    if (lua_isinteger(L, at)) {
        buf_printf(out, "%lld", (long long)lua_tointeger(L, at));
        return;
    }
    double number = lua_tonumber(L, at);
    char text[40];
    if (!isfinite(number)) luaL_error(L, "a number that is not finite (a division by zero?)");
    if (number >= -9007199254740992.0 && number <= 9007199254740992.0 && floor(number) == number) {
        buf_printf(out, "%.0f", number + 0.0); /* 6 / 2 is 3, not 3.0 */
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, number);
        double back = strtod(text, NULL);
        if (back == number) break;
    }
    buf_put_slice(out, slice_str(text));
}

static void write_text(lua_State *L, int at, struct buf *out) {
    struct json j;
    size_t len;
    const char *text = lua_tolstring(L, at, &len);
    expr_charge_bytes(L, len);
    json_init(&j, out);
    json_text(&j, slice_of(text, len));
}

static void write_value(lua_State *L, int at, struct buf *out, int depth);

static void write_object(lua_State *L, int at, struct buf *out, int depth) {
    expr_sorted_keys(L, at);
    int keys = lua_gettop(L);
    lua_Integer count = (lua_Integer)lua_rawlen(L, keys);
    buf_put_u8(out, '{');
    for (lua_Integer i = 1; i <= count && !out->full; i++) {
        lua_rawgeti(L, keys, i);
        if (lua_type(L, -1) != LUA_TSTRING) luaL_error(L, "a table is a list without holes, or its keys are texts");
        if (i > 1) buf_put_u8(out, ',');
        write_text(L, lua_gettop(L), out);
        buf_put_u8(out, ':');
        lua_rawget(L, at);
        write_value(L, lua_gettop(L), out, depth + 1);
        lua_pop(L, 1);
    }
    buf_put_u8(out, '}');
    lua_pop(L, 1);
}

static void write_list(lua_State *L, int at, lua_Integer count, struct buf *out, int depth) {
    buf_put_u8(out, '[');
    for (lua_Integer i = 1; i <= count && !out->full; i++) {
        if (i > 1) buf_put_u8(out, ',');
        lua_rawgeti(L, at, i);
        write_value(L, lua_gettop(L), out, depth + 1);
        lua_pop(L, 1);
    }
    buf_put_u8(out, ']');
}

/* Goes down at most DEPTH_MAX levels; a table inside itself ends there too. Ends early when `out` is full: what is
 * shared is written again and again, and `out` is the bound of that. */
static void write_value(lua_State *L, int at, struct buf *out, int depth) {
    if (depth > DEPTH_MAX) luaL_error(L, "a value with more than %d levels", DEPTH_MAX);
    luaL_checkstack(L, 8, "nested too deep");
    expr_charge(L, 1);
    if (out->full) return;
    int type = lua_type(L, at);
    if (type == LUA_TSTRING) {
        write_text(L, at, out);
    } else if (type == LUA_TNUMBER) {
        write_number(L, at, out);
    } else if (type == LUA_TBOOLEAN) {
        buf_put_slice(out, lua_toboolean(L, at) ? SLICE("true") : SLICE("false"));
    } else if (type == LUA_TNIL || type == LUA_TLIGHTUSERDATA) {
        buf_put_slice(out, SLICE("null"));
    } else if (type == LUA_TTABLE) {
        lua_Integer count = expr_list_length(L, at);
        if (count >= 0)
            write_list(L, at, count, out, depth);
        else
            write_object(L, at, out, depth);
    } else {
        luaL_error(L, "a %s is no value that can be kept", luaL_typename(L, at));
    }
}

void expr_json_write(lua_State *L, int at, struct buf *out) {
    write_value(L, at, out, 0);
}
