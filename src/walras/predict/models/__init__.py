"""The models of times and success, and their calibration."""
