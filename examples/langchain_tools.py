"""LangGraph: while the model thinks, the tool it is likely to call next runs already."""

import asyncio
from collections.abc import Iterator

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from agent.adapters.langchain_tools import speculative_toolkit
from speccache import ToolCall
from speccache.tools import Calls


@tool
async def chapter(number: int) -> str:
    """Read a chapter."""
    await asyncio.sleep(0.15)
    return f"text of chapter {number}"


def predict(calls: Calls) -> Iterator[ToolCall]:
    yield ToolCall("chapter", {"number": calls[-1].action.arguments["number"] + 1})


def wish(number: int) -> AIMessage:
    call = {"name": "chapter", "args": {"number": number}, "id": f"call_{number}", "type": "tool_call"}
    return AIMessage("", tool_calls=[call])


async def main() -> None:
    model = GenericFakeChatModel(messages=iter([*map(wish, range(1, 6)), AIMessage("I have read all of it.")]))

    async def think(state: MessagesState) -> dict[str, list[AIMessage]]:
        await asyncio.sleep(0.25)  # as long as a real model would take at least
        return {"messages": [await model.ainvoke(state["messages"])]}

    async with speculative_toolkit([chapter], reads={"chapter"}, predict=predict) as toolkit:
        graph = StateGraph(MessagesState)
        graph.add_node("model", think)
        graph.add_node("tools", ToolNode(toolkit.tools))
        graph.set_entry_point("model")
        graph.add_conditional_edges("model", tools_condition)
        graph.add_edge("tools", "model")
        state = await graph.compile().ainvoke({"messages": [HumanMessage("Read the book.")]})
    print(state["messages"][-1].content)
    account = toolkit.account
    print(f"{account.hits} hits, {account.misses} misses; {account.hidden_seconds:.2f} s saved")


asyncio.run(main())
