"""Which properties the providers that are built in know at all: for those who make wheels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from pipvariant.providers import aarch64, x86_64


class Feature(NamedTuple):
    """What one feature may be.

    :param value: matches every value that some machine may support.
    :param multi_value: whether one wheel may have several values of it, any of which will do.
    """

    value: re.Pattern[str]
    multi_value: bool = False


_ON = Feature(re.compile("on"))
# The versions that the provider makes properties of: 11 to 15.20.
_CUDA = Feature(re.compile(r"1[1-5](?:\.(?:[0-9]|1[0-9]|20))?"))

#: Namespace to feature to what its values may be.
VALID: Mapping[str, Mapping[str, Feature]] = {
    "aarch64": {
        "version": Feature(re.compile(r"8a|[89]\.[0-9]a")),
        **dict.fromkeys(aarch64.FLAGS, _ON),
    },
    "amd": {
        "gfx_arch": Feature(re.compile(r"gfx[0-9a-f]{3,5}"), multi_value=True),
        "rocm_version": Feature(re.compile(r"[0-9]{1,2}\.[0-9]{1,2}")),
    },
    "intel": {
        "device_ip": Feature(re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,4}){2}"), multi_value=True),
    },
    "nvidia": {
        "cuda_version_lower_bound": _CUDA,
        "cuda_version_upper_bound": _CUDA,
        # Code for real GPUs runs on the minor versions above, virtual code on all majors above.
        "sm_arch": Feature(re.compile(r"(?:[5-9]|[1-9][0-9])(?:[0-9]_real|0_virtual)"), True),
    },
    "x86_64": {"level": Feature(re.compile("v[1-4]")), **dict.fromkeys(x86_64.FLAGS, _ON)},
}
