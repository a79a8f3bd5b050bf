"""Parts of models, such as periodic tasks and channels, with the conjuncts that each of them guarantees."""

from fdverify.parts.guarantee import Guarantee as Guarantee
from fdverify.parts.local_clock import LocalClock as LocalClock
from fdverify.parts.local_clock import Stopwatch as Stopwatch
from fdverify.parts.lossy_channel import LossyChannel as LossyChannel
from fdverify.parts.pausing_process import PausingProcess as PausingProcess
from fdverify.parts.periodic_task import FixedDelayTask as FixedDelayTask
from fdverify.parts.periodic_task import FixedRateTask as FixedRateTask
from fdverify.parts.periodic_task import PeriodicTask as PeriodicTask
from fdverify.parts.periodic_task import TaskStep as TaskStep
from fdverify.parts.silence import Silence as Silence
