"""A server of S3's protocol in memory, for a command: runs it with MAYFLY_S3_ENDPOINT, MAYFLY_S3_BUCKET and credentials set."""

import logging
import os
import subprocess
import sys
import urllib.request

from moto.server import ThreadedMotoServer

BUCKET = "mayfly"

# A line for each request.
logging.getLogger("werkzeug").setLevel(logging.ERROR)

server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
server.start()
try:
    endpoint = "http://{}:{}".format(*server.get_host_and_port())
    settings = {
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_REGION": "us-east-1",
        "MAYFLY_S3_ENDPOINT": endpoint,
        "MAYFLY_S3_BUCKET": BUCKET,
    }
    os.environ.update(settings)
    request = urllib.request.Request(f"{endpoint}/{BUCKET}", method="PUT")
    urllib.request.urlopen(request).close()
    ended = subprocess.run(sys.argv[1:]).returncode
finally:
    server.stop()
sys.exit(ended)
