"""A client of `evotile serve`, over HTTP or over a pipe to a server of its own.

    with Client("http://127.0.0.1:8000") as client:
        answer = client.evaluate(files={"kernel.cu": source}, level="device", timeout=300)
        print(answer.verdict, answer.data)

    with Client.start(["evotile", "serve", "configs/demo.json"]) as client:
        tasks = [client.submit(solution="plain", genome=genome) for genome in genomes]
        answers = [client.result(task) for task in tasks]

It needs nothing but Python's standard library. A client may be used by several threads.
"""
import dataclasses
import http.client
import json
import os
import socket
import ssl
import subprocess
import threading
import time
import urllib.parse

PROTOCOL = 1
POLL_S = 50  # the server holds a long poll at most 60 s


class EvotileError(Exception):
    """What every error of this module is."""


class RefusedError(EvotileError):
    """The server or its judge refuses the request: the text names the remedy."""


class AccessError(EvotileError):
    """The token is missing or wrong, or the server does not serve this client."""


class BusyError(EvotileError):
    """Too many tasks are not done, of this client or of all: try again later."""


class TaskGone(EvotileError):
    """The server has no such task: it was cancelled, or its answer was dropped."""


class AnswerTimeout(EvotileError, TimeoutError):
    """The answer did not come in time. The task goes on: ask for it again, or cancel it."""


