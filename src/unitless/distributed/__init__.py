"""Training in several processes: one model per key.

The work runs in processes of this machine (joblib), or on a Ray cluster when an address is given
(`pip install 'unitless[ray]'`). Both give bit-for-bit the same models. See distributed.md. It
may import models, their files and their evaluation, and not the command line.
"""

from unitless.distributed.by_key import fit_by_key
from unitless.distributed.executor import TaskProgress, WorkerLost
from unitless.distributed.partitioned_data import PartitionedData

__all__ = ["PartitionedData", "TaskProgress", "WorkerLost", "fit_by_key"]


def __dir__() -> list[str]:
    return sorted(__all__)
