"""Check the built site in Chromium: search, the width of code and tables, errors of scripts."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any, Final

SITE: Final = Path(__file__).parents[1] / "_build" / "html"
PICTURES: Final = SITE.with_name("screenshots")

PHONE: Final = {"width": 390, "height": 844}
DESK: Final = {"width": 1280, "height": 900}

SOUGHT: Final = {"UPDATE_BEFOR": "formats/dataworks_json", "apply_changes": "guides/spark"}
"""Search words, and a page that each must find."""

SHOWN: Final = (
    *("index", "start/first-table", "guides/spark", "guides/producers"),
    *("guides/schemas", "concepts/tables", "made/commands", "made/measured", "reference/python"),
    *("formats/dataworks_json", "reference/cli", "contributing/performance"),
)
"""Pages whose screenshots are kept for people to look at."""

_LEFT: Final = "net::ERR_ABORTED"
"""What Chromium reports for a request that was running when the page was left."""

_WIDER: Final = """() => {
  const parts = [...document.querySelectorAll("article pre, article .table-wrapper")];
  return [document.documentElement, ...parts]
    .map(part => [part.tagName.toLowerCase(), part.scrollWidth - part.clientWidth])
    .filter(([, wider]) => wider > 1);
}"""
"""The page, and its code and tables: each that is wider than its place, in pixels."""


class _Quiet(SimpleHTTPRequestHandler):
    """Serves files without a log."""

    def log_message(self, format: str, *args: Any) -> None:
        """Write no log."""


def main() -> int:
    """Print the problems of the site; return 1 if there are any."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.stderr.write("no Chromium was found: on Debian, apt-get install chromium\n")
        return 1
    PICTURES.mkdir(exist_ok=True)
    # By its name: it is installed for this session alone, and not where types are checked.
    sync_playwright: Any = import_module("playwright.sync_api").sync_playwright
    with _served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        found = [*_pages(browser, address), *_searches(browser, address)]
        browser.close()
    sys.stdout.writelines(f"{line}\n" for line in found)
    sys.stdout.write(f"{len(found)} problems; screenshots are in {PICTURES}\n")
    return bool(found)


@contextmanager
def _served() -> Generator[str, None, None]:
    """Serve the site on a free port of this machine while the block runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(SITE)))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()


def _pages(browser: Any, address: str) -> Iterator[str]:
    """Yield the problems of each page, on a phone and on a desktop."""
    for width, size in (("phone", PHONE), ("desk", DESK)):
        page, heard = _listened(browser, size)
        for path in sorted(SITE.rglob("*.html")):
            name = path.relative_to(SITE).with_suffix("").as_posix()
            page.goto(f"{address}/{name}.html")
            for part, wider in page.evaluate(_WIDER):
                yield f"{name}, {width}: <{part}> is {wider} pixels wider than it can be shown"
            if name in SHOWN:
                file = f"{name.replace('/', '-')}-{width}.png"
                page.screenshot(path=PICTURES / file, full_page=width == "phone")
            yield from (f"{name}, {width}: {text}" for text in heard)
            heard.clear()
        page.close()


def _searches(browser: Any, address: str) -> Iterator[str]:
    """Yield each word that the search does not find on its page."""
    page, heard = _listened(browser, DESK)
    for word, wanted in SOUGHT.items():
        page.goto(f"{address}/search.html?q={word}")
        page.wait_for_selector("#search-results li a", timeout=10_000)
        page.wait_for_timeout(1000)
        links = [link.get_attribute("href") or "" for link in page.query_selector_all(".search a")]
        if not any(wanted in link for link in links):
            yield f"search for {word}: {wanted} is not among {len(links)} results"
        page.screenshot(path=PICTURES / f"search-{word}.png")
    yield from (f"search: {text}" for text in heard)


def _listened(browser: Any, size: dict[str, int]) -> tuple[Any, list[str]]:
    """Return a page of a size, and a list of the errors of its scripts and requests."""
    page = browser.new_page(viewport=size)
    heard: list[str] = []

    def hear(said: Any) -> None:
        if said.type == "error":
            heard.append(said.text)

    def fail(error: Any) -> None:
        heard.append(str(error))

    def miss(request: Any) -> None:
        if request.failure != _LEFT:
            heard.append(f"not loaded: {request.url}")

    page.on("console", hear)
    page.on("pageerror", fail)
    page.on("requestfailed", miss)
    return page, heard


if __name__ == "__main__":
    sys.exit(main())
