/* hword.c: see hword.h.
 *
 * The index walks the rows of a word from the newest to the oldest, and stops when a page is full. Of a beginning it
 * would gather the rows of all words that begin so before it gives the first: a fifth of a second for a million. So a
 * beginning is asked for as the words that it is the beginning of, as long as they are not too many. */
#include "hword.h"

#include <string.h>

#include "panic.h"

#define TERMS_MAX 64u /* words that a beginning is asked for as */
#define TERM_BYTES 128u

bool hword_has(struct slice text) {
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
    }
    return false;
}

static bool is_space(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* In quotes nothing has a meaning of its own. */
static void put_quoted(struct buf *out, struct slice text) {
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"') buf_put_u8(out, '"');
        buf_put_u8(out, text.ptr[i] == 0 ? ' ' : text.ptr[i]);
    }
}

static void put_phrase(struct buf *out, const char *before, struct slice text, bool is_beginning) {
    buf_printf(out, "%s%s\"", out->len > 0 ? " AND " : "", before);
    put_quoted(out, text);
    buf_printf(out, is_beginning ? "\" *" : "\"");
}

/* ---- beginnings ---- */

struct terms {
    uint32_t count;
    char at[TERMS_MAX][TERM_BYTES];
};

/* The words that begin so, in order. Too many, or one that is too long: none. */
static enum err terms_read(struct hdb *d, struct slice begin, struct terms *ret, struct why *why) {
    sqlite3_stmt *q = NULL;
    char next[TERM_BYTES] = "";
    bool row = true, fits = begin.len < sizeof next;
    ret->count = 0;
    if (!fits) return ERR_OK;
    memcpy(next, begin.ptr, begin.len);
    enum err e = hdb_prepare(d, "SELECT term FROM term WHERE term >= ?1 LIMIT 1", &q, why);
    while (e == ERR_OK && fits) {
        hdb_bind_text(q, 1, slice_str(next));
        e = hdb_step(d, q, &row, why);
        if (e != ERR_OK || !row) break;
        struct slice term = hdb_column(q, 0);
        if (term.len < begin.len || memcmp(term.ptr, begin.ptr, begin.len) != 0) break;
        fits = term.len + 2 < sizeof next && ret->count < TERMS_MAX;
        if (fits) {
            memcpy(ret->at[ret->count++], term.ptr, term.len);
            memcpy(next, term.ptr, term.len);
            memcpy(next + term.len, "\x01", 2); /* not through all its rows: to what comes behind it */
        }
        (void)sqlite3_reset(q);
    }
    (void)sqlite3_finalize(q);
    if (!fits) ret->count = 0;
    return e;
}

/* The end of a word as the index has it: small letters and digits. Others are left to it. */
static bool last_piece(struct slice word, char ret[TERM_BYTES], size_t *ret_from) {
    size_t from = word.len, len = 0;
    for (size_t i = 0; i < word.len; i++)
        if (word.ptr[i] >= 0x80) return false;
    while (from > 0 && hword_has(slice_of(word.ptr + from - 1, 1))) from--;
    if (word.len == from || word.len - from >= TERM_BYTES) return false;
    for (size_t i = from; i < word.len; i++) {
        uint8_t c = word.ptr[i];
        ret[len++] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    ret[len] = 0;
    *ret_from = from;
    return true;
}

static enum err put_beginning(struct hdb *d, struct slice word, struct buf *out, struct why *why) {
    static const char *const separators[] = {"(\"", " OR \""};
    struct terms terms = {0};
    char piece[TERM_BYTES];
    size_t from = 0;
    enum err e = last_piece(word, piece, &from) ? terms_read(d, slice_str(piece), &terms, why) : ERR_OK;
    if (e != ERR_OK) return e;
    if (terms.count == 0) {
        put_phrase(out, "", word, true);
        return ERR_OK;
    }
    if (out->len > 0) buf_printf(out, " AND ");
    for (uint32_t i = 0; i < terms.count; i++) {
        buf_put_slice(out, slice_str(separators[i > 0]));
        put_quoted(out, slice_of(word.ptr, from));
        buf_put_slice(out, slice_str(terms.at[i]));
        buf_put_u8(out, '"');
    }
    buf_put_u8(out, ')');
    return ERR_OK;
}

/* ---- all of it ---- */

enum err hword_match(struct hdb *d, const struct history_query *q, struct buf *ret, struct why *why) {
    enum err e = ERR_OK;
    for (size_t at = 0; e == ERR_OK && at < q->text.len;) {
        size_t end = at;
        while (end < q->text.len && !is_space(q->text.ptr[end])) end++;
        struct slice word = slice_of(q->text.ptr + at, end - at);
        if (hword_has(word) && end == q->text.len)
            e = put_beginning(d, word, ret, why);
        else if (hword_has(word))
            put_phrase(ret, "", word, false);
        for (at = end; at < q->text.len && is_space(q->text.ptr[at]);) at++;
    }
    if (hword_has(q->job)) put_phrase(ret, "jobs : ", q->job, false);
    if (hword_has(q->name)) put_phrase(ret, "name : ^ ", q->name, true);
    for (uint32_t i = 0; i < q->label_count; i++)
        if (hword_has(q->labels[i])) put_phrase(ret, "labels : ", q->labels[i], false);
    if (hword_has(q->label_key)) put_phrase(ret, "labels : ", q->label_key, false);
    return e;
}
