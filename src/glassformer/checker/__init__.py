"""The independent check of certificates, in exact arithmetic."""

DOORS: dict[str, str] = {  # module to the names that other packages may import
    "apart": "check_in_subprocess",
    "claims": "hash_model",
    "result": "CheckResult",
}
