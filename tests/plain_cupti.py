# SPDX-License-Identifier: BSD-2-Clause
"""CUPTI's Profiler Host API in plain loops by ctypes, as its header documents it: what bench_python.py compares with."""

import ctypes
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_size_t, c_void_p, cast

COUNTER, RATIO, THROUGHPUT = 0, 1, 2
RANGE, PM_SAMPLING = 0, 1


def _params(name, *fields):
    """A parameter structure: structSize, pPriv and these; its size ends with the last field, without padding."""
    fields = [("structSize", c_size_t), ("pPriv", c_void_p), *fields]
    cls = type(name, (ctypes.Structure,), {"_fields_": fields})
    last = getattr(cls, fields[-1][0])
    cls.size = last.offset + last.size
    return cls


_Chips = _params("GetSupportedChips", ("numChips", c_size_t), ("names", POINTER(c_char_p)))
_Initialize = _params("Initialize", ("type", c_int), ("chip", c_char_p), ("availability", c_void_p), ("host", c_void_p))
_Deinitialize = _params("Deinitialize", ("host", c_void_p))
_BaseMetrics = _params(
    "GetBaseMetrics", ("host", c_void_p), ("type", c_int), ("names", POINTER(c_char_p)), ("count", c_size_t)
)
_SubMetrics = _params(
    "GetSubMetrics",
    ("host", c_void_p), ("type", c_int), ("metric", c_char_p), ("count", c_size_t), ("names", POINTER(c_char_p)),
)
_Properties = _params(
    "GetMetricProperties",
    ("host", c_void_p), ("metric", c_char_p), ("description", c_char_p), ("hw_unit", c_char_p), ("dim_unit", c_char_p),
    ("type", c_int),
)
_AddMetrics = _params("ConfigAddMetrics", ("host", c_void_p), ("names", POINTER(c_char_p)), ("count", c_size_t))
_ImageSize = _params("GetConfigImageSize", ("host", c_void_p), ("bytes", c_size_t))
_Image = _params("GetConfigImage", ("host", c_void_p), ("bytes", c_size_t), ("image", c_void_p))
_Passes = _params("GetNumOfPasses", ("bytes", c_size_t), ("image", c_void_p), ("passes", c_size_t))
_DataInfo = _params(
    "GetCounterDataInfo",
    ("image", c_void_p), ("bytes", c_size_t), ("total", c_size_t), ("populated", c_size_t), ("completed", c_size_t),
)
_RangeName = _params(
    "GetRangeName",
    ("image", c_void_p), ("bytes", c_size_t), ("range", c_size_t), ("delimiter", c_char_p), ("name", c_void_p),
)
_Evaluate = _params(
    "EvaluateToGpuValues",
    ("host", c_void_p), ("image", c_void_p), ("bytes", c_size_t), ("range", c_size_t), ("names", POINTER(c_char_p)),
    ("count", c_size_t), ("values", POINTER(c_double)),
)


class Refused(Exception):
    """CUPTI's status, which was not 0."""


class Cupti:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.free = ctypes.CDLL(None).free
        self.free.argtypes = [c_void_p]

    def call(self, function, cls, **values):
        params = cls(structSize=cls.size, **values)
        status = getattr(self.library, function)(byref(params))
        if status:
            raise Refused(f"{function}: {status}")
        return params

    def chips(self):
        params = self.call("cuptiProfilerHostGetSupportedChips", _Chips)
        return [params.names[i].decode() for i in range(params.numChips)]

    def passes(self, image):
        address = cast(image, c_void_p)
        return self.call("cuptiProfilerHostGetNumOfPasses", _Passes, bytes=len(image), image=address).passes


class Host:
    """A host object, to be used with `with`."""

    def __init__(self, cupti, chip, profiler=RANGE):
        self.cupti = cupti
        self.object = cupti.call("cuptiProfilerHostInitialize", _Initialize, type=profiler, chip=chip.encode()).host

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.call("cuptiProfilerHostDeinitialize", _Deinitialize)

    def call(self, function, cls, **values):
        return self.cupti.call(function, cls, host=self.object, **values)

    def base_metrics(self, kind):
        params = self.call("cuptiProfilerHostGetBaseMetrics", _BaseMetrics, type=kind)
        return params.names[: params.count]

    def submetrics(self, kind, metric):
        params = self.call("cuptiProfilerHostGetSubMetrics", _SubMetrics, type=kind, metric=metric)
        return params.names[: params.count]

    def properties(self, metric):
        return self.call("cuptiProfilerHostGetMetricProperties", _Properties, metric=metric)

    def add_metrics(self, names):
        self.call("cuptiProfilerHostConfigAddMetrics", _AddMetrics, names=strings(names), count=len(names))

    def config_image(self):
        size = self.call("cuptiProfilerHostGetConfigImageSize", _ImageSize).bytes
        image = (ctypes.c_uint8 * size)()
        self.call("cuptiProfilerHostGetConfigImage", _Image, bytes=size, image=cast(image, c_void_p))
        return image


def strings(names):
    return (c_char_p * len(names))(*[name.encode() for name in names])


# ---- the jobs


def submetrics(cupti, chip):
    """(full name, unit) of all submetrics of a chip."""
    found = []
    with Host(cupti, chip) as host:
        for kind in (COUNTER, RATIO, THROUGHPUT):
            for metric in host.base_metrics(kind):
                for suffix in host.submetrics(kind, metric):
                    name = metric + suffix
                    found.append((name.decode(), host.properties(name).dim_unit.decode()))
    return found


def pass_counts(cupti, chip, names):
    """Passes of each metric by itself, None where it can't be scheduled: a host object each, as one adds up."""
    counts = []
    for name in names:
        with Host(cupti, chip) as host:
            try:
                host.add_metrics([name])
                counts.append(cupti.passes(host.config_image()))
            except Refused:
                counts.append(None)
    return counts


def config(cupti, chip, names):
    """(config image, passes) of these metrics in this order."""
    with Host(cupti, chip) as host:
        host.add_metrics(names)
        image = host.config_image()
    return bytes(image), cupti.passes(image)


def range_name(cupti, image, size, index):
    params = cupti.call(
        "cuptiProfilerHostGetRangeName", _RangeName, image=image, bytes=size, range=index, delimiter=b"/"
    )
    name = ctypes.string_at(params.name).decode()
    cupti.free(params.name)
    return name


def evaluate(cupti, chip, profiler, path, names):
    """(range or sample, values) of each that is complete in a counter data image."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    image, size = cast((ctypes.c_uint8 * len(data)).from_buffer(data), c_void_p), len(data)
    count = cupti.call("cuptiPmSamplingGetCounterDataInfo", _DataInfo, image=image, bytes=size).completed
    wanted, values, rows = strings(names), (c_double * len(names))(), []
    with Host(cupti, chip, profiler) as host:
        for index in range(count):
            host.call(
                "cuptiProfilerHostEvaluateToGpuValues", _Evaluate,
                image=image, bytes=size, range=index, names=wanted, count=len(names), values=values,
            )
            rows.append((range_name(cupti, image, size, index) if profiler == RANGE else index, values[:]))
    return rows
