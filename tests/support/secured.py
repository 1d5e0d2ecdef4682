"""A broker that one listener of which takes TLS and a password."""

from __future__ import annotations

import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from examples import broker as brokers
from examples.broker import HOST, broker, free_port
from examples.jars import java

USER, PASSWORD = "app", "canary-password"

_PROPERTIES = """inter.broker.listener.name=PLAINTEXT
sasl.enabled.mechanisms=PLAIN
ssl.keystore.location={keys}
ssl.keystore.password=changeit
ssl.keystore.type=PKCS12
listener.name.secured.plain.sasl.jaas.config={login} required user_{user}="{password}";
"""
LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


class Secured(NamedTuple):
    """Where a broker listens, and the certificate that it shows."""

    plain: str
    server: str
    certificate: Path


@contextmanager
def secured_broker(folder: Path) -> Generator[Secured]:
    """Run a broker that also listens with TLS, to a user with a password."""
    folder.mkdir(parents=True)
    keys, certificate = folder / "keys.p12", folder / "certificate.pem"
    _keytool(
        *("-genkeypair", "-alias", "broker", "-keyalg", "RSA", "-dname", f"CN={HOST}"),
        *("-ext", f"SAN=ip:{HOST}", "-storetype", "PKCS12", "-keystore", str(keys)),
    )
    _keytool(
        *("-exportcert", "-rfc", "-alias", "broker", "-keystore", str(keys)),
        *("-file", str(certificate)),
    )
    server = f"{HOST}:{free_port()}"
    more = _PROPERTIES.format(keys=keys, login=LOGIN, user=USER, password=PASSWORD)
    given = brokers.PROPERTIES.replace(
        "{host}:{port},CONTROLLER", f"{{host}}:{{port}},SECURED://{server},CONTROLLER"
    )
    given = given.replace(
        "advertised.listeners=PLAINTEXT://{host}:{port}",
        f"advertised.listeners=PLAINTEXT://{{host}}:{{port}},SECURED://{server}",
    )
    given = given.replace("CONTROLLER:PLAINTEXT", "CONTROLLER:PLAINTEXT,SECURED:SASL_SSL")
    with (
        patch.object(brokers, "PROPERTIES", given + more),
        broker(folder / "broker") as plain,
    ):
        yield Secured(plain, server, certificate)


def _keytool(*arguments: str) -> None:
    program = Path(java()).resolve().with_name("keytool")
    subprocess.run([program, *arguments, "-storepass", "changeit"], check=True, capture_output=True)
