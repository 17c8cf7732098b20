/* expr_lib.c: the functions that expressions have. Lua's own libraries stay closed: its patterns can run for a minute
 * inside one instruction, its tostring tells addresses, its pairs has no order.
 *
 * Here every function takes time in proportion to what it reads and writes. The texts that it is called with are
 * charged by `call`, before it runs, so no function can forget them; what it finds inside lists it charges itself.
 * Those on texts are methods too: s:upper(). Texts are bytes; upper, lower and trim know ASCII. */
#include <math.h>

#include "expr_impl.h"
#include "limit.h"
#include "moment.h"

static struct slice text_arg(lua_State *L, int at) {
    size_t len;
    const char *text = luaL_checklstring(L, at, &len);
    return slice_of(text, len);
}

static void push_slice(lua_State *L, struct slice s) {
    lua_pushlstring(L, (const char *)s.ptr, s.len);
}

static lua_Integer list_arg(lua_State *L, int at) {
    lua_Integer count = expr_list_length(L, at);
    if (count < 0) luaL_argerror(L, at, "expected a list");
    return count;
}

/* ---- texts ---- */

static int change_case(lua_State *L, uint8_t first, uint8_t last) {
    struct slice s = text_arg(L, 1);
    luaL_Buffer b;
    char *out = luaL_buffinitsize(L, &b, s.len);
    for (size_t i = 0; i < s.len; i++) {
        uint8_t c = s.ptr[i];
        out[i] = (char)(c >= first && c <= last ? c ^ 0x20 : c);
    }
    luaL_pushresultsize(&b, s.len);
    return 1;
}

static int lib_upper(lua_State *L) {
    return change_case(L, 'a', 'z');
}

static int lib_lower(lua_State *L) {
    return change_case(L, 'A', 'Z');
}

static int lib_trim(lua_State *L) {
    struct slice s = text_arg(L, 1);
    size_t from = 0, to = s.len;
    while (from < to && (s.ptr[from] == ' ' || (s.ptr[from] >= '\t' && s.ptr[from] <= '\r'))) from++;
    while (to > from && (s.ptr[to - 1] == ' ' || (s.ptr[to - 1] >= '\t' && s.ptr[to - 1] <= '\r'))) to--;
    push_slice(L, slice_of(s.ptr + from, to - from));
    return 1;
}

/* As Lua's: from and to count from 1, negative ones from the end. */
static void range_arg(lua_State *L, lua_Integer len, lua_Integer *ret_from, lua_Integer *ret_to) {
    lua_Integer from = luaL_optinteger(L, 2, 1), to = luaL_optinteger(L, 3, -1);
    if (from < 0) from = from < -len ? 1 : len + from + 1;
    if (to < 0) to = to < -len ? 0 : len + to + 1;
    *ret_from = from < 1 ? 1 : from;
    *ret_to = to > len ? len : to;
}

static int lib_sub(lua_State *L) {
    struct slice s = text_arg(L, 1);
    lua_Integer from, to;
    range_arg(L, (lua_Integer)s.len, &from, &to);
    push_slice(L, from <= to ? slice_of(s.ptr + from - 1, (size_t)(to - from + 1)) : SLICE(""));
    return 1;
}

/* Where `what` begins in `s` from `from` on, s.len when nowhere. memmem is linear. */
static size_t find_from(struct slice s, size_t from, struct slice what) {
    if (what.len == 0) return from;
    const uint8_t *hit = s.len > from ? memmem(s.ptr + from, s.len - from, what.ptr, what.len) : NULL;
    return hit == NULL ? s.len : (size_t)(hit - s.ptr);
}

static int lib_find(lua_State *L) {
    struct slice s = text_arg(L, 1), what = text_arg(L, 2);
    size_t at = find_from(s, 0, what);
    if (at == s.len && what.len > 0)
        lua_pushnil(L);
    else
        lua_pushinteger(L, (lua_Integer)at + 1);
    return 1;
}

static int lib_starts_with(lua_State *L) {
    struct slice s = text_arg(L, 1), what = text_arg(L, 2);
    lua_pushboolean(L, what.len <= s.len && memcmp(s.ptr, what.ptr, what.len) == 0);
    return 1;
}

