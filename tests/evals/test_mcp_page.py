"""Pages as MCP clients are shown them: by our own server, and by Playwright MCP."""

from __future__ import annotations

from mcp.types import CallToolResult, TextContent

from evals.bench.mcp_page import shown_page

HEAD = "### Page\n- Page URL: http://site.test/en/about\n- Page Title: About\n### Snapshot\n"
SNAPSHOT = """```yaml
- generic [active] [ref=e1]:
  - link "Our history" [ref=e5] [cursor=pointer]:
    - /url: /en/about/history
  - link "Team, 1959" [ref=f2e6] [cursor=pointer]:
    - /url: "team?of=1959#first"
  - paragraph [ref=e10]: Founded in 1959
      by Edwina Pallister.
```"""


def answer(text: str, **data: object) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)], structured_content=data or None)


def test_a_snapshot_is_read_with_its_links() -> None:
    page = shown_page(answer(HEAD + SNAPSHOT))
    assert page is not None
    assert (page.url, page.cached) == ("http://site.test/en/about", "")
    assert page.targets == {
        "http://site.test/en/about/history": "e5",
        "http://site.test/en/team?of=1959#first": "f2e6",
    }
    assert page.says(["1959 by Edwina", "Our history"])
    assert not page.says(["1959", "Ann"])


def test_an_answer_without_a_snapshot_shows_no_page() -> None:
    assert shown_page(answer(f"{HEAD}- [Snapshot](page.yml)")) is None
    assert shown_page(answer("### Result\nClosed.")) is None


def test_our_own_answers_are_read_as_data() -> None:
    link = {"number": 12, "text": "Team", "url": "http://site.test/team"}
    page = shown_page(answer("shown", url="http://site.test/", links=[link], cache="hit"))
    assert page is not None
    assert (page.url, page.targets, page.text, page.cached) == (
        "http://site.test/",
        {"http://site.test/team": "12"},
        "shown",
        "hit",
    )
