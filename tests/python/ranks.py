# SPDX-License-Identifier: BSD-2-Clause
"""Recordings as processes of a job make them: pieces of shipped ones, each from a host and a GPU of its own."""

import json
import os
import struct
import zlib

from common import command, recording

_HEADER = struct.Struct("<4sIQQIIIII")  # of a section, without its own CRC: docs/format.md
_DEFLATED = 1


def _sections(data):
    """The sections except the last: [fields of the header, stored payload]."""
    at, found = 16, []
    while True:
        fields = list(_HEADER.unpack_from(data, at))
        at += _HEADER.size + 4
        if fields[0] == b"END ":
            return found
        found.append([fields, data[at : at + fields[2]]])
        at += (fields[2] + 7) // 8 * 8


def _put(out, fields, payload):
    """Writes a section with its checksums; returns the 44 bytes that the file's checksum covers."""
    fields[2], fields[5] = len(payload), zlib.crc32(payload)
    header = _HEADER.pack(*fields)
    out += header + struct.pack("<I", zlib.crc32(header)) + payload + bytes(-len(payload) % 8)
    return header


def from_machine(data, host, gpu, rank=None):
    """The bytes of a recording, as if it had been made on this host, with this GPU as its device 0, by this rank."""
    out = bytearray(data[:16])
    checked = bytes(data[:16])
    sections = _sections(data)
    for fields, payload in sections:
        if fields[0] == b"META":
            meta = json.loads(zlib.decompress(payload) if fields[1] & _DEFLATED else payload)
            meta.setdefault("run", {}).update({"hostname": host, "device.0.uuid": gpu})
            if rank is not None:
                meta["run"]["env.RANK"] = str(rank)
            text = json.dumps(meta).encode()
            payload, fields[1], fields[3] = zlib.compress(text), fields[1] | _DEFLATED, len(text)
        checked += _put(out, fields, payload)
    end = struct.pack("<II", len(sections), zlib.crc32(checked))
    _put(out, [b"END ", 0, 8, 8, 0, 0, 0, 0, 0], end)
    return bytes(out)


def pieces(to, sizes):
    """Divides shipped recordings: {"before": 10} into pieces of 10 ranges each, piece-before-1.opk and so on."""
    stem, ending = os.path.splitext(to)
    made = []
    for name, size in sizes.items():
        rows = command("split", "--by", str(size), "-o", f"{stem}-{name}{ending}", recording(name))
        made += [row[0] for row in rows[1:]]
    return made


def make(folder, pieces, count, gpus):
    """Writes rank-00000.opk and so on: the pieces in turn, on so many GPUs in turn, 8 of them a host."""
    bytes_of = []
    for piece in pieces:
        with open(piece, "rb") as file:
            bytes_of.append(file.read())
    files = [os.path.join(folder, f"rank-{i:05}.opk") for i in range(count)]
    for i, file in enumerate(files):
        gpu = i % gpus
        with open(file, "wb") as out:
            out.write(from_machine(bytes_of[i % len(pieces)], f"node{gpu // 8:04}", f"GPU-{gpu:08}"))
    return files
