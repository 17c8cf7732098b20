/* edit.c: see edit.h. */
#include "edit.h"

#include <stdio.h>

#include "panic.h"
#include "utf8.h"

void edit_init(struct edit *e) {
    *e = (struct edit){0};
    vec_init(&e->history, sizeof(struct bytes *));
}

void edit_fini(struct edit *e) {
    for (uint32_t i = 0; i < e->history.count; i++) bytes_free(*(struct bytes **)vec_at(&e->history, i));
    vec_fini(&e->history);
}

void edit_clear(struct edit *e) {
    e->text[0] = e->wanted[0] = 0;
    e->len = e->at = 0;
    e->past = 0;
    e->is_searching = false;
}

/* ---- the text ---- */

void edit_insert(struct edit *e, struct slice text) {
    text = utf8_cut(text, EDIT_BYTES_MAX - e->len);
    memmove(e->text + e->at + text.len, e->text + e->at, e->len - e->at + 1);
    if (text.len > 0) memcpy(e->text + e->at, text.ptr, text.len);
    e->at += text.len;
    e->len += text.len;
}

static void cut(struct edit *e, size_t from, size_t to) {
    memmove(e->text + from, e->text + to, e->len - to + 1);
    e->len -= to - from;
    e->at = from;
}

void edit_replace(struct edit *e, size_t from, struct slice text) {
    REQUIRE(from <= e->at);
    cut(e, from, e->at);
    edit_insert(e, text);
}

static void kill(struct edit *e, size_t from, size_t to) {
    if (from == to) return;
    memcpy(e->killed, e->text + from, to - from);
    e->killed[to - from] = 0;
    cut(e, from, to);
}

static void set(struct edit *e, struct slice text) {
    e->len = e->at = 0;
    e->text[0] = 0;
    edit_insert(e, text);
}

/* ---- moving ---- */

static size_t before(const struct edit *e, size_t at) {
    while (at > 0 && (e->text[--at] & 0xc0) == 0x80) continue;
    return at;
}

static size_t behind(const struct edit *e, size_t at) {
    if (at < e->len) at++;
    while (at < e->len && (e->text[at] & 0xc0) == 0x80) at++;
    return at;
}

static bool is_in_word(char c) {
    return c != ' ' && c != '/' && c != '=' && c != '\t';
}

static size_t word_before(const struct edit *e) {
    size_t at = e->at;
    while (at > 0 && !is_in_word(e->text[at - 1])) at--;
    while (at > 0 && is_in_word(e->text[at - 1])) at--;
    return at;
}

static size_t blank_before(const struct edit *e) {
    size_t at = e->at;
    while (at > 0 && e->text[at - 1] == ' ') at--;
    while (at > 0 && e->text[at - 1] != ' ') at--;
    return at;
}

static size_t word_behind(const struct edit *e) {
    size_t at = e->at;
    while (at < e->len && !is_in_word(e->text[at])) at++;
    while (at < e->len && is_in_word(e->text[at])) at++;
    return at;
}

/* ---- history ---- */

static struct slice remembered(const struct edit *e, uint32_t past) {
    return bytes_slice(*(struct bytes **)vec_at(&e->history, e->history.count - past));
}

void edit_remember(struct edit *e, struct slice line) {
    if (line.len == 0 || (e->history.count > 0 && slice_eq(remembered(e, 1), line))) return;
    if (e->history.count == EDIT_HISTORY_MAX) {
        bytes_free(*(struct bytes **)vec_at(&e->history, 0));
        e->history.count--;
        memmove(e->history.at, e->history.at + e->history.elem_bytes, (size_t)e->history.count * e->history.elem_bytes);
    }
    *(struct bytes **)vec_push(&e->history) = bytes_new(line);
}

static void go_back(struct edit *e, int lines) {
    if ((lines < 0 && e->past == 0) || (lines > 0 && e->past == e->history.count)) return;
    if (e->past == 0) memcpy(e->kept, e->text, e->len + 1);
    e->past = (uint32_t)((int)e->past + lines);
    set(e, e->past == 0 ? slice_str(e->kept) : remembered(e, e->past));
}

/* The newest line that has the wanted text and is not newer than `past`. */
static void search(struct edit *e, uint32_t past) {
    for (uint32_t i = past < 1 ? 1 : past; i <= e->history.count; i++) {
        struct slice line = remembered(e, i);
        if (memmem(slice_data(line), line.len, e->wanted, strlen(e->wanted)) == NULL) continue;
        e->past = i;
        set(e, line);
        return;
    }
}

