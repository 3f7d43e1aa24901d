"""GNRS: rules people can read and auditors can run against the records that exist."""
