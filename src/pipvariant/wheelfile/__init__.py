"""What is inside a wheel: read within bounds, and written with all else keeping its bytes."""