static enum edit_event search_key(struct edit *e, const struct key_press *key) {
    size_t len = strlen(e->wanted);
    if (key->kind == KEY_CTRL && key->code == 'r') {
        search(e, e->past + 1);
    } else if (key->kind == KEY_BACKSPACE) {
        if (len > 0) e->wanted[len - 1] = 0;
        search(e, 1);
    } else if (key->kind == KEY_TEXT && key->code < 0x7f && len + 1 < sizeof e->wanted) {
        e->wanted[len] = (char)key->code;
        e->wanted[len + 1] = 0;
        search(e, e->past);
    } else {
        bool is_given_up = key->kind == KEY_CTRL && (key->code == 'g' || key->code == 'c');
        e->is_searching = false;
        if (is_given_up) edit_clear(e);
        if (!is_given_up && key->kind != KEY_ESCAPE) return edit_key(e, key);
    }
    return EDIT_GOES_ON;
}

/* ---- keys ---- */

static enum edit_event ctrl_key(struct edit *e, uint32_t letter) {
    switch (letter) {
    case 'a': e->at = 0; break;
    case 'e': e->at = e->len; break;
    case 'b': e->at = before(e, e->at); break;
    case 'f': e->at = behind(e, e->at); break;
    case 'p': go_back(e, 1); break;
    case 'n': go_back(e, -1); break;
    case 'k': kill(e, e->at, e->len); break;
    case 'u': kill(e, 0, e->at); break;
    case 'w': kill(e, blank_before(e), e->at); break;
    case 'y': edit_insert(e, slice_str(e->killed)); break;
    case 'l': return EDIT_REDRAW;
    case 'z': return EDIT_SUSPEND;
    case 'c': return EDIT_INTERRUPTED;
    case 'd':
        if (e->len == 0) return EDIT_END;
        cut(e, e->at, behind(e, e->at));
        break;
    case 't':
        if (e->at > 0 && e->at < e->len && !((e->text[e->at - 1] | e->text[e->at]) & 0x80)) {
            char c = e->text[e->at];
            e->text[e->at] = e->text[e->at - 1];
            e->text[e->at++ - 1] = c;
        }
        break;
    case 'r':
        e->is_searching = true;
        e->wanted[0] = 0;
        break;
    default: break;
    }
    return EDIT_GOES_ON;
}

static void alt_key(struct edit *e, uint32_t letter) {
    if (letter == 'b') e->at = word_before(e);
    if (letter == 'f') e->at = word_behind(e);
    if (letter == 'd') {
        size_t from = e->at;
        kill(e, from, word_behind(e));
    }
}

enum edit_event edit_key(struct edit *e, const struct key_press *key) {
    uint8_t bytes[UTF8_BYTES_MAX];
    if (e->is_searching) return search_key(e, key);
    switch (key->kind) {
    case KEY_TEXT:
        if (key->is_alt)
            alt_key(e, key->code);
        else
            edit_insert(e, slice_of(bytes, utf8_write(key->code, bytes)));
        break;
    case KEY_CTRL: return ctrl_key(e, key->code);
    case KEY_ENTER: return EDIT_LINE;
    case KEY_TAB: return EDIT_COMPLETE;
    case KEY_BACKSPACE:
        if (key->is_alt)
            kill(e, word_before(e), e->at);
        else
            cut(e, before(e, e->at), e->at);
        break;
    case KEY_DELETE: cut(e, e->at, behind(e, e->at)); break;
    case KEY_LEFT: e->at = key->is_alt ? word_before(e) : before(e, e->at); break;
    case KEY_RIGHT: e->at = key->is_alt ? word_behind(e) : behind(e, e->at); break;
    case KEY_HOME: e->at = 0; break;
    case KEY_END: e->at = e->len; break;
    case KEY_UP: go_back(e, 1); break;
    case KEY_DOWN: go_back(e, -1); break;
    case KEY_NONE:
    case KEY_BACKTAB:
    case KEY_ESCAPE:
    case KEY_PAGE_UP:
    case KEY_PAGE_DOWN: break;
    }
    return EDIT_GOES_ON;
}

/* ---- drawing ---- */

void edit_draw(const struct edit *e, struct screen *s, uint32_t row, struct slice prompt) {
    char searching[160];
    if (e->is_searching) {
        snprintf(searching, sizeof searching, "(search `%s`) ", e->wanted);
        prompt = slice_str(searching);
    }
    uint32_t room = s->cols * 2u / 3u, used = screen_put(s, row, 0, room, SCREEN_BOLD, prompt);
    uint32_t width = s->cols > used + 1u ? s->cols - used - 1u : 1;
    size_t from = 0; /* the first byte that is shown: so that the cursor is in view */
    while (screen_width(slice_of(e->text + from, e->at - from)) > width) from = behind(e, from);
    struct slice shown = slice_of(e->text + from, e->len - from);
    screen_put(s, row, used, width, SCREEN_PLAIN, shown);
    screen_cursor(s, row, used + screen_width(slice_of(e->text + from, e->at - from)));
}
