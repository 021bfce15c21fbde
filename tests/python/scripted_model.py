"""A scripted mutator in place of a model: answers POST .../chat/completions as OpenAI's server does, its n-th request with the n-th candidate.

    with ScriptedModel() as model:
        search(api_base=model.url)
"""
import http.server
import json
import threading

import candidates


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            number = len(self.server.prompts)
            self.server.prompts.append("\n".join(str(message["content"]) for message in body["messages"]))
        answer = json.dumps({
            "id": f"scripted-{number}", "object": "chat.completion", "created": 0, "model": body.get("model", "scripted"),
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": candidates.answer_of(number)}}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class ScriptedModel:
    """`prompts` are the requests so far, each as one text."""

    def __enter__(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.lock, self.server.prompts = threading.Lock(), []
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    @property
    def prompts(self):
        with self.server.lock:
            return list(self.server.prompts)
