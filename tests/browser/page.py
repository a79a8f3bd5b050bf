"""A page in the browser: what is on it, and what it did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

WIDE, PHONE = 1200, 375

STATE = """
const run = document.querySelectorAll(".run")[arguments[0]];
const text = (element, part) => element.querySelector(part).textContent;
const named = (rows, part) =>
  Object.fromEntries([...run.querySelectorAll(rows)].map((row) => [row.dataset.name, text(row, part)]));
return {
  step: Number(run.dataset.step),
  status: text(run, ".status"),
  values: named("tr[data-name]", ".value"),
  was: named("tr[data-name].changed", ".was"),
  notes: [...run.querySelectorAll(".notes li")].map((note) => note.textContent),
  ages: [...run.querySelectorAll(".message text.current")].map((age) => Number(age.textContent)),
  boxes: [...run.querySelectorAll(".box.current text")].map((box) => box.textContent),
};
"""
"""What a run shows at its current step."""

LOW_CONTRAST = """
const parse = (color) => color.match(/[\\d.]+/g).map(Number);
const light = (color) => {
  const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const [r, g, b] = parse(color).slice(0, 3).map((c) => linear(c / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ratio = (one, other) => {
  const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
};
const behind = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const color = getComputedStyle(at).backgroundColor;
    if (color.startsWith("rgb(") || (parse(color)[3] || 0) > 0) return color;
  }
  return "rgb(255, 255, 255)";
};
const fill = (element) => getComputedStyle(element).fill;
const found = [];
let count = 0;
const check = (element, color, backgrounds) => {
  count++;
  for (const background of backgrounds) {
    if (ratio(color, background) < 4.5) found.push([element.textContent, color, background]);
  }
};
for (const details of document.querySelectorAll("details")) details.open = true;
for (const element of document.querySelectorAll("main *")) {
  if (element.closest("svg")) {
    if (element.tagName !== "text") continue;
    const rect = element.parentElement.querySelector(":scope > rect");
    const plain = element.parentElement.tagName === "svg";
    check(element, fill(element), plain ? [behind(element.closest("svg").parentElement), fill(rect)] : [fill(rect)]);
  } else if ([...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) {
    check(element, getComputedStyle(element).color, [behind(element)]);
  }
}
return [count, found];
"""
"""How many texts there are, and those that are hard to read on what is behind them."""


class Browser:
    """A browser that shows one page after the other."""

    def __init__(self, chromium: Chrome) -> None:
        self._chromium = chromium

    def open(self, path: Path, width: int = WIDE, scheme: str = "light", motion: str = "no-preference") -> None:
        """Show a file, in a window of this width, to someone who prefers this."""
        chromium = self._chromium
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        preferred = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion}
        features = [{"name": name, "value": value} for name, value in preferred.items()]
        chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        chromium.get("about:blank")
        self.complaints()
        self.requests()
        chromium.get(path.as_uri())

    def press(self, *keys: str) -> None:
        """Keys, wherever the focus is."""
        from selenium.webdriver import ActionChains

        ActionChains(self._chromium).send_keys(*keys).perform()

    def run(self, script: str, *arguments: Any) -> Any:
        return self._chromium.execute_script(script, *arguments)

    def state(self, number: int = 0) -> Any:
        return self.run(STATE, number)

    def click(self, selector: str, x: int | None = None) -> None:
        """Click on an element, in its middle or so far from its left edge."""
        from selenium.webdriver import ActionChains
        from selenium.webdriver.common.by import By

        element = self._chromium.find_element(By.CSS_SELECTOR, selector)
        at = 0 if x is None else round(x - element.rect["width"] / 2)
        ActionChains(self._chromium).move_to_element_with_offset(element, at, 0).click().perform()

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.run(
            "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)", selector
        )
        return found

    def complaints(self) -> list[str]:
        """What was written to the console since it was last asked for."""
        return [entry["message"] for entry in self._chromium.get_log("browser")]  # type: ignore[no-untyped-call]

    def requests(self) -> list[str]:
        """The addresses that were asked for since."""
        entries = self._chromium.get_log("performance")  # type: ignore[no-untyped-call]
        events = [json.loads(entry["message"])["message"] for entry in entries]
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
