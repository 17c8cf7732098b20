/* resp_test.c: the shared store by RESP, of the built program: replies byte by byte (tests/golden/resp2.txt and 3),
 * clients of Redis as Debian has them, what survives kill -9, and those who mean no good. */
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "realcli.h"
#include "realserver.h"

#define PATIENCE_S 30

static struct realserver server;
static char listener[96], listener_flag[104];

/* ---- a client ---- */

static void be_patient(int fd) {
    struct timeval patience = {.tv_sec = PATIENCE_S};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

static int dial(void) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    snprintf(a.sun_path, sizeof a.sun_path, "%s", listener);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    be_patient(fd);
    return fd;
}

static int dial_port(void) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    a.sin_port = htons((uint16_t)strtol(strrchr(server.address, ':') + 1, NULL, 10));
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    be_patient(fd);
    return fd;
}

static void say_bytes(int fd, const void *bytes, size_t len) {
    for (const char *at = bytes; len > 0;) {
        ssize_t n = send(fd, at, len, MSG_NOSIGNAL);
        assert_true(n > 0);
        at += n;
        len -= (size_t)n;
    }
}

static void say(int fd, const char *text) {
    say_bytes(fd, text, strlen(text));
}

/* Exactly this, and nothing else so far. */
static void hear_bytes(int fd, const void *bytes, size_t len, const char *about) {
    static char got[1 << 16];
    size_t have = 0;
    while (have < len) {
        size_t wanted = len - have < sizeof got ? len - have : sizeof got;
        ssize_t n = recv(fd, got, wanted, 0);
        if (n <= 0 || memcmp(got, (const char *)bytes + have, (size_t)n) != 0)
            fail_msg("%s: expected at %zu: %.200s\ngot: %.*s", about, have, (const char *)bytes + have,
                     n > 200 ? 200 : (int)n, got);
        have += (size_t)n;
    }
}

static void hear(int fd, const char *text) {
    hear_bytes(fd, text, strlen(text), "hear");
}

/* All until the other side ends. */
static size_t hear_end(int fd, char *got, size_t room) {
    size_t len = 0;
    for (ssize_t n; len + 1 < room && (n = recv(fd, got + len, room - len - 1, 0)) != 0; len += (size_t)n)
        if (n < 0) {
            if (errno == ECONNRESET) break;
            fail_msg("the connection does not end");
        }
    got[len] = 0;
    return len;
}

/* A line; what is behind it stays for the next call. */
static void hear_line(int fd, char *line, size_t room) {
    size_t len = 0;
    while (len + 1 < room && (len < 2 || memcmp(line + len - 2, "\r\n", 2) != 0)) {
        if (recv(fd, line + len, 1, 0) != 1) fail_msg("no answer");
        len++;
    }
    line[len] = 0;
}

/* ---- the server ---- */

static void start(void) {
    snprintf(listener, sizeof listener, "%s/resp", server.data);
    snprintf(listener_flag, sizeof listener_flag, "unix:%s", listener);
    server.flags[0] = "--resp-listen";
    server.flags[1] = listener_flag;
    server.flags[2] = "--store-ttl-ms-max";
    server.flags[3] = "3155760000000";
    realserver_start(&server);
}

static int setup(void **state) {
    (void)state;
    realserver_make(&server);
    start();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    int code = server.pid != 0 ? realserver_stop(&server) : 0;
    realserver_remove(&server);
    return code;
}

static void start_again_after_kill(void) {
    realserver_kill(&server);
    start();
}

/* ---- golden replies ---- */

/* `\r`, `\n`, `\\` and `\x00` as bytes. */
static size_t unescape(const char *from, char *to) {
    char *at = to;
    for (; *from != 0; from++) {
        if (*from != '\\') {
            *at++ = *from;
            continue;
        }
        from++;
        char hex[3] = {from[0] == 'x' ? from[1] : 0, from[0] == 'x' ? from[2] : 0};
        *at++ = *from == 'r' ? '\r' : *from == 'n' ? '\n' : *from == 'x' ? (char)strtol(hex, NULL, 16) : *from;
        if (*from == 'x') from += 2;
    }
    *at = 0;
    return (size_t)(at - to);
}

