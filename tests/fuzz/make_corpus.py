#!/usr/bin/env python3
"""Makes the hostile seeds in corpus/: each the smallest file that tells one lie. Needs only Python.

Files that a fuzzer found are named found-*, and are not made here.
"""
import struct
import zlib
from pathlib import Path

HERE = Path(__file__).parent / "corpus"


def npy(header, data=b"", version=1):
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + data


def header(descr="'<f4'", shape="(2,)", order="False"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


NPY = {
    "empty": b"",
    "magic-only": b"\x93NUMPY",
    "header-of-4-gib": b"\x93NUMPY\x02\x00\xf0\xff\xff\xff",
    "shape-wraps": npy(header(shape="(4294967296, 4294967296)")),
    "shape-wraps-behind-zero": npy(header(shape="(0, 4294967296, 4294967296)")),
    "shape-of-one-huge-axis": npy(header(shape="(9223372036854775807,)")),
    "shape-without-end": npy(header(shape="(2,")),
    "shape-of-65-axes": npy(header(shape="(" + "1," * 65 + ")"), b"1234"),
    "shape-grouped-digits": npy(header("'|u1'", "(1,002, 3)"), bytes(3006)),
    "shape-python-2": npy(header(shape="(2L, 1L)"), bytes(8)),
    "shape-negative": npy(header(shape="(-1,)")),
    "object": npy(header("'|O'"), b"\x80\x04N."),
    "structured": npy(header("[('a', '<f4')]"), bytes(8)),
    "bool-of-2": npy(header("'|b1'"), b"\x02\x01"),
    "bfloat16": npy(header("'<V2'"), b"\x80\x3f\x00\x40"),
    "big-endian-fortran": npy(header("'>i8'", "(2, 2)", "True"), bytes(range(32))),
    "scalar": npy(header("'=f8'", "()"), bytes(8)),
    "signalling-nan": npy(header("'<f8'", "(1,)"), b"\x01\x00\x00\x00\x00\x00\xf0\x7f"),
    "odd-address": npy(header() + "  ", bytes(8)),
    "truncated": npy(header(), bytes(7)),
    "two-arrays": npy(header(), bytes(8)) * 2,
    "version-3": npy(header() + "\n", bytes(8), 3),
    "key-twice": npy("{'shape': (2,), 'shape': (2,)}"),
    "no-quote": npy("{'descr"),
    "git-lfs": b"version https://git-lfs.github.com/spec/v1\n",
}


def archive(npy_bytes, method=0, packed=None, size=None, flags=0, crc=None, name=b"a.npy", extra=b"", offset=0,
            count=1, directory_at=None, packed_size=None):
    packed = npy_bytes if packed is None else packed
    size = len(npy_bytes) if size is None else size
    crc = zlib.crc32(npy_bytes) if crc is None else crc
    packed_size = len(packed) if packed_size is None else packed_size
    common = struct.pack("<HHIIIIH", flags, method, 0, crc, packed_size, size, len(name))
    local = b"PK\x03\x04\x14\x00" + common + struct.pack("<H", 0) + name + packed
    entry = b"PK\x01\x02\x14\x00\x14\x00" + common + struct.pack("<HHHHII", len(extra), 0, 0, 0, 0, offset) + name + extra
    directory_at = len(local) if directory_at is None else directory_at
    return local + entry + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, count, count, len(entry), directory_at, 0)


