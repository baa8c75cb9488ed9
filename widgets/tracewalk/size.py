"""How high the explorer is, in pixels."""

HEIGHT = 760
LEAST_HEIGHT = 360
