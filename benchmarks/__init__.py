"""What greenroom costs, measured against what people do without it."""
