"""Postal addresses and their lines: words, common ones in their short form, and unchanged numbers.

The short forms are those of the United States Postal Service, Publication 28, appendices B and C, with those of
British and Australian addresses where they differ.
"""

from stream_lsh.records.standardise.characters import fold_words

_SHORT = {
    "apartment": "apt", "avenue": "ave", "av": "ave", "boulevard": "blvd", "building": "bldg", "circle": "cir",
    "circuit": "cct", "close": "cl", "corner": "cnr", "court": "ct", "crescent": "cres", "crs": "cres",
    "drive": "dr", "east": "e", "esplanade": "esp", "flat": "apt", "floor": "fl", "gardens": "gdns", "grove": "gr",
    "heights": "hts", "highway": "hwy", "junction": "jct", "lane": "ln", "level": "fl", "mount": "mt",
    "mountain": "mtn", "north": "n", "northeast": "ne", "northwest": "nw", "number": "no", "parade": "pde",
    "parkway": "pkwy",
    "place": "pl", "point": "pt", "post": "po", "road": "rd", "room": "rm", "route": "rte", "saint": "st",
    "south": "s", "southeast": "se", "southwest": "sw", "square": "sq", "station": "stn", "street": "st", "str": "st",
    "suite": "ste", "terrace": "ter", "tce": "ter", "trail": "trl", "turnpike": "tpke", "unit": "apt", "valley": "vly",
    "village": "vlg", "west": "w",
}  # fmt: skip


def address(text: str) -> str:
    """The words of the address in lower case.

    Example:
        >>> address("1515 Adela Lane, Apartment 4"), address("Saint John's Street")
        ('1515 adela ln apt 4', 'st john s st')
    """
    return " ".join([_SHORT.get(word, word) for word in fold_words(text).split()])
