"""The explorer as a person meets it on a page: read what it shows, press its buttons and keys.

The same object drives it in a notebook's output and in a stand-alone page. It finds things by the `data-testid`s that
widgets/README.md lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

SHOWN_MS = 30_000


class ConsoleWatch:
    """Collects what a page says is wrong: errors and warnings on its console, exceptions nobody caught, and requests
    that failed. `ignored` are patterns of whole messages that are not ours, each with the reason beside it."""

    def __init__(self, page: Page, ignored: tuple[str, ...] = ()) -> None:
        self.problems: list[str] = []
        self.ignored = ignored
        page.on("console", lambda message: self.note(message.text, wrong=message.type in {"error", "warning"}))
        page.on("pageerror", lambda error: self.note(f"uncaught: {error.message}"))
        page.on("requestfailed", lambda request: self.note(f"request failed: {request.url} {request.failure}"))
        page.on(
            "response", lambda answer: self.note(f"HTTP {answer.status}: {answer.url}", wrong=answer.status >= 400)
        )

    def note(self, text: str, *, wrong: bool = True) -> None:
        if wrong and not any(re.fullmatch(pattern, text) for pattern in self.ignored):
            self.problems.append(text)


class ExplorerPage:
    """One explorer. `place` is the part of the page that holds it and no other explorer."""

    def __init__(self, place: Locator) -> None:
        self.root = place.get_by_test_id("explorer")
        self.page: Page = place.page

    def wait_until_shown(self) -> None:
        expect(self.root).to_be_visible(timeout=SHOWN_MS)
        self.settle()

    def part(self, test_id: str) -> Locator:
        return self.root.get_by_test_id(test_id)

    # --- reading ------------------------------------------------------------------------------------------------

    @property
    def step(self) -> int:
        return self._position()[0]

    @property
    def steps(self) -> int:
        return self._position()[1]

    def _position(self) -> tuple[int, int]:
        match = re.fullmatch(r"step (\d+) of (\d+)", self.part("position").inner_text().strip())
        assert match, self.part("position").inner_text()
        return int(match[1]), int(match[2])

    def sentence(self) -> str:
        """The step in words, with its instruction in place of its line, and backticks around code."""
        code = "n => n.dataset?.op ?? (n.nodeName === 'CODE' ? '`' + n.textContent + '`' : n.textContent)"
        text: str = self.part("sentence").evaluate(f"e => [...e.childNodes].map({code}).join('')")
        return text.strip()

    def source_line(self) -> tuple[int, str]:
        """Number and text of the highlighted line of source."""
        current = self.part("source-current")
        return int(current.get_attribute("data-line") or -1), current.locator("code").inner_text().strip()

    def instruction(self) -> str:
        """Name of the highlighted instruction."""
        return self.part("bytecode-current").locator(".tw-op").inner_text().strip()

    def frames(self) -> list[str]:
        """Names of the active functions, the outermost first."""
        return [text.strip() for text in self.part("frames").locator(".tw-frame-name").all_inner_texts()]

    def values(self, section: str) -> list[str]:
        """The lines of `stack`, `locals` or `cells`, once their pieces of the recording have come."""
        waiting = self.part(section).locator(".tw-value .tw-dim").filter(has_text=re.compile(r"^…$"))
        expect(waiting).to_have_count(0, timeout=SHOWN_MS)
        return [text.strip() for text in self.part(section).locator(".tw-value").all_inner_texts()]

    # --- doing --------------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Wait until the step's values are there."""
        expect(self.part("sentence")).to_have_attribute("aria-busy", "false", timeout=SHOWN_MS)

    def click(self, test_id: str) -> int:
        """Press a button of the toolbar, and return the step it led to."""
        return self._move(self.part(test_id).click)

    def press(self, key: str) -> int:
        """Press a key with the focus on the explorer, and return the step it led to."""
        self.root.focus()
        return self._move(lambda: self.page.keyboard.press(key))

    def _move(self, action: Callable[[], None]) -> int:
        action()
        self.settle()
        return self.step

    def step_by(self, way: str) -> None:
        """Choose what the next and back buttons step by."""
        self.part("by").select_option(way)

    def go_to(self, step: int) -> None:
        """Type `#step` into the search field, as a person does to get to a step they know."""
        self.part("find").fill(f"#{step}")
        self.part("find").press("Enter")
        expect(self.part("position")).to_contain_text(f"step {step} of", timeout=SHOWN_MS)
        self.settle()

    def open_pane(self, tab: str) -> Locator:
        """Switch to a pane by its tab, or by the menu of tabs that do not fit, and return it."""
        if self.part(f"tab-{tab}").count() == 0:
            self.part("more-tabs").click()
        self.part(f"tab-{tab}").click()
        pane = self.root.locator(f"[data-testid=pane][data-pane={tab}]")
        expect(pane).to_be_visible()
        return pane

    def open_value(self, path: str) -> dict[str, str]:
        """Open a value, e.g. `locals:x`, and return its facts."""
        value = self.root.locator(f'[data-testid=value][data-path="{path}"]')
        button = value.locator(".tw-value").first
        if button.get_attribute("aria-expanded") != "true":
            button.click()
        facts = value.get_by_test_id("value-facts").first
        expect(facts).to_be_visible()
        names = facts.locator("> dt").all_inner_texts()
        return dict(zip(names, facts.locator("> dd").all_inner_texts(), strict=True))
