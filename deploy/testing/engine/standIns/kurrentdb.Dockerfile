# A node of KurrentDB that somebody built from its source: `server` holds it, `dotnet` the runtime.
ARG BASE
FROM ${BASE}
# The configuration file of the official image listens everywhere.
ENV KURRENTDB_NODE_IP=0.0.0.0 KURRENTDB_REPLICATION_IP=0.0.0.0
ENV DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 DOTNET_GCHeapHardLimit=0x25800000
COPY dotnet /usr/lib/dotnet
COPY server /opt/kurrentdb
COPY kurrentdb.sh /opt/kurrentdb/KurrentDB
RUN useradd --uid 1000 kurrent && chmod 755 /opt/kurrentdb/KurrentDB \
  && install -d -o kurrent -g kurrent /var/lib/kurrentdb /var/log/kurrentdb
USER kurrent
