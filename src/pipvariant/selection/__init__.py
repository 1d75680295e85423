"""Which file of a version is installed, and why: decisions over plain data, without pip.

An installer translates its candidates into :class:`~pipvariant.selection.model.File`, says where
metadata comes from and what the target supports, and asks
:func:`~pipvariant.selection.ordering.decide`.
"""
