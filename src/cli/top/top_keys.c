/* top_keys.c: what keys do in `reeve top`. */
#include <stdio.h>

#include "top.h"
#include "tty.h"

static void say(struct top *t, const char *text) {
    t->message_style = SCREEN_YELLOW;
    snprintf(t->message, sizeof t->message, "%s", text);
}

/* ---- what changes something: asked about first ---- */

static void confirm(struct top *t, enum wire_op op, const char *verb, struct slice target, const char *done) {
    t->action = (struct top_action){.op = op};
    snprintf(t->action.target, sizeof t->action.target, "%.*s", SLICE_FMT(target));
    snprintf(t->action.text, sizeof t->action.text, "%s %s", verb, t->action.target);
    snprintf(t->action.done, sizeof t->action.done, "%s", done);
    t->is_confirming = true;
}

/* The flow or job that keys are about: the selected one, or the one that is looked at. */
static struct slice subject(struct top *t) {
    const struct top_view *v = top_view(t);
    if (!top_is_list(v->kind)) return slice_str(v->target);
    const struct top_row *row = top_selected(t);
    return row != NULL ? row->id : (struct slice){0};
}

static void confirm_service(struct top *t, uint8_t desired) {
    static const char *const verbs[] = {"start", "stop", "forget", "restart"};
    static const char *const done[] = {"is started", "stops", "is forgotten", "is restarted"};
    const struct top_row *row = top_selected(t);
    if (row == NULL) return;
    confirm(t, WIRE_SERVICE_SET, verbs[desired], row->text[0], done[desired]);
    t->action.desired = desired;
}

static void key_cancel(struct top *t) {
    enum top_kind kind = top_view(t)->kind;
    struct slice target = subject(t);
    if (kind == TOP_SERVICES) {
        const struct top_row *row = top_selected(t);
        confirm_service(t, row != NULL && row->is_paused ? WIRE_DESIRED_RUNNING : WIRE_DESIRED_STOPPED);
        return;
    }
    if (target.len == 0 || kind == TOP_WORKERS || kind == TOP_DEAD || kind == TOP_HELP || kind == TOP_ASK) return;
    confirm(t, WIRE_CANCEL, "cancel", target, "is cancelled");
}

static void key_retry(struct top *t) {
    enum top_kind kind = top_view(t)->kind;
    struct slice target = subject(t);
    if (target.len == 0) return;
    if (kind == TOP_SERVICES) confirm_service(t, WIRE_DESIRED_RESTART);
    if (kind == TOP_FLOWS) confirm(t, WIRE_RERUN, "rerun the failed jobs of", target, "is rerun");
    if (kind == TOP_DEAD || kind == TOP_JOBS || kind == TOP_JOB || kind == TOP_LOG)
        confirm(t, WIRE_RETRY, "retry", target, "is retried");
}

static void key_pause(struct top *t) {
    const struct top_row *row = top_is_list(top_view(t)->kind) ? top_selected(t) : NULL;
    enum top_kind kind = top_view(t)->kind;
    if (row == NULL) return;
    if (kind == TOP_FLOWS && row->is_paused) confirm(t, WIRE_RESUME, "resume", row->id, "resumed");
    if (kind == TOP_FLOWS && !row->is_paused) confirm(t, WIRE_PAUSE, "pause", row->id, "is paused");
    if (kind != TOP_WORKERS) return;
    confirm(t, WIRE_DRAIN, row->is_paused ? "undo the drain of" : "drain", row->id,
            row->is_paused ? "accepts jobs again" : "is draining");
    t->action.undo = row->is_paused;
}

/* From the list of questions to what is asked; there, to the verdict. The hash is that of what is on the screen. */
static void key_decide(struct top *t, bool is_yes) {
    struct top_view *v = top_view(t);
    const struct top_row *row = v->kind == TOP_QUESTIONS ? top_selected(t) : NULL;
    if (row != NULL && slice_eq(row->text[1], SLICE("approval"))) {
        char target[TOP_TEXT_MAX];
        snprintf(target, sizeof target, "%.*s", SLICE_FMT(row->id));
        t->action = (struct top_action){.op = WIRE_VERDICT, .question = row->question, .revision = row->revision};
        t->action.hash_len = row->hash.len <= sizeof t->action.hash ? row->hash.len : 0;
        if (t->action.hash_len > 0) memcpy(t->action.hash, row->hash.ptr, row->hash.len);
        top_push(t, TOP_ASK, target);
        top_rows_ask(top_view(t), row);
    } else if (row != NULL) {
        say(t, "this question is not answered by a person");
    } else if (v->kind == TOP_ASK) {
        t->action.verdict = is_yes ? WIRE_VERDICT_ALLOW : WIRE_VERDICT_DENY;
        snprintf(t->action.target, sizeof t->action.target, "%s", v->target);
        snprintf(t->action.text, sizeof t->action.text, "%s %s", is_yes ? "approve" : "reject", v->target);
        snprintf(t->action.done, sizeof t->action.done, "%s", is_yes ? "is approved" : "is rejected");
        t->is_confirming = true;
    }
}