/* The words of a line as an array of RESP; between quotes with escapes. */
static size_t encode(const char *line, char *to) {
    char body[4096], word[1024], raw[1024];
    size_t len = 0;
    int count = 0;
    while (*line != 0) {
        size_t raw_len = 0;
        bool quoted = *line == '"';
        line += quoted;
        for (; *line != 0 && *line != (quoted ? '"' : ' '); line++) {
            if (*line == '\\') raw[raw_len++] = *line++;
            raw[raw_len++] = *line;
        }
        raw[raw_len] = 0;
        line += quoted;
        while (*line == ' ') line++;
        size_t bytes = unescape(raw, word);
        len += (size_t)snprintf(body + len, sizeof body - len, "$%zu\r\n", bytes);
        memcpy(body + len, word, bytes);
        memcpy(body + len + bytes, "\r\n", 2);
        len += bytes + 2;
        count++;
    }
    size_t head = (size_t)snprintf(to, 16, "*%d\r\n", count);
    memcpy(to + head, body, len);
    return head + len;
}

static void play(const char *path, int fd) {
    static char line[8192], sent[8192], wanted[8192];
    char about[8300] = "";
    FILE *f = fopen(path, "re");
    uint32_t played = 0;
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] == '>') {
            snprintf(about, sizeof about, "%s: %s", path, line);
            say_bytes(fd, sent, encode(line + 2, sent));
        } else if (line[0] == '<') {
            size_t len = unescape(line + 2, wanted);
            hear_bytes(fd, wanted, len, about);
            played++;
        }
    }
    fclose(f);
    assert_true(played > 300);
    char rest[64];
    assert_int_equal(hear_end(fd, rest, sizeof rest), 0); /* the last command is QUIT */
    close(fd);
}

static void replies_by_resp2_are_those_of_redis(void **state) {
    (void)state;
    play("tests/golden/resp2.txt", dial());
}

static void replies_by_resp3_are_those_of_redis(void **state) {
    (void)state;
    int fd = dial();
    say(fd, "HELLO 3\r\n");
    /* The number of the connection is its own: all before and behind it is known. */
    hear(fd, "%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.0.0\r\n$5\r\nproto\r\n:3\r\n$2\r\nid\r\n:");
    for (char c = 0; c != '\n';) assert_int_equal(recv(fd, &c, 1, 0), 1);
    hear(fd, "$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n");
    play("tests/golden/resp3.txt", fd);
}

static bool golden_has(const char *word, bool good) {
    static char line[8192];
    FILE *f = fopen("tests/golden/resp2.txt", "re");
    bool asked = false, found = false;
    size_t len = strlen(word);
    assert_non_null(f);
    while (!found && fgets(line, sizeof line, f) != NULL) {
        if (line[0] == '>') asked = strncasecmp(line + 2, word, len) == 0 && strchr(" \n", line[2 + len]) != NULL;
        if (line[0] == '<' && asked) found = (line[2] != '-') == good;
    }
    fclose(f);
    return found;
}

static bool is_among(const char *word, const char *list) {
    char padded[64];
    snprintf(padded, sizeof padded, " %s ", word);
    return strstr(list, padded) != NULL;
}

static void every_command_is_among_them_good_and_bad(void **state) {
    (void)state;
    char text[8192];
    uint32_t count = 0;
    int fd = dial();
    say(fd, "COMMAND LIST\r\nQUIT\r\n");
    (void)hear_end(fd, text, sizeof text);
    close(fd);
    for (char *rest = text, *line; (line = strsep(&rest, "\r\n")) != NULL;) {
        if (line[0] < 'a' || line[0] > 'z') continue;
        count++;
        /* What differs from run to run is tested elsewhere, and some commands cannot go wrong. */
        bool good = golden_has(line, true) || is_among(line, " auth time hello casver getver ");
        bool bad = golden_has(line, false) || is_among(line, " quit info unsubscribe punsubscribe ");
        if (!good || !bad) fail_msg("%s: tests/golden/resp2.txt has no %s reply", line, good ? "bad" : "good");
    }
    assert_true(count > 60);
}

