#!/bin/sh
# The paths that the official image configures. Everything else comes from the compose file.
cd /opt/kurrentdb
exec /usr/lib/dotnet/dotnet KurrentDB.TestNode.dll --db /var/lib/kurrentdb --log /var/log/kurrentdb "$@"
