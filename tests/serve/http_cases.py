#!/usr/bin/env python3
"""The server over HTTP: paths, status codes, long polls, limits, tokens, TLS and what is refused, with a test's judge
(scripted_judge.h).

usage: tests/serve/http_cases.py SERVER
"""
import concurrent.futures
import http.client
import json
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import warnings

from clients import ROOT, Server, evotile

COMMAND = [sys.argv.pop(1), "c.json"] if len(sys.argv) > 1 else ["build/tests/serve/scripted_server", "c.json"]
JSON = {"Content-Type": "application/json"}
PLAIN = {"solution": {"name": "plain"}}
VALIDATOR = None
try:
    import jsonschema
    SCHEMA = json.loads(pathlib.Path(ROOT, "docs/schemas/serve-1.json").read_text())
    VALIDATOR = jsonschema.Draft7Validator({**SCHEMA, "$ref": "#/definitions/answer"})
except ImportError:
    pass


class Case(unittest.TestCase):
    options, environment = (), {}

    @classmethod
    def setUpClass(cls):
        cls.server = Server(COMMAND, *cls.options, **cls.environment)

    @classmethod
    def tearDownClass(cls):
        status, errors = cls.server.stop()
        if status != 0:
            raise AssertionError(f"status {status}: {errors}")

    def connect(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        self.addCleanup(connection.close)
        return connection

    def ask(self, method, path, body=None, headers=JSON, connection=None):
        """(status, message, headers)"""
        connection = connection or self.connect()
        connection.request(method, path, body if body is None or isinstance(body, bytes) else json.dumps(body), headers)
        response = connection.getresponse()
        text = response.read()
        message = None
        if response.headers.get_content_type() == "application/json" and text:
            message = json.loads(text)
            if VALIDATOR:
                VALIDATOR.validate(message)
        return response.status, message, response.headers

    def raw(self, data):
        """Everything that the server answers to these bytes until it closes the connection."""
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as connection:
            connection.sendall(data)
            received = b""
            while piece := connection.recv(65536):
                received += piece
        return received


class Paths(Case):
    def test_evaluate(self):
        status, message, _ = self.ask("POST", "/evaluate", {**PLAIN, "id": "mine", "genome": "hold"})
        self.assertEqual((status, message["type"], message["id"]), (202, "task", "mine"))
        task = message["task"]
        status, message, _ = self.ask("GET", f"/tasks/{task}")
        self.assertEqual((status, message["type"]), (202, "task"))
        self.assertIn(message["state"], ("waiting", "running"))
        status, other, _ = self.ask("POST", "/evaluate?timeout=60", {**PLAIN, "genome": "release"})
        self.assertEqual((status, other["type"]), (200, "answer"))
        for _ in range(2):  # an answer that was fetched stays for a client that lost it
            status, message, _ = self.ask("GET", f"/tasks/{task}?timeout=60")
            self.assertEqual((status, message["answer"]["request"]["genome"], message["task"]), (200, "hold", task))
        self.assertEqual(self.ask("DELETE", f"/tasks/{task}")[0], 204)
        self.assertEqual(self.ask("GET", f"/tasks/{task}")[0], 404)

    def test_type_is_the_path(self):
        status, message, _ = self.ask("POST", "/ask?timeout=60", {"count": 3})
        self.assertEqual((status, message["answer"]["request"]), (200, {"count": 3, "type": "ask"}))
        status, message, _ = self.ask("POST", "/tell?timeout=60", {"genome": "A=1", "value": None})
        self.assertEqual((status, message["answer"]["request"]["type"]), (200, "tell"))
        status, message, _ = self.ask("POST", "/tell", {"type": "ask"})
        self.assertEqual(status, 400)

    def test_refused_by_the_judge(self):
        status, message, _ = self.ask("POST", "/evaluate?timeout=60", {**PLAIN, "genome": "refuse", "id": 3})
        self.assertEqual((status, message["type"], message["id"]), (422, "error", 3))
        status, again, _ = self.ask("GET", f"/tasks/{message['task']}")
        self.assertEqual((status, again["error"]), (422, message["error"]))

    def test_other_paths(self):
        status, message, _ = self.ask("GET", "/health")
        self.assertEqual((status, message["status"], message["protocol"]), (200, "ok", 1))
        status, message, _ = self.ask("GET", "/definitions")
        self.assertEqual((status, message["definitions"]), (200, {"problems": ["rows"]}))
        self.assertEqual(self.ask("HEAD", "/definitions")[0], 200)
        connection = self.connect()
        connection.request("GET", "/metrics")
        response = connection.getresponse()
        text = response.read().decode()
        self.assertEqual(response.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        self.assertRegex(text, r'(?m)^# TYPE evotile_verdicts_total counter\nevotile_verdicts_total\{name="ok"\} \d+$')
        self.assertRegex(text, r'(?m)^# TYPE evotile_tasks gauge\nevotile_tasks\{name="waiting"\} \d+$')
        for line in text.splitlines():
            self.assertRegex(line, r'^(# TYPE \w+ (counter|gauge)|\w+(\{name="[^"]*"\})? [0-9.e+-]+)$')

    def test_wrong_paths_and_methods(self):
        for method, path, status, allow in [("GET", "/", 404, None), ("GET", "/evaluate", 405, "POST"), ("DELETE", "/health", 405, "GET"),
                                            ("PUT", "/tasks/1-2", 405, "GET, DELETE"), ("GET", "/tasks/batch", 405, "POST"),
                                            ("GET", "/tasks/1-2", 404, None), ("GET", "/tasks/" + "1" * 200, 404, None),
                                            ("OPTIONS", "/evaluate", 405, "POST"), ("GET", "/tasks/", 404, None),
                                            ("GET", "/tasks/1-2?timeout=x", 400, None), ("GET", "/tasks/1-2?timeout=-1", 400, None)]:
            found, message, headers = self.ask(method, path)
            self.assertEqual((method, path, found, headers["Allow"]), (method, path, status, allow))
            self.assertEqual(message["type"], "error")

    def test_wrong_bodies(self):
        for body in [b"", b"garbage", b"[]", b"{}", b'{"solution":{}}', b'{"solution":{"name":"x"},"levle":"static"}', b"\xff", b"{" * 5000,
                     b'{"solution":{"name":"\\u0000"}}', b'{"solution":{"files":{"../x":""}}}', b'{"type":"health"}', b'{"protocol":2}']:
            status, message, _ = self.ask("POST", "/evaluate", body)
            self.assertEqual((body[:40], status, message["type"]), (body[:40], 400, "error"))
        status, message, _ = self.ask("POST", "/evaluate", {**PLAIN, "levle": "static"})
        self.assertIn('did you mean "level"?', message["error"])

    def test_body_too_long(self):
        status, message, _ = self.ask("POST", "/evaluate", b" " * ((8 << 20) + 1))
        self.assertEqual((status, message["type"]), (413, "error"))
        answer = self.raw(b"POST /evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n")
        self.assertIn(b" 413 ", answer.split(b"\r\n")[0])
        chunks = b"".join(b"100000\r\n" + b" " * (1 << 20) + b"\r\n" for _ in range(9)) + b"0\r\n\r\n"
        answer = self.raw(b"POST /evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
                          b"Transfer-Encoding: chunked\r\n\r\n" + chunks)
        self.assertIn(b" 413 ", answer.split(b"\r\n")[0])

    def test_not_json(self):
        status, message, _ = self.ask("POST", "/evaluate", PLAIN, {"Content-Type": "text/plain"})
        self.assertEqual(status, 415)
        self.assertIn("Content-Type: application/json", message["error"])

    def test_browsers(self):
        port = self.server.port
        for headers, status in [({"Host": "evil.example"}, 403), ({"Host": f"evil.example:{port}"}, 403), ({"Host": "127.0.0.1.evil.example"}, 403),
                                ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403), ({"Host": "localhost"}, 202),
                                ({"Host": f"[::1]:{port}"}, 202), ({"Host": "127.0.0.1:9999"}, 202)]:
            found = self.ask("POST", "/evaluate", PLAIN, {**JSON, **headers})[0]
            self.assertEqual((headers, found), (headers, status))
        self.assertEqual(self.ask("GET", "/definitions", headers={"Host": "evil.example"})[0], 403)

    def test_pipelined(self):
        body = json.dumps({**PLAIN, "genome": "steps=3"}).encode()
        one = b"POST /evaluate?timeout=60 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
        answer = self.raw(one * 5 + b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        self.assertEqual((answer.count(b"HTTP/1.1 200 OK"), answer.count(b'"type":"answer"'), answer.count(b'"type":"health"')), (6, 5, 1))

    def test_batch(self):
        requests = [{**PLAIN, "genome": "steps=2", "id": at} for at in range(20)] + [{"solution": 1, "id": "bad"}]
        status, message, _ = self.ask("POST", "/tasks/batch", {"requests": requests})
        self.assertEqual((status, [entry["status"] for entry in message["tasks"]]), (200, [202] * 20 + [400]))
        self.assertEqual(message["tasks"][20]["id"], "bad")
        tasks = [entry["task"] for entry in message["tasks"][:20]]
        status, message, _ = self.ask("POST", "/tasks/batch?timeout=60", {"tasks": [*tasks, "1-2", 7]})
        self.assertEqual([entry["status"] for entry in message["tasks"]], [200] * 20 + [404] * 2)
        self.assertEqual([entry["answer"]["request"]["id"] for entry in message["tasks"][:20]], list(range(20)))
        status, message, _ = self.ask("POST", "/tasks/batch?timeout=60", {"requests": requests[:3]})
        self.assertEqual([entry["answer"]["request"]["id"] for entry in message["tasks"]], [0, 1, 2])
        for body in ({}, {"tasks": []}, {"tasks": 1}, {"requests": [PLAIN] * 257}, {"tasks": ["x"], "requests": [PLAIN]}, []):
            self.assertEqual(self.ask("POST", "/tasks/batch", body)[0], 400)

    def test_long_poll_ends(self):
        """At its deadline the task is not done, and stays."""
        _, message, _ = self.ask("POST", "/evaluate", {**PLAIN, "genome": "hold"})
        started = time.monotonic()
        status, again, _ = self.ask("GET", f"/tasks/{message['task']}?timeout=0.3")
        self.assertEqual((status, again["state"]), (202, "running"))
        self.assertGreaterEqual(time.monotonic() - started, 0.3)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            polls = [pool.submit(self.ask, "GET", f"/tasks/{message['task']}?timeout=60") for _ in range(8)]
            self.assertEqual(self.ask("DELETE", f"/tasks/{message['task']}")[0], 204)
            self.assertEqual({poll.result()[0] for poll in polls}, {404})

    def test_clients_are_apart(self):
        _, message, _ = self.ask("POST", "/evaluate?timeout=60", PLAIN, {**JSON, "X-Evotile-Client": "one"})
        path = f"/tasks/{message['task']}"
        self.assertEqual(self.ask("GET", path)[0], 404)
        self.assertEqual(self.ask("DELETE", path, headers={"X-Evotile-Client": "two"})[0], 404)
        number, secret = message["task"].split("-")
        self.assertEqual(self.ask("GET", f"/tasks/{number}-{secret[:-1]}{'0' if secret[-1] != '0' else '1'}", headers={"X-Evotile-Client": "one"})[0], 404)
        self.assertEqual(self.ask("GET", path, headers={"X-Evotile-Client": "one"})[0], 200)
        self.assertEqual(self.ask("GET", "/definitions", headers={"X-Evotile-Client": "a b"})[0], 400)

    def test_folders(self):
        status, message, _ = self.ask("POST", "/evaluate?timeout=60", {"solution": {"folder": "/somewhere"}})
        self.assertEqual(status, 200)

    def test_python_client(self):
        with evotile.Client(self.server.url) as client:
            self.assertEqual(client.health()["status"], "ok")
            self.assertEqual(client.definitions(), {"problems": ["rows"]})
            self.assertIn("evotile_tasks", client.metrics())
            answer = client.evaluate(files={"kernel.cu": "// \u00e9"}, level="static", timeout=60)
            self.assertEqual((answer.verdict, answer.ok, answer.data["request"]["solution"]), ("ok", True, {"files": {"kernel.cu": "// \u00e9"}}))
            task = client.submit(solution="plain", genome="hold")
            with self.assertRaises(evotile.AnswerTimeout):
                client.result(task, timeout=0.1)
            client.cancel(task)
            with self.assertRaises(evotile.TaskGone):
                client.result(task)
            with self.assertRaisesRegex(evotile.RefusedError, '"level" must be'):
                client.submit(solution="plain", level="quick")
            found = client.batch([{"solution": "plain", "genome": f"steps={at}"} for at in range(5)] + [{"solution": "plain", "genome": "refuse"},
                                                                                                       {"solution": "plain", "goal": -1}])
            self.assertEqual([type(entry) for entry in found], [evotile.Answer] * 5 + [evotile.RefusedError] * 2)
            self.assertEqual(client.tell("A=1", 2.5).data["request"], {"type": "tell", "genome": "A=1", "value": 2.5})
            self.assertEqual(client.ask(count=2).data["request"]["count"], 2)
            with tempfile.TemporaryDirectory() as folder:
                os.mkdir(f"{folder}/sub")
                pathlib.Path(folder, "sub/a.cuh").write_text("1")
                pathlib.Path(folder, "kernel.cu").write_text("2")
                answer = client.evaluate(folder=folder)
            self.assertEqual(answer.data["request"]["solution"]["files"], {"kernel.cu": "2", "sub/a.cuh": "1"})


class QueueFull(Case):
    def test_full(self):
        """A client that reaches its limit does not hold up another one."""
        statuses, tasks = [], []
        connection = self.connect()
        for _ in range(257):
            status, message, headers = self.ask("POST", "/evaluate", {**PLAIN, "genome": "hold"}, connection=connection)
            statuses.append(status)
            tasks.append(message.get("task"))
        self.assertEqual(statuses, [202] * 256 + [429])
        self.assertEqual(headers["Retry-After"], "1")
        self.assertIn("256 of your tasks are not done", message["error"])
        other = {**JSON, "X-Evotile-Client": "other"}
        status, message, _ = self.ask("POST", "/evaluate", PLAIN, other)
        self.assertEqual(status, 202)
        for task in tasks[:256]:
            self.assertEqual(self.ask("DELETE", f"/tasks/{task}", connection=connection)[0], 204)
        status, message, _ = self.ask("GET", f"/tasks/{message['task']}?timeout=60", headers=other)
        self.assertEqual(status, 200)
        self.assertEqual(self.ask("POST", "/evaluate?timeout=60", PLAIN)[0], 200)


class Slow(Case):
    environment = {"EVOTILE_INTERVALS": "http_request=0.4"}

    def closes(self, *pieces):
        """Sends a piece each 0.1 s until the server closes the connection; how long that took."""
        started = time.monotonic()
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as connection:
            connection.settimeout(0.1)
            for piece in pieces:
                try:
                    connection.sendall(piece)
                    if connection.recv(65536) == b"":
                        return time.monotonic() - started
                except socket.timeout:
                    continue
                except OSError:
                    return time.monotonic() - started
        return None

    def test_slow_headers(self):
        self.assertIsNotNone(self.closes(b"GET /health HTTP/1.1\r\n", *[b"X: y\r\n"] * 300))

    def test_slow_body(self):
        self.assertIsNotNone(self.closes(b"POST /evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n",
                                         *[b" "] * 300))

    def test_idle(self):
        self.assertIsNotNone(self.closes(*[b""] * 300))

    def test_long_poll_is_not_slow(self):
        _, message, _ = self.ask("POST", "/evaluate", {**PLAIN, "genome": "hold"})
        self.assertEqual(self.ask("GET", f"/tasks/{message['task']}?timeout=1.5")[0], 202)

    def test_gone_in_long_poll(self):
        """The connections of clients that left during a long poll are free again: more than fit come one after another."""
        _, message, _ = self.ask("POST", "/evaluate", {**PLAIN, "genome": "hold"})
        request = f"GET /tasks/{message['task']}?timeout=60 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
        for _ in range(6):
            left = []
            for _ in range(120):
                left.append(socket.create_connection(("127.0.0.1", self.server.port), timeout=60))
                left[-1].sendall(request)
            for connection in left:
                connection.close()
            deadline = time.monotonic() + 20
            while self.ask("GET", f"/tasks/{message['task']}")[0] == 429:
                self.assertLess(time.monotonic(), deadline)  # the server notices them sooner
        self.assertEqual(self.ask("GET", f"/tasks/{message['task']}")[0], 202)

    def test_too_many_at_a_time(self):
        _, message, _ = self.ask("POST", "/evaluate", {**PLAIN, "genome": "hold"}, {**JSON, "X-Evotile-Client": "many"})
        request = f"GET /tasks/{message['task']}?timeout=60 HTTP/1.1\r\nHost: localhost\r\nX-Evotile-Client: many\r\n\r\n".encode()
        connections = []
        for _ in range(128):
            connections.append(socket.create_connection(("127.0.0.1", self.server.port), timeout=60))
            connections[-1].sendall(request)
        path, own = f"/tasks/{message['task']}", {"X-Evotile-Client": "many"}
        while (status := self.ask("GET", path, headers=own)[0]) == 202:
            pass  # until the server has read all of them
        self.assertEqual(status, 429)
        self.assertEqual(self.ask("GET", "/definitions")[0], 200)  # of another client
        for connection in connections:
            connection.close()


class Tokens(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        path = f"{cls.folder.name}/tokens"
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write("# clients\nalice 0123456789abcdef0\n\nbob   fedcba98765432100\n")
        cls.options = ("--tokens", path)
        super().setUpClass()

    def test_tokens(self):
        alice, bob = ({**JSON, "Authorization": f"Bearer {token}"} for token in ("0123456789abcdef0", "fedcba98765432100"))
        for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": "Basic 0123456789abcdef0"}, {"Authorization": "Bearer 0123456789abcdef"},
                        {"Authorization": "Bearer "}, {"X-Evotile-Client": "alice"}):
            for method, path in (("POST", "/evaluate"), ("GET", "/definitions"), ("GET", "/metrics"), ("GET", "/tasks/1-2")):
                status, message, found = self.ask(method, path, PLAIN if method == "POST" else None, {**JSON, **headers})
                self.assertEqual((headers, path, status, found["WWW-Authenticate"]), (headers, path, 401, "Bearer"))
        self.assertEqual(self.ask("GET", "/health")[0], 200)
        _, message, _ = self.ask("POST", "/evaluate?timeout=60", PLAIN, alice)
        self.assertEqual(self.ask("GET", f"/tasks/{message['task']}", headers=bob)[0], 404)
        self.assertEqual(self.ask("GET", f"/tasks/{message['task']}", headers={**bob, "X-Evotile-Client": "alice"})[0], 404)
        self.assertEqual(self.ask("GET", f"/tasks/{message['task']}", headers=alice)[0], 200)
        with evotile.Client(self.server.url, token="wrong") as client, self.assertRaises(evotile.AccessError):
            client.submit(solution="plain")
        with evotile.Client(self.server.url, token="wrong") as client, self.assertRaises(evotile.AccessError):
            client.submit(files={"kernel.cu": "x" * 3000000})  # refused before it is read
        with evotile.Client(self.server.url, token="0123456789abcdef0") as client:
            self.assertTrue(client.evaluate(solution="plain").ok)

    def test_refused_before_the_body(self):
        """Without a token nothing of the body is read."""
        answer = self.raw(b"POST /evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5000000\r\n\r\n")
        self.assertIn(b" 401 ", answer.split(b"\r\n")[0])


def make_certificate(folder):
    """A certificate of localhost and its key."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", f"{folder}/key.pem", "-out",
                    f"{folder}/cert.pem"], check=True, capture_output=True)
    os.chmod(f"{folder}/key.pem", 0o600)
    return "--tls-cert", f"{folder}/cert.pem", "--tls-key", f"{folder}/key.pem"


class Tls(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.options = make_certificate(cls.folder.name)
        super().setUpClass()

    def test_tls(self):
        self.assertTrue(self.server.url.startswith("https://"))
        with evotile.Client(self.server.url, ca=f"{self.folder.name}/cert.pem") as client:
            for at in range(20):
                self.assertEqual(client.evaluate(solution="plain", genome=f"steps={at % 3}").data["request"]["genome"], f"steps={at % 3}")
        with evotile.Client(self.server.url) as client, self.assertRaises(evotile.ConnectionLost):
            client.health()  # a certificate that nothing vouches for
        self.assertEqual(self.raw(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").count(b"HTTP"), 0)
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.set_ciphers("DEFAULT@SECLEVEL=0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python itself warns of TLS 1.1
            old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        with self.assertRaises(OSError), socket.create_connection(("127.0.0.1", self.server.port)) as connection:
            old.wrap_socket(connection)


class Ends(unittest.TestCase):
    def test_stop(self):
        """SIGTERM answers what waits, and the server exits."""
        server = Server(COMMAND)
        with evotile.Client(server.url) as client:
            task = client.submit(solution="plain", genome="hold")
            with concurrent.futures.ThreadPoolExecutor() as pool:
                polls = [pool.submit(client.result, task) for _ in range(4)]
                while client.metrics().count("running\"} 1") != 1:
                    pass
                status, errors = server.stop()
                for poll in polls:
                    with self.assertRaises((evotile.BusyError, evotile.ConnectionLost)):
                        poll.result()
        self.assertEqual((status, errors.count("\n")), (0, 1), errors)

    def test_judge_dies(self):
        server = Server(COMMAND)
        with evotile.Client(server.url) as client, self.assertRaises(evotile.EvotileError):
            client.evaluate(solution="plain", genome="die")
        errors = server.process.communicate()[1]
        self.assertEqual(server.process.returncode, 1)
        self.assertIn("the last device is lost: start the server again", errors)

    def test_pipe_client(self):
        with evotile.Client.start(COMMAND) as client:
            held = client.submit(solution="plain", genome="hold")
            self.assertEqual(client.health()["status"], "ok")
            self.assertEqual(client.metrics()["tasks"]["running"], 1)
            client.cancel(held)
            with self.assertRaises(evotile.TaskGone):
                client.result(held)
            with self.assertRaises(evotile.RefusedError):
                client.evaluate(solution="plain", genome="refuse")
            found = client.batch([{"solution": "plain", "genome": f"steps={at}"} for at in range(5)])
            self.assertTrue(all(answer.ok for answer in found))
            self.assertEqual(client.definitions(), {"problems": ["rows"]})
        client = evotile.Client.start(COMMAND, stderr=subprocess.DEVNULL)
        with self.assertRaises(evotile.ConnectionLost):
            client.transport.process.kill()
            client.evaluate(solution="plain", genome="hold")
        client.close()
        with self.assertRaises(evotile.ConnectionLost):
            evotile.Client.start(["true"])

    def start_pipe(self):
        """A server on a pipe that has a task to do."""
        server = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.communicate)
        server.stdin.write('{"type":"evaluate","id":"held","solution":{"name":"plain"},"genome":"hold"}\n{"type":"health"}\n')
        server.stdin.flush()
        self.assertIn("hello", server.stdout.readline())
        self.assertIn("health", server.stdout.readline())
        return server

    def test_pipe_stop(self):
        """Signals answer what is not done."""
        for number in (signal.SIGTERM, signal.SIGINT):
            server = self.start_pipe()
            server.send_signal(number)
            message = json.loads(server.stdout.readline())
            self.assertEqual((message["type"], message["id"]), ("error", "held"))
            self.assertIn("the server stops", message["error"])
            self.assertEqual((server.wait(60), server.stderr.read()), (0, ""))

    def test_pipe_reader_gone(self):
        server = self.start_pipe()
        server.stdout.close()
        self.assertEqual((server.wait(60), server.stderr.read()), (0, ""))

    def test_pipe_judge_dies(self):
        found = subprocess.run(COMMAND, input='{"type":"evaluate","id":1,"solution":{"name":"plain"},"genome":"die"}', capture_output=True, text=True)
        self.assertEqual((found.returncode, json.loads(found.stdout.splitlines()[1])["id"]), (1, 1))
        self.assertIn("the last device is lost: start the server again", found.stdout.splitlines()[1])
        self.assertIn("the last device is lost: start the server again", found.stderr)

    def refuses(self, *options):
        """The one line with which it does not start."""
        found = subprocess.run([*COMMAND, *options], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        self.assertEqual((found.returncode, found.stdout, found.stderr.count("\n")), (2, "", 1), found.stderr)
        return found.stderr

    def test_does_not_start(self):
        with tempfile.TemporaryDirectory() as folder:
            tls = make_certificate(folder)
            for name, text, mode in (("open", "a 0123456789abcdef0", 0o644), ("short", "a x", 0o600), ("twice", "a 0123456789abcdef0\na 0123456789abcdef1", 0o600),
                                     ("same", "a 0123456789abcdef0\nb 0123456789abcdef0", 0o600), ("none", "# nothing\n", 0o600),
                                     ("three", "a b c", 0o600), ("good", "a 0123456789abcdef0", 0o600), ("name", "a/b 0123456789abcdef0", 0o600)):
                with open(f"{folder}/{name}", "w") as file:
                    file.write(text)
                os.chmod(f"{folder}/{name}", mode)
            needs = "can be reached from other hosts: give --tokens FILE, --tls-cert FILE and --tls-key FILE"
            self.assertIn(needs, self.refuses("--listen", "0.0.0.0:0"))
            self.assertIn(needs, self.refuses("--listen", "[::]:0"))
            self.assertIn(needs, self.refuses("--listen", "0.0.0.0:0", "--tokens", f"{folder}/good"))
            self.assertIn(needs, self.refuses("--listen", "0.0.0.0:0", *tls))
            listen = ("--listen", "127.0.0.1:0", "--tokens")
            self.assertIn(f"chmod 600 {folder}/open", self.refuses(*listen, f"{folder}/open"))
            self.assertIn("openssl rand", self.refuses(*listen, f"{folder}/short"))
            self.assertIn(":2: the name or the token is used twice", self.refuses(*listen, f"{folder}/twice"))
            self.assertIn(":2: the name or the token is used twice", self.refuses(*listen, f"{folder}/same"))
            self.assertIn("has no token", self.refuses(*listen, f"{folder}/none"))
            self.assertIn(":1: a line is NAME TOKEN", self.refuses(*listen, f"{folder}/three"))
            self.assertIn("a name has", self.refuses(*listen, f"{folder}/name"))
            self.assertIn("cannot read", self.refuses(*listen, f"{folder}/missing"))
            self.assertIn("give both", self.refuses("--listen", "127.0.0.1:0", *tls[:2]))
            self.assertIn("give a certificate and its key as PEM files", self.refuses("--listen", "127.0.0.1:0", "--tls-cert", f"{folder}/good",
                                                                                      "--tls-key", f"{folder}/key.pem"))
            os.chmod(f"{folder}/key.pem", 0o640)
            self.assertIn("chmod 600", self.refuses("--listen", "127.0.0.1:0", *tls))
            self.assertIn("give --listen HOST:PORT, too", self.refuses("--tokens", f"{folder}/good"))
        for text in ("8000", ":8000", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:70000", "::1:8000", "[]:1"):
            self.assertIn("no address to listen on", self.refuses("--listen", text))
        with socket.create_server(("127.0.0.1", 0)) as used:
            found = subprocess.run([*COMMAND, "--listen", f"127.0.0.1:{used.getsockname()[1]}"], capture_output=True, text=True)
            self.assertEqual(found.returncode, 1)
            self.assertIn("Address already in use: give another address, or port 0", found.stderr)


if __name__ == "__main__":
    unittest.main()
