"""The independent check of certificates, in exact arithmetic."""