/* ---- clients as they are ---- */

static void run_client(const char *which) {
    char command[600], said[8192];
    snprintf(command, sizeof command, "timeout 120 /usr/bin/python3 tests/e2e/resp_client.py %s %s %s %s 2>&1", which,
             listener, server.address, server.admin);
    FILE *f = popen(command, "re");
    assert_non_null(f);
    size_t len = fread(said, 1, sizeof said - 1, f);
    said[len] = 0;
    if (pclose(f) != 0) fail_msg("%s: %s", which, said);
}

static void redis_py_works(void **state) {
    (void)state;
    run_client("library");
}

static void redis_cli_and_redis_benchmark_work(void **state) {
    (void)state;
    run_client("programs");
}

static void the_main_port_wants_a_token(void **state) {
    (void)state;
    run_client("token");
}

/* ---- pieces ---- */

static void commands_may_come_in_any_pieces(void **state) {
    (void)state;
    static char sent[65536], wanted[65536];
    size_t len = 0, wanted_len = 0;
    for (int i = 0; i < 400; i++) {
        len += (size_t)snprintf(sent + len, sizeof sent - len, "*3\r\n$3\r\nSET\r\n$%d\r\np%d\r\n$3\r\n\r\n\n\r\n",
                                i < 10    ? 2
                                : i < 100 ? 3
                                          : 4,
                                i);
        wanted_len += (size_t)snprintf(wanted + wanted_len, sizeof wanted - wanted_len, "+OK\r\n");
        len += (size_t)snprintf(sent + len, sizeof sent - len, "*2\r\n$3\r\nget\r\n$%d\r\np%d\r\n",
                                i < 10    ? 2
                                : i < 100 ? 3
                                          : 4,
                                i);
        wanted_len += (size_t)snprintf(wanted + wanted_len, sizeof wanted - wanted_len, "$3\r\n\r\n\n\r\n");
    }
    struct test_random r = {7};
    int fd = dial();
    for (size_t at = 0; at < len;) {
        size_t piece = 1 + (size_t)test_random_below(&r, at < 2000 ? 3 : 900);
        if (piece > len - at) piece = len - at;
        say_bytes(fd, sent + at, piece);
        at += piece;
    }
    hear_bytes(fd, wanted, wanted_len, "pieces");
    close(fd);
}

/* ---- kill -9 ---- */

static void what_was_answered_survives_kill(void **state) {
    (void)state;
    int fd = dial();
    say(fd, "SET schl\\xc3\\xbcssel x\r\nSET \"schl\\xc3\\xbcssel\" \"\\x00\\xff\\xc3\\xa4\"\r\n"
            "SADD menge \"\\xe4\\xb8\\xad\" b\r\n"
            "SREM menge b\r\nSET ends v PXAT 4102444800000\r\nINCRBY n 41\r\nINCR n\r\nAPPEND app a\r\nAPPEND app b\r\n"
            "SET gone v PX 1\r\nGETSET app c\r\n");
    hear(fd, "+OK\r\n+OK\r\n:2\r\n:1\r\n+OK\r\n:41\r\n:42\r\n:1\r\n:2\r\n+OK\r\n$2\r\nab\r\n");
    close(fd);
    start_again_after_kill();
    fd = dial();
    say(fd, "GET \"schl\\xc3\\xbcssel\"\r\nSMEMBERS menge\r\nPEXPIRETIME ends\r\nGET n\r\nGET app\r\nEXISTS gone\r\n");
    hear_bytes(fd, "$4\r\n\0\xff\xc3\xa4\r\n", 10, "value");
    hear(fd, "*1\r\n$3\r\n\xe4\xb8\xad\r\n:4102444800000\r\n$2\r\n42\r\n$1\r\nc\r\n:0\r\n");
    close(fd);
}

/* While transactions go on, the server is killed: each of them is there as a whole or not at all, and those that were
 * answered are there. */