static int lib_ends_with(lua_State *L) {
    struct slice s = text_arg(L, 1), what = text_arg(L, 2);
    lua_pushboolean(L, what.len <= s.len && memcmp(s.ptr + s.len - what.len, what.ptr, what.len) == 0);
    return 1;
}

static int lib_split(lua_State *L) {
    struct slice s = text_arg(L, 1), by = text_arg(L, 2);
    luaL_argcheck(L, by.len > 0, 2, "expected a text to split by");
    lua_newtable(L);
    for (size_t from = 0, count = 1;; count++) {
        size_t to = find_from(s, from, by);
        push_slice(L, slice_of(s.ptr + from, to - from));
        lua_rawseti(L, -2, (lua_Integer)count);
        expr_charge(L, 1);
        if (to == s.len) return 1;
        from = to + by.len;
    }
}

static int lib_replace(lua_State *L) {
    struct slice s = text_arg(L, 1), what = text_arg(L, 2), with = text_arg(L, 3);
    luaL_Buffer b;
    luaL_argcheck(L, what.len > 0, 2, "expected a text to replace");
    luaL_buffinit(L, &b);
    for (size_t from = 0;;) {
        size_t to = find_from(s, from, what);
        luaL_addlstring(&b, (const char *)s.ptr + from, to - from);
        if (to == s.len) break;
        luaL_addlstring(&b, (const char *)with.ptr, with.len);
        from = to + what.len;
    }
    luaL_pushresult(&b);
    return 1;
}

/* date(time, "-1d", "YYYY/MM/DD"): what begins with a sign moves the time, anything else is the format. */
#define DATE_FORMAT_BYTES 100u
#define DATE_STEPS 100 /* of reading, moving and writing one */

static int lib_date(lua_State *L) {
    const struct zone *z = expr_of(L)->in->scope->zone;
    struct slice time = text_arg(L, 1), format = SLICE("YYYY-MM-DD");
    struct why why = {{0}};
    int64_t utc;
    uint8_t room[DATE_FORMAT_BYTES * MOMENT_WORD_BYTES];
    struct buf out = {.at = room, .slots = sizeof room, .max = sizeof room};
    expr_charge(L, DATE_STEPS);
    if (z == NULL) z = zone_utc;
    enum err e = moment_read(time, z, &utc) ? ERR_OK
                                            : why_set(&why, ERR_INVALID,
                                                      "expected a time like 2026-03-01 or 2026-03-01T08:00:00Z, "
                                                      "found `%.*s`",
                                                      SLICE_FMT(time));
    for (int i = 2; e == ERR_OK && i <= lua_gettop(L); i++) {
        struct slice text = text_arg(L, i);
        bool is_move = text.len > 0 && (text.ptr[0] == '+' || text.ptr[0] == '-');
        if (is_move)
            e = moment_move(z, utc, text, &utc, &why);
        else
            format = text;
    }
    if (e == ERR_OK && format.len > DATE_FORMAT_BYTES)
        e = why_set(&why, ERR_LIMIT, "a format of more than %u bytes", DATE_FORMAT_BYTES);
    if (e == ERR_OK) e = moment_format(z, utc, format, &out, &why);
    if (e != ERR_OK) return luaL_error(L, "date: %s", why.text);
    lua_pushlstring(L, (const char *)room, out.len);
    return 1;
}

/* pad(7, 3) is "007"; texts get spaces in front. */
static int lib_pad(lua_State *L) {
    bool is_number = lua_type(L, 1) == LUA_TNUMBER;
    lua_Integer width = luaL_checkinteger(L, 2);
    struct slice s = text_arg(L, 1);
    luaL_Buffer b;
    luaL_argcheck(L, width >= 0 && width <= 1000, 2, "expected 0 to 1000");
    luaL_buffinit(L, &b);
    for (size_t i = s.len; i < (size_t)width; i++) luaL_addchar(&b, is_number ? '0' : ' ');
    luaL_addlstring(&b, (const char *)s.ptr, s.len);
    luaL_pushresult(&b);
    return 1;
}

