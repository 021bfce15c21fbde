"""A local stub of an OpenAI-compatible server, for the tests of llm."""
import http.server
import json
import threading

KEY = "sk-test-0123456789abcdefghijklmnopqrstuvwxyz"


def chunk(**delta):
    return "data: " + json.dumps({"choices": [{"delta": delta}]}) + "\n\n"


def end(usage=True, finish="stop"):
    closing = {"choices": [{"delta": {}, "finish_reason": finish}]}
    if usage:
        closing["usage"] = {"prompt_tokens": 1000, "completion_tokens": 100}
    return "data: " + json.dumps(closing) + "\n\ndata: [DONE]\n\n"


def stream(text, size=7, **more):
    return "".join(chunk(content=text[at:at + size]) for at in range(0, len(text), size)) + end(**more)


class Stub:
    """A server that answers from a script: a list of functions of the request's handler. The last one answers all further ones."""

    def __init__(self, *script):
        self.script, self.bodies, self.keys, self.paths = list(script), [], [], []
        stub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                stub.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                stub.keys.append(self.headers["Authorization"])
                stub.paths.append(self.path)
                step = stub.script.pop(0) if len(stub.script) > 1 else stub.script[0]
                try:
                    step(self)
                except ConnectionError:
                    pass  # the client has read enough

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def answers(body, status=200, kind="text/event-stream", headers=(), length=None):
    """Sends a body; with a length of more bytes than it has, the connection is cut within it."""
    def step(handler):
        data = body.encode() if isinstance(body, str) else body
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(length or len(data)))
        for name, value in headers:
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)
        if length:
            handler.close_connection = True
    return step
