"""Ray reads its switches when it is first imported: here, before the tests are."""

from walras.executors.ray_cluster import stay_local

stay_local()
