"""The shipped detector with a user-defined property: how long can the receiver wait for a message?

fdverify explore examples/own_property.py:DETECTOR --delta 2 --phi 4
"""

from dataclasses import replace
from typing import Any

from fdverify import CHANDRA_TOUEG, Property, System

WAITS_3_PHI = Property("waits-3-phi", lambda s: s.waiting_time <= 3 * s.phi, "waiting_time never exceeds 3*phi")
WAITS_4_PHI = Property(
    "waits-4-phi", lambda s: s.waiting_time <= 4 * s.phi + s.delta, "waiting_time never exceeds 4*phi+delta"
)


def build(**chosen: Any) -> System:
    system = CHANDRA_TOUEG.build(**chosen)
    return replace(system, name="own-property", properties=(*system.properties, WAITS_3_PHI, WAITS_4_PHI))


DETECTOR = replace(CHANDRA_TOUEG, name="own-property", build=build, default_property="waits-4-phi")
