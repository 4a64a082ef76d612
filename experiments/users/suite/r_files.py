"""What R packages keep their data in: saved objects, one by one or many in one file with an index."""

import bz2
import gzip
import lzma
import struct
import zlib

import numpy as np
from rdata.parser import DEFAULT_ALTREP_MAP, RObjectType
from rdata.parser._xdr import ParserXDR

#: The beginning of packed bytes, and who unpacks them.
PACKED = {
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ": lzma.decompress,
    b"x": zlib.decompress,
}
TYPE = 0xFF


class Parser(ParserXDR):
    """rdata's parser, with vectors of bytes, which it does not know: they are written as strings are."""

    def parse_R_object(self, reference_list=None, bytecode_rep_list=None, info_int=None):
        place = self.file.tell()
        begin = self.file.read(4)
        if info_int is None and len(begin) == 4:
            (flags,) = struct.unpack(">I", begin)
            if flags & TYPE == RObjectType.RAW.value:
                self.file.seek(place)
                self.file.write(struct.pack(">I", flags & ~TYPE | RObjectType.CHAR.value))
        self.file.seek(place)
        return super().parse_R_object(reference_list, bytecode_rep_list, info_int)


def unpacked(data):
    for begin, unpack in PACKED.items():
        if data.startswith(begin):
            return unpack(data)
    return data


def saved(data):
    """The objects of an .rda file by name, or the object of an .rds file."""
    data = unpacked(data)
    named = data.startswith(b"RDX")
    for begin in (b"RDX2\n", b"RDX3\n", b"X\n"):
        data = data.removeprefix(begin)
    parser = Parser(memoryview(data), expand_altrep=True, altrep_constructor_dict=DEFAULT_ALTREP_MAP)
    top = parser.parse_all().object
    return {name: Value(one) for name, one in pairs(top)} if named else Value(top)


def of_database(index, database, name):
    """One object of a pair of files, .rdx and .rdb: the index says where it begins and how long it is."""
    begin, length = saved(index)["variables"][name].array().astype(int)
    # Behind the size of what is packed there is a letter for other packers than zlib.
    packed = database[begin + 4 : begin + length]
    if packed[:1] == b"Z":
        return saved(lzma.decompress(packed[1:], lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2, "preset": 6}]))
    return saved(packed[1:] if packed[:1] == b"2" else packed)


def pairs(chain):
    """The entries of R's linked lists."""
    while chain is not None and chain.info.type == RObjectType.LIST:
        yield text(chain.tag), chain.value[0]
        chain = chain.value[1]


def text(one):
    """A name, which may be mentioned for the second time."""
    while one is not None and not isinstance(one.value, bytes):
        one = one.referenced_object if one.info.type == RObjectType.REF else one.value
    return None if one is None else one.value.decode("utf-8", "replace")


class Value:
    """An object of R."""

    def __init__(self, one):
        self.one = one

    def attributes(self):
        """Names, sizes, levels; and the parts of an object of a class."""
        return {name: Value(value) for name, value in pairs(self.one.attributes)}

    def names(self):
        return self.attributes()["names"].array().tolist()

    def __getitem__(self, name):
        """The part of a list, or the column of a frame."""
        return Value(self.one.value[self.names().index(name)])

    def array(self):
        """Numbers, bytes, or strings, as a matrix where they are one; a factor as its labels; nan where a number is missing."""
        attributes, kind = self.attributes(), self.one.info.type
        values = self.one.value
        if kind == RObjectType.STR:
            values = np.array([text(one) or "" for one in values])
        elif kind == RObjectType.CHAR:
            values = np.frombuffer(values, np.uint8)
        elif np.ma.isMaskedArray(values):
            values = values.astype(float).filled(np.nan)
        if "levels" in attributes:
            return attributes["levels"].array()[np.asarray(values, int) - 1]
        if "dim" in attributes:
            return np.reshape(values, attributes["dim"].array().astype(int), order="F")
        return np.asarray(values)

    def matrix(self, columns=None):
        """Columns of a frame side by side."""
        columns = self.names() if columns is None else columns
        return np.column_stack([self[name].array() for name in columns])