/* ---- texts and lists ---- */

static int lib_len(lua_State *L) {
    if (lua_type(L, 1) == LUA_TSTRING) {
        lua_pushinteger(L, (lua_Integer)lua_rawlen(L, 1));
        return 1;
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_pushinteger(L, (lua_Integer)expr_walk(L, 1));
    return 1;
}

static int lib_contains(lua_State *L) {
    bool found = false;
    if (lua_type(L, 1) == LUA_TSTRING) {
        struct slice s = text_arg(L, 1), what = text_arg(L, 2);
        found = what.len == 0 || find_from(s, 0, what) < s.len;
    } else {
        lua_Integer count = list_arg(L, 1);
        luaL_checkany(L, 2);
        if (lua_type(L, 2) == LUA_TSTRING) expr_charge_compare(L, lua_rawlen(L, 2), (size_t)count);
        for (lua_Integer i = 1; i <= count && !found; i++) {
            lua_rawgeti(L, 1, i);
            found = lua_rawequal(L, -1, 2);
            lua_pop(L, 1);
        }
    }
    lua_pushboolean(L, found);
    return 1;
}

static int lib_join(lua_State *L) {
    lua_Integer count = list_arg(L, 1);
    size_t len;
    const char *by = luaL_optlstring(L, 2, "", &len);
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    for (lua_Integer i = 1; i <= count; i++) {
        if (i > 1) luaL_addlstring(&b, by, len);
        lua_rawgeti(L, 1, i);
        if (!lua_isstring(L, -1)) luaL_error(L, "join: item %I is a %s", i, luaL_typename(L, -1));
        expr_charge_bytes(L, 16 + len + (lua_type(L, -1) == LUA_TSTRING ? lua_rawlen(L, -1) : 0));
        luaL_addvalue(&b);
    }
    luaL_pushresult(&b);
    return 1;
}

/* ---- lists ---- */

static int lib_range(lua_State *L) {
    lua_Integer from = lua_isnoneornil(L, 2) ? 1 : luaL_checkinteger(L, 1);
    lua_Integer to = lua_isnoneornil(L, 2) ? luaL_checkinteger(L, 1) : luaL_checkinteger(L, 2);
    lua_newtable(L);
    for (lua_Integer i = from, place = 1; i <= to; i++, place++) {
        expr_charge(L, 1);
        lua_pushinteger(L, i);
        lua_rawseti(L, -2, place);
        if (i == LUA_MAXINTEGER) break;
    }
    return 1;
}

static int lib_keys(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    expr_sorted_keys(L, 1);
    return 1;
}

static int lib_sort(lua_State *L) {
    (void)list_arg(L, 1);
    expr_sort(L, 1);
    return 1;
}

static int lib_sum(lua_State *L) {
    lua_Integer count = list_arg(L, 1);
    lua_pushinteger(L, 0);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, 1, i);
        if (lua_type(L, -1) != LUA_TNUMBER) luaL_error(L, "sum: item %I is a %s", i, luaL_typename(L, -1));
        lua_arith(L, LUA_OPADD);
    }
    return 1;
}

static int lib_slice(lua_State *L) {
    lua_Integer from, to, place = 1;
    range_arg(L, list_arg(L, 1), &from, &to);
    lua_newtable(L);
    for (; from <= to; from++, place++) {
        lua_rawgeti(L, 1, from);
        lua_rawseti(L, -2, place);
    }
    return 1;
}

/* map(list, function), filter(list, function): the function gets the item and its place. */
static int each(lua_State *L, bool filters) {
    lua_Integer count = list_arg(L, 1), place = 0;
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    lua_newtable(L);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_pushvalue(L, 2);
        lua_rawgeti(L, 1, i);
        lua_pushinteger(L, i);
        lua_call(L, 2, 1);
        expr_charge(L, 1);
        bool kept = !filters || lua_toboolean(L, -1);
        if (filters) {
            lua_pop(L, 1);
            lua_rawgeti(L, 1, i);
        } else if (lua_isnil(L, -1)) {
            luaL_error(L, "map: the function gave nil for item %I", i);
        }
        if (kept)
            lua_rawseti(L, 3, ++place);
        else
            lua_pop(L, 1);
    }
    return 1;
}