class ConnectionLost(EvotileError, ConnectionError):
    """The server cannot be reached, or has ended."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """What the judge says of one request."""
    verdict: str  # "ok", or the gate that failed; "" for an answer without one, such as that of a tell
    data: dict    # the whole answer; docs/serve.md lists its keys
    task: str     # the task that it answers

    @property
    def ok(self):
        return self.verdict == "ok"


def read_folder(folder):
    """The files below a folder, as "files" of a solution."""
    files = {}
    for top, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(top, name)
            with open(path, encoding="utf-8") as file:
                files[os.path.relpath(path, folder).replace(os.sep, "/")] = file.read()
    if not files:
        raise RefusedError(f"{folder} has no files: give the folder of a solution")
    return files


def check_text(name, text):
    """Raises what the server would say of a text that no JSON object of the protocol can hold; on a pipe it could not say of
    which request."""
    if "\0" in name + text:
        raise RefusedError(f"{name!r} holds a NUL character: remove it")
    try:
        (name + text).encode()
    except UnicodeEncodeError as error:
        raise RefusedError(f"{name!r} holds half a surrogate pair, which is no character: remove it") from error


def make_request(files=None, folder=None, solution=None, problem=None, genome=None, goal=None, level=None, baseline=None, counters=None):
    """A request to evaluate: `files` {name: text}, with `solution` as their name or without; the files of a `folder`; or a
    `solution` of the server by its name."""
    if folder is not None:
        if files is not None:
            raise TypeError("give files or a folder, not both")
        files = read_folder(folder)
    if files is None and solution is None:
        raise TypeError("give files, a folder or the name of a solution")
    for name, text in (files or {}).items():
        check_text(name, text)
    described = {key: value for key, value in (("files", files), ("name", solution)) if value is not None}
    rest = {"problem": problem, "genome": genome, "goal": goal, "level": level, "baseline": baseline, "counters": counters}
    return {"type": "evaluate", "solution": described, **{key: value for key, value in rest.items() if value is not None}}


def to_answer(message, task):
    """The Answer of a message; an error is raised."""
    if message.get("type") == "error":
        raise RefusedError(message.get("error", "the server refuses the request"))
    data = message.get("answer") or {}
    return Answer(verdict=data.get("verdict", ""), data=data, task=task)


class HttpTransport:
    """One connection for each thread."""

    def __init__(self, url, token, ca, name, connect_s):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is no URL of a server: write http://HOST:PORT or https://HOST:PORT")
        self.secure = parts.scheme == "https"
        self.host, self.port = parts.hostname, parts.port
        self.context = ssl.create_default_context(cafile=ca) if self.secure else None
        self.connect_s = connect_s
        self.headers = {"Content-Type": "application/json"}
        if token is not None:
            self.headers["Authorization"] = f"Bearer {token}"
        if name is not None:
            self.headers["X-Evotile-Client"] = name
        self.local = threading.local()
        self.all, self.lock = [], threading.Lock()

    def connection(self):
        """(connection, whether it was used before)"""
        found = getattr(self.local, "connection", None)
        if found is not None:
            return found, True
        if self.secure:
            found = http.client.HTTPSConnection(self.host, self.port, timeout=self.connect_s, context=self.context)
        else:
            found = http.client.HTTPConnection(self.host, self.port, timeout=self.connect_s)
        self.local.connection = found
        with self.lock:
            self.all.append(found)
        return found, False

    def drop(self):
        found = self.local.connection
        self.local.connection = None
        with self.lock:
            self.all.remove(found)
        found.close()

    def exchange(self, method, path, body=None, wait_s=0.0):
        """(status, message) of one request; a connection that the server closed meanwhile is opened again."""
        data = None if body is None else json.dumps(body).encode()
        while True:
            connection, reused = self.connection()
            try:
                connection.timeout = self.connect_s + wait_s
                if connection.sock is not None:
                    connection.sock.settimeout(connection.timeout)
                try:
                    connection.request(method, path, data, self.headers)
                except (BrokenPipeError, ConnectionResetError):
                    if reused:
                        raise
                    # The server may have refused the request before it read the body.
                response = connection.getresponse()
                text = response.read()
                return response.status, self.parse(response, text)
            except (TimeoutError, socket.timeout) as error:  # two names before Python 3.10
                self.drop()
                raise ConnectionLost(f"{self.host} does not answer: is the server there?") from error
            except (http.client.HTTPException, OSError) as error:
                self.drop()
                closed = isinstance(error, (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError))
                if not (reused and closed):
                    raise ConnectionLost(f"cannot reach the server at {self.host}:{self.port}: {error}") from error

    @staticmethod
    def parse(response, text):
        if not text:
            return {}
        if response.headers.get_content_type() != "application/json":
            return {"text": text.decode("utf-8", "replace")}
        message = json.loads(text)
        if message.get("protocol") != PROTOCOL:
            raise EvotileError(f"the server speaks protocol {message.get('protocol')}, this client {PROTOCOL}: use versions that fit")
        return message

    def call(self, method, path, body=None, wait_s=0.0):
        """The same with errors raised."""
        status, message = self.exchange(method, path, body, wait_s)
        text = message.get("error", f"status {status}")
        if status in (401, 403):
            raise AccessError(text)
        if status in (429, 503):
            raise BusyError(text)
        if status == 404:
            raise TaskGone(text)
        if status >= 400:
            raise RefusedError(text)
        return status, message

    def submit(self, request):
        return self.call("POST", "/" + request["type"], request)[1]["task"]

    def result(self, task, timeout):
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            wait_s = POLL_S if deadline is None else max(0.0, min(POLL_S, deadline - time.monotonic()))
            status, message = self.call("GET", f"/tasks/{urllib.parse.quote(task)}?timeout={wait_s:.3f}", wait_s=wait_s)
            if status != 202:
                return message
            if deadline is not None and time.monotonic() >= deadline:
                raise AnswerTimeout(f"task {task} is {message.get('state')} after {timeout} s: ask again, or cancel it")

    def cancel(self, task):
        self.call("DELETE", f"/tasks/{urllib.parse.quote(task)}")

    def submit_all(self, requests):
        """The task of each request, or the error that refused it."""
        found = []
        for start in range(0, len(requests), 256):
            message = self.call("POST", "/tasks/batch", {"requests": requests[start:start + 256]})[1]
            for entry in message["tasks"]:
                if "task" in entry:
                    found.append(entry["task"])
                else:
                    found.append((BusyError if entry["status"] in (429, 503) else RefusedError)(entry["error"]))
        return found

    def ask_now(self, kind):
        return self.call("GET", f"/{kind}")[1]

    def close(self):
        with self.lock:
            for connection in self.all:
                connection.close()
            self.all.clear()


class PipeTransport:
    """A server of its own, which ends with the client."""

    def __init__(self, command, options):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
                                        bufsize=1, **options)
        self.changed = threading.Condition()
        self.writing = threading.Lock()
        self.last, self.open, self.messages, self.ended = 0, set(), {}, None
        line = self.process.stdout.readline()
        hello = json.loads(line) if line.startswith("{") else {}
        if hello.get("type") != "hello" or hello.get("protocol") != PROTOCOL:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            raise ConnectionLost(f"{command[0]} did not start as a server of protocol {PROTOCOL}: see what it printed on stderr")
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            with self.changed:
                if message.get("id") in self.open:
                    self.messages[message["id"]] = message
                    self.changed.notify_all()
        with self.changed:
            self.ended = "the server has ended"
            self.changed.notify_all()

    def send(self, request):
        with self.changed:
            self.last += 1
            number = self.last
            self.open.add(number)
        try:
            with self.writing:
                self.process.stdin.write(json.dumps({**request, "id": number}) + "\n")
                self.process.stdin.flush()
        except (OSError, ValueError) as error:
            raise ConnectionLost("the server has ended: start it again") from error
        return number

    def take(self, number, timeout):
        with self.changed:
            if number not in self.open:
                raise TaskGone(f"there is no task {number}: its answer was taken, or it was cancelled")
            if not self.changed.wait_for(lambda: number in self.messages or number not in self.open or self.ended, timeout):
                raise AnswerTimeout(f"task {number} is not done after {timeout} s: ask again, or cancel it")
            if number not in self.messages:
                if number not in self.open:
                    raise TaskGone(f"task {number} was cancelled")
                raise ConnectionLost(f"{self.ended}: start it again")
            self.open.discard(number)
            return self.messages.pop(number)

    def submit(self, request):
        return str(self.send(request))

    def result(self, task, timeout):
        return self.take(int(task), timeout)

    def cancel(self, task):
        number = int(task)
        message = self.take(self.send({"type": "cancel", "task": number}), None)
        with self.changed:
            self.open.discard(number)
            self.messages.pop(number, None)
            self.changed.notify_all()
        if message["type"] == "error":
            raise TaskGone(message["error"])

    def submit_all(self, requests):
        return [self.submit(request) for request in requests]

    def ask_now(self, kind):
        message = self.take(self.send({"type": kind}), None)
        if message["type"] == "error":
            raise RefusedError(message["error"])
        return message

    def close(self):
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.process.wait()
        self.reader.join()
        self.process.stdout.close()


class Client:
    """Sends solutions to a server and reads their answers."""

    def __init__(self, url, token=None, ca=None, name=None, connect_timeout=30.0):
        """`ca`: a PEM file with the server's certificate, or of what signed it, for https. `name`: of this client among those
        of a server without tokens."""
        self.transport = HttpTransport(url, token, ca, name, connect_timeout)

    @classmethod
    def start(cls, command, **options):
        """Starts a server that talks over a pipe, such as ["evotile", "serve", "configs/demo.json"]; `options` are
        subprocess.Popen's."""
        client = cls.__new__(cls)
        client.transport = PipeTransport(command, options)
        return client

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the connections, and a server that was started; tasks on another server go on."""
        self.transport.close()

    def submit(self, files=None, folder=None, solution=None, **rest):
        """Sends a solution and returns its task, without waiting. `rest`: problem, genome, goal, level, baseline, counters."""
        return self.transport.submit(make_request(files, folder, solution, **rest))

    def result(self, task, timeout=None):
        """Waits for a task's Answer, `timeout` seconds or for ever."""
        return to_answer(self.transport.result(task, timeout), task)

    def evaluate(self, files=None, folder=None, solution=None, timeout=None, **rest):
        """Sends a solution and waits for its Answer. A server that is full is asked again until `timeout` has passed."""
        return self.wait_for(make_request(files, folder, solution, **rest), timeout)

    def wait_for(self, request, timeout):
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            try:
                task = self.transport.submit(request)
                break
            except BusyError:
                if deadline is not None and time.monotonic() + 1 >= deadline:
                    raise
                time.sleep(1)
        return self.result(task, None if deadline is None else max(0.0, deadline - time.monotonic()))

    def batch(self, requests, timeout=None):
        """Sends several requests, as dicts of evaluate's arguments, and waits for all of them. An entry of the list that is
        returned is an Answer, or the error of its request."""
        deadline = None if timeout is None else time.monotonic() + timeout
        found = self.transport.submit_all([make_request(**request) for request in requests])
        for at, task in enumerate(found):
            if isinstance(task, str):
                try:
                    found[at] = self.result(task, None if deadline is None else max(0.0, deadline - time.monotonic()))
                except RefusedError as error:
                    found[at] = error
        return found

    def ask(self, timeout=None, **rest):
        """Genomes that the search proposes. `rest`: problem, goal, count."""
        return self.wait_for({"type": "ask", **rest}, timeout)

    def tell(self, genome, value, timeout=None, **rest):
        """A genome's value, None if it failed. `rest`: problem, goal."""
        return self.wait_for({"type": "tell", "genome": genome, "value": value, **rest}, timeout)

    def cancel(self, task):
        """Cancels a task that is not done; raises TaskGone if there is none."""
        self.transport.cancel(task)

    def definitions(self):
        """What may be asked for: problems, their solutions and cases."""
        return self.transport.ask_now("definitions")["definitions"]

    def health(self):
        """{"status": "ok", "version": ..., "uptime_s": ...}"""
        return {key: value for key, value in self.transport.ask_now("health").items() if key in ("status", "version", "uptime_s")}

    def metrics(self):
        """What the server counts: a dict over a pipe, Prometheus's text over HTTP."""
        message = self.transport.ask_now("metrics")
        return message.get("metrics", message.get("text"))
