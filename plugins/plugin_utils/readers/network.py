"""Complaints about the way to a server, which apt and pip share."""

from __future__ import annotations

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers.problems import phrases, rule

PROXY = rule("proxy-authentication", r"\b407 +Proxy Authentication|Tunnel connection failed: 407")
CERTIFICATE = rule(
    "tls-certificate",
    r"certificate verif|CERTIFICATE_VERIFY_FAILED|certificate is NOT trusted|certificate issuer is unknown"
    r"|No system certificates available|certificate (?:has )?expired|unable to get local issuer certificate"
    r"|self[- ]signed certificate|certificate .*does not match",
)
# errno numbers of the network stand in front of the translated reason: "connect (111: Connection refused)".
NO_ANSWER = rule(
    "repo-unreachable",
    rf"{phrases('no-address')}|\((?:101|104|110|111|113): |Connection (?:refused|timed out|reset by peer)"
    r"|Network is unreachable|No route to host|Could not connect to|Unable to connect to|Could not handshake"
    r"|Error reading from server|'NOSPLIT'|Failed to establish a new connection|Read timed out|Max retries exceeded",
)
