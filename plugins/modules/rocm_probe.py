#!/usr/bin/python
"""Ask package servers, from the host and before any change, whether what will be needed is there."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rocm_probe
short_description: Ask package servers whether what will be needed is there
description:
  - Sends one HEAD request per URL and fetches each signing key and page of a wheel index once, all at the same time,
    from the host itself, so that its own proxy, mirror and name service are what is tried.
  - Changes nothing. A failing server is an answer, not a failure of the module; the filter C(gpufleet.rocm.plan)
    decides what it means.
version_added: 0.1.0
author: The gpufleet authors (@gpufleet)
options:
  questions:
    description: What to ask, such as C(probe) of a plan. Nothing is sent where all lists are empty.
    type: dict
    default: {}
    suboptions:
      urls:
        description: URLs to ask for with HEAD.
        type: list
        elements: str
        default: []
      keys:
        description: URLs of OpenPGP public keys to fetch and read.
        type: list
        elements: str
        default: []
      wheels:
        description: Pages of a wheel index (PEP 503), and what is looked for on each.
        type: list
        elements: dict
        default: []
        suboptions:
          url:
            description: URL of the page.
            type: str
            required: true
          project:
            description: Name of the project whose page it is.
            type: str
            required: true
          version:
            description: Version that a wheel is wanted of.
            type: str
            required: true
  timeout:
    description: Seconds to wait for one server.
    type: int
    default: 10
attributes:
  check_mode:
    description: Runs the same in check mode, since it changes nothing.
    support: full
"""

EXAMPLES = r"""
- name: Ask the ROCm repository and fetch its key
  gpufleet.rocm.rocm_probe:
    questions:
      urls:
        - https://repo.radeon.com/rocm/apt/6.0/dists/jammy/Release
      keys:
        - https://repo.radeon.com/rocm/rocm.gpg.key
      wheels:
        - url: https://download.pytorch.org/whl/rocm6.0/torch/
          project: torch
          version: 2.3.0+rocm6.0
  register: probe
"""

RETURN = r"""
urls:
  description: For each URL its C(status) (HTTP number, or null without an answer) and C(error) (text, or empty).
  returned: always
  type: dict
  sample: {"https://repo.radeon.com/rocm/apt/6.0/dists/jammy/Release": {"status": 200, "error": ""}}
keys:
  description:
    - For each key URL C(status) and C(error) as above, C(fingerprints) of the primary keys (upper-case hexadecimal)
      and C(content), the key in ASCII armour.
  returned: always
  type: dict
wheels:
  description:
    - For each page C(status) and C(error) as above, C(tags) of the wheels of the wanted version for Linux on x86_64
      (empty where there is none), and C(versions), up to 20 of those that the page has wheels of.
  returned: always
  type: dict
  sample:
    https://download.pytorch.org/whl/rocm6.0/torch/:
      status: 200
      error: ""
      tags: [cp310-cp310, cp311-cp311]
      versions: [2.3.0+rocm6.0, 2.3.1+rocm6.0]
"""

import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.error import HTTPError, URLError

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.urls import open_url

from ansible_collections.gpufleet.rocm.plugins.module_utils import openpgp, wheel_pages
from ansible_collections.gpufleet.rocm.plugins.module_utils.secrets import masked

# A key is a few kilobytes; anything larger is an error page or worse.
KEY_LIMIT = 256 * 1024
# The page of torch with every build there ever was has about two megabytes.
PAGE_LIMIT = 16 * 1024 * 1024
PAGE_FIELDS = ("url", "project", "version")
VERSIONS_SHOWN = 20
AGENT = "gpufleet.rocm"
PARALLEL = 8


def request(url: str, method: str, timeout: int, limit: int = KEY_LIMIT) -> tuple[int | None, str, bytes]:
    """Return ``(status, error, body)`` for one request; never raises for what a server or network does."""
    try:
        response = open_url(url, method=method, timeout=timeout, http_agent=AGENT)
        body = b"" if method == "HEAD" else response.read(limit)
        return response.getcode(), "", body
    except HTTPError as error:
        return error.code, "", b""
    except URLError as error:
        return None, masked("no answer: %s" % (error.reason,)), b""
    except (socket.timeout, OSError, ValueError) as error:
        return None, masked("no answer: %s" % (error or error.__class__.__name__,)), b""
    except Exception as error:  # http.client and ssl raise their own families; the text is all that matters here
        return None, masked("no answer: %s: %s" % (error.__class__.__name__, error)), b""


def ask(url: str, timeout: int) -> dict[str, Any]:
    """The answer to one HEAD."""
    status, error, _ = request(url, "HEAD", timeout)
    return {"status": status, "error": error}


def fetch_key(url: str, timeout: int) -> dict[str, Any]:
    """One key: its fingerprints and armoured text, or why it cannot be read."""
    status, error, body = request(url, "GET", timeout)
    answer: dict[str, Any] = {"status": status, "error": error, "fingerprints": [], "expires": None, "content": ""}
    if status != 200:
        return answer
    try:
        keys = openpgp.keys(body)
        answer["fingerprints"] = sorted(key["fingerprint"] for key in keys)
        answer["expires"] = min((str(key["expires"]) for key in keys if key["expires"]), default=None)
        answer["content"] = openpgp.armour(body)
    except ValueError as problem:
        answer["error"] = "not an OpenPGP public key: %s" % (problem,)
    return answer


def look_for_wheels(question: dict[str, str], timeout: int) -> dict[str, Any]:
    """What one page of a wheel index has of the wanted version."""
    status, error, body = request(question["url"], "GET", timeout, PAGE_LIMIT)
    if len(body) == PAGE_LIMIT:
        error = "a page of more than %d MiB" % (PAGE_LIMIT >> 20)
    offers = wheel_pages.offers(body.decode("utf-8", "replace"), question["project"])
    tags = offers.get(question["version"].lower(), [])
    return {"status": status, "error": error, "tags": tags, "versions": list(offers)[-VERSIONS_SHOWN:]}


def main() -> None:
    """Entry point."""
    module = AnsibleModule(
        argument_spec={
            "questions": {
                "type": "dict",
                "default": {},
                "options": {
                    "urls": {"type": "list", "elements": "str", "default": []},
                    "keys": {"type": "list", "elements": "str", "default": [], "no_log": False},
                    "wheels": {
                        "type": "list",
                        "elements": "dict",
                        "default": [],
                        "options": {name: {"type": "str", "required": True} for name in PAGE_FIELDS},
                    },
                },
                "apply_defaults": True,
            },
            "timeout": {"type": "int", "default": 10},
        },
        supports_check_mode=True,
    )
    timeout, questions = module.params["timeout"], module.params["questions"]
    with ThreadPoolExecutor(max_workers=PARALLEL) as pool:
        urls = {url: pool.submit(ask, url, timeout) for url in questions["urls"]}
        keys = {url: pool.submit(fetch_key, url, timeout) for url in questions["keys"]}
        wheels = {row["url"]: pool.submit(look_for_wheels, row, timeout) for row in questions["wheels"]}
        module.exit_json(
            changed=False,
            urls={url: answer.result() for url, answer in urls.items()},
            keys={url: answer.result() for url, answer in keys.items()},
            wheels={url: answer.result() for url, answer in wheels.items()},
        )


if __name__ == "__main__":
    main()
