"""A page in a headless Chromium, driven through its DevTools protocol; and a server of a folder's files."""

import base64
import functools
import http.client
import http.server
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time

FLAGS = [
    "--headless=new", "--no-sandbox", "--enable-unsafe-swiftshader", "--use-angle=swiftshader", "--no-first-run",
    "--disable-extensions", "--disable-background-networking", "--remote-debugging-port=0",
]  # fmt: skip
MODIFIERS = {"Alt": (1, 18), "Control": (2, 17), "Meta": (4, 91), "Shift": (8, 16)}  # bit, code


def chromium():
    return shutil.which("chromium")


class Server:
    """Serves a folder as any static server does: without a header of its own."""

    def __init__(self, folder):
        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                pass

        handler = functools.partial(Handler, directory=str(folder))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://localhost:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Socket:
    """A WebSocket's text messages, as the DevTools protocol needs them."""

    def __init__(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port))
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        self.stream = self.socket.makefile("rb")
        while self.stream.readline() not in (b"\r\n", b""):
            pass

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        size = len(data)
        head = b"\x81"
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 65536:
            head += b"\xfe" + struct.pack(">H", size)
        else:
            head += b"\xff" + struct.pack(">Q", size)
        masked = (int.from_bytes(data, "big") ^ int.from_bytes((mask * (size // 4 + 1))[:size], "big")) if size else 0
        self.socket.sendall(head + mask + masked.to_bytes(size, "big"))

    def close(self):
        self.stream.close()
        self.socket.close()

    def receive(self):
        whole = b""
        while True:
            first, second = self.stream.read(2)
            size = second & 0x7F
            if size == 126:
                size = struct.unpack(">H", self.stream.read(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self.stream.read(8))[0]
            part = self.stream.read(size)
            if first & 0x0F in (0, 1):
                whole += part
                if first & 0x80:
                    return whole.decode()


class Browser:
    """One page of one browser; a folder given as `profile` keeps what the page keeps."""

    def __init__(self, width=1456, height=819, ratio=1, profile=None, flags=()):
        self.temporary = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.downloads = pathlib.Path(self.temporary.name) / "downloads"
        self.downloads.mkdir()
        profile = pathlib.Path(profile or pathlib.Path(self.temporary.name) / "profile")
        (profile / "DevToolsActivePort").unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [chromium(), *FLAGS, *flags, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        port_file = profile / "DevToolsActivePort"
        for _ in range(600):
            if port_file.exists() and port_file.read_text().count("\n") >= 1:
                break
            time.sleep(0.1)
        port = int(port_file.read_text().split()[0])
        self.socket = Socket(port, self._page(port))
        self.number = 0
        self.said = []  # on the console
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.resize(width, height, ratio)
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads))

    @staticmethod
    def _page(port):
        for _ in range(100):
            connection = http.client.HTTPConnection("127.0.0.1", port)
            connection.request("GET", "/json")
            for target in json.load(connection.getresponse()):
                if target["type"] == "page":
                    return target["webSocketDebuggerUrl"].split(str(port), 1)[1]
            time.sleep(0.1)
        raise RuntimeError("the browser has no page")

    def call(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.receive())
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message.get("result", {})
            self._hear(message)

    def _hear(self, message):
        if message.get("method") == "Runtime.consoleAPICalled":
            self.said.append(" ".join(str(a.get("value", a.get("description"))) for a in message["params"]["args"]))
        elif message.get("method") == "Runtime.exceptionThrown":
            details = message["params"]["exceptionDetails"]
            self.said.append(details.get("exception", {}).get("description", details["text"]))
        elif message.get("method") == "Log.entryAdded":
            self.said.append(message["params"]["entry"]["text"])

    def resize(self, width, height, ratio=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio, mobile=False)

    def open(self, address):
        self.call("Page.navigate", url=address)

    def value(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait_for(self, script, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if found := self.value(script):
                    return found
            except RuntimeError:
                pass  # the page is being loaded
            time.sleep(0.05)
        raise TimeoutError(f"{script} did not come true in {seconds} s; the page said: {self.said[-5:]}")

    def picture(self, file=None):
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        if file:
            pathlib.Path(file).write_bytes(data)
        return data

    def move(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x, y):
        self.move(x, y)
        time.sleep(0.15)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
            time.sleep(0.1)

    def drag(self, x, y, to_x, to_y):
        self.move(x, y)
        time.sleep(0.15)
        self.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
        for i in range(1, 9):
            self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + (to_x - x) * i / 8, y=y + (to_y - y) * i / 8,
                      button="left")  # fmt: skip
            time.sleep(0.03)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=to_x, y=to_y, button="left", clickCount=1)

    def wheel(self, x, y, by):
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=by)

    def key(self, name, code=None, *modifiers):
        """A key by its name ("k", "Enter") and its Windows code."""
        code = code or ord(name.upper())
        mask = sum(MODIFIERS[one][0] for one in modifiers)
        presses = [(one, MODIFIERS[one][1]) for one in modifiers] + [(name, code)]
        for kind, order in (("rawKeyDown", presses), ("keyUp", presses[::-1])):
            for key, number in order:
                self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=number, modifiers=mask)
            time.sleep(0.06)

    def type(self, text):
        for letter in text:
            self.call("Input.dispatchKeyEvent", type="char", text=letter)
            time.sleep(0.02)

    def choose_files(self, selector, files):
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(file) for file in files])

    def downloaded(self, seconds=30):
        """The files that were downloaded, once there is one and none is under way."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            files = list(self.downloads.iterdir())
            if files and not any(file.name.endswith(".crdownload") for file in files):
                return sorted(files)
            time.sleep(0.1)
        return []

    def close(self):
        try:
            self.call("Browser.close")
        except (OSError, RuntimeError, struct.error, ValueError):
            pass
        self.socket.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.temporary.cleanup()