static void a_transaction_survives_whole_or_not_at_all(void **state) {
    (void)state;
    static char sent[1 << 20];
    char got[1 << 16], *end;
    size_t len = 0;
    for (int i = 0; i < 5000; i++)
        len += (size_t)snprintf(sent + len, sizeof sent - len,
                                "MULTI\r\nINCR left\r\nSADD members %d\r\nINCR right\r\nEXEC\r\n", i);
    long answered = 0;
    int fd = dial();
    say(fd, "MSET left 0 right 0\r\n");
    hear(fd, "+OK\r\n");
    say_bytes(fd, sent, len);
    while (answered < 20) { /* so that some are, and others are not */
        ssize_t n = recv(fd, got, sizeof got - 1, 0);
        assert_true(n > 0);
        got[n] = 0;
        for (const char *at = got; (at = strstr(at, "*3\r\n")) != NULL; at++) answered++;
    }
    realserver_kill(&server);
    close(fd);
    start();
    fd = dial();
    say(fd, "GET left\r\nGET right\r\nSCARD members\r\nQUIT\r\n");
    (void)hear_end(fd, got, sizeof got);
    close(fd);
    long left = strtol(strchr(got, '\n') + 1, &end, 10), right = strtol(strchr(end + 2, '\n') + 1, &end, 10);
    assert_true(left >= answered);
    assert_int_equal(left, right);
    assert_int_equal(strtol(end + 3, NULL, 10), left);
}

/* ---- those who mean no good ---- */

static void ends_with(const char *sent, size_t len, const char *wanted) {
    char got[4096];
    int fd = dial();
    say_bytes(fd, sent, len);
    (void)hear_end(fd, got, sizeof got);
    close(fd);
    assert_string_equal(got, wanted);
}

static void what_is_no_command_ends_the_connection(void **state) {
    (void)state;
#define ENDS(sent, wanted) ends_with(sent, sizeof(sent) - 1, wanted)
    ENDS("*99999999999\r\n", "-ERR Protocol error: invalid multibulk length\r\n");
    ENDS("*65537\r\n", "-ERR Protocol error: invalid multibulk length\r\n");
    ENDS("*x\r\n", "-ERR Protocol error: invalid multibulk length\r\n");
    ENDS("*1\n$4\r\n", "-ERR Protocol error: invalid multibulk length\r\n");
    ENDS("*1\r\n$-1\r\n", "-ERR Protocol error: invalid bulk length\r\n");
    ENDS("*1\r\n$999999999999\r\n", "-ERR Protocol error: invalid bulk length\r\n");
    ENDS("*1\r\n:4\r\n", "-ERR Protocol error: expected '$', got ':'\r\n");
    ENDS("*1\r\n$4\r\nPINGxx", "-ERR Protocol error: a string does not end where it says\r\n");
    ENDS("*1111111111111111111111111111111111", "-ERR Protocol error: too big mbulk count string\r\n");
    ENDS("SET a \"b\r\n", "-ERR Protocol error: unbalanced quotes in request\r\n");
    /* What came before is answered. */
    ENDS("PING\r\n*-5\r\n*0\r\n\r\nPING\r\n*1\r\n$x\r\nPING\r\n",
         "+PONG\r\n+PONG\r\n-ERR Protocol error: invalid bulk length\r\n");
    /* A page in a browser cannot make it a client of ours. */
    ENDS("POST / HTTP/1.1\r\nHost: x\r\n\r\nSET hacked 1\r\n", "");
    ENDS("GET / HTTP/1.1\r\nHost: x\r\n\r\nSET hacked 1\r\n", "-ERR wrong number of arguments for 'get' command\r\n");
    ENDS("EXISTS hacked\r\nQUIT\r\n", ":0\r\n+OK\r\n");
#undef ENDS
}

static void a_line_has_an_end(void **state) {
    (void)state;
    static char line[70000];
    memset(line, 'a', sizeof line);
    ends_with(line, sizeof line, "-ERR Protocol error: too big inline request\r\n");
}

