"""A model server on loopback for tests of agent programs.

It speaks the Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and Gemini protocols, keeps every request, and answers with
scripted tool calls. A prompt that contains `SCRIPT:name` runs the steps of that script, one per answer; any other prompt is answered
with a short text. What reaches the model is what a kept request contains. A question of memdir about candidates is answered with the
calls that accept them.
"""

import gzip
import json
import re
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

USAGE = {"input_tokens": 100, "output_tokens": 10}
ACCEPT = re.compile(r"accept: memory_move (\{.*?\})")


class FakeModel:
    """The server, its scripts and the requests it was sent."""

    def __init__(self, scripts):
        self.scripts = scripts
        self.final_text = "All done."
        self.requests = []
        self.lock = threading.Lock()
        self.before_answer = lambda body: None
        """Called with each request before it is answered. A model takes seconds, in which programs write their transcripts."""
        model = self

        class Handler(RequestHandler):
            fake = model

        class Server(ThreadingHTTPServer):
            def handle_error(self, request, address):
                # A program that is ended closes its connections.
                if not isinstance(sys.exc_info()[1], ConnectionError):
                    super().handle_error(request, address)

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def keep(self, protocol, body):
        with self.lock:
            self.requests.append((protocol, body))
        self.before_answer(body)

    def has_request(self, part):
        """Returns whether a request that was not taken yet contains a text."""
        with self.lock:
            return any(part in json.dumps(body, ensure_ascii=False) for _, body in self.requests)

    def take_requests(self):
        """Returns the requests since the last call."""
        with self.lock:
            taken, self.requests = self.requests, []
        return taken

    def next_step(self, prompts, tools, results):
        """Returns the tool call that is next, or a final text.

        `prompts` are the texts of the person, `tools` maps the name of each offered tool to its schema, `results` is the number of tool
        results after the last script was asked for.
        """
        names = re.findall(r"SCRIPT:(\w+)", prompts)
        script = self.scripts.get(names[-1], []) if names else []
        script = [(["memory_move"], json.loads(call)) for call in ACCEPT.findall(prompts)] or script
        if results >= len(script) or not tools:
            return None, self.final_text
        wanted, arguments = script[results]
        for candidate in wanted:
            for name, schema in tools.items():
                if name == candidate or name.endswith(candidate):
                    known = (schema or {}).get("properties")
                    fitting = {key: value for key, value in arguments.items() if not known or key in known}
                    return (name, fitting), None
        return None, f"No tool of {wanted} was offered."


def text_of(content):
    """The text of a message in any of the protocols."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text_of(part) for part in content)
    if isinstance(content, dict):
        return "\n".join(text_of(content[key]) for key in ("text", "content", "input_text", "parts") if key in content)
    return ""


def since_script(messages, is_person, is_result):
    """Returns the person's last text with a script or a question, and the number of tool results after it."""
    prompt, results = "", 0
    for message in messages:
        text = text_of(message) if is_person(message) else ""
        if "SCRIPT:" in text or ACCEPT.search(text):
            prompt, results = text, 0
        results += is_result(message)
    return prompt, results


def new_id(prefix):
    return f"{prefix}_{uuid.uuid4().hex[:20]}"


class RequestHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    fake = None

    def log_message(self, *_):
        pass

    def reply(self, body, content_type="application/json"):
        self.send_response(200)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def reply_json(self, value):
        self.reply(json.dumps(value).encode())

    def reply_events(self, events, named=True, end=""):
        lines = [(f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event)}\n\n" for event in events]
        self.reply(("".join(lines) + end).encode(), "text/event-stream")

    def do_HEAD(self):
        self.reply(b"")

    def do_GET(self):
        models = [{"id": "fake-model", "object": "model", "created": 0, "owned_by": "test"}]
        self.reply_json({"object": "list", "data": models, "models": []})

    def do_POST(self):
        body = self.read_body()
        path = self.path.split("?")[0]
        if path.endswith("/count_tokens"):
            self.reply_json({"input_tokens": 1000})
        elif path.endswith("/messages"):
            self.anthropic(body)
        elif path.endswith("/chat/completions"):
            self.chat(body)
        elif path.endswith("/responses"):
            self.openai_responses(body)
        elif "enerateContent" in path:
            self.gemini(body, "stream" in path)
        elif ":countTokens" in path:
            self.reply_json({"totalTokens": 1000})
        else:
            self.reply_json({})

    def read_body(self):
        if self.headers.get("transfer-encoding", "") == "chunked":
            raw = b""
            while size := int(self.rfile.readline().strip() or b"0", 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            raw = gzip.decompress(raw)
        try:
            return json.loads(raw)
        except ValueError:
            return {}

    def anthropic(self, body):
        self.fake.keep("anthropic", body)
        tools = {tool["name"]: tool.get("input_schema") for tool in body.get("tools") or [] if "name" in tool}

        def results(message):
            content = message["content"] if isinstance(message["content"], list) else []
            return sum(block.get("type") == "tool_result" for block in content)

        def typed(message):
            return message["role"] == "user" and not results(message)

        call, text = self.fake.next_step(*with_tools(since_script(body.get("messages", []), typed, results), tools))
        if call:
            block = {"type": "tool_use", "id": new_id("toolu"), "name": call[0], "input": call[1]}
            start, delta, stop = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(call[1])}, "tool_use"
        else:
            block = {"type": "text", "text": text}
            start, delta, stop = {"type": "text", "text": ""}, {"type": "text_delta", "text": text}, "end_turn"
        usage = {**USAGE, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        message = {"id": new_id("msg"), "type": "message", "role": "assistant", "model": body.get("model"), "stop_sequence": None, "usage": usage}
        if not body.get("stream"):
            return self.reply_json({**message, "content": [block], "stop_reason": stop})
        self.reply_events([
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 10}},
            {"type": "message_stop"},
        ])

    def openai_responses(self, body):
        self.fake.keep("responses", body)
        tools, namespaces = {}, {}
        for tool in body.get("tools") or []:
            for one in tool.get("tools", [tool]):
                tools[one.get("name", one["type"])] = one.get("parameters")
                if "tools" in tool:
                    namespaces[one["name"]] = tool["name"]
        items = body.get("input", [])
        items = [{"role": "user", "content": items}] if isinstance(items, str) else items
        asked = since_script(items, lambda item: item.get("role") == "user", lambda item: item.get("type", "").endswith("_output"))
        call, text = self.fake.next_step(*with_tools(asked, tools))
        if call:
            item = {"type": "function_call", "id": new_id("fc"), "call_id": new_id("call"), "name": call[0], "arguments": json.dumps(call[1])}
            if call[0] in namespaces:
                item["namespace"] = namespaces[call[0]]
        else:
            content = [{"type": "output_text", "text": text, "annotations": []}]
            item = {"type": "message", "id": new_id("msg"), "role": "assistant", "content": content}
        item["status"] = "completed"
        response = {"id": new_id("resp"), "object": "response", "status": "in_progress", "model": body.get("model"), "output": [], "created_at": 0}
        usage = {**USAGE, "total_tokens": 110, "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        completed = {**response, "status": "completed", "output": [item], "usage": usage}
        if not body.get("stream", True):
            return self.reply_json(completed)
        self.reply_events([
            {"type": "response.created", "response": response},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": completed},
        ])

    def chat(self, body):
        self.fake.keep("chat", body)
        functions = [tool["function"] for tool in body.get("tools") or [] if tool.get("type") == "function"]
        tools = {function["name"]: function.get("parameters") for function in functions}
        is_role = lambda role: lambda message: message["role"] == role
        asked = since_script(body.get("messages", []), is_role("user"), is_role("tool"))
        call, text = self.fake.next_step(*with_tools(asked, tools))
        if call:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            message = {"role": "assistant", "content": None, "tool_calls": [{"index": 0, "id": new_id("call"), "type": "function", "function": function}]}
        else:
            message = {"role": "assistant", "content": text}
        end = "tool_calls" if call else "stop"
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        base = {"id": new_id("chatcmpl"), "created": 0, "model": body.get("model")}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": end}
            return self.reply_json({**base, "object": "chat.completion", "choices": [choice], "usage": usage})
        chunk = {**base, "object": "chat.completion.chunk"}
        first = {"index": 0, "delta": message, "finish_reason": None}
        last = {"index": 0, "delta": {}, "finish_reason": end}
        self.reply_events([{**chunk, "choices": [first]}, {**chunk, "choices": [last], "usage": usage}], named=False, end="data: [DONE]\n\n")

    def gemini(self, body, streams):
        self.fake.keep("gemini", body)
        declared = [one for tool in body.get("tools") or [] for one in tool.get("functionDeclarations") or []]
        tools = {one["name"]: one.get("parametersJsonSchema") or one.get("parameters") for one in declared}
        results = lambda message: sum("functionResponse" in part for part in message.get("parts", []))
        asked = since_script(body.get("contents", []), lambda message: message.get("role") == "user", results)
        call, text = self.fake.next_step(*with_tools(asked, tools))
        if (body.get("generationConfig") or {}).get("responseMimeType") == "application/json":
            # The program asks which model to use and who speaks next.
            text = json.dumps({"reasoning": "-", "next_speaker": "user", "complexity_reasoning": "-", "complexity_score": 1, "model_choice": "flash"})
        part = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": text}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}
        answer = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake-model"}
        self.reply_events([answer], named=False) if streams else self.reply_json(answer)


def with_tools(asked, tools):
    return asked[0], tools, asked[1]
