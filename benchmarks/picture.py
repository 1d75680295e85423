"""The picture of what installers took: a bar for each, plain pip's as long in each row."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from benchmarks.contest import OURS, PLAIN, UV, Result

__all__ = ["draw"]

#: Read on white and on black.
COLOURS = {PLAIN: "#8c8c8c", OURS: "#2f81f7", UV: "#a371f7"}
WIDTH, LEFT, FULL, BAR, ROW = 760, 250, 380, 9, 44

STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2328; }
.small { font-size: 10px; }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } }
"""


def draw(results: Sequence[Result]) -> str:
    """Return an SVG of the processor times, each as a share of plain pip's."""
    height = ROW * len(results) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>Processor time of pip, pip-variant and uv</title><style>{STYLE}</style>",
    ]
    for place, side in enumerate(COLOURS):
        x = LEFT + 110 * place
        parts.append(f'<rect x="{x}" y="10" width="12" height="12" fill="{COLOURS[side]}"/>')
        parts.append(f'<text x="{x + 18}" y="21">{side}</text>')
    for place, result in enumerate(results):
        top = 36 + ROW * place
        title = escape(result.contest.title.replace("`", ""))
        parts.append(f'<text x="{LEFT - 10}" y="{top + 20}" text-anchor="end">{title}</text>')
        plain = result.usage[PLAIN].processor
        for line, side in enumerate(COLOURS):
            if side not in result.usage:
                continue
            seconds, y = result.usage[side].processor, top + (BAR + 3) * line
            # What takes longer than the picture is wide ends at its edge.
            width = min(FULL * seconds / plain, WIDTH - LEFT - 60)
            parts.append(
                f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR}"'
                f' fill="{COLOURS[side]}"/>'
            )
            parts.append(
                f'<text class="small" x="{LEFT + width + 5:.1f}" y="{y + BAR - 1}">'
                f"{seconds:.2f} s</text>"
            )
    return "\n".join([*parts, "</svg>", ""])