static long resident_kb(void) {
    char path[64], line[256];
    long kb = 0;
    snprintf(path, sizeof path, "/proc/%d/status", server.pid);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL) (void)sscanf(line, "VmRSS: %ld", &kb);
    fclose(f);
    return kb;
}

/* A million commands whose answers nobody takes: the sender has to wait, the memory stays, others are served. */
static void who_does_not_read_is_not_read(void **state) {
    (void)state;
    static char value[100001], many[14 * 6000 + 1];
    size_t len = 0, sent = 0;
    memset(value, 'v', sizeof value - 1);
    for (int i = 0; i < 6000; i++) len += (size_t)snprintf(many + len, sizeof many - len, "GET large\r\n");
    int fd = dial(), other = dial();
    say(other, "SET large ");
    say(other, value);
    say(other, "\r\n");
    /* Too long for a line, so by an array. */
    hear(other, "-ERR Protocol error: too big inline request\r\n");
    close(other);
    other = dial();
    say(other, "*3\r\n$3\r\nSET\r\n$5\r\nlarge\r\n$100000\r\n");
    say(other, value);
    say(other, "\r\n");
    hear(other, "+OK\r\n");
    long before = resident_kb();
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    while (sent < 11u * 1000000u && poll(&p, 1, 2000) == 1) {
        ssize_t n = send(fd, many, len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) sent += (size_t)n;
        if (n < 0 && errno != EAGAIN) fail_msg("it was let go");
    }
    assert_true(sent < 11u * 1000000u); /* it was made to wait */
    say(other, "PING\r\n");
    hear(other, "+PONG\r\n");
    if (resident_kb() - before > 250 * 1024) fail_msg("%ld KB more", resident_kb() - before);
    close(fd);
    close(other);
}

/* One key a few thousand times: gigabytes, if all were to be answered. */
static void an_answer_has_its_limit(void **state) {
    (void)state;
    static char value[1000001];
    memset(value, 'v', sizeof value - 1);
    int fd = dial();
    say(fd, "*3\r\n$3\r\nSET\r\n$4\r\nmuch\r\n$1000000\r\n");
    say(fd, value);
    say(fd, "\r\n");
    hear(fd, "+OK\r\n");
    say(fd, "*4001\r\n$4\r\nMGET\r\n");
    for (int i = 0; i < 4000; i++) say(fd, "$4\r\nmuch\r\n");
    hear(fd, "-ERR the answer is too large: ask for less at once\r\n");
    say(fd, "DEL much\r\n");
    hear(fd, ":1\r\n");
    close(fd);
}

static void a_slow_subscriber_is_let_go_alone(void **state) {
    (void)state;
    static char message[60001];
    char got[1 << 16];
    memset(message, 'm', sizeof message - 1);
    int slow = dial(), quick = dial(), from = dial();
    say(slow, "SUBSCRIBE news\r\n");
    hear(slow, "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n");
    say(quick, "SUBSCRIBE news other\r\n");
    hear(quick, "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$5\r\nother\r\n:2\r\n");
    for (int i = 0; i < 400; i++) {
        say(from, "PUBLISH news ");
        say(from, message);
        say(from, "\r\n");
        assert_int_equal(recv(from, got, 4, MSG_WAITALL), 4);
        assert_true(got[0] == ':');
        hear(quick, "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$60000\r\n");
        hear_bytes(quick, message, 60000, "message");
        hear(quick, "\r\n");
    }
    say(from, "PUBLISH news x\r\n");
    hear(from, ":1\r\n");                                /* the other is no more */
    while (recv(slow, got, sizeof got, 0) > 0) continue; /* ends, or fails by patience below */
    assert_true(errno != EAGAIN);
    close(slow);
    close(quick);
    close(from);
}

/* ---- the program ---- */

/* ---- patterns ---- */

#define LONG_KEYS 20000
#define LONG_KEY_BYTES 495

static const char *hostile_pattern(void) {
    static char pattern[260];
    memset(pattern, 'a', 247);
    pattern[0] = '*';
    memcpy(pattern + 246, "b", 2);
    return pattern;
}

