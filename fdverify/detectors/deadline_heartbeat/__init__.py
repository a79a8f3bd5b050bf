"""The deadline heartbeat: a sender is suspected if nothing was heard from it for as long as a timeout."""

from fdverify.detectors.deadline_heartbeat.deadline_parts import FIXED_DELAY as FIXED_DELAY
from fdverify.detectors.deadline_heartbeat.deadline_parts import FIXED_RATE as FIXED_RATE
from fdverify.detectors.deadline_heartbeat.deadline_parts import DeadlineParts as DeadlineParts
from fdverify.detectors.deadline_heartbeat.deadline_system import DEADLINE_HEARTBEAT as DEADLINE_HEARTBEAT
from fdverify.detectors.deadline_heartbeat.late_heartbeat import build_late_heartbeat as build_late_heartbeat
from fdverify.detectors.deadline_heartbeat.late_heartbeat import list_side_conditions as list_side_conditions
