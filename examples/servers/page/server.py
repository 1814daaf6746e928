import http.server
import sys
import urllib.request

import packaging

OTHERS = sys.argv[2:]


def ask(url: str) -> str:
    with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - its own neighbours
        return answer.read().decode()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        lines = [f"page: packaging {packaging.__version__}", *(f"{url}: {ask(url)}" for url in OTHERS)]
        self.send_response(200)
        self.end_headers()
        self.wfile.write("\n".join(lines).encode() + b"\n")


print("page listens", flush=True)
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
