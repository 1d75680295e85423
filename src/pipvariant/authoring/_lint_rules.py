"""The rules that variant wheels and their metadata are held to, each with a lasting number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

ERROR = "error"
WARNING = "warning"


class Rule(NamedTuple):
    """One rule.

    :param title: what is wrong when it is broken.
    :param remedy: what to do about it, as a sentence.
    """

    severity: str
    title: str
    remedy: str


class Finding(NamedTuple):
    """One place where a rule is broken.

    :param file: path or URL.
    :param place: path to the key, such as ``variants.cu128``, or a file inside the wheel; may be
        empty.
    :param rule: its number in :data:`RULES`.
    """

    file: str
    place: str
    rule: str
    message: str


_MAKE = "`pip-variant variant make` writes it right."
_INDEX = "`pip-variant variant index` writes it right."

#: Number to rule. 1xx: filenames, 2xx: wheels, 3xx: metadata, 4xx: releases, 5xx: pages.
RULES: Mapping[str, Rule] = {
    "V101": Rule(
        ERROR,
        "a label has other characters than `a-z 0-9 _ .`",
        "A label has lower case letters, digits, underscores and dots only.",
    ),
    "V102": Rule(ERROR, "the label is empty", "Give it a label, or leave out the last dash."),
    "V103": Rule(ERROR, "not the filename of a wheel", "See the format of wheel filenames."),
    "V104": Rule(
        ERROR,
        "the python tag starts with a digit",
        "Such a tag would be taken for a build tag; `py3` is right, `3py` is not.",
    ),
    "V105": Rule(ERROR, "there is a dash in the label", "Write an underscore or a dot instead."),
    "V106": Rule(ERROR, "the build tag does not start with a digit", "Put a digit before it."),
    "V107": Rule(WARNING, "the label is very long", "A label is typed and read by people."),
    "V108": Rule(
        WARNING,
        "the label looks like a hash, but not the one of its properties",
        "The hash was made of other properties: make the wheel again, or take a speaking label.",
    ),
    "V201": Rule(ERROR, "the wheel cannot be read", "Build it again, or copy it again."),
    "V202": Rule(ERROR, "a label in the name, but no variant.json inside", _MAKE),
    "V203": Rule(ERROR, "a variant.json inside, but no label in the name", _MAKE),
    "V204": Rule(ERROR, "more than one variant.json inside", _MAKE),
    "V205": Rule(ERROR, "RECORD does not list variant.json", _MAKE),
    "V206": Rule(ERROR, "RECORD has another hash or size of variant.json", _MAKE),
    "V207": Rule(ERROR, "RECORD is missing or cannot be read", "Build the wheel again."),
    "V208": Rule(ERROR, "METADATA is missing", "Build the wheel again."),
    "V209": Rule(
        ERROR,
        "a marker about variants has no meaning",
        "The sets are used with `in` and `not in`, the label with `==` and `!=`.",
    ),
    "V210": Rule(
        WARNING,
        "a marker is about something that no label of the release has",
        "It never changes what is installed: mend its spelling, or take it out.",
    ),
    "V211": Rule(
        ERROR,
        "two wheels of one name have different content",
        "Raise the version or the build number of one of them.",
    ),
    "V301": Rule(ERROR, "not JSON", "Write it as UTF-8 encoded JSON."),
    "V302": Rule(ERROR, "larger or deeper than any reader accepts", "Make it smaller."),
    "V303": Rule(ERROR, "a key appears twice in one object", "Leave one of them."),
    "V304": Rule(WARNING, "a byte order mark at the start", "Write UTF-8 without it."),
    "V305": Rule(
        WARNING, "`$schema` is missing or has no version", "Name the format that it is written in."
    ),
    "V306": Rule(ERROR, "a major format that is not known", "Write format 0.2.0."),
    "V307": Rule(WARNING, "not the present format", "Write format 0.2.0."),
    "V308": Rule(WARNING, "a key that the format does not have", "Readers ignore it: take it out."),
    "V309": Rule(ERROR, "a value is missing or of the wrong type", "See the format's schema."),
    "V310": Rule(
        ERROR, "the list of namespaces is empty or has one twice", "List each namespace once."
    ),
    "V311": Rule(
        ERROR, "a namespace is used but not listed", "List it in `default-priorities.namespace`."
    ),
    "V312": Rule(ERROR, "a namespace is listed without a provider", "Add it to `providers`."),
    "V313": Rule(
        ERROR, "a provider's namespace is not listed", "List it in `default-priorities.namespace`."
    ),
    "V314": Rule(
        ERROR,
        "a name has characters that it must not have",
        "Lower case letters, digits and underscores are allowed; in values and labels also dots.",
    ),
    "V315": Rule(
        ERROR,
        "a provider is not of exactly one form",
        "It has one of `requires`, `static-properties` and `builtin`.",
    ),
    "V316": Rule(
        ERROR, "`requires` is empty or has no valid requirement", "List requirements (PEP 508)."
    ),
    "V317": Rule(ERROR, "`plugin-api` is not module:object", "Write it as an entry point."),
    "V318": Rule(
        ERROR,
        "`feature-order` is missing or does not go with the features",
        "List each feature of `static-properties` once.",
    ),
    "V319": Rule(
        ERROR, "`static-properties` is empty or has a value twice", "List each value once."
    ),
    "V320": Rule(ERROR, "a builtin provider that does not exist", "`abi_dependency` is the one."),
    "V321": Rule(
        WARNING, "a key has no meaning in this form of provider", "Readers ignore it: take it out."
    ),
    "V330": Rule(ERROR, "the label null has properties", "Give it another label."),
    "V331": Rule(ERROR, "a label other than null has no properties", "Call it `null`."),
    "V332": Rule(ERROR, "variant.json has not exactly one label", _MAKE),
    "V333": Rule(ERROR, "the label inside is not the one in the name", _MAKE),
    "V334": Rule(WARNING, "the values of a property are not sorted", "Sort them."),
    "V335": Rule(ERROR, "a value of a property is listed twice", "List each value once."),
    "V336": Rule(ERROR, "a property has no value", "Take the feature out, or give it a value."),
    "V337": Rule(
        ERROR,
        "an abi_dependency that means no version",
        "The feature is a normalised name with `_`, the value one to three numbers.",
    ),
    "V338": Rule(
        WARNING,
        "a property that the static list does not have",
        "No machine can ever support it: mend its spelling, or add it to `static-properties`.",
    ),
    "V401": Rule(
        ERROR, "one label has different properties", "One label means one set of properties."
    ),
    "V402": Rule(
        ERROR, "the lists of namespaces contradict each other", "One must start with the other."
    ),
    "V403": Rule(
        ERROR, "a namespace has different providers", "All wheels of one version must agree."
    ),
    "V404": Rule(
        WARNING, "two labels have equal properties", "Nothing tells them apart: keep one."
    ),
    "V405": Rule(ERROR, "variants.json lacks the label of a wheel", _INDEX),
    "V406": Rule(ERROR, "variants.json has other properties than the wheel", _INDEX),
    "V407": Rule(WARNING, "variants.json has a label that no wheel has", _INDEX),
    "V408": Rule(ERROR, "variants.json has other namespaces or providers than a wheel", _INDEX),
    "V409": Rule(ERROR, "the name of variants.json is not normalised", _INDEX),
    "V410": Rule(
        ERROR, "variants.json is of a project or version that is not there", "Delete or rename it."
    ),
    "V501": Rule(ERROR, "a page has variant wheels and does not link variants.json", _INDEX),
    "V502": Rule(ERROR, "a link leads nowhere", "Upload the file, or make the page again."),
    "V503": Rule(ERROR, "a page has another hash of a file", "Make the page again."),
    "V504": Rule(
        ERROR, "not a page of a project", "Give the URL of one project's page of a simple index."
    ),
    "V505": Rule(
        WARNING,
        "a wheel could not be looked into",
        "Let the server obey `Range`, or give the folder instead of the URL.",
    ),
}