static void put_long_keys(int fd) {
    static char key[LONG_KEY_BYTES + 1], line[LONG_KEY_BYTES + 40];
    memset(key, 'a', LONG_KEY_BYTES);
    for (int i = 0; i < LONG_KEYS; i++) {
        char number[16];
        (void)snprintf(number, sizeof number, "%07d", i);
        memcpy(key + LONG_KEY_BYTES - 7, number, 7);
        (void)snprintf(line, sizeof line, "SET %s 1\r\n", key);
        say(fd, line);
        if (i % 1000 == 999)
            for (int k = 0; k < 1000; k++) hear(fd, "+OK\r\n");
    }
}

/* How many keys SCAN finds, and in how many pages. */
static int scan_all(int fd, const char *options, int *ret_pages) {
    char line[4096], cursor[64] = "0";
    int found = 0;
    for (*ret_pages = 0; *ret_pages == 0 || strcmp(cursor, "0") != 0; ++*ret_pages) {
        (void)snprintf(line, sizeof line, "SCAN %s %s\r\n", cursor, options);
        say(fd, line);
        hear(fd, "*2\r\n");
        hear_line(fd, line, sizeof line);
        hear_line(fd, cursor, sizeof cursor);
        cursor[strlen(cursor) - 2] = 0;
        hear_line(fd, line, sizeof line);
        int count = (int)strtol(line + 1, NULL, 10);
        for (int i = 0; i < 2 * count; i++) hear_line(fd, line, sizeof line);
        found += count;
    }
    return found;
}

/* Matching is bounded for a command, and what is left goes on in another page or another pass. */
static void no_pattern_keeps_others_waiting(void **state) {
    (void)state;
    int fd = dial(), other = dial(), pages = 0;
    char line[1024];
    put_long_keys(fd);
    (void)snprintf(line, sizeof line, "KEYS %s\r\n", hostile_pattern());
    say(fd, line);
    hear(fd, "-ERR matching the pattern with all keys takes too long: use SCAN\r\n");
    (void)snprintf(line, sizeof line, "MATCH %s COUNT 10000", hostile_pattern());
    assert_int_equal(scan_all(fd, line, &pages), 0);
    assert_true(pages > 50);
    assert_int_equal(scan_all(fd, "MATCH aaaaaaaaaaaa*1 COUNT 10000", &pages), LONG_KEYS / 10);
    assert_int_equal(scan_all(fd, "MATCH a*7[0-9]?1* COUNT 10000", &pages) > 0, true);
    (void)snprintf(line, sizeof line, "KEYS %s\r\n", hostile_pattern());
    for (int i = 0; i < 100; i++) say(fd, line);
    say(other, "PING\r\n");
    hear(other, "+PONG\r\n");
    static char got[100 * 80];
    ssize_t early = recv(fd, got, sizeof got, MSG_DONTWAIT);
    if (early > 50 * 66) fail_msg("the other waited for %zd bytes of answers", early);
    for (int i = 0; i < 100 - (early > 0 ? (int)(early / 66) : 0); i++) hear_line(fd, line, sizeof line);
    close(fd);
    close(other);
}

static void patterns_of_subscribers_are_bounded(void **state) {
    (void)state;
    int fd = dial();
    char line[1200], wanted[1200];
    for (int i = 0; i < 8; i++) {
        char pattern[1000];
        memset(pattern, 'a', 999);
        pattern[999] = 0;
        pattern[1] = '*';
        pattern[0] = (char)('a' + i);
        (void)snprintf(line, sizeof line, "PSUBSCRIBE %s\r\n", pattern);
        (void)snprintf(wanted, sizeof wanted, "*3\r\n$10\r\npsubscribe\r\n$999\r\n%s\r\n:%d\r\n", pattern, i + 1);
        say(fd, line);
        hear(fd, wanted);
    }
    (void)snprintf(line, sizeof line, "PSUBSCRIBE z%0200d*z\r\n", 0);
    say(fd, line);
    hear_line(fd, line, sizeof line);
    if (strstr(line, "the patterns of this connection are longer than 8192 bytes together") == NULL)
        fail_msg("%s", line);
    say(fd, "PSUBSCRIBE z0*\r\n"); /* a prefix costs nothing */
    hear(fd, "*3\r\n$10\r\npsubscribe\r\n$3\r\nz0*\r\n:9\r\n");
    close(fd);
}

