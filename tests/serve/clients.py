#!/usr/bin/env python3
"""Eight clients of one server, over HTTP and on pipes: every request is answered once, to the client that sent it, while other
clients vanish and send garbage. The server's judge is a test's (scripted_judge.h), or that of SERVER.

usage: tests/serve/clients.py [--requests N] SERVER [ARGUMENT...]
"""
import json
import os
import random
import socket
import subprocess
import sys
import threading

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path.insert(0, os.path.join(ROOT, "python"))
import evotile  # noqa: E402

CLIENTS = 8


class Server:
    """A server that listens on a free port."""

    def __init__(self, command, *options, **environment):
        self.process = subprocess.Popen([*command, "--listen", "127.0.0.1:0", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env={**os.environ, **environment})
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(self.process.stderr.read())
        self.url = json.loads(line)["listen"]
        self.port = int(self.url.rsplit(":", 1)[1])

    def stop(self):
        """Ends it with SIGTERM; returns its exit status and what it printed on stderr."""
        self.process.terminate()
        errors = self.process.communicate(timeout=60)[1]
        return self.process.returncode, errors


def work(make_client, number, requests, failures):
    """Sends many requests that differ from those of all other clients, and looks whether the answers are theirs."""
    random_numbers = random.Random(number)
    try:
        with make_client(number) as client:
            waiting = {}
            for at in range(requests):
                genome = f"steps={random_numbers.randrange(4)} client={number} at={at}"
                waiting[client.submit(solution="plain", genome=genome, problem=f"problem {number}")] = genome
                while len(waiting) > random_numbers.randrange(20):
                    task = random_numbers.choice(list(waiting))
                    if random_numbers.randrange(10) == 0:
                        del waiting[task]
                        try:
                            client.cancel(task)
                        except evotile.TaskGone:
                            pass  # its answer came first, on a pipe
                        continue
                    answer = client.result(task, timeout=120)
                    request = answer.data["request"]
                    if request["genome"] != waiting.pop(task) or request["problem"] != f"problem {number}":
                        failures.append(f"client {number} got the answer of {request}")
            for task, genome in waiting.items():
                if client.result(task, timeout=120).data["request"]["genome"] != genome:
                    failures.append(f"client {number} got another answer than that of {genome}")
    except Exception as error:  # noqa: BLE001  a thread's failure is the test's
        failures.append(f"client {number}: {error!r}")


GARBAGE = [b"garbage\r\n\r\n", b"POST /evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"solut",
           b"GET /tasks/1-00000000000000000000000000000000?timeout=60 HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01",
           b"POST /evaluate HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\nffffffffffff\r\n",
           b"POST /evaluate?timeout=60 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 48\r\n\r\n"
           b'{"solution":{"name":"x"},"genome":"steps=40"}   ', bytes(range(256)) * 40]


def disturb(port, stop):
    """Connects, sends what is no whole request, and leaves."""
    random_numbers = random.Random(99)
    while not stop.is_set():
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(random_numbers.choice(GARBAGE))
            if random_numbers.randrange(2):
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        stop.wait(0.002)


def run_clients(make_client, requests):
    failures = []
    threads = [threading.Thread(target=work, args=(make_client, number, requests, failures)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def over_http(command, requests):
    server = Server(command)
    stop = threading.Event()
    disturber = threading.Thread(target=disturb, args=(server.port, stop))
    disturber.start()
    # Half of the clients have names, the others share one.
    failures = run_clients(lambda number: evotile.Client(server.url, name=f"client{number}" if number % 2 else None), requests)
    stop.set()
    disturber.join()
    status, errors = server.stop()
    if status != 0 or "AddressSanitizer" in errors:
        failures.append(f"status {status} of the server: {errors}")
    return failures


def over_pipes(command, requests):
    """A server for each client: a pipe has one client."""
    return run_clients(lambda number: evotile.Client.start(command), requests)


def main():
    arguments = sys.argv[1:]
    requests = 200
    if arguments[0] == "--requests":
        requests = int(arguments[1])
        arguments = arguments[2:]
    failures = over_http(arguments, requests) + over_pipes(arguments, requests)
    print("\n".join(failures[:20]) or f"2 x {CLIENTS} clients, {requests} requests each: every answer is its client's")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
