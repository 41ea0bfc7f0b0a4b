"""`glassformer spectra`: of one model or two, what its words mean, and what it leaves for a browser."""
