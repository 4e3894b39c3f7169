"""Drives a memdir server with the official Python SDK.

    client.py MODE stdio COMMAND [ARGUMENT...]
    client.py MODE http URL

MODE is `legacy` (an `initialize` handshake) or `2026-07-28` (no handshake, no session). Reads a story, a JSON list of
steps, from standard input and prints what came back, a JSON list as long as the story.
"""

import asyncio
import json
import os
import sys

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

WAIT = 30


def plain(value):
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


class Story:
    def __init__(self, client, modern, news):
        self.client = client
        self.modern = modern
        self.news = news

    async def step(self, step):
        do = getattr(self, step["do"])
        try:
            return await do(step)
        except MCPError as error:
            return {"code": error.error.code, "message": error.error.message}

    async def server(self, step):
        return {"name": self.client.server_info.name, "instructions": self.client.instructions}

    async def tools(self, step):
        return [tool.name for tool in (await self.client.list_tools()).tools]

    async def call(self, step):
        result = await self.client.call_tool(step["name"], step.get("arguments", {}))
        text = "".join(block.text for block in result.content)
        return {"text": text, "structured": result.structured_content, "isError": bool(result.is_error)}

    async def resources(self, step):
        return [resource.uri for resource in (await self.client.list_resources()).resources]

    async def templates(self, step):
        return [t.uri_template for t in (await self.client.list_resource_templates()).resource_templates]

    async def read(self, step):
        contents = (await self.client.read_resource(step["uri"], cache_mode="bypass")).contents
        return [content.text for content in contents]

    async def prompts(self, step):
        return [prompt.name for prompt in (await self.client.list_prompts()).prompts]

    async def prompt(self, step):
        result = await self.client.get_prompt(step["name"], step.get("arguments", {}))
        return [message.content.text for message in result.messages]

    async def complete(self, step):
        from mcp.types import PromptReference

        ref = PromptReference(type="ref/prompt", name=step["prompt"])
        argument = {"name": step["argument"], "value": step["value"]}
        return (await self.client.complete(ref, argument)).completion.values

    async def watch(self, step):
        """Subscribes, makes a change, and waits for the news of it."""
        if self.modern:
            async with self.client.listen(resources_list_changed=True, resource_subscriptions=[step["uri"]]) as heard:
                await self.step(step["then"])
                wanted = {"updated", "list"}
                async with asyncio.timeout(WAIT):
                    async for event in heard:
                        wanted.discard("updated" if getattr(event, "uri", None) == step["uri"] else "list")
                        if not wanted:
                            break
            return "heard"
        await self.client.subscribe_resource(step["uri"])
        await self.step(step["then"])
        wanted = {"notifications/resources/updated", "notifications/resources/list_changed"}
        async with asyncio.timeout(WAIT):
            while wanted:
                wanted.discard(await self.news.get())
        return "heard"


async def main():
    mode, kind, *rest = sys.argv[1:]
    news = asyncio.Queue()

    async def hear(message):
        method = getattr(message, "method", None)
        if method:
            news.put_nowait(method)

    story = json.load(sys.stdin)
    modern = mode != "legacy"
    if kind == "stdio":
        target = StdioServerParameters(command=rest[0], args=rest[1:], env=dict(os.environ))
    else:
        token = os.environ.get("CLIENT_TOKEN")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        target = streamable_http_client(rest[0], http_client=httpx2.AsyncClient(headers=headers, timeout=WAIT * 2))
    # A version that is merely adopted asks nothing of the server; `auto` discovers what it is, as hosts do.
    async with Client(target, mode="auto" if modern else mode, message_handler=hear) as client:
        assert modern == (client.protocol_version == "2026-07-28"), client.protocol_version
        told = Story(client, modern, news)
        print(json.dumps([await told.step(step) for step in story], ensure_ascii=False))


asyncio.run(main())