static enum err confirm_key(struct top *t, const struct key_press *key) {
    t->is_confirming = false;
    if (key->kind != KEY_TEXT || (key->code != 'y' && key->code != 'Y')) return ERR_OK;
    if (top_view(t)->kind == TOP_ASK) top_pop(t);
    return top_act(t);
}

/* ---- going about ---- */

static void go_in(struct top *t) {
    enum top_kind kind = top_view(t)->kind;
    char target[TOP_TEXT_MAX];
    struct slice id = subject(t);
    snprintf(target, sizeof target, "%.*s", SLICE_FMT(id));
    if (id.len == 0 || kind == TOP_WORKERS || kind == TOP_HELP || kind == TOP_ASK || kind == TOP_LOG) return;
    const struct top_row *row = kind == TOP_JOBS ? top_selected(t) : NULL;
    bool is_list = kind == TOP_FLOWS || (row != NULL && row->has_items);
    top_push(t, is_list ? TOP_JOBS : kind == TOP_JOB ? TOP_LOG : TOP_JOB, target);
}

static void key_log(struct top *t) {
    enum top_kind kind = top_view(t)->kind;
    char target[TOP_TEXT_MAX];
    struct slice id = subject(t);
    snprintf(target, sizeof target, "%.*s", SLICE_FMT(id));
    if (kind == TOP_FLOWS && id.len > 0) say(t, "choose a job first (enter); `reeve logs -f` shows all");
    if (id.len == 0 || kind == TOP_FLOWS || kind == TOP_WORKERS || kind == TOP_HELP || kind == TOP_LOG) return;
    top_push(t, TOP_LOG, target);
}

static void go_back(struct top *t, bool may_end) {
    struct top_view *v = top_view(t);
    if (v->filter[0] != 0)
        v->filter[0] = 0;
    else if (t->depth > 0)
        top_pop(t);
    else
        t->wants_out = may_end;
}

static void go_to_pane(struct top *t, uint32_t pane) {
    while (t->depth > 0) top_pop(t);
    t->pane = pane % TOP_PANE_COUNT;
    t->panes[t->pane].is_dirty = true;
}

static void filter_key(struct top *t, const struct key_press *key) {
    struct top_view *v = top_view(t);
    enum edit_event event = edit_key(&t->filter, key);
    if (event == EDIT_INTERRUPTED || key->kind == KEY_ESCAPE) {
        edit_clear(&t->filter);
        t->is_filtering = false;
    }
    if (event == EDIT_LINE || event == EDIT_END) t->is_filtering = false;
    snprintf(v->filter, sizeof v->filter, "%s", t->filter.text);
    v->at = v->first = 0;
    v->is_dirty = true;
}

static void text_key(struct top *t, uint32_t code) {
    switch (code) {
    case 'k': top_view_move(t, -1, false); break;
    case 'j': top_view_move(t, 1, false); break;
    case 'g': top_view_move(t, -1, true); break;
    case 'G': top_view_move(t, 1, true); break;
    case 'q': go_back(t, true); break;
    case 'c': key_cancel(t); break;
    case 'r': key_retry(t); break;
    case 'p': key_pause(t); break;
    case 'a': key_decide(t, true); break;
    case 'x': key_decide(t, false); break;
    case 'l': key_log(t); break;
    case '/':
        edit_clear(&t->filter);
        t->is_filtering = top_view(t)->kind != TOP_HELP;
        break;
    case '?':
        if (top_view(t)->kind == TOP_HELP) break;
        top_push(t, TOP_HELP, "");
        top_rows_help(top_view(t));
        break;
    default:
        if (code >= '1' && code < '1' + TOP_PANE_COUNT) go_to_pane(t, code - '1');
    }
}

enum err top_key(struct top *t, const struct key_press *key) {
    int64_t page = t->screen.rows > 10 ? t->screen.rows - 8 : 1;
    t->is_stale = true;
    t->message[0] = 0;
    if (t->is_confirming) return confirm_key(t, key);
    if (t->is_filtering) {
        filter_key(t, key);
        return ERR_OK;
    }
    switch (key->kind) {
    case KEY_TEXT: text_key(t, key->code); break;
    case KEY_UP: top_view_move(t, -1, false); break;
    case KEY_DOWN: top_view_move(t, 1, false); break;
    case KEY_PAGE_UP: top_view_move(t, -page, false); break;
    case KEY_PAGE_DOWN: top_view_move(t, page, false); break;
    case KEY_HOME: top_view_move(t, -1, true); break;
    case KEY_END: top_view_move(t, 1, true); break;
    case KEY_ENTER:
    case KEY_RIGHT: go_in(t); break;
    case KEY_LEFT:
    case KEY_ESCAPE: go_back(t, false); break;
    case KEY_TAB: go_to_pane(t, t->pane + 1); break;
    case KEY_BACKTAB: go_to_pane(t, t->pane + TOP_PANE_COUNT - 1); break;
    case KEY_CTRL:
        t->wants_out = key->code == 'c' || key->code == 'd';
        if (key->code == 'l') screen_lost(&t->screen);
        if (key->code == 'z') tty_suspend();
        break;
    case KEY_NONE:
    case KEY_BACKSPACE:
    case KEY_DELETE: break;
    }
    return ERR_OK;
}
