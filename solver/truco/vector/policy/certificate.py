"""What was certified of a policy file: its exact exploitability, kept in a file beside it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

from solver.storage import StorageError, read_arrays, write_arrays
from solver.truco.vector.policy.info import VectorInfo

CERTIFICATE, VERSION = "truco-vector-certificate", 2


class Certified(NamedTuple):
    """What is kept beside a policy file."""

    exploitability: float | None
    """Exact, with real cards; None where nothing is kept that can be believed."""
    remark: str
    """Why what is kept is left aside, or nothing."""


def certified(info: VectorInfo, certificate: object) -> float:
    """The exploitability that `truco exploitability --json` said; ValueError if that was of another policy."""
    if not isinstance(certificate, dict) or not {"policy", "method", "exploitability"} <= certificate.keys():
        raise ValueError("the certificate is not what `truco exploitability --json` prints")
    method, value = certificate["method"], certificate["exploitability"]
    if not isinstance(method, str) or type(value) is not float or not math.isfinite(value):
        raise ValueError("the certificate is not what `truco exploitability --json` prints")
    if VectorInfo.read(certificate["policy"]) != info or not method.startswith("exact"):
        raise ValueError("the certificate is of another policy, or a lower bound only")
    return value


def certificate_path(policy: Path) -> Path:
    """Where the exact exploitability of a policy file is kept: beside it."""
    return policy.with_name(policy.name + ".certificate")


def save_certificate(policy: Path, certificate: dict[str, Any]) -> None:
    """Keeps what `truco exploitability` found out about a policy file, atomically; OSError if the disk refuses."""
    write_arrays(certificate_path(policy), CERTIFICATE, VERSION, {}, certificate)


def kept_certificate(policy: Path, info: VectorInfo) -> Certified:
    """What is kept beside a policy file; if it is damaged or of another policy, the remark says so."""
    path = certificate_path(policy)
    try:
        _, certificate = read_arrays(path, CERTIFICATE, VERSION)
        return Certified(certified(info, certificate), "")
    except FileNotFoundError:
        return Certified(None, "")
    except (OSError, ValueError) as error:
        reason = str(error) if isinstance(error, StorageError) else f"{path}: {error}"
        return Certified(None, f"Not certified, for what is kept beside the policy is left aside: {reason}.")
