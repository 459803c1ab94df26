"""What was certified of a policy file: its exact exploitability, kept in a file beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from solver.storage import StorageError, read_arrays, write_arrays
from solver.truco.vector.policy.info import VectorInfo

CERTIFICATE, VERSION = "truco-vector-certificate", 1


def certified(info: VectorInfo, certificate: dict[str, Any]) -> float:
    """The exploitability that `truco exploitability --json` said; ValueError if that was of another policy."""
    try:
        found, method = VectorInfo.read(certificate["policy"]), certificate["method"]
        if found == info and method.startswith("exact"):
            return float(certificate["exploitability"])
    except (KeyError, TypeError):
        raise ValueError("the certificate is not what `truco exploitability --json` prints") from None
    raise ValueError("the certificate is of another policy, or a lower bound only")


def certificate_path(policy: Path) -> Path:
    """Where the exact exploitability of a policy file is kept: beside it."""
    return policy.with_name(policy.name + ".certificate")


def save_certificate(policy: Path, certificate: dict[str, Any]) -> None:
    """Keeps what `truco exploitability` found out about a policy file, atomically; OSError if the disk refuses."""
    write_arrays(certificate_path(policy), CERTIFICATE, VERSION, {}, certificate)


def kept_exploitability(policy: Path, info: VectorInfo) -> float | None:
    """The exact exploitability kept beside a policy file; None if there is none, or it is of another policy.

    Raises StorageError if what is kept is damaged.
    """
    try:
        _, certificate = read_arrays(certificate_path(policy), CERTIFICATE, VERSION)
        return certified(info, certificate)
    except (FileNotFoundError, ValueError) as error:
        if isinstance(error, StorageError):
            raise
        return None
