#!/usr/bin/env python3
"""Makes tests/data/npy: small files as other programs write them, for the readers and the writer.

Run it with NumPy 1.24 or later; the same bytes come out each time. Values are 3n+1 for element n in row-major order
unless said otherwise.
"""
import io
import json
import struct
import zipfile
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

HERE = Path(__file__).parent / "npy"
TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]


def counted(shape, dtype):
    """Element n is 3n+1."""
    count = int(np.prod(shape))
    return (3 * np.arange(count) + 1).astype(dtype).reshape(shape)


def saved(array, version=None):
    stream = io.BytesIO()
    npy.write_array(stream, array, version=version, allow_pickle=False)
    return stream.getvalue()


def bfloat16_file(shape):
    """What ml_dtypes writes: NumPy's header with '<V2', then the upper halves of the float32 bits."""
    stream = io.BytesIO()
    npy.write_array_header_1_0(stream, {"descr": "<V2", "fortran_order": False, "shape": shape})
    bits = counted(shape, "float32").view("<u4") >> 16
    return stream.getvalue() + bits.astype("<u2").tobytes()


def zipped(members, **options):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", **options) as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = archive.compression
            archive.writestr(info, data)
    return stream.getvalue()


class Pipe(io.RawIOBase):
    """A stream that cannot seek: zipfile then writes sizes behind the data."""

    def __init__(self):
        self.data = bytearray()

    def writable(self):
        return True

    def write(self, data):
        self.data += data
        return len(data)


def zipped_through_a_pipe(members):
    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            with archive.open(zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0)), "w") as member:
                member.write(data)
    return bytes(pipe.data)


def zip64(members):
    """Every size and offset in a zip64 field, as in an archive beyond 4 GiB."""
    limits = zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT
    zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT = 0, 0
    try:
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for name, data in members.items():
                with archive.open(zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0)), "w", force_zip64=True) as member:
                    member.write(data)
        return stream.getvalue()
    finally:
        zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT = limits


def safetensors(tensors):
    """8 bytes of header length, the header padded to 8 with spaces, the data in the order of the names."""
    header, data = {"__metadata__": {"made": "by hand"}}, b""
    for name, (dtype, shape, values) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def header_shapes():
    """Shapes whose headers are of every length around the multiples of 64."""
    for rank in range(33):
        yield (1,) * rank
    for digits in range(1, 19):
        yield (0, 10 ** (digits - 1))
        yield (10 ** (digits - 1), 0)


def files():
    for dtype in TYPES:
        yield f"{dtype}.npy", saved(counted((2, 3), dtype))
    yield "bfloat16.npy", bfloat16_file((2, 3))
    yield "scalar.npy", saved(np.float32(5.0))
    yield "empty_0x4.npy", saved(np.zeros((0, 4), "float32"))
    yield "empty_2x0x3.npy", saved(np.zeros((2, 0, 3), "float64"))
    yield "row.npy", saved(counted((5,), "float32"))
    yield "rank4.npy", saved(counted((2, 3, 4, 5), "float32"))
    yield "special.npy", saved(np.array([0.1, -0.0, np.nan, np.inf, -np.inf, 5e-324]))
    yield "fortran.npy", saved(np.asfortranarray(counted((2, 3, 4), "float32")))
    yield "big_endian.npy", saved(counted((2, 3), ">f8"))
    yield "big_endian_fortran.npy", saved(np.asfortranarray(counted((2, 3), ">i2")))
    yield "version_2.npy", saved(counted((2, 3), "float32"), version=(2, 0))
    yield "version_3.npy", saved(counted((2, 3), "float32"), version=(3, 0))
    # All headers one behind another, each followed by its data (float64 zeros).
    yield "headers.npys", b"".join(saved(np.zeros(shape)) for shape in header_shapes())
    members = {"q.npy": saved(counted((2, 3), "float32")), "deep/k.npy": saved(counted((4,), "int64")),
               "f.npy": saved(np.asfortranarray(counted((3, 2), "float64")))}
    yield "stored.npz", zipped(members)
    yield "deflated.npz", zipped(members, compression=zipfile.ZIP_DEFLATED)
    yield "one.npz", zipped({"only.npy": members["q.npy"], "note.txt": b"not an array"})
    yield "piped.npz", zipped_through_a_pipe(members)
    yield "zip64.npz", zip64(members)
    yield "bzip2.npz", zipped(members, compression=zipfile.ZIP_BZIP2)
    yield "weights.safetensors", safetensors({
        **{name: (name, (2, 3), counted((2, 3), dtype).tobytes()) for name, dtype in (
            ("F64", "float64"), ("F32", "float32"), ("F16", "float16"), ("I64", "int64"), ("I32", "int32"), ("I16", "int16"),
            ("I8", "int8"), ("U8", "uint8"), ("U16", "uint16"), ("U32", "uint32"), ("U64", "uint64"), ("BOOL", "bool"))},
        "BF16": ("BF16", (2, 3), (counted((2, 3), "float32").view("<u4") >> 16).astype("<u2").tobytes()),
        "scalar": ("F32", (), np.float32(5.0).tobytes()),
        "empty": ("F32", (0, 4), b""),
        "layers[0]": ("F32", (3,), counted((3,), "float32").tobytes()),
        "float8": ("F8_E4M3", (2,), b"\0\0")})


def main():
    HERE.mkdir(exist_ok=True)
    for name, data in files():
        (HERE / name).write_bytes(data)


if __name__ == "__main__":
    main()
