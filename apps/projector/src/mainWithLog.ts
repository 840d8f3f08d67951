// The projector and the log, which is in the same Postgres, in one process: for the small form, where each process costs memory.
// biome-ignore-all lint/style/noRestrictedImports: this process is two apps.
// biome-ignore-all lint/style/noProcessEnv: both have their own variables in one environment.
import { loadSettings } from '@paylog/embedded-event-store/commandLine'
import { startEmbeddedEventStore } from '@paylog/embedded-event-store/embeddedEventStore'
import { runApp } from '@paylog/runtime/process/lifecycle'
import { startProjector } from './projector.ts'

runApp({ app: 'projector', portVariable: 'HEALTH_PORT or PORT' }, async ({ log, lifecycle }) => {
  const settings = loadSettings(process.env, {})
  const node = await startEmbeddedEventStore({
    host: settings.HOST,
    port: settings.PORT,
    databaseUrl: settings.DATABASE_URL,
    maxAppendBytes: settings.MAX_APPEND_BYTES,
    credentials: settings.EVENTSTORE_CREDENTIALS ?? [],
    log,
    fail: lifecycle.fail,
  })
  // Added first, so that it stops last: the projector reads it, and the others append until then.
  lifecycle.add('log', node.stop, node.inFlight)
  // Payments go on without their lists: the log stays, and the health page and an alert report the projections.
  const onStopped = (err: Error) => log.fatal({ err }, 'the log is still served')
  return await startProjector({ log, lifecycle, onStopped })
})