static int lib_map(lua_State *L) {
    return each(L, false);
}

static int lib_filter(lua_State *L) {
    return each(L, true);
}

/* product("os", list, "version", list): an object for each way to take one of each; the last name varies fastest. A
 * number n is the list 1 to n. */
#define PRODUCT_LISTS_MAX 8

static lua_Integer product_count(lua_State *L, int at) {
    lua_Integer count = lua_isinteger(L, at) ? lua_tointeger(L, at) : expr_list_length(L, at);
    if (count < 0)
        luaL_error(L, "%s: `%s` is %s; expected a list or a whole number", expr_of(L)->in->name,
                   lua_tostring(L, at - 1), lua_isnil(L, at) ? "nothing" : luaL_typename(L, at));
    return count;
}

static int lib_product(lua_State *L) {
    int lists = lua_gettop(L) / 2;
    lua_Integer most = expr_of(L)->in->limits->foreach_items_max, total = 1, counts[PRODUCT_LISTS_MAX];
    luaL_argcheck(L, lists > 0 && lists <= PRODUCT_LISTS_MAX && lua_gettop(L) % 2 == 0, 1,
                  "expected 1 to 8 names, each with its list");
    for (int i = 0; i < lists; i++) {
        luaL_checktype(L, 2 * i + 1, LUA_TSTRING);
        counts[i] = product_count(L, 2 * i + 2);
        if (counts[i] > 0 && total > most / counts[i])
            luaL_error(L, "%s: more than %I items (foreach_items_max)", expr_of(L)->in->name, most);
        total *= counts[i];
    }
    lua_createtable(L, (int)total, 0);
    for (lua_Integer t = 0; t < total; t++) {
        expr_charge(L, 1 + (size_t)lists);
        lua_createtable(L, 0, lists);
        lua_Integer rest = t;
        for (int i = lists - 1; i >= 0; i--) {
            lua_pushvalue(L, 2 * i + 1);
            if (lua_isinteger(L, 2 * i + 2))
                lua_pushinteger(L, rest % counts[i] + 1);
            else
                lua_rawgeti(L, 2 * i + 2, rest % counts[i] + 1);
            lua_rawset(L, -3);
            rest /= counts[i];
        }
        lua_rawseti(L, -2, t + 1);
    }
    return 1;
}

/* Whether the object at `item` has all that the one at `like` has. */
static bool is_like(lua_State *L, int item, int like) {
    bool all = true;
    (void)expr_walk(L, like);
    for (lua_pushnil(L); lua_next(L, like); lua_pop(L, 1)) {
        if (lua_type(L, -1) == LUA_TSTRING) expr_charge_compare(L, lua_rawlen(L, -1), 1);
        lua_pushvalue(L, -2);
        lua_rawget(L, item);
        all &= lua_rawequal(L, -1, -2);
        lua_pop(L, 1);
    }
    return all;
}

/* exclude(list, objects): the items of the list, without those that have all that one of the objects has. */
static int lib_exclude(lua_State *L) {
    lua_Integer count = list_arg(L, 1), others = list_arg(L, 2), place = 0;
    lua_settop(L, 2);
    lua_newtable(L);
    for (lua_Integer i = 1; i <= count; i++) {
        bool gone = false;
        expr_charge(L, 1);
        lua_rawgeti(L, 1, i);
        for (lua_Integer k = 1; k <= others && !gone && lua_istable(L, 4); k++) {
            if (lua_rawgeti(L, 2, k) != LUA_TTABLE)
                luaL_error(L, "exclude: %I is a %s; expected an object", k, luaL_typename(L, 5));
            gone = is_like(L, 4, 5);
            lua_settop(L, 4);
        }
        if (gone)
            lua_pop(L, 1);
        else
            lua_rawseti(L, 3, ++place);
    }
    return 1;
}

