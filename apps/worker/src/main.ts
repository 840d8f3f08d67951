// Starts the worker: maps the log to deliveries, sends them, and runs the reconciler.
// biome-ignore-all lint/style/noProcessEnv: the endpoints have no fixed list of variables, so all are passed on.
import { randomUUID } from 'node:crypto'
import { createAttention, measureAttention } from '@paylog/administration/attention/attention'
import { createActivityRecorder } from '@paylog/commands/provider-activity/activity'
import { enabledProviders, knownProviders } from '@paylog/commands/provider-calls/enabledProviders'
import { createWorkflowMetrics } from '@paylog/commands/provider-calls/telemetry'
import { createEventStore } from '@paylog/event-store/eventStore'
import { startDataKeys } from '@paylog/privacy/startDataKeys'
import { createPool } from '@paylog/runtime/postgres/pool'
import { runApp } from '@paylog/runtime/process/lifecycle'
import { createMetrics } from '@paylog/runtime/telemetry/metrics'
import { createErasures } from '@paylog/webhooks/deliveries/dispatch/erasures'
import { createBodies } from '@paylog/webhooks/deliveries/send/bodies'
import { createDeliveries, planSettings } from '@paylog/webhooks/deliveries/tables/deliveries'
import { maintainPartitions } from '@paylog/webhooks/deliveries/tables/partitions'
import { loadWorkerConfig } from './config.ts'
import { startDelivering } from './delivering.ts'
import { startDispatching } from './dispatching.ts'
import { startHealthPage } from './health.ts'
import { startHeartbeat } from './heartbeat.ts'
import { createPaymentCounters } from './paymentCounters.ts'
import { checkProviders } from './providerChecks.ts'
import { startReconciler } from './reconciler/reconciler.ts'
import { measureReconciler } from './reconciler/reconcilerMetrics.ts'
import { runRetention } from './retention/retention.ts'
import { createTrustedClock } from './trustedClock.ts'

const maxConnections = 6
/** Longer than the statement timeout: it detects Postgres connections that hang. */
const queryTimeoutMs = 20_000

runApp({ app: 'worker', portVariable: 'HEALTH_PORT' }, async ({ log, lifecycle }) => {
  const config = loadWorkerConfig(process.env)
  for (const warning of config.warnings) log.warn(`Configuration warning: ${warning}`)
  const { endpoints, DATABASE_URL: databaseUrl } = config
  const now = () => new Date()
  const { stopping: signal, givingUp } = lifecycle
  const supervise = (name: string, subscription: Promise<void>) => {
    lifecycle.add(name, () => subscription.catch(() => undefined))
    subscription.catch((error: unknown) => lifecycle.fail(error))
  }

  const limits = { max: maxConnections, queryTimeoutMs }
  const pool = createPool({ databaseUrl, applicationName: 'worker', ...limits, settings: planSettings, log })
  lifecycle.add('database', () => pool.end())
  const worker = randomUUID()
  const metrics = createMetrics()
  const deliveries = createDeliveries(pool, worker)
  const observe = createWorkflowMetrics(metrics)
  const keys = await startDataKeys(config, { log, lifecycle })
  const store = createEventStore({ connectionString: config.EVENTSTORE_URL, keys, observe: observe.append, log })
  lifecycle.add('event store', () => store.close())

  const activity = createActivityRecorder({ db: pool, now, log })
  lifecycle.add('provider activity', () => activity.close())
  const providers = await enabledProviders(config, observe.providerCall, activity.called)
  for (const provider of providers.values()) lifecycle.add(`provider ${provider.id}`, () => provider.close())
  void checkProviders(providers.values(), log)
  const reconcileAfterMs = config.PAYMENT_RECONCILE_AFTER
  const clock = createTrustedClock({ pool, store, providers, now, log })
  const options = { pool, databaseUrl, store, providers, reconcileAfterMs, clock, now, signal, givingUp, log }
  const { reading, reconciling, underWay, readerCheck } = await startReconciler(options)
  lifecycle.add('reconciler', () => reconciling, underWay)
  measureReconciler(metrics, { pool, providers: [...providers.keys()], log })
  supervise('reconciler subscription', reading)

  const projects = { projectId: config.PROJECT_ID, projectIds: config.PROJECT_IDS }
  const bodyOf = createBodies({ keys, store, projects })
  // BullMQ carries wake-ups between workers, and nothing else: deliveries, attempts and retries are rows in Postgres, whose own timer
  // finds what is due. A lost queue delays webhooks by seconds, and loses none (docs/webhooks.md).
  const { deliverer, wakeUps } = await startDelivering({
    ...{ config, pool, deliveries, bodyOf, metrics, now, lifecycle, log },
  })
  const onDispatched = createPaymentCounters(metrics, { providers: providers.keys(), log })
  const erasures = createErasures({ pool, keys, store, log })
  const webhooks = await startDispatching({
    ...{ pool, databaseUrl, store, deliveries, deliverer, wakeUps, endpoints, projects, erasures },
    ...{ now, onDispatched, signal, log },
  })
  supervise('webhooks subscription', webhooks.reading)

  const names = endpoints.map(({ name }) => name)
  const heartbeat = await startHeartbeat({ pool, worker, endpoints: names, log })
  const beating = heartbeat.run(signal)
  lifecycle.add('heartbeat', () => beating)
  const maintaining = maintainPartitions({ pool, clock, keepMs: config.WEBHOOK_LOG_RETENTION, signal, log })
  lifecycle.add('partitions', () => maintaining)

  const rules = { bodiesMs: config.RETENTION_PROVIDER_BODIES, secrets: config.RETENTION_CLIENT_SECRETS }
  const retaining = runRetention({ pool, store, keys, rules, clock, now, databaseUrl, signal, log })
  lifecycle.add('retention', () => retaining)

  const { HOST: host, HEALTH_PORT: port } = config
  if (port === undefined) return {}
  const known = { db: pool, endpoints, providers: knownProviders(config), now, log }
  measureAttention(metrics, createAttention(known), log)
  const readers = { log: webhooks.readerCheck, follow_ups: readerCheck }
  const page = { host, port, pool, endpoints, wakeUps, clock, readers, endedAt: deliverer.endedAt }
  return { healthUrl: await startHealthPage({ ...page, metrics, now, lifecycle, log }) }
})
