"""LangGraph: `/agent` (as it comes: RAW events, CUSTOM `on_interrupt`), `/quiet` (interrupts as the run's outcome)."""

import json
import uuid
from typing import Any

from ag_ui_langgraph import LangGraphAgent, add_langgraph_fastapi_endpoint
from fastapi import FastAPI
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import MemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt

from script import Call, Thought, allow_pages, pieces, serve, spoken


def text_of(content) -> str:
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)


def answer_to(messages) -> list:
    text, results = "", []
    for message in messages:
        if isinstance(message, HumanMessage):
            text, results = text_of(message.content), []
        elif isinstance(message, ToolMessage):
            results.append(str(message.content))
    return pieces(text, results, sum(isinstance(message, HumanMessage) for message in messages))


class Scripted(BaseChatModel):
    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **_):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_):
        said = "".join(piece for piece in answer_to(messages) if isinstance(piece, str))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(said))])

    async def _astream(self, messages, stop=None, run_manager=None, **_):
        message, index = f"run-{uuid.uuid4()}", 0
        answer = answer_to(messages)
        has_blocks = any(isinstance(piece, Thought) for piece in answer)
        async for piece in spoken(answer):
            for given in given_chunks(piece, index, has_blocks):
                chunk = ChatGenerationChunk(message=AIMessageChunk(id=message, **given))
                if run_manager:
                    await run_manager.on_llm_new_token("", chunk=chunk)
                yield chunk
            index += isinstance(piece, Call)
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        yield ChatGenerationChunk(message=AIMessageChunk(id=message, content="", usage_metadata=usage))


def given_chunks(piece, index: int, has_blocks: bool):
    """What the chunks of a piece are made of. Beside a thought, a text is a block, too."""
    if isinstance(piece, str) and has_blocks:
        yield {"content": [{"type": "text", "text": piece, "index": 1}]}
    elif isinstance(piece, str):
        yield {"content": piece}
    elif isinstance(piece, Thought):
        yield {"content": [{"type": "thinking", "thinking": piece.text, "index": 0}]}
    else:
        for name, arguments in [(piece.name, ""), *((None, arguments) for arguments in piece.arguments)]:
            call = {"name": name, "args": arguments, "id": piece.id if name else None, "index": index, "type": "tool_call_chunk"}
            yield {"content": "", "tool_call_chunks": [call]}


class State(MessagesState, total=False):
    tools: list[Any]
    context: Any
    n: int


@tool
def get_weather(city: str) -> dict:
    "Weather"
    return {"city": city, "temp": 18}


@tool
def delete_file(path: str) -> str:
    "Delete"
    schema = {"type": "object", "properties": {"approved": {"type": "boolean"}}}
    answer = interrupt({"reason": "tool_call", "message": f"Delete {path}?", "path": path, "responseSchema": schema})
    return f"deleted {answer.get('path', path)}" if answer.get("approved") else f"refused: {json.dumps(answer)}"


@tool
def broken() -> str:
    "Broken"
    raise ValueError("disk on fire")


@tool
def set_state(n: int):
    "State"
    return Command(update={"n": n, "messages": [ToolMessage("state set", tool_call_id="call_s1")]})


TOOLS = [get_weather, delete_file, broken, set_state]


async def chat(state: State):
    return {"messages": [await Scripted().ainvoke(state["messages"])]}


def own_calls(state: State):
    names = {tool.name for tool in TOOLS}
    calls = getattr(state["messages"][-1], "tool_calls", None) or []
    return [call for call in calls if call["name"] in names], calls


def after(state: State):
    own, calls = own_calls(state)
    if not own:
        return END
    return "tools" if len(own) == len(calls) else "beside the page's"


async def beside(state: State):
    """Runs its own tools. The run ends after that, as the page's calls wait."""
    own, _ = own_calls(state)
    message = state["messages"][-1].model_copy(update={"tool_calls": own})
    return await ToolNode(TOOLS).ainvoke({**state, "messages": [message]})


graph = StateGraph(State).add_node("chat", chat).add_node("tools", ToolNode(TOOLS)).add_node("beside the page's", beside)
graph = graph.add_edge(START, "chat").add_conditional_edges("chat", after).add_edge("tools", "chat")

app = FastAPI()
allow_pages(app)


def endpoint(path: str, **options) -> None:
    agent = LangGraphAgent(name="lab", graph=graph.compile(checkpointer=MemorySaver()), **options)
    add_langgraph_fastapi_endpoint(app, agent, path)


endpoint("/agent")
endpoint("/quiet", emit_raw_events=False, emit_interrupt_outcome=True, enable_legacy_on_interrupt_event=False)

if __name__ == "__main__":
    serve(app)