static int lib_concat(lua_State *L) {
    lua_Integer place = 0;
    int lists = lua_gettop(L);
    lua_newtable(L);
    for (int i = 1; i <= lists; i++) {
        lua_Integer count = list_arg(L, i);
        for (lua_Integer k = 1; k <= count; k++) {
            expr_charge(L, 1);
            lua_rawgeti(L, i, k);
            lua_rawseti(L, lists + 1, ++place);
        }
    }
    return 1;
}

/* ---- walking ---- */

static int next_item(lua_State *L) {
    lua_Integer i = luaL_checkinteger(L, 2) + 1;
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_pushinteger(L, i);
    return lua_rawgeti(L, 1, i) == LUA_TNIL ? 1 : 2;
}

static int lib_ipairs(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_pushcfunction(L, next_item);
    lua_pushvalue(L, 1);
    lua_pushinteger(L, 0);
    return 3;
}

/* Upvalues: the table, its keys in their order, how many are done. */
static int next_pair(lua_State *L) {
    lua_Integer i = lua_tointeger(L, lua_upvalueindex(3)) + 1;
    lua_pushinteger(L, i);
    lua_replace(L, lua_upvalueindex(3));
    if (lua_rawgeti(L, lua_upvalueindex(2), i) == LUA_TNIL) return 1;
    lua_pushvalue(L, -1);
    lua_rawget(L, lua_upvalueindex(1));
    return 2;
}

static int lib_pairs(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_pushvalue(L, 1);
    expr_sorted_keys(L, 1);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, next_pair, 3);
    return 1;
}

/* ---- kinds of values ---- */

static int lib_type(lua_State *L) {
    luaL_checkany(L, 1);
    lua_pushstring(L, lua_islightuserdata(L, 1) ? "null" : luaL_typename(L, 1));
    return 1;
}

static int lib_json(lua_State *L) {
    struct expr *x = expr_of(L);
    struct buf out;
    luaL_checkany(L, 1);
    /* Its memory is taken before, so that nothing is lost when writing ends in an error. */
    uint8_t *room = lua_newuserdatauv(L, EXPR_STRING_MAX, 0);
    out = (struct buf){room, 0, EXPR_STRING_MAX, EXPR_STRING_MAX, false};
    expr_json_write(L, 1, &out);
    if (out.full) luaL_error(L, "%s: a value of more than %d bytes as text", x->in->name, (int)EXPR_STRING_MAX);
    push_slice(L, buf_slice(&out));
    return 1;
}

static int lib_tostring(lua_State *L) {
    luaL_checkany(L, 1);
    if (lua_type(L, 1) == LUA_TTABLE) return lib_json(L);
    if (lua_type(L, 1) == LUA_TFUNCTION)
        lua_pushliteral(L, "function");
    else if (lua_islightuserdata(L, 1))
        lua_pushliteral(L, "null");
    else
        (void)luaL_tolstring(L, 1, NULL);
    return 1;
}

static int lib_tonumber(lua_State *L) {
    size_t len = 0;
    luaL_checkany(L, 1);
    if (lua_type(L, 1) == LUA_TNUMBER) {
        lua_settop(L, 1);
        return 1;
    }
    const char *text = lua_type(L, 1) == LUA_TSTRING ? lua_tolstring(L, 1, &len) : NULL;
    if (text == NULL || lua_stringtonumber(L, text) != len + 1) lua_pushnil(L);
    return 1;
}

static int lib_error(lua_State *L) {
    return luaL_error(L, "%s", luaL_checkstring(L, 1));
}

/* ---- numbers ---- */

static int rounded(lua_State *L, double (*how)(double)) {
    if (lua_isinteger(L, 1)) {
        lua_settop(L, 1);
        return 1;
    }
    lua_Number value = how(luaL_checknumber(L, 1));
    lua_Integer whole;
    if (lua_numbertointeger(value, &whole))
        lua_pushinteger(L, whole);
    else
        lua_pushnumber(L, value);
    return 1;
}

static int lib_floor(lua_State *L) {
    return rounded(L, floor);
}

static int lib_ceil(lua_State *L) {
    return rounded(L, ceil);
}