def deflated(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


GOOD = npy(header(), bytes(8))
NPZ = {
    "empty": b"",
    "no-member": b"PK\x05\x06" + bytes(18),
    "stored": archive(GOOD),
    "deflated": archive(GOOD, 8, deflated(GOOD)),
    "deflated-size-too-small": archive(GOOD, 8, deflated(GOOD), size=9),
    "deflated-size-too-large": archive(GOOD, 8, deflated(GOOD), size=4_000_000_000),
    "deflated-cut": archive(GOOD, 8, deflated(GOOD)[:-4]),
    "deflated-noise": archive(GOOD, 8, b"\xff" * 40),
    "bomb": archive(GOOD, 8, deflated(GOOD + bytes(1 << 20))),
    "bomb-that-agrees": archive(npy(header("'|u1'", "(1048576,)"), bytes(1 << 20)), 8,
                                deflated(npy(header("'|u1'", "(1048576,)"), bytes(1 << 20)))),
    "header-asks-for-4-tib": archive(npy(header(shape="(1099511627776,)")), 8, deflated(npy(header(shape="(1099511627776,)")))),
    "crc-wrong": archive(GOOD, 8, deflated(GOOD), crc=1),
    "encrypted": archive(GOOD, flags=1),
    "zstd": archive(GOOD, 93),
    "offset-outside": archive(GOOD, offset=0x7FFFFFFF),
    "offset-into-data": archive(GOOD, offset=7),
    "packed-size-outside": archive(GOOD, packed_size=0x7FFFFFFF, size=0x7FFFFFFF),
    "directory-outside": archive(GOOD, directory_at=0x7FFFFFFF),
    "count-too-large": archive(GOOD, count=60000),
    "zip64-sizes": archive(GOOD, packed_size=0xFFFFFFFF, size=0xFFFFFFFF,
                           extra=struct.pack("<HHQQ", 1, 16, len(GOOD), len(GOOD))),
    "zip64-sizes-huge": archive(GOOD, packed_size=0xFFFFFFFF, size=0xFFFFFFFF, extra=struct.pack("<HHQQ", 1, 16, 2**64 - 1, 2**64 - 1)),
    "zip64-sizes-missing": archive(GOOD, packed_size=0xFFFFFFFF, size=0xFFFFFFFF, extra=struct.pack("<HHQ", 1, 8, len(GOOD))),
    "zip64-field-longer-than-extra": archive(GOOD, size=0xFFFFFFFF, extra=struct.pack("<HHQ", 1, 60000, 1)),
    "zip64-end-outside": archive(GOOD)[:-22] + b"PK\x06\x07" + struct.pack("<IQI", 0, 2**63, 1) + b"PK\x05\x06" + b"\0\0\0\0" + b"\xff" * 12 + b"\0\0",
    "no-suffix": archive(GOOD, name=b"a"),
    "name-is-no-utf-8": archive(GOOD, name=b"\xff\x1b[2J.npy"),
}


def tensors(text, data=b""):
    text = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(text)) + text + data


def entry(dtype="F32", shape="[2]", offsets="[0,8]"):
    return f'"a":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}'


SAFETENSORS = {
    "empty": b"",
    "length-only": struct.pack("<Q", 2),
    "length-huge": struct.pack("<Q", 2**63) + b"{}",
    "length-beyond-file": struct.pack("<Q", 99_999_999) + b"{}",
    "no-tensor": tensors("{}"),
    "one": tensors("{" + entry() + "}", bytes(8)),
    "metadata": tensors('{"__metadata__":{"a":"b"},' + entry() + "}", bytes(8)),
    "twice": tensors("{" + entry() + "," + entry() + "}", bytes(8)),
    "nested": tensors('{"a":' + "[" * 5000),
    "offsets-exchanged": tensors("{" + entry(offsets="[8,0]") + "}", bytes(8)),
    "offsets-outside": tensors("{" + entry(offsets="[0,9007199254740992]") + "}", bytes(8)),
    "offsets-negative": tensors("{" + entry(offsets="[-8,0]") + "}", bytes(8)),
    "offsets-text": tensors("{" + entry(offsets='["0","8"]') + "}", bytes(8)),
    "offsets-odd": tensors('{"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},' + entry(offsets="[1,9]") + "}", bytes(9)),
    "shape-wraps": tensors("{" + entry(shape="[4294967296,4294967296]") + "}", bytes(8)),
    "shape-wraps-behind-zero": tensors("{" + entry(shape="[0,4294967296,4294967296]", offsets="[0,0]") + "}"),
    "shape-fraction": tensors("{" + entry(shape="[2.5]") + "}", bytes(8)),
    "shape-of-65-axes": tensors("{" + entry(shape="[" + "1," * 64 + "1]", offsets="[0,4]") + "}", bytes(4)),
    "float8": tensors("{" + entry("F8_E5M2", "[8]") + "}", bytes(8)),
    "no-object": tensors("[1]"),
    "no-utf-8": tensors(b'{"\xff":1}'),
    "number-too-large": tensors('{"a":1e999}'),
}

PART = {
    str(i): bytes([len(shape), *shape]) + text.encode()
    for i, (shape, text) in enumerate([
        ((2, 3, 4), "x[1,2,3]"), ((2, 3, 4), "x[-1,...,::-1]"), ((2, 3, 4), "x[None,0,:,1:3]"), ((), "x[...]"), ((0, 4), "x[:,3]"),
        ((5,), "x[::-9223372036854775808]"), ((5,), "x[9223372036854775807]"), ((5,), "x[4:-9223372036854775808:-1]"),
        ((5,), "x[::0]"), ((5,), "x[]"), ((5,), "x[,]"), ((5,), "x[0"), ((5,), "x[[0]]"), ((5, 5), "x[0][1]"), ((5, 0, 5), "x[4,:,4]"),
        ((3, 3), "x[0,0,0]"), ((3, 3), "x[...,...]"), ((3, 3), "x[ 1 , -1 ]")])
}


def main():
    for folder, seeds in (("npy", NPY), ("npz", NPZ), ("safetensors", SAFETENSORS), ("part", PART)):
        (HERE / folder).mkdir(parents=True, exist_ok=True)
        for name, data in seeds.items():
            (HERE / folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
