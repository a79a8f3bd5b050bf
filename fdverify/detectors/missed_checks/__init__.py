"""Missed checks: a target is suspected if it has not answered so many checks in a row, each within a timeout."""

from fdverify.detectors.missed_checks.check_parts import FIXED_DELAY as FIXED_DELAY
from fdverify.detectors.missed_checks.check_parts import FIXED_RATE as FIXED_RATE
from fdverify.detectors.missed_checks.check_parts import CheckParts as CheckParts
from fdverify.detectors.missed_checks.check_parts import CheckStep as CheckStep
from fdverify.detectors.missed_checks.check_parts import compute_safe_timeout as compute_safe_timeout
from fdverify.detectors.missed_checks.check_parts import compute_safe_tolerance as compute_safe_tolerance
from fdverify.detectors.missed_checks.check_system import MISSED_CHECKS as MISSED_CHECKS
from fdverify.detectors.missed_checks.failed_checks import TAKES_TIME as TAKES_TIME
from fdverify.detectors.missed_checks.failed_checks import TOO_FEW as TOO_FEW
from fdverify.detectors.missed_checks.failed_checks import TOO_SHORT as TOO_SHORT
from fdverify.detectors.missed_checks.failed_checks import build_late_answers as build_late_answers
from fdverify.detectors.missed_checks.failed_checks import build_lost_messages as build_lost_messages