static int lib_abs(lua_State *L) {
    if (lua_isinteger(L, 1) && lua_tointeger(L, 1) != LUA_MININTEGER)
        lua_pushinteger(L, lua_tointeger(L, 1) < 0 ? -lua_tointeger(L, 1) : lua_tointeger(L, 1));
    else
        lua_pushnumber(L, fabs(luaL_checknumber(L, 1)));
    return 1;
}

/* Of its arguments, or of one list. */
static int extreme(lua_State *L, bool largest) {
    int count = lua_gettop(L), best = 1;
    if (count == 1 && lua_istable(L, 1)) {
        count = (int)list_arg(L, 1);
        if (count > 200) luaL_error(L, "more than 200 items: sort them");
        luaL_checkstack(L, count, "too many items");
        for (int i = 1; i <= count; i++)
            if (lua_rawgeti(L, 1, i) == LUA_TSTRING) expr_charge_bytes(L, lua_rawlen(L, -1));
        lua_remove(L, 1);
    }
    luaL_argcheck(L, count >= 1, 1, "expected a number");
    for (int i = 1; i <= count; i++) {
        (void)luaL_checknumber(L, i);
        if (largest ? lua_compare(L, best, i, LUA_OPLT) : lua_compare(L, i, best, LUA_OPLT)) best = i;
    }
    lua_pushvalue(L, best);
    return 1;
}

static int lib_min(lua_State *L) {
    return extreme(L, false);
}

static int lib_max(lua_State *L) {
    return extreme(L, true);
}

/* ---- the tables ---- */

static const luaL_Reg on_texts[] = {
    {"upper", lib_upper},     {"lower", lib_lower}, {"trim", lib_trim},
    {"sub", lib_sub},         {"find", lib_find},   {"starts_with", lib_starts_with},
    {"split", lib_split},     {"len", lib_len},     {"ends_with", lib_ends_with},
    {"replace", lib_replace}, {"pad", lib_pad},     {"contains", lib_contains},
};

static const luaL_Reg on_values[] = {
    {"join", lib_join},         {"range", lib_range},     {"keys", lib_keys},         {"sort", lib_sort},
    {"sum", lib_sum},           {"slice", lib_slice},     {"map", lib_map},           {"filter", lib_filter},
    {"ipairs", lib_ipairs},     {"pairs", lib_pairs},     {"type", lib_type},         {"json", lib_json},
    {"tostring", lib_tostring}, {"error", lib_error},     {"tonumber", lib_tonumber}, {"floor", lib_floor},
    {"ceil", lib_ceil},         {"abs", lib_abs},         {"min", lib_min},           {"max", lib_max},
    {"date", lib_date},         {"product", lib_product}, {"exclude", lib_exclude},   {"concat", lib_concat},
};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

const char *expr_function(size_t number) {
    if (number < COUNT(on_texts)) return on_texts[number].name;
    number -= COUNT(on_texts);
    return number < COUNT(on_values) ? on_values[number].name : NULL;
}

/* Every function is called through this one. Its upvalue is the function. */
static int call(lua_State *L) {
    const luaL_Reg *function = lua_touserdata(L, lua_upvalueindex(1));
    for (int i = lua_gettop(L); i > 0; i--)
        if (lua_type(L, i) == LUA_TSTRING) expr_charge_bytes(L, lua_rawlen(L, i));
    return function->func(L);
}

static void push_function(lua_State *L, const luaL_Reg *function) {
    lua_pushlightuserdata(L, (void *)(uintptr_t)function);
    lua_pushcclosure(L, call, 1);
}

void expr_lib_open(lua_State *L) {
    lua_pushliteral(L, "");
    lua_createtable(L, 0, 1);
    lua_createtable(L, 0, COUNT(on_texts));
    for (size_t i = 0; i < COUNT(on_texts); i++) {
        push_function(L, &on_texts[i]);
        lua_pushvalue(L, -1);
        lua_setglobal(L, on_texts[i].name);
        lua_setfield(L, -2, on_texts[i].name);
    }
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
    for (size_t i = 0; i < COUNT(on_values); i++) {
        push_function(L, &on_values[i]);
        lua_setglobal(L, on_values[i].name);
    }
    lua_pushlightuserdata(L, NULL);
    lua_setglobal(L, "null");
}
