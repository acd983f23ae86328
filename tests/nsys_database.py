# SPDX-License-Identifier: BSD-2-Clause
"""Databases as `nsys export -t sqlite` makes them, as far as their schema is public; no nsys made them.

usage: python3 nsys_database.py FILE [WORD...]
words: old (few columns, no chip), noclock, late (a record before 1970), backwards (a record that ends before it begins),
    twochips, unused (a GPU of another chip, on which nothing ran), empty (nothing ran), single (one kernel alone),
    metrics (samples of GPU metrics; norows: none, nonames: of metrics without names),
    graphs (CUDA graphs as a whole, and no kernels), more (what versions before and after write otherwise: open ranges that
    have no end, or 0 or -1, ranges that end before they begin, empty texts beside numbers of texts, migrations of unified memory, clusters), cudagpu (GPUs of early 2021)
"""

import sqlite3
import sys

BASE = 1795358468000000000


def identity(process, thread=0):
    """A serialized ID: hardware, virtual machine, process, thread."""
    return 1 << 56 | process << 24 | thread


def fill(db, words):
    old = "old" in words
    more = "" if old else ", mangledName INTEGER, graphNodeId INTEGER, registersPerThread INTEGER NOT NULL," \
        " staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL"
    common = "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL," \
        " streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER"
    db.executescript(f"""
        CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT, uuid TEXT
            {"" if old else ", chipName TEXT, cuDevice INTEGER"});
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL ({common}, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL,
            gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL,
            blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL{more});
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY ({common}, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL);
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET ({common}, value INTEGER NOT NULL, bytes INTEGER NOT NULL);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
            globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
        CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, text TEXT,
            globalTid INTEGER, textId INTEGER, domainId INTEGER);
    """)
    texts = ["vadd(float const*, int)", "_Z4vaddPKfi", "cudaLaunchKernel_v7000", "step", "dgemm(double*)", "_Z5dgemmPd"]
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", list(enumerate(texts, 1)))
    gpus = [(0, 0, "NVIDIA H100 80GB HBM3", "0000:00:06.0", "aab157f8-8087-8b5f-d10f-99d9cc28ee45")]
    gpus.append((0, 1, "NVIDIA H100 80GB HBM3", "0000:00:07.0", "GPU-bbb157f8-8087-8b5f-d10f-99d9cc28ee45"))
    chips = ["GH100", "GA100" if "twochips" in words else "GH100"]
    if "unused" in words:
        gpus.append((0, 2, "NVIDIA T400", "0000:00:08.0", "ccc157f8-8087-8b5f-d10f-99d9cc28ee45"))
        chips.append("TU117")
    db.executemany(f"INSERT INTO TARGET_INFO_GPU VALUES (?, ?, ?, ?, ?{'' if old else ', ?, ?'})",
                   [gpu if old else (*gpu, chip, gpu[1]) for gpu, chip in zip(gpus, chips)])
    if "cudagpu" in words:
        db.execute("DROP TABLE TARGET_INFO_GPU")
        db.execute("CREATE TABLE TARGET_INFO_CUDA_GPU (deviceId INTEGER, name TEXT, busLocation TEXT)")
        db.execute("INSERT INTO TARGET_INFO_CUDA_GPU VALUES (0, 'Tesla V100-SXM2-16GB', '0000:06:00.0')")
    if not old:
        # Process 200 sees the GPUs in another order.
        db.execute("CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER NOT NULL, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL)")
        db.executemany("INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (?, ?, ?)", [(0, 0, 100), (1, 1, 100), (1, 0, 200), (0, 1, 200)])
    if "noclock" not in words:
        db.execute("CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT)")
        db.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?, '', '')", (BASE,))
    db.execute("CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT)")
    db.execute("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0, '', 'Hostname', 0, 'node7')")
    if "metrics" in words:
        add_metrics(db, words)
    if "empty" in words:
        return
    if "graphs" in words:
        db.execute(f"CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE ({common}, graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL)")
        db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (?, ?, 0, 1, 7, ?, ?, ?, 4)",
                       [(1000, 9000, 11, identity(100), 3), (10000, 11000, 12, identity(100), 5)])
    kernels = [] if "graphs" in words else [
        (1000, 3000, 0, 1, 7, 11, identity(100), 1, 1, 8, 1, 1, 128, 1, 1, 2, None, 32, 0, 1024),
        (2500, 4000, 0, 1, 7, 5, identity(200), 5, 5, 4, 4, 1, 16, 16, 1, 6, 42, 64, 512, 0),
        (9000, 8000 if "backwards" in words else 9500, 0, 1, 7, 12, identity(100), 1, 1, 8, 1, 1, 128, 1, 1, 2, None, 32, 0, 1024),
    ]
    if "late" in words:
        kernels.append((-2 * BASE, 1, *kernels[0][2:]))
    count = 15 if old else 20
    db.executemany(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({','.join('?' * count)})", [row[:count] for row in kernels])
    if "single" in words:
        db.execute("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE start > 1000")
        return
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (100, 600, 0, 1, 7, 9, ?, 4096, 1)", (identity(100),))
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (700, 800, 0, 1, 7, 10, ?, 0, 256)", (identity(100),))
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 1, ?, ?, 3, 0)",
                   [(900, 950, identity(100, 101), 11), (6000, 6100, identity(100, 101), 12)])
    db.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [
        (0, None, 75, None, "Lib", identity(100, 101), None, 3),
        (800, 2000, 59, None, None, identity(100, 101), 4, 0),
        (850, 990, 59, None, "reduce", identity(100, 101), None, 3),
        (500, 7000, 60, 1, "epoch", identity(100, 101), None, 0),
        (300, None, 34, None, "mark", identity(100, 101), None, 0),
    ])
    if "more" in words:
        add_more(db)


