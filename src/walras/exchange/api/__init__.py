"""The service over HTTP: routes, models, problems, authentication."""