static void a_public_listener_is_opened_only_by_name(void **state) {
    (void)state;
    char command[400], said[2048];
    snprintf(command, sizeof command,
             "timeout 20 %s serve --data %s/another --listen 127.0.0.1:0 --resp-listen 0.0.0.0:0 2>&1",
             realserver_binary(), server.data);
    FILE *f = popen(command, "re");
    assert_non_null(f);
    size_t len = fread(said, 1, sizeof said - 1, f);
    said[len] = 0;
    assert_true(pclose(f) != 0);
    assert_has(said, "resp_listen: 0.0.0.0:0 can be reached from other machines");
    assert_has(said, "--resp-open yes");
}

static void up_opens_the_listener(void **state) {
    (void)state;
    struct realcli up;
    char path[160], line[400], command[300] = "";
    realcli_make(&up);
    struct ran ran = realcli_ok(&up, "up --listen 127.0.0.1:0 --resp=127.0.0.1:0 --detach", NULL);
    assert_has(ran.out, "Redis clients find the shared store on 127.0.0.1:0, a free port");
    snprintf(path, sizeof path, "%s/serve.log", up.data);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL) {
        const char *end = strstr(line, " (RESP)"), *port = end != NULL ? strstr(line, "127.0.0.1:") : NULL;
        if (port != NULL)
            snprintf(command, sizeof command, "timeout 20 redis-cli -p %.*s SET up 1", (int)(end - port - 10),
                     port + 10);
    }
    fclose(f);
    f = popen(command, "re");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    assert_int_equal(pclose(f), 0);
    assert_string_equal(line, "OK\n");
    struct ran got = realcli_ok(&up, "kv get up", NULL); /* the same store */
    assert_has(got.out, "1");
    realcli_stop(&up);
}

static void a_stranger_is_asked_for_little_and_not_for_long(void **state) {
    (void)state;
    char got[512];
    int fd = dial_port();
    say(fd, "*11\r\n");
    (void)hear_end(fd, got, sizeof got);
    assert_string_equal(got, "-ERR Protocol error: invalid multibulk length\r\n");
    close(fd);
    fd = dial_port();
    say(fd, "*2\r\n$4\r\nAUTH\r\n$20000\r\n");
    (void)hear_end(fd, got, sizeof got);
    assert_string_equal(got, "-ERR Protocol error: invalid bulk length\r\n");
    close(fd);
    fd = dial_port();
    say(fd, "*1\r\n$4\r\nPING\r\n"); /* and then nothing: hello_ms */
    (void)hear_end(fd, got, sizeof got);
    assert_string_equal(got, "-NOAUTH Authentication required.\r\n-ERR no HELLO arrived in time\r\n");
    close(fd);
}

/* The first line that `reeve ARGS` prints. */
static void run_reeve(const char *args, char *line, int room) {
    char command[400];
    snprintf(command, sizeof command, "timeout 30 %s %s --data %s", realserver_binary(), args, server.data);
    FILE *f = popen(command, "re");
    assert_non_null(f);
    assert_non_null(fgets(line, room, f));
    while (fgetc(f) != EOF) continue;
    assert_int_equal(pclose(f), 0);
    line[strcspn(line, "\n")] = 0;
}

static int dial_as(const char *token) {
    char auth[300];
    int fd = dial_port();
    snprintf(auth, sizeof auth, "*2\r\n$4\r\nAUTH\r\n$%zu\r\n%s\r\n", strlen(token), token);
    say(fd, auth);
    hear(fd, "+OK\r\n");
    return fd;
}

