/* transcript.c: see transcript.h. */
#include "transcript.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "realserver.h"
#include "test.h"

#define VARIABLES_MAX 32u
#define TEXT_BYTES_MAX 65536u

static char root[] = "/tmp/reeve-transcript-XX"
                     "XX"
                     "XX"; /* commands run in root/sub/dir */
static char names[VARIABLES_MAX][32], values[VARIABLES_MAX][256];
static uint32_t variable_count;
static uint32_t cases, wrong;

static void variable_set(const char *name, const char *value) {
    assert_true(variable_count < VARIABLES_MAX);
    snprintf(names[variable_count], sizeof names[0], "%s", name);
    snprintf(values[variable_count], sizeof values[0], "%.*s", (int)strcspn(value, " \n"), value);
    assert_int_equal(setenv(name, values[variable_count++], 1), 0);
}

/* ---- running ---- */

static void slurp(FILE *f, char ret[TEXT_BYTES_MAX]) {
    rewind(f);
    ret[fread(ret, 1, TEXT_BYTES_MAX - 1, f)] = 0;
    fclose(f);
}

static int run(const char *command, char out[TEXT_BYTES_MAX], char err[TEXT_BYTES_MAX]) {
    FILE *to = tmpfile(), *error = tmpfile();
    int status = 0;
    assert_true(to != NULL && error != NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int in = open("/dev/null", O_RDONLY);
        if (in < 0 || dup2(in, 0) < 0 || dup2(fileno(to), 1) < 0 || dup2(fileno(error), 2) < 0) _exit(126);
        if (chdir(getenv("DIR")) != 0) _exit(126);
        alarm(60);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    slurp(to, out);
    slurp(error, err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- comparing ---- */

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* The values of variables become their names, where they stand as whole words. */
static void name_values(const char *text, char *ret, size_t size) {
    size_t len = 0;
    for (const char *at = text; *at != 0 && len + 64 < size;) {
        uint32_t i = variable_count;
        bool begins = at == text || !is_word(at[-1]);
        while (begins && i-- > 0) {
            size_t n = strlen(values[i]);
            if (n > 1 && strncmp(at, values[i], n) == 0 && !is_word(at[n])) break;
        }
        if (begins && i != UINT32_MAX) {
            len += (size_t)snprintf(ret + len, size - len, "$%s", names[i]);
            at += strlen(values[i]);
        } else {
            ret[len++] = *at++;
        }
    }
    ret[len] = 0;
}

/* `...` in what is expected matches any text within the line. */
static bool fits(const char *expected, const char *found) {
    const char *dots = strstr(expected, "...");
    if (dots == NULL) return strcmp(expected, found) == 0;
    size_t head = (size_t)(dots - expected);
    if (strncmp(expected, found, head) != 0) return false;
    for (found += head; *found != 0 && *found != '\n'; found++)
        if (fits(dots + 3, found)) return true;
    return fits(dots + 3, found);
}

static void add_lines(const char *sign, const char *text, char *ret, size_t size) {
    size_t len = strlen(ret);
    while (*text != 0) {
        size_t n = strcspn(text, "\n");
        len += (size_t)snprintf(ret + len, size - len, "%s%s%.*s\n", sign, n > 0 ? " " : "", (int)n, text);
        text += n + (text[n] != 0);
    }
}

static void check(const char *command, const char *expected) {
    static char out[TEXT_BYTES_MAX], err[TEXT_BYTES_MAX], found[2 * TEXT_BYTES_MAX], named[2 * TEXT_BYTES_MAX];
    int code = run(command, out, err);
    found[0] = 0;
    add_lines(">", out, found, sizeof found - 16);
    add_lines("|", err, found, sizeof found - 16);
    snprintf(found + strlen(found), 16, "[%d]\n", code);
    name_values(found, named, sizeof named);
    cases++;
    if (fits(expected, named)) return;
    wrong++;
    print_message("$ %s\n%sexpected:\n%s\n", command, named, expected);
}

/* ---- reading ---- */

static void write_file(const char *name, FILE *script) {
    char path[256], line[1024];
    snprintf(path, sizeof path, "%s/%s", getenv("DIR"), name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    long at = ftell(script);
    while (fgets(line, sizeof line, script) != NULL && strncmp(line, "    ", 4) == 0) {
        fputs(line + 4, f);
        at = ftell(script);
    }
    assert_int_equal(fseek(script, at, SEEK_SET), 0);
    fclose(f);
}

static void let(const char *text) {
    static char out[TEXT_BYTES_MAX], err[TEXT_BYTES_MAX];
    char name[32] = {0};
    size_t len = strcspn(text, " ");
    snprintf(name, sizeof name, "%.*s", (int)len, text);
    if (run(text + len + 1, out, err) != 0) fail_msg("%s: %s%s", text, out, err);
    variable_set(name, out);
}

static void read_case(const char *command, FILE *script) {
    static char expected[TEXT_BYTES_MAX];
    char line[1024] = "";
    size_t len = 0;
    while (line[0] != '[' && fgets(line, sizeof line, script) != NULL)
        len += (size_t)snprintf(expected + len, sizeof expected - len, "%s", line);
    check(command, expected);
}

void transcript_check(const char *path, uint32_t least) {
    FILE *script = fopen(path, "re");
    char line[1024];
    assert_non_null(script);
    while (fgets(line, sizeof line, script) != NULL) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "file ", 5) == 0) write_file(line + 5, script);
        if (strncmp(line, "let ", 4) == 0) let(line + 4);
        if (strncmp(line, "$ ", 2) == 0) read_case(line + 2, script);
    }
    fclose(script);
    assert_true(cases >= least);
    if (wrong > 0) fail_msg("%u of %u are answered otherwise", wrong, cases);
}

/* ---- a server for them ---- */

int transcript_setup(void **state) {
    static char out[TEXT_BYTES_MAX], err[TEXT_BYTES_MAX];
    char command[512], path[1024];
    (void)state;
    assert_non_null(mkdtemp(root));
    snprintf(command, sizeof command,
             "mkdir -p %s/sub/dir %s/bin && : > %s/x.sh && ln -s \"$(realpath '%s')\" %s/bin/reeve", root, root, root,
             realserver_binary(), root);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/bin:%s", root, getenv("PATH"));
    setenv("PATH", path, 1);
    snprintf(path, sizeof path, "%s/sub/dir", root);
    setenv("DIR", path, 1);
    unsetenv("REEVE_SERVER");
    unsetenv("REEVE_TOKEN");
    unsetenv("REEVE_DATA");
    unsetenv("REEVE_CONTEXT");
    return run("reeve up --detach --listen 127.0.0.1:0 --slots 2", out, err);
}

int transcript_teardown(void **state) {
    static char out[TEXT_BYTES_MAX], err[TEXT_BYTES_MAX];
    char command[128];
    (void)state;
    (void)run("reeve down", out, err);
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}
