/* shell.c: `reeve shell`: lines typed one after the other, each a verb as on the command line, on one connection.
 *
 * A verb runs in this process, while the terminal is as the verb expects it; those that need a machine of their own
 * (serve, worker, up …) run as another process. Ctrl-C ends what runs, never the shell. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "complete.h"
#include "edit.h"
#include "out.h"
#include "tty.h"
#include "verbs.h"
#include "words.h"

#define PATH_BYTES 1024u
#define ESCAPE_MS 40
#define LISTED_MAX 60u /* choices shown; the rest is counted */

struct shell {
    struct cli *c;
    struct edit edit;
    struct keys keys;
    struct screen screen;
    char history[PATH_BYTES]; /* its file; empty = none */
    char place[64];           /* of the server, as the prompt shows it */
    char prompt[160];
    int last_code;
    bool is_over;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
    (void)number;
    interrupted = 1;
}

/* ---- history: a file that only its owner reads ---- */

static void history_find(struct shell *s) {
    const char *path = getenv("REEVE_HISTORY"), *home = getenv("HOME");
    if (path != NULL)
        snprintf(s->history, sizeof s->history, "%s", path);
    else if (home != NULL && home[0] != 0)
        snprintf(s->history, sizeof s->history, "%s/.reeve_history", home);
}

/* Too long a file is written anew with what is remembered of it. */
static void history_shorten(const struct shell *s) {
    char path[PATH_BYTES + 8];
    snprintf(path, sizeof path, "%s.new", s->history);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (f == NULL) return;
    for (uint32_t i = 0; i < s->edit.history.count; i++) {
        struct slice line = bytes_slice(*(struct bytes **)vec_at(&s->edit.history, i));
        fprintf(f, "%.*s\n", SLICE_FMT(line));
    }
    if (fclose(f) == 0) (void)rename(path, s->history);
}

static void history_load(struct shell *s) {
    char line[EDIT_BYTES_MAX + 2];
    uint32_t count = 0;
    FILE *f = s->history[0] != 0 ? fopen(s->history, "re") : NULL;
    if (f == NULL) return;
    for (; fgets(line, sizeof line, f) != NULL; count++) {
        line[strcspn(line, "\n")] = 0;
        edit_remember(&s->edit, slice_str(line));
    }
    fclose(f);
    if (count > 2 * EDIT_HISTORY_MAX) history_shorten(s);
}

