"""What the scripted models of all servers say. The first word of the user's last message picks the script."""

import asyncio
from dataclasses import dataclass


@dataclass
class Call:
    """A tool call, its arguments in pieces of JSON."""

    id: str
    name: str
    arguments: list[str]


@dataclass
class Thought:
    """A piece of reasoning."""

    text: str


def weather(call: str, city: str) -> Call:
    return Call(call, "get_weather", ['{"city":', f'"{city}"}}'])


def delete(call: str, path: str) -> Call:
    return Call(call, "delete_file", [f'{{"path":"{path}"}}'])


def pick(call: str, title: str) -> Call:
    """A call of the page's own tool."""
    return Call(call, "pick_color", [f'{{"title":"{title}"}}'])


SCRIPTS = {
    "think": [Thought("Let me think. "), Thought("The answer is 42."), "It is ", "42."],
    "reason": [Call("call_t1", "think", ['{"title":"First",', '"thought":"Let me think."}'])],
    "tool": ["Let me ", "look. ", weather("call_w1", "Tokyo")],
    "parallel": [weather("call_p1", "Oslo"), weather("call_p2", "Rome")],
    "client": ["Please pick. ", pick("call_c1", "Wall")],
    "clients": [pick("call_c1", "Wall"), pick("call_c2", "Floor")],
    "mixed": [weather("call_m1", "Oslo"), pick("call_m2", "Wall")],
    "approve": [delete("call_a1", "a.txt")],
    "move": [Call("call_v1", "move_file", ['{"path":"a.txt"}'])],
    "approve2": [delete("call_a1", "a.txt"), delete("call_a2", "b.txt")],
    "state": [Call("call_s1", "set_state", ['{"n":5}'])],
    "toolfail": [Call("call_f1", "broken", ["{}"])],
    "fail": ["This will go ", "wro", RuntimeError("the model fell over")],
    "slow": [f"{number} " for number in range(20)],
}


def pieces(text: str, results: list[str], users: int) -> list:
    """An answer to a text, or to the results of its calls: strings, calls, thoughts, an exception."""
    word = (text.split() or [""])[0]
    if results:
        return ["Done. I got: ", "; ".join(results)]
    if word == "count":
        return [f"I see {users} user messages"]
    return SCRIPTS.get(word) or ["You said: ", text, "\nwith ☃ 你好 \u2028 too."]


async def spoken(answer: list):
    """The pieces at their pace. An exception among them is raised."""
    pause = 0.3 if len(answer) == 20 else 0.01
    for piece in answer:
        await asyncio.sleep(pause)
        if isinstance(piece, Exception):
            raise piece
        yield piece


def serve(app) -> None:
    """Serves on the port that the environment names."""
    import os

    import uvicorn

    uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]), log_level="warning")


def allow_pages(app) -> None:
    """Lets every page call."""
    from starlette.middleware.cors import CORSMiddleware

    app.add_middleware(CORSMiddleware, allow_origins=["*"], allow_methods=["*"], allow_headers=["*"])