def add_metrics(db, words):
    """Samples each 100 ns: of GPU 0, whose number is 1 there, while vadd runs, and of GPU 1 while dgemm does."""
    db.execute("CREATE TABLE GPU_METRICS (timestamp INTEGER, typeId INTEGER, metricId INTEGER, value INTEGER)")
    if "norows" in words:
        return
    db.execute("ALTER TABLE TARGET_INFO_GPU ADD COLUMN pwGpuId INTEGER")
    db.execute("UPDATE TARGET_INFO_GPU SET pwGpuId = 1 - id")
    if "nonames" not in words:
        db.execute("CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, sourceId INTEGER, typeName TEXT, metricId INTEGER,"
                   " metricName TEXT)")
    labels = ["SMs Active [Throughput %]", "GPC Clock Frequency [MHz]", "DRAM Read Bandwidth [Throughput %]",
              "Compute Warps in Flight [Avg]", "Some Other Thing"]
    for gpu, begin, end, hz in ((0, 1000, 3000, 10**6), (1, 2500, 4000, 1)):
        kind = 1 << 56 | 0x23 << 32 | 1 - gpu
        # The numbers of metrics differ from one GPU to the other.
        numbers = [(number + gpu) % len(labels) for number in range(len(labels))]
        if "nonames" not in words:
            db.executemany("INSERT INTO TARGET_INFO_GPU_METRICS VALUES (?, 5, 'GPU Metrics', ?, ?)",
                           [(kind, number, label) for number, label in zip(numbers, labels)])
        for time in range(100, 10001, 100):
            if gpu == 0 and 5000 < time < 8000:
                continue
            busy = begin < time <= end
            values = [80 - 40 * gpu if busy else 0, 1700 * hz, -1 if time == 200 else 10, -9999999, 7]
            db.executemany("INSERT INTO GPU_METRICS VALUES (?, ?, ?, ?)",
                           [(time, kind, number, value) for number, value in zip(numbers, values)])


def add_more(db):
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?, ?, 0, 1, 7, 9, ?, 1, ?)",
                   [(10000 + 10 * kind, 10005 + 10 * kind, identity(100), kind) for kind in (10, 11, 12, 13, 14)])
    for column, value in (("X", 2), ("Y", 0), ("Z", 0)):
        db.execute(f"ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN cluster{column} INTEGER")
        db.execute(f"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET cluster{column} = ? WHERE start = 1000", (value,))
    db.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [
        (0, None, 75, None, "", identity(100, 101), 5, 4),
        (5000, 6500, 59, None, "", identity(100, 101), 4, 4),
        (300, None, 59, None, "open", identity(100, 101), None, 0),
        (400, 0, 59, None, "open", identity(100, 101), None, 0),
        (400, -1, 60, 2, "open", identity(100, 101), None, 0),
        (-500, -100, 60, 3, "before", identity(100, 101), None, 0),
        # Damaged, or of a later version.
        (400, -70, 59, None, "backwards", identity(100, 101), None, 0),
        (-2 * BASE, 100, 59, None, "before 1970", identity(100, 101), None, 0),
        (400, 500, 81, None, "unknown", identity(100, 101), None, 0),
    ])


with sqlite3.connect(sys.argv[1]) as connection:
    fill(connection, set(sys.argv[2:]))
connection.close()