/* A file that cannot be written is no reason to bother anyone. */
static void history_add(struct shell *s, struct slice line) {
    if (words_are_secret(line)) return;
    edit_remember(&s->edit, line);
    if (s->history[0] == 0) return;
    int fd = open(s->history, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return;
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        (void)fchmod(fd, 0600); /* it may be /dev/null, which is everyone's */
    (void)dprintf(fd, "%.*s\n", SLICE_FMT(line));
    close(fd);
}

/* ---- running a line ---- */

/* A verb that is a process of its own: server, worker, certificates, benchmarks. */
static int run_outside(const struct shell *s, char **words) {
    const char *data = cli_flag(s->c, "data");
    int status = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) return err_exit_code(ERR_IO);
    if (pid == 0) {
        char *argv[WORDS_MAX + 2] = {(char *)(uintptr_t) "reeve"};
        for (int i = 0; words[i] != NULL; i++) argv[i + 1] = words[i];
        if (data != NULL) setenv("REEVE_DATA", data, 1);
        signal(SIGINT, SIG_DFL);
        execv("/proc/self/exe", argv);
        _exit(127);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue; /* Ctrl-C is for it */
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SIGNAL + WTERMSIG(status);
}

static void catch_interrupts(void) {
    struct sigaction act = {.sa_handler = interrupt}; /* without SA_RESTART: what waits wakes up */
    interrupted = 0;
    sigaction(SIGINT, &act, NULL);
}

static int run_words(struct shell *s, char **words, int count) {
    int verb_words = 0;
    const struct cli_verb *verb = cli_verb_find(count, words, &verb_words);
    if (verb != NULL && strcmp(verb->words, "shell") == 0) {
        fprintf(stderr, "reeve shell: already in the shell; Ctrl-D leaves it\n");
        return err_exit_code(ERR_INVALID);
    }
    catch_interrupts();
    client_interrupt_by(&interrupted);
    int code =
        verb != NULL && verb->outside != CLI_INSIDE ? run_outside(s, words) : cli_run(s->c->world, s->c, count, words);
    client_interrupt_by(NULL);
    if (interrupted) code = EXIT_SIGNAL + SIGINT;
    catch_interrupts(); /* a verb may have had its own handler */
    clearerr(stdin);
    return code;
}

static void run_line(struct shell *s, struct slice line) {
    struct words w;
    struct arena arena;
    arena_init(&arena, 16384, (size_t)64 << 20);
    words_split(&w, &arena, line);
    char **words = w.word;
    int count = w.count;
    if (count > 0 && strcmp(words[0], "reeve") == 0) words++, count--;
    if (w.wrong != NULL) {
        fprintf(stderr, "reeve shell: %s\n", w.wrong);
        s->last_code = err_exit_code(ERR_INVALID);
    } else if (count > 0 && (strcmp(words[0], "exit") == 0 || strcmp(words[0], "quit") == 0)) {
        s->is_over = true;
    } else if (count > 0) {
        s->last_code = run_words(s, words, count);
    }
    arena_fini(&arena);
}

/* ---- typing ---- */

/* Which server, whose tenant, and how the last line ended unless well: "reeve ./data acme [5]> ". */
static void make_prompt(struct shell *s) {
    const struct client *c = &s->c->client;
    char code[16] = "";
    const char *at = strncmp(c->address, "unix:", 5) == 0 ? c->address + 5 : c->address;
    size_t len = strlen(at), tail = strlen("/reeve.sock");
    if (len > tail && strcmp(at + len - tail, "/reeve.sock") == 0) len -= tail;
    if (len > 32) at += len - 32, len = 32;
    if (c->fd >= 0 || s->place[0] == 0) snprintf(s->place, sizeof s->place, "%.*s", (int)len, at);
    bool has_tenant = c->tenant[0] != 0 && strcmp(c->tenant, "default") != 0;
    if (s->last_code != 0) snprintf(code, sizeof code, " [%d]", s->last_code);
    snprintf(s->prompt, sizeof s->prompt, "reeve %s%s%s%s> ", s->place, has_tenant ? " " : "",
             has_tenant ? c->tenant : "", code);
}

static void draw(struct shell *s) {
    struct buf out;
    screen_clear(&s->screen);
    edit_draw(&s->edit, &s->screen, 0, slice_str(s->prompt));
    buf_init(&out, SCREEN_BYTES_MAX);
    screen_flush(&s->screen, &out);
    tty_write(buf_slice(&out));
    buf_fini(&out);
}

static void leave_line(struct shell *s) {
    struct buf out;
    buf_init(&out, 1024);
    screen_leave(&s->screen, &out);
    tty_write(buf_slice(&out));
    buf_fini(&out);
}

static void list_choices(struct shell *s, const struct complete *x) {
    uint32_t width = 0, count = x->choices.count < LISTED_MAX ? x->choices.count : LISTED_MAX;
    struct buf out;
    leave_line(s);
    buf_init(&out, 1u << 20);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t w = screen_width(((const struct complete_choice *)vec_at(&x->choices, i))->text);
        if (w > width) width = w;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct complete_choice *choice = vec_at(&x->choices, i);
        struct screen row;
        screen_init(&row, true, s->c->colour);
        screen_resize(&row, 1, s->screen.cols);
        screen_put(&row, 0, 2, row.cols, SCREEN_PLAIN, choice->text);
        screen_put(&row, 0, 4 + width, row.cols, SCREEN_GREY, choice->note);
        screen_flush(&row, &out);
        screen_leave(&row, &out);
        screen_fini(&row);
    }
    if (x->choices.count > count) buf_printf(&out, "  … and %u more\r\n", x->choices.count - count);
    tty_write(buf_slice(&out));
    buf_fini(&out);
}