static void a_token_says_what_one_may_and_whose_keys_there_are(void **state) {
    (void)state;
    char looks[200], other[200];
    run_reeve("token new looker --role viewer", looks, sizeof looks);
    run_reeve("token new else --role submitter --tenant elsewhere", other, sizeof other);
    int fd = dial(), viewer = dial_as(looks), elsewhere = dial_as(other);
    say(fd, "SET seen 1\r\n");
    hear(fd, "+OK\r\n");
    say(viewer, "*3\r\n$3\r\nSET\r\n$4\r\nseen\r\n$1\r\n2\r\n*2\r\n$3\r\nGET\r\n$4\r\nseen\r\n");
    hear(viewer, "-NOPERM this user has no permissions to run the 'set' command\r\n$1\r\n1\r\n");
    say(elsewhere, "*2\r\n$3\r\nGET\r\n$4\r\nseen\r\n*1\r\n$6\r\nDBSIZE\r\n");
    hear(elsewhere, "$-1\r\n:0\r\n");
    say(elsewhere, "*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nc\r\n");
    hear(elsewhere, "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n");
    say(fd, "PUBLISH c m\r\nDEL seen\r\n");
    hear(fd, ":0\r\n:1\r\n"); /* channels are a tenant's too */
    close(fd);
    close(viewer);
    close(elsewhere);
}

static void a_pipeline_may_begin_with_auth(void **state) {
    (void)state;
    static char sent[100000], wanted[100000];
    size_t len =
        (size_t)snprintf(sent, sizeof sent, "*2\r\n$4\r\nAUTH\r\n$%zu\r\n%s\r\n", strlen(server.admin), server.admin);
    size_t wanted_len = (size_t)snprintf(wanted, sizeof wanted, "+OK\r\n");
    for (int i = 0; i < 4000; i++) {
        len += (size_t)snprintf(sent + len, sizeof sent - len, "*1\r\n$4\r\nPING\r\n");
        wanted_len += (size_t)snprintf(wanted + wanted_len, sizeof wanted - wanted_len, "+PONG\r\n");
    }
    int fd = dial_port();
    say_bytes(fd, sent, len);
    hear_bytes(fd, wanted, wanted_len, "auth and pings");
    close(fd);
    /* Without it, as much is not waited for. */
    char got[512];
    fd = dial_port();
    memset(sent, 'x', sizeof sent);
    memcpy(sent, "*9\r\n$16000\r\n", 12);
    memcpy(sent + 16012, "\r\n$16000\r\n", 10);
    say_bytes(fd, sent, 32000);
    (void)hear_end(fd, got, sizeof got);
    assert_string_equal(got, "-ERR say who you are first\r\n");
    close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replies_by_resp2_are_those_of_redis),
        cmocka_unit_test(replies_by_resp3_are_those_of_redis),
        cmocka_unit_test(every_command_is_among_them_good_and_bad),
        cmocka_unit_test(commands_may_come_in_any_pieces),
        cmocka_unit_test(what_is_no_command_ends_the_connection),
        cmocka_unit_test(a_line_has_an_end),
        cmocka_unit_test(redis_py_works),
        cmocka_unit_test(redis_cli_and_redis_benchmark_work),
        cmocka_unit_test(the_main_port_wants_a_token),
        cmocka_unit_test(a_stranger_is_asked_for_little_and_not_for_long),
        cmocka_unit_test(a_token_says_what_one_may_and_whose_keys_there_are),
        cmocka_unit_test(a_pipeline_may_begin_with_auth),
        cmocka_unit_test(what_was_answered_survives_kill),
        cmocka_unit_test(a_transaction_survives_whole_or_not_at_all),
        cmocka_unit_test(who_does_not_read_is_not_read),
        cmocka_unit_test(an_answer_has_its_limit),
        cmocka_unit_test(a_slow_subscriber_is_let_go_alone),
        cmocka_unit_test(no_pattern_keeps_others_waiting),
        cmocka_unit_test(patterns_of_subscribers_are_bounded),
        cmocka_unit_test(a_public_listener_is_opened_only_by_name),
        cmocka_unit_test(up_opens_the_listener),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
