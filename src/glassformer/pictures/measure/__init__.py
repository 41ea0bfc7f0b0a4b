"""What figures show, computed by the model's own pass. Nothing here draws."""
