/* keys.c: see keys.h. */
#include "keys.h"

#include "utf8.h"

#define ESC 0x1bu

void keys_feed(struct keys *k, struct slice bytes) {
    size_t room = sizeof k->in - k->len, n = bytes.len < room ? bytes.len : room;
    if (n > 0) memcpy(k->in + k->len, bytes.ptr, n);
    k->len += n;
}

static void drop(struct keys *k, size_t n) {
    k->len -= n;
    memmove(k->in, k->in + n, k->len);
}

/* Bytes of ESC [ … X or ESC O X, with the last; 0: it is not all there. */
static size_t sequence_len(const struct keys *k) {
    if (k->len < 3) return 0;
    if (k->in[1] == 'O') return 3;
    for (size_t i = 2; i < k->len; i++)
        if (k->in[i] >= 0x40 && k->in[i] <= 0x7e) return i + 1;
    return k->len == sizeof k->in ? k->len : 0;
}

static enum key_kind kind_of(const struct keys *k, size_t len) {
    static const struct {
        char last, first;
        enum key_kind kind;
    } table[] = {{'A', 0, KEY_UP},       {'B', 0, KEY_DOWN},      {'C', 0, KEY_RIGHT},      {'D', 0, KEY_LEFT},
                 {'H', 0, KEY_HOME},     {'F', 0, KEY_END},       {'Z', 0, KEY_BACKTAB},    {'M', 0, KEY_ENTER},
                 {'~', '1', KEY_HOME},   {'~', '7', KEY_HOME},    {'~', '4', KEY_END},      {'~', '8', KEY_END},
                 {'~', '3', KEY_DELETE}, {'~', '5', KEY_PAGE_UP}, {'~', '6', KEY_PAGE_DOWN}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (k->in[len - 1] != (uint8_t)table[i].last) continue;
        if (table[i].first == 0 || (k->in[2] == (uint8_t)table[i].first && !(k->in[3] >= '0' && k->in[3] <= '9')))
            return table[i].kind;
    }
    return KEY_NONE;
}

static bool take_sequence(struct keys *k, struct key_press *ret) {
    size_t len = sequence_len(k);
    if (len == 0) return false;
    *ret = (struct key_press){.kind = kind_of(k, len)};
    for (size_t i = 2; i + 1 < len; i++) ret->is_alt |= k->in[i] == ';'; /* with Shift, Alt or Control */
    drop(k, len);
    return true;
}

static bool take_plain(struct keys *k, bool is_all, struct key_press *ret) {
    uint8_t b = k->in[0];
    size_t n = 1;
    *ret = (struct key_press){.kind = KEY_TEXT, .code = b};
    if (b == '\r' || b == '\n') {
        ret->kind = KEY_ENTER;
    } else if (b == '\t') {
        ret->kind = KEY_TAB;
    } else if (b == 0x7f || b == 8) {
        ret->kind = KEY_BACKSPACE;
    } else if (b < 0x20) {
        *ret = (struct key_press){.kind = KEY_CTRL, .code = b + (b < 27 && b > 0 ? 0x60u : 0x40u)};
    } else if (b >= 0x80) {
        size_t want = b >= 0xf0 ? 4 : b >= 0xe0 ? 3 : 2;
        n = utf8_sequence(slice_of(k->in, k->len));
        if (n == 0 && k->len < want && !is_all) return false;
        ret->code = n > 1 ? b & (0xffu >> (n + 1)) : '?';
        for (size_t i = 1; i < n; i++) ret->code = ret->code << 6 | (k->in[i] & 0x3fu);
        if (n == 0) n = 1;
    }
    drop(k, n);
    return true;
}

bool keys_take(struct keys *k, bool is_all, struct key_press *ret) {
    if (k->len == 0) return false;
    if (k->in[0] != ESC) return take_plain(k, is_all, ret);
    if (k->len == 1 || k->in[1] == ESC) {
        if (k->len == 1 && !is_all) return false;
        drop(k, 1);
        *ret = (struct key_press){.kind = KEY_ESCAPE};
        return true;
    }
    if (k->in[1] == '[' || k->in[1] == 'O') {
        if (take_sequence(k, ret)) return true;
        if (!is_all) return false;
    }
    struct keys rest = *k;
    drop(&rest, 1);
    if (!take_plain(&rest, is_all, ret)) return false;
    *k = rest;
    ret->is_alt = true;
    return true;
}
