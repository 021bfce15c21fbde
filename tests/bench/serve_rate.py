#!/usr/bin/env python3
"""How many requests a second a server carries whose judge answers at once (tests/serve/scripted_judge.h): on a pipe, and over
HTTP on connections that stay open, one request after another on each (POST /evaluate?timeout=60 returns the answer).

    tests/bench/serve_rate.py [--seconds 3] [--server build/tests/serve/scripted_server] [ARGUMENT...]

Clients and server share the cores of this machine. "client" is the Python client: submit and result, two requests each.
"""
import argparse
import multiprocessing
import os
import socket
import sys
import threading
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path.insert(0, os.path.join(ROOT, "tests/serve"))
import clients  # noqa: E402
import subprocess  # noqa: E402

REQUEST = b'{"type":"evaluate","id":%d,"problem":"rows","solution":{"name":"plain"},"genome":"BLOCK=64,WARPS=4"}'


def pipe_rate(command, seconds):
    """Requests as fast as the pipe takes them, answers as they come."""
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    server.stdout.readline()
    stopped = threading.Event()

    def send():
        number = 0
        while not stopped.is_set():
            server.stdin.write(b"\n".join(REQUEST % (number + at) for at in range(100)) + b"\n")
            number += 100
        server.stdin.close()

    sender = threading.Thread(target=send)
    start, count = time.monotonic(), 0
    sender.start()
    for _ in server.stdout:
        count += 1
        if count % 1000 == 0 and time.monotonic() - start > seconds:
            stopped.set()
    sender.join()
    server.wait()
    return count / (time.monotonic() - start)


def pipe_turns(command, seconds):
    """One request at a time."""
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    answers = os.fdopen(os.dup(server.stdout.fileno()), "rb")
    answers.readline()
    start, count = time.monotonic(), 0
    while time.monotonic() - start < seconds:
        server.stdin.write(REQUEST % count + b"\n")
        answers.readline()
        count += 1
    server.stdin.close()
    server.wait()
    answers.close()
    return count / (time.monotonic() - start)


def ask_in_turn(port, number, seconds, counts):
    body = REQUEST % number
    request = (b"POST /evaluate?timeout=60 HTTP/1.1\r\nHost: localhost\r\nX-Evotile-Client: c%d\r\nContent-Type: application/json\r\n"
               b"Content-Length: %d\r\n\r\n" % (number, len(body))) + body
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        start, count = time.monotonic(), 0
        while time.monotonic() - start < seconds:
            connection.sendall(request)
            received = connection.recv(65536)
            while not received.endswith(b"\n"):
                received += connection.recv(65536)
            if not received.startswith(b"HTTP/1.1 200 "):
                raise SystemExit(received)
            count += 1
        counts.put(count / (time.monotonic() - start))


def http_rate(port, connections, seconds):
    counts = multiprocessing.Queue()
    askers = [multiprocessing.Process(target=ask_in_turn, args=(port, number, seconds, counts)) for number in range(connections)]
    for asker in askers:
        asker.start()
    rate = sum(counts.get() for _ in askers)
    for asker in askers:
        asker.join()
    return rate


def client_rate(url, seconds):
    with clients.evotile.Client(url) as client:
        start, count = time.monotonic(), 0
        while time.monotonic() - start < seconds:
            client.evaluate(solution="plain")
            count += 1
        return count / (time.monotonic() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--server", default=os.path.join(ROOT, "build/tests/serve/scripted_server"))
    parser.add_argument("arguments", nargs="*", default=["config.json"])
    arguments = parser.parse_args()
    command = [arguments.server, *arguments.arguments]
    print(f"pipe, as fast as it takes them: {pipe_rate(command, arguments.seconds):.0f} answers/s")
    print(f"pipe, one after another:        {pipe_turns(command, arguments.seconds):.0f} answers/s")
    server = clients.Server(command)
    for connections in (1, 8):
        print(f"HTTP, {connections} connections:            {http_rate(server.port, connections, arguments.seconds):.0f} answers/s")
    print(f"HTTP, the Python client:        {client_rate(server.url, arguments.seconds):.0f} answers/s")
    server.stop()


if __name__ == "__main__":
    main()
