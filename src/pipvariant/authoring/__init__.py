"""Making variant wheels and the files that an index serves beside them. No pip here."""
