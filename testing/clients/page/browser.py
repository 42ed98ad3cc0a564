"""A headless Chromium, driven through the protocol of WebDriver: as much of a client as the suite of the live page needs."""

import base64
import json
import re
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
# The codes that WebDriver has for keys without a letter.
KEYS = {
    "Tab": "\ue004", "Enter": "\ue007", "Shift": "\ue008", "Control": "\ue009", "Escape": "\ue00c", "PageDown": "\ue00f", "End": "\ue010",
    "Home": "\ue011", "Left": "\ue012", "Up": "\ue013", "Right": "\ue014", "Down": "\ue015", "Delete": "\ue017",
}  # fmt: skip


class Browser:
    def __init__(self, chromium, driver, width=1440, height=900):
        self.process = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in self.process.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                break
        else:
            raise RuntimeError("chromedriver does not start")
        self.address = f"http://127.0.0.1:{found[1]}"
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb",
                     "--disable-background-networking", "--disable-component-update", "--no-first-run", f"--window-size={width},{height}"]  # fmt: skip
        options = {"binary": chromium, "args": arguments, "perfLoggingPrefs": {"enableNetwork": True}}
        capabilities = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        self.session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})["sessionId"]
        self.problems, self.requests = [], []
        self.size(width, height)

    def call(self, method, path, body=None):
        data = json.dumps(body if body is not None else {}).encode() if method == "POST" else None
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise RuntimeError(f"{value['error']}: {value['message'].splitlines()[0]}") from None

    def ask(self, method, path, body=None):
        return self.call(method, f"/session/{self.session}{path}", body)

    def open(self, url):
        self.ask("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def devtools(self, command, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def size(self, width, height, scale=1):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=width < 600)

    def scheme(self, name, reduced=False):
        """What the system prefers: light or dark, and whether it wants no motion."""
        features = [{"name": "prefers-color-scheme", "value": name}, {"name": "prefers-reduced-motion", "value": "reduce" if reduced else "no-preference"}]
        self.devtools("Emulation.setEmulatedMedia", media="", features=features)

    def until(self, script, *arguments, seconds=20, what=None):
        """Waits until a script gives something, and gives that."""
        end = time.monotonic() + seconds
        while True:
            found = self.run(script, *arguments)
            if found:
                return found
            if time.monotonic() > end:
                raise AssertionError(what or f"not within {seconds} s: {script}")
            time.sleep(0.1)

    def seen(self, selector, text=""):
        """Waits until an element with a text is there."""
        script = "return [...document.querySelectorAll(arguments[0])].some((it) => it.checkVisibility() && it.textContent.includes(arguments[1]))"
        return self.until(script, selector, text, what=f"no {selector} with {text!r}")

    def click(self, selector, text=""):
        script = "return [...document.querySelectorAll(arguments[0])].find((it) => it.checkVisibility() && it.textContent.includes(arguments[1]))"
        element = self.until(script, selector, text, what=f"no {selector} with {text!r}")[ELEMENT]
        self.ask("POST", f"/element/{element}/click")

    def press(self, *keys):
        """Presses keys one after the other; `Control+Enter` presses one while another is down."""
        actions = []
        for key in keys:
            parts = [KEYS.get(part, part) for part in key.split("+")] if len(key) > 1 else [key]
            actions += [{"type": "keyDown", "value": part} for part in parts] + [{"type": "keyUp", "value": part} for part in reversed(parts)]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def type(self, text):
        self.press(*text)

    def focused(self):
        script = "const it = document.activeElement; return it.getAttribute('aria-label') || it.id || it.dataset.key || it.textContent.trim().slice(0, 60) || it.tagName"
        return self.run(script)

    def gather(self):
        """What the page has complained of, and where it has asked, since the last time."""
        for entry in self.ask("POST", "/se/log", {"type": "browser"}):
            self.problems.append(f"{entry['level']} {entry['message']}")
        for entry in self.ask("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])

    def picture(self, path, full=False):
        parameters = {"format": "png", "captureBeyondViewport": full}
        if full:
            size = self.devtools("Page.getLayoutMetrics")["cssContentSize"]
            parameters["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        path.write_bytes(base64.b64decode(self.devtools("Page.captureScreenshot", **parameters)["data"]))

    def close(self):
        try:
            self.ask("DELETE", "")
        finally:
            self.process.terminate()
            self.process.wait()