static void complete(struct shell *s) {
    struct complete x;
    struct arena arena;
    arena_init(&arena, 65536, (size_t)64 << 20);
    complete_line(&x, s->c, &arena, slice_of(s->edit.text, s->edit.at), false);
    if (x.wants_files) complete_files(&x);
    struct slice common = complete_common(&x);
    if (x.choices.count == 1) {
        const struct complete_choice *only = vec_at(&x.choices, 0);
        edit_replace(&s->edit, x.from, common);
        if (!only->is_part) edit_insert(&s->edit, SLICE(" "));
    } else if (common.len > x.begun.len) {
        edit_replace(&s->edit, x.from, common);
    } else if (x.choices.count > 1) {
        list_choices(s, &x);
    }
    complete_fini(&x);
    arena_fini(&arena);
}

static void fit(struct shell *s) {
    uint32_t rows = 0, cols = 0;
    tty_size(&rows, &cols);
    screen_resize(&s->screen, 1, cols);
}

static enum edit_event next_event(struct shell *s) {
    uint8_t bytes[128];
    struct key_press key;
    bool ignored = false, came = false;
    while (!keys_take(&s->keys, !came && s->keys.len > 0, &key)) {
        came = tty_wait(-1, s->keys.len > 0 ? ESCAPE_MS : -1, &ignored);
        if (tty_changed()) {
            fit(s);
            draw(s);
        }
        if (!came) continue;
        size_t n = tty_read(bytes, sizeof bytes);
        if (n == 0) return EDIT_END; /* the terminal is gone */
        keys_feed(&s->keys, slice_of(bytes, n));
    }
    return edit_key(&s->edit, &key);
}

/* One line from the terminal; false: that was the last. */
static bool type_line(struct shell *s) {
    make_prompt(s);
    edit_clear(&s->edit);
    if (!tty_open(TTY_LINE)) return false;
    fit(s);
    for (;;) {
        draw(s);
        enum edit_event event = next_event(s);
        if (event == EDIT_COMPLETE) complete(s);
        if (event == EDIT_SUSPEND) tty_suspend();
        if (event == EDIT_REDRAW) {
            tty_write(SLICE("\033[H\033[J"));
            screen_resize(&s->screen, 1, s->screen.cols);
            s->screen.row = 0;
        }
        if (event != EDIT_LINE && event != EDIT_END && event != EDIT_INTERRUPTED) continue;
        draw(s);
        leave_line(s);
        tty_close();
        if (event == EDIT_INTERRUPTED) edit_clear(&s->edit);
        return event != EDIT_END;
    }
}

static void converse(struct shell *s) {
    history_find(s);
    history_load(s);
    catch_interrupts();
    fprintf(stderr, "Type verbs as on the command line. Tab completes, `help` lists verbs, Ctrl-D leaves.\n");
    while (!s->is_over && type_line(s)) {
        char line[EDIT_BYTES_MAX + 1];
        snprintf(line, sizeof line, "%s", s->edit.text);
        history_add(s, slice_str(line));
        run_line(s, slice_str(line));
    }
}

/* Lines from a file or a pipe: no prompt, no history. */
static enum err read_lines(struct shell *s) {
    char line[EDIT_BYTES_MAX + 2];
    catch_interrupts();
    while (!s->is_over && fgets(line, sizeof line, stdin) != NULL) {
        size_t len = strcspn(line, "\n");
        if (len > EDIT_BYTES_MAX) return cli_refuse(s->c, ERR_LIMIT, "a line is longer than %u bytes", EDIT_BYTES_MAX);
        run_line(s, slice_of(line, len));
    }
    return ERR_OK;
}

enum err verb_shell(struct cli *c) {
    static struct shell s; /* too large for a stack */
    enum err e = ERR_OK;
    s = (struct shell){.c = c};
    edit_init(&s.edit);
    screen_init(&s.screen, true, c->colour);
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
        converse(&s);
    else
        e = read_lines(&s);
    screen_fini(&s.screen);
    edit_fini(&s.edit);
    c->exit_code = s.last_code;
    return e;
}
