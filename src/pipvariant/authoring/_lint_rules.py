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

    title: str
    remedy: str
    severity: str = ERROR


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
        "a label has other characters than `a-z 0-9 _ .`",
        "A label has lower case letters, digits, underscores and dots only.",
    ),
    "V102": Rule("the label is empty", "Give it a label, or leave out the last dash."),
    "V103": Rule("not the filename of a wheel", "See the format of wheel filenames."),
    "V104": Rule(
        "the python tag starts with a digit",
        "Such a tag would be taken for a build tag; `py3` is right, `3py` is not.",
    ),
    "V105": Rule("there is a dash in the label", "Write an underscore or a dot instead."),
    "V106": Rule("the build tag does not start with a digit", "Put a digit before it."),
    "V107": Rule("the label is very long", "A label is typed and read by people.", WARNING),
    "V108": Rule(
        "the label looks like a hash, but not the one of its properties",
        "The hash was made of other properties: make the wheel again, or take a speaking label.",
        WARNING,
    ),
    "V201": Rule("the wheel cannot be read", "Build it again, or copy it again."),
    "V202": Rule("a label in the name, but no variant.json inside", _MAKE),
    "V203": Rule("a variant.json inside, but no label in the name", _MAKE),
    "V204": Rule("more than one variant.json inside", _MAKE),
    "V205": Rule("RECORD does not list variant.json", _MAKE),
    "V206": Rule("RECORD has another hash or size of variant.json", _MAKE),
    "V207": Rule("RECORD is missing or cannot be read", "Build the wheel again."),
    "V208": Rule("METADATA is missing", "Build the wheel again."),
    "V209": Rule(
        "a marker about variants has no meaning",
        "The sets are used with `in` and `not in`, the label with `==` and `!=`.",
    ),
    "V210": Rule(
        "a marker is about something that no label of the release has",
        "It never changes what is installed: mend its spelling, or take it out.",
        WARNING,
    ),
    "V211": Rule(
        "two wheels of one name have different content",
        "Raise the version or the build number of one of them.",
    ),
    "V301": Rule("not JSON", "Write it as UTF-8 encoded JSON."),
    "V302": Rule("larger or deeper than any reader accepts", "Make it smaller."),
    "V303": Rule("a key appears twice in one object", "Leave one of them."),
    "V304": Rule("a byte order mark at the start", "Write UTF-8 without it.", WARNING),
    "V305": Rule(
        "`$schema` is missing or has no version", "Name the format that it is written in.", WARNING
    ),
    "V306": Rule("a major format that is not known", "Write format 0.2.0."),
    "V307": Rule("not the present format", "Write format 0.2.0.", WARNING),
    "V308": Rule("a key that the format does not have", "Readers ignore it: take it out.", WARNING),
    "V309": Rule("a value is missing or of the wrong type", "See the format's schema."),
    "V310": Rule("the list of namespaces is empty or has one twice", "List each namespace once."),
    "V311": Rule(
        "a namespace is used but not listed", "List it in `default-priorities.namespace`."
    ),
    "V312": Rule("a namespace is listed without a provider", "Add it to `providers`."),
    "V313": Rule(
        "a provider's namespace is not listed", "List it in `default-priorities.namespace`."
    ),
    "V314": Rule(
        "a name has characters that it must not have",
        "Lower case letters, digits and underscores are allowed; in values and labels also dots.",
    ),
    "V315": Rule(
        "a provider is not of exactly one form",
        "It has one of `requires`, `static-properties` and `builtin`.",
    ),
    "V316": Rule("`requires` is empty or has no valid requirement", "List requirements (PEP 508)."),
    "V317": Rule("`plugin-api` is not module:object", "Write it as an entry point."),
    "V318": Rule(
        "`feature-order` is missing or does not go with the features",
        "List each feature of `static-properties` once.",
    ),
    "V319": Rule("`static-properties` is empty or has a value twice", "List each value once."),
    "V320": Rule("a builtin provider that does not exist", "`abi_dependency` is the one."),
    "V321": Rule(
        "a key has no meaning in this form of provider", "Readers ignore it: take it out.", WARNING
    ),
    "V330": Rule("the label null has properties", "Give it another label."),
    "V331": Rule("a label other than null has no properties", "Call it `null`."),
    "V332": Rule("variant.json has not exactly one label", _MAKE),
    "V333": Rule("the label inside is not the one in the name", _MAKE),
    "V334": Rule("the values of a property are not sorted", "Sort them.", WARNING),
    "V335": Rule("a value of a property is listed twice", "List each value once."),
    "V336": Rule("a property has no value", "Take the feature out, or give it a value."),
    "V337": Rule(
        "an abi_dependency that means no version",
        "The feature is a normalised name with `_`, the value one to three numbers.",
    ),
    "V338": Rule(
        "a property that the static list does not have",
        "No machine can ever support it: mend its spelling, or add it to `static-properties`.",
        WARNING,
    ),
    "V401": Rule("one label has different properties", "One label means one set of properties."),
    "V402": Rule("the lists of namespaces contradict each other", "One must start with the other."),
    "V403": Rule("a namespace has different providers", "All wheels of one version must agree."),
    "V404": Rule(
        "two labels have equal properties", "Nothing tells them apart: keep one.", WARNING
    ),
    "V405": Rule("variants.json lacks the label of a wheel", _INDEX),
    "V406": Rule("variants.json has other properties than the wheel", _INDEX),
    "V407": Rule("variants.json has a label that no wheel has", _INDEX, WARNING),
    "V408": Rule("variants.json has other namespaces or providers than a wheel", _INDEX),
    "V409": Rule("the name of variants.json is not normalised", _INDEX),
    "V410": Rule(
        "variants.json is of a project or version that is not there", "Delete or rename it."
    ),
    "V501": Rule("a page has variant wheels and does not link variants.json", _INDEX),
    "V502": Rule("a link leads nowhere", "Upload the file, or make the page again."),
    "V503": Rule("a page has another hash of a file", "Make the page again."),
    "V504": Rule(
        "not a page of a project", "Give the URL of one project's page of a simple index."
    ),
    "V505": Rule(
        "a wheel could not be looked into",
        "Let the server obey `Range`, or give the folder instead of the URL.",
        WARNING,
    ),
}
