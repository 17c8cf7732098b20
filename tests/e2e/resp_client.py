"""What clients of Redis do, against the listener for RESP and the main port; by Debian's redis-py and redis-tools.

    resp_client.py library|programs|token SOCKET ADDRESS TOKEN
"""
import subprocess
import sys
import threading

import redis

which, sock, address, token = sys.argv[1:5]
host, port = address.rsplit(":", 1)


def equal(got, wanted):
    if got != wanted:
        raise AssertionError(f"expected {wanted!r}, got {got!r}")


def refused(kind, words, call):
    try:
        got = call()
    except kind as e:
        if words not in str(e):
            raise AssertionError(f"expected {words!r} in {e}")
        return
    raise AssertionError(f"{words!r} was expected, not {got!r}")


def texts(r):
    equal(r.set("py:k", "v", px=60000), True)
    assert 0 < r.pttl("py:k") <= 60000
    equal(r.get("py:k"), b"v")
    equal(r.set("py:k", "x", nx=True), None)
    equal(r.set("py:k", "y", get=True), b"v")
    equal(r.mset({"py:a": 1, "py:b": 2}), True)
    equal(r.mget("py:a", "py:none", "py:b"), [b"1", None, b"2"])
    equal(r.incrby("py:a", 5), 6)
    equal(r.append("py:b", "x"), 2)
    refused(redis.ResponseError, "not an integer", lambda: r.incr("py:b"))
    refused(redis.ResponseError, "WRONGTYPE", lambda: r.sadd("py:b", "m"))
    equal(r.delete("py:a", "py:b", "py:none"), 2)


def sets_and_scans(r):
    names = {f"m{i}" for i in range(1000)}
    equal(r.sadd("py:s", *names), 1000)
    equal(r.smembers("py:s"), {n.encode() for n in names})
    equal({m.decode() for m in r.sscan_iter("py:s", count=7)}, names)
    equal(r.smismember("py:s", ["m1", "none"]), [1, 0])
    for i in range(300):
        r.set(f"py:scan:{i}", i)
    seen = [k.decode() for k in r.scan_iter("py:scan:*", count=10)]
    equal(sorted(seen), sorted(f"py:scan:{i}" for i in range(300)))
    for k in r.scan_iter("py:scan:*", count=10):  # what is deleted on the way does not end it
        r.delete(k)
    equal(list(r.scan_iter("py:scan:*")), [])


def transactions(r):
    with r.pipeline() as p:
        equal(p.set("py:t", 1).incr("py:t").get("py:t").execute(), [True, 2, b"2"])
        p.watch("py:t")
        r.set("py:t", 9)
        p.multi()
        p.set("py:t", 10)
        refused(redis.WatchError, "", p.execute)
    with r.pipeline(transaction=False) as p:
        for i in range(5000):
            p.incr("py:n")
        equal(p.execute(), list(range(1, 5001)))
    threads = [threading.Thread(target=add, args=(20,)) for _ in range(5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    equal(r.get("py:race"), b"100")


def add(times):
    """By compare and set, against the others."""
    r = redis.Redis(unix_socket_path=sock)
    for _ in range(times):
        while True:
            now = r.execute_command("GETVER", "py:race")
            version, value = (now[1], int(now[0])) if now else (0, 0)
            if r.execute_command("CASVER", "py:race", version, value + 1):
                break


def channels(r):
    p = r.pubsub()
    p.subscribe("py:c")
    p.psubscribe("py:*:end")
    equal([p.get_message(timeout=10)["type"] for _ in range(2)], ["subscribe", "psubscribe"])
    equal(r.publish("py:c", "one"), 1)
    equal(r.publish("py:x:end", "two"), 1)
    equal(r.publish("py:x", "three"), 0)
    first, second = p.get_message(timeout=10), p.get_message(timeout=10)
    equal((first["type"], first["data"]), ("message", b"one"))
    equal((second["type"], second["pattern"], second["channel"], second["data"]),
          ("pmessage", b"py:*:end", b"py:x:end", b"two"))
    p.unsubscribe()
    p.punsubscribe()
    p.close()


def about(r):
    equal(r.ping(), True)
    equal(r.echo("x"), b"x")
    equal(r.info()["redis_version"], "7.0.0")
    equal(r.info("keyspace")["db0"]["keys"], r.dbsize())
    equal(r.config_get("appendonly"), {"appendonly": "yes"})
    equal(r.client_setname("here"), True)
    equal(r.client_getname(), "here")
    assert "get" in r.command()
    assert abs(r.time()[0] - __import__("time").time()) < 60
    lock = r.set("py:lock", "mine", nx=True, ex=10)
    equal((lock, r.execute_command("CAD", "py:lock", "other"), r.execute_command("CAD", "py:lock", "mine")), (True, 0, 1))


def library():
    r = redis.Redis(unix_socket_path=sock)
    for part in (texts, sets_and_scans, transactions, channels, about):
        part(r)


def run(*args, text=None):
    return subprocess.run(args, input=text, capture_output=True, text=True, timeout=100, check=True).stdout


def programs():
    cli = ("redis-cli", "-s", sock)
    equal(run(*cli, "set", "cli:k", "v"), "OK\n")
    equal(run(*cli, "-3", "--no-raw", "smembers", "cli:none"), "(empty set)\n")
    equal(run(*cli, text="MULTI\nINCR cli:n\nGET cli:k\nEXEC\n"), "OK\nQUEUED\nQUEUED\n1\nv\n")
    equal(run(*cli, "--scan", "--pattern", "cli:*"), "cli:k\ncli:n\n")
    said = run("redis-benchmark", "-s", sock, "-t", "set,get,incr,sadd", "-P", "16", "-c", "20", "-n", "2000", "-q")
    for name in ("SET", "GET", "INCR", "SADD"):
        assert f"{name}: " in said and "requests per second" in said, said


def with_token():
    plain = redis.Redis(host, int(port))
    refused(redis.AuthenticationError, "Authentication required", plain.ping)
    refused(redis.ResponseError, "WRONGPASS", redis.Redis(host, int(port), password="wrong").ping)
    refused(redis.ResponseError, "WRONGPASS", redis.Redis(host, int(port), username="other", password=token).ping)
    for name in (None, "default", "admin"):
        r = redis.Redis(host, int(port), username=name, password=token)
        equal(r.set("token:k", "v"), True)
    equal(redis.Redis(unix_socket_path=sock).get("token:k"), b"v")  # the same store
    cli = ("redis-cli", "-h", host, "-p", port)
    equal(run(*cli, text=f"GET token:k\nAUTH {token}\nGET token:k\n").split("\n")[-2:], ["v", ""])
    said = run(*cli, text=f"HELLO 3 AUTH default {token} SETNAME me\nCLIENT GETNAME\nRESET\nGET token:k\n")
    assert "\nme\nRESET\nNOAUTH Authentication required." in said, said


{"library": library, "programs": programs, "token": with_token}[which]()
